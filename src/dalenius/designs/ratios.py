"""The linear program of limits of ratios of what a mechanism's columns sum to; its mechanisms and its bounds in exact numbers."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeVar

from dalenius.designs.lp import ZERO, LinearProgram, LinearRow
from dalenius.designs.rational import GRID, whole_weights, writable
from dalenius.errors import DaleniusError
from dalenius.exact import few_digits, magnitude
from dalenius.model import DesignProblem, MinDistortion
from dalenius.model.constraints.privacy import RatioLimit
from dalenius.model.distortions import ExpectedDistortion
from dalenius.model.privacy import LocalDP

Rows = list[list[Fraction]]
Form = tuple[tuple[int, Fraction], ...]  # inputs and factors: what sum of a column it is
Which = tuple[int, int]  # a ratio, and an output
X = TypeVar("X")
ONE = Fraction(1)
CEILING = Fraction(2**200)  # of e^epsilon for mechanisms: what is private for less is private for more
MOST_ENTRIES = 2**19
EXACT, DENSE = (
    3000,
    2**17,
)  # entries of a mechanism, and terms of rows, up to which designs find exact vertices of other programs
DIGITS = 30  # of multipliers of pairs
ROOM = Fraction(1, 10**6)  # e^epsilon - 1, without which columns have no room to be repaired in


@dataclass(frozen=True, eq=False)
class Ratio:
    """For every output y and all `forms` f(y) <= c g(y), where g is the `average`, or, if that is None, every one of them.

    Attributes
    ----------
    forms : tuple of int
    average : int or None
        Numbers of forms.
    below, above : Fraction
        Rationals around c: what keeps the limit for the smaller keeps it; what bounds the optimum for the larger bounds it.
    number : int
        Of the reference of a privacy notion, or of the constraint.
    first, sides : int
        Form f, or pair of forms, number k has the row first + sides (k outputs + y) of the constraint at output y.
    """

    forms: tuple[int, ...]
    average: int | None
    below: Fraction
    above: Fraction
    number: int
    first: int = 0
    sides: int = 1


def has_only_ratios(problem: DesignProblem) -> bool:
    """True if a large problem asks for limits of ratios alone: the columns that keep them are a cone, which must have room."""
    if problem.adversary is not None or problem.privacy is not None or problem.objective is not None:
        return False
    limits = problem.numbered(RatioLimit).values()
    if len(limits) < len(problem.constraints) or problem.tied.rows < problem.input_count:
        return False
    if not all(LocalDP(limit.epsilon).factor()[0] >= 1 + ROOM for limit in limits):
        return False
    terms = sum(limit.size(problem.space)[1] for limit in limits)
    return problem.input_count * problem.output_count > EXACT or terms > DENSE


def _of_notion(problem: MinDistortion, number: Callable[[Form], int]) -> Iterator[Ratio]:
    """Those of a privacy notion: entries of a column against its averages, or against each other."""
    assert problem.privacy is not None
    low, high = problem.privacy.factor()
    for k, reference in enumerate(problem.references):
        forms = tuple(number(((x, ONE),)) for x in reference.inputs)
        average = None if reference.law is None else number(tuple(zip(reference.inputs, reference.law, strict=True)))
        yield Ratio(forms, average, min(low, CEILING), high, k)


def _of_constraints(problem: MinDistortion, number: Callable[[Form], int]) -> Iterator[Ratio]:
    """Those of a problem's constraints, which has no others."""
    for j, limit in problem.numbered(RatioLimit).items():
        first, sides, factor = 0, limit.sides, LocalDP(limit.epsilon).factor()
        for sums, mean in limit.compared(problem.space):
            forms, count = tuple(number(tuple(each.items())) for each in sums), len(sums)
            average = None if mean is None else number(tuple(mean.items()))
            yield Ratio(forms, average, *factor, j, first, sides)
            for k, form in enumerate(forms if sides == 2 and average is not None else ()):
                assert average is not None
                yield Ratio((average,), form, *factor, j, first + 2 * k * problem.output_count + 1, 2)
            first += sides * (count if average is not None else count * (count - 1) // 2) * problem.output_count


@dataclass(frozen=True)
class Multipliers:
    """Of one ratio and output, by form: a of f(y) <= c g(y), b of g(y) <= f(y) where there is no average.

    Where such a ratio is short for rows of a constraint, `pairs` are the multipliers of these.
    """

    a: dict[int, Fraction] = field(default_factory=dict)
    b: dict[int, Fraction] = field(default_factory=dict)
    pairs: dict[tuple[int, int], Fraction] = field(default_factory=dict)

    def rounded(self, step: Fraction) -> Multipliers:
        """To multiples of a step; pairs have few digits anyway."""
        if self.pairs:
            return self
        a, b = ({k: round(value / step) * step for k, value in side.items()} for side in (self.a, self.b))
        return Multipliers(a, b)

    def paired(self) -> Multipliers:
        """As pairs that sum to a and, made as large, to b; in few digits, and none of a form with itself."""
        total = sum(self.b.values(), ZERO)
        share = sum(self.a.values(), ZERO) / total if total else ZERO
        left, pairs = [(k, value * share) for k, value in self.b.items()], dict[tuple[int, int], Fraction]()
        for i, wanted in self.a.items():
            while wanted > 0 and left:
                k, room = left.pop()
                if i != k:
                    pairs[i, k] = few_digits(min(wanted, room), DIGITS)
                if room > wanted:
                    left.append((k, room - wanted))
                wanted -= room
        a, b = defaultdict[int, Fraction](Fraction), defaultdict[int, Fraction](Fraction)
        for (i, k), value in pairs.items():
            a[i], b[k] = a[i] + value, b[k] + value
        return Multipliers(a, b, pairs)


class RatioProgram:
    """Minimise sum_z cost_z q_z over rows q that are laws and keep `ratios`, each of which is about one column at a time.

    All are homogeneous, so the columns that keep them are a convex cone, which constant columns are inside of. So a mechanism that
    misses some is repaired column by column: a constant is added to the column, and then all columns are divided by one number.

    Parameters
    ----------
    problem : MinDistortion
        With a privacy notion and no constraints, or one that `has_only_ratios`; feasible.
    minimised : ExpectedDistortion

    Raises
    ------
    DaleniusError
        If there are too many inputs and outputs.
    """

    def __init__(self, problem: MinDistortion, minimised: ExpectedDistortion) -> None:
        self.private = private = problem.privacy is not None
        size = problem.input_count * problem.output_count * (len(problem.references) if private else 1)
        if private and size > MOST_ENTRIES:
            raise DaleniusError(
                f"nothing can be computed about this design: inputs times outputs, times priors, is {size}, expected at most "
                f"{MOST_ENTRIES}; coarsen the query"
            )
        self.tied, self.outputs, self._numbers = problem.tied, problem.output_count, problem.tied.numbers.tolist()
        self.cost = tuple(entry for row in minimised.costs() for entry in row)
        places = dict[Form, int]()
        of_kind = _of_notion if private else _of_constraints
        self.ratios = list(of_kind(problem, lambda form: places.setdefault(form, len(places))))
        self.forms = list(places)
        count, self._variables = len(self.cost), list[list[int]]()  # of each form, by output
        for form in self.forms:
            own = len(form) == 1
            self._variables.append(self._numbers[form[0][0]] if own else [*range(count, count + self.outputs)])
            count += 0 if own else self.outputs
        self._sums, self.size = count, len(self.cost)
        self._programs = dict[tuple[Fraction, ...], LinearProgram]()

    @cached_property
    def scale(self) -> Fraction:
        """A power of 2 of the size of the largest cost."""
        return Fraction(2) ** magnitude(max(self.cost))

    def by_row(self, values: Sequence[X]) -> list[list[X]]:
        """Numbers of the variables q, as the rows of a mechanism."""
        m = self.outputs
        return [list(values[start : start + m]) for start in range(0, len(values), m)]

    def _columns(self) -> Iterator[tuple[Which, list[int], int | None]]:
        """Every ratio at every output, with the variables of its forms, and that of its average."""
        for j, ratio in enumerate(self.ratios):
            for y in range(self.outputs):
                own = [self._variables[k][y] for k in ratio.forms]
                yield (j, y), own, None if ratio.average is None else self._variables[ratio.average][y]

    # ------------------------------------------------------------ as rows of a linear program

    def program(self, factors: tuple[Fraction, ...]) -> LinearProgram:
        """In the entries q, then the sums of columns that are no entries, then an end s of each column without an average.

        For these c, one for each ratio. Rows: f <= c g, or f <= s and s/c <= f; sums of laws, then those of columns.
        """
        if factors not in self._programs:
            self._programs[factors] = self._program(factors)
        return self._programs[factors]

    def _program(self, factors: tuple[Fraction, ...]) -> LinearProgram:
        rows, back, ends, above = list[LinearRow](), list[LinearRow](), self._sums, {*range(self.size, self._sums)}
        sizes = {g: factors[j] for (j, _), _, g in self._columns() if g is not None and g >= self.size}

        def share(variable: int, c: Fraction = ONE) -> Fraction:
            """Of a sum that is an average the variable is c times as much: solvers need less than half of the time then."""
            return c / sizes.get(variable, ONE)

        for (j, _), forms, average in self._columns():
            if average is None:
                rows += [LinearRow({form: share(form), ends: -ONE}) for form in forms]
                back += [LinearRow({ends: 1 / factors[j], form: -share(form)}) for form in forms]
                above.update(forms)  # s/c bounds them from below
                ends += 1
            else:
                c = share(average, factors[j])
                own = [{f: share(f), average: -c} if f != average else {f: share(f) - c} for f in forms]
                rows += map(LinearRow, own)
        rows += [*back, *(LinearRow(dict.fromkeys(row, ONE), ONE, True) for row in self.by_row(range(self.size)))]
        for form, variables in zip(self.forms, self._variables, strict=True):
            for y, variable in enumerate(variables if len(form) > 1 else ()):
                size = sizes.get(variable, ONE)
                terms = {self._numbers[x][y]: -size * p for x, p in form}
                rows.append(LinearRow({**terms, variable: ONE}, equal=True))
        return LinearProgram(ends, dict(enumerate(self.cost)), rows, above)

    @property
    def below(self) -> tuple[Fraction, ...]:
        """c- of every ratio."""
        return tuple(ratio.below for ratio in self.ratios)

    @property
    def above(self) -> tuple[Fraction, ...]:
        """c+ of every ratio."""
        return tuple(ratio.above for ratio in self.ratios)

    def multipliers(self, of_rows: Iterable[Fraction]) -> dict[Which, Multipliers]:
        """Of the ratios, from those of the program's rows; what is below 0 counts as 0."""
        numbers = iter(of_rows)

        def next_of(forms: list[int]) -> dict[int, Fraction]:
            return {i: value for i in range(len(forms)) if (value := next(numbers)) > 0}

        a = {which: next_of(forms) for which, forms, _ in self._columns()}
        b = {which: next_of(forms) for which, forms, average in self._columns() if average is None}
        found = {which: Multipliers(own, b.get(which, {})) for which, own in a.items() if own}
        return found if self.private else {w: part.paired() if w in b else part for w, part in found.items()}

    # ------------------------------------------------------------ mechanisms

    def keeping(self, rows: Rows) -> Rows | None:
        """The mechanism itself if it keeps the ratios and can be written; else rounded and repaired; None where it cannot be."""
        return rows if self._usable(rows) else self.repaired(rows)

    def _usable(self, rows: Rows) -> bool:
        laws = all(min(row) >= 0 and sum(row) == 1 for row in rows)
        return laws and writable(entry for row in rows for entry in row) and max(map(max, self.excesses(rows)[0])) <= 0

    def repaired(self, rows: Rows) -> Rows | None:
        """Rounded to whole weights w, w(x,y) + k_y for every x: kept where f(w) - c g(w) <= (c - 1) k_y.

        The same k_y for all outputs where their entries are one number. None if c = 1, or a row has no mass.
        """
        if min(self.below) == 1 or not all(max(row) > 0 for row in rows):
            return None
        weights, added = [whole_weights(row) for row in rows], [0] * self.outputs
        excesses, common = self.excesses(weights)
        for ratio, own in zip(self.ratios, excesses, strict=True):
            room = common * (ratio.below.numerator - ratio.below.denominator)
            added = [max(more, -(-excess // room)) for more, excess in zip(added, own, strict=True)]
        added = [max(added)] * len(added) if self.tied.across_outputs else added
        total = GRID + sum(added)
        return [[Fraction(weight + more, total) for weight, more in zip(row, added, strict=True)] for row in weights]

    def slack(self, rows: Rows) -> dict[int, Fraction]:
        """The least room in the ratios of each number."""
        excesses, common = self.excesses(rows)
        found = dict[int, Fraction]()
        for ratio, own in zip(self.ratios, excesses, strict=True):
            room = Fraction(-max(own), common * ratio.below.denominator)
            found[ratio.number] = min(found.get(ratio.number, room), room)
        return found

    def excesses(self, rows: Sequence[Sequence[Fraction | int]]) -> tuple[list[list[int]], int]:
        """Of each ratio, by output, by how much the largest q f(y) is above p g(y), c- = p/q; as multiples of 1 over a number."""
        common = math.lcm(*(entry.denominator for row in rows for entry in row))
        entries = [entry.numerator * (common // entry.denominator) for row in rows for entry in row]
        values, found = [self._values(form, entries) for form in self.forms], list[list[int]]()
        for ratio in self.ratios:
            p, q, columns = ratio.below.numerator, ratio.below.denominator, [values[k] for k in ratio.forms]
            by_output = list(zip(*columns, strict=True))
            least = values[ratio.average] if ratio.average is not None else list(map(min, by_output))
            most = columns[0] if len(columns) == 1 else list(map(max, by_output))
            found.append([q * f - p * g for f, g in zip(most, least, strict=True)])
        return found, common * self._parts

    @cached_property
    def _parts(self) -> int:
        """Common denominator of the factors of all forms."""
        return math.lcm(*(p.denominator for form in self.forms for _, p in form))

    def _values(self, form: Form, entries: Sequence[int]) -> list[int]:
        """So many times a form of each column."""
        factors = [(self._numbers[x], p.numerator * (self._parts // p.denominator)) for x, p in form]
        return [sum(f * entries[own[y]] for own, f in factors) for y in range(self.outputs)]

    def prices(self, multipliers: Mapping[Which, Multipliers]) -> dict[int, dict[int, Fraction]]:
        """Those of the rows of constraints, by constraint and row."""
        found = dict[int, dict[int, Fraction]]()
        for (j, y), part in multipliers.items():
            ratio, count = self.ratios[j], len(self.ratios[j].forms)
            own = found.setdefault(ratio.number, {})
            for k, value in part.a.items() if ratio.average is not None else ():
                own[ratio.first + ratio.sides * (k * self.outputs + y)] = value
            for (i, k), value in part.pairs.items():
                first, second = sorted((i, k))
                pair = first * count - first * (first + 1) // 2 + second - first - 1
                own[ratio.first + ratio.sides * (pair * self.outputs + y) + (i > k)] = value
        return found

    # ------------------------------------------------------------ bounds

    def proving(self, multipliers: Mapping[Which, Multipliers]) -> dict[Which, Multipliers]:
        """Those that prove something; rounded, unless they can be written as they are."""
        if not writable(value for part in multipliers.values() for value in (*part.a.values(), *part.b.values())):
            multipliers = {which: part.rounded(self.scale / GRID) for which, part in multipliers.items()}
        return {
            (j, y): part
            for (j, y), part in multipliers.items()
            if any(part.a.values()) and (any(part.b.values()) or self.ratios[j].average is not None)
        }

    def proved(self, multipliers: Mapping[Which, Multipliers]) -> Fraction:
        """The bound of docs/certificate-format.md: sum_x min_y [ p d + sum (a f - c+ A g) ], g the mean by b without an average.

        *Bound because* what is added sums to at most 0 over a mechanism that keeps the ratios, and its rows are laws.
        """
        added = defaultdict[Which, Fraction](Fraction)  # by form and output
        for (j, y), part in multipliers.items():
            forms, average = self.ratios[j].forms, self.ratios[j].average
            taken, total = self.ratios[j].above * sum(part.a.values()), sum(part.b.values())
            for k, value in part.a.items():
                added[forms[k], y] += value
            if average is not None:
                added[average, y] -= taken
            for k, value in part.b.items() if average is None else ():
                added[forms[k], y] -= taken * value / total
        G = list(self.cost)
        for (k, y), more in added.items():
            for x, p in self.forms[k]:
                G[self._numbers[x][y]] += more * p
        return sum((min(row) for row in self.by_row(G)), ZERO)
