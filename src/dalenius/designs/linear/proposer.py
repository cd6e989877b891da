"""Designs under a privacy notion: a linear program, solved in doubles, then again at its vertex; both ends are exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

from dalenius._prove import Proved
from dalenius.designs.claims import NOTHING, DesignProposer, MadeUpper, distortion_unit, dual_lines
from dalenius.designs.linear.program import Multipliers, PrivateDesign, Rows, multipliers_near, private_near, proved
from dalenius.designs.lp import Doubles, LinearProgram
from dalenius.designs.rational import short_above, weight_texts, writable
from dalenius.designs.terms import Terms
from dalenius.evidence import CERTAIN, Lower, claim_text
from dalenius.evidence.lower import LowerLine, RatioLine, Vector, WeightLine
from dalenius.exact import fraction_text
from dalenius.model import DesignProblem, MinDistortion
from dalenius.outcome import TermValue
from dalenius.results import DesignResult
from dalenius.search import Run
from dalenius.units import Quantity

# e^epsilon in the doubles' program, one after the other: multipliers fall with it, and below TIGHT they count as 0
STEEPEST = (Fraction(10**9), Fraction(10**4))
CLOSE = Fraction(1, 2**60)  # relative width that doubles do not show


class LinearDesign(DesignProposer[MadeUpper]):
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

    problem: MinDistortion

    def __init__(self, problem: DesignProblem, search: Run) -> None:
        assert isinstance(problem, MinDistortion)
        self.problem, self.search = problem, search
        self.terms = Terms.of(problem)
        minimised = self.terms.as_distortion
        assert minimised is not None
        self.minimised, self.program = minimised, PrivateDesign.of(problem, minimised)
        self.multipliers: Mapping[int, Multipliers] = {}
        self.rows: Rows = minimised.constant
        self.lower, self.upper = minimised.least, minimised.of_constant
        self.rounds, self._programs = 0, dict[Fraction, LinearProgram]()

    def run(self) -> None:
        """Solve; what is found on the way is kept whatever stops the work."""
        cheapest = [row.index(min(row)) for row in self.program.by_row(self.program.cost)]
        self._take([Fraction(int(y == best)) for best in cheapest for y in range(self.program.outputs)])
        self._tell()
        if self.upper == self.lower or self.search.clock.expired:
            return
        for steepest in STEEPEST:
            exp_epsilon = min(self.program.below, steepest)
            self._round(exp_epsilon)
            if self.search.clock.expired or self._exact or exp_epsilon < steepest:
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
            if self.search.clock.expired or self._exact:
                break
            step()
            self._tell()

    def in_doubles(self, exp_epsilon: Fraction) -> Doubles | None:
        """What a solver says of the program in doubles; None if it fails, or is stopped."""
        return self._of(exp_epsilon).in_doubles(self.search.clock, self.program.scale)

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

    def _tell(self) -> None:
        lower, upper = float(self.lower), float(self.upper)
        self.search.clock.tell("linear program", lower, upper, len(self.multipliers), rounds=self.rounds, now=True)

    # ------------------------------------------------------------ what is proposed

    def lowers(self) -> Iterator[Lower]:
        """The multipliers' bound, then 0."""
        unit = distortion_unit(self.problem)
        end = Lower(value=self.lower, unit=unit, exact=self._one, lines=self._lines())
        if end.rounded:
            yield end
        yield Lower(value=Fraction(0), unit=unit, lines=NOTHING, candidate=CERTAIN)

    def _lines(self) -> tuple[LowerLine, ...]:
        """Those that prove what the multipliers prove, where that is above 0."""
        inputs, objective, ratios = self.problem.input_count, self.problem.objective, []
        for j, part in self.multipliers.items():
            comparison = self.program.comparisons[j]
            below = comparison.number if comparison.law is not None else _by_input(part.b, inputs)
            ratios.append(RatioLine(comparison.output, below, _by_input(part.a, inputs)))
        weights = () if objective is None else objective.weights
        return dual_lines(ratios=ratios, weights=[WeightLine(j, fraction_text(w)) for j, w in enumerate(weights)])

    def uppers(self) -> Iterator[MadeUpper]:
        """What the mechanism distorts, which it does by construction; at last that of a mechanism that releases nothing."""
        yield self._upper(self.upper, self.rows, exact=self._one)
        yield self._upper(self.minimised.of_constant, self.minimised.constant, candidate=CERTAIN)

    def _upper(self, value: Fraction, rows: Rows, *, exact: bool = False, candidate: int = 0) -> MadeUpper:
        parts = [self.terms.distortions[j].of(rows) for j in range(self.terms.count)]
        ends = tuple(map(short_above, parts))
        several = self.problem.objective is not None
        return MadeUpper(
            value=self.terms.exactly(ends) if several else value,
            unit=distortion_unit(self.problem),
            exact=exact and (not several or list(ends) == parts),
            candidate=candidate,
            lines=(),
            mechanism=weight_texts(rows),
            terms=tuple(map(claim_text, ends)) if several else None,
            rows=rows,
            ends=ends,
        )

    @property
    def _one(self) -> bool:
        """Whether both ends are one number, which can be written."""
        return self.lower == self.upper and writable([self.lower])

    def result(self, proved: Proved[Lower, MadeUpper]) -> DesignResult:
        """The mechanism, and the proved interval for the best there is."""
        return self.answer(proved, proved.upper_end.rows, objective=self._values(proved))

    def _values(self, proved: Proved[Lower, MadeUpper]) -> tuple[TermValue, ...]:
        """What each term of an objective comes to."""
        ends = proved.upper_end.ends
        if self.problem.objective is None:
            return ()
        weighs = proved.lower_end.candidate == 0
        return tuple(
            TermValue(j, "distortion", w, end, end, float(w) if weighs else 0.0, Quantity.DISTORTION.units)
            for j, (w, end) in enumerate(zip(self.terms.weights, ends, strict=True))
        )


def _by_input(values: Mapping[int, Fraction], inputs: int) -> Vector:
    return tuple(fraction_text(values.get(x, Fraction(0))) for x in range(inputs))
