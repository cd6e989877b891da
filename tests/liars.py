"""What solvers say that lie: numbers of all sizes, what is no number, and the truth bent, swapped or of another shape."""

from collections.abc import Callable

import cvxpy as cp
import numpy as np

HONEST = cp.Problem.solve
STATUSES = ("optimal", "optimal_inaccurate", "user_limit", "infeasible", "infeasible_inaccurate", "unbounded", "None")


def wild(rng, shape, _=None):
    """Numbers of all sizes and signs, zeros and some that are none too."""
    kind = rng.integers(7)
    if kind == 0:
        return rng.normal(size=shape)
    if kind == 1:
        return rng.choice([-1.0, 1.0], size=shape) * 10.0 ** rng.uniform(-320, 308, size=shape)
    if kind == 2:
        return np.abs(rng.normal(size=shape)) * 10.0 ** rng.uniform(-20, 20)
    if kind == 3:
        return np.where(rng.random(shape) < 0.7, 0.0, rng.random(shape))
    if kind == 4:
        return np.full(shape, rng.choice([0.0, -0.0, 1.0, -1.0, 5e-324, 1e308]))
    if kind == 5:
        return np.where(rng.random(shape) < 0.2, np.nan, 1.0)
    return rng.dirichlet(np.full(max(int(np.prod(shape)), 1), 0.3)).reshape(shape)


def broken(rng, shape, _=None):
    """What is no array of finite numbers of this shape."""
    choices = [np.full(shape, np.nan), np.full(shape, np.inf), np.where(rng.random(shape) < 0.5, -np.inf, 1.0)]
    choices += [np.ones((*shape, 2)), np.ones(7), np.array(0.3), np.array([]), np.array(["garbage"])]
    choices += [np.array([None], dtype=object), np.full(shape, 1.0 + 1.0j), "garbage", {"x": 3}, None, 0]
    return choices[rng.integers(len(choices))]


def bent(rng, _, honest):
    """Nearly the truth, and better than it."""
    factor = 1.0 + 10.0 ** rng.uniform(-12, 0) * rng.choice([-1.0, 1.0])
    return honest * factor + 10.0 ** rng.uniform(-12, -1) * rng.normal()


def swapped(rng, _, honest):
    """The right numbers in the wrong places, or with the wrong sign."""
    return rng.choice([-1.0, 1.0]) * rng.permutation(honest.reshape(-1)).reshape(honest.shape)


def say(problem: cp.Problem, values: Callable, status: str = "optimal", value: float = 0.0) -> None:
    """Write into variables and duals, as a solver's answer, what `values` makes of each."""
    for variable in problem.variables():
        variable.save_value(values(variable))
    for constraint in problem.constraints:
        for dual in constraint.dual_variables:
            dual.save_value(values(dual))
    problem._status, problem._value = status, value


def liar(rng, lie: Callable) -> Callable:
    """A solver that solves, and then says what `lie` makes of the shapes and of the honest numbers."""

    def solve(problem, *args, **rest):
        HONEST(problem, *args, **rest)

        def told(one):
            return lie(rng, one.shape, np.zeros(one.shape) if one.value is None else np.asarray(one.value, dtype=float))

        say(problem, told, rng.choice(STATUSES), problem._value)

    return solve
