"""The linear program of a private design as a proposer: both ends are exact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from dalenius._prove import Proved
from dalenius.designs.claims import NOTHING, distortion_unit, termination_of
from dalenius.designs.linear.design import LinearDesign
from dalenius.designs.linear.evidence import bound_lines, mechanism_text
from dalenius.designs.rational import short_above, writable
from dalenius.evidence import Lower, Upper, claim_text
from dalenius.model import DesignProblem, MinDistortion
from dalenius.outcome import Scope, TermValue
from dalenius.results import DesignResult
from dalenius.search import Run
from dalenius.units import Quantity

__all__ = ["LinearProposer"]


@dataclass(frozen=True, kw_only=True)
class ExactUpper(Upper):
    """An upper end, and the mechanism in exact rows."""

    rows: list[list[Fraction]]
    ends: tuple[Fraction, ...]  # of the terms of what is minimised


@dataclass
class LinearProposer:
    """What the linear program of a design under a privacy notion found."""

    design: LinearDesign

    @classmethod
    def of(cls, problem: DesignProblem, search: Run) -> Self:
        """For a feasible problem with a privacy notion."""
        assert isinstance(problem, MinDistortion)
        return cls(LinearDesign(problem, search))

    def run(self) -> None:
        """Solve."""
        self.design.run()

    def lowers(self) -> Iterator[Lower]:
        """The multipliers' bound, then 0."""
        run, unit = self.design, distortion_unit(self.design.problem)
        lines = bound_lines(run.program, run.multipliers)
        end = Lower(value=run.lower, unit=unit, exact=self._exact, lines=lines)
        if end.rounded:
            yield end
        yield Lower(value=Fraction(0), unit=unit, lines=NOTHING, candidate=1)

    def uppers(self) -> Iterator[ExactUpper]:
        """What the mechanism distorts, which it does by construction; at last that of a mechanism that releases nothing."""
        run = self.design
        yield self._upper(run.upper, run.rows, exact=self._exact)
        yield self._upper(run.minimised.of_constant, run.minimised.constant, candidate=1)

    def _upper(
        self, value: Fraction, rows: list[list[Fraction]], *, exact: bool = False, candidate: int = 0
    ) -> ExactUpper:
        run = self.design
        parts = [run.terms.distortions[j].of(rows) for j in range(run.terms.count)]
        ends = tuple(map(short_above, parts))
        several = run.problem.objective is not None
        return ExactUpper(
            value=run.terms.exactly(ends) if several else value,
            unit=distortion_unit(run.problem),
            exact=exact and (not several or list(ends) == parts),
            candidate=candidate,
            lines=(),
            mechanism=mechanism_text(rows),
            terms=tuple(map(claim_text, ends)) if several else None,
            rows=rows,
            ends=ends,
        )

    @property
    def _exact(self) -> bool:
        """Whether both ends are one number, which can be written."""
        return self.design.lower == self.design.upper and writable([self.design.lower])

    def result(self, proved: Proved[Lower, ExactUpper]) -> DesignResult:
        """The mechanism, and the proved interval for the best there is."""
        run, rows = self.design, proved.upper_end.rows
        return DesignResult(
            lower=proved.lower,
            upper=proved.upper,
            mechanism=run.problem.designed(rows),
            audit=None,
            distortion=run.problem.expected_distortion(rows),
            termination=termination_of(proved, run.search.limits.gap, run.termination),
            scope=Scope.GLOBAL,
            certificate=proved.certificate,
            seconds=run.clock.seconds,
            rounds=run.rounds,
            units=run.problem.quantity.units,
            exp_epsilon=run.problem.exp_epsilon(rows),
            refusals=proved.refusals,
            trace=tuple(run.clock.trace),
            values=run.problem.most_values,
            objective=self._values(proved),
        )

    def _values(self, proved: Proved[Lower, ExactUpper]) -> tuple[TermValue, ...]:
        """What each term of an objective comes to."""
        run, ends = self.design, proved.upper_end.ends
        if run.problem.objective is None:
            return ()
        weighs = proved.lower_end.candidate == 0
        return tuple(
            TermValue(j, "distortion", w, end, end, float(w) if weighs else 0.0, Quantity.DISTORTION.units)
            for j, (w, end) in enumerate(zip(run.terms.weights, ends, strict=True))
        )
