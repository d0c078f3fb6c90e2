"""The canonical text of a scenario, and a hash of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b


def canonical_json(value: object) -> str:
    """Sorted keys, no spaces, finite numbers only: equal scenarios give equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def content_hash(parts: Iterable[str]) -> str:
    """BLAKE2b of the parts, as 32 hexadecimal digits; the borders between parts count."""
    digest = blake2b(digest_size=16)
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()
