"""The first screens: `narrows` alone, and `narrows --help` with the commands by task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from typer.core import TyperGroup

from narrows.errors import InputError

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
        "import",
        "export",
    ),
    "Look after results": ("verify", "store"),
}
"""The commands by task; each stands in one section."""

RENAMED = {
    "claims": "reproduce",
    "completion": "--completion",
    "draw": "figure",
    "ls": "list results",
    "report": "open --rebuild",
    "schema": "list schema",
    "still-true": "reproduce still-true",
    "sweep": "run",
    "validate": "run --check",
}
"""Commands that are part of another one now."""

WHOLE = 1000
"""Summaries aren't cut: longer ones take a second line."""


class WholeGroup(TyperGroup):
    """A group of commands whose help shows their summaries whole."""

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

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 (click's, or typer's own)
        """The command that is named; raises InputError with the present name of a former one."""
        if args and (name := RENAMED.get(args[0])):
            raise InputError.at("command line", f"narrows {args[0]}", f"`narrows {name}`")
        return super().resolve_command(ctx, args)
