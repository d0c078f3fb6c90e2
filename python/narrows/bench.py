"""`narrows bench`: data packets through the bottleneck per second of CPU time.

Four scenarios from one flow to a hundred. Each runs once to warm up and then
three times; the median counts. CPU time is that of the thread that simulates,
so other programs disturb it little, but a busy machine still shares its caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

REPEATS = 3
QUICK = 10
"""`--quick` simulates a tenth of the time."""


@dataclass(frozen=True)
class Scenario:
    """A load to measure: its name, what it is in words, and its specification."""

    name: str
    title: str
    rate: str
    rtt: str
    buffer: str
    flows: tuple[tuple[str, int], ...]
    duration_s: int

    def spec(self, divisor: int = 1) -> str:
        """The specification as TOML, with the duration divided."""
        duration_ms = self.duration_s * 1000 // divisor
        entries = "".join(
            f'[[flows]]\ncca = "{cca}"\ncount = {count}\n' for cca, count in self.flows
        )
        return (
            f'[path]\nrate = "{self.rate}"\nrtt = "{self.rtt}"\nbuffer = "{self.buffer}"\n'
            f'{entries}[run]\nduration = "{duration_ms}ms"\nrecord = "summary"\n'
        )


SCENARIOS = (
    Scenario("S1", "1 CUBIC, 10 Mbit/s, 40 ms", "10mbit", "40ms", "1bdp", (("cubic", 1),), 60),
    Scenario(
        "S2",
        "2 BBR + 2 CUBIC, 80 Mbit/s, 25 ms",
        "80mbit",
        "25ms",
        "1.75bdp",
        (("bbr", 2), ("cubic", 2)),
        60,
    ),
    Scenario("S3", "8 CUBIC, 1 Gbit/s, 20 ms", "1gbit", "20ms", "1bdp", (("cubic", 8),), 20),
    Scenario(
        "S4",
        "50 BBR + 50 CUBIC, 1 Gbit/s, 20 ms",
        "1gbit",
        "20ms",
        "1bdp",
        (("bbr", 50), ("cubic", 50)),
        20,
    ),
)


def measure(quick: bool = False, scenarios: Iterable[Scenario] = SCENARIOS) -> list[dict[str, Any]]:
    """Each scenario's packets, CPU seconds and packets per CPU second (the median run's)."""
    return [_measure(scenario, QUICK if quick else 1) for scenario in scenarios]


def _measure(scenario: Scenario, divisor: int) -> dict[str, Any]:
    from narrows.backends import get_backend
    from narrows.plan import plan
    from narrows.spec import parse

    backend = get_backend("sim")
    trial = plan(parse(scenario.spec(divisor), scenario.name).spec, backend.engine).trials[0]
    runs = [backend.run(trial.scenario).info for _ in range(1 + REPEATS)][1:]
    cpu_s = median(run.cpu_s for run in runs)
    return {
        "name": scenario.name,
        "title": scenario.title,
        "buffer": scenario.buffer,
        "duration_s": trial.scenario["run"]["duration_ns"] / 1e9,
        "packets": runs[0].packets,
        "cpu_s": cpu_s,
        "packets_per_cpu_s": runs[0].packets / cpu_s,
    }


def print_measurements(results: Sequence[dict[str, Any]], quick: bool) -> None:
    """A line for every scenario."""
    if quick:
        print(f"Quick: a tenth of the simulated time, so start-up weighs {QUICK} times as much.")
    for result in results:
        print(
            f"{result['name']}  {result['title'] + ', ' + result['buffer'].upper():46}"
            f"{result['packets_per_cpu_s']:>12,.0f} packets per CPU second"
            f"  ({result['packets']:,} in {result['cpu_s']:.2f} s)"
        )


def write_scenarios(directory: Path, divisor: int = QUICK) -> list[Path]:
    """Writes each scenario, shortened, as the JSON that the engine reads.

    For instruction counts of the engine alone, without Python (`make instructions`).
    """
    from narrows.backends import get_backend
    from narrows.plan import canonical_json, plan
    from narrows.spec import parse

    engine = get_backend("sim").engine
    paths = []
    for scenario in SCENARIOS:
        trial = plan(parse(scenario.spec(divisor), scenario.name).spec, engine).trials[0]
        path = directory / f"{scenario.name}.json"
        path.write_text(canonical_json(trial.scenario))
        paths.append(path)
    return paths
