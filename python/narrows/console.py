"""Output for people: the progress bar, the summary table, the lists."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from narrows.execute import RunProgress
from narrows.execute.cost import slowest
from narrows.execute.watcher import clock, progress_line
from narrows.known import average, total
from narrows.spec.python_control import imported_by
from narrows.store import Result
from narrows.words import UNKNOWN, align, cell, count_of, round_number, short_number

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress
    from rich.table import Table

    from narrows.metrics.metric import Entry
    from narrows.runner import Experiment
    from narrows.spec.scenario import Scenario

LONG_S = 60.0
"""A longer estimated duration is printed before a run."""
SHOW_AFTER_S = 1.0
"""A shorter run shows no progress bar."""
MOST_ROWS = 12
"""More flows than this are summarised by congestion control."""
PLAIN_WIDTH = 100
"""The width in columns where the output isn't a terminal."""
LOG_EVERY_S = 30.0
"""The time between two lines on the progress where the output isn't a terminal."""


class ProgressBar:
    """Shows progress on standard error; a context manager and a watcher of `narrows.execute`.

    On a terminal it is a bar, which appears after the first second. Elsewhere it is a line for each
    step, if there are several, and one every `LOG_EVERY_S`.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Makes the bar; `clock` returns the time in s."""
        self._clock, self._began = clock, clock()
        self._bar: Progress | None = None
        self._terminal = sys.stderr.isatty()
        self._step, self._part = "", 0.0
        self._logged = self._began

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, state: RunProgress, /) -> None:
        """Shows the progress of the runs."""
        now = self._clock()
        if state.part < self._part / 2:  # further runs begin: start the estimate anew
            self._began = now
        self._part = state.part
        elapsed = now - self._began
        if not self._terminal:
            self._log(state, now)
            return
        if elapsed < SHOW_AFTER_S:
            return
        if self._bar is None:
            self._bar = _progress()
            self._bar.add_task("", total=1.0, text="")
            self._bar.start()
        text = progress_line(state, elapsed)
        self._bar.update(self._bar.task_ids[0], completed=state.part, text=text)

    def _log(self, state: RunProgress, now: float) -> None:
        """Prints a line for a new step, or for a time without a line."""
        if state.step and state.step != self._step:
            print(f"narrows: {state.step}", file=sys.stderr, flush=True)
            self._logged = now
        elif now - self._logged >= LOG_EVERY_S and now > self._began:
            line = progress_line(state, now - self._began)
            print(f"narrows: {line}", file=sys.stderr, flush=True)
            self._logged = now
        self._step = state.step


class StepBar:
    """The steps of building a kernel, and the time left, on standard error.

    On a terminal it is a bar, elsewhere a line for each step and for each tenth of the whole.
    """

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._began = time.monotonic()
        self._step, self._tenths = "", 0

    def __enter__(self) -> StepBar:
        if sys.stderr.isatty():
            self._bar = _progress()
            self._bar.add_task("", total=1.0, text="")
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, step: str, fraction: float) -> None:
        """Shows the current `step` and the fraction of the whole that is done."""
        text = step_line(step, fraction, time.monotonic() - self._began)
        tenths = int(fraction * 10)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=fraction, text=text)
        elif step != self._step or tenths > self._tenths:
            print(f"narrows: {text}", file=sys.stderr, flush=True)
        self._step, self._tenths = step, tenths


_GUESSED = 0.15
"""Below this fraction of the whole the remaining time isn't estimated: unpacking says little about
compiling."""


def step_line(step: str, fraction: float, elapsed_s: float) -> str:
    """Returns a line for a step of a long task, `elapsed_s` seconds after its beginning."""
    if not _GUESSED <= fraction < 1.0:
        return step
    left = clock(elapsed_s * (1 - fraction) / fraction)
    return f"{step}, {fraction:.0%} of all done, {left} left"


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.fields[text]}"))
    return Progress(*columns, console=Console(stderr=True), transient=True)


def print_summary(result: Result, notes: Iterable[str] = ()) -> None:
    """Prints the flows, the bottleneck, `notes`, and the paths of the results."""
    from narrows.metrics.trials import INTERVALS, alike

    console = _console()
    runs = result.summary["runs"]
    console.print(_title(result, runs), markup=False, highlight=False)
    console.print(_flow_table(runs))
    if any(run.get("completions") for run in runs):
        console.print(_completion_table(runs))
    for line in application_lines(runs):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    same = alike([[trial.info.digest for trial in result.trials]])
    legend = [INTERVALS] if len(runs) > 1 and not same else []
    ends_s = [trial.info.end_s for trial in result.trials]
    for line in (*_link_lines(runs, ends_s), *legend):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    for run in runs:
        if "invalid" in run:
            warning = f"INVALID, seed {run['seed']}: {run['invalid']}"
            console.print(warning, style="bold red", markup=False, highlight=False, soft_wrap=True)
    for note in (same, *notes):
        if note:
            console.print(note, markup=False, highlight=False, soft_wrap=True)
    print_paths([result.path, *_pages(result)])


def delay_lines(runs: Sequence[Entry], given_rtt_ms: float | None = None) -> Iterator[str]:
    """Yields a sentence on a measurement's delays, if it shows both round trips and a queue."""
    lowest = [flow["rtt_ms"]["min"] for flow in runs[0]["flows"]]
    known = [ms for ms in lowest if ms is not None]
    if known and runs[0]["bottleneck"]["queue_ms"]["mean"] is not None:
        least = f"its minimum, {min(known):.1f} ms," if given_rtt_ms is None else "path.rtt"
        yield (
            f"rtt: as measured; {least} is taken as the delay without a queue, and the rest as the "
            "queue's"
        )


def note_cached(result: Result) -> None:
    """Says on standard error that nothing ran."""
    note = "was already complete, so nothing ran; --force runs it again"
    print(f"narrows: {result.path} {note}", file=sys.stderr)
    controls = result.trials[0].scenario.get("controls", {})
    for file, modules in imported_by(controls):
        names = ", ".join(modules)
        print(f"narrows: {file} imports {names}, whose changes aren't noticed", file=sys.stderr)


def note_cost(job: Experiment) -> None:
    """Warns on standard error that a run will take long, and what takes most of the time.

    It does so before the run begins.
    """
    from narrows.runner import expected_s

    if job.backend.name != "sim" or (seconds := expected_s(job)) < LONG_S:
        return
    scenario = job.plan.trials[0].scenario
    reason = slowest(scenario)
    most = f", most of it for {reason}" if reason else ""
    trials = count_of(len(job.plan.trials), "trial")
    print(f"narrows: about {clock(seconds)} for {trials}{most}; Ctrl-C stops it", file=sys.stderr)


def print_paths(paths: Iterable[object]) -> None:
    """Prints one path per line, unbroken even in a narrow terminal."""
    for path in paths:
        print(path)


def _pages(result: Result) -> list[object]:
    names = ("report.html", "figure.png", "figure.svg")
    return [result.path / name for name in names if (result.path / name).is_file()]


def _title(result: Result, runs: Sequence[Entry]) -> str:
    seeds = [run["seed"] for run in runs]
    count = len(seeds)
    if count == 1:
        return f"{result.name}: {runs[0]['backend']}, seed {seeds[0]}"
    span = f"seeds {seeds[0]} to {seeds[-1]}"
    return f"{result.name}: {runs[0]['backend']}, means of {count} trials, {span}"


def _flow_table(runs: Sequence[Entry]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("flow", no_wrap=True)
    table.add_column("cca", no_wrap=True)
    heads = (
        "goodput\nMbit/s",
        "share\n%",
        "retrans-\nmits",
        "rtt mean\nms",
        "rtt p95\nms",
        "fct\ns",
    )
    rows = flow_rows(runs)
    shown = len(heads) - all(cells[-1] == UNKNOWN for _, _, cells in rows)  # nothing has ended
    for head in heads[:shown]:
        table.add_column(head, justify="right", no_wrap=True)
    for label, cca, cells in rows:
        table.add_row(Text(label), Text(cca), *cells[:shown])
    return table


def _completion_table(runs: Sequence[Entry]) -> Table:
    """Returns completion times of each class, and by size; means over the runs."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("transfers", no_wrap=True)
    heads = ("com-\npleted", "completion\nmean s", "\np50 s", "\np95 s", "\np99 s")
    for head in (*heads, "slowdown\np50", "\np95", "\np99"):
        table.add_column(head, justify="right", no_wrap=True)
    for label, cells in completion_rows(runs):
        table.add_row(Text(label), *cells)
    return table


def completion_rows(runs: Sequence[Entry]) -> Iterator[tuple[str, list[str]]]:
    """Yields a row for each class with completed transfers, and rows for ranges of sizes."""
    from narrows.metrics.completions import SIZES

    found = [entry for run in runs for entry in run.get("completions", ())]
    for name in dict.fromkeys(entry["class"] for entry in found):
        entries = [entry for entry in found if entry["class"] == name]
        yield name, _completion_cells(entries, len(runs))
        parts = [part for entry in entries for part in entry["by_size"]]
        by_size = [(span, [part for part in parts if part["size"] == span.name]) for span in SIZES]
        known = [(span, of_size) for span, of_size in by_size if of_size]
        for span, of_size in known if len(known) > 1 else ():
            yield f"  {span.title}", _completion_cells(of_size, len(runs))
        counts = [entry["unfinished"] for entry in entries]
        if any(count is None or count > 0 for count in counts):
            yield "  not finished", [_count_cell(average(counts)), *[""] * 7]


def _completion_cells(entries: Sequence[Entry], runs: int) -> list[str]:
    times = ("mean", "p50", "p95", "p99")
    completed = total(entry["completed"] for entry in entries)
    return [
        _count_cell(None if completed is None else completed / runs),
        *(cell(average(e["completion_s"][name] for e in entries), "{:.3f}") for name in times),
        *(cell(average(e["slowdown"][name] for e in entries), "{:.2f}") for name in times[1:]),
    ]


def _count_cell(count: float | None) -> str:
    """Returns the mean of counts as a cell."""
    return UNKNOWN if count is None else round_number(count, 4)


_OF_APPLICATIONS = (
    "stalls", "stalled_s", "startup_s", "mean_bitrate_mbps", "freezes", "frozen_s", "media_mbps",
)  # fmt: skip
"""The contents of a line on a video or a call, as far as it has values."""


def application_lines(runs: Sequence[Entry]) -> Iterator[str]:
    """Yields a line for each video and each call, with means over the runs."""
    from narrows.metrics.catalogue import WORKLOAD

    titles = {metric.name: metric for metric in WORKLOAD}
    flows = [flow for run in runs for flow in run["flows"] if flow.get("workload")]
    for name in list(dict.fromkeys(flow["name"] for flow in flows))[:MOST_ROWS]:
        own = [flow["workload"] for flow in flows if flow["name"] == name]
        minutes = _measured_minutes(runs[0]["scenario"], name)
        means = {
            key: average(titles[key].read(one) for one in own if key in one)
            for key in _OF_APPLICATIONS
        }
        words = [
            f"{titles[key].title} {short_number(mean)} {titles[key].unit}".rstrip()
            + (f" ({mean / minutes:.3g} a minute)" if key == "freezes" and minutes > 0 else "")
            for key, mean in means.items()
            if mean is not None
        ]
        if words:
            yield f"{name}: {', '.join(words)}"


def _measured_minutes(scenario: Scenario, name: str) -> float:
    """Returns the time for which a flow is measured."""
    run = scenario["run"]
    flow = next(one for one in scenario["flows"] if one["name"] == name)
    begin_ns = max(run["warmup_ns"], flow["start_ns"])
    end_ns = run["duration_ns"] if flow["stop_ns"] is None else flow["stop_ns"]
    return (min(end_ns, run["duration_ns"]) - begin_ns) / 60e9


def flow_rows(runs: Sequence[Entry]) -> list[tuple[str, str, list[str]]]:
    """Returns a row for every flow: name, control and formatted cells, means over `runs`.

    A chain is one flow, with the means of its instances. With more than `MOST_ROWS` flows, all
    flows of a control share a row.
    """
    flows = [
        {**flow, "run": at} for at, run in enumerate(runs) for flow in _chains_as_one(run["flows"])
    ]
    names = list(dict.fromkeys(flow["name"] for flow in flows))
    if len(names) <= MOST_ROWS:
        by_name = [[flow for flow in flows if flow["name"] == name] for name in names]
        return [_row(group, len(runs), _name_label(group, len(runs))) for group in by_name]
    ccas = list(dict.fromkeys(flow["cca"] for flow in flows))
    by_cca = [[flow for flow in flows if flow["cca"] == cca] for cca in ccas]
    return [_row(group, len(runs), f"{len(group) / len(runs):.4g} flows") for group in by_cca]


def _chains_as_one(flows: Sequence[Entry]) -> Iterator[Entry]:
    """Yields the flows of a run; the instances of a chain are combined."""
    by_name: dict[str, list[Entry]] = {}
    for flow in flows:
        by_name.setdefault(flow["name"], []).append(flow)
    for name, own in by_name.items():
        yield {
            "name": name,
            "cca": own[0]["cca"],
            "instances": len(own),
            "goodput_mbps": average(flow["goodput_mbps"] for flow in own),
            "share": total(flow["share"] for flow in own),
            "retransmits": total(flow["retransmits"] for flow in own),
            "rtt_mean_ms": average(flow["rtt_ms"]["mean"] for flow in own),
            "rtt_p95_ms": average(flow["rtt_ms"]["p95"] for flow in own),
            "fct_s": average(_completion_time(flow) for flow in own),
        }


def _name_label(group: Sequence[Entry], runs: int) -> str:
    name, count = str(group[0]["name"]), sum(flow["instances"] for flow in group)
    return f"{name} ({count} flows)" if count > runs else name


def _row(group: Sequence[Entry], runs: int, label: str) -> tuple[str, str, list[str]]:
    """Sums shares and retransmissions within a run; the other values are means over flows."""
    of_runs = [[flow for flow in group if flow["run"] == at] for at in range(runs)]

    def means(key: str, form: str, scale: float = 1.0) -> str:
        return _mean([average(flow[key] for flow in own) for own in of_runs], form, scale, "\n")

    def totals(key: str, form: str, scale: float = 1.0) -> str:
        sums = [total(flow[key] for flow in own) for own in of_runs]
        known = any(found is not None for found in sums)
        return _mean([found or 0 for found in sums] if known else [], form, scale, "\n")

    cells = [
        means("goodput_mbps", "{:.2f}"),
        totals("share", "{:.1f}", 100),
        totals("retransmits", "{:,.0f}"),
        means("rtt_mean_ms", "{:.1f}"),
        means("rtt_p95_ms", "{:.1f}"),
        means("fct_s", "{:.3f}"),
    ]
    return label, str(group[0]["cca"]), cells


def _mean(values: Sequence[float | None], form: str, scale: float, between: str = " ") -> str:
    """Returns the mean over runs, and half of its interval if they vary."""
    from narrows.metrics.intervals import reach

    half = reach(values)
    more = "" if half is None else f"{between}± {form.format(scale * half)}"
    return cell(average(values), form, scale) + more


def _completion_time(flow: Entry) -> float | None:
    """Returns the completion time; for a flow with a workload the mean of its transfers."""
    seen = flow.get("workload")
    found: float | None = flow["fct_s"] if seen is None else seen["completion_s"]["mean"]
    return found


def _link_lines(runs: Sequence[Entry], ends_s: Sequence[float]) -> Iterator[str]:
    """Yields a line for every link, and one for losses elsewhere; `ends_s` are the runs' ends."""
    from narrows.figures.frames import offered_mbps

    scenario = runs[0]["scenario"]
    rtt_ms = scenario["path"]["rtt_ns"] / 1e6
    mean_mbps = average(offered_mbps(scenario, end_s) for end_s in ends_s)
    offered = "" if mean_mbps is None else f" of {short_number(mean_mbps)} Mbit/s on average"
    yield _link_line(f"bottleneck{offered}", [run["bottleneck"] for run in runs], rtt_ms)
    for number, link in enumerate(runs[0].get("links", ())):
        if number > 0:
            yield _link_line(str(link["name"]), [run["links"][number] for run in runs], rtt_ms)
    if "losses" in runs[0] and (told := _loss_line([run["losses"] for run in runs])):
        yield told


def _loss_line(losses: Sequence[Entry]) -> str:
    """Says how much data was lost on the whole path, and where; unknown values are left out."""
    rate = average(loss["loss_rate"] for loss in losses)
    known = ((place, average(loss[place] for loss in losses)) for place in ("queues", "elsewhere"))
    words = {"queues": "packets in queues", "elsewhere": "elsewhere"}
    places = [f"{count:,.0f} {words[place]}" for place, count in known if count is not None]
    more = f" ({', '.join(places)})" if places else ""
    return "" if rate is None else f"path: loss {100 * rate:.3f} % of the data{more}"


def _link_line(name: str, links: Sequence[Entry], rtt_ms: float) -> str:
    """Describes a link; `rtt_ms` is the path's delay: a BDP, where the rate is constant."""

    def mean(key: str, words: str, form: str, scale: float = 1.0) -> Iterator[str]:
        values = [link[key] for link in links]
        if average(values) is not None:
            yield words.format(_mean(values, form, scale))

    def queue(statistic: str) -> Iterator[str]:
        bdp, ms = (
            average(link[key][statistic] for link in links) for key in ("queue_bdp", "queue_ms")
        )
        parts = [] if bdp is None else [f"{bdp:.2f} BDP"]
        if ms is not None:
            varies = bdp is not None and abs(ms - bdp * rtt_ms) > 0.01 * ms
            waits = [link["queue_ms"][statistic] for link in links]
            parts = [*([] if varies else parts), f"{_mean(waits, '{:.1f}', 1)} ms"]
        if parts:
            yield f"{' = '.join(parts)} ({statistic})"

    parts = (
        *mean("utilization", "utilization {} %", "{:.1f}", 100),
        *mean("loss_rate", "loss {} %", "{:.3f}", 100),
        *(f"queue {told}" for told in [", ".join([*queue("mean"), *queue("p95")])] if told),
        *mean("forwarded", "{} packets forwarded", "{:,.0f}"),
    )
    return f"{name}: {', '.join(parts) or 'unknown, since nothing shows its capacity'}"


def print_list(rows: Iterable[tuple[str, str]]) -> None:
    """Prints names and what they mean, in two columns."""
    for line in align(list(rows), left=2):
        print(line)


def _console() -> Console:
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH)
