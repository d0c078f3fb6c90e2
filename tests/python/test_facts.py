"""Facts that stand in more than one place: the sources decide, and pages must follow."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from textwrap import dedent

import polars as pl
import pytest
from documented import File, steps

import narrows as nw
from narrows.backends.features import features
from narrows.backends.linux.qdiscs import KINDS
from narrows.backends.linux.refusals import SIMULATED_WORKLOADS
from narrows.cli.help import SECTIONS
from narrows.evaluate.suite import load_suite
from narrows.execute import demand
from narrows.spec import registry
from narrows.spec.datagrams import MEDIA_CONTROLS

ROOT = Path(__file__).parents[2]
AGREEMENT_7_3 = ROOT / "experiments" / "agreement-7-3"
CRATES = {manifest.parent.name for manifest in (ROOT / "crates").glob("*/Cargo.toml")}


def page(name: str) -> str:
    """A page as one line."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def names_in(text: str) -> list[str]:
    return re.findall(r"`(\w+)`", text)


def test_each_workload_is_among_the_features() -> None:
    found = {feature.name for feature in features()}
    assert {f"workload {name}" for name in registry.elements("workloads")} <= found
    assert set(SIMULATED_WORKLOADS) < set(registry.elements("workloads"))


def test_the_guide_to_real_kernels_names_what_they_run() -> None:
    text = page("docs/how-to/real-kernels.md")
    queues, refused = (
        re.search(r"if Linux 6\.12 can model it: (.*?) as the queue", text),
        re.search(r"All workloads run on real kernels, except (.*?), which", text),
    )
    assert queues is not None
    assert refused is not None
    assert sorted(names_in(queues[1])) == sorted(KINDS)
    assert names_in(refused[1]) == list(SIMULATED_WORKLOADS)


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("CONTRIBUTING.md", "the Rust workspace:", "python/narrows"),
        ("ARCHITECTURE.md", "## The crates", "Dependencies point down"),
    ],
)
def test_pages_name_every_crate(name: str, start: str, end: str) -> None:
    text = page(name).partition(start)[2].partition(end)[0]
    assert set(re.findall(r"[\w-]+", text)) >= CRATES


def test_the_order_of_layers_is_that_of_the_check() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    order = [name for row in contract["layers"] for name in re.findall(r"\w+", row)]
    stated = (
        page("ARCHITECTURE.md").partition("from top to bottom")[2].partition("import-linter")[0]
    )
    listed = [word for word in re.findall(r"\w+", stated) if word in order]
    packages = {path.parent.name for path in (ROOT / "python" / "narrows").glob("*/__init__.py")}
    assert [name for name in order if name in listed] == listed
    assert packages <= set(listed)


def test_packet_sizes_are_written_once() -> None:
    package = ROOT / "python" / "narrows"
    files = [file for file in package.rglob("*.py") if "reproduce" not in file.parts]
    found = [
        str(file.relative_to(package))
        for file in files
        if re.search(r"(?<![\w.])(1500|1_500|1448|1_448)\b", file.read_text(encoding="utf-8"))
    ]
    assert found == ["packets.py"]


def test_the_solution_of_the_first_assignment_shows_what_its_study_gives(tmp_path: Path) -> None:
    teaching = ROOT / "docs" / "teaching"
    (study,) = (step for step in steps(teaching / "buffers.md") if isinstance(step, File))
    file = tmp_path / study.name
    file.write_text(study.text)
    found = nw.sweep(file, ["flows[0].count=1"], out=tmp_path / "out", jobs=1).table("summary")
    means = found.group_by("buffer_bdp").agg(pl.col("utilization").mean()).sort("buffer_bdp")
    row = " | ".join(f"{value:.3f}" for value in means["utilization"])
    assert f"| 1 flow | {row} |" in (teaching / "buffers-solution.md").read_text(encoding="utf-8")


def test_the_guide_to_installing_counts_the_programs_of_a_wheel() -> None:
    text = (ROOT / "tools" / "build_backend.py").read_text(encoding="utf-8")
    (programs,) = re.findall(r"^PROGRAMS = \((.*)\)$", text, re.MULTILINE)
    assert programs.count("narrows-") == 3
    assert "the three programs for kernels" in page("docs/how-to/install.md")


def test_each_control_of_calls_has_a_title() -> None:
    (control,) = (
        p for p in registry.elements("workloads")["media"]["parameters"] if p["name"] == "control"
    )
    assert list(MEDIA_CONTROLS) == control["words"]


def test_the_page_on_trust_has_the_tracked_counts_of_instructions() -> None:
    tracked = (ROOT / "crates" / "sim" / "benches" / "instructions.txt").read_text(encoding="utf-8")
    counts = {line.split()[0]: int(line.split()[1]) for line in tracked.splitlines()[4:]}
    text = (ROOT / "docs" / "explanation" / "trust.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^\| (S\d): [^|]*\| ([\d,]+) \|", text, re.MULTILINE))
    assert shown == {name: f"{counts[name]:,}" for name in ("S1", "S2", "S3", "S4")}


def test_the_page_on_trust_sums_up_the_pages_of_agreement() -> None:
    text = (ROOT / "docs" / "explanation" / "trust.md").read_text(encoding="utf-8")
    link = r"\[.*?\]\(\.\./reference/(agreement[\w-]*)\.md\)"
    row = rf"^\| {link}.*? \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$"
    shown = {name: numbers for name, *numbers in re.findall(row, text, re.MULTILINE)}
    assert len(shown) == len(list((ROOT / "experiments").glob("agreement*/cells.csv")))
    for name, numbers in shown.items():
        cells = pl.read_csv(ROOT / "experiments" / name / "cells.csv")
        verdicts = [(cells["verdict"] == word).sum() for word in ("agree", "differ", "undecided")]
        assert [int(number) for number in numbers] == [cells["case"].n_unique(), *verdicts], name


def test_the_change_log_counts_what_there_is() -> None:
    text = page("CHANGELOG.md")
    assert f"{len(registry.elements('ccas'))} congestion controls" in text
    assert f"{len(registry.elements('queues'))} queue disciplines" in text
    assert f"there are {sum(map(len, SECTIONS.values()))} commands" in text
    (claims,) = re.findall(r"There are (\d+) claims", page("docs/reference/claims.md"))
    for name in ("CHANGELOG.md", "README.md"):
        assert set(re.findall(r"(\d+) (?:published )?claims", page(name))) == {claims}, name
    questions = len(list((ROOT / "docs" / "cookbook").glob("*.md"))) - 1
    assert questions == 12, "README.md and CHANGELOG.md say twelve"


def test_the_worked_example_shows_the_code_as_it_is() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    example = text.partition("### A worked example")[2].partition("\n## ")[0]
    (name, lines) = re.findall(r"\]\((crates/\S+)\), (\d+) lines", example)[0]
    (shown,) = re.findall(r"```rust\n(.*?)```", example, re.DOTALL)
    code = (ROOT / name).read_text(encoding="utf-8")
    assert dedent(shown.rstrip()) in code
    assert len(code.splitlines()) == int(lines)


def test_the_page_on_robustness_has_the_estimates_of_memory() -> None:
    told = page("docs/reference/robustness.md").partition("How the memory of a run")[2]
    for words in (
        f"{demand._FLOW / 1e3:g} kB for a flow, {demand._EVENTS} bytes for a packet",
        f"{demand._ARRIVAL / 1e3:g} kB for a connection",
        f"{demand._QUEUED} bytes for a packet that is queued",
        f"takes {demand._SAMPLE / 1e3:g} kB while tables are in memory",
        f"the first {demand._FIRST:,}",
        f"{demand._FURTHER} bytes after that",
        f"takes {demand._DRAWN / 1e3:g} kB more",
    ):
        assert words in told, words


@pytest.mark.parametrize(
    ("file", "name", "words"),
    [
        ("flows/table", "MOST_LIVE", "at most {:,} connections at a time"),
        ("flows/table", "MOST_FLOWS", "{:,} flows reported"),
        ("flows/finished", "MOST_IN_TABLES", "the {:,} with the most payload"),
        ("flows/samples", "MOST_ROWS", "{:,} rows"),
        ("connection/outstanding", "MOST", "{:,} outstanding packets"),
        ("flows/sequence_graph", "MOST_OF_FLOW", "up to {:,} points"),
        ("flows/finished", "MOST_DRAWN", "of a flow and {:,} flows"),
    ],
)
def test_the_page_on_captures_has_the_limits_of_the_analysis(
    file: str, name: str, words: str
) -> None:
    text = (ROOT / "crates/capture/src/analyze" / f"{file}.rs").read_text(encoding="utf-8")
    (written,) = re.findall(rf"const {name}: \w+ = ([\d_ <]+);", text)
    value, _, shift = written.replace("_", "").partition("<<")
    assert words.format(int(value) << int(shift or 0)) in page("docs/reference/captures.md")


def test_the_change_log_is_short() -> None:
    assert (ROOT / "CHANGELOG.md").stat().st_size <= 8_192


def test_the_page_on_trust_names_every_profile_and_counts_foreign_measurements() -> None:
    text = page("docs/explanation/trust.md")
    assert {f'"{name}"' for name in registry.profiles()} <= set(re.findall(r'"[\w.-]+"', text))
    reference = (ROOT / "docs" / "reference" / "other-labs.md").read_text(encoding="utf-8")
    conditions = re.findall(r"^\| \d\.\d+ \| ", reference, re.MULTILINE)
    assert f"compares {len(conditions)} measurements" in text


def test_the_page_on_7_3_has_what_differs_between_the_kernels() -> None:
    raised, stock = _page_on_7_3().split("## Stock buffers")
    for text, table, words in (
        (raised, "versions", r"Of {} quantities (\d+) agree, (\d+) differ and (\d+)"),
        (stock, "stock-versions", r"(\d+) of {} quantities agree [\w ]+, (\d+) differ and (\d+)"),
        (stock, "stock", r"(\d+) of the {} quantities agree [\w ]+, (none) differs, (\d+)"),
    ):
        cells = pl.read_csv(AGREEMENT_7_3 / f"{table}.csv")
        counts = [(cells["verdict"] == word).sum() for word in ("agree", "differ", "undecided")]
        shown = re.search(words.format(cells.height), " ".join(text.split()))
        assert shown is not None, table
        assert [0 if count == "none" else int(count) for count in shown.groups()] == counts, table
    differ = pl.read_csv(AGREEMENT_7_3 / "versions.csv").filter(verdict="differ")
    rows = re.findall(r"\| ([\d.]+) \| ([\d.]+) \|$", raised, re.MULTILINE)
    assert [(float(old), float(new)) for old, new in rows] == differ.select(
        "mean", "reference_mean"
    ).rows()


def test_the_page_on_7_3_has_the_times_with_a_buffer_that_grows_too_slowly() -> None:
    rows = re.findall(
        r"\| ([\d.]+) \| ([\d.]+) \| \+ (\d+) % \| [\d.]+ \|$", _page_on_7_3(), re.MULTILINE
    )
    times = pl.read_csv(AGREEMENT_7_3 / "growth.csv").filter(quantity="completion_time")
    for shown, (slow, now) in zip(rows, times.select("mean", "reference_mean").rows(), strict=True):
        assert [float(one) for one in shown[:2]] == pytest.approx([now, slow], abs=0.006)
        assert int(shown[2]) == round(100 * (slow / now - 1))


def _page_on_7_3() -> str:
    return (ROOT / "docs" / "explanation" / "linux-7-3.md").read_text(encoding="utf-8")


def test_pages_count_the_situations_of_the_suites() -> None:
    quick, whole = (len(load_suite(name).situations) for name in ("quick", "rfc9743"))
    assert quick == 8, "evaluate.md says eight"
    for name in ("docs/how-to/evaluate.md", "docs/cookbook/own-control.md", "README.md"):
        assert set(re.findall(r"(?:all|of the) (\d+) situations", page(name), re.I)) == {
            str(whole)
        }, name


def test_the_page_on_stacks_names_the_versions_that_are_built_in() -> None:
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text(encoding="utf-8"))
    versions = {package["name"]: package["version"] for package in lock["package"]}
    text = page("docs/how-to/stacks.md")
    for name in ("quinn-proto", "noq-proto"):
        (shown,) = re.findall(rf"\[{name}\]\(\S+\) ([\d.]+[0-9])", text)
        assert shown == versions[name], name


FUNCTION = re.compile(r"`(\w+)::(\w+)`")
SOURCE = re.compile(r"\]\(\.\./\.\./(crates/[\w/-]+\.rs)\)")


def sources(paragraph: str) -> list[str]:
    return [(ROOT / path).read_text(encoding="utf-8") for path in SOURCE.findall(paragraph)]


def is_defined(name: str, function: str, source: str) -> bool:
    """Returns True if a file has a function of this name, and an `impl` or a trait of the type."""
    owner = rf"\b(?:impl|trait)\b[^{{;]*\b{name}\b"
    has_function = re.search(rf"\bfn {function}\b", source) is not None
    return has_function and re.search(owner, source) is not None


def test_the_way_of_a_packet_names_functions_in_the_files_beside_them() -> None:
    text = (ROOT / "docs/explanation/one-packet.md").read_text(encoding="utf-8")
    named = 0
    for paragraph in re.split(r"\n\n|\n(?=- )", text):
        found = sources(paragraph)
        for name, function in FUNCTION.findall(paragraph):
            named += 1
            assert any(is_defined(name, function, source) for source in found), (name, function)
    assert named > 40


def agreement(name: str, quantity: str) -> pl.DataFrame:
    """The cells of a quantity in a study, with the relative difference of the means."""
    cells = pl.read_csv(ROOT / "experiments" / name / "cells.csv").filter(quantity=quantity)
    relative = (pl.col("mean") - pl.col("reference_mean")) / pl.col("reference_mean")
    return cells.with_columns(relative=relative)


def test_notes_on_completion_times_follow_from_the_cells() -> None:
    near = {}
    for name in ("agreement", "agreement-mixed"):
        cells = agreement(name, "completion_time").filter(pl.col("case").str.starts_with("mixed"))
        far = cells.filter(pl.col("relative").abs() > 0.07)
        for one in far.filter((pl.col("low") > 0) | (pl.col("high") < 0)).iter_rows(named=True):
            least, most = (-100 * one[end] / one["reference_mean"] for end in ("high", "low"))
            assert f"is {least:.0f} to {most:.0f} % shorter here" in page(
                f"experiments/{name}/differences.md"
            )
        near[name] = (cells.height - far.height, cells.height)
    own, mixed = near["agreement"], near["agreement-mixed"]
    notes = page("experiments/agreement/differences.md")
    assert f"Of the {own[1]} completion times of mixed workloads {own[0]} are" in notes
    assert f"{mixed[0]} of {mixed[1]} are" in notes
    notes = page("experiments/agreement-mixed/differences.md")
    assert f"Of the {mixed[1]} completion times {mixed[0]} are" in notes
    assert f"{own[0]} of {own[1]} are" in notes


def test_notes_on_heavy_loss_follow_from_the_cells() -> None:
    cells = agreement("agreement-loss", "goodput")
    limit = 0.2 * pl.col("reference_mean")
    whole = cells.filter((pl.col("low") >= -limit) & (pl.col("high") <= limit)).height
    loss_based = cells.filter(~pl.col("case").str.contains("bbr"))
    above = loss_based.filter(pl.col("relative") > 0).height
    notes = page("experiments/agreement-loss/differences.md")
    near = cells.filter(pl.col("relative").abs() <= 0.2).height
    within = "all" if near == cells.height else str(near)
    assert f"Of the {cells.height} means of goodput {within} are" in notes
    assert f"So are {whole} whole intervals, among them all {loss_based.height} of" in notes
    assert f"of these {loss_based.height} were above, by up to 6 %; now {above} are" in notes
    low, high = loss_based.select(
        low=-100 * pl.col("relative").min(), high=100 * pl.col("relative").max()
    ).row(0)
    assert f"are {low:.1f} % below to {high:.1f} % above" in notes
