"""Situations that every control of the study keeps can fail nevertheless."""

from __future__ import annotations

from pathlib import Path

import pytest

from narrows.backends import get_backend
from narrows.evaluate.runs import attempts, contestants
from narrows.evaluate.suite import load_suite, select
from narrows.evaluate.verdicts import judge
from narrows.execute import run_all
from narrows.metrics.bounds import CheckVerdict
from narrows.metrics.stored import StoreMeasurements
from narrows.spec.permission import allowing
from narrows.store import open_store

FAULTY = """
class Lazy:
    # Two packets in flight, whatever happens.
    def on_ack(self, sample):
        pass

    def on_congestion(self, event):
        pass

    def control(self):
        return 2.0


class Near(Lazy):
    # A window for short paths alone.
    def on_connect(self, connection):
        self.window = 40.0 if connection.rtt_s < 0.05 else 2.0

    def control(self):
        return self.window
"""
KEPT = {
    "Lazy": (
        "aqm-fq-codel", "aqm-pie",
        "short-flows", "no-feedback", "beside-cubic-large", "beside-reno-large", "tail-drop",
        "wired", "wireless-loss", "wifi", "cellular", "high-delay", "reordering", "transient",
        "rate-change", "route-change",
    ),
    "Near": ("fair-within-rtts",),
}  # fmt: skip
"""Situations by the fault that fails them; CUBIC, Reno, BBR, BBRv3, Prague and Copa pass all."""


@pytest.mark.parametrize("fault", KEPT)
def test_expectations_that_all_controls_meet_can_fail(
    fault: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "faulty.py").write_text(FAULTY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    suite, engine = select(load_suite("rfc9743"), KEPT[fault]), get_backend("sim")
    with allowing(controls=[f"faulty:{fault}"]):
        tried = attempts(suite, contestants([f"faulty:{fault}"], []), engine, 3)
        run_all([job for one in tried for job in one.jobs(engine)], tmp_path / "out")
    found = StoreMeasurements(open_store(tmp_path / "out" / "runs"))
    verdicts = {one.situation.name: judge(one, found.of).verdict for one in tried}
    assert verdicts == dict.fromkeys(KEPT[fault], CheckVerdict.NOT_MET)
