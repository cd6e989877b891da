"""Bounds on the optimum from multipliers of a master program, or a proof that there is no mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from dalenius.designs.claims import dual_lines
from dalenius.designs.exchange.goals import OWN, Goal, Place, Watched, WeightedPrior, of_all_letters, on_inputs, term_of
from dalenius.designs.exchange.region import Region
from dalenius.designs.exchange.rows import BUDGET, PRIVACY
from dalenius.designs.terms import Terms
from dalenius.evidence import matrix_text, short_text
from dalenius.evidence.lower import (
    AlsoLine,
    InputLaw,
    LowerLine,
    Matrix,
    PriorLine,
    RatioLine,
    TermLine,
    WeightLine,
)
from dalenius.exact import fraction_text, is_writable
from dalenius.information.arrays import Floats
from dalenius.model import MinDistortion
from dalenius.model.constraints import LeakageLimit, Rows, SecondOrderCone
from dalenius.programs import ConstrainedUpdate
from dalenius.programs.base import Named
from dalenius.programs.mechanism_update import MechanismUpdate
from dalenius.programs.secrets import Tangent
from dalenius.units import Quantity

USED = 1e-12  # share of the largest multiplier below which one is 0
HEAVIEST = 1e8  # weight of a prior, relative to the largest cost: posteriors are written in doubles
LEAST = 1e-290  # posterior of a letter that has mass: it must be above 0 as it is written


@dataclass(frozen=True, eq=False)
class DesignBound:
    """A lower bound of the optimum, on orbits, and its multipliers; weights of an objective as shares of their scale (`Terms`).

    Attributes
    ----------
    value : float
    priors : (where its adversary stands, weighted prior)
    distortions : dict of term -> v
        Weights of the terms of what is minimised that are distortions.
    prices : (rows of the region,)
        Fractions where the optimum is known exactly. Those that keep entries away which are 0 in every mechanism are among them.
    cones : (t, u...) of every cone
    tangents : (number of the law, number of the tangent, weight, hint)
        Of the region's limits about secrets.
    size : float
        What is summed, roughly: rounding is a part in 1e16 of it.
    """

    value: float = 0.0
    priors: tuple[tuple[Place, WeightedPrior], ...] = ()
    distortions: Mapping[int, float] = field(default_factory=dict)
    prices: Floats | None = None
    cones: tuple[Floats, ...] = ()
    tangents: tuple[Tangent, ...] = ()
    size: float = 0.0
    found_by: str = "start"

    def scaled(self, scale: float) -> DesignBound:
        """The bound of an objective that is so much larger, a power of 2."""
        if scale == 1.0:
            return self
        return replace(
            self,
            value=scale * self.value,
            priors=tuple((place, replace(part, weight=scale * part.weight)) for place, part in self.priors),
            distortions={j: scale * v for j, v in self.distortions.items()},
            prices=None if self.prices is None else scale * self.prices,
            cones=tuple(scale * both for both in self.cones),
            tangents=tuple((k, i, scale * weight, hint) for k, i, weight, hint in self.tangents),
            size=scale * self.size,
        )


def design_bound(
    program: ConstrainedUpdate | MechanismUpdate,
    goal: Goal,
    watched: Sequence[Watched],
    multipliers: Named,
    found_by: str,
) -> DesignBound | None:
    """The bound with posteriors as a certificate will have them, tiny multipliers left out; None if it is nothing."""
    if isinstance(program, MechanismUpdate):
        multipliers = _of_budget(program, multipliers)
    region, prices = goal.region, multipliers["prices"].copy()
    weights, charged = (
        program.scaled(multipliers) if isinstance(program, ConstrainedUpdate) else (multipliers["weights"], np.zeros(0))
    )
    sizes = np.abs(prices) * region.linear.units
    prices[sizes <= USED * sizes.max(initial=0.0)] = 0.0
    multipliers, parts = multipliers | {"weights": weights, "charged": charged, "prices": prices}, list[Floats]()
    if program.leakages is not None:
        leakages = program.leakages
        posteriors = np.maximum(leakages.pi[:, None] * np.exp(leakages.normalised(multipliers["log_ratio"])), LEAST)
        multipliers |= {"log_ratio": np.log(posteriors) - leakages.log_pi[:, None]}
        parts = np.split(posteriors, leakages.first[1:])
    value, raised = program.bound(multipliers), region.raised
    if not math.isfinite(value) or raised is None:
        return None
    if isinstance(program, ConstrainedUpdate):
        prices = prices + program.lift_needed(multipliers) * raised
    elif not weights.sum() > 0.0:  # a certificate needs a prior
        return None
    used = np.flatnonzero(weights > USED * weights.max(initial=0.0)).tolist()
    return DesignBound(
        value,
        tuple(
            (watched[s][0], WeightedPrior(watched[s][1], float(weights[s]), of_all_letters(watched[s][1], parts[s])))
            for s in used
        ),
        goal.charged(charged),
        prices,
        tuple(multipliers[f"cone{k}"] for k in range(len(region.cones))),
        region.told.listed(multipliers),
        float(weights.sum() + np.abs(prices).sum() * (1.0 + np.abs(region.linear.ends).max(initial=0.0))),
        found_by,
    )


def _of_budget(program: MechanismUpdate, multipliers: Named) -> Named:
    """Those of a program with one budget: that of distortion is a row's price; weights that doubles can write posteriors for.

    Lighter weights with ratios as much farther from 1 prove the same, but for terms of second order in the ratios.
    """
    multipliers = multipliers | {"prices": np.atleast_1d(multipliers.get("nu", np.zeros(0))).astype(float)}
    weights, ratios = multipliers["weights"], np.expm1(multipliers["log_ratio"])
    lighter = HEAVIEST * float(program.cost.max()) / max(float(weights.max()), 1e-300)
    if "nu" in multipliers or not lighter < 1.0:
        return multipliers
    log_ratio = np.log1p(np.maximum(ratios / lighter, -0.9))
    return multipliers | {"weights": lighter * weights, "log_ratio": log_ratio}


def without_search(goal: Goal) -> DesignBound:
    """The least distortion, whatever anybody is told; 0 of a leakage. The prior is there because a certificate needs one."""
    problem = goal.region.problem
    least = float(problem.least_distortion) if goal.is_free and problem.leakage_budget is not None else 0.0
    if least <= 0.0:
        return DesignBound()
    watcher = goal.watchers[0]
    weight = max(1e-16 * least / (1.0 + (watcher.limit or 0.0)), 5e-324)
    prior = watcher.oracle.any_prior
    posteriors = np.tile(prior.masses.sum(axis=1, keepdims=True), (1, problem.output_count))
    part = WeightedPrior(prior, weight, posteriors)
    return DesignBound(least * (1.0 - 2e-15), ((watcher.place, part),), goal.charged(np.zeros(0)))


DIGITS = 16


class OwnBound:
    """A bound's multipliers on the problem's own inputs, rows and cones: those of what is alike on orbits are shared out evenly.

    Attributes
    ----------
    priors : list of (where its adversary stands, weighted prior)
    distortions : dict of term -> v_j
        Of what is minimised; 1 for the expected distortion alone.
    prices : dict of constraint -> dict of row -> multiplier, a fraction where it is known exactly
        Also of the budget and of the privacy notion, by their numbers.
    cones : dict of constraint -> (t, u...)
    tangents : list of (law, number of the tangent, weight, hint)
    """

    def __init__(self, bound: DesignBound, region: Region, *, infeasible: bool = False) -> None:
        self.problem, self.numbered, self.infeasible = region.problem, region.numbered, infeasible
        self.terms = Terms.of(region.problem)
        bound = bound if infeasible else bound.scaled(self.terms.scale)
        self.priors: list[tuple[Place, WeightedPrior]] = [
            (place, own) for place, part in bound.priors for own in on_inputs(part, region.orbits)
        ]
        self.distortions = {} if infeasible else dict(bound.distortions)
        if self.problem.objective is not None and not infeasible:
            self._allow()
        self.prices: dict[int, dict[int, float | Fraction]] = {}
        for row, price in zip(
            region.rows, [] if bound.prices is None else bound.prices.tolist(), strict=bound.prices is not None
        ):
            for j, r in row.members if price else ():
                self.prices.setdefault(j, {})[r] = price / len(row.members)
        self.cones = {
            cone.number: inside_cone(both)
            for cone, both in zip(region.cones, bound.cones, strict=bool(bound.cones))
            if any(both)
        }

        self.tangents = [(region.secrets[k], i, weight, hint) for k, i, weight, hint in bound.tangents]

    def _allow(self) -> None:
        """Lower the weights of the terms until the conditions of docs/certificate-format.md hold for them as they are written."""
        minimised = [
            (k, j) for k, (place, _) in enumerate(self.priors) if (j := term_of(self.problem, place)) is not None
        ]
        own = [*self.distortions.items()] if self.terms.largest else []  # in a sum they have their whole weights
        allowed = self.terms.allowed([*((j, self.priors[k][1].weight) for k, j in minimised), *own])
        for (k, _), v in zip(minimised, allowed, strict=False):
            place, part = self.priors[k]
            self.priors[k] = place, replace(part, weight=v)
        self.distortions |= zip((j for j, _ in own), allowed[len(minimised) :], strict=True)

    @property
    def weights(self) -> dict[int, float]:
        """v_j of every term, 0 where it has no weight in the bound."""
        found = dict.fromkeys(range(self.terms.count), 0.0) | self.distortions
        for place, part in self.priors:
            j = term_of(self.problem, place)
            if j is not None:
                found[j] += part.weight
        return found

    # ------------------------------------------------------------ as lines

    def lines(self) -> tuple[LowerLine, ...]:
        """In the order of docs/certificate-format.md."""
        prices = {j: {r: _price_text(price) for r, price in rows.items()} for j, rows in self.prices.items()}
        return dual_lines(
            budget=prices.get(BUDGET, {}).get(0, "0"),
            priors=(PriorLine(*_written(part)) for _, part in self._of("own")),
            ratios=self._ratios(),
            weights=self._weights(),
            terms=(TermLine(j, *_written(part)) for j, part in self._of("term")),
            prices={j: rows for j, rows in prices.items() if j >= 0},
            cones={j: [*map(fraction_text, both)] for j, both in self.cones.items()},
            tangents=(
                law.line(i, _price_text(weight), tuple(map(_price_text, hint)))
                for law, i, weight, hint in self.tangents
            ),
            also=(AlsoLine(j, *_written(part)) for j, part in self._of("constraint")),
        )

    def _of(self, where: str) -> Iterator[tuple[int, WeightedPrior]]:
        """The priors of adversaries that stand there, with the numbers of these."""
        return ((place.number, part) for place, part in self.priors if place.where == where)

    def _weights(self) -> Iterator[WeightLine]:
        """The weights of distortions in an objective of several terms."""
        if self.problem.objective is None or self.infeasible:
            return
        for j, v in self.distortions.items():
            if v > 0.0:
                yield WeightLine(j, short_text(v) if self.terms.largest else fraction_text(self.terms.weights[j]))

    def _ratios(self) -> Iterator[RatioLine]:
        """Multipliers of the privacy notion, by output and by what entries are compared with: an input, or a listed law."""
        priced, problem = self.prices.get(PRIVACY, {}), self.problem
        if not priced:
            return
        assert isinstance(problem, MinDistortion)
        found: dict[tuple[int, int], dict[int, float | Fraction]] = {}
        for r, (y, x, reference) in enumerate(_comparisons(problem, self.numbered[PRIVACY])):
            if r in priced:
                found.setdefault((y, reference), {})[x] = priced[r]
        listed = problem.references[0].law is not None
        for (y, reference), prices in sorted(found.items()):
            above = tuple(_price_text(prices.get(x, 0.0)) for x in range(problem.input_count))
            point = tuple("1" if x == reference else "0" for x in range(problem.input_count))
            yield RatioLine(y, reference if listed else point, above)

    # ------------------------------------------------------------ what they prove

    def value(self) -> tuple[float, float]:
        """The bound of docs/certificate-format.md in doubles, and the size of all that is summed."""
        problem = self.problem
        matrix = np.zeros(problem.cost.shape)
        for j, v in self.distortions.items():
            distortion = self.terms.distortions[j]
            matrix = matrix + v * (distortion.input_law[:, None] * distortion.cost)
        size, spent = abs(matrix), 0.0
        limits = {Place("constraint", j): limit.nats for j, limit in problem.numbered(LeakageLimit).items()}
        if problem.leakage_budget is not None:
            limits[OWN] = problem.leakage_budget
        own = sum(part.weight for _, part in self._of("own"))
        averaged = problem.quantity is Quantity.LEAKAGE
        for place, part in self.priors:
            share, masses = own if averaged and place == OWN else 1.0, part.prior.masses.sum(axis=0)
            scores = part.scores() / share
            matrix = matrix + scores
            size = size + abs(scores) + part.weight / share * masses[:, None]  # posteriors are rounded
            spent += part.weight * limits.get(place, 0.0)
        added, more, terms = self._priced(matrix.shape)
        matrix, size, spent = matrix + added, size + more, spent + terms
        least = problem.tied.sums(matrix).min(axis=1)
        return float(np.sum(least)) - spent, float(np.sum(problem.tied.sums(size).max(axis=1)) + abs(spent))

    def _priced(self, shape: tuple[int, ...]) -> tuple[Floats, Floats, float]:
        """Price of rows and cones: what they add to the matrix, its size, and what they subtract."""
        problem, matrix, size, spent = self.problem, np.zeros(shape), np.zeros(shape), 0.0
        for j, prices in self.prices.items():
            rows = self.numbered[j]
            for r, price in prices.items():
                spent += price * float(rows.ends[r])
                for (x, y), c in rows.above[r].items():
                    matrix[x, y] += price * float(c)
                    size[x, y] += abs(price * float(c))
        for j, both in self.cones.items():
            cone = problem.numbered(SecondOrderCone)[j]
            for multiplier, part in zip(both, (cone.bound, *cone.norm), strict=True):
                spent += float(multiplier * part.constant)
                for (x, y), c in part.summed.items():
                    matrix[x, y] -= float(multiplier * c)
                    size[x, y] += abs(float(multiplier * c))
        for law, i, price, exactly in self.tangents:
            weight, hint = float(price), np.asarray(exactly, dtype=float)
            slopes, sizes = law.part.slopes(i, hint)
            matrix, size = matrix + weight * (law.part.masses.T @ slopes), size + weight * (law.part.masses.T @ sizes)
            spent += weight * law.part.behind(i, hint)
        return matrix, size, spent


def _written(part: WeightedPrior) -> tuple[str, int, InputLaw, Matrix]:
    """The fields of a prior's line."""
    prior = part.prior
    masses = matrix_text(prior.masses) if prior.hint is None else prior.hint
    return short_text(part.weight), prior.record, masses, matrix_text(part.posteriors)


def _price_text(price: float | Fraction) -> str:
    return fraction_text(price) if isinstance(price, Fraction) and is_writable(price) else short_text(float(price))


def _comparisons(problem: MinDistortion, rows: Rows) -> list[tuple[int, int, int]]:
    """Of every row of the privacy notion the output, the input, and with what it is compared: an input, or a listed law's number."""
    if problem.references[0].law is None:
        return [(y, x, rows.scaled[r][0][0]) for r, ((x, y, _),) in enumerate(rows.terms)]
    laws = [
        k
        for k, reference in enumerate(problem.references)
        for _ in reference.inputs
        for _ in range(problem.output_count)
    ]
    return [(y, x, k) for ((x, y, _),), k in zip(rows.terms, laws, strict=True)]


def inside_cone(both: Floats) -> tuple[Fraction, ...]:
    """(t, u) in whole units of the last digit with |u| <= t exactly: the squares decide."""
    t, *u = (round(float(x) * 10**DIGITS) for x in both)
    squared = sum(x * x for x in u)
    root = math.isqrt(squared)
    t = max(t, root + (root * root < squared))
    return tuple(Fraction(x, 10**DIGITS) for x in (t, *u))
