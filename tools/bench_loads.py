"""The loads of tools/bench.py, and their data packets per second of CPU time.

Four scenarios from one flow to a hundred. Each runs once to warm up and then
three times; the median counts. CPU time is that of the simulating thread, so other programs affect
it little, but they still share the caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from narrows.spec.scenario import Scenario as Trial

REPEATS = 3
QUICK = 10
"""`--quick` simulates a tenth of the time."""


@dataclass(frozen=True)
class Scenario:
    """A load to measure: its name, its description and its specification."""

    name: str
    title: str
    rate: str
    rtt: str
    buffer: str
    flows: tuple[tuple[str, int], ...]
    duration_s: int
    path: str = ""
    """Further lines of the table `path`."""
    flow: str = ""
    """Further lines of each flow."""
    run: str = 'record = "summary"\n'
    """Further lines of the table `run`."""

    def spec(self, divisor: int = 1) -> str:
        """The specification as TOML, with the duration divided."""
        duration_ms = self.duration_s * 1000 // divisor
        entries = "".join(
            f'[[flows]]\ncca = "{cca}"\ncount = {count}\n{self.flow}' for cca, count in self.flows
        )
        return (
            f'[path]\nrate = "{self.rate}"\nrtt = "{self.rtt}"\nbuffer = "{self.buffer}"\n'
            f'{self.path}{entries}[run]\nduration = "{duration_ms}ms"\n{self.run}'
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

FAST, NEAR = "100mbit", "20ms"
COUNTED = (
    *SCENARIOS,
    Scenario("bbr", "1 BBR", FAST, NEAR, "1bdp", (("bbr", 1),), 30),
    Scenario("bbr3", "4 BBR3", FAST, NEAR, "1bdp", (("bbr3", 4),), 30),
    Scenario("1000", "1,000 flows", "1gbit", NEAR, "1bdp", (("bbr", 500), ("cubic", 500)), 10),
    Scenario("10000", "10,000 flows", "10gbit", NEAR, "1bdp", (("bbr", 5000), ("cubic", 5000)), 2),
    Scenario(
        "loss", "5 % random loss", FAST, NEAR, "1bdp", (("bbr", 4),), 30, path="loss = 0.05\n"
    ),
    Scenario(
        "fq_codel",
        "FQ-CoDel",
        FAST,
        NEAR,
        "1000pkt",
        (("cubic", 10),),
        30,
        path='queue = "fq_codel"\n',
    ),
    Scenario(
        "web",
        "1,000 web flows a second",
        FAST,
        NEAR,
        "1bdp",
        (("cubic", 1),),
        30,
        flow='workload = { kind = "poisson", rate = "1000/s", '
        'size = { kind = "lognormal", median = "5kb", sigma = 1.0 } }\n',
    ),
    Scenario(
        "samples",
        "a row for each ms",
        FAST,
        NEAR,
        "1bdp",
        (("bbr", 2), ("cubic", 2)),
        30,
        run='record = "samples"\nsample_interval = "1ms"\n',
    ),
    Scenario("capture", "capture on", FAST, NEAR, "1bdp", (("bbr", 2), ("cubic", 2)), 30),
)
"""Loads whose instructions are tracked: those measured above, and one for each part of the engine
that they don't exercise; instructions.sh captures the packets of `capture`. The tracked counts are
in crates/sim/benches/instructions.txt."""


def measure(quick: bool = False, scenarios: Iterable[Scenario] = SCENARIOS) -> list[dict[str, Any]]:
    """Each scenario's packets, CPU seconds and packets per CPU second, from the median run."""
    return [_measure(scenario, QUICK if quick else 1) for scenario in scenarios]


def _measure(scenario: Scenario, divisor: int) -> dict[str, Any]:
    trial = plan_of(scenario, divisor)
    runs = [cpu_seconds(trial) for _ in range(1 + REPEATS)][1:]
    packets = runs[0][0]
    cpu_s = median(seconds for _, seconds in runs)
    return {
        "name": scenario.name,
        "title": scenario.title,
        "buffer": scenario.buffer,
        "duration_s": trial["run"]["duration_ns"] / 1e9,
        "packets": packets,
        "cpu_s": cpu_s,
        "packets_per_cpu_s": packets / cpu_s,
    }


def plan_of(scenario: Scenario, divisor: int) -> Trial:
    """The trial of a load, with its duration divided."""
    from narrows.backends import get_backend
    from narrows.plan import plan
    from narrows.spec import parse

    spec = parse(scenario.spec(divisor), scenario.name).spec
    return plan(spec, get_backend("sim").engine).trials[0].scenario


def cpu_seconds(trial: Trial) -> tuple[int, float]:
    """Data packets through the bottleneck in a run, and its CPU time in seconds."""
    from narrows.backends import get_backend

    info = get_backend("sim").run(trial).info
    return info.packets, info.cpu_s


def print_measurements(results: Sequence[dict[str, Any]], quick: bool) -> None:
    """A line for every scenario."""
    if quick:
        print(f"Quick: a tenth of the simulated time, so start-up counts {QUICK} times as much.")
    for result in results:
        print(
            f"{result['name']}  {result['title'] + ', ' + result['buffer'].upper():46}"
            f"{result['packets_per_cpu_s']:>12,.0f} packets per CPU second"
            f"  ({result['packets']:,} in {result['cpu_s']:.2f} s)"
        )


def write_scenarios(directory: Path, divisor: int = QUICK) -> list[Path]:
    """Writes each scenario, shortened, as the JSON that the engine reads.

    They serve to count the engine's instructions without Python (`make instructions`).
    """
    from narrows.plan import canonical_json

    paths = []
    for scenario in COUNTED:
        path = directory / f"{scenario.name}.json"
        path.write_text(canonical_json(plan_of(scenario, divisor)))
        paths.append(path)
    return paths
