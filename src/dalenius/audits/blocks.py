"""Independent blocks, and histograms with noise on every cell: the largest leakage of one block by itself, over the kinds of blocks.

*Why*: I(X_i; Y) is convex in the channel from the own block to the release, a mixture over what the other records can be; so they are
known, and all that they do is to add a total (docs/theory.md, independent blocks). Each piece is an audit against an entropy bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dalenius.audits.audit import Audit, Exposure, UpperProof, inputs_of
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.audits.noise import FreeNoiseAudit
from dalenius.evidence import short_text
from dalenius.evidence.lower import LowerLine, PieceOfWitness, WitnessLine
from dalenius.evidence.upper import HistogramLine, LettersLine, PieceSection
from dalenius.information.arrays import Integers
from dalenius.information.patterns import (
    MOST_PATTERNS,
    Pattern,
    ScoredCells,
    even_scores,
    pattern_count,
    telling_scores,
)
from dalenius.model import WorstCaseLeakage
from dalenius.model.problems.pieces import Piece
from dalenius.results import RecordProof
from dalenius.search.clock import Progress, ProgressCallback

SHARE = 0.9  # of the gap that a piece's bound may use up beside the best witness: the rest is for rounding


@dataclass(frozen=True, kw_only=True)
class _InBlock(Exposure):
    """What a record of a block is exposed to; `record` is its number among all records."""

    piece: Piece
    problem: WorstCaseLeakage

    @property
    def lines(self) -> tuple[LowerLine, ...]:
        witness = WitnessLine(self.record - self.piece.first, self.prior)
        return PieceOfWitness(self.piece.block, self.piece.written), witness


@dataclass(frozen=True, eq=False)
class _Part:
    """A piece with its audit."""

    piece: Piece
    audit: EntropyAudit | FreeNoiseAudit

    @cached_property
    def certain(self) -> float:
        """What needs no search, in nats."""
        return self.audit.certain()[0]


@dataclass
class BlocksAudit(Audit):
    """A running audit against `IndependentBlocks`: one audit for each piece, the largest first."""

    parts: list[_Part] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        ordered = sorted(self.problem.pieces, key=lambda pair: -pair[1].records.log_datasets)
        self.parts = [_Part(piece, self._audit(problem)) for piece, problem in ordered]

    def _audit(self, problem: WorstCaseLeakage) -> EntropyAudit | FreeNoiseAudit:
        """That of a piece."""
        return (EntropyAudit if problem.route.rows is None else FreeNoiseAudit)(problem, self.search)

    @property
    def bounding(self) -> list[_Part]:
        """Those whose upper bounds are bounds of the answer together."""
        return [part for part in self.parts if part.piece.bounds]

    @property
    def lower(self) -> float:
        return max((part.audit.lower for part in self.parts if part.piece.attained), default=0.0)

    @property
    def upper(self) -> float:
        """Of a piece that was not begun it is what its letters tell."""
        bounds = (
            part.piece.slack + (part.audit.upper if part.audit.records else part.certain) for part in self.bounding
        )
        return max(bounds, default=0.0)

    def run(self) -> None:
        """One piece after the other, each with its share of the time left; none is bounded better than the best witness needs."""
        for k, part in enumerate(self.parts):
            clock = self.clock.part(1.0 / (len(self.parts) - k))
            clock.report = self._teller(part)
            part.audit.search = replace(self.search, clock=clock)
            part.audit.enough = self.lower / (1.0 - SHARE * self.gap) if self.gap < 1.0 else math.inf
            part.audit.run()
        self.out_of_time = any(part.audit.out_of_time for part in self.parts)
        self.out_of_room = any(part.audit.out_of_room for part in self.parts)
        self.clock.tell(
            "proving", self.lower, self.upper, sum(proof.leaves for proof in self.record_proofs()), now=True
        )

    def _teller(self, part: _Part) -> ProgressCallback:
        """Passes on what a piece's audit tells, with the bounds of all pieces."""

        def tell(moment: Progress) -> None:
            record = None if moment.record is None else part.piece.first + moment.record
            self.clock.tell(moment.stage, self.lower, self.upper, moment.evidence, record=record)

        return tell

    @property
    def _best(self) -> _Part | None:
        told = [part for part in self.parts if part.piece.attained and part.audit.exposed is not None]
        return max(told, key=lambda part: part.audit.lower, default=None)

    @property
    def silent(self) -> bool:
        """Whether nobody can be told anything, not even by audits that bound from above alone."""
        return all(part.audit.exposed is None for part in self.parts)

    @property
    def exposed(self) -> int | None:
        best = self._best
        if best is None or (record := best.audit.exposed) is None:
            return None
        return best.piece.first + record

    def exposure(self, slack: float) -> Exposure | None:
        best = self._best
        found = None if best is None else best.audit.exposure(slack)
        if found is None or best is None:
            return None
        record, piece, audit = best.piece.first + found.record, best.piece, best.audit
        return _InBlock(record, found.leakage, found.masses, found.prior, piece=piece, problem=audit.problem)

    def _inputs(self, exposure: Exposure) -> tuple[int, ...]:
        """The values of the block's own query: the total of the others comes on top."""
        assert isinstance(exposure, _InBlock)
        return inputs_of(exposure.problem)

    def proof(self) -> UpperProof:
        return _sections((part.piece, part.audit.proof()) for part in self.bounding)

    def quick(self) -> tuple[float, UpperProof]:
        return _bounds((part.piece, part.audit.quick()) for part in self.bounding)

    def certain(self) -> tuple[float, UpperProof]:
        return _bounds((part.piece, part.audit.certain()) for part in self.bounding)

    @property
    def checking(self) -> float:
        return sum(part.audit.checking for part in self.bounding)

    def record_proofs(self) -> tuple[RecordProof, ...]:
        return tuple(
            replace(proof, record=part.piece.first + proof.record, times=proof.times * part.piece.times)
            for part in self.bounding
            for proof in part.audit.record_proofs()
        )


def _bounds(parts: Iterable[tuple[Piece, tuple[float, UpperProof]]]) -> tuple[float, UpperProof]:
    """The largest of the pieces' bounds, with the proofs of all."""
    listed = list(parts)
    upper = max((piece.slack + upper for piece, (upper, _) in listed), default=0.0)
    return upper, _sections((piece, proof) for piece, (_, proof) in listed)


def _sections(proofs: Iterable[tuple[Piece, UpperProof]]) -> UpperProof:
    """The proofs one after the other, each with the line that names its piece."""
    return tuple(line for piece, proof in proofs for line in (PieceSection(piece.block, piece.written), *proof))


# Histograms with noise on every cell, against households or independent records: both ends from the laws of a few scores.
#
# *From below*: everybody of a block has the same letter, each as likely. *From above*: the output law of a mixture of patterns, seen
# through the sum of scores, is close to the rows of all patterns, so that no selection of patterns by letters is missed; and k letters
# tell no more than log k (docs/theory.md, histograms).


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
        cells = self.problem.route.cells
        assert cells is not None
        self.cells = cells

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
