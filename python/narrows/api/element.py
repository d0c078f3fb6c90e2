"""The kinds of elements that a table of a specification can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from narrows.api.writing import Table, Values


class Element(Table):
    """An element: a table of a specification with the name of its kind."""

    kind: ClassVar[str]


class Service(Element):
    """The way a link serves its queue; all are in `nw.services`."""


class Workload(Element):
    """The behaviour of a flow's application; all are in `nw.workloads`."""


class Distribution(Element):
    """A distribution of sizes or durations; all are in `nw.distributions`."""


@dataclass(kw_only=True, repr=False)
class Queue(Element):
    """A queue discipline; all are in `nw.queues`."""

    limit: Values[str | int] | None = None
    """The queue's limit; by default the `buffer` of its link.

    Takes a size such as "250kb" or "100pkt".
    """


@dataclass(kw_only=True, repr=False)
class Impairment(Element):
    """Something that loses, delays or changes packets of the path; all are in `nw.impairments`."""

    direction: Values[Literal["forward", "backward"]] | None = None
    """The direction of the affected packets; by default "forward", the direction of the data."""
    at: Values[Literal["behind", "before"]] | None = None
    """The place of the impairment: behind the links (the default) or before them."""
