"""Histograms of letters that are randomized one by one: how many are then of each letter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb
from typing import Any

from .allowance import BALL, NUMBER, PAIR, Allowance
from .arithmetic import fmpq
from .noise import power
from .numbers import height, need
from .sizes import take_entries

Law = dict[int, Any]  # by the output's numbers, as one number in the base of all people and one more
Cells = tuple[int, ...]


def cells(people: int, letters: int) -> Iterator[Cells]:
    """The vectors of so many numbers with this sum, in lexicographic order."""
    if letters == 1:
        yield (people,)
        return
    for first in range(people + 1):
        for rest in cells(people - first, letters - 1):
            yield (first, *rest)


class Letters:
    """Letters that are kept, or become any other one alike."""

    def __init__(self, mechanism: dict[str, Any], letters: int, people: int, allowance: Allowance) -> None:
        flip = mechanism["flip"]
        self.allowance = allowance
        if flip is None:
            decay = power(mechanism["epsilon"])
            kept = 1 / (1 + (letters - 1) * decay)
            self.other = decay / (1 + (letters - 1) * decay)
        else:
            kept = 1 - flip
            self.other = flip / (letters - 1)
        self.more = kept - self.other if flip is not None else (1 - decay) / (1 + (letters - 1) * decay)
        self.units = [(people + 1) ** (letters - 1 - c) for c in range(letters)]

    def spread(self, law: Law) -> Law:
        """With one person more, of any letter alike."""
        found = Law()
        for code, p in law.items():
            self.allowance.look()
            for unit in self.units:
                found[code + unit] = found[code + unit] + p if code + unit in found else p
        return {code: self.other * p for code, p in found.items()}

    def added(self, law: Law, spread: Law, a: int) -> Law:
        """With one person more, of letter a."""
        found = dict(spread)
        unit = self.units[a]
        for code, p in law.items():
            self.allowance.look()
            found[code + unit] = found[code + unit] + self.more * p
        return found


def randomized(
    mechanism: dict[str, Any], people: int, letters: int, inputs: int, allowance: Allowance
) -> list[list[Any]]:
    """The rows of the histograms of so many people, with others who are known: person by person.

    An entry depends only on how many people each letter has and is told to have: such entries are one object.
    """
    others = mechanism["others"] or [0] * letters
    whole = people + sum(others)
    need(comb(people + letters - 1, letters - 1) == inputs, "the histograms are not listed")
    flip = mechanism["flip"]
    size = BALL if flip is None else NUMBER + whole * height(flip / (letters - 1)) // 4
    outputs = comb(whole + letters - 1, letters - 1)
    take_entries(inputs, outputs, allowance, size + PAIR)
    told = Letters(mechanism, letters, whole, allowance)
    law = Law({0: fmpq(1)})
    for a, times in enumerate(others):
        for _ in range(times):
            law = told.added(law, told.spread(law), a)
    laws = {(0,) * letters: law}
    for n in range(1, people + 1):
        laws, before = dict[Cells, Law](), laws
        spreads = {cell: told.spread(one) for cell, one in before.items()}
        allowance.room(sum(map(len, spreads.values())) * (size + 2 * PAIR))
        for cell in cells(n, letters):
            a = next(a for a, x in enumerate(cell) if x)
            less = (*cell[:a], cell[a] - 1, *cell[a + 1 :])
            laws[cell] = told.added(before[less], spreads[less], a)
    return _rows(laws, others, list(cells(whole, letters)), told.units)


def _rows(
    laws: dict[Cells, Law], others: Sequence[int], outputs: Sequence[Cells], units: Sequence[int]
) -> list[list[Any]]:
    codes = [sum(y * u for y, u in zip(cell, units, strict=True)) for cell in outputs]
    known = dict[Any, Any]()
    rows = list[list[Any]]()
    for cell in sorted(laws):
        there = [x + t for x, t in zip(cell, others, strict=True)]
        pairs = zip(outputs, codes, strict=True)
        keys = ((tuple(sorted(zip(there, output, strict=True))), code) for output, code in pairs)
        rows.append([known.setdefault(key, laws[cell][code]) for key, code in keys])
    return rows
