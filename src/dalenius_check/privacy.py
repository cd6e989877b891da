"""Designs without an adversary: the least distortion of private mechanisms, linear programs proved in rationals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from .allowance import NUMBER, limit
from .arithmetic import arb, fmpq
from .certificate import Lines
from .channel import Channel
from .counts import law
from .design import Design, Words
from .model import Model
from .numbers import OpenError, height, need, total
from .read import entries, integer, law_of, nonnegative

_MAX_NUMBERS = 1 << 24
Sums = dict[int, tuple[list[fmpq], list[fmpq]]]


class Private(Design):
    """A design model with [privacy]: which inputs some dataset has, and the priors, none for `local_dp`."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.negative, self.local = self.budget < (self.unit == "log"), model.adversary == "local_dp"
        notion = "local differential privacy" if self.local else "pointwise maximal leakage"
        self.limits = f"under {notion} with epsilon = {model.normal['privacy']['epsilon']}"
        size, even = len(self.inputs), replace(self.data, design={"law": {}})
        self.held = [p != 0 for p in law(even, self.inputs)]
        self.priors = [] if self.local else model.priors or [self.law]
        for prior in self.priors:
            need(len(prior) == size, f"each of privacy.priors must list {size} numbers, one for each input")
            fits = all(held or not p for p, held in zip(prior, self.held, strict=True))
            need(fits, "privacy.priors has mass on a value that no dataset has")

    def _need_infeasible(self) -> None:
        """Bound because for epsilon < 0 the largest entry of a column is less than itself, or all of them are zero."""
        need(self.negative, "a mechanism that ignores its input is private")

    def _prove(self, lines: Lines, channel: Channel, low: fmpq, high: fmpq) -> Words:
        """The mechanism is private; `lower` is at most the bound of the lines `ratio`."""
        need(not self.negative, "epsilon is negative: no mechanism is private")
        (below, above), pairs, tally = self._ends(), self._pairs(channel), Counter[str]()
        _need_certain(lambda c: all(x <= c * mean for x, mean in pairs), below, above, "the mechanism's privacy")
        sums = {} if self._dual(lines, low) is None else self._sums(lines, tally)
        need(not lines.more(), "there is a line after an empty dual")
        if low > 0:  # a distortion is never negative
            _need_certain(lambda c: low <= self._bound(sums, c), above, below, "lower <= the ratios' bound")
        words = f"sum_x' P(x') Q(x',y) for all y, each P of {len(self.priors)} and all x with P(x) > 0"
        words = "Q(x',y) for all y and all inputs x, x' that some dataset has" if self.local else words
        return [
            f"private: Q(x,y) <= e^epsilon {words}",
            "mechanism: the one in the certificate is private and attains the upper bound",
        ], tally

    def _ends(self) -> tuple[fmpq, fmpq]:
        """Rationals c- <= e^epsilon <= c+, both exact where e^epsilon is rational.

        Bound because e^epsilon >= 1 for epsilon >= 0, and the ends of a ball are rounded outward; that of e^0 is exact.
        """
        if self.unit == "log":
            return self.budget, self.budget
        nats = arb(self.budget)
        if self.unit == "bits":
            if self.budget.denominator == 1:
                return (fmpq(2) ** int(self.budget.numerator),) * 2
            nats = nats * arb(2).log()
        ball = nats.exp()
        return max(fmpq(1), ball.lower().fmpq()), ball.upper().fmpq()

    def _pairs(self, channel: Channel) -> list[tuple[fmpq, fmpq]]:
        """For each column, and each prior, the largest entry and what e^epsilon times which it may be at most."""
        rows = [row for row, held in zip(channel.rows, self.held, strict=True) if held]
        pairs = [(max(column), min(column)) for column in zip(*rows, strict=True) if self.local]
        for prior in self.priors:
            support = [(p, row) for p, row in zip(prior, channel.rows, strict=True) if p]
            for y in range(self.outputs):
                pairs.append((max(row[y] for _, row in support), total(p * row[y] for p, row in support)))
        return pairs

    def _sums(self, lines: Lines, tally: Counter[str]) -> Sums:
        """The lines `ratio`: by output the sums over its lines of a(x) and of A beta(x), for each input."""
        size, sums = len(self.inputs), Sums()
        while lines.more():
            _, place, hint, listed = lines.item("a ratio", {"ratio": 4})
            y = integer(place, "the output", 0, self.outputs - 1)
            factors = [nonnegative(a, "a multiplier") for a in entries(listed, "the multipliers", size)]
            if self.local:
                beta = law_of(hint, size, "the reference", self.allowance)
            else:
                beta = self.priors[integer(hint, "the prior", 0, len(self.priors) - 1)]
            triples = zip(self.held if self.local else beta, factors, beta, strict=True)
            fits = all(used or not (a or b) for used, a, b in triples)
            need(fits, "weight on an input that no dataset has, or where the prior is zero")
            tally["ratio line"] += 1
            limit(tally["ratio line"] * size <= _MAX_NUMBERS, f"more than {_MAX_NUMBERS} multipliers")
            weight, (ups, downs) = total(factors), sums.setdefault(y, ([fmpq(0)] * size, [fmpq(0)] * size))
            ups[:] = [total(pair) for pair in zip(ups, factors, strict=True)]
            downs[:] = [total([old, weight * b]) for old, b in zip(downs, beta, strict=True)]
            self.allowance.take(
                sum(NUMBER + (height(up) + height(down)) // 4 for up, down in zip(ups, downs, strict=True))
            )
        return sums

    def _bound(self, sums: Sums, c: fmpq) -> fmpq:
        """What the sums prove of V where e^epsilon is at most c.

        Bound because privacy makes sum_x a(x) Q(x,y) - e^epsilon A sum_x beta(x) Q(x,y) at most 0, which is added to
        the expected distortion, and the sum of a row of Q times anything is at least that thing's minimum.
        """
        rows = self._weighted()
        for y, (ups, downs) in sums.items():
            for row, up, down in zip(rows, ups, downs, strict=True):
                row[y] = total([row[y], up, -c * down])
        return total(min(row) for row in self._choices(rows, total))


def _need_certain(holds: Callable[[fmpq], bool], hard: fmpq, easy: fmpq, what: str) -> None:
    """Return only if a condition on e^epsilon holds at the end of its range where that is hardest."""
    if not holds(hard):
        need(holds(easy), f"{what} fails")
        raise OpenError(f"{what} is open")
