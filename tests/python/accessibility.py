"""Checks a page's accessibility with axe-core, which `make playground` installs in tests/axe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from browser import Browser

AXE = Path(__file__).resolve().parents[1] / "axe" / "node_modules" / "axe-core" / "axe.min.js"
INSTALLED = pytest.mark.skipif(not AXE.exists(), reason="axe-core isn't installed: make playground")
SERIOUS = ("serious", "critical")


def serious_violations(page: Browser) -> list[str]:
    """The rules that a page breaks seriously, each with the elements that break it."""
    page.value(AXE.read_text(encoding="utf-8") + ";0")
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
    options = {"resultTypes": ["violations"], "runOnly": rules}
    found = page.value(
        f"axe.run(document, {json.dumps(options)}).then(({{ violations }}) => violations.map("
        "({ id, impact, nodes }) =>"
        " [id, impact, nodes.map(({ target, any }) => `${target} ${any[0]?.message ?? ''}`)]))"
    )
    return [f"{rule}: {nodes}" for rule, impact, nodes in found if impact in SERIOUS]
