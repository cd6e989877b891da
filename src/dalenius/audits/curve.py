"""One proof bounds the whole curve of leakage against the entropy bound: lines from above, witnesses at many bounds from below."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from dalenius.audits.ascent import Candidate, carried, feasible, priced
from dalenius.audits.proof_lines import prior_text
from dalenius.evidence import CurveStep, Lower, claim_text, unit_of
from dalenius.evidence.certificate import Certificate
from dalenius.evidence.ends import Pair
from dalenius.evidence.lower import WitnessLine
from dalenius.evidence.upper import GridLine, InformedLeaf, JointLeaf, ProofLine, UniformLeaf, VerticesLeaf
from dalenius.exact import fraction_text
from dalenius.information import mutual_information
from dalenius.model import EntropyAtLeast, WorstCaseLeakage
from dalenius.reduction import AggregatedRecord, RecordChannel
from dalenius.search import Clock
from dalenius.search.decimals import short

# A proof at one entropy bound as lines that bound the leakage at every entropy bound (docs/theory.md, "The whole curve").
#
# A leaf of the trees that prove L(b) <= upper is bounded by c - mu b, where c knows nothing of b. With c - mu b <= upper
#
#     c - mu b' <= upper + mu (b - b')     for every b',
#
# so what a proof says at b' are the lines through (b, upper) with its leaves' slopes.


Section = tuple[Fraction, Sequence[ProofLine]]  # an upper end in nats, and the lines that prove it
Ends = tuple[Fraction, Fraction]
MOST = 1000  # lines that a certificate may have
DIGITS = 30  # decimals of a line's constant, and as many more as the upper ends are small


def lines_above(sections: Iterable[Section], entropy: Ends, largest: Ends) -> tuple[Pair, ...]:
    """Lines (c, m) as a certificate writes them; none where a leaf holds at its own entropy bound only, or there are too many slopes.

    Parameters
    ----------
    sections : iterable of Section
        One for each kind of record.
    entropy : pair of Fraction
        The proof's entropy bound b in nats, between two numbers.
    largest : pair of Fraction
        The same of log |X|.

    >>> from dalenius.evidence.upper import JointLeaf, VerticesLeaf
    >>> half = Fraction(1, 2), Fraction(1, 2)
    >>> one = Fraction(1), Fraction(1)
    >>> lines_above([(Fraction(1, 4), [JointLeaf("1", "0.5", None, None)])], half, one)
    (('0.5', '0.5'),)
    >>> lines_above([(Fraction(1, 4), [JointLeaf("1", "0.5", None, None), VerticesLeaf()])], half, one)
    (('0.5', '0.5'), ('0.25', '0'))
    """
    lines = set[tuple[Fraction, Fraction]]()
    for upper, proof in sections:
        slopes = _slopes(proof)
        if slopes is None:
            return ()
        lines |= {(_short_above(upper + slope * entropy[1], upper), slope) for slope in slopes}
    kept = _undominated(lines, largest[1])
    return tuple((fraction_text(c), fraction_text(m)) for c, m in kept) if len(kept) <= MOST else ()


def bound_at(certificate: Certificate, problem: WorstCaseLeakage) -> Fraction:
    """Bound on this problem's leakage from a certificate of the same release against an adversary with no more entropy, in nats."""
    header = certificate.header
    assert header.claim is not None
    assert isinstance(problem.adversary, EntropyAtLeast)
    entropy = problem.adversary.enclosure(problem.records)[0]
    lines = header.curve.above if header.curve else ()
    values = [Fraction(c) - Fraction(m) * entropy for c, m in lines]
    return min(header.claim[1], max(values)) if values else header.claim[1]


def _slopes(proof: Sequence[ProofLine]) -> set[Fraction] | None:
    """The multipliers of the leaves' entropy bounds; None where a leaf is about the uniform prior, or a rounded count."""
    slopes = set[Fraction]()
    for line in proof:
        if isinstance(line, UniformLeaf | GridLine):
            return None
        if isinstance(line, JointLeaf):
            slopes.add(Fraction(line.entropy))
        elif isinstance(line, InformedLeaf):
            slopes.add(1 - Fraction(line.share))
        elif isinstance(line, VerticesLeaf):
            slopes.add(Fraction(0))
    return slopes


def _undominated(lines: set[tuple[Fraction, Fraction]], largest: Fraction) -> list[tuple[Fraction, Fraction]]:
    """The lines that are not below another one at both ends of [0, largest], the highest at 0 first."""
    kept = list[tuple[Fraction, Fraction]]()
    for c, m in sorted(lines, key=lambda line: (-line[0], line[1])):
        if not kept or c - m * largest > kept[-1][0] - kept[-1][1] * largest:
            kept.append((c, m))
    return kept


def _short_above(c: Fraction, upper: Fraction) -> Fraction:
    """c rounded up to a number that is short to write."""
    places = DIGITS + (max(0, -math.floor(math.log10(upper))) if upper > 0 else 0)
    return Fraction(math.ceil(c * 10**places), 10**places)


# Which slope all leaves of a proof are to have, so that it bounds the whole curve by one line (docs/theory.md, "The whole curve").
#
# With a multiplier m that is the same in every leaf a proof bounds I + m (H(p) - b) over all priors, whatever entropy they have. That
# is L(b) at best: where the curve lies below its tangent at b, with -m the tangent's slope, which is the witness's own multiplier.


SLOPE_DIGITS = 6
LEVEL = 1e-6  # of the leakage: a line that falls by no more up to log |X| is level


MOST_NUMBERS = 1 << 17  # masses of all witnesses of a certificate together
MOST_WORK = 1 << 22  # multiply-adds that checking them takes


@dataclass(frozen=True)
class CurveWitness:
    """A witness on one kind of record for the entropy bound of this share of log |X|, which the channel has."""

    share: Fraction
    channel: AggregatedRecord
    candidate: Candidate

    def step(self, margin: float) -> CurveStep | None:
        """Claim with so many nats of entropy to spare and rounded down by as much; None where that is nothing.

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


WITHIN = 0.9  # of a margin that an upper end is raised by, for its lines


@dataclass
class WholeCurve:
    """Bounds of the leakage at every entropy bound, from an audit at one.

    Parameters
    ----------
    problem : WorstCaseLeakage
        Against an entropy bound.
    shares : tuple of Fraction
        Of log |X|, below 1: where witnesses are looked for.

    Attributes
    ----------
    slope : float or None
        The multiplier that all leaves are to have; None where each has its own.
    witnesses : list of CurveWitness
    """

    problem: WorstCaseLeakage
    shares: tuple[Fraction, ...]
    slope: float | None = field(default=None, init=False)
    witnesses: list[CurveWitness] = field(default_factory=list, init=False)

    def choose_slope(
        self, known: Sequence[tuple[RecordChannel, Candidate]], target: float, *, rng: np.random.Generator, clock: Clock
    ) -> None:
        """Multiplier of the record about which most is revealed, if no prior is found that keeps the bounds above the target with it.

        None, too, where the entropy bound costs that record nothing: the curve is level there.

        Parameters
        ----------
        known : sequence of pairs
            Each kind of record, and its witness.
        target : float
            What the bounds are to come down to, in nats.
        """
        channel, best = max(known, key=lambda pair: pair[1].leakage)
        self.slope = None
        if best.mu * channel.max_knowledge > LEVEL * best.leakage:
            slope = float(short(best.mu, SLOPE_DIGITS))
            found = (priced(channel, slope, rng=rng, clock=clock, warm=[witness.p]) for channel, witness in known)
            self.slope = slope if all(value <= target for value in found) else None

    def search(self, channel: AggregatedRecord, start: Candidate, clock: Clock) -> None:
        """A witness for each share on one kind of record, as far as the clock and the certificate have room.

        Parameters
        ----------
        start : Candidate
            The witness at the channel's own entropy bound.
        """
        log_uniform, records = channel.completions.log_uniform, self.problem.records
        room = max(min(MOST_NUMBERS // log_uniform.size, MOST_WORK // (log_uniform.size * channel.rows.shape[1])), 1)
        shares = sorted(self.shares)[:: max(-(-len(self.shares) // room), 1)]
        if shares and not clock.expired:
            allowed = np.array([EntropyAtLeast(share, "max").max_knowledge(records) for share in shares])
            found = carried(channel, start, allowed, clock=clock)
            self.witnesses = [
                CurveWitness(share, replace(channel, max_knowledge=most), candidate)
                for share, most, candidate in zip(shares, allowed.tolist(), found, strict=True)
            ]

    def steps(self, margin: float) -> tuple[CurveStep, ...]:
        """Claims from below, rounded down by a margin (nats), the smallest entropy bound first.

        Witnesses that are no higher than one at a larger entropy bound are left out.
        """
        steps, least = list[CurveStep](), Fraction(0)
        for witness in sorted(self.witnesses, key=lambda witness: -witness.share):
            step = witness.step(margin)
            if step is not None and Fraction(step.low) > least:
                steps.append(step)
                least = Fraction(step.low)
        return tuple(reversed(steps))

    def lines(self, proofs: Sequence[tuple[float, Sequence[ProofLine]]], margin: float) -> tuple[Pair, ...]:
        """Claims from above where the model's own upper end is raised by a margin (nats).

        Parameters
        ----------
        proofs : sequence of pairs
            For each kind of record its bound in nats, and the lines that prove it.
        """
        room = Fraction(WITHIN * margin)
        sections = [(Fraction(upper) + room, proof) for upper, proof in proofs]
        adversary, records = self.problem.adversary, self.problem.records
        assert isinstance(adversary, EntropyAtLeast)
        return lines_above(sections, adversary.enclosure(records), EntropyAtLeast(1, "max").enclosure(records))
