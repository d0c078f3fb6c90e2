"""Own controls for kernels: eBPF programs (`cca = "mine.bpf.c"`) and modules (`cca = "mine.c"`).

An eBPF program may also be compiled: `cca = "mine.bpf.o"`. The file is searched next to the
specification. Its content becomes part of the scenario, as with controls in Python. Only a real
kernel runs it, as a `struct tcp_congestion_ops`, and only if the user has allowed it: see
`narrows.spec.permission`. The back end `kernel` takes eBPF programs, the back end `uml` modules.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path

from narrows.errors import SpecError
from narrows.files import read_limited
from narrows.spec import permission
from narrows.spec.python_control import MAX_SOURCE_BYTES, Source
from narrows.spec.scenario import Scenario
from narrows.spec.suggest import quote

SOURCE, COMPILED, MODULE = ".bpf.c", ".o", ".c"
"""Suffixes of eBPF programs as C source, compiled by clang, and of modules as C source."""


def is_program(cca: str) -> bool:
    """Returns True for the name of an eBPF program."""
    return any(len(cca) > len(end) and cca.endswith(end) for end in (SOURCE, COMPILED))


def is_module(cca: str) -> bool:
    """Returns True for the name of a kernel module's source."""
    return len(cca) > len(MODULE) and cca.endswith(MODULE) and not cca.endswith(SOURCE)


def allow(cca: str, near: Sequence[Path], options: Mapping[str, object]) -> Source:
    """The allowed program or module `cca` in one of the folders; in base64 if it is compiled.

    Raises SpecError if it doesn't exist, isn't allowed, or has options.
    """
    source = permit(cca, near)
    if options:
        raise SpecError.at(cca, f"options of {quote(cca)}", "none, which it can't take,")
    return source


def permit(cca: str, near: Sequence[Path]) -> Source:
    """Returns the source of an allowed control, and raises SpecError for any other."""
    places = [folder / cca for folder in near]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise SpecError.at(cca, f"no file {quote(str(places[-1]))}", "a file that is there")
    permission.check(cca, file)
    try:
        content = read_limited(file, MAX_SOURCE_BYTES)
        compiled = cca.endswith(COMPILED)
        text = base64.b64encode(content).decode("ascii") if compiled else content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError.at(cca, f"{file}, which can't be read ({error})", "another") from None
    return Source(file.name, text)


def content(cca: str, source: Mapping[str, str]) -> bytes:
    """Returns the content of a program's file, from the scenario."""
    text = source["text"]
    return base64.b64decode(text) if cca.endswith(COMPILED) else text.encode("utf-8")


def refuse_programs(scenario: Scenario, reason: str) -> None:
    """Raises SpecError for an eBPF program, which a back end can't run for `reason`."""
    flows = scenario.get("flows")
    for index, flow in enumerate(flows if isinstance(flows, list) else []):
        if is_program(flow["cca"]):
            found = f"{quote(flow['cca'])}, an eBPF program, {reason}"
            raise SpecError.at(f"flows[{index}].cca", found, "--backend kernel for this control")


def refuse_modules(scenario: Scenario, reason: str) -> None:
    """Raises SpecError for a kernel module, which a back end can't run for `reason`."""
    flows = scenario.get("flows")
    for index, flow in enumerate(flows if isinstance(flows, list) else []):
        if is_module(flow["cca"]):
            found = f"{quote(flow['cca'])}, a kernel module, {reason}"
            raise SpecError.at(f"flows[{index}].cca", found, "--backend uml for this control")
