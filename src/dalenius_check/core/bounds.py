"""One record's channel, and the bounds of docs/certificate-format.md as pure formulas, evaluated in balls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain, islice
from operator import add
from typing import Any

from .allowance import BALL
from .arithmetic import arb, arb_vec, fmpq
from .channel import Channel, log_weights
from .counts import Pairs
from .numbers import grouped, largest, once, over_one, summed, total, xlogx

_TOGETHER = 256  # numbers whose lines are worked out between two looks at the clock


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

    @cached_property
    def log_counts(self) -> list[arb_vec]:
        """The logarithms of each letter's counts."""
        return list(map(arb_vec, self.logs))

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
    def _whole(self) -> tuple[list[int], list[int], int]:
        """The ends as numerators over one denominator, and this."""
        numerators, one = over_one([*self.los, *self.his])
        size = len(self.los)
        return numerators[:size], numerators[size:], one

    @cached_property
    def size(self) -> int:
        """The bytes, at most, of the tightened ranges with all that is worked out from them."""
        return len(self.los) * (6 * BALL + self._whole[-1].bit_length())

    @cached_property
    def ends(self) -> list[tuple[Any, Any]]:
        """The tightened ranges; none at all where some range is empty.

        Bound because a number is 1 - sum of the others, in [1 - sum of the other hi, 1 - sum of the other lo].
        """
        lows, highs, one = self._whole
        low, high = one - sum(highs), one - sum(lows)
        most = min(-low, high)
        pairs = list(zip(self.los, self.his, strict=True))
        whole = list(zip(lows, highs, strict=True))
        if all(0 <= hi - lo <= most for lo, hi in whole):  # nothing to tighten
            return pairs
        if not all(max(lo, low + hi) <= min(hi, high + lo) for lo, hi in whole):
            return []
        both = zip(pairs, whole, strict=True)
        return [
            (v if low + hi <= lo else fmpq(low + hi, one), w if hi <= high + lo else fmpq(high + lo, one))
            for (v, w), (lo, hi) in both
        ]

    @cached_property
    def curve(self) -> list[tuple[tuple[arb, arb], tuple[arb, arb]]]:
        """Both tightened ends v, each with v log v."""
        return [(self._point(lo), self._point(hi)) for lo, hi in self.ends]

    @cached_property
    def sure(self) -> bool:
        """True if v log v is 0 at both ends of every number."""
        return all(v in (0, 1) for ends in self.ends for v in ends)


def above(weight: fmpq, families: Iterable[Ranges], slopes: Iterable[arb]) -> arb_vec:
    """For all numbers of these families A with weight v log v <= A + slope v on the tightened range.

    Bound because a convex function minus a line is largest at an end, whatever the slope; weight >= 0.
    """
    turns = arb_vec([-slope for slope in slopes])
    if not weight:
        lows, highs = zip(*((arb(lo), arb(hi)) for ranges in families for lo, hi in ranges.ends), strict=True)
        return (turns * arb_vec(lows)).max(turns * arb_vec(highs))
    curve = [points for ranges in families for points in ranges.curve]
    one, other = (tuple(map(arb_vec, zip(*side, strict=True))) for side in zip(*curve, strict=True))
    (lo, f), (hi, g) = one, other
    if weight != 1:
        f, g = f.scaled(arb(weight)), g.scaled(arb(weight))
    return (f + turns * lo).max(g + turns * hi)


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
    ) -> list[arb_vec]:
        """s(a, k), what p(a, k) is multiplied with; `phi` are the ranges of an output, `slopes` are by letter, then by output.

        Bound because the lines put (1 - theta) sum u log(u/r) below sum r A + sigma u, which is linear in p, and
        -sum r log r is at most -sum r log r^, linear too.
        """
        channel = self.record.channel
        offsets = [-self.theta * log for log in log_weights(law)] if law else [arb(0)] * channel.outputs
        # letters with one line have one column
        lines = {id(row): row for row in slopes}
        weight = 1 - self.theta
        flat = all(slope.is_zero() for row in lines.values() for slope, _ in grouped(row))
        gains = list[arb]()
        width = max(1, _TOGETHER // len(slopes))
        for some in (range(y, min(y + width, channel.outputs)) for y in range(0, channel.outputs, width)):
            channel.allowance.look()
            families = list(map(phi, some))
            if flat and (not weight or all(ranges.sure for ranges in families)):
                gains += offsets[some.start : some.stop]
                continue
            tops = above(weight, families, [row[y] for y in some for row in slopes])
            letters = (tops.at(range(a, len(some) * len(slopes), len(slopes))) for a in range(len(slopes)))
            gains += reduce(add, letters, arb_vec(offsets[some.start : some.stop])).entries()
        if flat and all(gain.is_zero() for gain in gains):
            return [arb_vec([arb(0)] * len(inputs)) for inputs in self.record.inputs]
        base = arb_vec(gains)
        sums = {place: channel.turned(base + arb_vec(row)) for place, row in lines.items()}
        return [sums[id(row)].at(inputs) for row, inputs in zip(slopes, self.record.inputs, strict=True)]

    def free(self, scores: list[arb_vec]) -> list[list[arb]]:
        """For each letter numbers whose largest is psi over all its laws w, where theta or mu is zero.

        Bound because for theta = 0 the maximum of sum w s + mu H(w) has a closed form; for mu = 0
        sum w s + theta sum K log K is convex in w, hence largest where w is a single input.
        """
        if self.mu:
            mu = arb(self.mu)
            return [[mu * self.exponents(a, row).log_sum_exp()] for a, row in enumerate(scores)]
        if not self.theta:
            return [row.entries() for row in scores]
        own = [[self.theta * self.record.channel.negentropies[k] for k in inputs] for inputs in self.record.inputs]
        return [(row + arb_vec(own[a])).entries() for a, row in enumerate(scores)]

    def exponents(self, a: int, scores: arb_vec) -> arb_vec:
        """log N + s / mu of letter a's inputs, for mu > 0."""
        return self.record.log_counts[a] + scores.scaled(1 / arb(self.mu))

    def row(self, a: int, exponents: arb_vec, turns: Iterable[Turns], families: Sequence[Family]) -> arb:
        """psi of one row leaf: over letter a's laws w with K = wR in the ranges.

        Given are the exponents of its inputs; the turns, all families together, are what the lines below add to them.

        Bound because the lines of the last family put theta sum K log K below sum B + kappa K, and those of the others 0 below
        sum C + kappa K, all of which is linear in w.
        """
        mu = arb(self.mu)
        share = 1 / mu
        for channel, hints in turns:
            exponents += channel.turned(arb_vec(hints).scaled(share)).at(self.record.inputs[a])
        *others, (last, slopes) = families
        tops = above(self.theta, [last], slopes).sum()
        return (
            summed(above(fmpq(0), [ranges], hints).sum() for ranges, hints in others)
            + tops
            + mu * exponents.log_sum_exp()
        )

    def coarser(self, a: int, exponents: arb_vec, channel: Channel) -> arb_vec:
        """Exponents of letter a's inputs for which the row problem may be about groups of outputs, which `channel` tells.

        Bound because sum K log K is that of the groups and sum K log(K / K of its group), convex and homogeneous in K, hence
        at most its mean over the rows.
        """
        fine, coarse = self.record.channel.negentropies, channel.negentropies
        share = arb(self.theta / self.mu)
        return exponents + arb_vec([share * (fine[k] - coarse[k]) for k in self.record.inputs[a]])

    def bound(self, psi: list[arb]) -> arb:
        """The leaf's bound at an entropy bound of 0, from one number for each letter; it falls by mu for each nat.

        Bound because H(p) = H(pi) + sum pi H(w), so that sum pi psi + tau H(pi) - mu b remains to be maximised.
        """
        tau = arb(1 - self.theta + self.mu)
        return largest(psi) if tau.is_zero() else tau * arb_vec([value / tau for value in psi]).log_sum_exp()


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
