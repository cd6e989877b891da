"""The linear program of a private design as a proposer: both ends are exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from dalenius._prove import Proved
from dalenius.designs.claims import NOTHING, distortion_unit, termination_of
from dalenius.designs.linear.exact import multipliers_near, private_near, proved
from dalenius.designs.linear.program import Multipliers, PrivateDesign, Rows
from dalenius.designs.lp import Doubles, LinearProgram
from dalenius.designs.rational import short_above, weight_texts, writable
from dalenius.designs.terms import Terms
from dalenius.evidence import Lower, Upper, claim_text
from dalenius.evidence.lower import DualLine, LowerLine, Matrix, RatioLine, Vector, WeightLine
from dalenius.exact import fraction_text
from dalenius.model import DesignProblem, MinDistortion
from dalenius.outcome import Scope, Termination, TermValue
from dalenius.results import DesignResult
from dalenius.search import Clock, Run
from dalenius.units import Quantity

# e^epsilon in the doubles' program, one after the other: multipliers fall with it, and below TIGHT they count as 0
STEEPEST = (Fraction(10**9), Fraction(10**4))
CLOSE = Fraction(1, 2**60)  # relative width that doubles do not show


class LinearDesign:
    """A running design under a privacy notion. Bounds and mechanism are exact, and valid whenever `run` returns.

    With s_ky = e^epsilon times the least average of column y that reference k allows, privacy says Q(x,y) <= s_ky, and defines s_ky
    by an equation (listed laws) or by s_ky <= e^epsilon Q(x,y) (any law). A solver in doubles shows which of these hold with
    equality; they make a linear system with about as many unknowns as inputs and outputs, s_ky and what is strictly between its
    bounds, and so do those of the dual. Both are solved exactly. What does not come out as guessed (or cannot be written) is rounded
    and repaired: rows take on a little of a constant law until they are private, and every list of multipliers is a valid dual.
    Nothing rests on the guess.

    Parameters
    ----------
    problem : MinDistortion
        With `privacy`; feasible. What it minimises is a distortion, or a weighted sum of some.
    search : Run
        Its gap and its clock; what costs nothing is made exact.

    Attributes
    ----------
    program : PrivateDesign
    minimised : ExpectedDistortion
        The sum of all terms as one.
    rows : the mechanism, of the problem's class
    upper : what it comes to
    lower : a bound on the optimum, which `multipliers` prove
    rounds : how many programs were solved

    Raises
    ------
    DaleniusError
        If the largest distortion is beyond doubles, or there are too many inputs and outputs.
    """

    def __init__(self, problem: MinDistortion, search: Run) -> None:
        self.problem, self.search = problem, search
        self.terms = Terms.of(problem)
        minimised = self.terms.as_distortion
        assert minimised is not None
        self.minimised, self.program = minimised, PrivateDesign.of(problem, minimised)
        self.multipliers: Mapping[int, Multipliers] = {}
        self.rows: Rows = minimised.constant
        self.lower, self.upper = minimised.least, minimised.of_constant
        self.rounds, self._programs = 0, dict[Fraction, LinearProgram]()

    @property
    def clock(self) -> Clock:
        return self.search.clock

    def run(self) -> None:
        """Solve; what is found on the way is kept whatever stops the work."""
        cheapest = [row.index(min(row)) for row in self.program.by_row(self.program.cost)]
        self._take([Fraction(int(y == best)) for best in cheapest for y in range(self.program.outputs)])
        self._tell()
        if self.upper == self.lower or self.clock.expired:
            return
        for steepest in STEEPEST:
            exp_epsilon = min(self.program.below, steepest)
            self._round(exp_epsilon)
            if self.clock.expired or self._exact or exp_epsilon < steepest:
                break

    def _of(self, c: Fraction) -> LinearProgram:
        """The program for e^epsilon = c."""
        if c not in self._programs:
            self._programs[c] = self.program.program(c)
        return self._programs[c]

    def _round(self, exp_epsilon: Fraction) -> None:
        """What the program in doubles says of the exact one."""
        found = self.in_doubles(exp_epsilon)
        if found is None:
            return
        self.rounds += 1
        program, scale = self.program, self.program.scale
        steps: list[Callable[[], None]] = [
            lambda: self._take(self._of(program.below).primal(found)),
            lambda: self._bound(self._of(program.above).dual(found)),
            lambda: self._take([max(Fraction(value), Fraction(0)) for value in found.x.tolist()]),
            lambda: self._bound([Fraction(value) * scale for value in found.multipliers.tolist()]),
        ]
        for step in steps:
            if self.clock.expired or self._exact:
                break
            step()
            self._tell()

    def in_doubles(self, exp_epsilon: Fraction) -> Doubles | None:
        """What a solver says of the program in doubles; None if it fails, or is stopped."""
        return self._of(exp_epsilon).in_doubles(self.clock, self.program.scale)

    def _take(self, point: list[Fraction] | None) -> None:
        """Keep a mechanism, made private, if it is better."""
        rows = None if point is None else self.program.by_row(point[: len(self.program.cost)])
        private = None if rows is None else private_near(self.program, rows)
        if private is None:
            return
        value = self.minimised.of(private)
        if value < self.upper:
            self.rows, self.upper = private, value

    def _bound(self, of_rows: list[Fraction] | None) -> None:
        """Keep multipliers if what they prove is better."""
        if of_rows is None:
            return
        kept = multipliers_near(self.program, self.program.multipliers(of_rows))
        value = proved(self.program, kept)
        if value > self.lower:
            self.multipliers, self.lower = kept, value

    @property
    def _exact(self) -> bool:
        """Whether both ends are one, as far as doubles show."""
        return self.upper - self.lower <= CLOSE * self.upper

    @property
    def termination(self) -> Termination:
        """Why the work stopped, where the gap was not reached."""
        if self.clock.stopped:
            return Termination.INTERRUPTED
        return Termination.TIME_LIMIT if self.clock.expired else Termination.STALLED

    def _tell(self) -> None:
        lower, upper = float(self.lower), float(self.upper)
        self.clock.tell("linear program", lower, upper, len(self.multipliers), rounds=self.rounds, now=True)


def bound_lines(program: PrivateDesign, multipliers: Mapping[int, Multipliers]) -> tuple[LowerLine, ...]:
    """The lines that prove what the multipliers prove, where that is above 0."""
    inputs = program.problem.input_count
    ratios = []
    for j, part in multipliers.items():
        comparison = program.comparisons[j]
        below = comparison.number if comparison.law is not None else _by_input(part.b, inputs)
        ratios.append(RatioLine(comparison.output, below, _by_input(part.a, inputs)))
    objective = program.problem.objective
    weights = () if objective is None else objective.weights
    return (DualLine("0"), *ratios, *(WeightLine(j, fraction_text(w)) for j, w in enumerate(weights)))


def _by_input(values: Mapping[int, Fraction], inputs: int) -> Vector:
    return tuple(fraction_text(values.get(x, Fraction(0))) for x in range(inputs))


def mechanism_text(rows: list[list[Fraction]]) -> Matrix:
    """The mechanism as whole weights, each row with the same sum."""
    return weight_texts(rows)


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
