"""Designs that ask for ratios alone: a linear program, solved in doubles, then again at its vertex; both ends are exact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from dalenius._prove import Proved
from dalenius.designs.claims import (
    NOTHING,
    DesignProposer,
    MadeUpper,
    constraint_prices,
    distortion_unit,
    dual_lines,
)
from dalenius.designs.lp import ZERO, Doubles
from dalenius.designs.rational import writable
from dalenius.designs.ratios import Multipliers, RatioProgram, Rows, Which
from dalenius.designs.terms import Terms
from dalenius.evidence import CERTAIN, Lower, short_text
from dalenius.evidence.lower import LowerLine, RatioLine, Vector, WeightLine
from dalenius.exact import fraction_text
from dalenius.model import DesignProblem, MinDistortion
from dalenius.results import DesignResult
from dalenius.search import Run

# e^epsilon in the doubles' program, one after the other: multipliers fall with it, and below TIGHT they count as 0
STEEPEST = (Fraction(10**9), Fraction(10**4))
CLOSE = Fraction(1, 2**60)  # relative width that doubles do not show


class LinearDesign(DesignProposer[MadeUpper]):
    """A running design that asks for ratios alone. Bounds and mechanism are exact, and valid whenever `run` returns.

    With s_ky = e^epsilon times the least average of column y that reference k allows, privacy says Q(x,y) <= s_ky, and defines s_ky
    by an equation (listed laws) or by s_ky <= e^epsilon Q(x,y) (any law). A solver in doubles shows which of these hold with
    equality; they make a linear system with about as many unknowns as inputs and outputs, s_ky and what is strictly between its
    bounds, and so do those of the dual. Both are solved exactly. What does not come out as guessed (or cannot be written) is rounded
    and repaired: rows take on a little of a constant law until they are private, and every list of multipliers is a valid dual.
    Nothing rests on the guess.

    Parameters
    ----------
    problem : MinDistortion
        With `privacy`, or one that `has_only_ratios`; feasible. What it minimises is a distortion, or a weighted sum of some.
    search : Run
        Its gap and its clock; what costs nothing is made exact.

    Attributes
    ----------
    program : RatioProgram
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
        self.minimised, self.program = minimised, RatioProgram(problem, minimised)
        self.multipliers: Mapping[Which, Multipliers] = {}
        self.rows: Rows = minimised.constant
        self.lower, self.upper = minimised.least, minimised.of_constant
        self.rounds = 0

    def run(self) -> None:
        """Solve; what is found on the way is kept whatever stops the work."""
        cheapest = [row.index(min(row)) for row in self.program.by_row(self.program.cost)]
        self._take([Fraction(int(y == best)) for best in cheapest for y in range(self.program.outputs)])
        self._tell()
        if self.upper == self.lower or self.search.clock.expired:
            return
        for steepest in STEEPEST:
            self._round(steepest)
            if self.search.clock.expired or self._exact or max(self.program.below) < steepest:
                break

    def _round(self, steepest: Fraction) -> None:
        """Round the solution of the program in doubles to one of the exact program."""
        found = self.in_doubles(steepest)
        if found is None:
            return
        self.rounds += 1
        program, scale = self.program, self.program.scale
        steps: list[Callable[[], None]] = [
            lambda: self._take(program.program(program.below).primal(found)),
            lambda: self._bound(program.program(program.above).dual(found)),
            lambda: self._take([max(Fraction(value), ZERO) for value in found.x.tolist()]),
            lambda: self._bound([Fraction(short_text(m)) * scale if m else ZERO for m in found.multipliers.tolist()]),
        ]
        for step in steps:
            if self.search.clock.expired or self._exact:
                break
            step()
            self._tell()

    def in_doubles(self, steepest: Fraction) -> Doubles | None:
        """Solution of the program in doubles; None if the solver fails, or is stopped."""
        factors = tuple(min(c, steepest) for c in self.program.below)
        return self.program.program(factors).in_doubles(self.search.clock, self.program.scale)

    def _take(self, point: list[Fraction] | None) -> None:
        """Keep a mechanism, made to keep the ratios, if it is better."""
        rows = None if point is None else self.program.by_row(point[: self.program.size])
        kept = None if rows is None else self.program.keeping(rows)
        if kept is None:
            return
        value = self.minimised.of(kept)
        if value < self.upper:
            self.rows, self.upper = kept, value

    def _bound(self, of_rows: list[Fraction] | None) -> None:
        """Keep multipliers if what they prove is better."""
        if of_rows is None:
            return
        kept = self.program.proving(self.program.multipliers(of_rows))
        value = self.program.proved(kept)
        if value > self.lower:
            self.multipliers, self.lower = kept, value

    @property
    def _exact(self) -> bool:
        """True if both ends are one, as far as doubles show."""
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
        if self.problem.privacy is None:
            prices = self.program.prices(self.multipliers)
            return dual_lines(prices={j: {r: fraction_text(x) for r, x in own.items()} for j, own in prices.items()})
        inputs, objective, ratios = self.problem.input_count, self.problem.objective, []
        for (j, y), part in self.multipliers.items():
            ratio = self.program.ratios[j]
            compared = [self.program.forms[k][0][0] for k in ratio.forms]
            below = ratio.number if ratio.average is not None else _by_input(part.b, compared, inputs)
            ratios.append(RatioLine(y, below, _by_input(part.a, compared, inputs)))
        weights = () if objective is None else objective.weights
        return dual_lines(ratios=ratios, weights=[WeightLine(j, fraction_text(w)) for j, w in enumerate(weights)])

    def uppers(self) -> Iterator[MadeUpper]:
        """Distortion of the mechanism, which holds by construction; at last that of a mechanism that releases nothing."""
        ends = self.terms.ends(self.rows, {})
        exact = self._one and self.terms.exactly(ends) == self.upper
        yield MadeUpper.of(self.problem, self.terms, self.rows, ends, exact=exact, lines=())
        constant = self.minimised.constant
        silent = self.terms.ends(constant, {})
        yield MadeUpper.of(self.problem, self.terms, constant, silent, candidate=CERTAIN, lines=())

    @property
    def _one(self) -> bool:
        """True if both ends are one number, which can be written."""
        return self.lower == self.upper and writable([self.lower])

    def result(self, proved: Proved[Lower, MadeUpper]) -> DesignResult:
        """The mechanism, the proved interval for the best there is, and what each constraint costs."""
        rows, terms, searched = proved.upper_end.rows, self.terms, proved.lower_end.candidate == 0
        assert rows is not None
        if self.problem.objective is not None:
            weights = {j: float(w) if searched else 0.0 for j, w in enumerate(terms.weights)}
            ends = {j: (end, end) for j, end in enumerate(proved.upper_end.ends)}
            return self.answer(proved, rows, objective=terms.values(ends, weights))
        if self.problem.privacy is not None:
            return self.answer(proved, rows)
        exact = self.program.prices(self.multipliers) if searched else {}
        prices = {j: {r: float(x) for r, x in own.items()} for j, own in exact.items()}
        totals, slack = {j: sum(own.values()) for j, own in prices.items()}, self.program.slack(rows)
        kinds = {j: limit.kind for j, limit in enumerate(self.problem.own_constraints)}
        return self.answer(
            proved, rows, prices=constraint_prices(kinds, totals, prices, slack.get, of=self.problem.quantity.units)
        )


def _by_input(values: Mapping[int, Fraction], compared: Sequence[int], inputs: int) -> Vector:
    """Of values by place among what is compared: one for each input."""
    placed = {x: values.get(i, ZERO) for i, x in enumerate(compared)}
    return tuple(fraction_text(placed.get(x, ZERO)) for x in range(inputs))
