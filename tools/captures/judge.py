"""Judges the analysis on captures of known cause: `judge.py DIRECTORY [receiver] [--replay]`.

Prints the tables of confusion and every mistake, and with `--replay` how far replays agree. A case
whose flow reached 85 % of its path although something was to prevent that isn't counted: nothing
limited it.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from narrows.analyze.replay import GOODPUT, RTT, is_within
from narrows.analyze.replay import run as run_spec
from narrows.analyze.run import read_captures

REACHED = 0.85
FILLING = ("healthy", "queue", "fair_share")
"""Cases that are meant to fill their path."""
SHOWING = (*FILLING, "random_loss", "policer")
"""Cases whose control can show: the network limits them, neither an end nor reordering, their
windows aren't set to one packet by timeouts again and again, and they leave slow start."""
SHAPELESS = 8
"""Nor does it show with fewer packets in flight on average."""


def shows_control(case: dict[str, Any], flow: dict[str, Any]) -> bool:
    """Returns True if a flow can show its control, given its cause and its data in flight.

    Reno and CUBIC react to losses only, so without any they don't show.
    """
    packets = (flow["in_flight_mean_bytes"] or 0.0) / (flow["mss"] or 1448)
    reacts = case["cca"] == "bbr" or flow["loss"]["retransmitted"] > 0
    return case["cause"] in SHOWING and packets >= SHAPELESS and reacts


def counted_cases(directory: Path, end: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """Every case that counts, with the analysis of its capture."""
    for place in sorted(directory.iterdir()):
        file = place / f"{end}.pcapng"
        if not (place / "receiver.pcapng").is_file():
            continue
        case = json.loads((place / "case.json").read_text(encoding="utf-8"))
        made = read_captures([file])
        flow = made.findings["flows"][0]
        reached = flow["goodput_mbps"] >= REACHED * case["rate_mbps"] * 1448 / 1514
        if case["cause"] not in FILLING and reached:
            print(
                f"{case['name']}: not counted, {case['cause']} didn't keep it from its path's rate"
            )
            continue
        yield case, made


def main() -> None:
    """Judges the captures of a set."""
    replayed = "--replay" in sys.argv
    directory, *ends = [word for word in sys.argv[1:] if word != "--replay"]
    causes: Counter[tuple[str, str]] = Counter()
    controls: Counter[tuple[str, str]] = Counter()
    others: Counter[tuple[str, str]] = Counter()
    near: Counter[str] = Counter()
    for case, made in counted_cases(Path(directory), ends[0] if ends else "sender"):
        flow = made.findings["flows"][0]
        found = flow["causes"]
        causes[case["cause"], found["first"]] += 1
        said = flow["control"]["control"]
        if shows_control(case, flow):
            controls[case["cca"], said] += 1
            if said != case["cca"]:
                print(f"{case['name']} {case['cause']}: {case['cca']} was found to be {said}")
        else:
            others[case["cca"], said] += 1
        if found["first"] != case["cause"]:
            shares = {one["cause"]: round(one["share"], 2) for one in found["shares"]}
            print(f"{case['name']}: {case['cause']} ({case['cca']}) was found to be {shares}")
        if replayed:
            (one,) = run_spec(made.loaded.text)
            goodput = is_within(flow["goodput_mbps"], one.goodput_mbps, GOODPUT)
            rtt = is_within(flow["rtt_ms"]["mean"], one.rtt_ms, RTT)
            near.update({"goodput": goodput, "RTT": rtt, "both": goodput and rtt})
            if not (goodput and rtt):
                captured = f"{flow['goodput_mbps']:.2f} Mbit/s, {flow['rtt_ms']['mean']:.1f} ms"
                print(f"{case['name']} {case['cause']}: {captured}, replayed {one}")
    total = causes.total()
    right = sum(count for (true, said), count in causes.items() if true == said)
    print(f"{right} of {total} first causes are right")
    print(*table(causes), "", "controls that can show:", *table(controls), sep="\n")
    print("controls that can't:", *table(others), sep="\n")
    if replayed:
        print(", ".join(f"{name} near in {count} of {total}" for name, count in near.items()))


def table(counts: Counter[tuple[str, str]]) -> Iterator[str]:
    """A table of confusion in Markdown: a row for each truth, a column for each verdict."""
    truths = sorted({truth for truth, _ in counts})
    verdicts = sorted({verdict for _, verdict in counts})
    yield f"| | {' | '.join(verdicts)} |"
    yield f"| --- |{' --- |' * len(verdicts)}"
    for truth in truths:
        cells = (str(counts[truth, verdict] or "") for verdict in verdicts)
        yield f"| {truth} | {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
