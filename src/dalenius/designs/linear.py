"""The least distortion of private mechanisms: a linear program, solved in doubles, then again at its vertex in rationals.

With s_ky = e^epsilon times the least average of column y that reference k allows, privacy says Q(x,y) <= s_ky, and defines s_ky by an
equation (listed laws) or by s_ky <= e^epsilon Q(x,y) (any law). A solver in doubles shows which of these hold with equality; they make
a linear system with about as many unknowns as inputs and outputs, s_ky and what is strictly between its bounds, and so do those
of the dual. Both are solved exactly. What does not come out as guessed (or cannot be written) is rounded and repaired: rows take
on a little of a constant law until they are private, and every list of multipliers is a valid dual. Nothing rests on the guess.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray
from scipy.linalg import qr
from scipy.optimize import OptimizeResult, linprog
from scipy.sparse import coo_array

from dalenius.designs.rational import weight_texts
from dalenius.errors import DaleniusError
from dalenius.evidence.lines import DualLine, Matrix, RatioLine, Vector
from dalenius.exact import fraction_text
from dalenius.model import MinDistortion
from dalenius.outcome import Termination
from dalenius.search import Clock, Run

__all__ = ["LinearDesign", "writable"]

Floats = NDArray[np.float64]
Rows = list[list[Fraction]]
Terms = dict[int, Fraction]
LARGEST = Fraction(10**300)  # distortion that doubles can work with
# e^epsilon in the doubles' program, one after the other: multipliers fall with it, and below TIGHT they count as 0
STEEPEST = (1e9, 1e4)
CEILING = Fraction(2**200)  # of e^epsilon for mechanisms: what is private for less is private for more
GRID = 10**30  # steps that numbers are rounded in
TIGHT = 1e-9
RANK = 1e-11
WRITABLE = 1200  # bits of p and q together that 400 characters always hold
# the interior-point method, with crossover to a vertex, is the quicker from 100 inputs on
METHODS = ("highs-ipm", "highs-ds")
CLOSE = Fraction(1, 2**60)  # relative width that doubles do not show
MOST_ENTRIES = 2**19
MOST = 1000  # unknowns of an exact system
LOOK = 0.05  # seconds between two looks at the clock


@dataclass(frozen=True)
class _Multipliers:
    """Of privacy at reference k and output y: a of Q(x,y) <= s, b of s <= e^epsilon Q(x,y), by input; b is empty for a listed law."""

    a: dict[int, Fraction]
    b: dict[int, Fraction] = field(default_factory=dict)


@dataclass
class LinearDesign:
    """A running design under a privacy notion. Bounds and mechanism are exact, and valid whenever `run` returns.

    Parameters
    ----------
    problem : MinDistortion
        With `privacy`; feasible.
    search : Run
        Its gap and its clock; what costs nothing is made exact.

    Attributes
    ----------
    rows : the mechanism, of the problem's class
    upper : its expected distortion
    lower : a bound on the optimum, which `lines` prove

    Raises
    ------
    DaleniusError
        If the largest distortion is beyond doubles, or there are too many inputs and outputs.
    """

    problem: MinDistortion
    search: Run
    rows: Rows = field(init=False)
    upper: Fraction = field(init=False)
    lower: Fraction = field(init=False)
    rounds: int = 0

    @property
    def clock(self) -> Clock:
        return self.search.clock

    def __post_init__(self) -> None:
        problem = self.problem
        assert problem.privacy is not None
        low, self.above = problem.privacy.factor()
        self.below = min(low, CEILING)
        n, m = problem.input_count, problem.output_count
        self.shape, self.references = (n, m), problem.references
        size = n * m * len(self.references)
        if size > MOST_ENTRIES:
            raise DaleniusError(
                f"nothing can be computed about this design: inputs times outputs, times priors, is {size}, expected at most "
                f"{MOST_ENTRIES}; coarsen the query"
            )
        self.any_law = self.references[0].law is None
        self.additive = problem.mechanism == "additive"
        x, y = np.indices((n, m))
        self.number = (y - x) % m if self.additive else x * m + y  # of the variable that an entry of Q is
        self.columns = [(k, y) for k in range(len(self.references)) for y in range(m)]
        self.members = [self.number[list(self.references[k].inputs), y].tolist() for k, y in self.columns]
        self.cost = self._cost()
        largest = max(self.cost)
        if largest > LARGEST:
            raise DaleniusError(
                f"nothing can be computed about this design: its largest distortion is above {float(LARGEST):g}; measure distortion "
                "in another unit"
            )
        shift = largest.numerator.bit_length() - largest.denominator.bit_length()
        self.scale = Fraction(2) ** shift  # of the size of the largest cost
        self.multipliers = dict[int, _Multipliers]()
        self.rows, self.lower = self._constant(), problem.least_distortion
        self.upper = problem.expected_distortion(self.rows)

    def _cost(self) -> list[Fraction]:
        """p(x) d(x,y), summed over the entries that are one variable."""
        cost = [Fraction(0)] * (int(self.number.max()) + 1)
        rows = zip(self.number.tolist(), self.problem.exact_input_law(), self.problem.exact_cost(), strict=True)
        for numbers, p, distortions in rows:
            if p:
                for z, d in zip(numbers, distortions, strict=True):
                    cost[z] += p * d
        return cost

    def _constant(self) -> Rows:
        """The constant mechanism of least distortion."""
        n, m = self.shape
        if self.additive:
            return [[Fraction(1, m)] * m]
        totals = [sum(self.cost[y::m], Fraction(0)) for y in range(m)]
        best = min(range(m), key=totals.__getitem__)
        return [[Fraction(int(y == best)) for y in range(m)] for _ in range(n)]

    # ------------------------------------------------------------ the search

    def run(self) -> None:
        """Solve; what is found on the way is kept whatever stops the work."""
        m = self.shape[1]
        cheapest = [row.index(min(row)) for row in self._by_row(self.cost)]
        self._take([[Fraction(int(y == best)) for y in range(m)] for best in cheapest])
        self._tell()
        if self.upper == self.lower or self.clock.expired:
            return
        for steepest in STEEPEST:
            self.factor = min(float(self.below), steepest)  # in doubles
            self._round()
            if self.clock.expired or self._exact or self.factor < steepest:
                break

    def _round(self) -> None:
        """What the program in doubles, for `factor`, says of the exact one."""
        found = self._in_doubles()
        if found is None:
            return
        self.rounds += 1
        count = len(self.cost)
        z, s = found.x[:count], found.x[count:]
        steps: list[Callable[[], None]] = [
            lambda: self._take(self._vertex(z, s)),
            lambda: self._bound(self._dual_vertex(found)),
            lambda: self._take(self._by_row([Fraction(value) for value in np.maximum(z, 0.0).tolist()])),
            lambda: self._bound(self._dual_in_doubles(found)),
        ]
        for step in steps:
            if self.clock.expired or self._exact:
                break
            step()
            self._tell()

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
        self.clock.tell(
            "linear program", float(self.lower), float(self.upper), len(self.multipliers), rounds=self.rounds, now=True
        )

    def _in_doubles(self) -> OptimizeResult | None:
        """What a solver says of the program in doubles; None if it fails, or is stopped."""
        answers = list[OptimizeResult]()
        thread = threading.Thread(target=lambda: answers.append(self._solver()), daemon=True)
        thread.start()
        while thread.is_alive() and not self.clock.expired:
            thread.join(LOOK)
        return answers[0] if answers and answers[0].status == 0 and answers[0].x is not None else None

    def _solver(self) -> OptimizeResult:
        """Variables: the entries of Q, then s. Rows: Q - s <= 0 and s/c - Q <= 0, by column; sums, then s = c sum beta Q."""
        c, count, size = self.factor, len(self.cost), len(self.cost) + len(self.columns)
        members = [(count + j, z) for j, column in enumerate(self.members) for z in column]
        bounds = [[(z, 1.0), (s, -1.0)] for s, z in members]
        equal = [[(z, 1.0) for z in row] for row in self._by_row(range(count))]
        if self.any_law:
            bounds += [[(s, 1.0 / c), (z, -1.0)] for s, z in members]
        for j, column in enumerate([] if self.any_law else self.members):
            law = self.references[self.columns[j][0]].law or ()
            equal.append([(count + j, 1.0), *((z, -c * float(p)) for z, p in zip(column, law, strict=True))])
        sums = count // self.shape[1]
        for method in METHODS:
            found = linprog(
                [float(x / self.scale) for x in self.cost] + [0.0] * (size - count),
                A_ub=_sparse(bounds, size),
                b_ub=np.zeros(len(bounds)),
                A_eq=_sparse(equal, size),
                b_eq=np.repeat([1.0, 0.0], [sums, len(equal) - sums]),
                method=method,
                options={
                    "time_limit": max(self.clock.remaining, 0.01) if math.isfinite(self.clock.remaining) else None,
                    "primal_feasibility_tolerance": 1e-10,
                    "dual_feasibility_tolerance": 1e-10,
                },
            )
            if found.status == 0 or self.clock.expired:
                break
        return found

    def _by_row(self, values: Sequence[Any]) -> list[list[Any]]:
        """Numbers of the variables, as the rows of a mechanism."""
        m = self.shape[1]
        return [list(values[start : start + m]) for start in range(0, len(values), m)]

    # ------------------------------------------------------------ from above: a mechanism

    def _take(self, rows: Rows | None) -> None:
        """Keep a mechanism if it is better; rounded and repaired, unless it is private and can be written as it is."""
        if rows is None:
            return
        if not self._usable(rows):
            repaired = self._repaired(rows)
            if repaired is None:
                return
            rows = repaired
        value = self.problem.expected_distortion(rows)
        if value < self.upper:
            self.rows, self.upper = rows, value

    def _usable(self, rows: Rows) -> bool:
        if any(min(row) < 0 or sum(row) != 1 for row in rows) or not writable(entry for row in rows for entry in row):
            return False
        level = self.problem.exp_epsilon(rows)
        return level is not None and level <= self.below

    def _repaired(self, rows: Rows) -> Rows | None:
        """Rounded to whole weights w, w(x,y) + k_y for every x: private where w(x,y) - c sum beta w <= (c - 1) k_y.

        None if c = 1, or a row has no mass.
        """
        if self.below == 1 or not all(max(row) > 0 for row in rows):
            return None
        weights = [_whole(row) for row in rows]
        flat = [weight for row in weights for weight in row]
        added = [0] * self.shape[1]
        for (k, y), members in zip(self.columns, self.members, strict=True):
            column = [Fraction(flat[z]) for z in members]
            excess = max(column) - self.below * self.references[k].average(column)
            added[y] = max(added[y], math.ceil(excess / (self.below - 1)))
        if self.additive:
            added = [max(added)] * len(added)
        total = GRID + sum(added)
        return [[Fraction(weight + more, total) for weight, more in zip(row, added, strict=True)] for row in weights]

    def _vertex(self, z: Floats, s: Floats) -> Rows | None:
        """The mechanism whose entries meet exactly the bounds that these doubles seem to meet; None if that is not one."""
        c, count, start = self.below, len(z), len(s)
        where: dict[int, tuple[int, Fraction]] = {}  # an entry as a multiple of an unknown
        system = _System(start)

        def meet(entry: int, unknown: int, factor: Fraction) -> None:
            """Entry = factor * unknown: what it is, or one more equation."""
            first = where.setdefault(entry, (unknown, factor))
            if first != (unknown, factor):
                terms = {first[0]: first[1]}
                terms[unknown] = terms.get(unknown, Fraction(0)) - factor
                system.add(terms, Fraction(0))

        for j, members in enumerate(self.members):
            if s[j] <= TIGHT:
                system.add({j: Fraction(1)}, Fraction(0))
            for entry in members:
                if s[j] - z[entry] <= TIGHT:
                    meet(entry, j, Fraction(1))
                elif self.any_law and z[entry] - s[j] / self.factor <= TIGHT:
                    meet(entry, j, 1 / c)
        at_least = (
            {entry for members in self.members for entry in members} if self.any_law else ()
        )  # s/c, so that 0 is none of theirs
        for entry in range(count):
            if entry not in where and z[entry] <= TIGHT and entry not in at_least:
                where[entry] = (0, Fraction(0))
            elif entry not in where:
                where[entry] = (system.another(), Fraction(1))
        for row in self._by_row(range(count)):
            system.add(_combined((where[entry], Fraction(1)) for entry in row), Fraction(1))
        for j, members in enumerate(self.members):
            law = self.references[self.columns[j][0]].law
            if law is not None:
                terms = _combined((where[entry], -c * p) for entry, p in zip(members, law, strict=True))
                terms[j] = terms.get(j, Fraction(0)) + 1
                system.add(terms, Fraction(0))
        found = system.solved()
        return None if found is None else self._by_row([found[where[e][0]] * where[e][1] for e in range(count)])

    # ------------------------------------------------------------ from below: multipliers

    def _bound(self, multipliers: dict[int, _Multipliers] | None) -> None:
        """Keep multipliers if what they prove is better; rounded, unless they can be written as they are."""
        if multipliers is None:
            return
        if not writable(value for part in multipliers.values() for value in (*part.a.values(), *part.b.values())):
            step = self.scale / GRID
            multipliers = {
                j: _Multipliers(
                    *({x: round(value / step) * step for x, value in side.items()} for side in (part.a, part.b))
                )
                for j, part in multipliers.items()
            }
        multipliers = {j: part for j, part in multipliers.items() if self._says_something(part)}
        value = self._proved(multipliers)
        if value > self.lower:
            self.multipliers, self.lower = multipliers, value

    def _says_something(self, part: _Multipliers) -> bool:
        return any(part.a.values()) and (any(part.b.values()) or not self.any_law)

    def _proved(self, multipliers: dict[int, _Multipliers]) -> Fraction:
        """The bound of docs/certificate-format.md: sum_x min_y [ p d + sum (a - c+ A beta) ]."""
        G = list(self.cost)
        for j, part in multipliers.items():
            reference = self.references[self.columns[j][0]]
            total = self.above * sum(part.a.values())
            if reference.law is None:
                share = total / sum(part.b.values())
                averages = [share * part.b.get(x, Fraction(0)) for x in reference.inputs]
            else:
                averages = [total * p for p in reference.law]
            for x, entry, average in zip(reference.inputs, self.members[j], averages, strict=True):
                G[entry] += part.a.get(x, Fraction(0)) - average
        return sum((min(row) for row in self._by_row(G)), Fraction(0))

    def _dual_vertex(self, found: OptimizeResult) -> dict[int, _Multipliers] | None:
        """The multipliers that are 0 exactly where these doubles seem to be; None if that is no solution of the dual.

        With u_x of the sums, A_j of s_j = c sum beta Q, r of Q >= 0: the terms of each entry of Q are cost - u + sum a - sum b -
        c sum A beta - r = 0, and those of s_j are sum a = A_j, or sum a = sum b / c, unless s_j >= 0 has a multiplier, too. An entry's
        first a or b is expressed by u and A.
        """
        c, rows = self.above, len(self.cost) // self.shape[1]
        a, b, r, unused = self._duals(found)
        system = _System(rows + len(self.columns))
        Active = tuple[int, int, Fraction]  # column, input, sign
        of_entry: list[list[Active]] = [[] for _ in self.cost]
        base: list[Terms] = [{entry // self.shape[1]: Fraction(1)} for entry in range(len(self.cost))]
        of_column: list[Terms] = [{} for _ in self.columns]
        constants = [Fraction(0)] * len(self.columns)
        for j, members in enumerate(self.members):
            reference = self.references[self.columns[j][0]]
            for i, (x, entry) in enumerate(zip(reference.inputs, members, strict=True)):
                if a[j][i] > TIGHT:
                    of_entry[entry].append((j, x, Fraction(1)))
                if self.any_law and b[j][i] > TIGHT:
                    of_entry[entry].append((j, x, Fraction(-1)))
                if reference.law is not None:
                    base[entry][rows + j] = base[entry].get(rows + j, Fraction(0)) + c * reference.law[i]
            if reference.law is not None:
                of_column[j][rows + j] = Fraction(-1)
            else:  # no such unknown
                system.add({rows + j: Fraction(1)}, Fraction(0))
        solved_for: list[tuple[int, int, Fraction, int, Terms]] = []
        others: list[tuple[int, int, Fraction, int]] = []
        for entry, active in enumerate(of_entry):
            free, terms = r[entry] > TIGHT, dict(base[entry])
            for j, x, sign in active if free else active[1:]:
                unknown = system.another()
                others.append((j, x, sign, unknown))
                terms[unknown] = -sign
                of_column[j][unknown] = Fraction(1) if sign > 0 else -1 / c
            if active and not free:
                j, x, sign = active[0]
                solved_for.append((j, x, sign, entry, terms))
                weight = Fraction(1) if sign > 0 else 1 / c
                for unknown, factor in terms.items():
                    of_column[j][unknown] = of_column[j].get(unknown, Fraction(0)) + weight * factor
                constants[j] += weight * self.cost[entry]
            elif not free:
                system.add(terms, self.cost[entry])
        for terms, constant, slack in zip(of_column, constants, unused, strict=True):
            if slack <= TIGHT:
                system.add(terms, constant)
        values = system.solved()
        if values is None:
            return None
        multipliers = {j: _Multipliers({}, {}) for j in range(len(self.columns))}
        for j, x, sign, entry, terms in solved_for:
            value = sum((factor * values[unknown] for unknown, factor in terms.items()), Fraction(0)) - self.cost[entry]
            (multipliers[j].a if sign > 0 else multipliers[j].b)[x] = max(sign * value, Fraction(0))
        for j, x, sign, unknown in others:
            (multipliers[j].a if sign > 0 else multipliers[j].b)[x] = max(values[unknown], Fraction(0))
        return multipliers

    def _dual_in_doubles(self, found: OptimizeResult) -> dict[int, _Multipliers]:
        """The solver's own multipliers."""
        a, b, _, _ = self._duals(found)
        multipliers = {}
        for j, (k, _) in enumerate(self.columns):
            inputs = self.references[k].inputs
            sides = [
                {
                    x: Fraction(value) * self.scale
                    for x, value in zip(inputs, side[j].tolist(), strict=True)
                    if value > 0.0
                }
                for side in ((a, b) if self.any_law else (a,))
            ]
            multipliers[j] = _Multipliers(*sides)
        return multipliers

    def _duals(self, found: OptimizeResult) -> tuple[list[Floats], list[Floats], Floats, Floats]:
        """a and b by column and member, and the multipliers of Q >= 0 and of s >= 0; in units of `scale`."""
        values = -found.ineqlin.marginals
        sizes = [len(members) for members in self.members]
        a = np.split(values[: sum(sizes)], np.cumsum(sizes)[:-1])
        own = [size if self.any_law else 0 for j, size in enumerate(sizes)]
        b = np.split(values[sum(sizes) :], np.cumsum(own)[:-1])
        count = len(self.cost)
        return a, b, found.lower.marginals[:count], found.lower.marginals[count:]

    # ------------------------------------------------------------ certificates

    def row_texts(self) -> Matrix:
        """The mechanism as whole weights, each row with the same sum."""
        return weight_texts(self.rows)

    def lines(self) -> Iterator[DualLine | RatioLine]:
        """The lines that prove `lower`, where that is above 0."""

        def listed(values: dict[int, Fraction]) -> Vector:
            return tuple(fraction_text(values.get(x, Fraction(0))) for x in range(self.shape[0]))

        yield DualLine("0")
        for j, part in self.multipliers.items():
            k, y = self.columns[j]
            yield RatioLine(y, listed(part.b) if self.any_law else k, listed(part.a))


class _System:
    """Linear equations in rationals, as many as one likes, of which enough independent ones are solved."""

    def __init__(self, unknowns: int) -> None:
        self.unknowns = unknowns
        self.equations: dict[tuple[Any, ...], tuple[Terms, Fraction]] = {}

    def another(self) -> int:
        """One more unknown."""
        self.unknowns += 1
        return self.unknowns - 1

    def add(self, terms: Terms, constant: Fraction) -> None:
        """sum of factor * unknown = constant."""
        kept = {unknown: factor for unknown, factor in terms.items() if factor}
        if kept:
            self.equations.setdefault((*sorted(kept.items()), constant), (kept, constant))

    def solved(self) -> list[Fraction] | None:
        """The one solution of as many equations as are independent in doubles; None if there are too few, or too many unknowns."""
        equations, size = list(self.equations.values()), self.unknowns
        if len(equations) < size or size > MOST:
            return None
        dense = np.zeros((size, len(equations)))
        for j, (terms, _) in enumerate(equations):
            for unknown, factor in terms.items():
                dense[unknown, j] = float(factor)
        dense /= np.abs(dense).max(axis=0)
        triangle, order = qr(dense, mode="r", pivoting=True)
        diagonal = np.abs(np.diag(triangle))
        if diagonal[size - 1] <= RANK * diagonal[0]:
            return None
        chosen = [equations[j] for j in order[:size]]
        matrix = fmpq_mat(size, size)
        ends = fmpq_mat(size, 1)
        for i, (terms, constant) in enumerate(chosen):
            ends[i, 0] = _fmpq(constant)
            for unknown, factor in terms.items():
                matrix[i, unknown] = _fmpq(factor)
        try:
            found = matrix.solve(ends)
        except ZeroDivisionError:
            return None
        return [Fraction(int(found[i, 0].p), int(found[i, 0].q)) for i in range(size)]


def _fmpq(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _combined(parts: Iterable[tuple[tuple[int, Fraction], Fraction]]) -> Terms:
    """The sum of multiples of unknowns, each with a weight."""
    terms: Terms = {}
    for (unknown, factor), weight in parts:
        terms[unknown] = terms.get(unknown, Fraction(0)) + weight * factor
    return terms


def _sparse(rows: list[list[tuple[int, float]]], width: int) -> coo_array:
    entries = [(i, j, value) for i, row in enumerate(rows) for j, value in row]
    i, j, values = zip(*entries, strict=True) if entries else ((), (), ())
    return coo_array((values, (i, j)), shape=(len(rows), width))


def writable(values: Iterable[Fraction]) -> bool:
    """Whether these numbers, at least 0, can be written over one denominator.

    >>> writable([Fraction(1, 2), Fraction(1, 3)]), writable([Fraction(1, 3**1000)])
    (True, False)
    """
    largest, common = Fraction(0), 1
    for value in values:
        largest, common = max(largest, value), math.lcm(common, value.denominator)
        if common.bit_length() > WRITABLE:
            return False
    return math.ceil(largest * common).bit_length() + common.bit_length() <= WRITABLE


def _whole(row: Sequence[Fraction]) -> list[int]:
    """Whole weights near a law's, with sum 10^30: the largest takes what rounding leaves."""
    positive = [max(entry, Fraction(0)) for entry in row]
    total = sum(positive)
    weights = [math.floor(entry / total * GRID) for entry in positive]
    weights[positive.index(max(positive))] += GRID - sum(weights)
    return weights
