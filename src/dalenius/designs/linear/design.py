"""The least distortion of private mechanisms: a linear program, solved in doubles, then again at its vertex in rationals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from dalenius.designs.linear.doubles import DoubleSolution, solved_in_doubles
from dalenius.designs.linear.dual import Multipliers, dual_vertex, multipliers_in_doubles, multipliers_near, proved
from dalenius.designs.linear.primal import private_near, vertex
from dalenius.designs.linear.program import PrivateDesign, Rows
from dalenius.designs.terms import Terms
from dalenius.model import MinDistortion
from dalenius.outcome import Termination
from dalenius.search import Clock, Run

__all__ = ["LinearDesign"]

# e^epsilon in the doubles' program, one after the other: multipliers fall with it, and below TIGHT they count as 0
STEEPEST = (1e9, 1e4)
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
        self.rounds = 0

    @property
    def clock(self) -> Clock:
        return self.search.clock

    def run(self) -> None:
        """Solve; what is found on the way is kept whatever stops the work."""
        cheapest = [row.index(min(row)) for row in self.program.by_row(self.program.cost)]
        self._take([[Fraction(int(y == best)) for y in range(self.program.outputs)] for best in cheapest])
        self._tell()
        if self.upper == self.lower or self.clock.expired:
            return
        for steepest in STEEPEST:
            exp_epsilon = min(float(self.program.below), steepest)
            self._round(exp_epsilon)
            if self.clock.expired or self._exact or exp_epsilon < steepest:
                break

    def _round(self, exp_epsilon: float) -> None:
        """What the program in doubles says of the exact one."""
        found = self.in_doubles(exp_epsilon)
        if found is None:
            return
        self.rounds += 1
        program = self.program
        steps: list[Callable[[], None]] = [
            lambda: self._take(vertex(program, found)),
            lambda: self._bound(dual_vertex(program, found)),
            lambda: self._take(program.by_row([max(Fraction(value), Fraction(0)) for value in found.q.tolist()])),
            lambda: self._bound(multipliers_in_doubles(program, found)),
        ]
        for step in steps:
            if self.clock.expired or self._exact:
                break
            step()
            self._tell()

    def in_doubles(self, exp_epsilon: float) -> DoubleSolution | None:
        """What a solver says of the program in doubles; None if it fails, or is stopped."""
        return solved_in_doubles(self.program, exp_epsilon, self.clock)

    def _take(self, rows: Rows | None) -> None:
        """Keep a mechanism, made private, if it is better."""
        private = None if rows is None else private_near(self.program, rows)
        if private is None:
            return
        value = self.minimised.of(private)
        if value < self.upper:
            self.rows, self.upper = private, value

    def _bound(self, multipliers: Mapping[int, Multipliers] | None) -> None:
        """Keep multipliers if what they prove is better."""
        if multipliers is None:
            return
        kept = multipliers_near(self.program, multipliers)
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
