"""One record's channel, and the bounds of docs/certificate-format.md as pure formulas, evaluated in balls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any

from .allowance import BALL
from .arithmetic import arb, arb_mat, fmpq
from .channel import Channel, log_weights
from .counts import Pairs
from .numbers import grouped, height, larger, largest, log_sum_exp, once, summed, total, xlogx


class Record:
    """One record's channel: for letter a the inputs k with N(a, k) > 0 and the logarithms of these counts."""

    def __init__(self, channel: Channel, pairs: list[Pairs]) -> None:
        self.channel = channel
        self.pairs = pairs
        self.inputs = [[k for k, _ in row] for row in pairs]
        logs = iter(once((n for row in pairs for _, n in row), lambda n: arb(n).log()))
        self.logs = [list(islice(logs, len(row))) for row in pairs]
        self.size = sum(map(len, pairs)) * BALL  # bytes of a ball for each pair
        self.everything = {k for inputs in self.inputs for k in inputs}
        self.exchanges = set[object]()  # of letters, which were found to leave the channel as it is

    def through(self, channel: Channel) -> Record:
        """The same record, released through another channel with the same inputs."""
        other = copy(self)
        other.channel = channel
        other.exchanges = set()
        return other


def point(v: fmpq | arb) -> tuple[arb, arb]:
    """A number, and v log v, as balls."""
    ball = arb(v)
    return ball, xlogx(ball)


class Ranges:
    """Ranges lo <= v <= hi of numbers whose sum is 1: phi(.|y), listed by letter, or K_a, listed by output."""

    def __init__(self, los: Iterable[fmpq], his: Iterable[fmpq], curve: Callable[[fmpq], Any] = point) -> None:
        self.los = tuple(los)
        self.his = tuple(his)
        self._point = curve

    @cached_property
    def _rest(self) -> tuple[fmpq, fmpq]:
        """Rest of 1 after the largest and the smallest numbers."""
        return 1 - total(self.his), 1 - total(self.los)

    @cached_property
    def size(self) -> int:
        """The bytes, at most, of the tightened ranges with all that is worked out from them."""
        return len(self.los) * (6 * BALL + sum(map(height, self._rest)) // 2)

    @cached_property
    def ends(self) -> list[tuple[Any, Any]]:
        """The tightened ranges; none at all where some range is empty.

        Bound because a number is 1 - sum of the others, in [1 - sum of the other hi, 1 - sum of the other lo].
        """
        low, high = self._rest
        pairs = list(zip(self.los, self.his, strict=True))
        most = min(-low, high)
        if all(0 <= hi - lo <= most for lo, hi in pairs):  # nothing to tighten
            return pairs
        ends = [(max(lo, low + hi), min(hi, high + lo)) for lo, hi in pairs]
        return ends if all(lo <= hi for lo, hi in ends) else []

    @cached_property
    def _curve(self) -> list[tuple[arb, arb, arb, arb]]:
        """Both tightened ends v, each followed by v log v."""
        return [(*self._point(lo), *self._point(hi)) for lo, hi in self.ends]

    @cached_property
    def sure(self) -> bool:
        """True if v log v is 0 at both ends of every number."""
        return all(v in (0, 1) for ends in self.ends for v in ends)

    def above(self, weight: fmpq, slopes: Sequence[arb]) -> arb:
        """The sum over the numbers of A with weight v log v <= A + slope v on the tightened range.

        Bound because a convex function minus a line is largest at an end, whatever the slope; weight >= 0.
        """
        if not weight:
            ends = (
                (arb(lo), arb(hi), slope)
                for (lo, hi), slope in zip(self.ends, slopes, strict=True)
                if not slope.is_zero()
            )
            return sum((larger(-slope * low, -slope * high) for low, high, slope in ends), arb(0))
        factor = arb(weight)
        curve = self._curve if weight == 1 else [(lo, factor * f, hi, factor * g) for lo, f, hi, g in self._curve]
        lines = zip(curve, slopes, strict=True)
        return sum((larger(f - slope * lo, g - slope * hi) for (lo, f, hi, g), slope in lines), arb(0))


Turns = tuple[Channel, Sequence[arb]]  # slopes of K as a channel tells it
Family = tuple[Ranges, Sequence[arb]]  # of K, and slopes


@dataclass(frozen=True)
class Joint:
    """A joint leaf's weights.

    Bound because I is sum u log(u/r) + H(pi), taken 1 - theta times, and also sum u log(u/pi) - sum r log r, taken
    theta times, and because mu (H(p) - b) >= 0 is added.
    """

    record: Record
    theta: fmpq
    mu: fmpq

    def scores(
        self, phi: Callable[[int], Ranges], slopes: Sequence[Sequence[arb]], law: list[fmpq] | None
    ) -> list[list[arb]]:
        """s(a, k), what p(a, k) is multiplied with; `phi` are the ranges of an output, `slopes` are by letter, then by output.

        Bound because the lines put (1 - theta) sum u log(u/r) below sum r A + sigma u, which is linear in p, and
        -sum r log r is at most -sum r log r^, linear too.
        """
        channel = self.record.channel
        costs = [self.theta * log for log in log_weights(law)] if law else [arb(0)] * channel.outputs
        # letters with one line have one column
        lines = {id(row): row for row in slopes}
        gains = list[arb]()
        weight = 1 - self.theta
        flat = all(slope.is_zero() for row in lines.values() for slope, _ in grouped(row))
        for y, (cost, column) in enumerate(zip(costs, zip(*lines.values(), strict=True), strict=True)):
            channel.allowance.look()
            idle = flat and (not weight or phi(y).sure)
            constant = (arb(0) if idle else phi(y).above(weight, [row[y] for row in slopes])) - cost
            gains += [constant + slope for slope in column]
        if all(gain.is_zero() for gain in gains):
            return [[arb(0)] * len(inputs) for inputs in self.record.inputs]
        sums = dict(zip(lines, channel.times(gains, len(lines)), strict=True))
        return [[sums[id(row)][k] for k in inputs] for row, inputs in zip(slopes, self.record.inputs, strict=True)]

    def free(self, scores: list[list[arb]]) -> list[list[arb]]:
        """For each letter numbers whose largest is psi over all its laws w, where theta or mu is zero.

        Bound because for theta = 0 the maximum of sum w s + mu H(w) has a closed form; for mu = 0
        sum w s + theta sum K log K is convex in w, hence largest where w is a single input.
        """
        if self.mu:
            return [[_soft(row, self.mu, self.record.logs[a])] for a, row in enumerate(scores)]
        if not self.theta:
            return scores
        own = [[self.record.channel.negentropies[k] for k in inputs] for inputs in self.record.inputs]
        return [[s + self.theta * x for s, x in zip(row, own[a], strict=True)] for a, row in enumerate(scores)]

    def exponents(self, a: int, scores: list[arb]) -> list[arb]:
        """log N + s / mu of letter a's inputs, for mu > 0."""
        return _exponents(scores, arb(self.mu), self.record.logs[a])

    def row(self, a: int, columns: list[arb_mat], turns: Iterable[Turns], families: Sequence[Family]) -> arb:
        """psi of one row leaf: over letter a's laws w with K = wR in the ranges.

        The columns have the exponents of its inputs, and the turns, all families together, are what the lines below add to them.

        Bound because the lines of the last family put theta sum K log K below sum B + kappa K, and those of the others 0 below
        sum C + kappa K, all of which is linear in w.
        """
        *others, (last, slopes) = families
        mu = arb(self.mu)
        share = 1 / mu
        for channel, hints in turns:
            columns = channel.turned(columns, [kappa * share for kappa in hints])
        values = list(chain(*(column.entries() for column in columns)))
        above = sum((ranges.above(fmpq(0), hints) for ranges, hints in others), last.above(self.theta, slopes))
        return above + mu * log_sum_exp([values[k] for k in self.record.inputs[a]])

    def coarser(self, a: int, exponents: list[arb], channel: Channel) -> list[arb]:
        """Exponents of letter a's inputs for which the row problem may be about groups of outputs, which `channel` tells.

        Bound because sum K log K is that of the groups and sum K log(K / K of its group), convex and homogeneous in K, hence
        at most its mean over the rows.
        """
        fine, coarse = self.record.channel.negentropies, channel.negentropies
        share = arb(self.theta / self.mu)
        return [x + share * (fine[k] - coarse[k]) for x, k in zip(exponents, self.record.inputs[a], strict=True)]

    def bound(self, psi: list[arb]) -> arb:
        """The leaf's bound at an entropy bound of 0, from one number for each letter; it falls by mu for each nat.

        Bound because H(p) = H(pi) + sum pi H(w), so that sum pi psi + tau H(pi) - mu b remains to be maximised.
        """
        tau = 1 - self.theta + self.mu
        return _soft(psi, tau, [arb(0)] * len(psi)) if tau else largest(psi)


def _soft(values: Sequence[arb], factor: fmpq, logs: Sequence[arb]) -> arb:
    """factor log sum N exp(value / factor): the maximum over laws w of sum w value + factor sum w log(N / w)."""
    ball = arb(factor)
    return ball * log_sum_exp(_exponents(values, ball, logs))


def _exponents(values: Sequence[arb], factor: arb, logs: Sequence[arb]) -> list[arb]:
    """log N + value / factor."""
    share = 1 / factor
    return [log + value * share for value, log in zip(values, logs, strict=True)]


def entropy_of(record: Record, masses: Sequence[Sequence[tuple[int, fmpq]]]) -> arb:
    """H(p) of masses on all pairs of the record, spread evenly over each pair's datasets."""
    pairs = zip(chain(*masses), chain(*record.logs), strict=True)
    return sum((arb(mass) * (log - arb(mass).log()) for (_, mass), log in pairs if mass), arb(0))


def information(channel: Channel, masses: Sequence[Iterable[tuple[int, Any]]]) -> arb:
    """I(X_i; Y) = sum u log u - sum pi log pi - sum r log r, from each letter's inputs and their masses.

    A letter with one input k has u = pi R(k, .), so that its share of the first two sums is pi sum R log R.
    """
    rows = [{k: arb(mass) for k, mass in row} for row in masses]
    mixing = [row for row in rows if len(row) > 1]
    prior = dict[int, arb]()
    channel.allowance.room((len(rows) + len(mixing) * channel.outputs) * BALL)
    for k, mass in chain(*(row.items() for row in rows)):
        prior[k] = prior[k] + mass if k in prior else mass
    *joint, outputs = channel.mixed([*mixing, prior])
    letters = [sum(row.values(), arb(0)) for row in mixing]
    alone = sum((mass * channel.negentropies[k] for row in rows if len(row) == 1 for k, mass in row.items()), arb(0))
    return alone + sum(map(xlogx, chain(*joint)), arb(0)) - sum(map(xlogx, letters + outputs), arb(0))


def uniform_information(record: Record) -> arb:
    """I of the uniform prior; exactly zero where every letter has the same completions."""
    if all(row == record.pairs[0] for row in record.pairs):
        return arb(0)
    space = arb(sum(n for row in record.pairs for _, n in row))
    return information(record.channel, [[(k, arb(n) / space) for k, n in row] for row in record.pairs])


def cells(law: Iterable[fmpq], names: Iterable[Any], inputs: Iterable[int]) -> defaultdict[Any, dict[int, fmpq]]:
    """For each name of datasets the inputs of those that have it, and the positive masses that a law of the datasets gives them."""
    found = defaultdict[Any, dict[int, fmpq]](lambda: defaultdict(fmpq))
    for p, name, k in zip(law, names, inputs, strict=True):
        if p:
            found[name][k] += p
    return found


def _of_mixtures(channel: Channel, masses: Sequence[dict[int, fmpq]]) -> arb:
    """I of masses whose sum is 1, by how far the inputs' outputs are from all that are mixed, less how far from their letter's own.

    Both are sum p(a, k) log R/r for densities R; what the first has more is sum p(a, k) log r_a/r, r_a the letter's own mixture.
    """
    protocol = channel.protocol
    assert protocol is not None

    def far(row: dict[int, fmpq]) -> arb:
        law = [row.get(k, fmpq(0)) for k in range(protocol.inputs)]
        return summed(arb(p) * d for p, d in zip(law, protocol.divergences(law, None, True), strict=True) if p)

    together = defaultdict[int, fmpq](fmpq)
    for k, p in chain(*(row.items() for row in masses)):
        together[k] += p
    own = [(total(row.values()), row) for row in masses if row]
    return far(together) - summed(arb(weight) * far({k: p / weight for k, p in row.items()}) for weight, row in own)


def exact_information(channel: Channel, masses: Sequence[dict[int, fmpq]]) -> arb:
    """I of positive masses; exactly zero where the letters have exactly one law of the output.

    Compared are the laws of the input where the channel is enclosed by balls.
    """
    value = information(channel, [row.items() for row in masses]) if channel.rows else _of_mixtures(channel, masses)
    laws = list[Any]()
    for row in masses if not value > 0 else ():
        weight = total(row.values())
        law = {k: mass / weight for k, mass in row.items()}
        sums = (total(x * channel.rows[k][y] for k, x in law.items()) for y in range(channel.outputs))
        laws += [list(sums) if channel.exact else law] if row else []
    return arb(0) if laws and all(law == laws[0] for law in laws) else value
