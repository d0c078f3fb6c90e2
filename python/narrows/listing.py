"""The output of `narrows list`: everything that can be named, from the registries."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from narrows.backends import NAMES, get_backend
from narrows.errors import InputError
from narrows.late import _native
from narrows.spec import registry
from narrows.spec.datagrams import MEDIA_CONTROLS
from narrows.spec.suggest import nearest, one_of, quote

Row = tuple[str, str]
"""A name and what it means."""
_NESTED = ("figures", "metrics")
"""Kinds whose entries are indented below headings."""


def listing(kind: str, backend: str = "sim", names: Sequence[str] = ()) -> list[Row]:
    """Returns the rows for a kind, such as "ccas" or "paths", on `backend`; only those of `names`.

    A name means the entry that has it, all entries whose name contains it, or those with an option
    of this name. Raises InputError for a name without entries.
    """
    rows = list(_LISTINGS[kind]())
    if backend != "sim" and kind in ("ccas", "queues", "profiles"):
        able, known = get_backend(backend).capabilities(), dict(rows)
        rows = [(name, known.get(name, "the kernel's own")) for name in getattr(able, kind)]
    return [row for name in names for row in _select_rows(rows, kind, name)] if names else rows


def overview(kind: str, rows: Sequence[Row]) -> Sequence[Row]:
    """Returns the rows that `listing` has for a kind, without the parameters of its entries."""
    return rows if kind in _NESTED else [entry[0] for entry in _entries(rows)]


def find(name: str, backend: str = "sim") -> dict[str, list[Row]]:
    """Returns the rows of every kind with an entry of this name, or else of names with it.

    An option, such as hystart, is found with the entries that have it, a metric also by its heading
    in tables. Raises InputError, with the nearest kind or name, if there is none.
    """
    kinds = [kind for kind in _LISTINGS if kind != "backends"]
    every = {kind: listing(kind, backend) for kind in kinds}
    known = {kind: _names(kind, rows) for kind, rows in every.items()}
    exact = [kind for kind, names in known.items() if name in names]
    if exact:
        return {kind: listing(kind, backend, [name]) for kind in exact}
    if f"{name}s" in _LISTINGS:
        raise _unknown(name, f'"{name}s"')
    alike = {kind: [name] for kind, names in known.items() if any(name in own for own in names)}
    options = {k: own for k, rows in every.items() if (own := _with_option(k, rows, name))}
    if alike or options:
        return {kind: listing(kind, backend, names) for kind, names in (alike | options).items()}
    from narrows.metrics.headings import columns_named

    headed = dict.fromkeys(columns_named(name, known["metrics"]))
    if headed:
        return {"metrics": listing("metrics", backend, list(headed))}
    raise _unknown(name, _nearest(name, known))


def _unknown(name: str, remedy: str) -> InputError:
    return InputError.at("list", f"{quote(name)}, which is neither a kind nor a name", remedy)


def _with_option(kind: str, rows: Sequence[Row], option: str) -> list[str]:
    """Returns the entries that have an option."""
    entries = () if kind in _NESTED else _entries(rows)
    return [one[0][0] for one in entries if option in [name.strip() for name, _ in one[1:]]]


def _nearest(name: str, known: Mapping[str, Sequence[str]]) -> str:
    """Returns the nearest kind or name, with the kinds that have it, or what else may be meant."""
    near = nearest(name, [*_LISTINGS, *(own for names in known.values() for own in names)])
    if near is None and Path(name).is_dir():
        return f"`narrows list results {name}`"
    if near is None:
        return f"a name that one of these lists: narrows list {'|'.join(_LISTINGS)}"
    kinds = [kind for kind, names in known.items() if near in names]
    return f'"{near}" ({" and ".join(kinds)})' if kinds else f'"{near}"'


def _names(kind: str, rows: Sequence[Row]) -> list[str]:
    """Returns the names of the entries of a kind."""
    entries = _entries(rows)
    if kind not in _NESTED:
        return [entry[0][0] for entry in entries]
    return [own.strip() for entry in entries for own, _ in entry[1:] or entry]


def count(kind: str) -> int | None:
    """Returns the number of entries of a kind; None for a kind that isn't in the registries."""
    if kind == "backends":
        return len(NAMES)
    if kind not in _LISTINGS:
        return None
    return len(_names(kind, list(_LISTINGS[kind]())))


def _select_rows(rows: Sequence[Row], kind: str, name: str) -> Iterator[Row]:
    """Yields the entries called `name`, or whose names contain it, below their headings."""
    names = _names(kind, rows)
    known = [own.strip() for own, _ in rows] if kind in _NESTED else names
    wanted = {name} if name in known else {own for own in known if name in own}
    wanted = wanted or set(_with_option(kind, rows, name))
    if not wanted:
        wrong = f"{quote(name)}, which is not one of the {kind}"
        raise InputError.at("list", wrong, one_of(name, names))
    for entry in _entries(rows):
        if entry[0][0] in wanted:
            yield from entry
        elif kind in _NESTED:
            found = [row for row in entry[1:] if row[0].strip() in wanted]
            yield from (entry[0], *found) if found else ()


def _entries(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Yields each row with the indented rows below it."""
    heads = [at for at, (name, _) in enumerate(rows) if not name.startswith(" ")]
    for start, end in zip(heads, [*heads[1:], len(rows)], strict=True):
        yield rows[start:end]


def nest(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """Returns the rows as objects; indented rows are put into the one before, by name."""
    found: list[dict[str, Any]] = []
    for name, meaning in rows:
        if name.startswith("  ") and found:
            found[-1].setdefault("more", {})[name.strip()] = meaning
        else:
            found.append({"name": name, "meaning": meaning})
    return found


def _backends() -> Iterator[Row]:
    """Yields each back end with its engine, then each feature with its back ends.

    A feature also has the reasons for refusals.
    """
    from narrows.backends.features import table

    found = table()
    for name, engine in found["backends"].items():
        yield name, engine or f"not here: {found['missing'][name]}"
    for row in found["features"]:
        able = [name for name in found["backends"] if row.get(name) is True]
        yield row["feature"], f"{row['what']}: {', '.join(able) or 'none'}"
        for name in found["backends"]:
            if isinstance(row.get(name), str):
                yield f"  {name}", row[name]


def as_json(kind: str, backend: str = "sim", names: Sequence[str] = ()) -> object:
    """Returns a list for programs: back ends as a table, others as objects."""
    if kind == "backends" and not names:
        from narrows.backends.features import table

        return table()
    return nest(listing(kind, backend, names))


def _ccas() -> Iterator[Row]:
    for name, entry in registry.ccas().items():
        source = f" ({entry['source']})" if entry["source"] else ""
        yield name, f"{entry['summary']}{source}"
        yield from _parameters(entry)


def _media() -> Iterator[Row]:
    for name, control in MEDIA_CONTROLS.items():
        yield (
            name,
            f"{control.title}: {control.summary}"
            + (f" ({control.source})" if control.source else ""),
        )


def _queues() -> Iterator[Row]:
    for name, entry in registry.queues().items():
        yield name, f"{entry['summary']} ({entry['source']})"
        yield "  limit", f"room: {entry['limit']}; `path.buffer` sets it"
        yield from _parameters(entry)


def _paths() -> Iterator[Row]:
    for name, preset in registry.presets().items():
        yield name, preset.summary
        yield "  source", preset.source
        for key, value in preset.path:
            yield f"  {key}", value


def _elements(kind: str) -> Iterator[Row]:
    for name, entry in registry.elements(kind).items():
        yield name, f"{entry['summary']} ({entry['source']})"
        yield from _parameters(entry)


def _profiles() -> Iterator[Row]:
    for name in registry.profiles():
        yield name, f"TCP as in Linux {name.removeprefix('linux-')}"


def _parameters(entry: Mapping[str, Any]) -> Iterator[Row]:
    for parameter in entry["parameters"]:
        standard = parameter["shown"]
        default = standard if parameter["required"] else f"default {standard}"
        yield f"  {parameter['name']}", f"{parameter['what']} ({parameter['unit']}, {default})"


def _fields() -> Iterator[Row]:
    """Yields the keys of a specification, each with the tables above it."""
    yield from _keys("", json.loads(_native.schema()))


def _keys(place: str, table: Mapping[str, Any]) -> Iterator[Row]:
    inner = table.get("items", table)
    for key, entry in inner.get("properties", {}).items():
        yield f"{place}{key}", str(entry.get("description", ""))
        yield from _keys(f"{place}{key}.", entry)


def _figures() -> Iterator[Row]:
    from narrows import figures, reproduce

    yield "of a sweep", "drawn by `narrows figure DIR NAME`"
    for entry in figures.of("sweep"):
        yield f"  {entry.name}", entry.summary
    yield "of a run", "drawn by the same, with --where and --trial in a sweep"
    for entry in figures.of("run"):
        yield f"  {entry.name}", entry.summary
    yield from reproduce.listing()


def _metrics() -> Iterator[Row]:
    from narrows.metrics.catalogue import GROUPS

    for title, where, metrics in GROUPS:
        yield title, where
        for metric in metrics:
            unit = f" ({metric.unit})" if metric.unit else ""
            yield f"  {metric.name}", f"{metric.meaning}{unit}"


_LISTINGS: Mapping[str, Callable[[], Iterator[Row]]] = {
    "ccas": _ccas,
    "media": _media,
    "queues": _queues,
    "services": partial(_elements, "services"),
    "impairments": partial(_elements, "impairments"),
    "workloads": partial(_elements, "workloads"),
    "distributions": partial(_elements, "distributions"),
    "paths": _paths,
    "profiles": _profiles,
    "fields": _fields,
    "figures": _figures,
    "metrics": _metrics,
    "backends": _backends,
}
