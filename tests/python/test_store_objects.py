"""Stores in object storage behave as those in directories do."""

from __future__ import annotations

import io
import os
import secrets
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from required import module, require
from specimens import GOOD, run_cli, write

from narrows.errors import StoreError
from narrows.store import collect, create_store, damage, is_store, objects, open_store, states
from narrows.store.objects import Bucket
from narrows.sweeps import estimate, execute, export, prepare

module("obstore")
SMALL = GOOD.replace('"8mbit"', '["4mbit", "8mbit"]').replace('"cubic"', '["cubic", "bbr"]')
TABLES = ("summary", "flows", "flow_samples", "queue_samples", "distributions")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """A bucket of a server on loopback."""
    program = shutil.which("moto_server")
    missing = "moto_server isn't there; `pip install moto[server]` brings it"
    require("moto", "" if program else missing)
    port = 20_000 + os.getpid() % 20_000
    endpoint = f"http://127.0.0.1:{port}"
    command = [program, "-p", str(port)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet) as server:
        try:
            _make_bucket(endpoint)
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("AWS_ENDPOINT", endpoint)
                patch.setenv("AWS_REGION", "us-east-1")
                patch.setenv("AWS_ACCESS_KEY_ID", "testing")
                patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
                yield "s3://narrows/studies"
        finally:
            server.kill()


def _make_bucket(endpoint: str) -> None:
    for _ in range(150):
        try:
            request = urllib.request.Request(f"{endpoint}/narrows", method="PUT")
            urllib.request.urlopen(request, timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server doesn't answer")


@pytest.fixture(params=["memory", "s3"])
def url(request: pytest.FixtureRequest) -> str:
    root = "memory://" if request.param == "memory" else request.getfixturevalue("s3") + "/"
    return f"{root}{secrets.token_hex(4)}"


def export_csv(place: object, table: str) -> bytes:
    stream = io.BytesIO()
    export(str(place), table, "csv", stream)
    return stream.getvalue()


def test_a_sweep_into_a_bucket_gives_the_tables_of_a_directory(url: str, tmp_path: Path) -> None:
    spec = write(tmp_path, SMALL)
    first = execute(prepare(spec, out=url))
    assert (first.new, first.stored, first.failures) == (4, 0, ())
    execute(prepare(spec, out=tmp_path / "out"))
    for table in TABLES:
        assert export_csv(url, table) == export_csv(tmp_path / "out", table), table
    again = execute(prepare(spec, out=url))
    assert (again.new, again.stored) == (0, 4)
    assert estimate(prepare(spec, out=url)).stored == 4


def test_a_bucket_is_checked_mended_and_cleaned_up(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute(prepare(write(tmp_path, SMALL), out=url))
    store, bucket = open_store(url), Bucket(url)
    assert [(state.name, state.stored) for state in states(store)] == [("good", 4)]
    key = min(store.keys())
    [part] = store.parts()
    bucket.write(f"parts/{part}/summary.parquet", b"broken")
    bucket.write("parts/part-half/runs.parquet", b"{}")
    assert list(damage(store, remove=True)) == [(f"parts/{part}", "summary.parquet has changed")]
    assert key not in store
    assert collect(store).leftovers == ()  # perhaps somebody is writing it
    assert bucket.names("parts/part-half") == ["runs.parquet"]
    monkeypatch.setattr(objects, "OLD_S", -60.0)
    assert collect(store).leftovers == ("part-half",)
    assert bucket.names("parts/part-half") == []
    assert execute(prepare(write(tmp_path, SMALL), out=url)).new == 4
    assert list(damage(store)) == []


def test_a_part_without_its_document_has_no_runs(url: str, tmp_path: Path) -> None:
    execute(prepare(write(tmp_path, SMALL), out=url))
    store = open_store(url)
    [part] = store.parts()
    Bucket(url).remove([f"parts/{part}/part.json"])
    assert store.keys() == set()
    assert execute(prepare(write(tmp_path, SMALL), out=url)).new == 4


def test_the_commands_take_urls(s3: str, tmp_path: Path, capsys: Capture) -> None:
    url = f"{s3}/{secrets.token_hex(4)}"
    spec = write(tmp_path, SMALL)
    assert run_cli("run", spec, "--out", url) == 0
    assert run_cli("store", "ls", url) == 0
    assert "good: 4 of 4 runs" in capsys.readouterr().out
    assert run_cli("store", "check", url) == 0
    assert run_cli("export", url, "summary", "--out", str(tmp_path / "summary.csv")) == 0


def test_places_without_a_store_are_refused(capsys: Capture) -> None:
    assert not is_store("memory://nothing")
    with pytest.raises(StoreError, match=r"memory://nothing: found no store\.json"):
        open_store("memory://nothing")
    with pytest.raises(StoreError, match="found what obstore can't open"):
        create_store("gopher://hole/there")
    assert run_cli("store", "ls", "memory://nothing") == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_file_url_is_a_directory(tmp_path: Path) -> None:
    execute(prepare(write(tmp_path, SMALL), out=f"file://{tmp_path}/out"))
    assert (tmp_path / "out" / "store.json").is_file()
    assert len(open_store(f"file://{tmp_path}/out").keys()) == 4


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("store.json", b"{", "an unreadable file"),
        ("store.json", b"[" * 100_000, "an unreadable file"),
        ("studies/good.json", b"{", "good.json: an unreadable file"),
        ("studies/good.json", b'{"name": 3}', "good.json: name: a whole number"),
        ("studies/good.parquet", b"PAR1", "good.parquet: a damaged table"),
        ("studies/good.parquet", None, "good.parquet: no table"),
        ("failures/FAILED.json", b'{"error": null}', "FAILED.json: run: nothing"),
        ("parts/PART/part.json", b"[]", "part.json: document: a list"),
        ("parts/PART/part.json", b"[" * 100_000, "part.json: an unreadable"),
        ("parts/PART/flows.parquet", b"PAR1", "parts/PART: flows.parquet has changed"),
        ("parts/PART/flows.parquet", None, "parts/PART: flows.parquet is missing"),
    ],
)
def test_damage_of_a_bucket_is_named_and_mended_as_on_a_disk(
    tmp_path: Path, capsys: Capture, name: str, content: bytes | None, said: str
) -> None:
    url, spec = f"memory://{secrets.token_hex(4)}", write(tmp_path, SMALL)
    assert run_cli("run", spec, "--out", url) == 0
    bucket, store = Bucket(url), open_store(url)
    places = {"PART": store.parts()[0], "FAILED": "a" * 32}
    for word, place in places.items():
        name, said = name.replace(word, place), said.replace(word, place)
    bucket.remove([name])
    if content is not None:
        bucket.write(name, content)
    capsys.readouterr()
    for command in ("check", "ls", "gc --dry-run"):
        assert run_cli("store", *command.split(), url) in (0, 1, 2)
    capsys.readouterr()
    assert run_cli("store", "check", url, "--remove") == 1
    printed = capsys.readouterr().out
    assert said in printed
    assert "1 damaged" in printed
    assert run_cli("store", "check", url) == 0
    assert run_cli("run", spec, "--out", url) == 0
    assert run_cli("export", url, "summary") == 0
