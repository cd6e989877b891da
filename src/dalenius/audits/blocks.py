"""Independent blocks: the largest leakage of one block by itself, over the kinds of blocks.

*Why*: I(X_i; Y) is convex in the channel from the own block to the release, a mixture over what the other records can be; so they are
known, and all that they do is to add a total (docs/theory.md, independent blocks). Each piece is an audit against an entropy bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from dalenius.audits.audit import Audit, Exposure, UpperProof
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.audits.noise import FreeNoiseAudit
from dalenius.audits.sums import SumsAudit
from dalenius.evidence.lower import LowerLine, PieceOfWitness
from dalenius.evidence.upper import PieceSection
from dalenius.model import WorstCaseLeakage
from dalenius.model.problems.pieces import Piece
from dalenius.results import RecordProof
from dalenius.search.clock import Progress, ProgressCallback

_Alone = EntropyAudit | FreeNoiseAudit | SumsAudit
_AUDITS: dict[str, type[_Alone]] = {
    "entropy_at_least": EntropyAudit,
    "free_noise": FreeNoiseAudit,
    "sums": SumsAudit,
}
SHARE = 0.9  # of the gap that a piece's bound may use up beside the best witness: the rest is for rounding


@dataclass(frozen=True, kw_only=True)
class _InBlock(Exposure):
    """Exposure of a record of a block; `record` is its number among all records."""

    piece: Piece
    own: Exposure
    inputs: tuple[int, ...]

    @property
    def lines(self) -> tuple[LowerLine, ...]:
        return PieceOfWitness(self.piece.block, self.piece.written), *self.own.lines


@dataclass(frozen=True, eq=False)
class _Part:
    """A piece with its audit."""

    piece: Piece
    audit: _Alone

    @cached_property
    def certain(self) -> float:
        """Leakage bound that needs no search, in nats."""
        return self.audit.certain()[0]


@dataclass
class BlocksAudit(Audit):
    """A running audit against `IndependentBlocks`: one audit for each piece, the largest first."""

    parts: list[_Part] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        ordered = sorted(self.problem.pieces, key=lambda pair: -pair[1].records.log_datasets)
        self.parts = [_Part(piece, self._audit(problem)) for piece, problem in ordered]

    def _audit(self, problem: WorstCaseLeakage) -> _Alone:
        """That of a piece."""
        return _AUDITS[problem.route.audit](problem, self.search)

    @property
    def bounding(self) -> list[_Part]:
        """Those whose upper bounds are bounds of the answer together."""
        return [part for part in self.parts if part.piece.bounds]

    @property
    def lower(self) -> float:
        return max((part.audit.lower for part in self.parts if part.piece.attained), default=0.0)

    @property
    def upper(self) -> float:
        """Of a piece that was not begun it is what its letters reveal."""
        bounds = (
            part.piece.slack + (part.audit.upper if part.audit.records else part.certain) for part in self.bounding
        )
        return max(bounds, default=0.0)

    def run(self) -> None:
        """One piece after the other, each with its share of the time left; none is bounded better than the best witness needs."""
        self.clock.tell("search", self.lower, self.upper, 0)
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
        """True if nobody can be told anything, not even by audits that bound from above alone."""
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
        piece, inputs = best.piece, best.audit.columns_of(found)
        record = piece.first + found.record
        return _InBlock(record, found.leakage, found.masses, found.prior, piece=piece, own=found, inputs=inputs)

    def columns_of(self, exposure: Exposure) -> tuple[int, ...]:
        """The values of the block's own query: the total of the others comes on top."""
        assert isinstance(exposure, _InBlock)
        return exposure.inputs

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
