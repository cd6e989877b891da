"""Holes are planted where they say: also those that only whole campaigns plant, whose places move while nobody looks."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import planting

TESTS = Path(__file__).parent


def holes() -> Iterator[str]:
    """All that tables of this folder's tests list."""
    for path in sorted(TESTS.glob("test_*.py")):
        if path.stem != Path(__file__).stem and "planted" in path.read_text():
            tables = [table for table in vars(import_module(path.stem)).values() if isinstance(table, dict)]
            yield from (hole for table in tables for hole in table.values() if isinstance(hole, str) and " => " in hole)


def test_what_holes_are_planted_in_is_there():
    found = set(holes())
    assert len(found) > 300
    for hole in found:
        planting.need_place(hole)


def test_a_hole_without_a_place_is_refused():
    for hole in (
        "attempt: a piece => another",
        "nobody: False => True",
        "attempt: not lines.more() => not lines.more()",
    ):
        with pytest.raises((AssertionError, SyntaxError)):
            planting.need_place(hole)
