"""The verdict about a script."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PASSED, FAILED, UNSUPPORTED, MISTAKE = "passed", "failed", "unsupported", "mistake"
BROKEN = "broken"
"""The word for a guest that ended before its script did."""


@dataclass(frozen=True)
class ScriptVerdict:
    """The result of a script over one protocol.

    `script` is its name (`ScriptCase.name`), and `verdict` one of the words above. `line` and
    `column` are the place of the event that failed, and `message` the reason. `printed` is the
    output of the script's code, `events` the number of events that took place, and `capture` the
    packets.
    """

    script: Path
    mode: str
    verdict: str
    line: int | None = None
    column: int | None = None
    message: str = ""
    printed: tuple[str, ...] = ()
    events: int = 0
    capture: bytes = b""

    @property
    def is_pass(self) -> bool:
        """Returns True if all events took place as written."""
        return self.verdict == PASSED

    @property
    def place(self) -> str:
        """The script, line and column, as compilers write them."""
        at = "" if self.line is None else f":{self.line}:{self.column}"
        return f"{self.script.name}{at}"

    def document(self) -> dict[str, object]:
        """Returns the verdict for JSON."""
        return {
            "script": str(self.script),
            "ip": self.mode,
            "verdict": self.verdict,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "printed": list(self.printed),
            "events": self.events,
        }
