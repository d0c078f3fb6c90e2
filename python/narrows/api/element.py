"""The kinds of elements that a table of a specification can hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from narrows.api.writing import Table, Values


class Element(Table):
    """An element: a table of a specification with the name of its kind."""

    kind: ClassVar[str]


class Service(Element):
    """How a link serves its queue; `nw.services` has them."""


class Workload(Element):
    """The behaviour of a flow's application; `nw.workloads` has them."""


class Distribution(Element):
    """A distribution of sizes or durations; `nw.distributions` has them."""


@dataclass(kw_only=True, repr=False)
class Queue(Element):
    """A queue discipline; `nw.queues` has them."""

    limit: Values[str | int] | None = None
    """Its room; by default `buffer` of its link. Takes a size such as "250kb" or "100pkt"."""


@dataclass(kw_only=True, repr=False)
class Impairment(Element):
    """Something that loses, delays or changes packets of the path; `nw.impairments` has them."""

    direction: Values[Literal["forward", "backward"]] | None = None
    """The direction of the packets that it affects; by default "forward", that of the data."""
    at: Values[Literal["behind", "before"]] | None = None
    """Its place, behind the links (the default) or before them."""
