"""Two certificates of one model make one, with the better of their lower and the better of their upper ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dalenius._prove import Proved, prove
from dalenius.errors import InputError
from dalenius.evidence import Certificate, Lower, Upper
from dalenius.model import Problem


def join(problem: Problem, first: Certificate, second: Certificate) -> Certificate:
    """The better lower end and the better upper end of two proved certificates of one model, proved together.

    The lower end brings its witness, or its dual, priors and ratios; the upper end its sections and, in a design, its mechanism and
    the ends of its terms. No line of the one refers to a line of the other, so the parts prove together what they proved apart; each
    end retreats on its own.

    Raises
    ------
    InputError
        If they are of different models.
    DaleniusError
        If not even the looser ends are proved.

    >>> import dalenius as dl
    >>> model = dl.load("parity/laplace-n4")
    >>> loose, tight = dl.solve(model, gap=0.5).certificate, dl.solve(model, gap=1e-6).certificate
    >>> dl.verify(model, join(model, loose, tight)).proved
    True
    """
    if first.header.model != second.header.model:
        raise InputError("expected two certificates of one model; their headers name different digests")
    if first.header.claim is None or second.header.claim is None:
        return second if first.header.claim is None and first.header.claim_below is not None else first
    return prove(problem, _Joined((first, second)))


@dataclass(frozen=True)
class _Joined:
    """The ends of several proved certificates as proposals."""

    certificates: tuple[Certificate, ...]

    def run(self) -> None:
        """Nothing to search."""

    def lowers(self) -> Iterator[Lower]:
        ends = [(claim[0], other) for other in self.certificates if (claim := other.header.claim)]
        for number, (value, other) in enumerate(sorted(ends, key=lambda end: -end[0])):
            yield Lower(value=value, exact=True, lines=other.lower_lines(), candidate=number)

    def uppers(self) -> Iterator[Upper]:
        ends = [(claim[1], other) for other in self.certificates if (claim := other.header.claim)]
        for number, (value, other) in enumerate(sorted(ends, key=lambda end: end[0])):
            header, lines = other.header, other.upper_lines()
            yield Upper(
                value=value, exact=True, lines=lines, mechanism=header.mechanism, terms=header.terms, candidate=number
            )

    def result(self, proved: Proved[Lower, Upper]) -> Certificate:
        """The certificate that was proved."""
        return proved.certificate
