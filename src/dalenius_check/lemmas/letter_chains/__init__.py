"""Theorem M5: on a box of transitions the leakage is at most what one chain of it makes of the outputs, and the largest mean over
the others' steps.

Hypotheses, each a line that refuses: records have one alphabet, and the query adds up (`LetterChain`); with a stationary start
every letter is reached (`_one_class`); the point is in the box, and has no 0 where others have none (`Expansion`); halves cover
their box (`_halve`); a mirrored chain is another one (`mirrored`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from ...core.allowance import Allowance
from ...core.arithmetic import arb, fmpq
from ...core.certificate import Lines
from ...core.model import Model
from ...core.numbers import at_most, need
from ...core.read import decimal, entries, integer
from ...core.subjects import Subject
from .bounds import Expansion
from .letters import Box, LetterChain, Letters, Point


class AnyChain(Protocol):
    """What a certificate's lines ask of a chain, whatever its letters."""

    allowance: Allowance
    size: int
    asked: Sequence[int]
    box: Box

    @property
    def mirrored(self) -> bool:
        """Whether a record from the one end leaks what the one from the other end does."""

    def record(self, value: Any) -> int:
        """A record's number, of those that are asked about."""

    def point(self, value: Any, box: Box) -> Point:
        """Parameters in a box."""


SomeChain = TypeVar("SomeChain", bound=AnyChain)


class Walks(Generic[SomeChain]):
    """Chains with parameters in a box, for each of which some records' information is bounded."""

    def __init__(self, lines: Lines, chain: SomeChain) -> None:
        self.lines = lines
        self.allowance = chain.allowance
        self.tally = Counter[str]()
        self.chain: SomeChain = chain

    def check(self, claim: dict[str, Any]) -> tuple[list[str], Counter[str]]:
        """Check all lines; the witness in words, and the numbers of leaves by kind."""
        words = f"witness: {self._witness(claim['lower'])}"
        upper = arb(claim["upper"])
        seen = set[int]()
        for item in self.lines.run("a record", {"record": 2}, {}):
            i = self.chain.record(item[1])
            need(i not in seen, f"record {i} comes twice")
            seen.add(i)
            self._section(i, upper)
        mirrored = {self.chain.size - 1 - i for i in seen} if self.chain.mirrored else set()
        for i in self.chain.asked:
            need(i in seen or i in mirrored, f"the file ends, but record {i} is not covered")
        return [words], self.tally

    def _witness(self, lower: fmpq) -> str:
        item = self.lines.item("the witness or a path", {"witness": 3, "path": 4})
        if item[0] == "witness":
            need(item[1] is None and item[2] is None, "a line 'path' is the witness of a chain")
            need(lower <= 0, "no witness, but lower is positive")
            return "none, the leakage is never negative"
        i = self.chain.record(item[1])
        point = self.chain.point(item[2], self.chain.box)
        value = self._told(i, point, item[3])
        if lower > 0:
            at_most(arb(lower), value, "lower <= the path's information")
        return f"a chain for record {i}"

    def _told(self, i: int, point: Point, turns: Any) -> arb:
        """What a path proves."""
        raise NotImplementedError

    def _section(self, i: int, upper: arb) -> None:
        """The tree of boxes for one record."""
        raise NotImplementedError


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


def subject(model: Model) -> Subject:
    """That of a model about a chain of letters."""
    chain = LetterChain(model)
    source = "of every total"
    return Subject(lambda lines, _, claim: LetterChains(lines, chain).check(claim), model.most(), source)
