"""Rules for every test: where it runs among parallel workers, and its independence of load.

A machine may be as slow as it likes: properties have no deadline, and tests of runs wait for
events (tests/python/waiting.py).
"""

from __future__ import annotations

import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePath

import hypothesis
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
sys.path.insert(0, str(Path(__file__).parent / "python"))
import required

from narrows.signals import ENDING

pytest_plugins = ["playing"]
"""The fixtures `server` and `page` of the playground."""

GROUPS = {
    "test_kernel": "real kernels",
    "test_kernel_captures": "real kernels",
    "test_own_controls_ebpf": "real kernels",
}
"""Files whose tests look for what is left of any run on this kernel: one worker has them."""

LONGEST = (
    "test_cookbook",
    "test_readme",
    "test_interrupts",
    "test_hosts",
    "test_kernel",
    "test_kernel_captures",
    "test_teaching",
    "test_own_code_that_ends",
    "test_reproduce_mutations",
    "test_sweep_cluster",
    "test_hosts_flows",
    "test_measure_scale",
    "test_uml",
)
"""Started first, so that no worker ends with a long file while the others have nothing left."""

hypothesis.settings.register_profile(
    "narrows", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("narrows")


def pytest_configure(config: pytest.Config) -> None:
    """Refuses unknown names in `NARROWS_REQUIRE`."""
    config.addinivalue_line("markers", "needs(*names): skipped or failed without these things")
    try:
        required.read_required()
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test without what it needs, or fails it (tests/python/required.py)."""
    for mark in item.iter_markers("needs"):
        for name in mark.args:
            required.require(name, required.MISSING[name]())


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Ends with a line of what was skipped and why."""
    yield
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = [str(one.longrepr[2]).removeprefix("Skipped: ") for one in skipped]
    first: dict[str, str] = {}
    for reason in reasons:
        first.setdefault(reason.partition(": ")[0], reason)
    counts = Counter(reason.partition(": ")[0] for reason in reasons)
    told = "; ".join(f"{count} for {first[name]}" for name, count in counts.most_common())
    if told:
        terminalreporter.write_line(f"skipped {len(skipped)}: {told}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the long files first."""
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """With `-n`, a file's tests share a worker, hence what its fixtures made."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            stem = PurePath(nodeid.partition("::")[0]).stem
            return GROUPS.get(stem, stem)

    config.option.loadscopereorder = False
    return ByFile(config, log)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ending signals reach this process and its children, also if whoever started it ignores them.

    A shell starts background jobs with SIGINT ignored, nohup ignores SIGHUP, and children inherit
    that.
    """
    before = {number: signal.signal(number, signal.SIG_DFL) for number in ENDING}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
