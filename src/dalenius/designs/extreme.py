"""The most information: mechanisms made of the extreme rays of private columns, and the dual of the program that weighs them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from dalenius.designs.claims import LEAST, Most, MostProposer
from dalenius.designs.envelope import Told
from dalenius.designs.lp import minimised
from dalenius.designs.rational import LinearSystem, weight_texts, writable
from dalenius.evidence import CERTAIN, MARGINS, Upper, short_text
from dalenius.evidence.upper import EnvelopeLine, PotentialLine
from dalenius.information.arrays import Floats, Integers
from dalenius.model.problems.max_information import MaxInformation
from dalenius.programs.highs import METHODS
from dalenius.search import Clock, Run

# The extreme rays of the columns that private mechanisms have: 1 or c under local differential privacy; 0 or c, but for one input,
# under pointwise maximal leakage.


ROUNDING = 1e-12  # by which the entry that is left over may be below 0 or above c


@dataclass(frozen=True, eq=False)
class Rays:
    """The rays, for e^epsilon = c: generators of the cone of all columns (Q(x,y) over x) that private mechanisms have.

    Each is divided by its largest entry, so that a solver sees like sizes whatever epsilon is.

    Parameters
    ----------
    values : (rays, inputs)
        In doubles.
    high : (rays, inputs)
        Which entries are c, before that.
    rest : (rays,)
        The one input whose entry is what the others leave, so that the average is 1; -1 where there is none.
    low : number of the entries of `inputs` that are neither
    inputs : of the mechanism that are compared; at the others a column may be anything, so each of them is a ray by itself
    law : of these inputs, None where the least entry is what counts
    """

    values: Floats
    high: NDArray[np.bool_]
    rest: Integers
    low: int
    inputs: tuple[int, ...]
    law: tuple[Fraction, ...] | None

    @classmethod
    def of(cls, problem: MaxInformation, c: float) -> Rays:
        """All of them."""
        reference = problem.reference
        inputs, law = reference.inputs, reference.law
        high, rest, compared = _compared(len(inputs)) if law is None else _averaged(np.array(law, dtype=float), c)
        low = 1 if law is None else 0
        entries = np.where(high, c, float(low))
        if compared is not None:
            entries[np.arange(len(entries)), rest] = compared
        values = np.zeros((len(entries), problem.input_count))
        values[:, inputs] = entries / entries.max(axis=1, keepdims=True)
        free = [x for x in range(problem.input_count) if x not in inputs]
        marks = np.zeros((len(values), problem.input_count), dtype=bool)
        marks[:, inputs] = high
        places = np.array(inputs, dtype=np.int64)[rest] if compared is not None else rest
        alone = np.eye(problem.input_count)[free]
        return cls(
            np.vstack([values, alone]),
            np.vstack([marks, np.zeros(alone.shape, dtype=bool)]),
            np.concatenate([places, np.full(len(free), -1)]),
            low,
            inputs,
            law,
        )

    def exact(self, ray: int, c: Fraction) -> list[Fraction]:
        """A ray in exact numbers; of the entry that the others leave, what is between 0 and c, before it is divided."""
        if not self.values[ray, list(self.inputs)].any():
            return [Fraction(int(entry)) for entry in self.values[ray]]
        entries = [Fraction(0)] * self.values.shape[1]
        for x in self.inputs:
            entries[x] = c if self.high[ray, x] else Fraction(self.low)
        if self.law is not None:
            x, place = int(self.rest[ray]), self.inputs.index(int(self.rest[ray]))
            others = sum((p * entries[z] for p, z in zip(self.law, self.inputs, strict=True) if z != x), Fraction(0))
            entries[x] = min(max((1 - others) / self.law[place], Fraction(0)), c)
        return [entry / max(entries) for entry in entries]


def _subsets(count: int) -> NDArray[np.bool_]:
    """All sets of so many things, a row each."""
    return (np.arange(2**count)[:, None] >> np.arange(count)[None, :]) & 1 == 1


def _compared(inputs: int) -> tuple[NDArray[np.bool_], Integers, None]:
    """Every entry 1 or c; all c is a multiple of all 1."""
    high = _subsets(inputs)[: max(2**inputs - 1, 1)]
    return high, np.full(len(high), -1), None


def _averaged(law: Floats, c: float) -> tuple[NDArray[np.bool_], Integers, Floats]:
    """Every entry but one 0 or c, and that one what makes the average 1, where that is from 0 to c."""
    others = _subsets(len(law) - 1)
    found = []
    for x, p in enumerate(law):
        high = np.insert(others, x, False, axis=1)
        left = (1.0 - c * (high @ law)) / p
        fits = (left >= -ROUNDING) & (left <= c * (1.0 + ROUNDING))
        found.append((high[fits], np.full(int(fits.sum()), x), np.clip(left[fits], 0.0, c)))
    highs, places, lefts = zip(*found, strict=True)
    return np.vstack(highs), np.concatenate(places), np.concatenate(lefts)


@dataclass(frozen=True, eq=False)
class Independent:
    """The extreme rays of columns that are independent of a secret, with its masses m_s = pi_s r, as few inputs each as do.

    Where the secret sees no input, each input is a ray. Each ray is divided by its largest entry.

    Parameters
    ----------
    values : (rays, inputs)
        In doubles.
    rays : the same exactly
    """

    values: Floats
    rays: list[list[Fraction]]

    @classmethod
    def of(cls, problem: MaxInformation, clock: Clock) -> Independent:
        """All of them; none where time is over before."""
        law, size = problem.secret, problem.input_count
        found = [[Fraction(int(x == free)) for x in range(size)] for free in range(size) if free not in law.support]
        for chosen in itertools.combinations(sorted(law.support), law.rank + 1):
            if clock.expired:
                return cls(np.zeros((0, size)), [])
            reduced, rank = fmpq_mat([law.drifts[x] for x in chosen]).transpose().rref()
            if rank < law.rank:
                continue
            pivots = [next(j for j in range(rank + 1) if reduced[i, j]) for i in range(rank)]
            (free,) = set(range(rank + 1)) - set(pivots)
            ray = {free: fmpq(1), **{j: -reduced[i, free] for i, j in enumerate(pivots)}}
            most = max(ray.values())
            if min(ray.values()) >= 0:
                entries = {x: Fraction(int((r := ray[j] / most).p), int(r.q)) for j, x in enumerate(chosen)}
                found.append([entries.get(x, Fraction(0)) for x in range(size)])
        return cls(np.array(found, dtype=float), found)

    def exact(self, ray: int, c: Fraction) -> list[Fraction]:
        """A ray in exact numbers, whatever c is."""
        return self.rays[ray]


Rows = list[list[Fraction]]
USED = 1e-11  # weights below are 0
GRID = 10**12
MOST = Fraction(10**15)  # e^epsilon taken to be at most: more reveals no more, in doubles
SHORT = 10**14  # a rational e^epsilon just below an irrational one, so that mechanisms can be written


@dataclass(frozen=True, eq=False)
class Extreme(Most):
    """A mechanism of the program's, and prices.

    Attributes
    ----------
    prices : (inputs,)
        lambda(x) in doubles, which every ray meets up to rounding.
    slack : float
        By how much a ray may reveal more than it costs, for each unit that it has in all.
    """

    prices: Floats
    slack: float

    @classmethod
    def of(cls, problem: MaxInformation, clock: Clock) -> Extreme:
        """Solve; where time is over before, what reveals nothing, and what each input alone tells.

        Raises
        ------
        InputError
            If there are too many rays.
        """
        rays: Rays | Independent
        if problem.privacy is None:
            rays, c = Independent.of(problem, clock), Fraction(1)
        else:
            below, above = (min(factor, MOST) for factor in problem.notion.factor())
            if above == 1 and not _told_freely(problem):  # all rows that count are one, which reveals nothing
                return cls([[Fraction(1)] for _ in range(problem.input_count)], 0.0, np.zeros(problem.input_count), 0.0)
            c = below if below == above else Fraction(int(below * SHORT), SHORT)
            rays = Rays.of(problem, float(above))
        useful = Told.of_law(problem.joint, problem.told)
        told = useful.of(rays.values)
        found = minimised(-told, clock, METHODS[1:], A_eq=rays.values.T, b_eq=np.ones(rays.values.shape[1]))
        if found is not None:
            weights, prices = np.asarray(found.x), -np.asarray(found.eqlin.marginals)
        else:  # a bound and a mechanism all the same
            weights, prices = np.zeros(len(told)), useful.of(np.eye(problem.input_count))
        used = np.flatnonzero(weights > USED)
        prices = _sharpened(prices, rays.values, told, used)
        slack = float(((told - rays.values @ prices) / rays.values.sum(axis=1)).max(initial=0.0))
        rows = _mechanism(problem, rays, weights, used, c)
        return cls(rows, float(useful.of(np.array(rows, dtype=float).T).sum()), prices, slack)


def _told_freely(problem: MaxInformation) -> bool:
    """True if an input that privacy leaves free, one outside the prior's support, has mass."""
    compared = problem.reference.inputs
    return any(mass for row in problem.joint.masses for x, mass in enumerate(row) if x not in compared)


def _sharpened(prices: Floats, values: Floats, told: Floats, used: Integers) -> Floats:
    """Prices at which what is used costs what it reveals, but for rounding: a solver's are true to its tolerance only."""
    if not len(used):
        return prices
    rest = told[used] - values[used] @ prices
    nearer = prices + np.linalg.lstsq(values[used], rest, rcond=None)[0]
    worst, before = (float((told - values @ each).max()) for each in (nearer, prices))
    return nearer if nearer.sum() + worst <= prices.sum() + before else prices


def _mechanism(problem: MaxInformation, rays: Rays | Independent, weights: Floats, used: Integers, c: Fraction) -> Rows:
    """The mechanism of these weights: at the vertex itself, or near it, with an output for what rounding leaves."""
    columns = [rays.exact(int(ray), c) for ray in used]
    system = LinearSystem(len(columns))
    for x in range(problem.input_count):
        system.add({j: column[x] for j, column in enumerate(columns)}, Fraction(1))

    def weighed(weights: list[Fraction]) -> Rows:
        return [[w * column[x] for w, column in zip(weights, columns, strict=True)] for x in range(problem.input_count)]

    solved = system.solved() if columns else None
    if solved is not None and all(weight >= 0 for weight in solved):
        rows = weighed(solved)
        if all(sum(row) == 1 for row in rows) and _fits(problem, rows):
            return rows
    share = Fraction(1, GRID)
    while columns and share < 1:
        near = [Fraction(int(weights[ray] * GRID), GRID) * (1 - share) for ray in used]
        rows = [[*row, 1 - sum(row, Fraction(0))] for row in weighed(near)]
        if _fits(problem, rows):
            return rows
        share *= 10
    return [[Fraction(1)] for _ in range(problem.input_count)]


def _fits(problem: MaxInformation, rows: Rows) -> bool:
    """True if these rows are laws, private, and can be written."""
    if any(min(row) < 0 for row in rows) or not all(writable(row) for row in rows):
        return False
    if problem.privacy is None:
        drifts = problem.secret.drifts
        columns = [[fmpq(p.numerator, p.denominator) for p in column] for column in zip(*rows, strict=True)]
        return all(
            not sum((drift[s] * column[x] for x, drift in drifts.items()), fmpq(0))
            for column in columns
            for s in problem.secret.letters
        )
    level = problem.exp_epsilon(rows)
    return level is not None and level <= problem.notion.factor()[0]


ROUGH = (3e-6, 1e-4)


@dataclass
class ExtremeProposer(MostProposer):
    """Outcome of the program over the extreme rays of private columns."""

    problem: MaxInformation
    search: Run
    rounds: int = 1
    found: Extreme = field(init=False)

    def run(self) -> None:
        """Solve."""
        clock = self.search.clock
        self.found = found = Extreme.of(self.problem, clock)
        clock.tell("extreme rays", found.attained, float(found.prices.sum()), len(found.rows[0]), rounds=1, now=True)

    def uppers(self) -> Iterator[Upper]:
        """The sum of the prices, raised ever further; at last what the input itself tells."""
        if not self.found.prices.any():
            yield self._upper(self.found.prices)
        for margin in (*MARGINS, *ROUGH):
            yield self._upper(self.found.prices + self.found.slack + margin * (LEAST + self._size))
        yield self._upper(Told.of_law(self.problem.joint, self.problem.told).alone, candidate=CERTAIN)

    @property
    def _size(self) -> float:
        """Scale of rounding: the largest price of an input."""
        return float(np.abs(self.found.prices).max(initial=0.0))

    def _upper(self, prices: Floats, candidate: int = 0) -> Upper:
        texts = tuple(map(short_text, prices.tolist()))
        bare = candidate == CERTAIN and self.problem.privacy is None  # whatever rays there are, which take long to list
        return Upper(
            value=max(sum(map(Fraction, texts), Fraction(0)), Fraction(0)),
            candidate=candidate,
            lines=(EnvelopeLine("inputs", "0", texts) if bare else PotentialLine(texts),),
            mechanism=weight_texts(self.found.rows),
        )
