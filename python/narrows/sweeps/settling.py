"""Says which runs of a study drift, or are too short for shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from narrows.figures.sweeps.view import valued_columns
from narrows.late import pl
from narrows.metrics.drifts import HALF, NEEDED, SHARE_OF_ALL
from narrows.metrics.settling import UnsettledRuns
from narrows.store import Store
from narrows.sweeps.combination_names import CombinationNames


def settling_note(
    store: Store,
    runs: pl.DataFrame,
    combinations: Mapping[int, Mapping[str, object]],
    unsettled: UnsettledRuns[int],
) -> str:
    """Returns a sentence on runs of a study that drift or are too short; empty without any."""
    if not unsettled.count:
        return ""
    present = store.keys()
    some = next(key for key in runs["run"] if key in present)
    names = CombinationNames(combinations)
    return unsettled.note(store.scenario(some), names.of_one, names.of_several)


def unsettled_runs(store: Store, runs: pl.DataFrame) -> UnsettledRuns[int]:
    """Returns the combinations of a study whose runs drift or are too short."""
    halves = [name for name in store.columns("summary") if HALF.search(name)]
    rows = store.rows("summary", ("run", *halves))
    whole = runs.select("run", "cell").join(rows, on="run", how="inner", maintain_order="left")
    if not whole.height:
        return UnsettledRuns({}, {}, 0)
    known = valued_columns(whole)
    by_cell = _may_drift(known).partition_by("cell", maintain_order=True)
    found = UnsettledRuns.of((int(its["cell"][0]), its.to_dicts()) for its in by_cell)
    needed: dict[int, float] = {}
    if NEEDED in known.columns:
        short = known.group_by("cell", maintain_order=True).agg(pl.col(NEEDED).max())
        needed = dict(short.drop_nulls().rows())
    return UnsettledRuns(found.drifting, needed, whole["cell"].n_unique())


def _may_drift(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the combinations in which some run drifts, or a share by what counts in all trials.

    All with halves of earlier versions.
    """
    flags = [name for name in rows.columns if name.endswith("_drifts")]
    if not flags:
        return rows.clear() if {*rows.columns} <= {"run", "cell", NEEDED} else rows
    drifting = rows.filter(pl.any_horizontal(pl.col(flags) != 0) | _a_share_changes(rows.columns))
    return rows.join(drifting.select("cell").unique(), on="cell", how="semi", maintain_order="left")


def _a_share_changes(columns: Sequence[str]) -> pl.Expr:
    """Returns the condition that a share differs between a run's halves by `SHARE_OF_ALL`."""
    early = [name for name in columns if name.endswith(".goodput_early_mbps")]
    late = [name.replace("early", "late") for name in early]
    change = (
        pl.col(its_late) / pl.sum_horizontal(late) - pl.col(its_early) / pl.sum_horizontal(early)
        for its_early, its_late in zip(early, late, strict=True)
    )
    return pl.any_horizontal([pl.lit(False), *(one.abs() >= SHARE_OF_ALL for one in change)])
