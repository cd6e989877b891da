"""A proof at one entropy bound as lines that bound the leakage at every entropy bound (docs/theory.md, "The whole curve").

A leaf of the trees that prove L(b) <= upper is bounded by c - mu b, where c knows nothing of b. With c - mu b <= upper

    c - mu b' <= upper + mu (b - b')     for every b',

so what a proof says at b' are the lines through (b, upper) with its leaves' slopes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from dalenius.evidence.certificate import Certificate
from dalenius.evidence.ends import Pair
from dalenius.evidence.upper import InformedLeaf, JointLeaf, ProofLine, UniformLeaf, VerticesLeaf
from dalenius.exact import fraction_text
from dalenius.model import EntropyAtLeast, MaximalLeakage

__all__ = ["Section", "bound_at", "lines_above"]

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


def bound_at(certificate: Certificate, problem: MaximalLeakage) -> Fraction:
    """What a certificate of the same release against an adversary with no more entropy says of this problem's leakage, in nats."""
    header = certificate.header
    assert header.claim is not None
    assert isinstance(problem.adversary, EntropyAtLeast)
    entropy = problem.adversary.enclosure(problem.records)[0]
    lines = header.curve.above if header.curve else ()
    values = [Fraction(c) - Fraction(m) * entropy for c, m in lines]
    return min(header.claim[1], max(values)) if values else header.claim[1]


def _slopes(proof: Sequence[ProofLine]) -> set[Fraction] | None:
    """The multipliers of the leaves' entropy bounds; None where a leaf is about the uniform prior."""
    slopes = set[Fraction]()
    for line in proof:
        if isinstance(line, UniformLeaf):
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
