"""Claims of privacy that the independent checker proves: a rational mechanism is locally differentially private, or leaks so little.

A claim is a design model whose every mechanism costs nothing, under the notion: its certificate carries the mechanism, and the checker
proves, in rationals, that this one is private. Whoever gets both files needs nothing of this package to see that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from dalenius._prove import Proved, prove
from dalenius.errors import InputError
from dalenius.evidence import Certificate, Lower, Upper
from dalenius.evidence.lines import DualLine
from dalenius.exact import WRITABLE_BITS, fraction_text
from dalenius.information import measures as formulas
from dalenius.information.measures.numbers import Numbers, largest
from dalenius.model import MinDistortion, Records
from dalenius.model.distortions import DistortionMatrix
from dalenius.model.privacy import LocalDP, PointwiseMaximalLeakage, Privacy
from dalenius.model.queries import Identity

__all__ = ["CLAIMED", "PrivacyClaim", "claim"]

CLAIMED = ("local_dp", "pointwise_maximal_leakage")
SHORT = 1000  # bits of a rational that is claimed as it is
ROUNDED = 2**100  # the denominator of one that is rounded upward

Rows = Sequence[Sequence[Fraction]]


@dataclass(frozen=True)
class PrivacyClaim:
    """What the checker has proved of a mechanism.

    Attributes
    ----------
    problem : MinDistortion
        Least distortion under the notion, with a distortion that is 0 everywhere.
    certificate : Certificate
        It carries the mechanism. `dalenius.verify(problem, certificate)` checks it again.
    """

    problem: MinDistortion
    certificate: Certificate

    @property
    def epsilon(self) -> str:
        """The epsilon that is proved, as the model has it: ``"log 7"``."""
        assert self.problem.privacy is not None
        return str(self.problem.privacy.epsilon)


def claim(name: str, channel: Numbers, prior: Numbers) -> PrivacyClaim | None:
    """The claim of a measure of `CLAIMED`, proved; None where the measure is infinite.

    Parameters
    ----------
    channel, prior : arrays of rationals

    Raises
    ------
    InputError
        If an entry cannot be written.
    DaleniusError
        If the checker does not prove it: the mechanism is beyond its limits.
    """
    if name == "local_dp":
        ratio = formulas.exp_local_dp(channel).item()
    else:
        ratio = largest(formulas.exp_pointwise_maximal_leakage(channel, prior)).item()
    if not isinstance(ratio, fmpq):
        return None
    epsilon, rows = f"log {fraction_text(_rounded(_fraction(ratio)))}", [[_fraction(x) for x in row] for row in channel]
    if max(_bits(entry) for row in rows for entry in row) > WRITABLE_BITS:
        raise InputError(
            "claims: an entry of the matrix is too long for a certificate; round the matrix, or leave the claims out"
        )
    inputs, outputs = channel.shape
    notion: Privacy = LocalDP(epsilon)
    if name != "local_dp":
        notion = PointwiseMaximalLeakage(epsilon, [[_fraction(x) for x in prior]])
    problem = MinDistortion(
        records=Records(1, alphabet=inputs),
        query=Identity(),
        distortion=DistortionMatrix([[0] * outputs] * inputs),
        privacy=notion,
        title=f"{name} of a mechanism that its certificate carries",
    )
    return PrivacyClaim(problem, prove(problem, _Given(rows)))


@dataclass(frozen=True)
class _Given:
    """A mechanism that was not searched for, as a proposer: its distortion is 0."""

    rows: Rows

    def run(self) -> None:
        """There is nothing to do."""

    def lowers(self) -> Iterator[Lower]:
        yield Lower(value=Fraction(0), lines=(DualLine(None),))

    def uppers(self) -> Iterator[Upper]:
        rows = tuple(tuple(fraction_text(entry) for entry in row) for row in self.rows)
        yield Upper(value=Fraction(0), lines=(), mechanism=rows)

    def result(self, proved: Proved[Lower, Upper]) -> Certificate:
        return proved.certificate


def _rounded(x: Fraction) -> Fraction:
    """x, or a shorter number above it."""
    if _bits(x) <= SHORT:
        return x
    return Fraction(-(-x.numerator * ROUNDED // x.denominator), ROUNDED)


def _bits(x: Fraction) -> int:
    return x.numerator.bit_length() + x.denominator.bit_length()


def _fraction(x: fmpq) -> Fraction:
    return Fraction(int(x.p), int(x.q))
