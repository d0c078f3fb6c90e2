"""The commands of a page of the documentation, with the files that it says to write.

Code on a page stands in fences. A file's block begins with a comment that is its name; a command
begins with `narrows`, or with `$ narrows` if its output follows.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from narrows.cli import main

FILE = re.compile(r"# ([\w-]+\.(?:toml|py))$")
START = re.compile(r"(\$ )?(?:\.venv/bin/)?narrows ")
FENCE = re.compile(r"( *)```(\w*)$")


@dataclass
class File:
    """A file to write."""

    name: str
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


@dataclass
class Command:
    """A command without the name of the program, and what the page shows of its output."""

    words: list[str]
    to: str | None = None
    output: list[str] | None = None


def blocks(page: Path) -> Iterator[tuple[str, list[str]]]:
    """The fenced blocks of a page: their languages and their lines."""
    lines = iter(page.read_text(encoding="utf-8").splitlines())
    for line in lines:
        if found := FENCE.match(line):
            margin = len(found[1])
            body = iter(lambda: next(lines), f"{found[1]}```")
            yield found[2], [one[margin:] for one in body]


def steps(page: Path) -> Iterator[File | Command]:
    """The files and commands of a page, in their order."""
    for language, lines in blocks(page):
        if language in ("bash", "console"):
            yield from _commands(lines)
        elif lines and (found := FILE.match(lines[0])):
            yield File(found[1], lines[1:])


def _commands(lines: list[str]) -> Iterator[Command]:
    step = None
    rest = iter(lines)
    for line in rest:
        if found := START.match(line):
            if step is not None:
                yield step
            step = command(_join(line, rest), with_output=bool(found[1]))
        elif step is not None and step.output is not None:
            step.output.append(line.strip())
    if step is not None:
        yield step


def _join(line: str, lines: Iterator[str]) -> str:
    while line.endswith("\\"):
        line = line[:-1] + next(lines).strip()
    return line


def command(line: str, with_output: bool = False) -> Command:
    """A line as a command: comments and pipes cut off, redirection noted."""
    words = shlex.split(START.sub("", line, count=1), comments=True)
    if "|" in words:
        words = words[: words.index("|")]
    to = None
    if ">" in words:
        at = words.index(">")
        words, to = words[:at], words[at + 1]
    return Command(words, to, [] if with_output else None)


def shows(shown: list[str], printed: str) -> bool:
    """Returns True if a page shows what was printed; a line of three dots stands for any lines."""
    found = [_plain(line) for line in printed.splitlines() if line.strip()]
    pieces: list[list[str]] = [[]]
    for line in (_plain(line) for line in shown if line.strip()):
        if line == "...":
            pieces.append([])
        else:
            pieces[-1].append(line)
    if len(pieces) == 1:
        return found == pieces[0]
    at = 0
    for number, piece in enumerate(pieces):
        places = range(at, len(found) - len(piece) + 1)
        if number == 0:
            places = places[:1]
        if number == len(pieces) - 1 and piece:
            places = places[-1:]
        place = next((n for n in places if found[n : n + len(piece)] == piece), None)
        if place is None:
            return False
        at = place + len(piece)
    return True


def _plain(line: str) -> str:
    return re.sub(r"\s+", " ", line).strip()


def run_command(words: list[str], to: str | None = None) -> tuple[int, str]:
    """Runs a command in this process; returns its status and what it printed."""
    printed = io.BytesIO()
    stream = io.TextIOWrapper(printed, "utf-8", write_through=True)
    with contextlib.redirect_stdout(stream):
        status = main(list(words))
    text = printed.getvalue().decode()
    if to is not None:
        Path(to).write_text(text)
    return status, text
