"""The kernel's own tests: packetdrill scripts, played against kernels or the simulator's TCP."""

from narrows.kernel_tests.failures import keep_failures
from narrows.kernel_tests.kernel import build_kernel, choose_kernel
from narrows.kernel_tests.make import ScriptRun, play_all, play_cases
from narrows.kernel_tests.scripts import find_scripts, selftests
from narrows.kernel_tests.simulated import play_simulated
from narrows.kernel_tests.verdict import ScriptVerdict

__all__ = [
    "ScriptRun",
    "ScriptVerdict",
    "build_kernel",
    "choose_kernel",
    "find_scripts",
    "keep_failures",
    "play_all",
    "play_cases",
    "play_simulated",
    "selftests",
]
