"""Converts a control's options to the parameters of its kernel module, which are whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from narrows.spec import registry

_NS = {"us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}
_MOST = {"hystart": 1}
"""The highest value of a parameter. Kernels have only HyStart, the simulator also later exits."""
_INHERENT = {("rules", "linux")}
"""Options without a parameter, since a kernel's code follows its own rules."""


def module_parameters(cca: str, options: Mapping[str, Any]) -> dict[str, int | None]:
    """Returns the parameters by their names in the module.

    None for values that the module can't have.

    `options` are the options of a flow in a scenario.
    """
    entry = registry.ccas().get(cca)
    if entry is None:  # the simulator lacks this control of the kernel
        return {name: _as_integer(value) for name, value in options.items()}
    known = {option["key"]: option for option in entry["parameters"]}
    wanted = [item for item in options.items() if item not in _INHERENT]
    return dict(_parameter(known[key], value) for key, value in wanted)


def _as_integer(value: float | str) -> int | None:
    if isinstance(value, str):  # a word: parameters of modules are numbers
        return None
    return int(value) if float(value).is_integer() else None


def _parameter(option: Mapping[str, Any], value: float | str) -> tuple[str, int | None]:
    if option["former"] is None:
        return option["name"], _as_integer(value)
    name, (words, unit) = option["former"]
    if isinstance(value, str):
        number, rest = int(words[value]), 0
    else:
        number, rest = divmod(int(value), _NS[unit])
    fits = rest == 0 and number <= _MOST.get(name, number)
    return name, number if fits else None
