"""Keeps the packets of scripts that didn't pass, each with a page that shows them over time."""

from __future__ import annotations

from pathlib import Path

from narrows.errors import NarrowsError
from narrows.kernel_tests.make import ScriptRun

REASON = "reason.txt"
CAPTURE = "tun0.pcapng"


def keep_failures(run: ScriptRun, out: Path) -> list[Path]:
    """Writes a folder for each script and protocol that didn't pass; returns the folders.

    A folder has the capture, the reason, and the page of `narrows analyze`, unless the packets are
    too few for one.
    """
    # Loading this takes longer than playing a script.
    from narrows.analyze import analyze

    kept = []
    for verdict in run.verdicts:
        if verdict.is_pass:
            continue
        folder = out / f"{verdict.script.stem}-{verdict.mode}"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"{verdict.place}: {verdict.message}\n"
        (folder / REASON).write_text(text, encoding="utf-8")
        if verdict.capture:
            capture = folder / CAPTURE
            capture.write_bytes(verdict.capture)
            try:
                analyze([capture], packets=True, out=folder / "page", force=True)
            except NarrowsError as error:
                (folder / REASON).write_text(f"{text}no page: {error}\n", encoding="utf-8")
        kept.append(folder)
    return kept
