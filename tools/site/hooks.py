"""Changes to the pages of the documentation site while MkDocs builds it."""

from __future__ import annotations

import html
import re
from typing import Any

CONSOLE = re.compile(r'<div class="language-console highlight">(.*?)</div>', re.DOTALL)
TAG = re.compile(r"<[^>]+>")


def on_page_content(content: str, **_: Any) -> str:
    """Lets the copy button of a console block copy its commands, without prompts and output."""
    return CONSOLE.sub(with_commands, content)


def with_commands(block: re.Match[str]) -> str:
    """The block with its commands in the attribute that the theme's copy button reads."""
    copied = html.escape(commands(html.unescape(TAG.sub("", block[1]))), quote=True)
    return f'<div class="language-console highlight" data-copy="{copied}">{block[1]}</div>'


def commands(text: str) -> str:
    """The lines behind a prompt, and those that continue them."""
    found: list[str] = []
    continued = False
    for line in text.splitlines():
        if line.startswith("$ ") or continued:
            found.append(line.removeprefix("$ "))
            continued = line.endswith("\\")
    return "\n".join(found)
