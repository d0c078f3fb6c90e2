"""The inputs of a kernel's build; nothing is compiled here."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from narrows.backends.uml import (
    BuiltKernel,
    build,
    builder,
    get_kernel,
    kernels,
    module_tree,
    packages,
)
from narrows.backends.uml.origin import Origin, find_origin
from narrows.cli import main
from narrows.console import StepBar, step_line
from narrows.errors import InputError

KCONFIG = "config TCP_CONG_CUBIC\n\ttristate\nconfig TCP_CONG_MINE\n\ttristate\n"
PATCH = """\
Adds a control.

diff --git a/net/ipv4/tcp_mine.c b/net/ipv4/tcp_mine.c
new file mode 100644
--- /dev/null
+++ b/net/ipv4/tcp_mine.c
@@ -0,0 +1 @@
+int mine;
diff --git a/Makefile b/Makefile
--- a/Makefile
+++ b/Makefile
@@ -1 +1 @@
-SUBLEVEL = 1
+SUBLEVEL = 2
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    place = tmp_path / "linux-6.12"
    for name in ("arch/um/Kconfig", "net/ipv4/Kconfig", "Makefile", ".git/HEAD"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("SUBLEVEL = 1\n" if name == "Makefile" else KCONFIG)
    return place


@pytest.fixture
def patch(tmp_path: Path) -> Path:
    file = tmp_path / "0001-mine.patch"
    file.write_text(PATCH)
    return file


def test_patches_change_a_copy_and_never_the_tree(tree: Path, patch: Path, tmp_path: Path) -> None:
    origin = find_origin(tree, packages.DEFAULT_PACKAGE, [patch], None)
    patched = origin.prepare(tmp_path / "copy")
    assert (patched / "net/ipv4/tcp_mine.c").read_text() == "int mine;\n"
    assert (patched / "Makefile").read_text() == "SUBLEVEL = 2\n"
    assert (tree / "Makefile").read_text() == "SUBLEVEL = 1\n"
    assert not (patched / ".git").exists()
    assert Origin(tree).prepare(tmp_path / "unused") == tree
    assert (origin.name, Origin(tree).name) == ("linux-6.12-0001-mine", "linux-6.12")


def test_a_patch_of_an_archive_is_applied_to_what_is_unpacked(
    tree: Path, patch: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "linux-source-6.12.tar.xz"
    subprocess.run(["tar", "-cJf", archive, "-C", tree.parent, tree.name], check=True)
    patched = Origin(archive, (patch,)).prepare(tmp_path / "unpacked")
    assert (patched / "Makefile").read_text() == "SUBLEVEL = 2\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [(PATCH.replace("LEVEL = 1", "LEVEL = 7"), "1 out of 1 hunk"), ("nothing\n", "garbage")],
)
def test_a_patch_that_does_not_apply_is_named(
    tree: Path, tmp_path: Path, text: str, said: str
) -> None:
    wrong = tmp_path / "wrong.patch"
    wrong.write_text(text)
    with pytest.raises(InputError, match=said) as caught:
        Origin(tree, (wrong,)).prepare(tmp_path / "copy")
    assert caught.value.place == "--patch"
    assert "wrong.patch" in caught.value.problems[0].found


def test_the_fingerprint_is_that_of_the_contents(tree: Path, patch: Path, tmp_path: Path) -> None:
    first = Origin(tree, (patch,)).fingerprint("recipe")
    (tree / ".git" / "HEAD").write_text("another branch, the same files")
    (tree / "Makefile").touch()
    assert Origin(tree, (patch,)).fingerprint("recipe") == first
    others = [Origin(tree).fingerprint("recipe"), Origin(tree, (patch,)).fingerprint("other")]
    options = tmp_path / "options"
    options.write_text("CONFIG_HZ=100\n")
    others.append(Origin(tree, (patch,), options).fingerprint("recipe"))
    (tree / "Makefile").chmod(0o755)
    others.append(Origin(tree, (patch,)).fingerprint("recipe"))
    (tree / "Makefile").write_text("SUBLEVEL = 3\n")
    others.append(Origin(tree, (patch,)).fingerprint("recipe"))
    assert len({first, *others}) == 6


def test_controls_that_patches_add_are_built_in(tree: Path) -> None:
    assert builder._own_controls(tree) == "CONFIG_TCP_CONG_CUBIC=y\nCONFIG_TCP_CONG_MINE=y\n"


@pytest.mark.parametrize(
    ("mounts", "option"),
    [("void mount_root(void)", "CONFIG_BLOCK=y\n"), ("int mount_nodev_root(char *name)", "")],
)
def test_kernels_that_need_blocks_for_a_root_get_them(tree: Path, mounts: str, option: str) -> None:
    (tree / "init").mkdir()
    (tree / "init" / "do_mounts.c").write_text(mounts)
    assert builder._root_support(tree) == option


@pytest.fixture
def built_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An empty cache, and the names that were built without compiling anything."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(builder, "check_machine", lambda _package: None)
    monkeypatch.setattr(builder, "traffic_tool", lambda: None)
    made: list[str] = []

    def compile_nothing(
        origin: Origin, name: str, fingerprint: str, place: Path, *_others: object
    ) -> BuiltKernel:
        made.append(name)
        patches = tuple(patch.name for patch in origin.patches)
        day = f"2026-01-{len(made):02}"
        source = str(origin.sources)
        kernel = BuiltKernel(name, "6.12.1", "00", ("mine",), (), source, day, patches, fingerprint)
        (place / "kernel").mkdir()
        (place / "kernel" / "host.so").touch()
        (place / "kernel" / module_tree.ARCHIVE).touch()
        kernel.write(place / "kernel")
        builder._replace(kernel.path, place / "kernel")
        return kernel

    monkeypatch.setattr(builder, "compile_kernel", compile_nothing)
    return made


def test_the_same_contents_are_built_once(tree: Path, patch: Path, built_names: list[str]) -> None:
    first = build(source=tree, patches=[patch])
    assert build(source=tree, patches=[patch]) == first
    other = build("other", source=tree, patches=[patch])
    assert other == replace(first, name="other")
    assert built_names == ["linux-6.12-0001-mine"]
    # Earlier versions of this program kept nothing for modules.
    first.module_tree.unlink()
    other.module_tree.unlink()
    build(source=tree, patches=[patch])
    assert built_names == ["linux-6.12-0001-mine"] * 2
    build("other", source=tree, patches=[patch])
    assert len(built_names) == 2
    assert [kernel.name for kernel in kernels()] == ["linux-6.12-0001-mine", "other"]
    (tree / "Makefile").write_text("SUBLEVEL = 1\n\n")
    build("other", source=tree)
    build("other", source=tree, force=True)
    assert built_names[2:] == ["other", "other"]


def test_kernels_stand_side_by_side_and_those_of_patches_and_trees_have_to_be_named(
    tree: Path, patch: Path, built_names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "SOURCES", tree.parent)
    archive = tree.parent / "linux-source-6.12.tar.xz"
    subprocess.run(["tar", "-cJf", archive, "-C", tree.parent, tree.name], check=True)
    stock = build()
    of_tree = build("of-tree", source=tree)
    patched = build(patches=[patch])
    assert get_kernel() == stock
    assert get_kernel("of-tree") == of_tree
    assert get_kernel("linux-6.12-0001-mine") == patched
    assert patched.patches == ("0001-mine.patch",)
    assert len(built_names) == 3


def test_all_that_is_missing_is_reported_in_one_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(packages, "SOURCES", tmp_path)
    with pytest.raises(InputError) as caught:
        build()
    said = str(caught.value)
    wanted = "build-essential flex bison bc tar xz-utils patch linux-source-6.12"
    assert f"apt install {wanted})" in said
    assert said.startswith("kernel build: found no make, gcc, flex, bison, bc, tar, xz, patch and")
    with pytest.raises(InputError) as caught:
        packages.check_machine(None)
    assert "linux-source" not in str(caught.value)


@pytest.mark.parametrize("option", ["--patch", "--config"])
def test_a_file_that_is_not_there_is_refused(tree: Path, option: str) -> None:
    files = {"patches": [tree / "none"]} if option == "--patch" else {"config": tree / "none"}
    with pytest.raises(InputError) as caught:
        find_origin(tree, "", **{"patches": [], "config": None, **files})  # type: ignore[arg-type]
    assert caught.value.place == option


def test_an_empty_list_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["kernel", "list"]) == 0
    assert "`narrows kernel build` makes one" in capsys.readouterr().out


def test_progress_is_reported_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with StepBar() as bar:
        for step, percent in (("unpacking", 0), ("compiling", 12), *_COMPILING, ("done", 100)):
            bar(step, percent / 100)
    told = capsys.readouterr().err.splitlines()
    assert told[:2] == ["narrows: unpacking", "narrows: compiling"]
    assert [line.partition("%")[0] for line in told[2:5]] == [
        f"narrows: compiling, {tenth}" for tenth in (20, 30, 40)
    ]
    assert told[-1] == "narrows: done"
    assert len(told) == 11
    assert step_line("compiling", 0.25, 60.0) == "compiling, 25% of all done, 3 min left"


_COMPILING = [("compiling", percent) for percent in range(13, 97)]
