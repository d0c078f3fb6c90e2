"""Says and shows what changed conditions change in a figure of a document."""

from __future__ import annotations

import re
from dataclasses import replace

from narrows.figures.model import Figure, Panel, Stack
from narrows.figures.sweeps.panels import share_axes
from narrows.reproduce.exhibit import Finding
from narrows.words import begin_lower

HOLDS = {
    "confirmed": "holds",
    "partly": "holds in part",
    "refuted": "doesn't hold",
    "differs": "doesn't hold",
}
"""The meaning of verdicts under changed conditions; the others stay as they are."""

_OF_DOCUMENT = re.compile(r"(the )?(paper|slide|study)\b")
"""The beginning of the labels of lines at a document's numbers."""


def still_holds(finding: Finding) -> str:
    """Returns whether a claim still holds, by its finding under changed conditions."""
    words = HOLDS.get(finding.verdict, finding.verdict)
    judged = all(check.is_judged for check in finding.checks)
    return words if judged else f"{words}, as far as it can be judged"


def without_documents_lines(figure: Figure) -> Figure:
    """Returns the figure without lines at a document's numbers, which are of another path."""
    panels = (
        replace(one, guides=tuple(g for g in one.guides if not _OF_DOCUMENT.match(g.label)))
        for one in figure.panels
    )
    return replace(figure, panels=tuple(panels))


def with_unchanged(before: Figure, after: Figure, change: str) -> Figure | None:
    """Returns the panels of both as pairs on the same axes: side by side, or stacked over time.

    None if their panels show different things.
    """
    if [panel.title for panel in before.panels] != [panel.title for panel in after.panels]:
        return None
    stack = after.stack
    if before.stack is not None and stack is not None:
        end = max(before.stack.x_range[1], stack.x_range[1])
        stack = replace(stack, x_range=(stack.x_range[0], end), spans=())
    panels = tuple(
        _add_name(panel, name)
        for pair in zip(before.panels, after.panels, strict=True)
        for panel, name in zip(_on_one_scale(pair, stack), ("unchanged", change), strict=True)
    )
    alt = f"{after.alt} Each panel twice: unchanged, and with {change}."
    return replace(before, panels=panels, columns=2, stack=stack, alt=alt)


def _on_one_scale(pair: tuple[Panel, Panel], stack: Stack | None) -> tuple[Panel, ...]:
    """Returns the panels with the same axes.

    Those of a stack show all values, even if a document's axis is shorter.
    """
    if stack is None:
        return share_axes(pair)
    free = [replace(panel, y_range=(panel.y_range[0], None)) for panel in pair]
    ends = [panel.limits(stack.x_range) for panel in free]
    shared = (min(low for low, _ in ends), max(high for _, high in ends))
    return tuple(replace(panel, y_range=shared) for panel in free)


def _add_name(panel: Panel, name: str) -> Panel:
    """Returns the panel with a name before its title."""
    title = f"{name}: {begin_lower(panel.title)}" if panel.title else name
    return replace(panel, title=title)
