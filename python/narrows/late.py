"""Modules that are loaded only when something of them is used, since loading them takes long."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__all__ = ["_native", "pl"]

if TYPE_CHECKING:
    import polars as pl

    from narrows import _native
else:

    class _LateModule(ModuleType):
        """Stands for a module of the same name."""

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever the module has)
            return getattr(import_module(self.__name__), name)

    pl, _native = _LateModule("polars"), _LateModule("narrows._native")
