"""Theorem M5: on a box of transitions the leakage is at most what one chain of it makes of the outputs, and the largest mean over
the others' steps.

Hypotheses, each a line that refuses: records have one alphabet, and the query adds up (`LetterChain`); with a stationary start
every letter is reached (`_one_class`); the point is in the box, and has no 0 where others have none (`Expansion`); halves cover
their box (`_halve`); a mirrored chain is another one (`mirrored`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

from ...core.allowance import rests_on
from ...core.arithmetic import arb, fmpq
from ...core.certificate import Lines, Sizes
from ...core.model import Model
from ...core.numbers import at_most, need
from ...core.proof import Proof
from ...core.read import decimal, entries, integer
from ...core.verdict import Subject
from .bounds import Expansion
from .letters import AnyChain, Box, LetterChain, Letters, Point

SomeChain = TypeVar("SomeChain", bound=AnyChain)


class Walks(Proof, Generic[SomeChain]):
    """Chains with parameters in a box, for each of which some records' information is bounded."""

    first: ClassVar[Sizes] = {"path": 4}
    sizes: ClassVar[Sizes] = {"expansion": 3, "letters": 1}  # of leaves

    def __init__(self, lines: Lines, chain: SomeChain) -> None:
        super().__init__(lines, chain.allowance)
        self.chain: SomeChain = chain

    def told(self, item: list[Any]) -> tuple[str, arb]:
        i = self.chain.record(item[1])
        point = self.chain.point(item[2], self.chain.box)
        return f"a chain for record {i}", self._told(i, point, item[3])

    def place(self, item: list[Any]) -> int:
        return self.chain.record(item[1])

    def places(self, seen: Collection[int]) -> Iterable[int]:
        return self.chain.asked

    def key(self, i: int) -> int:
        """Its own number, or that of its mirror image."""
        return min(i, self.chain.size - 1 - i) if self.chain.mirrored else i

    def section(self, i: int, upper: arb) -> None:
        """A tree of halves of the box, over whose leaves the record's information is bounded."""
        box = list(self.chain.box)
        leaves = self._leaves(i)
        for item in self.lines.tree("a half or leaf", {"halve": 3, **self.sizes}, partial(self._halve, box)):
            at_most(leaves[item[0]](box, *item[1:]), upper, f"the {item[0]} leaf's bound <= upper")
            self.tally[item[0]] += 1

    def _halve(self, box: Box, item: list[Any]) -> Callable[[], None]:
        j = integer(item[1], "the parameter", 0, len(box) - 1)
        t = decimal(item[2], "the point")
        before = list(box)
        lo, hi = box[j]
        need(lo <= t <= hi, "the point is not in the parameter's range")

        def half(side: tuple[fmpq, fmpq]) -> None:
            box[:] = self.chain.tightened([*before[:j], side, *before[j + 1 :]], j)

        half((lo, t))
        return partial(half, (t, hi))

    def _leaves(self, i: int) -> Mapping[str, Callable[..., arb]]:
        """Leaves that bound the record's information over a box, by kind."""
        raise NotImplementedError

    def _told(self, i: int, point: Point, turns: Any) -> arb:
        """Information that a path proves."""
        raise NotImplementedError


class LetterChains(Walks[LetterChain]):
    """Chains with transitions in ranges, for each of which some records' information is bounded."""

    def __init__(self, lines: Lines, chain: LetterChain) -> None:
        super().__init__(lines, chain)
        rests_on(self.allowance, "M5")

    def _told(self, i: int, point: Point, turns: Any) -> arb:
        need(turns is None, "a path of a chain of letters has no t")
        return Letters(self.chain, i, point).information()

    def _leaves(self, i: int) -> Mapping[str, Callable[..., arb]]:
        return {"expansion": partial(self._expansion, i), "letters": lambda box: arb(self._letters(i, box)).log()}

    def _letters(self, i: int, box: Box) -> int:
        """Number of letters that a record may have."""
        k = self.chain.letters
        return k if i or self.chain.stationary else sum(hi > 0 for _, hi in box[k * k :])

    def _expansion(self, i: int, box: Box, point: Any, bases: Any) -> arb:
        k = self.chain.letters
        listed = [integer(e, "a base", 0, k - 1) for e in entries(bases, "the bases", k)]
        return Expansion(self.chain, i, list(box), self.chain.point(point, box), listed).bound()


def subject(model: Model) -> Subject:
    """That of a model about a chain of letters."""
    chain = LetterChain(model)
    source = "of every total"
    return Subject(lambda lines, _: LetterChains(lines, chain), model.most(), source)
