"""Says which parts of a measurement's path are estimates, and of what."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from narrows.words import join_words

PARTS = {"rate": "path.rate", "delay": "path.rtt", "buffer": "path.buffer"}
"""The parts of a path by the places that give them."""


def describe_estimates(parts: Sequence[str], given: Collection[str] = ()) -> str:
    """Returns a sentence on those of the parts that the places in `given` don't give.

    It begins with their names ("rate and delay are estimates: ..."), and is empty if none is left.
    """
    left = [part for part in parts if PARTS.get(part) not in given]
    if not left:
        return ""
    meanings = {
        "rate": "the highest rate of all flows together",
        "delay": "the shortest round trip",
    }
    said = [meanings[part] for part in left if part in meanings]
    if {"buffer", "queue"} & {*left}:
        base = "the others over it" if "delay" in left else "round trips over the given delay"
        said.append(f"the excess of {base}")
    verb = "is an estimate" if len(left) == 1 else "are estimates"
    listed = f"{', '.join(said[:-1])}, and {said[-1]}" if len(said) > 2 else join_words(said)
    return f"{join_words(left)} {verb}: {listed}."
