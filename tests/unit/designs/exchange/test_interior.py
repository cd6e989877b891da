"""What rows leave, in exact numbers: against a linear solver, and where doubles see nothing."""

import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import dalenius as dl
from campaigns import draws
from dalenius.designs.exchange.interior import Strict, strictly
from dalenius.designs.exchange.rows import Row
from dalenius.search import Clock


def drawn(seed):
    """Rows with small numbers, and the shape of the mechanism."""
    rng = random.Random(seed)
    shape = rng.randint(1, 3), rng.randint(2, 3)
    entries = range(shape[0] * shape[1])
    rows = [
        Row(
            {i: Fraction(rng.randint(-3, 3)) for i in entries if rng.random() < 0.6},
            Fraction(rng.randint(-2, 2), rng.choice([1, 2, 3])),
            rng.random() < 0.2,
        )
        for _ in range(rng.randint(0, 4))
    ]
    return rows, shape


def largest(rows, shape, objective):
    """What a linear solver says is the largest value of these terms; None if there is no mechanism."""
    entries = range(shape[0] * shape[1])

    def dense(terms):
        return [float(terms.get(i, 0)) for i in entries]

    sums = [({i: 1.0 for i in entries if i // shape[1] == x}, 1.0) for x in range(shape[0])]
    equal = [*sums, *((row.terms, float(row.end)) for row in rows if row.equal)]
    below = [row for row in rows if not row.equal]
    found = linprog(
        -np.array(dense(objective)),
        A_ub=[dense(row.terms) for row in below] or None,
        b_ub=[float(row.end) for row in below] or None,
        A_eq=[dense(terms) for terms, _ in equal],
        b_eq=[end for _, end in equal],
    )
    assert found.status in (0, 2)
    return -found.fun if found.status == 0 else None


@pytest.mark.parametrize("seed", range(draws(15, 1000)))
def test_a_linear_solver_agrees_where_numbers_are_small(seed):
    rows, (count, outputs) = drawn(seed)
    found = strictly(rows, (count, outputs), Clock(60.0))
    if not isinstance(found, Strict):
        assert largest(rows, (count, outputs), {}) is None
        assert all(price >= 0 for price, row in zip(found, rows, strict=True) if not row.equal)
        priced = list(zip(found, rows, strict=True))
        raised = [sum(p * row.terms.get(i, 0) for p, row in priced) for i in range(count * outputs)]
        least = sum(min(raised[x * outputs : (x + 1) * outputs]) for x in range(count))
        assert least > sum(p * row.end for p, row in priced)
        return
    assert min(found.q) >= 0
    assert all(sum(found.q[x * outputs : (x + 1) * outputs]) == 1 for x in range(count))
    for i, value in enumerate(found.q):
        assert (largest(rows, (count, outputs), {i: 1}) > 1e-9) == found.support[i] == (value > 0)
    for row, tight in zip(rows, found.tight, strict=True):
        excess = row.excess(found.q)
        assert excess <= 0
        assert tight == (excess == 0)
        lowest = -largest(rows, (count, outputs), {i: -c for i, c in row.terms.items()})
        assert tight == (row.equal or lowest > float(row.end) - 1e-9)


NEAR_ONE = Fraction(10**40 - 2, 10**40)  # with 1e-40 it is less than 1
LEAST = {
    "records": dl.Records(1, alphabet=2),
    "query": dl.Identity(),
    "distortion": dl.Hamming(),
    "adversary": dl.EntropyAtLeast("0.7 max"),
}


def capped(entry, at_most):
    return dl.constraints.Linear(terms=[(*entry, 1)], at_most=at_most)


def test_designs_with_less_room_than_doubles_see_have_a_mechanism():
    """No error but 1e-40; and nobody ever gets an output but with 1e-40."""
    told = dl.solve(
        dl.MinLeakage(**LEAST, max_distortion="1e-40", constraints=[dl.constraints.Band(1)]), time_limit=5.0
    )
    assert told.mechanism is not None
    assert told.distortion <= Fraction(1, 10**40)
    few = [capped((0, 0), Fraction(1, 10**40)), capped((1, 0), Fraction(1, 10**40))]
    assert dl.solve(dl.MinLeakage(**LEAST, max_distortion=1, constraints=few), time_limit=5.0).upper == 0.0


def test_exact_numbers_that_take_long_leave_time_for_the_constant_mechanism(work_clock, monkeypatch):
    def slow(rows, shape, clock):
        if shape[0] == 1:
            return strictly(rows, shape, clock)
        while not clock.expired:
            work_clock.now += 0.1
        return None

    monkeypatch.setattr("dalenius.designs.exchange.region.strictly", slow)
    few = [capped((0, 0), Fraction(1, 10**40)), capped((1, 0), Fraction(1, 10**40))]
    assert dl.solve(dl.MinLeakage(**LEAST, max_distortion=1, constraints=few), time_limit=60.0).upper == 0.0


def test_that_nothing_is_feasible_by_less_than_doubles_see_is_proved():
    few = [capped((0, 0), Fraction(1, 10**40)), capped((0, 1), NEAR_ONE)]
    result = dl.solve(dl.MinLeakage(**LEAST, max_distortion=1, constraints=few), time_limit=5.0)
    assert not result.feasible
    assert {price.number for price in result.constraints} == {0, 1}


def test_limits_that_no_audit_proves_leave_the_constant_mechanism():
    """To prove that hardly anything leaks takes an audit finer than doubles; a constant mechanism leaks nothing."""
    records, law = dl.Records(alphabets=[2, 2]), dl.Iid(["723/733", "10/733"])
    problem = dl.MinDistortion(
        records=records,
        query=dl.Sum([4, -2]),
        distortion=dl.Squared(outputs=[-1, "5/2", 4]),
        law=law,
        adversary=dl.EntropyAtLeast("0.7 max"),
        max_leakage="1e-17 nats",
        mechanism="full",
        objective=dl.objectives.WeightedMaximum([dl.objectives.DistortionTerm(dl.Absolute(), weight=2)]),
    )
    result = dl.solve(problem, time_limit=3.0)
    assert result.leakage == (0.0, 0.0)
    p, q = Fraction(723, 733), Fraction(10, 733)
    assert result.lower <= 16 * p**2 + 4 * 2 * p * q + 64 * q**2 <= result.upper  # always 4, of 8, 2 or -4
    assert result.gap <= 1e-4


def test_hardly_any_room_in_rows_leaves_the_cheapest_constant_mechanism():
    problem = dl.MinDistortion(
        records=dl.Records(alphabets=[2, 3]),
        query=dl.ModularSum(5),
        distortion=dl.Hamming(),
        mechanism="full",
        privacy=dl.LocalDP("1e-17"),
        constraints=[dl.constraints.ErrorCap(1), dl.constraints.PointwiseLeakageLimit("1e-40")],
    )
    result = dl.solve(problem, time_limit=1.0)
    assert result.upper - result.lower < 1e-4
