"""Theorem J1: if a potential is at least f at every generator of private columns, what a mechanism reveals is at most its sum.

Hypotheses, each a line that refuses: the useful variable's joint law has the input's (`_joint`); every generator is looked at
(`_need_potential`); the mechanism is private exactly (`check`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from itertools import chain
from typing import Any

from ...core.allowance import NUMBER, PAIR, limit, rests_on
from ...core.arithmetic import arb, fmpq
from ...core.bounds import information
from ...core.certificate import Lines
from ...core.channel import Channel
from ...core.model import Model
from ...core.numbers import at_most, ends_words, exponential, height, need, need_certain, normalised, rounded, total
from ...core.proof import Words
from ...core.read import decimal, entries
from ..designs.ground import Inputs
from ..designs.privacy import sides
from .columns import measure_of

_MOST_INPUTS = {True: 16, False: 13}  # that a generator may have one value or another at, under local_dp and else
_MOST_TERMS = 1 << 22
Sums = list[fmpq]  # of a column v: lambda v, P v, and m_u(v) for each letter u


class Informative:
    """A model of the kind max_information: the useful variable's joint law with the input, and what a mechanism reveals."""

    keeps = "is private"

    def __init__(self, model: Model) -> None:
        self.model = model
        self.allowance = model.allowance
        self.ground = Inputs(model)
        self.inputs = self.ground.inputs
        self.told = self._joint(self.ground.law)
        chances = [total(row.values()) for row in self.told]
        self.measure = measure_of(model.design.get("measure", "mutual_information"))(chances)
        fits = all(self.ground.held[x] for row in self.told for x in row)
        need(fits, "useful.joint has mass on a value that no dataset has")

    def _joint(self, own: list[fmpq]) -> list[dict[int, fmpq]]:
        """For each letter u of positive probability P(u, x), where that is positive."""
        if "useful" not in self.model.design:
            return [{x: p} for x, p in enumerate(own) if p]
        rows = self.model.design["useful"]["joint"]
        need(len(rows[0]) == len(own), f"useful.joint must list {len(own)} numbers for each letter, one for each input")
        self.allowance.take(len(rows) * len(own) * 2 * PAIR)
        cells = iter(normalised([p for row in rows for p in row], "useful.joint", self.allowance))
        found = [{x: p for x, p in zip(range(len(own)), cells, strict=False) if p} for _ in rows]
        return [row for row in found if row]

    def _channel(self, rows: list[Any]) -> Channel:
        """The certificate's mechanism, of as many outputs as its first row has."""
        return self.ground.channel(rows, len(entries(rows[0], "a row of the mechanism")) if rows else 0)

    def _need_lower(self, channel: Channel, low: fmpq) -> None:
        """Refuse a mechanism that reveals less."""
        if low > 0:
            at_most(arb(low), self._told_by(channel), "lower <= what the mechanism reveals")

    def _told_by(self, channel: Channel) -> arb:
        """A ball around what a mechanism reveals: the sum of its columns' numbers."""
        if "measure" not in self.model.design:
            return information(channel, [row.items() for row in self.told])
        value = arb(0)
        for column in zip(*channel.rows, strict=True):
            self.allowance.look()
            masses = [total(p * column[x] for x, p in row.items()) for row in self.told]
            value += self.measure.of({u: m for u, m in enumerate(masses) if m})
        return value

    def _need_columns(self, columns: Iterable[tuple[fmpq, Mapping[int, fmpq]]]) -> None:
        """Refuse a potential that is less than what one of these columns reveals, each with its potential and its masses above 0."""
        for worth, masses in columns:
            self.allowance.look()
            at_most(self.measure.of(masses), arb(worth), "what an extreme column reveals <= its potential")

    def _words(self, claim: dict[str, Any], notion: str) -> list[str]:
        """The claim about mechanisms under a notion, or a constraint, in words."""
        about = "the useful variable" if "useful" in self.model.design else "the input"
        low, high = claim["lower"], claim["upper"]
        told, what = ends_words(low, high, "V", len(self.told)), "information about"
        if "measure" in self.model.design:
            told, what = f"{rounded(low, ROUND_FLOOR)} <= V <= {rounded(high, ROUND_CEILING)}", "usefulness for"
        return [
            f"proved: {told}",
            f"V: largest {what} {about} of mechanisms {notion}",
            f"mechanism: the one in the certificate {self.keeps} and reveals at least the lower bound",
        ]


class Most(Informative):
    """The same with what privacy says of columns."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        rests_on(self.allowance, "J1")
        self.used = [x for x, held in enumerate(self.ground.held) if held]
        budget, unit = model.design["privacy"]["epsilon"]
        need(budget >= (unit == "log"), "privacy.epsilon must not be negative")
        self.below, self.above = exponential(budget, unit)
        self.local = model.adversary == "local_dp"
        need(len(model.priors) <= 1, "privacy.priors must be one list")
        self.prior = [fmpq(0)] * len(self.inputs) if self.local else (model.priors or [self.ground.law])[0]
        self.ground.need_priors([self.prior], "privacy")

    def check(self, lines: Lines, claim: dict[str, Any]) -> Words:
        """Check the mechanism and the line after the header; the statement, and the numbers of lines by kind."""
        channel = self._channel(claim["mechanism"])
        low = claim["lower"]
        high = claim["upper"]
        pairs = sides(channel.rows, self.used if self.local else (), [] if self.local else [self.prior])
        need_certain(
            lambda c: all(x <= c * mean for x, mean in pairs), self.below, self.above, "the mechanism's privacy"
        )
        self._need_lower(channel, low)
        _, listed = lines.item("the potential", {"potential": 2})
        self._need_potential([decimal(x, "lambda") for x in entries(listed, "lambda", len(self.inputs))], high)
        notion = "local differential privacy" if self.local else "pointwise maximal leakage"
        notion += f" with epsilon = {self.model.normal['privacy']['epsilon']}"
        return self._words(claim, f"under {notion}"), Counter({"potential": 1})

    def _need_potential(self, potential: list[fmpq], upper: fmpq) -> None:
        """Refuse a potential that is more than `upper` altogether, or at some generator less than that one's information.

        Bound because f, what an output reveals as a function of its column, is convex and homogeneous, hence subadditive;
        columns of private mechanisms are sums of multiples of generators; and the columns of a mechanism have the sum 1.
        """
        need(total(potential) <= upper, "the potential's sum is more than upper")
        support = self.used if self.local else [x for x, p in enumerate(self.prior) if p]
        size = len(potential)
        most = _MOST_INPUTS[self.local]
        free = sorted(set(range(size)) - set(support))
        limit(len(support) <= most, f"more than {most} inputs that columns are extreme on")
        many = 2 ** len(support) if self.local else len(support) * 2 ** (len(support) - 1)
        limit((many + len(free)) * len(self.told) <= _MOST_TERMS, f"more than {_MOST_TERMS} terms of extreme columns")
        self.allowance.take(size * (len(self.told) + 2) * NUMBER + sum(3 * NUMBER + height(x) // 4 for x in potential))
        units = [[potential[x], self.prior[x], *(row.get(x, fmpq(0)) for row in self.told)] for x in range(size)]
        others = self._cube(units, support) if self.local else self._edges(units, support)
        sums = chain((units[x] for x in free), others)
        self._need_columns((worth, {u: m for u, m in enumerate(means) if m}) for worth, _, *means in sums)

    def _cube(self, units: list[Sums], support: Sequence[int]) -> Iterator[Sums]:
        """Columns that are 1 or e^epsilon at every input of the support."""
        ones = [total(column) for column in zip(*(units[x] for x in support), strict=True)]
        yield from _walk(ones, [[(self.above - 1) * p for p in units[x]] for x in support if self.above != 1])

    def _edges(self, units: list[Sums], support: Sequence[int]) -> Iterator[Sums]:
        """Columns of mean 1 that are 0 or e^epsilon at every input of the support but one."""
        zero = [fmpq(0)] * len(units[0])
        for x in support:
            steps = [[self.above * p for p in units[other]] for other in support if other != x]
            for sums in _walk(zero, steps):
                last = (1 - sums[1]) / self.prior[x]
                if 0 <= last <= self.above:
                    yield [old + last * p for old, p in zip(sums, units[x], strict=True)]


def _walk(start: Sums, steps: list[Sums]) -> Iterator[Sums]:
    """The start with every subset of the steps added, each from the one before it by one step more or less."""
    here = list(start)
    taken = [False] * len(steps)
    yield here
    for number in range(1, 1 << len(steps)):
        j = (number & -number).bit_length() - 1
        taken[j] = not taken[j]
        here = [old + step if taken[j] else old - step for old, step in zip(here, steps[j], strict=True)]
        yield here


def design(model: Model) -> Most:
    """Subject of a `max_information` model."""
    return Most(model)
