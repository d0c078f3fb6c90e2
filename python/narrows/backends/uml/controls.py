"""Passes the options of congestion controls to a kernel, as parameters of their modules."""

from __future__ import annotations

from collections.abc import Sequence

from narrows.backends.linux.programs import NO_CONTROL
from narrows.backends.uml.kernels import BuiltKernel
from narrows.backends.uml.module_parameters import module_parameters
from narrows.errors import SpecError
from narrows.spec.kernel_program import is_module
from narrows.spec.scenario import Flow
from narrows.spec.suggest import one_of


def command_line(kernel: BuiltKernel, flows: Sequence[Flow], numbers: Sequence[int]) -> list[str]:
    """Returns the kernel's command-line arguments for `flows`, which have these `numbers`.

    A control's options are the same for all its flows. Raises SpecError for a control or options
    that the kernel lacks.
    """
    chosen: dict[str, dict[str, int | None]] = {}
    for number, flow in zip(numbers, flows, strict=True):
        place, cca = f"flows[{number}].options", flow["cca"]
        if is_module(cca) or cca == NO_CONTROL:
            continue
        if cca not in kernel.ccas:
            found = f'"{cca}", which {kernel.name} lacks'
            raise SpecError.at(f"flows[{number}].cca", found, one_of(cca, kernel.ccas))
        options = module_parameters(cca, flow["options"])
        if chosen.setdefault(cca, options) != options:
            raise SpecError.at(place, f"{options}", f"those of the other {cca} flows")
        for name, value in options.items():
            if f"tcp_{cca}.{name}" not in kernel.parameters or value is None:
                known = [p.split(".")[1] for p in kernel.parameters if f"_{cca}." in p]
                remedy = f"one of {', '.join(known) or 'none'}, as the kernel's module has it,"
                raise SpecError.at(f"{place}.{name}", f"{flow['options']}", remedy)
    return [
        f"tcp_{cca}.{name}={value}"
        for cca, options in sorted(chosen.items())
        for name, value in sorted(options.items())
    ]
