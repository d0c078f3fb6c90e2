"""The release build gives the digests that the Rust tests pin."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrows import _native as native

SNAPSHOT = (
    Path(__file__).parents[2]
    / "crates/sim/tests/snapshots/all__determinism__digests_are_pinned.snap"
)


def pinned_digests() -> list[tuple[str, str, str]]:
    lines = SNAPSHOT.read_text().splitlines()
    cases = [line.split(" ", 2) for line in lines if line.startswith("pinned-")]
    return [(name, digest, scenario) for name, digest, scenario in cases]


def test_the_snapshot_holds_cases() -> None:
    assert len(pinned_digests()) == 6


@pytest.mark.parametrize(("name", "digest", "scenario"), pinned_digests())
def test_release_build_agrees(name: str, digest: str, scenario: str) -> None:
    assert native.run(scenario).digest == digest, name
