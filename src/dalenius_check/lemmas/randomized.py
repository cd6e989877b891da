"""Theorem L1: rows of letters that are randomised one by one are convolutions; L2: against blocks fewer others reveal more, so that
a step's multiples bound all.

Hypotheses, each a line that refuses: a count has the values 0 to n (`counted`); histograms are listed (`randomized`); every
multiple of the step is covered (`need_covered`); a witness has all others (`need_possible`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import comb, gcd
from typing import Any

from ..core.allowance import BALL, NUMBER, PAIR, Allowance, rests_on
from ..core.arithmetic import arb, fmpq
from ..core.channel import Channel
from ..core.model import Model
from ..core.noise import keeping
from ..core.numbers import height, need, powers, take_entries
from ..core.read import text
from ..core.verdict import Subject
from .histograms import patterns
from .households import Households, Place, about
from .households.blocks import Blocks, Shape

Law = dict[int, Any]  # by the output's numbers, as one number in the base of all people and one more
Cells = tuple[int, ...]
Rows = list[list[Any]]


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
        self.allowance = allowance
        kept, self.other = keeping(mechanism, letters)
        self.more = kept - self.other
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


def counted(mechanism: dict[str, Any], inputs: list[int], allowance: Allowance) -> Rows:
    """Distribution of the ones of a count of bits of which each is flipped at random."""
    n, flip = inputs[-1], mechanism["flip"]
    need(
        n >= 1 and inputs == list(range(n + 1)), "mechanism: randomized_count needs the values 0, 1, ..., n of a count"
    )
    kept, turned = keeping(mechanism, 2)
    size = BALL if flip is None else NUMBER + n * height(flip)
    take_entries(n + 1, n + 1, allowance, size)
    pairs = zip(reversed(powers(kept, n)), powers(turned, n), strict=True)
    shares = [one * other for one, other in pairs]  # of n bits, of which d are turned round
    rows = Rows()
    for v in range(n + 1):
        allowance.look()
        if 2 * v > n:
            rows.append(rows[n - v][::-1])
            continue
        rows.append(
            [
                _sum(
                    comb(v, j) * comb(n - v, y - j) * shares[v + y - 2 * j]
                    for j in range(max(0, y - n + v), min(v, y) + 1)
                )
                for y in range(n + 1)
            ]
        )
        if 2 * v == n:
            rows[v][n // 2 + 1 :] = rows[v][: (n + 1) // 2][::-1]
    return rows


def _sum(terms: Iterator[Any]) -> Any:
    first = next(terms)
    return sum(terms, first)


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


def channel(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    """That of a count or of a histogram whose letters are randomized."""
    allowance = model.allowance
    rests_on(allowance, "L1")
    if mechanism["kind"] == "randomized_count":
        return Channel(counted(mechanism, inputs, allowance), inputs, allowance)
    sizes = len(model.alphabets), model.alphabets[0]
    return Channel(randomized(mechanism, *sizes, len(inputs), allowance), inputs, allowance)


_NUMBERS = re.compile("(0|[1-9][0-9]{0,6})(,(0|[1-9][0-9]{0,6}))*")


class Randomized(Blocks):
    """Pieces (m, t): blocks of m people, and t others of each letter, who are known."""

    def __init__(self, model: Model) -> None:
        self._divide(model)
        self.route = ""
        need(model.mechanism["others"] is None, "randomized_histogram: no 'others' against independent_blocks")
        self._own = None
        self.alike = True
        self._need_feasible()

    def key(self, shape: Shape, t: Any) -> Any:
        """The same for pieces that are the same model."""
        return shape, t

    def lost(self, shape: Shape) -> arb:
        """Nothing."""
        return arb(0)

    def piece(self, shape: Shape, t: Any) -> Model:
        """The model about one block."""
        given = {key: item for key, item in self.model.mechanism.items() if item is not None}
        return self._about(shape, {"kind": "histogram"}, {**given, "others": list(t)})


class RandomizedHouseholds(Households):
    """Bound because fewer others reveal more: what t others let through fewer do, to whom those are added who are left."""

    def _left(self, shape: Shape) -> int:
        """Number of others."""
        return len(self.blocks.model.alphabets) - len(shape.alphabets)

    def name(self, place: Place) -> Any:
        """Name that may not come twice, whatever the block."""
        return place[1:]

    def need_possible(self, shape: Shape, t: Any) -> None:
        """Refuse a witness where others are left out."""
        need(sum(t) == self._left(shape), f"a witness's t must be {self._left(shape)} people")

    def sum(self, shape: Shape, value: Any) -> Any:
        """Numbers of others with each letter, in falling order."""
        letters = self.blocks.model.alphabets[0]
        need(
            _NUMBERS.fullmatch(text(value, "t")) is not None, "t must be integers with commas between them, as a string"
        )
        t = tuple(map(int, value.split(",")))
        need(len(t) == letters and sorted(t, reverse=True) == list(t), f"t must be {letters} integers that do not rise")
        need(sum(t) <= self._left(shape), f"t must be at most {self._left(shape)} people")
        return t

    def need_covered(self, seen: list[Place]) -> None:
        """For every size of a block all t that are a step's multiples, or nobody.

        Bound because every t of all others is, in some order, nowhere below one of those, by their sum.
        """
        letters = self.blocks.model.alphabets[0]
        for shape in self.blocks.shapes:
            listed = {t for _, one, t in seen if one == shape}
            about = f"the file ends, but a block of {len(shape.alphabets)} records is not covered"
            need(bool(listed), about)
            step = gcd(*(x for t in listed for x in t))
            if (0,) * letters not in listed:
                most = max(0, -(-(self._left(shape) - letters * (step - 1)) // step))
                for h in patterns(most, letters):
                    self.allowance.look()
                    t = tuple(step * x for x in (*h, *[0] * (letters - len(h))))
                    need(t in listed, f"{about} with {','.join(map(str, t))}")


def subject(model: Model) -> Subject:
    """That of a histogram of randomized letters against blocks."""
    rests_on(model.allowance, "L2")
    return about(Randomized(model), RandomizedHouseholds)
