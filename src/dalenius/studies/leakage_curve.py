"""The whole curve of leakage against entropy between proved bounds: lines and steps from above, dense steps from below."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Self

from dalenius._verify import need_proved
from dalenius.errors import InputError, brief
from dalenius.evidence import Certificate, double_above, double_below
from dalenius.exact import Number, as_fraction
from dalenius.model import EntropyAtLeast, Problem, Records, WorstCaseLeakage, digest
from dalenius.notebook import in_brief
from dalenius.results import Result
from dalenius.units import lower_in, unit_size, upper_in

FAR = 1e-12  # relative distance of doubles whose order is beyond doubt
UNPROVED = "the checker does not prove a certificate of the curve"
TENTHS = 10  # places between two entropy bounds that are looked at for the next one


@dataclass(frozen=True)
class _Bound:
    """An entropy bound b in nats, between two numbers; `exact` compares it with others of the same units."""

    exact: EntropyAtLeast
    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, entropy: EntropyAtLeast, records: Records) -> Self:
        return cls(entropy, *entropy.enclosure(records))

    @cached_property
    def _double(self) -> float:
        return float(self.low)

    def at_most(self, other: _Bound) -> bool:
        """True if this bound is certainly no larger; doubles say so where they are far apart beside what rounding does to them."""
        if abs(self._double - other._double) > FAR * max(self._double, other._double):
            return self._double < other._double
        if self.exact.units == other.exact.units:
            return self.exact.amount <= other.exact.amount
        return self.high <= other.low


@dataclass(frozen=True)
class _Proof:
    """Bounds of one certificate on the curve: its own interval at b, lines from above, steps from below."""

    at: _Bound
    claim: tuple[Fraction, Fraction]
    lines: tuple[tuple[Fraction, Fraction], ...]
    steps: tuple[tuple[_Bound, Fraction], ...]

    @classmethod
    def of(cls, problem: WorstCaseLeakage, certificate: Certificate) -> Self:
        header, records = certificate.header, problem.records
        assert header.claim is not None
        claimed = header.curve
        lines = tuple((as_fraction(c, "c"), as_fraction(m, "m")) for c, m in (claimed.above if claimed else ()))
        steps = tuple(
            (_Bound.of(EntropyAtLeast(entropy, "nats"), records), as_fraction(low, "low"))
            for entropy, low in (claimed.below if claimed else ())
        )
        return cls(_Bound.of(_bound_of(problem), records), header.claim, lines, steps)

    def uppers(self, b: _Bound) -> Iterator[Fraction]:
        if self.at.at_most(b):
            yield self.claim[1]
        if self.lines:
            yield max(c - m * b.low for c, m in self.lines)

    @property
    def lowers(self) -> tuple[tuple[_Bound, Fraction], ...]:
        """Lower ends, and up to which entropy bound they hold."""
        return ((self.at, self.claim[0]), *self.steps)


@dataclass(frozen=True)
class LeakageCurve:
    """L(b), the worst-case leakage to adversaries of entropy at least b, between proved bounds for every b in [0, log |X|].

    With claims [l_i, u_i] proved at b_i, lines (c, m) and steps (e, low) of their certificates (docs/certificate-format.md, "The whole
    curve"):

        max { low : b <= e }, { l_i : b <= b_i }   <=   L(b)   <=   min over i of  max_j c_ij - m_ij b,   and u_i where b_i <= b

    *because* L falls as b grows, and each of a proof's lines bounds a part of all priors at every b. Nothing is interpolated.

    Attributes
    ----------
    proofs : tuple of (WorstCaseLeakage, Certificate)
        One release against several entropy bounds, and what is proved about each.
    units : {"nats", "bits"}
        Of the values.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast("0.5 max"))
    >>> curve = dl.answers.LeakageCurve.of((problem, dl.solve(problem, gap=1e-3, curve=True)))
    >>> lower, upper = curve.at("0.6 max")
    >>> lower < upper <= curve.upper("0.5 max")
    True
    """

    __repr__ = in_brief

    proofs: tuple[tuple[WorstCaseLeakage, Certificate], ...]
    units: str = "nats"

    @classmethod
    def of(cls, *proofs: tuple[Problem, Result | Certificate]) -> Self:
        """From results, which are proved, or from certificates, which are proved now.

        Raises
        ------
        InputError
            If there is none, or they are not of one release against `EntropyAtLeast`, each with the certificate of its own problem.
        NotProvedError
            If the checker does not prove a certificate.
        """
        if not proofs:
            raise InputError("expected pairs of a problem and its result or certificate, got none")
        kept = list[tuple[WorstCaseLeakage, Certificate]]()
        for pair in proofs:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise InputError(f"expected pairs of a problem and its result or certificate, got {brief(pair)}")
            problem, proof = pair
            if not isinstance(problem, WorstCaseLeakage) or problem.bound is None:
                raise InputError(
                    f"a curve against entropy is of audits against entropy_at_least, got {brief(problem)}; leave that pair out"
                )
            if digest(problem.anywhere()) != digest((kept[0][0] if kept else problem).anywhere()):
                raise InputError("expected one release against several entropy bounds, got several releases")
            certificate = proof.certificate if isinstance(proof, Result) else proof
            if not isinstance(certificate, Certificate) or certificate.header.model != digest(problem):
                raise InputError("expected each problem with its own result or certificate, got another model's")
            if certificate is proof:
                need_proved(problem, certificate, lambda verdict: f"{UNPROVED}: {verdict.reason}")
            kept.append((problem, certificate))
        return cls(tuple(kept))

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """Certificates that prove it."""
        return tuple(certificate for _, certificate in self.proofs)

    def proved_by(self, entropy: Number | EntropyAtLeast) -> tuple[Certificate | None, Certificate | None]:
        """The certificates that prove the lower and the upper end at this entropy bound; None where none does (0, infinite)."""
        b = self._bound(entropy)
        (_, below), (_, above) = self._lowest(b), self._highest(b)
        return below, above

    def upper(self, entropy: Number | EntropyAtLeast) -> float:
        """No adversary of at least this entropy is told more, in `units`, rounded upward; infinite where no proof reaches.

        Parameters
        ----------
        entropy : number, str or EntropyAtLeast
            As `EntropyAtLeast` takes it: nats, ``"2 bits"``, ``"0.8 max"``.

        Raises
        ------
        InputError
            If no prior has this entropy, or it is no entropy at all.
        """
        return upper_in(self._highest(self._bound(entropy))[0], self.units)

    def lower(self, entropy: Number | EntropyAtLeast) -> float:
        """Some adversary of at least this entropy is told at least so much, in `units`, rounded downward."""
        return lower_in(self._lowest(self._bound(entropy))[0], self.units)

    def at(self, entropy: Number | EntropyAtLeast) -> tuple[float, float]:
        """Both ends at this entropy bound."""
        low, high = self._nats(self._bound(entropy))
        return lower_in(low, self.units), upper_in(high, self.units)

    def to(self, units: str) -> Self:
        """The same in other units.

        Raises
        ------
        InputError
            If there are no such units.
        """
        unit_size(units)
        return self if units == self.units else replace(self, units=units)

    @cached_property
    def shares(self) -> tuple[Fraction, ...]:
        """The shares of log |X|, ascending, at which a proof says something from below: between them `lower` does not change."""
        bounds = {bound for proof in self._proofs for bound in (proof.at, *(step for step, _ in proof.steps))}
        return tuple(sorted({self._share(bound) for bound in bounds}))

    def share_of(self, problem: WorstCaseLeakage) -> Fraction:
        """The entropy bound of one of the problems as a share of log |X|: exactly where it is given so, else to six digits."""
        return self._share(_Bound.of(_bound_of(problem), self._records))

    def widest(self, gap: float = 0.0) -> Fraction | None:
        """The share of log |X|, not one that has a proof, where the band is wider than at its neighbours by most; None where nowhere.

        Parameters
        ----------
        gap : float
            Where (upper - lower) / upper is no more than this, nothing is wide.
        """
        known = sorted({Fraction(0), Fraction(1), *(self._share(proof.at) for proof in self._proofs)})
        widths = {share: self._width(share, gap) for share in known}
        best, most = None, 0.0
        for left, right in pairwise(known):
            for tenth in range(1, TENTHS):
                share = left + (right - left) * Fraction(tenth, TENTHS)
                gain = self._width(share, gap) - max(widths[left], widths[right])
                if gain > most:
                    best, most = share, gain
        return best

    @cached_property
    def _proofs(self) -> list[_Proof]:
        return [_Proof.of(problem, certificate) for problem, certificate in self.proofs]

    @cached_property
    def _steps(self) -> list[tuple[Fraction, _Bound, int]]:
        """Lower ends, the largest first, and up to which entropy bound they hold; none that a larger one makes useless."""
        every = [(low, bound, j) for j, proof in enumerate(self._proofs) for bound, low in proof.lowers if low > 0]
        kept = list[tuple[Fraction, _Bound, int]]()
        for low, bound, j in sorted(every, key=lambda step: (-step[0], step[2])):
            if not kept or not bound.at_most(kept[-1][1]):
                kept.append((low, bound, j))
        return kept

    @property
    def _records(self) -> Records:
        return self.proofs[0][0].records

    def _bound(self, entropy: Number | EntropyAtLeast) -> _Bound:
        asked = entropy if isinstance(entropy, EntropyAtLeast) else EntropyAtLeast(entropy)
        asked.check(self._records)
        return _Bound.of(asked, self._records)

    def _nats(self, b: _Bound) -> tuple[float, float]:
        """Both ends in nats."""
        return self._lowest(b)[0], self._highest(b)[0]

    def _lowest(self, b: _Bound) -> tuple[float, Certificate | None]:
        """The lower end in nats, and who proves it; 0 and nobody where no proof says more."""
        for value, bound, j in self._steps:
            if b.at_most(bound):
                return double_below(value), self.proofs[j][1]
        return 0.0, None

    def _highest(self, b: _Bound) -> tuple[float, Certificate | None]:
        """The upper end in nats, and who proves it; infinite and nobody where no proof reaches."""
        highs = [(value, j) for j, proof in enumerate(self._proofs) for value in proof.uppers(b)]
        best = min(highs, default=None)
        if best is None:
            return math.inf, None
        return double_above(max(best[0], Fraction(0))), self.proofs[best[1]][1]

    def _share(self, b: _Bound) -> Fraction:
        """Of log |X|, or beside it."""
        if b.exact.units == "max":
            return b.exact.amount
        largest = EntropyAtLeast(1, "max").enclosure(self._records)[1]
        return (b.low / largest).limit_denominator(10**6) if largest else Fraction(0)

    def _width(self, share: Fraction, gap: float) -> float:
        low, high = self._nats(self._bound(EntropyAtLeast(share, "max")))
        return high - low if high - low > gap * high else 0.0


def _bound_of(problem: WorstCaseLeakage) -> EntropyAtLeast:
    assert problem.bound is not None
    return problem.bound
