"""Analyses captures; the libraries for the results load while the packets are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from narrows.analyze.reading import Watcher, has_datagrams, read_files, without_data

if TYPE_CHECKING:
    from narrows.store import Result


@dataclass(frozen=True)
class Analysis:
    """A results directory made from captures, and what was found in them."""

    result: Result
    findings: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The data for `--json`: the summary of a run, and all findings as `capture`."""
        summary = self.result.summary
        return {**summary, "capture": self.findings, "directory": str(self.result.path)}


@dataclass(frozen=True)
class Datagrams:
    """The findings in captures without TCP data: pings, UDP and QUIC.

    No table of a run describes them, so there is no results directory.
    """

    findings: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """The data for `--json`: all findings as `capture`."""
        return {"capture": self.findings}


def analyze(
    files: Sequence[str | Path],
    *,
    packets: bool = False,
    out: str | Path | None = None,
    force: bool = False,
    watcher: Watcher | None = None,
    command: Sequence[str] = (),
) -> Analysis:
    """Analyses captures and keeps the findings in a results directory.

    With `packets`, every packet is a row of the table `packets`. The directory
    is `out`, or one below `narrows-results`; an older result of the same captures is
    replaced. Raises InputError for files that can't be read or hold no TCP data,
    and StoreError if the directory can't be written.
    """
    made = describe(files, packets=packets, out=out, force=force, watcher=watcher, command=command)
    if isinstance(made, Datagrams):
        raise without_data(str(files[0]), made.findings)
    return made


def describe(
    files: Sequence[str | Path],
    *,
    packets: bool = False,
    out: str | Path | None = None,
    force: bool = False,
    watcher: Watcher | None = None,
    command: Sequence[str] = (),
) -> Analysis | Datagrams:
    """Like `analyze`, but describes captures that hold UDP or pings alone, too."""
    loading = Thread(target=import_module, args=("narrows.analyze.run",))
    loading.start()  # meanwhile, on another processor, the captures are read
    try:
        read = read_files(files, packets, watcher)
    finally:
        loading.join()  # a program that ends during an import prints a traceback
    if not read.findings["flows"] and has_datagrams(read.findings):
        return Datagrams(read.findings)
    from narrows.analyze.run import understand, write

    made = understand(read)
    return Analysis(write(made, out, command, force=force), made.findings)
