"""Counts of very many people against an entropy bound: a witness on a window of the counts, and bounds that need no whole matrix.

*From below*: joint Blahut-Arimoto on the counts of a window, whose channel is applied by filters; thinned, and seen in bins, where
there are too many. *From above*: the least of three leaves: the letters' entropy; of two letters the capacity of the two farthest
counts; and what is revealed by whoever is told all other records (docs/theory.md, "Told all others"). Where these leave much open, an
audit of the count rounded to a grid of few places.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dalenius.audits.ascent import feasible
from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.audits.proof_lines import entropy_line, informed_line
from dalenius.audits.rounded import RoundedAudit
from dalenius.evidence import matrix_text, short_text
from dalenius.evidence.lower import LowerLine, SparseLaw, WindowOfWitness, WitnessLine
from dalenius.evidence.upper import EndsLeaf, LettersLine, ProofLine, RecordLine
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
from dalenius.information.informed import informed_bound
from dalenius.information.tilt import entropy_of, largest_score
from dalenius.model.problems.large import WideCount
from dalenius.model.problems.pieces import own_rows
from dalenius.reduction import Grid
from dalenius.results import RecordProof
from dalenius.search.decimals import short

PLACES = 16_000
LEAST_PLACES, MOST_PLACES = 16, 1_000  # of a grid
MOST_BITS = 4e8  # of all numbers of datasets with a count, which the checker works out
SURE = 50.0  # nats by which two counts are told apart, and need no more
WELL = 8.0  # standard deviations beyond which the uniform prior has next to nothing
MUCH = 30.0  # nats of knowledge that pay for a prior on a window, and on some of its counts only
STEPS, STALL = 400, 1e-7
FLOOR, FAINT, DIGITS = 1e-280, 1e-16, 10
ROUNDING = 1e-9  # of log |X| and of the knowledge, what doubles may be wrong by


@dataclass(frozen=True, kw_only=True)
class _OnPlaces(Exposure):
    """Leakage under a prior on the places of a window."""

    places: Places

    @property
    def lines(self) -> tuple[LowerLine, ...]:
        window = WindowOfWitness(self.places.least, self.places.step, self.places.last)
        return window, WitnessLine(self.record, self.prior)


@dataclass
class WideAudit(Audit):
    """A running audit of a count against `EntropyAtLeast`; all records are alike. The lines of a wide one are about a window.

    Parameters
    ----------
    count : WideCount
    """

    count: WideCount
    masses: Floats | None = field(default=None, init=False)
    leakage: float = field(default=0.0, init=False)
    rounded: RoundedAudit | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        count, self.knowledge = self.count, self.problem.max_knowledge
        self.places = _window(count, self.knowledge)
        self.log_uniform = log_shares(count.records, count.contributions, np.array(self.places.counts, dtype=float))

    @property
    def lower(self) -> float:
        return self.leakage

    @property
    def upper(self) -> float:
        return self._bound[0] if self._closer is None else self._closer.lifted

    @property
    def _closer(self) -> RoundedAudit | None:
        """The audit of the rounded count, where its bound is the best."""
        return self.rounded if self.rounded is not None and self.rounded.lifted < self._bound[0] else None

    @cached_property
    def _bound(self) -> tuple[float, str, ProofLine]:
        """The least bound, what it is called, and its leaf."""
        count, problem = self.count, self.problem
        bounds: list[tuple[float, str, ProofLine]] = [(math.log(count.letters), "letters", self._letters)]
        if count.letters == 2:
            bounds.append((_of_ends(count), "ends", EndsLeaf()))
        rows = own_rows(problem.query, problem.records, problem.mechanism, 0)
        if rows is not None and self.knowledge < bounds[0][0]:
            found = informed_bound(rows, self.knowledge)
            bounds.append((found.upper, "informed", informed_line(found)))
        return min(bounds, key=lambda bound: bound[0])

    def run(self) -> None:
        """Blahut-Arimoto from a posterior that tells letters apart by where the count is."""
        told = self.knowledge > 0.0 and 0 < self.count.counted < self.count.letters
        for down in (False, True) if told else ():
            if self.upper > self._target and not self.clock.expired:
                self._climb(_thresholds(self.count, self.places, down))
        if told and self.upper > self._target and (grid := self._grid()) is not None:
            self.rounded = RoundedAudit.of(self, grid, self._target)
            self.rounded.run()
            self.out_of_room |= self.rounded.out_of_room
        self.out_of_time = self.clock.expired
        self.clock.tell("proving", self.lower, self.upper, self.pieces, now=True)

    def _grid(self) -> Grid | None:
        """The grid whose rounding takes half of the gap; None where what can be proved by it is not worth the work."""
        count, free = self.count, 0.25 * min(self.gap, 1.0)
        if count.records**2 * math.log2(count.letters) > MOST_BITS:
            return None
        epsilon, letters, spread = float(count.epsilon), math.log(count.letters), Grid(count, 2).spread
        steps = (
            math.sqrt(8.0 * free * self.lower / letters) / epsilon,
            math.sqrt(3.0 * free / spread),
            count.records / LEAST_PLACES,
        )
        grid = Grid(count, max(math.floor(min(steps)), -(-count.records // MOST_PLACES), 1))
        return grid if grid.lift(self.lower * (1.0 + grid.spread)) < self._bound[0] else None

    @property
    def _target(self) -> float:
        return self.lower / (1.0 - self.gap) if self.gap < 1.0 else math.inf

    def _climb(self, posterior: Floats) -> None:
        """Double steps until ten of them gain next to nothing."""
        mu, before = np.array([0.1]), 0.0
        for step in range(STEPS):
            scores = self.places.scores(np.log(np.maximum(posterior, FLOOR)))
            p, mu = largest_score(scores[None], self.log_uniform, -self.knowledge, mu, self.clock)
            if self.clock.expired and self.masses is not None:
                return
            masses = p[0] / p.sum()
            told = self.places.through(masses)
            leakage = float(mutual_information(told))
            if leakage > self.leakage:
                self.leakage, self.masses = leakage, masses
            if step % 10 == 9:
                self.clock.tell("search", self.lower, self.upper, step)
                if leakage - before <= STALL * leakage:
                    return
                before = leakage
            posterior = told / np.maximum(told.sum(axis=0), 1e-300)

    @property
    def exposed(self) -> int | None:
        return 0

    def exposure(self, slack: float) -> Exposure | None:
        if self.masses is None:
            return None
        room = slack + ROUNDING * (1.0 + self.knowledge)
        p = feasible(self.masses, self.log_uniform, self.knowledge, slack=room)
        if p is None:
            return None
        p = short(np.where(p < FAINT * p.max(), 0.0, p), DIGITS)
        p = p / p.sum()
        if -float(entropy_of(p, self.log_uniform)) > self.knowledge - 0.1 * room:
            return None
        leakage = float(mutual_information(self.places.through(p)))
        if self.problem.route.wide is None:
            masses = np.zeros((self.count.letters, self.count.records + 1))
            masses[:, list(self.places.counts)] = p
            return Exposure(0, leakage, masses, matrix_text(masses))
        weights = tuple(_sparse(short(row, DIGITS)) for row in p)
        return _OnPlaces(0, leakage, p, weights, places=self.places)

    def columns_of(self, exposure: Exposure) -> tuple[int, ...]:
        return super().columns_of(exposure) if self.problem.route.wide is None else self.places.counts

    @property
    def pieces(self) -> int:
        return 1 if self.rounded is None else sum(record.leaves for record in self.rounded.records)

    @property
    def checking(self) -> float:
        return 0.0 if self.rounded is None else self.rounded.checking

    def proof(self) -> UpperProof:
        return self.quick()[1] if self._closer is None else self._closer.proof()

    def quick(self) -> tuple[float, UpperProof]:
        return self._bound[0], (RecordLine(0), self._bound[2])

    def certain(self) -> tuple[float, UpperProof]:
        """A leakage is at most the entropy of the letters."""
        return math.log(self.count.letters), (RecordLine(0), self._letters)

    @property
    def _letters(self) -> ProofLine:
        return entropy_line() if self.problem.route.wide is None else LettersLine()

    def record_proofs(self) -> tuple[RecordProof, ...]:
        method, leaves = (self._bound[1], 1) if self._closer is None else ("rounded", self.pieces)
        return (RecordProof(0, self.count.records, method, leaves),)


def _sparse(row: Floats) -> SparseLaw:
    return tuple((int(j), short_text(float(row[j]))) for j in np.flatnonzero(row))


def _window(count: WideCount, knowledge: float) -> Places:
    """Counts that a prior of so much knowledge may be on, as far as they matter; thinned where there are too many."""
    n, share = count.records, count.counted / count.letters
    middle, spread = n * share, math.sqrt(n * share * (1.0 - share))
    reach = spread * (math.sqrt(2.0 * knowledge) + WELL)
    if knowledge > MUCH:
        reach = min(reach, SURE / float(count.epsilon) + spread)
    low, high = max(0, math.floor(middle - reach)), min(n, math.ceil(middle + reach))
    step = -(-(high - low) // PLACES) if knowledge > MUCH else 1
    step += 1 - step % 2
    return Places(low, step, max((high - low) // step, 1), float(count.epsilon))


def _thresholds(count: WideCount, places: Places, down: bool) -> Floats:
    """A posterior that takes the places for the letters' one after the other, those that are counted last, or first."""
    order = np.argsort(count.contributions, kind="stable")[:: -1 if down else 1]
    letter = order[np.arange(places.last + 1) * count.letters // (places.last + 1)]
    return 0.97 * np.equal.outer(np.arange(count.letters), letter) + 0.03 / count.letters


def _of_ends(count: WideCount) -> float:
    """The capacity of the rows of the counts 0 and n: sum over l of T(l) log(2 / (1 + a^(n - 2l)))."""
    epsilon, n = float(count.epsilon), count.records
    steps = np.arange(n + 1)
    law = np.exp(-epsilon * steps) / (1.0 + math.exp(-epsilon))
    law[1:-1] *= -math.expm1(-epsilon)
    return float(law @ (math.log(2.0) - np.logaddexp(0.0, epsilon * (2.0 * steps - n))))


# Counts at equal steps, seen through two-sided geometric noise in bins around them: products with the channel by two recursions.
#
# The channel from place j to bin l has the entries (a = e^-epsilon, s the step, q = (s - 1)/2)
#
#     S(j,l) = a^(s |j-l| - q) (1 - a^s) / (1 + a),     S(j,j) = 1 - 2 a^(q+1) / (1 + a),
#
# and at the two ends of the bins, which reach to infinity, a^(s |j-l| - q) / (1 + a) and 1 - a^(q+1) / (1 + a)
# (docs/certificate-format.md, wide counts).


GONE = 700.0  # nats: e^-700 is next to no number


@dataclass(frozen=True)
class Places:
    """The counts least, least + step, ..., least + last step, with noise of this epsilon; the step is odd.

    >>> places = Places(10, 1, 2, 0.5)
    >>> places.through(np.eye(3)).round(4).tolist()
    [[0.6225, 0.1486, 0.229], [0.3775, 0.2449, 0.3775], [0.229, 0.1486, 0.6225]]
    """

    least: int
    step: int
    last: int
    epsilon: float

    @property
    def counts(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(range(self.least, self.least + self.step * self.last + 1, self.step))

    def through(self, masses: Floats) -> Floats:
        """The laws of the bins (..., places) under masses on the places (..., places): masses S."""
        return self._to_others * self._beside(masses) + self._stay * masses

    def scores(self, values: Floats) -> Floats:
        """The means of values of the bins (..., places), by place: S values."""
        return self._beside(self._to_others * values) + self._stay * values

    def _beside(self, values: Floats) -> Floats:
        """At every place the sum over all others, at the distance d, of values a^(s (d - 1))."""
        found = np.zeros(values.shape)
        found[..., 1:] = self._until(values)[..., :-1]
        found[..., :-1] += self._until(values[..., ::-1])[..., -2::-1]
        return found

    def _until(self, values: Floats) -> Floats:
        """At every place the sum over it and those before, at the distance d, of values a^(s d): windows twice as long each time."""
        found, length, rate = np.array(values, dtype=float), 1, self.epsilon * self.step
        while length <= self.last and rate * length < GONE:
            found[..., length:] += math.exp(-rate * length) * found[..., :-length]
            length *= 2
        return found

    @property
    def _near(self) -> float:
        """a^(q+1) / (1 + a): the probability of noise beyond the bin on one side."""
        return math.exp(-self.epsilon * (self.step + 1) / 2) / (1.0 + math.exp(-self.epsilon))

    @cached_property
    def _to_others(self) -> Floats:
        found = np.full(self.last + 1, -self._near * math.expm1(-self.epsilon * self.step))
        found[[0, -1]] = self._near
        return found

    @cached_property
    def _stay(self) -> Floats:
        found = np.full(self.last + 1, 1.0 - 2.0 * self._near)
        found[[0, -1]] = 1.0 - self._near
        return found


def log_shares(records: int, contributions: tuple[int, ...], counts: Floats) -> Floats:
    """log(N(x,k) / |X|) by letter, then by count: how many datasets have this letter in one record, and this count, as a share.

    1/A times a binomial probability, by Loader's formula, in which nothing of the size of log |X| is subtracted
    (C. Loader, Fast and accurate computation of binomial probabilities, 2000).

    >>> np.exp(log_shares(3, (0, 1), np.arange(4.0))).round(6).tolist()
    [[0.125, 0.25, 0.125, 0.0], [0.0, 0.125, 0.25, 0.125]]
    """
    share, others = sum(contributions) / len(contributions), records - 1
    rows = [_log_binomial(others, share, counts - own) for own in contributions]
    return np.array(rows) - math.log(len(contributions))


def _log_binomial(n: int, p: float, k: Floats) -> Floats:
    inside = (k > 0) & (k < n)
    x = np.where(inside, k, 1.0)
    y = n - x
    found = _stirling(n) - _stirling(x) - _stirling(y) - _excess(x, n * p) - _excess(y, n * (1.0 - p))
    found += 0.5 * np.log(n / (2.0 * math.pi * x * y))
    ends = np.where(k == 0, n * _log(1.0 - p), np.where(k == n, n * _log(p), -np.inf))
    return np.where(inside, found, ends)


def _log(x: float) -> float:
    return math.log(x) if x > 0.0 else -math.inf


def _excess(x: Floats, mean: float) -> Floats:
    """x log(x / mean) + mean - x, at least 0."""
    if mean <= 0.0:
        return np.full_like(x, np.inf)
    away = (x - mean) / mean
    return x * np.log1p(away) - mean * away


def _stirling(x: Floats | float) -> Floats:
    """log x! - x log x + x - log(2 pi x)/2."""
    x = np.asarray(x, dtype=float)
    z = np.maximum(x, 16.0)
    series = (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * z * z)) / (z * z)) / (z * z)) / z
    small = np.array(
        [math.lgamma(k + 1.0) - (k * math.log(k) - k + 0.5 * math.log(2.0 * math.pi * k)) for k in range(1, 16)]
    )
    return np.where(x < 16.0, small[np.clip(x, 1, 15).astype(int) - 1], series)
