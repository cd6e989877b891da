"""Witnesses at many entropy bounds, all found at once from one: milliseconds each, and the curve from below is dense."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dalenius.audits.ascent import Candidate, carried, feasible
from dalenius.audits.proof_lines import prior_text
from dalenius.evidence import CurveStep, Lower, claim_text, unit_of
from dalenius.evidence.lower import WitnessLine
from dalenius.information import mutual_information
from dalenius.model import EntropyAtLeast, Records
from dalenius.reduction import AggregatedRecord
from dalenius.search import Clock

__all__ = ["CurveWitness", "curve_steps", "curve_witnesses"]

MOST_NUMBERS = 1 << 17  # masses of all witnesses of a certificate together
MOST_WORK = 1 << 22  # multiply-adds that checking them takes


@dataclass(frozen=True)
class CurveWitness:
    """A witness on one kind of record for the entropy bound of this share of log |X|, which the channel has."""

    share: Fraction
    channel: AggregatedRecord
    candidate: Candidate

    def step(self, margin: float) -> CurveStep | None:
        """What is claimed, with so many nats of entropy to spare and rounded down by as much; None where that is nothing.

        *Feasible because* it is mixed with the uniform prior as far as its entropy bound asks.
        """
        p = feasible(self.candidate.p, self.channel.log_uniform, self.channel.max_knowledge, slack=margin)
        if p is None:
            return None
        leakage = float(mutual_information(p @ self.channel.rows))
        line = WitnessLine(self.channel.record, prior_text(self.channel, p))
        low = Lower(value=leakage, margin=margin, unit=unit_of(leakage), lines=(line,)).rounded
        entropy = EntropyAtLeast(self.share, "max").normal_form()[EntropyAtLeast.kind]
        return CurveStep(entropy, claim_text(low), line) if low else None


def curve_witnesses(
    channel: AggregatedRecord, start: Candidate, shares: Sequence[Fraction], records: Records, *, clock: Clock
) -> list[CurveWitness]:
    """A witness for each share, as far as the clock and the certificate have room.

    Parameters
    ----------
    start : Candidate
        The witness at the channel's own entropy bound.
    shares : sequence of Fraction
        Of log |X|, below 1.
    """
    log_uniform = channel.completions.log_uniform
    room = max(min(MOST_NUMBERS // log_uniform.size, MOST_WORK // (log_uniform.size * channel.rows.shape[1])), 1)
    shares = sorted(shares)[:: -(-len(shares) // room)] if shares else []
    if not shares or clock.expired:
        return []
    allowed = np.array([EntropyAtLeast(share, "max").max_knowledge(records) for share in shares])
    found = carried(channel, start, allowed, clock=clock)
    return [
        CurveWitness(share, replace(channel, max_knowledge=most), candidate)
        for share, most, candidate in zip(shares, allowed.tolist(), found, strict=True)
    ]


def curve_steps(witnesses: Sequence[CurveWitness], margin: float) -> tuple[CurveStep, ...]:
    """The steps of the witnesses, without those that are no higher than one at a larger entropy bound; the smallest bound first."""
    steps, least = list[CurveStep](), Fraction(0)
    for witness in sorted(witnesses, key=lambda witness: -witness.share):
        step = witness.step(margin)
        if step is not None and Fraction(step.low) > least:
            steps.append(step)
            least = Fraction(step.low)
    return tuple(reversed(steps))
