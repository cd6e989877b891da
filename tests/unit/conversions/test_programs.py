"""Programs of a few scalars: never below a point that is feasible, and never far above the best one that a search finds."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy.optimize import brentq, minimize_scalar

from campaigns import draws, each
from dalenius.conversions.programs import between_inputs, input_and_others, input_and_output, two_tails


def divergence(p, q):
    return sum(x * math.log(x / y) for x, y in ((p, q), (1 - p, 1 - q)) if x > 0)


def farthest(q, information, end):
    if divergence(end, q) <= information:
        return end
    return brentq(lambda p: divergence(p, q) - information, q, end, xtol=1e-15)


def in_balls(program, *numbers):
    with ctx.workprec(128):
        return float(program(*(arb(x) for x in numbers)).upper())


def best(function, low, high):
    """The largest value on a grid, refined once between neighbours."""
    grid = np.linspace(low, high, 400)
    at = int(np.argmax([function(x) for x in grid]))
    found = minimize_scalar(
        lambda x: -function(x),
        bounds=(grid[max(at - 1, 0)], grid[min(at + 1, 399)]),
        method="bounded",
        options={"xatol": 1e-13},
    )
    return max(function(grid[at]), -found.fun)


def cases(seed):
    rng = np.random.default_rng(seed)
    for _ in range(draws(4, 60)):
        yield 10 ** rng.uniform(-3.5, -0.25), rng.choice([0.0, rng.uniform(0.01, 2.5)]), rng.uniform(0.01, 0.5)


def test_between_two_inputs():
    for mu, epsilon, _ in cases(1):
        g = math.exp(epsilon)
        exact = best(lambda q, mu=mu, g=g: farthest(q, mu, 1.0) - g * farthest(q, mu, 0.0), -math.expm1(-mu), 1 - 1e-6)
        assert exact - 1e-13 <= in_balls(between_inputs, mu, epsilon) <= exact + 1e-9, (mu, epsilon)


def test_between_an_input_and_the_output():
    for mu, epsilon, _ in cases(2):
        g = math.exp(epsilon)
        exact = best(lambda q, mu=mu, g=g: q - g * farthest(q, mu, 0.0), -math.expm1(-mu), 1 - 1e-6)
        other = best(lambda q, mu=mu, g=g: farthest(q, mu, 1.0) / g - q, 1e-6, 1 - 1e-6)
        found = in_balls(input_and_output, mu, epsilon)
        assert max(exact, other) - 1e-13 <= found <= max(exact, other) + 1e-9, (mu, epsilon)


def test_the_second_branch_of_theorem_2a_is_never_the_larger():
    """The largest e^-epsilon p1 - p0, at 0.1 bits; the program is of both, and the first is its value."""
    mu = math.log(2) / 10
    branches = {0.1: 0.1323443766679, 0.5: 0.04077619130172, 1.0: 0.01417859111488, 2.0: 0.002907125851473}
    for epsilon, second in branches.items():
        g = math.exp(epsilon)
        assert best(lambda q, g=g: farthest(q, mu, 1.0) / g - q, 1e-6, 1 - 1e-6) == pytest.approx(second, rel=1e-9)
        first = best(lambda q, g=g: q - g * farthest(q, mu, 0.0), -math.expm1(-mu), 1 - 1e-6)
        assert first > second
        assert first - 1e-13 <= in_balls(input_and_output, mu, epsilon) <= first + 1e-9


def test_between_one_value_and_all_others():
    """Both branches of the corrected Theorem 2(a), over p1, with r as far as the information allows."""

    def reach(p1, mu, p, end):
        def information(r):
            p0 = p * p1 + (1 - p) * r
            return p * divergence(p1, p0) + (1 - p) * divergence(r, p0) if 0 < p0 < 1 else 0.0

        return end if information(end) <= mu else brentq(lambda r: information(r) - mu, p1, end, xtol=1e-15)

    for mu, epsilon, p in cases(3):
        g = math.exp(epsilon)
        first = best(lambda x, mu=mu, p=p, g=g: (p - g) * x + (1 - p) * reach(x, mu, p, 1.0), 0.0, 1.0)
        second = best(lambda x, mu=mu, p=p, g=g: x / g - p * x - (1 - p) * reach(x, mu, p, 0.0), 0.0, 1.0)
        found = in_balls(input_and_others, mu, epsilon, p)
        assert max(first, second) - 1e-12 <= found <= max(first, second) + 1e-8, (mu, epsilon, p)


def test_two_tails():
    """Laws with the lifts e^-epsilon, e^epsilon and t that meet both means: none exceeds it, and one comes near."""
    for mu, epsilon, _ in cases(4):
        epsilon = epsilon or 0.3
        top = 0.0
        for t in np.exp(np.linspace(-epsilon, epsilon, 4001)):
            # pL + pR + pT = 1, mean log d = mu, mean 1/d = 1; or without the left tail, or the right one
            rows = np.array(
                [[1, 1, 1], [-epsilon, epsilon, math.log(t)], [math.exp(epsilon), math.exp(-epsilon), 1 / t]]
            )
            if abs(np.linalg.det(rows)) > 1e-12:
                law = np.linalg.solve(rows, [1, mu, 1])
                if (law >= 0).all():
                    top = max(top, law[0] + law[1])
            top = max(top, mu_of_right(mu, epsilon, t))
        left = -math.expm1(-epsilon) / (2.0 * math.sinh(epsilon))  # both tails alone, which tell no more than they may
        if epsilon * (1.0 - 2.0 * left) <= mu:
            top = 1.0
        found = in_balls(two_tails, mu, epsilon)
        assert top - 1e-12 <= found, (mu, epsilon)
        assert found <= top + 2e-3, (mu, epsilon)


def mu_of_right(mu, epsilon, t):
    """The mass p of the right tail with p e^-epsilon + (1-p)/t = 1, where its information is at most mu."""
    if t >= 1:
        return 0.0
    p = (1 / t - 1) / (1 / t - math.exp(-epsilon))
    return p if 0 <= p <= 1 and p * epsilon + (1 - p) * math.log(t) <= mu else 0.0


@each("information", 0.0, 1e-300, 1e-31, 1e-20, 1e-9, 0.6931471805599453, 5.0, 1e6)
@each("epsilon", 0.0, 1e-12, 1.0, 50.0, 999.0)
def test_extremes_give_a_probability(information, epsilon):
    for program in (between_inputs, input_and_output, two_tails):
        assert 0.0 <= in_balls(program, information, epsilon) <= 1.0
    for p in (1e-9, 0.5):
        assert 0.0 <= in_balls(input_and_others, information, epsilon, p) <= 1.0


def test_small_informations_are_as_tight_as_large_ones():
    """With epsilon kept, the programs go down like the information; at epsilon 0 like its root: sqrt(2 mu), sqrt(mu/2)."""
    for epsilon in (0.1, 1.0, 4.0, 30.0):
        for program in (between_inputs, input_and_output):
            small, smaller = (in_balls(program, mu, epsilon) / mu for mu in (1e-12, 1e-18))
            assert small == pytest.approx(smaller, rel=1e-7)
    for mu in (1e-6, 1e-12, 1e-18):
        assert in_balls(between_inputs, mu, 0.0) == pytest.approx(math.sqrt(2 * mu), rel=max(mu, 1e-12))
        assert in_balls(input_and_output, mu, 0.0) == pytest.approx(math.sqrt(mu / 2), rel=max(mu, 1e-12))
