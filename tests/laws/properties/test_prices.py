"""What budgets and limits cost: slopes against differences, lines below the optimum, and the priors that are enough to prove it."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, each, thinned
from dalenius.programs import MinDistortionProgram, MinLeakageProgram

FOUR = {"records": dl.Records(4, alphabet=2), "distortion": "hamming", "law": "uniform"}
TWO = {"records": dl.Records(2, alphabet=2), "distortion": "absolute", "law": "uniform", "query": "count"}
DESIGNS = {
    "least leakage": dl.MinLeakage(**FOUR, query="parity", adversary="0.8 max", max_distortion=0.1),
    "least distortion": dl.MinDistortion(**FOUR, query="parity", adversary="0.8 max", max_leakage="0.3 nats"),
    "independent records": dl.MinLeakage(**FOUR, query="count", adversary=dl.ProductPriors(), max_distortion=0.3),
    "households": dl.MinDistortion(**FOUR, query="count", adversary=dl.IndependentBlocks(2), max_leakage="0.2 nats"),
    "a listed prior": dl.MinDistortion(**TWO, adversary=dl.FixedPrior([0.4, 0.2, 0.1, 0.3]), max_leakage="0.05 nats"),
    "additive": dl.MinLeakage(**FOUR, query="parity", adversary="0.8 max", max_distortion=0.2, mechanism="additive"),
    "constraints": dl.MinLeakage(
        **TWO,
        adversary="0.8 max",
        max_distortion=0.5,
        constraints=[dl.constraints.ErrorCap(0.6), dl.constraints.Linear([(0, 0, 1)], at_most=1)],
    ),
}


def moved(problem, amount):
    """The same with a budget that is so much larger."""
    return problem.with_budget(problem.budget + Fraction(amount))


@pytest.mark.parametrize("name", thinned(list(DESIGNS), every=4))
def test_the_slope_of_a_budget_is_that_of_the_optimum(name):
    """By central differences; and the line that it is the slope of is below the optimum wherever it is asked."""
    problem, result = DESIGNS[name], dl.solve(DESIGNS[name], gap=1e-4)
    budget = result.prices[0]
    assert budget.name == problem.budget_key
    assert budget.binds
    assert budget.units == ("nats per distortion" if problem.kind == "min_leakage" else "distortion per nat")
    step = 0.05 * float(problem.budget)
    ends = {sign: dl.solve(moved(problem, sign * step), gap=1e-4) for sign in (-1.0, 1.0)}
    for sign, there in ends.items():
        assert there.upper >= result.lower + sign * step * budget.slope - 1e-12
    assert budget.slope == pytest.approx((ends[1.0].lower - ends[-1.0].lower) / (2.0 * step), rel=0.02)


@pytest.mark.parametrize("name", thinned(list(DESIGNS)[:-1], every=3))
def test_the_priors_alone_leave_the_optimum_where_it_is(name):
    """Their weights are shares, and the least against them is the least against everybody."""
    problem = DESIGNS[name]
    result = dl.solve(problem, gap=1e-5)
    assert {prior.against for prior in result.priors} == {"adversary"}
    assert sum(prior.weight for prior in result.priors) == pytest.approx(1.0, abs=1e-4)
    for prior in result.priors:
        assert prior.masses.sum() == pytest.approx(1.0)
        assert prior.masses.shape == (2, problem.input_count)
    used = result.audit.upper if problem.kind == "min_distortion" else result.distortion
    room = (problem.leakage_budget if problem.kind == "min_distortion" else problem.budget) - used
    assert result.prices[0].slack == room >= 0
    cls = MinLeakageProgram if problem.kind == "min_leakage" else MinDistortionProgram
    budget = problem.leakage_budget if problem.kind == "min_distortion" else float(problem.budget)
    cost = problem.input_law[:, None] * problem.cost
    only = cls([prior.masses for prior in result.priors], cost, budget, tied=problem.tied).solve(gap=1e-6)
    slack = 1e-4 * result.upper
    assert result.lower - slack <= only.upper
    assert only.lower <= result.upper


def test_slopes_along_a_frontier_are_those_between_its_points():
    """The optimum is convex in the budget: what it falls by between two points lies between what their slopes say."""
    points = list(dl.frontier(DESIGNS["independent records"], ["0.2", "0.3", "0.4"], gap=1e-4))
    for one, two in itertools.pairwise(points):
        step, (first, last) = float(two.budget - one.budget), (one.result.prices[0].slope, two.result.prices[0].slope)
        low, high = two.result.lower - one.result.upper, two.result.upper - one.result.lower
        assert first * step <= high + 1e-12
        assert low <= last * step + 1e-3 * abs(last) * step
        assert first < last < 0.0


def test_a_constraint_has_a_signed_slope_and_the_rows_have_theirs():
    problem = DESIGNS["constraints"]
    result, step = dl.solve(problem, gap=1e-3), 0.02
    budget, error, private = result.prices
    assert result.constraints == result.prices
    assert (error.number, private.number, private.slope) == (0, 1, 0.0)
    assert error.slope == pytest.approx(-sum(p for _, p in error.rows))
    assert error.units == "nats per unit"
    for amount in (step, -step)[: draws(1, 2)]:
        other = [dl.constraints.ErrorCap(0.6 + amount), *problem.constraints[1:]]
        there = dl.solve(dataclasses.replace(problem, constraints=other), gap=1e-3)
        assert there.upper >= result.lower + amount * error.slope
        assert there.lower <= result.upper + amount * error.slope + 10.0 * step**2
    assert budget.slope < 0.0


def test_of_a_funnel_the_limit_raises_what_is_told_at_most_by_its_price():
    joint = [[0.3, 0.15, 0.05], [0.1, 0.15, 0.25]]
    result, step = dl.solve(dl.PrivacyFunnel(joint, "0.05 nats"), gap=1e-4), 0.005
    (price,) = result.prices
    assert price.slope == price.price > 0.0
    assert price.units == "nats per nat"
    for amount in (step, -step):
        there = dl.solve(dl.PrivacyFunnel(joint, f"{0.05 + amount} nats"), gap=1e-4)
        assert there.lower <= result.upper + amount * price.slope
        assert there.upper >= result.lower + amount * price.slope - 20.0 * step**2


def test_in_bits_a_price_is_in_bits_and_one_of_a_distortion_stays():
    leakage = dl.solve(DESIGNS["least leakage"], gap=1e-3)
    (price,), (told,) = leakage.prices, leakage.to("bits").prices
    assert told.units == "bits per distortion"
    assert told.slope == pytest.approx(price.slope / math.log(2.0))
    assert told.price == -told.slope
    distortion = dl.solve(DESIGNS["least distortion"], gap=1e-3)
    assert distortion.with_leakages_in("bits").prices == distortion.prices
    assert distortion.constraints == ()


@each("problem", DESIGNS["least leakage"], DESIGNS["least distortion"])
def test_where_a_budget_does_not_bind_it_has_no_price(problem):
    loose = moved(problem, 1.0)
    result = dl.solve(loose)
    assert result.lower == 0.0
    assert all(price.slope == 0.0 for price in result.prices)


def test_of_what_is_infeasible_those_in_conflict_have_no_slope():
    none = dl.solve(dataclasses.replace(DESIGNS["constraints"], constraints=[dl.constraints.ErrorCap(-0.1)]))
    assert math.isinf(none.lower)
    assert none.prices == none.constraints
    assert all(price.binds and price.slope == 0.0 for price in none.prices)
    assert none.priors == ()
    assert np.isfinite([price.price for price in none.prices]).all()


def test_outputs_that_must_never_come_have_a_price_where_they_cost():
    """What keeps an entry at 0 was left out of prices: "does not bind", of what makes the optimum larger."""
    free = dl.MinLeakage(
        records=dl.Records(2, alphabet=2),
        query=dl.Count(),
        distortion=dl.Absolute(),
        max_distortion=0.4,
        adversary="0.8 max",
    )
    without = dl.solve(free, gap=3e-2)
    for constraint in (dl.constraints.ZeroEntries([[0, 2], [2, 0]]), dl.constraints.Band(1)):
        held = dl.solve(dataclasses.replace(free, constraints=[constraint]), gap=3e-2)
        assert held.lower > without.upper
        price = held.prices[-1]
        assert price.binds
        assert price.rows
        assert price.slope < 0
        assert str(price).endswith("nats per unit of probability in every entry; slack 0")
        assert without.upper >= held.lower + price.slope  # an entry is at most 1
