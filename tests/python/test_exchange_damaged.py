"""Damaged files of other programs: each gives a result or a message, never a traceback.

`DAMAGED_SEED` and `DAMAGED_CASES` choose other and more cases than a usual test run does.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_exchange import CSV, FLENT, IPERF3, LOG, ss_log

from narrows.errors import InputError
from narrows.exchange import import_files
from narrows.exchange.read import read_files

SEED = int(os.environ.get("DAMAGED_SEED", "1"))
CASES = int(os.environ.get("DAMAGED_CASES", "150"))
"""For each format."""
LONGEST_S = 30.0

WORDS = [None, True, "", "x", "1", "é\n\x00", "=cmd()", [], {}, [1], {"a": 1}, "9" * 90]
NUMBERS = [0, -1, 1, 7, 1e-300, 1e300, -1e300, 2**31, 2**63, 2**64, 10**400, 1e999, float("nan")]
TEXTS = ["", "-1", "1e400", "nan", "inf", "x", '"', ",", "\n", "\t", "9" * 30, "0.5", "#", "d", "é"]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, inner in items:
        yield from places(inner, (*path, key))


def damaged_document(document: Any, dice: random.Random) -> bytes:
    """Values replaced, removed or repeated; at times bytes of the text too."""
    document = json.loads(json.dumps(document))
    for _ in range(dice.randint(1, 3)):
        path = dice.choice(list(places(document))[1:] or [()])
        if not path:
            break
        parent = document
        for key in path[:-1]:
            parent = parent[key]
        match dice.randrange(4):
            case 0:
                del parent[path[-1]]
            case 1 if isinstance(parent, list):
                parent.extend(parent[:] * dice.randint(1, 20))
            case _:
                parent[path[-1]] = dice.choice(WORDS + NUMBERS)
    content = json.dumps(document).encode()
    return damaged_bytes(content, dice) if dice.random() < 0.3 else content


def damaged_text(text: str, dice: random.Random) -> bytes:
    """Words of a table or log replaced, lines moved, repeated or removed."""
    lines = text.splitlines()
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(lines))
        match dice.randrange(4):
            case 0:
                lines.insert(dice.randrange(len(lines)), lines[at])
            case 1 if len(lines) > 1:
                del lines[at]
            case _:
                gap = "," if "," in lines[at] else " "
                words = lines[at].split(gap)
                words[dice.randrange(len(words))] = dice.choice(TEXTS)
                lines[at] = gap.join(words)
    content = "\n".join(lines).encode() + b"\n"
    return damaged_bytes(content, dice) if dice.random() < 0.3 else content


def damaged_bytes(content: bytes, dice: random.Random) -> bytes:
    data = bytearray(content)
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(data) + 1)
        match dice.randrange(4):
            case 0:
                del data[at:]
            case 1:
                data[at:at] = bytes([dice.randrange(256)])
            case 2:
                del data[at : at + dice.randint(1, 9)]
            case _:
                data[at : at + 1] = bytes([dice.randrange(256)])
    return bytes(data)


def damage(form: str, dice: random.Random) -> bytes:
    match form:
        case "iperf3":
            return damaged_document(IPERF3, dice)
        case "flent":
            content = gzip.compress(damaged_document(FLENT, dice), mtime=0)
            return damaged_bytes(content, dice) if dice.random() < 0.2 else content
        case "mahimahi":
            return damaged_text(LOG, dice)
        case "ss":
            return damaged_text(ss_log("epoch"), dice)
        case _:
            return damaged_text(CSV, dice)


@pytest.mark.parametrize("form", ["iperf3", "flent", "mahimahi", "csv", "ss"])
def test_damaged_files_give_results_or_messages(form: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    understood_at_all, messages = 0, []
    for case in range(CASES):
        path.write_bytes(damage(form, random.Random(f"{SEED} {form} {case}")))
        begin = time.process_time()
        try:
            read_files([path], form if case % 2 else None)
            if understood_at_all % 100 == 1:
                import_files([path], out=tmp_path / "out", force=True)
            understood_at_all += 1
        except InputError as error:
            messages.append(str(error))
        except BaseException as error:
            error.add_note(f"DAMAGED_SEED={SEED}, {form} {case}: {path.read_bytes()[:2000]!r}")
            raise
        assert time.process_time() - begin < LONGEST_S, f"DAMAGED_SEED={SEED}, {form} {case}"
    assert all(str(path) in message and "found" in message for message in messages)
    assert 0 < understood_at_all < CASES, "neither too little nor too much is damaged"
