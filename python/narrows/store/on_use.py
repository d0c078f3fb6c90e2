"""Tables that are read on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

Form = TypeVar("Form")


class TablesOnUse(Mapping[str, Form], Generic[Form]):
    """Tables by name, each read on first use."""

    def __init__(self, names: Iterable[str], read: Callable[[str], Form]) -> None:
        self._names, self._read, self._known = tuple(names), read, dict[str, Form]()

    def __getitem__(self, name: str) -> Form:
        """Raises KeyError for a table that isn't there."""
        if name not in self._known:
            if name not in self._names:
                raise KeyError(name)
            self._known[name] = self._read(name)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
