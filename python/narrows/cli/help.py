"""The first screens: `narrows` alone, and `narrows --help` with the commands by task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from typer.core import TyperGroup

WELCOME = """\
narrows simulates flows that share a bottleneck. Begin with one of these:
  narrows demo            see BBR and CUBIC take turns, in two seconds
  narrows init fair       write fair.toml: a bottleneck with four flows
  narrows run fair.toml   run it: a table here, and a page with charts
  narrows --help          all commands, by task"""

SECTIONS = {
    "Begin": ("demo", "init", "run", "open", "list"),
    "Find out": ("figure", "diff", "evaluate", "search", "analyze"),
    "Compare with real networks and papers": (
        "compare",
        "reproduce",
        "kernel",
        "hosts",
        "import",
        "export",
    ),
    "Look after results": ("verify", "store"),
}
"""The commands by task; each appears in one section."""

WHOLE = 1000
"""Summaries aren't cut: longer ones take a second line."""


class WholeGroup(TyperGroup):
    """A group of commands whose help shows their summaries in full."""

    def sections(self) -> Mapping[str, Iterable[str]]:
        """The commands below each heading."""
        return {"Commands": self.commands}

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 (click's, or typer's own)
        """Writes a section of the help for each heading."""
        width = max(len(name) for name in self.commands)
        for heading, names in self.sections().items():
            rows = [
                (f"{name:{width}}", self.commands[name].get_short_help_str(WHOLE)) for name in names
            ]
            with formatter.section(heading):
                formatter.write_dl(rows)


class SectionedGroup(WholeGroup):
    """The command `narrows`, whose help lists the commands by task."""

    def sections(self) -> Mapping[str, Iterable[str]]:
        """The commands of each task."""
        return SECTIONS
