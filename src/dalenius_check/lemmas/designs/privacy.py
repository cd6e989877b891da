"""Designs without an adversary: the least distortion of private mechanisms, linear programs proved in rationals."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.allowance import NUMBER, PAIR, limit
from ...core.arithmetic import fmpq
from ...core.certificate import Lines
from ...core.channel import Channel
from ...core.model import Model
from ...core.numbers import exponential, height, need, need_certain, total
from ...core.proof import Words
from ...core.read import entries, integer, law_of, nonnegative
from .design import Design, Own
from .given import Given
from .ground import Costs, Part

_MAX_NUMBERS = 1 << 24


def sides(rows: Sequence[Sequence[fmpq]], used: Sequence[int], priors: Costs) -> list[tuple[fmpq, fmpq]]:
    """For each column the largest entry and what e^epsilon times which it may be at most: of the inputs `used` the least entry,

    and for each prior the mean.
    """
    pairs = [(max(column), min(column)) for column in zip(*(rows[x] for x in used), strict=True)]
    for prior in priors:
        support = [(p, row) for p, row in zip(prior, rows, strict=True) if p]
        for y in range(len(rows[0])):
            pairs.append((max(row[y] for _, row in support), total(p * row[y] for p, row in support)))
    return pairs


class Private(Design):
    """A design model with [privacy], and the priors, none for `local_dp`."""

    hints = "ratios"
    theorem = "G2"

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self.negative = self.budget < (self.unit == "log")
        self.local = model.adversary == "local_dp"
        notion = "local differential privacy" if self.local else "pointwise maximal leakage"
        self.limits = f" under {notion} with epsilon = {model.normal['privacy']['epsilon']}"
        self.priors = [] if self.local else model.priors or [self.ground.law]
        self.ground.need_priors(self.priors, "privacy")

    def _need_infeasible(self) -> None:
        """Bound because for epsilon < 0 the largest entry of a column is less than itself, or all of them are zero."""
        need(self.negative, "a mechanism that ignores its input is private")

    def _prove(self, lines: Lines, channel: Channel, low: fmpq, high: fmpq) -> Words:
        """The mechanism is private; `lower` is at most the bound of the lines `ratio`."""
        need(not self.negative, "epsilon is negative: no mechanism is private")
        (below, above), used = exponential(self.budget, self.unit), self.ground.used if self.local else ()
        pairs = sides(channel.rows, used, self.priors)
        need_certain(lambda c: all(x <= c * mean for x, mean in pairs), below, above, "the mechanism's privacy")
        given = Given(lines, channel, self.constraints, self.objective, self.model)
        self._lower(given, low)
        words = f"sum_x' P(x') Q(x',y) for all y, each P of {len(self.priors)} and all x with P(x) > 0"
        words = "Q(x',y) for all y and all inputs x, x' that some dataset has" if self.local else words
        return [
            f"private: Q(x,y) <= e^epsilon {words}",
            "mechanism: the one in the certificate is private and attains the upper bound",
        ], given.tally

    def _own(self, given: Given, nu: fmpq, nothing: bool) -> Own:
        """The lines `ratio`.

        Bound because privacy makes sum_x a(x) Q(x,y) - e^epsilon A sum_x beta(x) Q(x,y) at most 0, which is added to
        the expected distortion.
        """
        size, ends = len(self.ground.inputs), exponential(self.budget, self.unit)
        for _, place, hint, listed in given.lines.run("a ratio", {"ratio": 4}, given.after if given.others else {}):
            y = integer(place, "the output", 0, self.ground.outputs - 1)
            factors = [nonnegative(a, "a multiplier") for a in entries(listed, "the multipliers", size)]
            if self.local:
                beta = law_of(hint, size, "the reference", self.allowance)
            else:
                beta = self.priors[integer(hint, "the prior", 0, len(self.priors) - 1)]
            triples = zip(self.ground.held if self.local else beta, factors, beta, strict=True)
            fits = all(used or not (a or b) for used, a, b in triples)
            need(fits, "weight on an input that no dataset has, or where the prior is zero")
            given.tally["ratio line"] += 1
            given.priced = True
            limit(given.tally["ratio line"] * size <= _MAX_NUMBERS, f"more than {_MAX_NUMBERS} multipliers")
            given.add(self._ratio(y, factors, beta, ends))
        return fmpq(0 if nothing or given.objective.given else 1), fmpq(0)

    def _ratio(self, y: int, factors: list[fmpq], beta: list[fmpq], ends: tuple[fmpq, fmpq]) -> Part:
        """Part that a line adds."""
        weight = total(factors)
        pairs = enumerate(zip(factors, beta, strict=True))
        held = [(x, a, weight * b) for x, (a, b) in pairs if a or (b and weight)]
        self.allowance.take(sum(PAIR + NUMBER + (height(up) + height(down)) // 4 for _, up, down in held))
        return lambda hard: ((x, y, up - ends[hard] * down) for x, up, down in held)
