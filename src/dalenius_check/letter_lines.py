"""The lines of a certificate about a Markov chain of records with several letters."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .arithmetic import arb
from .letter_bounds import Expansion
from .letter_chains import Box, LetterChain, Letters, Point
from .numbers import at_most, need
from .read import decimal, entries, integer
from .walks import Walks

_LEAVES = {"expansion": 3, "letters": 1}


class LetterChains(Walks[LetterChain]):
    """Chains with transitions in ranges, for each of which some records' information is bounded."""

    def _told(self, i: int, point: Point, turns: Any) -> arb:
        need(turns is None, "a path of a chain of letters has no t")
        return Letters(self.chain, i, point).information()

    def _section(self, i: int, upper: arb) -> None:
        box = list(self.chain.box)
        kinds = {"halve": 3, **_LEAVES}
        for item in self.lines.tree("a half or leaf", kinds, partial(self._halve, box)):
            bound = self._expansion(i, box, *item[1:]) if item[0] == "expansion" else arb(self._letters(i, box)).log()
            at_most(bound, upper, f"the {item[0]} leaf's bound <= upper")
            self.tally[item[0]] += 1

    def _letters(self, i: int, box: Box) -> int:
        """How many letters a record may have."""
        k = self.chain.letters
        return k if i or self.chain.stationary else sum(hi > 0 for _, hi in box[k * k :])

    def _halve(self, box: Box, item: list[Any]) -> Callable[[], None]:
        j = integer(item[1], "the parameter", 0, len(box) - 1)
        t = decimal(item[2], "the point")
        before = list(box)
        lo, hi = box[j]
        need(lo <= t <= hi, "the point is not in the parameter's range")

        def half(side: tuple[Any, Any]) -> None:
            box[:] = self.chain.tightened([*before[:j], side, *before[j + 1 :]], j // self.chain.letters)

        half((lo, t))
        return partial(half, (t, hi))

    def _expansion(self, i: int, box: Box, point: Any, bases: Any) -> arb:
        k = self.chain.letters
        listed = [integer(e, "a base", 0, k - 1) for e in entries(bases, "the bases", k)]
        return Expansion(self.chain, i, list(box), self.chain.point(point, box), listed).bound()
