"""The canonical text of a scenario, and its hash."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b


def canonical_json(value: object) -> str:
    """Returns JSON with sorted keys, no spaces, finite numbers: equal values give equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def content_hash(parts: Iterable[str]) -> str:
    """Returns BLAKE2b of the parts and of their boundaries, as 32 hexadecimal digits."""
    digest = blake2b(digest_size=16)
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()
