"""What sparse equations lack is made up for exactly, by unknowns that can be changed."""

import numpy as np
from flint import fmpq

from campaigns import draws
from cvxcertify.instance import exactly
from cvxcertify.linear import made_up


def holds(equations, lacks, found):
    return all(
        sum((x * found.get(j, fmpq(0)) for j, x in equation.items()), fmpq(0)) == lack
        for equation, lack in zip(equations, lacks, strict=True)
    )


def test_solutions_are_exact_with_dependent_equations_too():
    rng = np.random.default_rng(0)
    for _ in range(draws(30, 1000)):
        height, width = int(rng.integers(1, 7)), int(rng.integers(6, 12))
        A = np.where(rng.random((height, width)) < 0.5, rng.normal(size=(height, width)), 0.0)
        equations = [{j: exactly(x) for j, x in enumerate(row.tolist()) if x} for row in A]
        d = [exactly(x) for x in rng.normal(size=width).tolist()]
        equations.append({j: 3 * x for j, x in equations[0].items()})  # says what the first one says
        lacks = [sum((x * d[j] for j, x in equation.items()), fmpq(0)) for equation in equations]
        found = made_up(equations, lacks, rng.random(width) + 0.1)
        assert found is not None
        assert holds(equations, lacks, found)


def test_what_contradicts_itself_has_no_solution():
    equations = [{0: fmpq(1), 1: fmpq(1)}, {0: fmpq(2), 1: fmpq(2)}]
    assert made_up(equations, [fmpq(1), fmpq(3)], np.ones(2)) is None


def test_unknowns_that_cannot_be_changed_are_not():
    equations = [{0: fmpq(1), 1: fmpq(1), 2: fmpq(5)}]
    assert made_up(equations, [fmpq(2)], np.array([0.0, 1.0, 0.0])) == {1: 2}
    assert made_up(equations, [fmpq(2)], np.zeros(3)) is None
    assert made_up(equations, [fmpq(0)], np.zeros(3)) == {}
