"""Modules that are loaded only when something of them is used, since loading them takes long."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["_native", "pl"]

if TYPE_CHECKING:
    import polars as pl

    from narrows import _native
else:

    class _LateModule(ModuleType):
        """Stands for the module that `load` imports.

        It imports at every use, which is quick and waits while another thread loads the module.
        """

        def __init__(self, name: str, load: Callable[[], ModuleType]) -> None:
            super().__init__(name)
            self._load = load

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the module has)
            return getattr(self._load(), name)

    def _load_polars() -> ModuleType:
        import polars

        return polars

    def _load_native() -> ModuleType:
        from narrows import _native

        return _native

    pl, _native = _LateModule("polars", _load_polars), _LateModule("narrows._native", _load_native)
