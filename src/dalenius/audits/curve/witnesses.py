"""Witnesses at many entropy bounds, each polished from its neighbour's: milliseconds each, and the curve from below is dense."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from dalenius.audits.ascent import Candidate, feasible, polish
from dalenius.audits.proof_lines import prior_text
from dalenius.evidence import CurveStep, Lower, claim_text, unit_of
from dalenius.evidence.lines import WitnessLine
from dalenius.information import mutual_information
from dalenius.information.arrays import Floats
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
    """A witness for each share, the nearest to the start first on either side, as far as the clock and the certificate have room.

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
    there = [replace(channel, max_knowledge=EntropyAtLeast(share, "max").max_knowledge(records)) for share in shares]
    pairs = list(zip(shares, there, strict=True))
    found = list[CurveWitness]()
    for side in (
        [pair for pair in pairs if pair[1].max_knowledge < channel.max_knowledge],
        [pair for pair in reversed(pairs) if pair[1].max_knowledge >= channel.max_knowledge],
    ):
        best = start
        for share, nearby in side:
            if clock.expired:
                break
            best = polish(nearby, best.p, _carried(nearby, best), clock=clock)
            found.append(CurveWitness(share, nearby, best))
    return found


def curve_steps(witnesses: Sequence[CurveWitness], margin: float) -> tuple[CurveStep, ...]:
    """The steps of the witnesses, without those that are no higher than one at a larger entropy bound; the smallest bound first."""
    steps, least = list[CurveStep](), Fraction(0)
    for witness in sorted(witnesses, key=lambda witness: -witness.share):
        step = witness.step(margin)
        if step is not None and Fraction(step.low) > least:
            steps.append(step)
            least = Fraction(step.low)
    return tuple(reversed(steps))


def _carried(channel: AggregatedRecord, best: Candidate) -> Candidate:
    """A neighbour's witness, mixed with the uniform prior as far as this entropy bound asks."""
    p: Floats | None = feasible(best.p, channel.log_uniform, channel.max_knowledge, slack=0.0)
    p = channel.uniform if p is None else p
    return Candidate(p, float(mutual_information(p @ channel.rows)), best.mu)
