"""Results and stores from somebody else: they may hold anything, and nothing outside is touched.

The generator changes a result and a store at random, runs commands on them, and looks at a folder
beside them. `make fuzz` runs more rounds: `NARROWS_HOSTILE` of them, from `NARROWS_FUZZ_FIRST` on.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from specimens import GOOD, run_cli

from narrows.store import open_result, open_store
from narrows.store.folders import FOLDERS
from narrows.store.intact import digest_of, seal

Capture = pytest.CaptureFixture[str]
SHORT = ["--set", "run.duration=2s", "--set", "run.warmup=0.5s"]
FIRST = int(os.environ.get("NARROWS_FUZZ_FIRST", "1"))
ROUNDS = int(os.environ.get("NARROWS_HOSTILE", "12"))
SECRET = "my thesis"


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result and a store, to be copied."""
    place = tmp_path_factory.mktemp("made")
    spec = place / "good.toml"
    spec.write_text(GOOD)
    assert run_cli("run", str(spec), *SHORT, "--out", str(place / "result")) == 0
    axis = ["--set", 'path.buffer=["1bdp", "4bdp"]']
    assert run_cli("run", str(spec), *SHORT, *axis, "--out", str(place / "store")) == 0
    return place


@pytest.fixture
def result(originals: Path, tmp_path: Path) -> Path:
    return copy(originals, tmp_path, "result")


@pytest.fixture
def store(originals: Path, tmp_path: Path) -> Path:
    return copy(originals, tmp_path, "store")


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder of the person who got the results."""
    place = tmp_path / "victim"
    (place / "run=mine").mkdir(parents=True)
    for name in ("thesis.tex", "0" * 32, "run=mine/data"):
        (place / name).write_text(SECRET)
    return place


def copy(originals: Path, place: Path, name: str) -> Path:
    target = place / "shelf" / name
    shutil.copytree(originals / name, target, symlinks=True)
    return target


def is_untouched(victim: Path) -> bool:
    """Returns True if a folder still holds what it held, and nothing else."""
    files = {path.relative_to(victim).as_posix() for path in victim.rglob("*") if path.is_file()}
    texts = {path.read_text() for path in victim.rglob("*") if path.is_file()}
    return files == {"thesis.tex", "0" * 32, "run=mine/data"} and texts == {SECRET}


def link(place: Path, target: Path) -> None:
    """Puts a link where something is."""
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.symlink_to(target)


@pytest.mark.parametrize("folder", ["locks", "parts", "tmp", "studies", "failures", "pages"])
@pytest.mark.parametrize(
    "command", [("store", "gc", "--dry-run"), ("store", "gc"), ("open", "--no-show", "--rebuild")]
)
def test_a_linked_folder_of_a_store_is_refused(
    store: Path, victim: Path, capsys: Capture, folder: str, command: tuple[str, ...]
) -> None:
    link(store / folder, victim)
    assert run_cli(*command, str(store)) == 2
    assert f"{store / folder}: found a link or a file" in capsys.readouterr().err
    assert is_untouched(victim)


def test_a_sweep_into_a_store_with_a_linked_folder_is_refused(
    store: Path, originals: Path, victim: Path
) -> None:
    link(store / "locks", victim)
    assert (
        run_cli("run", str(originals / "good.toml"), *SHORT, "--jobs", "2", "--out", str(store))
        == 2
    )
    (store / "store.json").unlink()
    assert (
        run_cli("run", str(originals / "good.toml"), *SHORT, "--jobs", "2", "--out", str(store))
        == 2
    )
    assert is_untouched(victim)


def test_only_files_named_like_locks_are_removed_from_a_store(store: Path) -> None:
    (store / "locks" / "notes.txt").write_text(SECRET)
    (store / "locks" / ("a" * 32)).write_text("")
    link(store / "locks" / ("b" * 32), store / "locks" / "notes.txt")
    assert run_cli("store", "gc", "--dry-run", str(store)) == 0
    assert len(list((store / "locks").iterdir())) == 3
    assert run_cli("store", "gc", str(store)) == 0
    assert (store / "locks" / "notes.txt").read_text() == SECRET
    assert not (store / "locks" / ("a" * 32)).exists()


@pytest.mark.parametrize("page", ["report.html", "figure.png", "figure.svg"])
def test_a_page_replaces_a_link_instead_of_following_it(
    result: Path, victim: Path, page: str
) -> None:
    link(result / page, victim / "thesis.tex")
    run_cli("open", "--no-show", "--rebuild", str(result), "--png")
    assert is_untouched(victim)


def test_a_page_of_a_study_replaces_a_link(store: Path, victim: Path) -> None:
    link(store / "good.html", victim / "thesis.tex")
    assert run_cli("open", "--no-show", "--rebuild", str(store)) == 0
    assert is_untouched(victim)
    assert not (store / "good.html").is_symlink()


@pytest.mark.parametrize(
    "name", ["../pipe", "/dev/zero", "trial-1/../../pipe", "trial-1/x.parquet"]
)
def test_a_manifest_names_only_files_of_the_layout(
    result: Path, capsys: Capture, name: str
) -> None:
    os.mkfifo(result.parent / "pipe")
    os.mkfifo(result / "trial-1" / "x")
    manifest = json.loads((result / "manifest.json").read_text())
    manifest["files"][name] = "0" * 32
    seal_forged(result, manifest)
    for command in (("verify",), ("export",), ("figure",)):
        more = {"export": ["summary"], "figure": ["timeline"]}.get(command[0], [])
        assert run_cli(*command, str(result), *more) == 2
    assert "x" in capsys.readouterr().err or "without this file"
    assert run_cli("list", "results", str(result.parent)) == 0
    assert "unreadable" in capsys.readouterr().out


def seal_forged(result: Path, manifest: dict[str, object]) -> None:
    """Seals a manifest with the files that it names, as a forger would."""
    from narrows.store import intact

    whole = {name: value for name, value in manifest.items() if name != intact.OWN}
    digest = intact.digest_of(whole)
    (result / "manifest.json").write_text(json.dumps({**whole, intact.OWN: digest}))


@pytest.mark.parametrize("name", ["trial-1/scenario.json", "summary.json", "manifest.json"])
def test_a_pipe_or_a_link_in_a_result_is_not_opened(result: Path, victim: Path, name: str) -> None:
    (result / name).unlink()
    os.mkfifo(result / name)
    assert run_cli("verify", str(result)) == 2
    link(result / name, victim / "thesis.tex")
    assert run_cli("verify", str(result)) == 2


def test_a_table_with_more_rows_than_a_run_can_give_is_refused(
    result: Path, capsys: Capture
) -> None:
    file = result / "trial-1" / "flow_samples.parquet"
    frame = pl.read_parquet(file)
    many = frame.head(1).select(pl.all().repeat_by(20_000_000).explode())
    many.write_parquet(file)
    assert file.stat().st_size < 2_000_000
    manifest = json.loads((result / "manifest.json").read_text())
    (result / "manifest.json").write_text(json.dumps(seal(manifest, result)))
    assert run_cli("open", "--no-show", "--rebuild", str(result)) == 2
    assert "20,000,000 rows" in capsys.readouterr().err


def test_a_page_that_is_not_ours_stays(result: Path, tmp_path: Path, capsys: Capture) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("my homepage")
    assert run_cli("open", str(site), "--no-show") == 2
    assert "no results in it" in capsys.readouterr().err
    (result.parent / "index.html").write_text("my homepage")
    assert run_cli("open", str(result.parent), "--no-show") == 2
    assert "a page that narrows didn't make" in capsys.readouterr().err
    assert (result.parent / "index.html").read_text() == "my homepage"
    (result.parent / "index.html").unlink()
    for _ in range(2):
        assert run_cli("open", str(result.parent), "--no-show") == 0


def test_a_link_that_leads_nowhere_is_refused_before_the_run(
    originals: Path, tmp_path: Path, capsys: Capture
) -> None:
    for name, target in (("dangling", "nothing"), ("loop", "loop")):
        out = tmp_path / name
        out.symlink_to(tmp_path / target)
        assert run_cli("run", str(originals / "good.toml"), *SHORT, "--out", str(out)) == 2
        assert "a link that leads nowhere" in capsys.readouterr().err


def test_force_through_a_link_replaces_the_result_that_it_leads_to(
    result: Path, originals: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(result)
    force = ["--out", str(tmp_path / "link"), "--force", "--set", "run.seed=9"]
    assert run_cli("run", str(originals / "good.toml"), *SHORT, *force) == 0
    assert (tmp_path / "link").is_symlink()
    assert open_result(result).trials[0].scenario["seed"] == 9
    assert sorted(path.name for path in result.parent.iterdir()) == ["result"]


def test_force_does_not_delete_other_files(result: Path, originals: Path, capsys: Capture) -> None:
    (result / "notes.txt").write_text(SECRET)
    assert run_cli("run", str(originals / "good.toml"), "--out", str(result), "--force") == 2
    assert "found also notes.txt" in capsys.readouterr().err
    assert (result / "notes.txt").read_text() == SECRET


def test_a_damaged_result_is_called_so(result: Path, originals: Path, capsys: Capture) -> None:
    (result / "summary.json").write_text("{}")
    assert run_cli("run", str(originals / "good.toml"), *SHORT, "--out", str(result)) == 2
    assert (
        "a damaged result (summary.json: content that the run did not write"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "file", ["parts/part-*/runs.parquet", "parts/part-*/summary.parquet", "studies/good.parquet"]
)
def test_damaged_tables_of_a_store_are_reported_and_mended(
    store: Path, originals: Path, capsys: Capture, file: str
) -> None:
    assert run_cli("export", str(store), "summary") == 0
    path = next(store.glob(file))
    path.write_bytes(path.read_bytes()[:50])
    capsys.readouterr()
    assert run_cli("store", "check", str(store), "--remove") == 1
    assert "1 damaged" in capsys.readouterr().out
    again = ["--set", 'path.buffer=["1bdp", "4bdp"]', "--out", str(store)]
    assert run_cli("run", str(originals / "good.toml"), *SHORT, "--jobs", "2", *again) == 0
    for command in (("export", str(store), "summary"), ("store", "ls", str(store))):
        assert run_cli(*command) == 0


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5])


def _folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("store.json", _cut),
        ("studies/good.json", _cut),
        ("studies/good.json", lambda path: path.write_text('{"name": 3}')),
        ("studies/good.parquet", _folder_instead),
        ("parts/part-*/flows.parquet", _folder_instead),
        ("parts/part-*/runs.parquet", _cut),
        ("failures", lambda path: (path / f"{'a' * 32}.json").write_text("{")),
        ("failures", lambda path: (path / f"{'a' * 32}.json").write_text('{"error": null}')),
        ("parts/part-*/part.json", lambda path: path.write_text("[]")),
        ("parts/part-*/part.json", _cut),
    ],
)
def test_every_kind_of_damage_is_found_and_mended(
    store: Path, originals: Path, capsys: Capture, name: str, damage: Callable[[Path], object]
) -> None:
    assert run_cli("export", str(store), "summary") == 0
    damage(next(store.glob(name)))
    assert run_cli("store", "check", str(store)) in (1, 2)
    assert run_cli("store", "check", str(store), "--remove") == 1
    assert "1 damaged" in capsys.readouterr().out
    assert run_cli("store", "check", str(store)) == 0
    again = ["--set", 'path.buffer=["1bdp", "4bdp"]', "--out", str(store)]
    assert run_cli("run", str(originals / "good.toml"), *SHORT, "--jobs", "2", *again) == 0
    for command in (("export", str(store), "summary"), ("store", "ls", str(store))):
        assert run_cli(*command) == 0


def _seal(part: Path, **changes: object) -> None:
    """Writes the line of a part anew, with a digest that fits."""
    line = json.loads((part / "part.json").read_text()) | changes
    rest = {key: value for key, value in line.items() if key != "digest"}
    (part / "part.json").write_text(json.dumps({**rest, "digest": digest_of(rest)}))


def test_a_part_that_names_files_elsewhere_is_refused(
    store: Path, victim: Path, capsys: Capture
) -> None:
    [part] = (store / "parts").iterdir()
    files = json.loads((part / "part.json").read_text())["files"]
    _seal(part, files=files | {"../../../victim/thesis.tex": {"bytes": 9, "digest": "0" * 32}})
    for command in (("export", str(store), "summary"), ("store", "gc", str(store))):
        assert run_cli(*command) == 2
        assert "names of tables" in capsys.readouterr().err
    assert is_untouched(victim)


def test_linked_parts_and_tables_are_not_read(store: Path, victim: Path, capsys: Capture) -> None:
    [part] = (store / "parts").iterdir()
    (store / "parts" / f"part-{'0' * 16}").symlink_to(victim)
    assert run_cli("store", "gc", str(store)) == 0
    link(part / "flows.parquet", victim / "thesis.tex")
    assert run_cli("export", str(store), "flows") == 2
    assert "found a link" in capsys.readouterr().err
    assert run_cli("store", "check", str(store), "--remove") == 1
    assert is_untouched(victim)


def test_a_small_part_cannot_fill_the_memory(store: Path, capsys: Capture) -> None:
    [part] = (store / "parts").iterdir()
    flows = pl.read_parquet(part / "flows.parquet").head(1)
    pl.concat([flows] * 300_000).rechunk().write_parquet(part / "flows.parquet")
    assert run_cli("export", str(store), "flows") == 2
    assert "a table that its run can give" in capsys.readouterr().err


def test_a_damaged_study_is_reported_by_every_command(store: Path, capsys: Capture) -> None:
    path = store / "studies" / "good.parquet"
    path.write_bytes(path.read_bytes()[:50])
    for command in (("store", "ls"), ("store", "gc"), ("open", "--no-show", "--rebuild")):
        assert run_cli(*command, str(store)) == 2
        error = capsys.readouterr().err
        assert "good.parquet: found a damaged table" in error
        assert "store check --remove" in error


@pytest.mark.parametrize(
    "command", [["run", "--out"], ["list", "results"], ["open"], ["verify"], ["store", "ls"]]
)
def test_names_that_are_too_long_are_reported(
    originals: Path, capsys: Capture, command: list[str]
) -> None:
    spec = [str(originals / "good.toml")] if command[0] == "run" else []
    assert run_cli(command[0], *spec, *command[1:], "x" * 300) == 2
    assert "File name too long" in capsys.readouterr().err


COMMANDS = (
    "ls SHELF",
    "open SHELF --no-show",
    "report RESULT",
    "verify RESULT",
    "export RESULT summary",
    "figure RESULT timeline --out SHELF/f",
    "diff RESULT RESULT --out SHELF/d",
    "report STORE",
    "verify STORE",
    "export STORE summary",
    "store ls STORE",
    "store check STORE",
    "store gc STORE",
)


@pytest.mark.parametrize("name", ["summary.csv", "trial-1/captures/*.pcapng"])
def test_a_truncated_file_is_not_complete(
    originals: Path, tmp_path: Path, capsys: Capture, name: str
) -> None:
    out = tmp_path / "out"
    command = ["run", str(originals / "good.toml"), *SHORT, "--pcap", "--out", str(out)]
    assert run_cli(*command) == 0
    capsys.readouterr()
    assert run_cli(*command) == 0
    assert "already complete" in capsys.readouterr().err
    file = next(out.glob(name))
    file.write_bytes(file.read_bytes()[:100])
    run_cli(*command)
    assert "already complete" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "place", "value"),
    [
        ("manifest.json", "groups", 1e308),
        ("manifest.json", "trials.0.number", "1"),
        ("manifest.json", "trials.0.end_s", True),
        ("manifest.json", "files", {"spec.toml": 1}),
        ("trial-1/scenario.json", "path.queue", None),
        ("trial-1/scenario.json", "flows.0.name", ["x"]),
        ("trial-1/scenario.json", "run.duration_ns", 2.5),
        ("summary.json", "runs.0.flows", {}),
        ("summary.json", "runs.0.seed", 10**40),
    ],
)
def test_a_value_of_another_type_is_named(
    result: Path, capsys: Capture, file: str, place: str, value: object
) -> None:
    document = json.loads((result / file).read_text())
    *parents, last = (int(word) if word.isdigit() else word for word in place.split("."))
    inner = document
    for word in parents:
        inner = inner[word]
    inner[last] = value
    (result / file).write_text(json.dumps(document))
    reseal(result)
    if place == "files":  # which `reseal` makes anew
        (result / file).write_text(json.dumps(document))
    commands = [("open", "--no-show", "--rebuild", str(result)), ("diff", str(result), str(result))]
    for command in commands:
        assert run_cli(*command) == 2
        said = capsys.readouterr().err
        assert str(result / file) in said
        assert "can't be read" not in said
        shown = place.replace(".0", "[0]")
        assert place == "files" or f"{file}: {shown}: found " in said
    assert run_cli("list", "results", str(result.parent)) == 0


@pytest.mark.parametrize("seed", range(FIRST, FIRST + ROUNDS))
def test_random_damage_harms_nothing_and_is_reported(
    originals: Path, tmp_path: Path, victim: Path, capsys: Capture, seed: int
) -> None:
    draw = random.Random(seed)
    result, store = (copy(originals, tmp_path, name) for name in ("result", "store"))
    (tmp_path / "shelf" / "good").symlink_to(originals / "result")
    damage = [attack(draw, draw.choice((result, store)), victim) for _ in range(draw.randint(1, 3))]
    places = {"SHELF": tmp_path / "shelf", "RESULT": result, "STORE": store}
    for command in COMMANDS:
        words = [command_word(word, places) for word in command.split()]
        status = run_cli(*words)
        said = capsys.readouterr()
        assert status in (0, 1, 2), f"{seed} {damage} {words}\n{said.err[-3000:]}"
        assert is_untouched(victim), (seed, damage, words)


def command_word(word: str, places: dict[str, Path]) -> str:
    for name, place in places.items():
        word = word.replace(name, str(place))
    return word


def attack(draw: random.Random, place: Path, victim: Path) -> str:
    """Changes something in a result or a store; returns what."""
    files = sorted(path for path in place.rglob("*") if path.is_file() and not path.is_symlink())
    folders = sorted(path for path in place.rglob("*") if path.is_dir() and not path.is_symlink())
    kind = draw.choice(
        ("link", "folder", "pipe", "cut", "bytes", "json", "swap", "gone", *3 * ["digest"])
    )
    path = draw.choice(files)
    match kind:
        case "link":
            link(path, draw.choice((victim / "thesis.tex", Path("/dev/zero"), Path("/nothing"))))
        case "folder":
            path = draw.choice(folders)
            link(path, victim)
        case "pipe":
            path.unlink()
            os.mkfifo(path)
        case "cut":
            path.write_bytes(path.read_bytes()[: draw.randrange(200)])
        case "bytes":
            content = bytearray(path.read_bytes() or b"x")
            for _ in range(20):
                content[draw.randrange(len(content))] = draw.randrange(256)
            path.write_bytes(content)
        case "json" | "digest":
            path = draw.choice([file for file in files if file.suffix == ".json"])
            document = json.loads(path.read_bytes())
            replace(draw, document)
            path.write_text(json.dumps(document))
        case "swap":
            other = draw.choice(files)
            one, two = path.read_bytes(), other.read_bytes()
            path.write_bytes(two)
            other.write_bytes(one)
        case "gone":
            path.unlink()
    if kind == "digest" and (place / "manifest.json").is_file():
        reseal(place)
    return f"{kind} {path.relative_to(place)}"


def replace(draw: random.Random, document: object) -> None:
    """Gives something in a JSON document another type or value."""
    while isinstance(document, dict | list) and document:
        keys = list(document) if isinstance(document, dict) else list(range(len(document)))
        key = draw.choice(keys)
        inner = document[key]
        if not isinstance(inner, dict | list) or not inner or draw.random() < 0.2:
            values = (None, -1, 1e308, "", "../../x", [], {}, [None], {"a": 1}, True, "\x1b[2J")
            document[key] = draw.choice(values)
            return
        document = inner


def reseal(place: Path) -> None:
    try:
        manifest = json.loads((place / "manifest.json").read_text())
        (place / "manifest.json").write_text(json.dumps(seal(manifest, place)))
    except Exception:
        pass


@pytest.mark.parametrize("folder", ["parts", "studies"])
def test_a_store_without_a_folder_is_refused(folder: str, store: Path, capsys: Capture) -> None:
    shutil.rmtree(store / folder)
    out = ["--out", str(store.parent / "drawn")]
    for command in (["store", "ls"], ["store", "gc"], ["export"], ["figure"]):
        assert run_cli(*command, str(store), *(out if command == ["figure"] else [])) == 2
        said = capsys.readouterr().err
        assert said.startswith(f"narrows: error: {store / folder}: found no such directory; ")
        assert said.count("\n") == 1
    assert run_cli("store", "check", str(store)) == 1
    assert capsys.readouterr().out == f"{folder}: no such directory\n1 damaged\n"
    assert run_cli("store", "check", "--remove", str(store)) == 1
    assert run_cli("store", "check", str(store)) == 0


def test_another_sweep_makes_the_folders_of_a_store_again(originals: Path, store: Path) -> None:
    for folder in FOLDERS:
        shutil.rmtree(store / folder)
    axis = ["--set", 'path.buffer=["1bdp", "4bdp"]']
    sweep = ["run", str(originals / "good.toml"), *SHORT, *axis, "--out", str(store)]
    assert run_cli(*sweep) == 0
    assert len(open_store(store).keys()) == 2


def test_a_copy_of_a_store_may_lack_its_empty_folders(store: Path, capsys: Capture) -> None:
    for folder in ("failures", "locks", "tmp"):
        shutil.rmtree(store / folder)
    for command in (["store", "ls"], ["store", "gc"], ["store", "check"], ["export"]):
        assert run_cli(*command, str(store)) == 0
    assert not capsys.readouterr().err
