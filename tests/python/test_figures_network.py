"""The network of a description, drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from narrows.cli import main
from narrows.figures.network import svg
from narrows.plan import plan
from narrows.spec import SpecificationText, load

ELEMENTS = Path(__file__).parents[2] / "experiments" / "elements"


def words(text: str) -> list[str]:
    """Every line of words of a drawing."""
    return ["".join(node.itertext()) for node in ElementTree.fromstring(text).iter()
            if node.tag.endswith("text")]  # fmt: skip


def draw(**parts: object) -> str:
    document = {
        "name": "a <b> & c",
        "path": {"rate": "10mbit", "rtt": "40ms", "buffer": "20pkt"},
        "flows": [{"cca": "bbr", "count": 2}],
        "run": {"duration": "5s"},
        **parts,
    }
    return svg(plan(load(SpecificationText.document(document)).spec, "").trials[0].scenario)


@pytest.mark.parametrize("file", sorted(ELEMENTS.glob("*.toml")), ids=lambda file: file.stem)
def test_every_element_stands_in_the_drawing(file: Path) -> None:
    scenario = plan(load(file).spec, "").trials[0].scenario
    told = words(svg(scenario))
    kinds = [one["kind"].replace("_", " ") for one in scenario["path"]["impairments"]]
    assert set(kinds) <= set(told)
    assert scenario["path"]["queue"]["kind"] in told
    assert told.count("propagation") == 2


def test_names_are_words_and_values_have_units() -> None:
    told = words(draw())
    assert {"a <b> & c", "2 BBR", "10 Mbit/s", "droptail", "20 packets", "20 ms"} <= set(told)


@pytest.mark.parametrize(
    ("size", "shown"),
    [("100kb", "100 kB"), ("3mb", "3 MB"), ("65536b", "65.536 kB"), ("1.5kb", "1.5 kB")],
)
def test_sizes_are_in_kilobytes_and_megabytes(size: str, shown: str) -> None:
    path = {"rate": "10mbit", "rtt": "40ms", "buffer": size}
    told = " ".join(words(draw(path=path, flows=[{"cca": "bbr", "size": size}])))
    assert f"droptail {shown}" in told
    assert "KB" not in told


def test_hosts_stand_on_the_side_from_which_they_send() -> None:
    path = {
        "rate": "10mbit",
        "rtt": "40ms",
        "buffer": "20pkt",
        "reverse": {"rate": "1mbit", "buffer": "50pkt"},
    }
    flows = [{"cca": "bbr"}, {"cca": "cubic", "reverse": True, "start": "2s", "size": "1mb"}]
    text = draw(path=path, flows=flows)
    place = {
        "".join(node.itertext()): float(node.attrib["x"])
        for node in ElementTree.fromstring(text).iter()
        if node.tag.endswith("text")
    }
    assert place["BBR"] < place["bottleneck"] < place["CUBIC"] == place["from 2 s"]
    assert "reverse link" in place
    assert "receivers" not in place


def test_flows_have_the_names_that_they_were_given() -> None:
    flows = [{"cca": "bbr", "name": "phone", "count": 2}, {"cca": "cubic", "count": 2}]
    found = words(draw(flows=flows))
    at = found.index("2 phone")
    assert found[at + 1] == "BBR"
    assert "2 CUBIC" in found


def test_on_a_terminal_the_command_writes_a_file_and_says_which(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["figure", str(ELEMENTS / "parking-lot.toml")]) == 0
    assert capsys.readouterr().out == "parking-lot-network.svg\n"
    assert words((tmp_path / "parking-lot-network.svg").read_text())[0] == "parking-lot"


def test_the_command_prints_it_or_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = ELEMENTS / "parking-lot.toml"
    assert main(["figure", str(spec)]) == 0
    printed = capsys.readouterr().out
    assert words(printed)[0] == "parking-lot"
    file = tmp_path / "net.svg"
    assert main(["figure", str(spec), "--set", "path.rate=7mbit", "--out", str(file)]) == 0
    assert "7 Mbit/s" in words(file.read_text())
    assert main(["figure", str(spec), "--out", str(tmp_path / "no" / "net.svg")]) == 2
    assert main(["figure", str(tmp_path / "missing.toml")]) == 2
