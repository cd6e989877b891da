"""Slopes of lines and multipliers of ranges, as they are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .arithmetic import arb
from .read import decimal, entries

_MAX_KNOWN = 1 << 16


class Slopes:
    """Lists of slopes; neighbours have much in common, so that a text is read once."""

    def __init__(self) -> None:
        self._known = dict[str, arb]()

    def read(self, value: Any, size: int) -> list[arb]:
        """So many numbers, or null for zeros."""
        if value is None:
            return [arb(0)] * size
        texts = entries(value, "slopes", size)
        if len(self._known) > _MAX_KNOWN:
            self._known.clear()
        for x in texts:
            if not isinstance(x, str) or x not in self._known:
                self._known[x] = arb(decimal(x, "a slope"))
        return [self._known[x] for x in texts]

    def of_letters(self, rows: Sequence[Any], size: int) -> list[list[arb]]:
        """The slopes of each letter; those of letters that are written alike are one list."""
        once: dict[tuple[str, ...] | None, list[arb]] = {}
        found = [(row, self.read(row, size)) for row in rows]
        return [once.setdefault(None if row is None else tuple(row), slopes) for row, slopes in found]
