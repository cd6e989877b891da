"""What every leaf of a proof must stay below: a number at one entropy bound, or lines over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import read
from .arithmetic import arb, fmpq
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


class Lines(Ceiling):
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

    def ceiling(self, model: Model, upper: arb, lost: arb) -> Lines:
        """What leaves must be below by what they leave out, if that proves `upper` at the model's own bound."""
        entropy = model.entropy_ball()
        for c, m in self.above:
            at_most(c - m * entropy, upper, "a line of the curve <= upper")
        return Lines(self.above, model.log_states(), lost)

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
