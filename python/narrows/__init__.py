"""narrows: a laboratory for congestion control.

You describe a bottleneck and the flows that share it once, run it in a deterministic simulator, and
get tables, figures and verdicts.

    >>> import narrows as nw
    >>> result = nw.run("fig9.toml")                # doctest: +SKIP
    >>> result.summary_table["utilization"]         # doctest: +SKIP

Heavy modules are imported only when they are used.
"""

from __future__ import annotations

from narrows.version import __version__ as __version__

TYPE_CHECKING = False  # as in `typing`, which is slow to load
if TYPE_CHECKING:
    from narrows import metrics as metrics
    from narrows.api import distributions as distributions
    from narrows.api import impairments as impairments
    from narrows.api import queues as queues
    from narrows.api import services as services
    from narrows.api import workloads as workloads
    from narrows.api.results import RunResult as RunResult
    from narrows.api.results import SweepResult as SweepResult
    from narrows.api.results import open_result as open_result
    from narrows.api.running import run as run
    from narrows.api.running import sweep as sweep
    from narrows.api.simulation import Simulation as Simulation
    from narrows.api.tables import Change as Change
    from narrows.api.tables import Condition as Condition
    from narrows.api.tables import Flow as Flow
    from narrows.api.tables import Host as Host
    from narrows.api.tables import Link as Link
    from narrows.api.tables import Path as Path
    from narrows.api.tables import Reverse as Reverse
    from narrows.api.tables import Run as Run
    from narrows.api.tables import Scenario as Scenario
    from narrows.api.writing import Range as Range
    from narrows.api.writing import Sweep as Sweep
    from narrows.errors import InputError as InputError
    from narrows.errors import NarrowsError as NarrowsError
    from narrows.spec.reading import load as load

_HOMES = {
    "narrows": ("metrics",),
    "narrows.api": ("distributions", "impairments", "queues", "services", "workloads"),
    "narrows.api.results": ("RunResult", "SweepResult", "open_result"),
    "narrows.api.running": ("run", "sweep"),
    "narrows.api.simulation": ("Simulation",),
    "narrows.api.tables": (
        *("Change", "Check", "Condition", "Flow", "Host", "Link"),
        *("Path", "Reverse", "Run", "Scenario"),
    ),
    "narrows.api.writing": ("Range", "Sweep"),
    "narrows.errors": ("InputError", "NarrowsError"),
    "narrows.spec.reading": ("load",),
}
"""The public names by the module that defines them, or the package of which they are modules."""
__all__ = sorted(["__version__", *(name for names in _HOMES.values() for name in names)])

if not TYPE_CHECKING:  # type checkers should report a name that isn't above

    def __getattr__(name: str) -> object:
        """Imports a public name when it is first used."""
        home = next((home for home, names in _HOMES.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        if home in ("narrows", "narrows.api"):
            return import_module(f"{home}.{name}")
        return getattr(import_module(home), name)


def __dir__() -> list[str]:
    """Returns the public names, for completion."""
    return __all__
