"""What an audit does for the whole curve, and what its certificate claims of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dalenius.audits.ascent import Candidate
from dalenius.audits.curve.lines import lines_above
from dalenius.audits.curve.tangent import tangent_slope
from dalenius.audits.curve.witnesses import CurveWitness, curve_steps, curve_witnesses
from dalenius.evidence import CurveStep
from dalenius.evidence.ends import Pair
from dalenius.evidence.upper import ProofLine
from dalenius.model import EntropyAtLeast, MaximalLeakage
from dalenius.reduction import AggregatedRecord
from dalenius.search import Clock

__all__ = ["WholeCurve"]

WITHIN = 0.9  # of a margin that an upper end is raised by, for its lines


@dataclass
class WholeCurve:
    """Bounds of the leakage at every entropy bound, from an audit at one.

    Parameters
    ----------
    problem : MaximalLeakage
        Against an entropy bound.
    shares : tuple of Fraction
        Of log |X|, below 1: where witnesses are looked for.

    Attributes
    ----------
    slope : float or None
        The multiplier that all leaves are to have; None where each has its own.
    """

    problem: MaximalLeakage
    shares: tuple[Fraction, ...]
    slope: float | None = field(default=None, init=False)
    _witnesses: list[CurveWitness] = field(default_factory=list, init=False)

    @property
    def entropy(self) -> tuple[Fraction, Fraction]:
        """The problem's own bound in nats, between two numbers."""
        assert isinstance(self.problem.adversary, EntropyAtLeast)
        return self.problem.adversary.enclosure(self.problem.records)

    def choose_slope(
        self,
        known: Sequence[tuple[AggregatedRecord, Candidate]],
        target: float,
        *,
        rng: np.random.Generator,
        clock: Clock,
    ) -> None:
        """That of the curve's tangent, unless leaves of one slope are known to stay above the target."""
        self.slope = tangent_slope(known, target, rng=rng, clock=clock)

    def search(self, channel: AggregatedRecord, witness: Candidate, clock: Clock) -> None:
        """Look for witnesses on the record that is told most about."""
        self._witnesses = curve_witnesses(channel, witness, self.shares, self.problem.records, clock=clock)

    def steps(self, margin: float) -> tuple[CurveStep, ...]:
        """What is claimed from below, rounded down by a margin (nats)."""
        return curve_steps(self._witnesses, margin)

    def lines(self, proofs: Sequence[tuple[float, Sequence[ProofLine]]], margin: float) -> tuple[Pair, ...]:
        """What is claimed from above where the model's own upper end is raised by a margin (nats).

        Parameters
        ----------
        proofs : sequence of pairs
            For each kind of record its bound in nats, and the lines that prove it.
        """
        room = Fraction(WITHIN * margin)
        sections = [(Fraction(upper) + room, proof) for upper, proof in proofs]
        return lines_above(sections, self.entropy, EntropyAtLeast(1, "max").enclosure(self.problem.records))
