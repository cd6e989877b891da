"""Histograms and their margins with noise on every cell, against households or independent records: ends from laws of a few scores.

*From below*: everybody of a block has the same letter, each as likely. *From above*: the output law of a mixture of patterns, seen
through the sum of scores, is close to the rows of all patterns, so that no selection of patterns by letters is missed; and k letters
reveal at most log k (docs/theory.md, histograms). Every cell has the law T(s, .), s how many records of a block are in it; only the
sum of the scores is seen of an output. Its laws are products of polynomials, here of their Fourier transforms where they are long.
Several tables tell at most what they tell one by one, and at least that less what they have in common, log F (Theorem H2).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.evidence import short_text
from dalenius.evidence.lower import Indices
from dalenius.evidence.upper import HistogramLine, LettersLine
from dalenius.information.arrays import Floats, Integers
from dalenius.information.deadline import Deadline
from dalenius.model.problems.large import Cells
from dalenius.results import RecordProof
from dalenius.search import Clock
from dalenius.search.run import LEAST_SECONDS

EARLY = 2**8  # sums of scores, or one a cell: these ends stand where a finer proof is cut short
WIDTHS = (EARLY, 2**12, 2**14, 2**16, 2**18, 2**20)  # one after the other until both ends meet
FREE = 2**14  # sums that cost next to nothing; more of them only for the gap
COARSEST = 8  # scores that there are to choose from, at least
RESOLUTION = 1e-12  # nats: the laws of sums are computed, and so the ends are known, this exactly
SECONDS = 2.5e-6  # that checking a coefficient of a pattern's law takes
BYTES, POLYNOMIALS = 144.0, 24  # that the checker counts for a coefficient; of so many, and two for each record
SHARE = 0.9  # of the memory of a check, the rest being the model's and the cells' laws
LEAST_STEP = 1e-3  # of the width between the ends that more sums must bring, or there will be no more of them
SOON = 0.5 * LEAST_SECONDS  # what takes the check no longer is proved whenever it stops
NARROWER = 0.5  # times the width that stands, to have another one proved on the way
IN_COMMON = 0.995  # of the width that is what several tables have in common, or there will be no more sums


@dataclass(frozen=True)
class _Mixture:
    """An output law of a table, with the bound that it proves in nats."""

    bound: float
    scores: Integers
    weights: dict[Pattern, float]


@dataclass(frozen=True)
class _Alike:
    """Lower end of one table, of a uniform letter that the whole block shares.

    Attributes
    ----------
    told : float
        Nats, at most what the table tells by itself.
    own : float
        Of the mean likelihood ratio of the table's cells, given the sum of the scores, the share of the cell that has the block.
    """

    told: float
    own: float
    scores: Integers


@dataclass(eq=False)
class _Kind:
    """Tables with as many cells and the same noise: their best ends so far."""

    cells: Cells
    mixture: _Mixture | None = None
    alike: _Alike | None = None
    settled: bool = False
    out_of_time: bool = False
    out_of_room: bool = False

    @cached_property
    def known(self) -> int:
        return pattern_count(self.cells.size, self.cells.count)

    @property
    def times(self) -> int:
        return len(self.cells.tables)

    @property
    def lower(self) -> float:
        return 0.0 if self.alike is None else max(self.alike.told, 0.0)

    @property
    def upper(self) -> float:
        """Of one table; by a mixture, or what all histograms of a block are."""
        return self.cells.log_histograms if self.mixture is None else min(self.mixture.bound, self.cells.log_histograms)

    @property
    def line(self) -> HistogramLine:
        found = self.mixture
        if found is None or found.bound >= self.cells.log_histograms:
            return HistogramLine(None, None)
        weights = tuple((pattern, short_text(weight)) for pattern, weight in found.weights.items())
        return HistogramLine(tuple(found.scores.tolist()), weights)

    def look(self, most: int, gap: float, clock: Clock, seconds: float, memory: float) -> None:
        """Both ends with so many sums of scores, if they can be checked in this time, or as many as these bytes hold; `settled` if
        more would not help.
        """
        steps, cells = self.cells.steps, self.cells.count
        early = most == EARLY
        if not early and most < min(COARSEST * cells, WIDTHS[-1]):
            return
        held = int(min(memory / (BYTES * (2 * self.cells.size + POLYNOMIALS)), WIDTHS[-1] + 1)) - 1
        even = even_scores(steps.shape[1], cells)
        if early and even is not None and cells * int(even.max()) > EARLY:
            even = None
        scores = telling_scores(steps, cells, min(most, held)) if even is None else even
        if cells * int(scores.max()) > held:
            self.settled = self.out_of_room = True
            return
        if (clock.expired and not early) or self.known * cells * int(scores.max()) * SECONDS > seconds:
            self.settled = self.out_of_time = True
            return
        before = self.upper - self.lower
        self._look(scores, gap, clock)
        width = self.upper - self.lower
        enough = max(RESOLUTION, self.lower * (0.5 * gap if most >= FREE else 0.0))
        useless = not early and width > before * (1.0 - LEAST_STEP)
        self.settled = even is not None or width <= enough or useless
        if most > held and not self.settled:
            self.settled = self.out_of_room = True

    def _look(self, scores: Integers, gap: float, clock: Clock) -> None:
        """Both ends with these scores."""
        scored = ScoredCells(self.cells.steps, self.cells.count, scores)
        # rounding must not claim more than a cell has
        alike = min(scored.alike, math.log(self.cells.count) - RESOLUTION)
        if alike > self.lower:
            self.alike = _Alike(alike, scored.own_share, scores)
        weights, bound = scored.mixture(alike + max(RESOLUTION, 0.5 * gap * alike), clock)
        if self.mixture is None or bound + self.cells.slack < self.mixture.bound:
            self.mixture = _Mixture(bound + self.cells.slack, scores, weights)


@dataclass
class HistogramAudit(Audit):
    """A running audit of a `Histogram` or `Margins` against `IndependentBlocks` or `ProductPriors`."""

    kinds: list[_Kind] = field(default_factory=list, init=False)
    _shown: tuple[float, tuple[_Alike | None, ...]] = field(default=(0.0, ()), init=False)

    def __post_init__(self) -> None:
        assert self.problem.route.tables is not None
        self.tables = self.problem.route.tables
        self.kinds = [_Kind(cells) for cells in self.tables.kinds]
        self.letters = math.log(self.tables.letters)

    @property
    def lower(self) -> float:
        return self._shown[0]

    @property
    def upper(self) -> float:
        """The sum over all tables, or the letters' entropy."""
        return min(sum(kind.times * kind.upper for kind in self.kinds), self.letters)

    def run(self) -> None:
        """Scores with ever more sums, as long as that brings the ends closer and there is time."""
        if self.tables.letters == 1:
            return
        looked = [kind for kind in self.kinds if kind.known <= MOST_PATTERNS]
        memory = SHARE * (self.search.limits.least[1] - self.problem.held_bytes - self.problem.costs.certain.bytes)
        for most, finer in itertools.pairwise((*WIDTHS, 0)):
            seconds = max(self.clock.left, LEAST_SECONDS) if most == EARLY else self.clock.remaining
            # first those of which nothing is known
            for kind in sorted(looked, key=lambda kind: kind.mixture is not None):
                if not (kind.settled or self._in_common(most)):
                    kind.look(most, self.gap, self.clock, seconds / len(looked), memory)
                    self._tell("patterns")
            coefficients = finer * sum(kind.known for kind in looked if not kind.settled)
            if SECONDS * coefficients > SOON and not self.clock.expired:
                self._stand()
        self.out_of_time = any(kind.out_of_time for kind in looked)
        self.out_of_room = len(looked) < len(self.kinds) or any(kind.out_of_room for kind in looked)
        self._tell("proving")

    def _stand(self) -> None:
        """Have the ends proved, if they are much closer than those that stand: the next ones may be stopped, or run out of time."""
        known = self.standing
        if known is None or self.upper - self.lower <= NARROWER * (known.upper - known.lower):
            self.stand()

    def _in_common(self, most: int) -> bool:
        """True if what the tables have in common keeps the ends apart, or so many letters, and not what is known of each table."""
        if len(self.kinds) == self.kinds[0].times == 1:
            return False
        apart = sum(kind.times * (kind.upper - kind.lower) for kind in self.kinds)
        return (most > FREE and self.upper >= self.letters) or apart <= (1.0 - IN_COMMON) * (self.upper - self.lower)

    def _tell(self, stage: str) -> None:
        self._shown = max(self._shown, self._together(), key=lambda shown: shown[0])
        known = sum(kind.known for kind in self.kinds)
        self.clock.tell(stage, self.lower, self.upper, known, record=self.tables.record, now=stage == "proving")

    def _together(self) -> tuple[float, tuple[_Alike | None, ...]]:
        """Nats told together of a uniform letter that a block shares, and by which kinds of tables: those best looked at.

        What they have in common is at most the logarithm of F = (1/k) sum_J prod_{j not in J} (A_j - 1) prod_v f_v(J), over the sets J
        of attributes in which two letters agree (docs/theory.md, Theorem H2).
        """
        found = [kind for kind in self.kinds if kind.alike is not None and kind.lower > 0.0]
        if not found:
            return 0.0, ()
        agree = np.array(list(itertools.product((False, True), repeat=len(self.tables.attributes))))
        ways = np.where(agree, 1.0, np.array(self.tables.attributes) - 1.0).prod(axis=1) / self.tables.letters
        logs = np.array([_log_shares(kind, agree) for kind in found])
        told = np.array([kind.times * kind.lower for kind in found])

        def shown(used: Integers) -> float:
            one = used.size == found[used[0]].times == 1
            return float(told[used].sum() - (0.0 if one else np.log(ways @ np.exp(logs[used].sum(axis=0)))))

        used = np.arange(len(found))
        best = shown(used)
        while used.size > 1:
            fewer = [np.delete(used, j) for j in range(used.size)]
            listed = [shown(few) for few in fewer]
            if max(listed) <= best:
                break
            best, used = max(listed), fewer[int(np.argmax(listed))]
        seen = [found[j] for j in used]
        return min(best, self.letters - RESOLUTION), tuple(kind.alike if kind in seen else None for kind in self.kinds)

    @property
    def exposed(self) -> int | None:
        return self.tables.record if self.tables.letters > 1 else None

    def exposure(self, slack: float) -> Exposure | None:
        lower, shown = self._shown
        if lower <= 0.0:
            return None
        scores: tuple[Indices | None, ...] = tuple(tuple(alike.scores.tolist()) if alike else None for alike in shown)
        masses, query = np.full((self.tables.letters, 1), 1.0 / self.tables.letters), self.problem.query.sums
        return Exposure(self.tables.record, lower, masses, scores if query and query.in_tables else scores[0] or ())

    def columns_of(self, exposure: Exposure) -> tuple[int, ...]:
        """Number of records of the block that share the letter: all of them."""
        return (self.kinds[0].cells.size,)

    def proof(self) -> UpperProof:
        return (LettersLine(),) if self.upper >= self.letters else tuple(kind.line for kind in self.kinds)

    def certain(self) -> tuple[float, UpperProof]:
        """The entropy of the letters."""
        return self.letters, (LettersLine(),)

    def record_proofs(self) -> tuple[RecordProof, ...]:
        lines = [line for line in self.proof() if isinstance(line, HistogramLine)]
        told = ("patterns", sum(len(line.weights or ()) for line in lines)) if lines else ("letters", 1)
        return (RecordProof(self.tables.record, len(self.problem.records), *told),)


def _log_shares(kind: _Kind, agree: NDArray[np.bool_]) -> Floats:
    """log prod_v f_v(J) of the kind's tables, for the sets J of attributes."""
    assert kind.alike is not None
    count, own = kind.cells.count, kind.alike.own
    same, other = math.log(count * own), math.log(max(count * (1.0 - own) / (count - 1.0), 1e-300))
    shared = np.array([agree[:, list(table)].all(axis=1) for table in kind.cells.tables])
    return np.where(shared, same, other).sum(axis=0)


# Both ends of what histograms tell, through integer scores of the cells' outputs, in doubles.


Pattern = tuple[int, ...]
Complexes = NDArray[np.complex128]
MOST_PATTERNS = 1000
TOGETHER = 2**24  # coefficients of all patterns' polynomials that are kept at once
UNLIKELY = 1e-10  # outputs of a cell that are less likely do not stretch the scores
CERTAIN = 0.5  # a probability that drowns in what another output with its score has as a mean ratio
BY_CHANCE = 8.0  # standard deviations, about, of a sum of likelihood ratios
DIRECT = 2**13  # coefficients of polynomials that are multiplied without transforms
NOISE = 1e-15  # coefficients below are rounding
ROUNDS = 400
LEAST = 1e-7  # weights below are dropped


def patterns(size: int, cells: int) -> Iterator[Pattern]:
    """Ways to spread `size` records over `cells` cells, without regard to which: partitions, descending.

    >>> list(patterns(4, 3))
    [(4,), (3, 1), (2, 2), (2, 1, 1)]
    """

    def rest(left: int, most: int, parts: int) -> Iterator[Pattern]:
        if not left:
            yield ()
        elif parts:
            for first in range(min(left, most), 0, -1):
                for more in rest(left - first, first, parts - 1):
                    yield (first, *more)

    return rest(size, size, cells)


def pattern_count(size: int, cells: int) -> int:
    """Number of patterns, at most 1001 being told apart.

    >>> pattern_count(4, 3), pattern_count(10**6, 10**4)
    (4, 1001)
    """
    return sum(1 for _, _ in zip(range(MOST_PATTERNS + 1), patterns(size, cells), strict=False)) if size < 100 else 1001


def even_scores(outputs: int, cells: int) -> Integers | None:
    """Scores whose sums tell how many cells have each output: 0, 1, k+1, (k+1)^2, ...; None where the sums would be too many.

    >>> even_scores(3, 100).tolist()
    [0, 1, 101]
    """
    if cells * (outputs - 1) > 2**16 or cells * (cells + 1) ** max(outputs - 2, 0) > 2**16:
        return None
    return np.array([0, *((cells + 1) ** j for j in range(outputs - 1))], dtype=np.int64)


def telling_scores(steps: Floats, cells: int, most: int) -> Integers:
    """Scores that grow with the likelihood ratios of the last row and the first, with sums up to `most`.

    They are proportional to them, since what is wanted of a sum is the sum of the ratios, but for ratios beyond what those of the
    other cells may add up to by chance: of these the order of magnitude will do, and it takes fewer sums. Unlikely outputs have the
    score of the next likely one; but behind very little noise that is nearly certain, and their ratios would drown its own.

    >>> telling_scores(np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]]), cells=10, most=100).tolist()
    [0, 1, 10]
    """
    likely = np.flatnonzero(steps[[0, -1]].max(axis=0) * cells > UNLIKELY)
    ratios = (steps[-1] / steps[0])[np.clip(np.arange(steps.shape[1]), likely[0], likely[-1])]
    large = BY_CHANCE * (1.0 + math.sqrt(cells))
    grown = np.where(ratios <= large, ratios, large * (1.0 + np.log(np.maximum(ratios, large) / large)))
    if steps[-1, likely[-1]] > CERTAIN:
        grown[likely[-1] + 1 :] = 2.0 * grown.max() - grown.min()
    scaled = (grown - grown.min()) / (grown.max() - grown.min())
    return np.rint(scaled * max(most // cells, 1)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class ScoredCells:
    """Cells whose outputs have scores.

    Attributes
    ----------
    steps : (size + 1, outputs)
        T, positive.
    cells : int
    scores : (outputs,)
    """

    steps: Floats
    cells: int
    scores: Integers

    @cached_property
    def size(self) -> int:
        return len(self.steps) - 1

    @cached_property
    def _length(self) -> int:
        return self.cells * int(self.scores.max()) + 1

    @cached_property
    def _transforms(self) -> Complexes:
        """Those of A_0, ..., A_m, and of A*."""
        rows = np.vstack([self.steps, self.steps[-1] ** 2 / self.steps[0]])
        sums = np.zeros((len(rows), 1 << (self._length - 1).bit_length()))
        for row, scored in zip(rows, sums, strict=True):
            np.add.at(scored, self.scores, row)
        return np.fft.rfft(sums)

    def _coefficients(self, transform: Complexes) -> Floats:
        size = 1 << (self._length - 1).bit_length()
        return np.maximum(np.fft.irfft(transform, size)[: self._length], 0.0)

    def law(self, pattern: Pattern) -> Floats:
        """P_h, the law of the sum of scores where so many records are in one cell each."""
        transforms = self._transforms
        product = transforms[0] ** (self.cells - len(pattern))
        for part in pattern:
            product = product * transforms[part]
        return self._coefficients(product)

    @cached_property
    def gains(self) -> Floats:
        """K_s = D(T(s, .) || T(0, .)) in nats."""
        return (self.steps * np.log(self.steps / self.steps[0])).sum(axis=1)

    @cached_property
    def alike(self) -> float:
        """Nats, at most what a uniform letter tells that the whole block shares: by Jensen's inequality."""
        expected, _, own = self._shared
        noise = 0.0 if self._length <= DIRECT else NOISE
        logs = _logs(expected, self.cells * own, *self._ends((self.size,)), noise)
        return float(self.gains[-1] - own @ logs)

    @cached_property
    def own_share(self) -> float:
        """Share of the block's own cell in the mean likelihood ratio of all, given the sum of scores, where a block is in one cell."""
        expected, filled, own = self._shared
        shares = np.divide(filled, expected, out=np.ones_like(own), where=expected > 0.0)
        return float(own @ np.clip(shares, 0.0, 1.0))

    def _scored(self, row: Floats) -> Floats:
        """The polynomial of one cell's outputs."""
        found: Floats = np.bincount(self.scores, weights=row).astype(float)
        return found

    @cached_property
    def _shared(self) -> tuple[Floats, Floats, Floats]:
        """E, Z and A_m A_0^(k-1), the law of the sum of scores where a block is in one cell; E/(k law) is the mean likelihood ratio.

        E = Z + O, of which Z = A* A_0^(k-1) is the cell's own part, O = (k - 1) A_m^2 A_0^(k-2) the others'. Behind Gaussian noise A*
        has a mass of e^(m^2/sigma^2), whose rounding in transforms would drown everything else. Short products are multiplied out,
        which loses nothing, as all terms are positive; of long ones the rounding is added to E, which makes the bound lower.
        """
        k, far = self.cells, self.steps[-1] ** 2 / self.steps[0]
        if self._length <= DIRECT:
            none, all_, over = (self._scored(row) for row in (self.steps[0], self.steps[-1], far))
            if k == 1:
                return over, over, all_
            rest = _power(none, k - 2)
            others = np.convolve(rest, none)
            filled = np.convolve(over, others)
            return filled + (k - 1) * np.convolve(np.convolve(all_, all_), rest), filled, np.convolve(all_, others)
        transforms = self._transforms
        filled = self._coefficients(transforms[-1] * transforms[0] ** (k - 1))
        others = self._coefficients((k - 1) * transforms[self.size] ** 2 * transforms[0] ** max(k - 2, 0))
        rounding = 8.0 * np.finfo(float).eps * math.log2(self._length) * (float(far.sum()) + k)
        return filled + others + rounding, filled, self.law((self.size,))

    def _ends(self, pattern: Pattern) -> tuple[float, float]:
        """Between which likelihood ratios of a pattern lie, as logarithms."""
        logs = np.log(self.steps / self.steps[0])
        return float(sum(logs[part].min() for part in pattern)), float(sum(logs[part].max() for part in pattern))

    def divergences(self, weights: Mapping[Pattern, float], laws: Mapping[Pattern, Floats] | None = None) -> Floats:
        """D(W_g || q) of every pattern g, in their order, q the output law of this mixture of patterns."""
        known = laws or {}
        total = sum(weights.values())
        mixed = sum(
            ((w / total) * (known[h] if h in known else self.law(h)) for h, w in weights.items()),
            np.zeros(self._length),
        )
        ends = [self._ends(h) for h in weights]
        logs = _logs(mixed, self.law(()), min(low for low, _ in ends), max(high for _, high in ends))
        found = (
            sum(self.gains[part] for part in g) - float((known[g] if g in known else self.law(g)) @ logs)
            for g in patterns(self.size, self.cells)
        )
        return np.array(list(found))

    def mixture(self, enough: float, clock: Deadline) -> tuple[dict[Pattern, float], float]:
        """Weights of patterns and the bound that their output law proves; at first all on one cell, then Arimoto's steps.

        Parameters
        ----------
        enough : float
            Nats; a bound of at most that is not made better.
        clock : Deadline
        """
        one: dict[Pattern, float] = {(self.size,): 1.0}
        best, bound = one, float(self.divergences(one).max())
        listed = list(patterns(self.size, self.cells))
        if bound <= enough or len(listed) * self._length > TOGETHER:
            return best, bound
        laws = {h: self.law(h) for h in listed}
        shares = np.full(len(listed), 1.0 / len(listed))
        for _ in range(ROUNDS):
            kept = {h: float(w) for h, w in zip(listed, shares.round(9), strict=True) if w > LEAST}
            found = self.divergences(kept, laws)
            if found.max() < bound:
                best, bound = kept, float(found.max())
            if bound <= max(enough, float(shares @ found) * (1.0 + 1e-6)) or clock.expired:
                break
            shares = shares * np.exp(found - found.max())
            shares /= shares.sum()
        return best, bound


def _power(polynomial: Floats, times: int) -> Floats:
    """A polynomial with no negative coefficient to a power, each coefficient to a few digits less than all."""
    found, square = np.ones(1), polynomial
    while times:
        if times % 2:
            found = np.convolve(found, square)
        times //= 2
        if times:
            square = np.convolve(square, square)
    return found


def _logs(numerator: Floats, denominator: Floats, low: float, high: float, noise: float = NOISE) -> Floats:
    """log(numerator / denominator), which lies between `low` and `high`; where both are rounding anything between."""
    known = (denominator > noise) & (numerator > 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(known, np.log(numerator / denominator), 0.0)
    return np.clip(logs, low, high)
