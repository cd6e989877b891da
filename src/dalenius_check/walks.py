"""The lines of a certificate about Markov chains of any kind: one for `lower`, and sections for records."""

from __future__ import annotations

from collections import Counter
from typing import Any, Generic, TypeVar

from .arithmetic import arb, fmpq
from .certificate import Lines
from .chains import Chain
from .letter_chains import LetterChain
from .numbers import at_most, need

Point = tuple[fmpq, ...]
SomeChain = TypeVar("SomeChain", Chain, LetterChain)


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
