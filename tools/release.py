"""Checks that the repository is ready for a release, and says how to publish it.

    python tools/release.py              what must hold before anything is built
    python tools/release.py prepared     the same without the date and the promise of a release
    python tools/release.py publish      the commands that publish what `make release` has built
    python tools/release.py crates       the published crates, as options of cargo

Nothing here changes the repository, tags or uploads: a person does, or the workflow of a tag.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CRATES = (
    *("base", "net", "cc", "tcp", "pcapng", "record", "metrics"),
    *("spec", "media", "sim", "capture"),
)
"""The crates that others may use. cargo publishes each after those that it depends on."""
DATE = r"\d{4}-\d\d-\d\d"


def main() -> int:
    """Prints every problem, or what to do."""
    version = workspace(ROOT)["package"]["version"]
    if sys.argv[1:] == ["publish"]:
        print("\n".join(publication(version)))
        return 0
    if sys.argv[1:] == ["crates"]:
        print(" ".join(f"-p narrows-{crate}" for crate in CRATES))
        return 0
    found = [*versions(ROOT), *tags(ROOT, version)]
    if sys.argv[1:] == ["prepared"]:
        found += changelog(ROOT, version, rf"unreleased|{DATE}")
    else:
        found += [*promise(ROOT), *changelog(ROOT, version, DATE)]
    for problem in found:
        print(f"release: {problem}", file=sys.stderr)
    return 1 if found else 0


def workspace(root: Path) -> dict[str, dict[str, dict[str, str]]]:
    """The workspace's part of Cargo.toml."""
    found: dict[str, dict[str, dict[str, str]]] = _toml(root / "Cargo.toml")["workspace"]
    return found


def _toml(file: Path) -> dict[str, dict[str, dict[str, dict[str, str]]]]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def versions(root: Path) -> Iterator[str]:
    """Problems if a version differs from the workspace's."""
    version = workspace(root)["package"]["version"]
    places = {
        "pyproject.toml": r'^version = "(.+)"$',
        "python/narrows/version.py": r'^__version__ = "(.+)"$',
        "CITATION.cff": r"^version: (.+)$",
    }
    for name, pattern in places.items():
        found = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.MULTILINE)
        if found is None or found[1] != version:
            yield f"{name}: found {found and found[1]}; {version}, as in Cargo.toml, would be right"
    for name, one in workspace(root)["dependencies"].items():
        if "path" in one and one.get("version") != version:
            yield f"Cargo.toml: found {name} {one.get('version')}; {version} would be right"


def promise(root: Path) -> Iterator[str]:
    """A problem if the pages of this version may not say that it is on the package index."""
    name = "python/narrows/version.py"
    if "\nPUBLISHED = True\n" not in (root / name).read_text(encoding="utf-8"):
        yield f"{name}: found a version that isn't published; PUBLISHED = True would be right"


def changelog(root: Path, version: str, when: str) -> Iterator[str]:
    """A problem if the changelog's first entry isn't this version with `when`, a pattern."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## (.+)$", text, re.MULTILINE)
    if first is None or not re.fullmatch(rf"{re.escape(version)}, (?:{when})", first[1]):
        found = first and first[1]
        yield f'CHANGELOG.md: found "{found}"; "{version}, YEAR-MONTH-DAY" would be right'


def tags(root: Path, version: str) -> Iterator[str]:
    """Problems if the tree isn't clean, or the tag belongs to another commit."""
    if changed := git(root, "status", "--porcelain"):
        yield f"found {len(changed.splitlines())} uncommitted changes; none would be right"
    tagged = git(root, "rev-parse", "--verify", "--quiet", f"refs/tags/v{version}^{{commit}}")
    if tagged and tagged != git(root, "rev-parse", "HEAD"):
        yield f"found the tag v{version} at {tagged[:9]}; a version without one would be right"


def git(root: Path, *words: str) -> str:
    """The output of a git command; empty if it fails."""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def publication(version: str) -> Iterator[str]:
    """The commands that publish a release, in their order."""
    yield f"git tag --annotate v{version} --message 'narrows {version}' && git push --tags"
    yield ".venv-release/bin/uv publish dist/*.whl dist/*.tar.gz"
    yield "cargo publish --locked $(python3 tools/release.py crates)"
    yield "# target/site goes to any server of static files"


if __name__ == "__main__":
    sys.exit(main())
