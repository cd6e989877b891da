"""The linear program of a private design: its variables, its constraints, its costs, exactly; and as matrices in doubles."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

import numpy as np
from scipy.optimize import OptimizeResult, linprog
from scipy.sparse import coo_array

from dalenius.errors import DaleniusError
from dalenius.information.arrays import Floats
from dalenius.model import MinDistortion
from dalenius.model.distortions import ExpectedDistortion
from dalenius.model.privacy import Reference
from dalenius.search import Clock

Rows = list[list[Fraction]]
X = TypeVar("X")
Terms = list[tuple[int, float]]  # of a row of a matrix: columns and values
CEILING = Fraction(2**200)  # of e^epsilon for mechanisms: what is private for less is private for more
MOST_ENTRIES = 2**19


@dataclass(frozen=True)
class Comparison:
    """What privacy asks of one output y: Q(x,y) <= s for the reference's inputs x, s = e^epsilon times the least average it allows.

    Attributes
    ----------
    reference : Reference
    number : int
        Of the reference.
    output : int
    entries : tuple of int
        The numbers of the variables Q(x,y), for the reference's inputs x.
    """

    reference: Reference
    number: int
    output: int
    entries: tuple[int, ...]

    @property
    def law(self) -> tuple[Fraction, ...] | None:
        """beta, or None if it is any law."""
        return self.reference.law

    @property
    def inputs(self) -> tuple[int, ...]:
        return self.reference.inputs


@dataclass(frozen=True)
class Matrices:
    """The program in doubles: minimise c z over z >= 0 with A z <= 0 and B z = e; z are the entries q, then the ends s."""

    costs: Floats
    A: coo_array
    B: coo_array
    e: Floats


@dataclass(frozen=True)
class PrivateDesign:
    """Minimise sum_z cost_z q_z over rows q that are laws, with q_z <= s_j for the entries z of every comparison j.

    s_j is e^epsilon times an average of these entries; where any law averages them, it only has to be at most e^epsilon q_z for each.

    Attributes
    ----------
    problem : MinDistortion
        With `privacy`.
    cost : tuple of Fraction
        Of every variable, row by row.
    comparisons : tuple of Comparison
    below, above : Fraction
        Rationals around e^epsilon: what is private for the smaller is private; what bounds the optimum for the larger bounds it.

    Raises
    ------
    DaleniusError
        If there are too many inputs and outputs.
    """

    problem: MinDistortion
    cost: tuple[Fraction, ...]
    comparisons: tuple[Comparison, ...]
    below: Fraction
    above: Fraction

    @classmethod
    def of(cls, problem: MinDistortion, minimised: ExpectedDistortion) -> PrivateDesign:
        """Of a feasible problem, whose mechanisms are to distort so little."""
        assert problem.privacy is not None
        n, m, references = problem.input_count, problem.output_count, problem.references
        if (size := n * m * len(references)) > MOST_ENTRIES:
            raise DaleniusError(
                f"nothing can be computed about this design: inputs times outputs, times priors, is {size}, expected at most "
                f"{MOST_ENTRIES}; coarsen the query"
            )
        low, above = problem.privacy.factor()
        numbers = problem.tied.numbers
        comparisons = tuple(
            Comparison(reference, k, y, tuple(numbers[list(reference.inputs), y].tolist()))
            for k, reference in enumerate(references)
            for y in range(m)
        )
        cost = tuple(entry for row in minimised.costs() for entry in row)
        return cls(problem, cost, comparisons, min(low, CEILING), above)

    @property
    def outputs(self) -> int:
        return self.problem.output_count

    @property
    def rows(self) -> int:
        """How many laws q has."""
        return len(self.cost) // self.outputs

    @property
    def any_law(self) -> bool:
        """Whether averages are by any law: local differential privacy."""
        return self.comparisons[0].law is None

    @cached_property
    def scale(self) -> Fraction:
        """A power of 2 of the size of the largest cost."""
        largest = max(self.cost)
        return Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length())

    def by_row(self, values: Sequence[X]) -> list[list[X]]:
        """Numbers of the variables q, as the rows of a mechanism."""
        m = self.outputs
        return [list(values[start : start + m]) for start in range(0, len(values), m)]

    # ------------------------------------------------------------ in doubles

    def matrices(self, exp_epsilon: float) -> Matrices:
        """For a solver. Rows: q - s <= 0 and s/c - q <= 0, by comparison; sums of laws, then s = c sum beta q."""
        count, size = len(self.cost), len(self.cost) + len(self.comparisons)
        ends = [(count + j, z) for j, comparison in enumerate(self.comparisons) for z in comparison.entries]
        bounds: list[Terms] = [[(z, 1.0), (s, -1.0)] for s, z in ends]
        if self.any_law:
            bounds += [[(s, 1.0 / exp_epsilon), (z, -1.0)] for s, z in ends]
        equal: list[Terms] = [[(z, 1.0) for z in row] for row in self.by_row(range(count))]
        for j, comparison in enumerate(self.comparisons):
            if comparison.law is not None:
                averaged = zip(comparison.entries, comparison.law, strict=True)
                equal.append([(count + j, 1.0), *((z, -exp_epsilon * float(p)) for z, p in averaged)])
        costs = np.array([float(x / self.scale) for x in self.cost] + [0.0] * (size - count))
        sums = np.repeat([1.0, 0.0], [self.rows, len(equal) - self.rows])
        return Matrices(costs, _sparse(bounds, size), _sparse(equal, size), sums)


def _sparse(rows: list[Terms], width: int) -> coo_array:
    entries = [(i, j, value) for i, row in enumerate(rows) for j, value in row]
    i, j, values = zip(*entries, strict=True) if entries else ((), (), ())
    return coo_array((values, (i, j)), shape=(len(rows), width))


# the interior-point method, with crossover to a vertex, is the quicker from 100 inputs on
METHODS = ("highs-ipm", "highs-ds")
FEASIBLE = 1e-10
LOOK = 0.05  # seconds between two looks at the clock


@dataclass(frozen=True, eq=False)
class DoubleSolution:
    """A point, and the multipliers of its constraints in units of the program's scale.

    Attributes
    ----------
    exp_epsilon : float
        The e^epsilon that it was solved for.
    q : (variables,)
    s : (comparisons,)
    a, b : list of (entries,)
        Of q <= s, and of s <= e^epsilon q where any law averages, by comparison.
    of_q, of_s
        Of q >= 0 and of s >= 0.
    """

    exp_epsilon: float
    q: Floats
    s: Floats
    a: list[Floats]
    b: list[Floats]
    of_q: Floats
    of_s: Floats


def solved_in_doubles(program: PrivateDesign, exp_epsilon: float, clock: Clock) -> DoubleSolution | None:
    """What a solver says; None if it fails, or is stopped."""
    found = answered(clock, lambda: _solve(program, exp_epsilon, clock))
    return None if found is None else _solution(program, exp_epsilon, found)


def answered(clock: Clock, solve: Callable[[], OptimizeResult]) -> OptimizeResult | None:
    """What a solver answers before the clock has run out, which it does at Ctrl-C, too; None if it fails, or is stopped."""
    answers = list[OptimizeResult]()
    thread = threading.Thread(target=lambda: answers.append(solve()), daemon=True)
    thread.start()
    while thread.is_alive() and not clock.expired:
        thread.join(LOOK)
    return answers[0] if answers and answers[0].status == 0 and answers[0].x is not None else None


def _solve(program: PrivateDesign, exp_epsilon: float, clock: Clock) -> OptimizeResult:
    given = program.matrices(exp_epsilon)
    for method in METHODS:
        found = linprog(
            given.costs,
            A_ub=given.A,
            b_ub=np.zeros(given.A.shape[0]),
            A_eq=given.B,
            b_eq=given.e,
            method=method,
            options={
                "time_limit": max(clock.remaining, 0.01) if math.isfinite(clock.remaining) else None,
                "primal_feasibility_tolerance": FEASIBLE,
                "dual_feasibility_tolerance": FEASIBLE,
            },
        )
        if found.status == 0 or clock.expired:
            break
    return found


def _solution(program: PrivateDesign, exp_epsilon: float, found: OptimizeResult) -> DoubleSolution:
    count = len(program.cost)
    sizes = [len(comparison.entries) for comparison in program.comparisons]
    a, b = np.split(-found.ineqlin.marginals, [sum(sizes)])
    own = sizes if program.any_law else [0] * len(sizes)
    return DoubleSolution(
        exp_epsilon=exp_epsilon,
        q=found.x[:count],
        s=found.x[count:],
        a=np.split(a, np.cumsum(sizes)[:-1]),
        b=np.split(b, np.cumsum(own)[:-1]),
        of_q=found.lower.marginals[:count],
        of_s=found.lower.marginals[count:],
    )
