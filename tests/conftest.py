"""What holds for every test: where it runs among parallel workers, and its independence of load.

A machine may be as slow as it likes: properties have no deadline, and tests of runs wait for
events (tests/python/waiting.py).
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import PurePath

import hypothesis
import pytest

GROUPS = {
    "test_kernel": "real kernels",
    "test_kernel_captures": "real kernels",
    "test_own_controls_ebpf": "real kernels",
}
"""Files whose tests look for what is left of any run on this kernel: one worker has them."""

LONGEST = (
    "test_own_control_rust",
    "test_kernel",
    "test_kernel_captures",
    "test_uml",
    "test_sweep_cluster",
    "test_sweep",
    "test_store",
    "test_captures_tshark",
    "test_reproduce",
    "test_reference",
    "test_analyze",
)
"""Started first, so that no worker ends with a long file while the others have nothing left."""

hypothesis.settings.register_profile(
    "narrows", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("narrows")


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
    """Ctrl-C reaches this process and its children, also if whoever started it ignores it.

    A shell starts background jobs with SIGINT ignored, and children inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
