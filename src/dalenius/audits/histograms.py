"""Histograms with noise on every cell, against households or independent records: both ends from the laws of a few scores.

*From below*: everybody of a block has the same letter, each as likely. *From above*: the output law of a mixture of patterns, seen
through the sum of scores, is close to the rows of all patterns, so that no selection of patterns by letters is missed; and k letters
tell no more than log k (docs/theory.md, histograms).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.evidence import short_text
from dalenius.evidence.upper import HistogramLine, LettersLine
from dalenius.information.arrays import Integers
from dalenius.information.patterns import (
    MOST_PATTERNS,
    Pattern,
    ScoredCells,
    even_scores,
    pattern_count,
    telling_scores,
)
from dalenius.results import RecordProof

__all__ = ["HistogramAudit"]

WIDTHS = (2**12, 2**14, 2**16, 2**18, 2**20)  # sums of scores, one after the other until both ends meet
FREE = 2**14  # sums that cost next to nothing; more of them only for the gap
COARSEST = 8  # scores that there are to choose from, at least
RESOLUTION = 1e-12  # nats: the laws of sums are computed, and so the ends are known, this exactly
SECONDS = 2.5e-6  # that checking a coefficient of a pattern's law takes
LEAST_STEP = 1e-3  # of the width between the ends that more sums must bring, or there will be no more of them


@dataclass(frozen=True)
class _Mixture:
    """An output law, with the bound that it proves in nats."""

    bound: float
    scores: Integers
    weights: dict[Pattern, float]


@dataclass
class HistogramAudit(Audit):
    """A running audit of a `Histogram` against `IndependentBlocks` or `ProductPriors`."""

    _mixture: _Mixture | None = field(default=None, init=False)
    _alike: tuple[float, Integers] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.cells = self.problem.cells

    @property
    def lower(self) -> float:
        return 0.0 if self._alike is None else max(self._alike[0], 0.0)

    @property
    def upper(self) -> float:
        letters = math.log(self.cells.count)
        return letters if self._mixture is None else min(self._mixture.bound, letters)

    def run(self) -> None:
        """Scores with ever more sums, as long as that brings the ends closer and there is time."""
        if self.cells.count == 1:
            return
        steps, cells, known = self.cells.steps, self.cells.count, pattern_count(self.cells.size, self.cells.count)
        if known > MOST_PATTERNS:
            self.out_of_room = True
            return
        even = even_scores(steps.shape[1], cells)
        for most in (width for width in WIDTHS if width >= min(COARSEST * cells, WIDTHS[-1])):
            before = self.upper - self.lower
            scores = telling_scores(steps, cells, most) if even is None else even
            if self.clock.expired or known * cells * int(scores.max()) * SECONDS > self.clock.remaining:
                self.out_of_time = True
                break
            self._look(scores)
            width = self.upper - self.lower
            self.clock.tell("patterns", self.lower, self.upper, known, record=self.cells.record)
            enough = max(RESOLUTION, self.lower * (0.5 * self.gap if most >= FREE else 0.0))
            if even is not None or width <= enough or width > before * (1.0 - LEAST_STEP):
                break
        self.clock.tell("proving", self.lower, self.upper, known, now=True)

    def _look(self, scores: Integers) -> None:
        """Both ends with these scores."""
        scored = ScoredCells(self.cells.steps, self.cells.count, scores)
        alike = min(
            scored.alike, math.log(self.cells.count) - RESOLUTION
        )  # rounding must not claim more than a letter has
        if alike > self.lower:
            self._alike = alike, scores
        weights, bound = scored.mixture(alike + max(RESOLUTION, 0.5 * self.gap * alike), self.clock)
        if self._mixture is None or bound + self.cells.slack < self._mixture.bound:
            self._mixture = _Mixture(bound + self.cells.slack, scores, weights)

    @property
    def exposed(self) -> int | None:
        return self.cells.record if self.cells.count > 1 else None

    def exposure(self, slack: float) -> Exposure | None:
        if self._alike is None or self.lower <= 0.0:
            return None
        lower, scores = self._alike
        masses = np.full((self.cells.count, 1), 1.0 / self.cells.count)
        return Exposure(self.cells.record, lower, masses, tuple(scores.tolist()))

    def _inputs(self, exposure: Exposure) -> tuple[int, ...]:
        """How many of the block share the letter: all of them."""
        return (self.cells.size,)

    def proof(self) -> UpperProof:
        found = self._mixture
        if found is None or found.bound >= math.log(self.cells.count):
            return (LettersLine(),)
        weights = tuple((pattern, short_text(weight)) for pattern, weight in found.weights.items())
        return (HistogramLine(tuple(found.scores.tolist()), weights),)

    def certain(self) -> tuple[float, UpperProof]:
        """The entropy of the letters."""
        return math.log(self.cells.count), (LettersLine(),)

    def record_proofs(self) -> tuple[RecordProof, ...]:
        (line,) = self.proof()
        told = ("patterns", len(line.weights)) if isinstance(line, HistogramLine) else ("letters", 1)
        return (RecordProof(self.cells.record, len(self.problem.records), *told),)
