"""narrows: a laboratory for congestion control.

You describe a bottleneck and the flows that share it once, run it in a deterministic simulator, and
get tables, figures and verdicts.

    >>> import narrows as nw
    >>> result = nw.run("fig9.toml")                # doctest: +SKIP
    >>> result.summary_table["utilization"]         # doctest: +SKIP

Heavy modules are imported only when they are used.
"""

from __future__ import annotations

from narrows.version import __version__

TYPE_CHECKING = False  # as in typing, which would load much before anything can be interrupted
if TYPE_CHECKING:
    from narrows import metrics
    from narrows.api import (
        Change,
        Condition,
        Expect,
        Flow,
        Host,
        Link,
        Path,
        Range,
        Reverse,
        Run,
        RunResult,
        Scenario,
        Simulation,
        Sweep,
        SweepResult,
        distributions,
        impairments,
        open_result,
        queues,
        run,
        services,
        sweep,
        workloads,
    )
    from narrows.errors import InputError, NarrowsError
    from narrows.spec import load

__all__ = [
    "Change",
    "Condition",
    "Expect",
    "Flow",
    "Host",
    "InputError",
    "Link",
    "NarrowsError",
    "Path",
    "Range",
    "Reverse",
    "Run",
    "RunResult",
    "Scenario",
    "Simulation",
    "Sweep",
    "SweepResult",
    "__version__",
    "distributions",
    "impairments",
    "load",
    "metrics",
    "open_result",
    "queues",
    "run",
    "services",
    "sweep",
    "workloads",
]

_HOMES = {"InputError": "narrows.errors", "NarrowsError": "narrows.errors", "load": "narrows.spec"}

if not TYPE_CHECKING:  # to a type checker a name that isn't above is a mistake

    def __getattr__(name: str) -> object:
        """Imports a public name when it is first used."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        if name == "metrics":
            return import_module("narrows.metrics")
        return getattr(import_module(_HOMES.get(name, "narrows.api")), name)


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)
