"""The headings of metrics in tables and figures, and the columns that people name by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

from narrows import _native
from narrows.errors import InputError
from narrows.metrics.catalogue import find, in_percent, scale_of
from narrows.spec import ResultCheck, SeriesNumber, registry
from narrows.spec.scenario import Scenario
from narrows.spec.suggest import quote
from narrows.words import label_of

_MOST_NEAR = 3
_UNITS = {
    "_mbps": "Mbit/s", "_ms": "ms", "_pps": "packets/s", "_bytes": "bytes", "_packets": "packets",
    "_s": "s",
}  # fmt: skip
"""The units that the names of series end with."""
_TITLES = {"sending_pps": "sending rate"}
"""The titles of series whose names alone don't say what they are."""
_NEAR = 0.6
"""The least similarity (`difflib`) of a heading that an error suggests."""


def control_of(group: str) -> str | None:
    """The control that a class is named after, as in "cubic" or "cubic-80ms"; None if none."""
    known = registry.ccas()
    cca = group.partition("-")[0]
    return cca if cca in known else None


def words(group: str, controls: Mapping[str, str | None] | None = None) -> str:
    """The readable name of a class: "CUBIC, 80 ms" for "cubic-80ms", "web" for "web".

    A class that somebody called "bbr" is "bbr (CUBIC)" if that is its control in `controls`, and
    "bbr" if it has several.
    """
    named, known = control_of(group), controls or {}
    if named is not None and known.get(group, named) != named:
        control = known[group]
        return group if control is None else f"{group} ({registry.title(control)})"
    return _native.class_label(group) or registry.title(group)


def legend_words(group: str, controls: Mapping[str, str | None]) -> str:
    """The name of a class with its control, if it has one and isn't named after it: "web (BBR)".

    A call or a probe without a control is just "call".
    """
    control, named = controls.get(group), words(group, controls)
    if (
        control in (None, "none")
        or control_of(group) is not None
        or named == registry.title(control)
    ):
        return named
    return f"{named} ({registry.title(control)})"


def merged_words(groups: Iterable[str]) -> str:
    """Returns the name of classes that never occur together, by their controls: "CUBIC or BBR"."""
    return " or ".join(words(group) for group in groups if control_of(group) is not None)


def controls_in(runs: Iterable[tuple[Sequence[str], Scenario]]) -> dict[str, str | None]:
    """Returns the control of each class over all runs; None for a class with several.

    A run is the class of each of its flows, and its scenario.
    """
    found: dict[str, set[str]] = {}
    for groups, scenario in runs:
        for group, flow in zip(groups, scenario["flows"], strict=True):
            found.setdefault(group, set()).add(str(flow["cca"]))
    return {group: ccas.pop() if len(ccas) == 1 else None for group, ccas in found.items()}


def heading_of(column: str, controls: Mapping[str, str | None] | None = None) -> str:
    """Returns the heading of a column as people read it: "Share of BBR (%)"."""
    group, _, key = column.rpartition(".")
    metric = find(column)
    title, unit = (key.replace("_", " "), "") if metric is None else (metric.title, metric.unit)
    of = words(group, controls) if group else ""
    return label_of(title, of, "%" if in_percent(column) else unit)


def heading_of_check(check: ResultCheck) -> str:
    """Returns the heading of the metric, or of the number from a series, that a check bounds."""
    if check.taken is not None:
        return _heading_of_series(check.taken)
    return heading_of(str(check.metric))


def _heading_of_series(taken: SeriesNumber) -> str:
    """Returns the heading of a number from a series: "Mean sending rate of subject (packets/s)"."""
    asked = taken.condition
    ending = next((one for one in _UNITS if asked.name.endswith(one)), "")
    title = _TITLES.get(asked.name, asked.name.removesuffix(ending).replace("_", " "))
    how = taken.how.removesuffix(" of") if taken.take in ("mean", "p50") else taken.how
    unit = "" if asked.asks else _UNITS.get(ending, "")
    condition = str(asked).removeprefix(asked.series)
    return label_of(f"{how} {title}", f"{words(asked.owner)}{condition}", unit)


def columns_named(
    written: str, columns: Iterable[str], controls: Mapping[str, str | None] | None = None
) -> list[str]:
    """Returns the columns with this name, or this heading of a table or a figure.

    A heading may lack its unit and the class of flows, so several columns can have it.
    """
    known, wanted = list(columns), _plain(written)
    if written in known:
        return [written]
    merged = merged_words(dict.fromkeys(column.rpartition(".")[0] for column in known))
    named = [c for c in known if wanted in _spellings(c, _names(c, merged, controls))]
    return named or [c for c in known if wanted in _spellings(c, {""})]


def column_of(
    written: str,
    columns: Iterable[str],
    place: str,
    controls: Mapping[str, str | None] | None = None,
) -> str:
    """Returns the column with this name or heading; raises InputError for none, or for several."""
    known = list(columns)
    found = columns_named(written, known, controls)
    if len(found) != 1:
        raise unknown_metric(written, known, place, controls)
    return found[0]


def heading_in_percent(written: str, column: str) -> bool:
    """Returns True if the column is written as a heading in per cent: "Share of BBR (%)"."""
    return in_percent(column) and written != column and "%" in _plain(written).split()


def bound_in_unit(bound: float, written: str, column: str, place: str) -> float:
    """Returns a bound on a column in the column's unit; a heading in per cent has it in per cent.

    Raises InputError for a bound that seems to be in per cent beside a heading without its unit.
    """
    if heading_in_percent(written, column):
        return bound / scale_of(column)
    if in_percent(column) and written != column and abs(bound) > 1:
        found = f"{bound:g} for {quote(written)}, which is a part of 1 without its unit"
        remedy = f'{bound / scale_of(column):g}, or the metric "{written} (%)",'
        raise InputError.at(place, found, remedy)
    return bound


def unknown_metric(
    written: str,
    columns: Iterable[str],
    place: str,
    controls: Mapping[str, str | None] | None = None,
) -> InputError:
    """Returns the error for a metric that isn't one, with the nearest headings and their names."""
    known = list(columns)
    found = columns_named(written, known, controls)
    what = f"{quote(written)}, which {'several metrics are called' if found else 'is not a metric'}"
    near = found or _nearest(written, known, controls)
    named = [f'"{name}" ("{heading_of(name, controls)}")' for name in near]
    return InputError.at(place, what, " or ".join(named) or "a name of `narrows list metrics`")


def _nearest(
    written: str, columns: Sequence[str], controls: Mapping[str, str | None] | None
) -> list[str]:
    spelled = {
        text: name
        for name in columns
        for text in (_plain(name), *_spellings(name, _names(name, "", controls)))
    }
    close = get_close_matches(_plain(written), spelled, n=4 * _MOST_NEAR, cutoff=_NEAR)
    return list(dict.fromkeys(spelled[text] for text in close))[:_MOST_NEAR]


def _names(column: str, merged: str, controls: Mapping[str, str | None] | None) -> set[str]:
    """Returns the names of a column's class, one of them perhaps that of the `merged` classes."""
    group = column.rpartition(".")[0]
    if not group:
        return {""}
    return {group, words(group, controls), *([merged] if merged and control_of(group) else [])}


def _spellings(column: str, classes: Iterable[str]) -> set[str]:
    """Returns the name and all headings of a column, with and without unit, in plain form."""
    key, metric = column.rpartition(".")[2], find(column)
    titles, unit = {key}, "%" if in_percent(column) else ""
    if metric is not None:
        titles |= {metric.title, re.sub(r" \(.*\)", "", metric.title), *metric.aliases}
        unit = unit or metric.unit
    return {
        _plain(f"{title} {shown}, {one}")
        for title in titles
        for shown in ("", unit)
        for one in classes
    } | {_plain(f"{title} of {one} {unit}") for title in titles for one in classes}


def _plain(text: str) -> str:
    """Returns a text in lower case, without punctuation and the word "of"."""
    found = re.sub(r"[^\w%/.]+|_", " ", text.casefold())
    return " ".join(word for word in found.split() if word != "of")
