"""The lines after the header: a witness, sections that cover all there is, and what every leaf must stay below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from . import read
from .allowance import Allowance
from .arithmetic import arb, fmpq
from .certificate import Lines, Sizes
from .model import Model
from .numbers import OpenError, RefusedError, at_most, need
from .read import REQUIRED, decimal, entries, nonnegative

_MOST = 1000
Line = tuple[fmpq, fmpq]  # (c, m), of c - m b


class Ceiling:
    """A number that no leaf may exceed at the model's entropy bound."""

    one = True

    def __init__(self, upper: arb, entropy: arb) -> None:
        self.upper = upper
        self.entropy = entropy

    def need_above(self, start: arb, slope: fmpq, what: str) -> None:
        """Refuse a leaf whose bound, `start` at 0 and less by `slope` for each nat, is not below."""
        at_most(start - slope * self.entropy, self.upper, f"{what} <= upper")

    def need_all_above(self, starts: Sequence[arb], slope: fmpq, what: str) -> None:
        """The same of several bounds of a leaf."""
        for start in starts:
            self.need_above(start, slope, what)


class Slanted(Ceiling):
    """Lines c - m b, one of which each leaf's line must be below, for all b from 0 to log |X|.

    Bound because a line that is no larger at both ends of an interval is no larger within.
    """

    one = False

    def __init__(self, lines: Sequence[Line], longest: arb, lost: arb) -> None:
        self.ends = [(arb(c) - lost, c - lost - m * longest) for c, m in lines]
        self.longest = longest

    def need_above(self, start: arb, slope: fmpq, what: str) -> None:
        end = start - slope * self.longest
        sure = True
        for first, last in self.ends:
            if (start <= first) is True and (end <= last) is True:
                return
            sure = sure and ((start > first) is True or (end > last) is True)
        shown = f"{start.str(25, radius=False)} - {slope} b"
        if sure:
            raise RefusedError(f"{what} <= a line of the curve fails: it is {shown}")
        raise OpenError(f"{what} <= a line of the curve is open: it is {shown}")


@dataclass(frozen=True)
class Curve:
    """The claim about all entropy bounds: lines above, and numbers below up to some bounds, which are those of `models`."""

    above: list[Line]
    below: list[tuple[Model, fmpq]]

    def ceiling(self, model: Model, upper: arb, lost: arb) -> Slanted:
        """Ceiling of the leaves after the loss they leave out, if that proves `upper` at the model's own bound."""
        entropy = model.entropy_ball()
        for c, m in self.above:
            at_most(c - m * entropy, upper, "a line of the curve <= upper")
        return Slanted(self.above, model.log_states(), lost)

    def words(self) -> list[str]:
        """The claim in words."""
        lines = ", ".join(f"{c} - {m} b" for c, m in self.above[:4]) + (", ..." if len(self.above) > 4 else "")
        return [
            f"curve: at every entropy bound b from 0 to log |X| nats L is at most the largest of {len(self.above)}: {lines}",
            f"curve: at {len(self.below)} entropy bounds L is at least a number of the certificate",
        ]


def curve(value: Any, model: Model) -> Curve:
    """Of the header."""
    table = read.table(
        value, "the header's curve", {"above": (read.entries, REQUIRED), "below": (read.entries, REQUIRED)}
    )
    above, below = ([entries(pair, "a pair of the curve", 2) for pair in table[name]] for name in ("above", "below"))
    need(
        1 <= len(above) <= _MOST and len(below) <= _MOST,
        f"a curve takes from 1 to {_MOST} lines, and at most {_MOST} numbers",
    )
    what = "a number of the curve"
    return Curve(
        [(nonnegative(c, what), nonnegative(m, what)) for c, m in above],
        [(_held(entropy, model), decimal(low, what)) for entropy, low in below],
    )


def _held(value: Any, model: Model) -> Model:
    """The model with another entropy bound."""
    need(isinstance(value, str) and " " in value, "an entropy bound of the curve is a number, one blank and a unit")
    amount = read.amount(value, "an entropy bound of the curve", "nats|bits|max", number=nonnegative)
    held = model.against({"entropy_at_least": amount})
    held.need_feasible()
    return held


Words = tuple[list[str], Counter[str]]  # what is proved, and the numbers of leaves by kind


class Proof:
    """A witness, and sections, which must cover every place that there is: a record, a secret where something is given, a block.

    A record i is the secret X_i where nothing is given.
    """

    expected = "a record"
    names: ClassVar[Sizes] = {"record": 2}  # of the lines that sections begin with
    after: ClassVar[Sizes] = {}  # of those that may come after the last section
    first: ClassVar[Sizes] = {}  # of a line before a witness, or in its place

    def __init__(self, lines: Lines, allowance: Allowance) -> None:
        self.lines = lines
        self.allowance = allowance
        self.tally = Counter[str]()

    def check(self, claim: dict[str, Any]) -> Words:
        """Check all lines; the witness and what else is proved in words, and the numbers of leaves by kind."""
        witness = self.witness(claim["lower"])
        sections = self.bound(arb(claim["upper"]))
        return [f"witness: {witness}", *self.words(sections)], self.tally

    def witness(self, lower: fmpq) -> str:
        """The line that proves `lower`, or says that nothing needs to; in words."""
        item = self.lines.item(" or ".join(["the witness", *self.first]), {"witness": 3, **self.first})
        if item == ["witness", None, None]:
            need(lower <= 0, "no witness, but lower is positive")
            return "none, the leakage is never negative"
        named = item[0] != "witness" or not self.first
        need(named, f"a line {' '.join(self.first)!r} is expected before a witness, or as one")
        return self.shown(item, lower)

    def shown(self, item: list[Any], lower: fmpq) -> str:
        """The same of a witness that there is."""
        words, value = self.told(item)
        if lower > 0:  # an information is never negative
            at_most(arb(lower), value, "lower <= witness's information")
        return words

    def told(self, item: list[Any]) -> tuple[str, arb]:
        """A witness in words, and what it teaches."""
        raise NotImplementedError

    def bound(self, upper: arb) -> int:
        """The sections, which must cover every place; how many there are."""
        seen = dict[Any, Any]()
        for item in self.lines.run(self.expected, self.names, self.after):
            place = self.place(item)
            name = self.name(place)
            need(name not in seen, f"{self.called(place)} comes twice")
            seen[name] = place
            self.section(place, upper)
        self.need_covered(list(seen.values()))
        return len(seen)

    def need_covered(self, seen: list[Any]) -> None:
        """Refuse where a place is left out of which these sections say nothing."""
        covered = set(map(self.key, seen))
        known = set[Any]()
        for place in self.places(seen):
            self.allowance.look()
            key = self.key(place)
            if key not in covered:
                known = known or set(map(self.signature, seen))
                need(self.signature(place) in known, f"the file ends, but {self.uncovered(place)}")
                covered.add(key)

    def place(self, item: list[Any]) -> Any:
        """Subject of a section."""
        raise NotImplementedError

    def name(self, place: Any) -> Any:
        """Name that may not come twice."""
        return place

    def section(self, place: Any, upper: arb) -> None:
        """The proof that no more than `upper` is told there."""
        raise NotImplementedError

    def places(self, seen: Collection[Any]) -> Iterable[Any]:
        """Those where anything may be revealed, but for what some of these sections prove all at once."""
        raise NotImplementedError

    def key(self, place: Any) -> Any:
        """The same for places of which one section is enough."""
        return place

    def signature(self, place: Any) -> Any:
        """The same for more of them, worked out where it is needed."""
        return self.key(place)

    def words(self, sections: int) -> Sequence[str]:
        """Further claims of so many sections, in words."""
        return ()

    def called(self, place: Any) -> str:
        """The place in words."""
        return f"record {place}"

    def uncovered(self, place: Any) -> str:
        """That it is not covered, in words."""
        return f"{self.called(place)} is not covered"

    def need_priors(self, about: str, taught: Iterable[arb], upper: arb) -> None:
        """Refuse listed priors if one of them teaches more."""
        for j, value in enumerate(taught):
            self.allowance.look()
            at_most(value, upper, f"what prior {j} teaches about {about} <= upper")
            self.tally["prior"] += 1
