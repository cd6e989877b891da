"""The least leakage under a distortion budget: rate-distortion functions, a general optimiser, two solvers, knife edges, bad input."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from campaigns import draws, each, thinned
from dalenius.errors import InputError
from dalenius.model.mechanism_classes import Additive, TiedEntries
from dalenius.outcome import Termination
from dalenius.programs import MinDistortionProgram, MinLeakageProgram
from dalenius.programs import mechanism_update as update

FAIR = 0.5 * np.eye(2)
FLIP = 0.5 * (1.0 - np.eye(2))
SAY_NOTHING = [np.array([[0.25, 0.25, 0.0, 0.0], [0.0, 0.0, 0.25, 0.25]])]  # two bits, of which the first is secret


def between(cost, share, instances):
    low, high = instances.distortions(cost)
    return low + share * (high - low)


def information_and_slope(masses, Q, instances):
    """I(A; Y) and its derivative at Q > 0."""
    u = masses @ Q
    ratio = np.log(np.maximum(u, 1e-300)) - np.log(np.maximum(u.sum(axis=1, keepdims=True) * u.sum(axis=0), 1e-300))
    return instances.information(u), masses.T @ ratio


def by_slsqp(laws, cost, budget, instances):
    """A mechanism within the budget that a general-purpose optimiser thinks best, and what it tells."""
    shape, size = cost.shape, cost.size

    def told(v, masses):
        return v[-1] - information_and_slope(masses, v[:-1].reshape(shape), instances)[0]

    def slope(v, masses):
        return np.append(-information_and_slope(masses, v[:-1].reshape(shape), instances)[1].reshape(-1), 1.0)

    rows = np.append(np.kron(np.eye(shape[0]), np.ones(shape[1])), np.zeros((shape[0], 1)), axis=1)
    costs = np.append(cost.reshape(-1), 0.0)
    constraints = [{"type": "ineq", "fun": told, "jac": slope, "args": (masses,)} for masses in laws]
    constraints += [
        {"type": "eq", "fun": lambda v: rows @ v - 1.0, "jac": lambda v: rows},
        {"type": "ineq", "fun": lambda v: budget - costs @ v, "jac": lambda v: -costs},
    ]
    objective = np.append(np.zeros(size), 1.0)
    start = np.append(np.full(size, 1.0 / shape[1]), 1.0)
    found = minimize(
        lambda v: v[-1],
        start,
        jac=lambda v: objective,
        bounds=[(1e-9, 1.0)] * size + [(0.0, 10.0)],
        constraints=constraints,
        method="SLSQP",
        options={"ftol": 1e-10, "maxiter": 400},
    )
    Q = np.maximum(found.x[:-1].reshape(shape), 0.0)
    Q /= Q.sum(axis=1, keepdims=True)
    cheap = np.eye(shape[1])[cost.argmin(axis=1)]
    over = max(float(np.sum(cost * Q)) - budget, 0.0)
    Q += min(1.0, over / max(float(np.sum(cost * (Q - cheap))), 1e-12)) * (cheap - Q)
    return Q, max(information_and_slope(masses, Q, instances)[0] for masses in laws)


def rate_and_distortion(law, distortion, slope, steps=20_000):
    """A point of the rate-distortion function by Blahut's iteration, and the two ends of the rate: (D, lower, upper)."""
    A = np.exp(-slope * distortion)
    r = np.full(A.shape[1], 1.0 / A.shape[1])
    for _ in range(steps):
        c = (law / (A @ r)) @ A
        r = r * c
        if np.log(c.max()) - r @ np.log(np.maximum(c, 1e-300)) < 1e-13:
            break
    Q = A * r / (A @ r)[:, None]
    D = float(law @ np.sum(Q * distortion, axis=1))
    lower = -slope * D - float(law @ np.log(A @ r)) - float(np.log(c.max()))
    u = law[:, None] * Q
    return D, lower, float(np.sum(u * np.log(np.where(u > 0.0, Q, 1.0) / np.where(u > 0.0, law @ Q, 1.0))))


# ---------------------------------------------------------------- closed forms


@each("n", 2, 3, 5, 10)
@each("share", 0.01, 0.1, 0.5, 0.9)
def test_a_uniform_source_with_hamming_distortion(n, share):
    D = share * (1.0 - 1.0 / n)
    exact = math.log(n) + D * math.log(D) + (1.0 - D) * math.log1p(-D) - D * math.log(n - 1)
    answer = MinLeakageProgram([np.eye(n) / n], (1.0 - np.eye(n)) / n, D).solve()
    assert answer.lower <= exact <= answer.upper
    assert answer.gap <= 1e-8 * exact + 1e-11


def test_a_biased_bit_with_hamming_distortion():
    def h(p):
        return -p * math.log(p) - (1.0 - p) * math.log1p(-p)

    for p, D in ((0.1, 0.03), (0.3, 0.1), (0.45, 0.2)):
        law = np.array([p, 1.0 - p])
        answer = MinLeakageProgram([np.diag(law)], law[:, None] * (1.0 - np.eye(2)), D).solve()
        assert answer.lower <= h(p) - h(D) <= answer.upper
        assert answer.gap <= 1e-8 * answer.upper + 1e-11


def test_an_erasure():
    """Anything but the truth or silence is forbidden by its cost: one tells the truth as often as the budget asks."""
    law = np.array([0.2, 0.3, 0.5])
    distortion = np.append(10.0 * (1.0 - np.eye(3)), np.ones((3, 1)), axis=1)
    for share in (0.1, 0.5):
        answer = MinLeakageProgram([np.diag(law)], law[:, None] * distortion, share).solve()
        silent = (1.0 - share) * float(-np.sum(law * np.log(law)))
        assert answer.upper <= silent + 1e-8
        assert answer.lower > 0.9 * silent


def test_points_of_a_rate_distortion_function_by_blahuts_iteration():
    rng = np.random.default_rng(1)
    for _ in range(6):
        n, m = rng.integers(3, 7, size=2)
        law, distortion = rng.dirichlet(np.ones(n)), rng.random((n, m))
        D, low, high = rate_and_distortion(law, distortion, slope=rng.uniform(3.0, 12.0))
        answer = MinLeakageProgram([np.diag(law)], law[:, None] * distortion, D).solve()
        assert high - low < 1e-6
        assert answer.lower <= high + 1e-12
        assert low - 1e-12 <= answer.upper
        assert answer.gap <= 1e-8 * answer.upper + 1e-11


# ---------------------------------------------------------------- random instances


@pytest.mark.parametrize("priors", [1, 2, 3])
@pytest.mark.parametrize("size", thinned([2, 3, 6, 5, 4], every=4))
def test_random_instances_by_two_solvers_and_a_general_optimiser(instances, size, priors):
    rng = np.random.default_rng(10 * size + priors)
    for draw in range(draws(2, 20)):
        laws, cost = instances.update_data(rng, least=2, most=size, priors=priors)
        budget = between(cost, rng.uniform(0.1, 0.9), instances)
        program = MinLeakageProgram(laws, cost, budget)
        answer = program.solve()
        assert answer.gap <= 1e-8 * answer.upper + 1e-11
        assert answer.termination is Termination.GAP_REACHED
        if draw < 3:
            other = program.solve(solver="SCS")
            assert {made.solver for made in other.attempts} <= {"SCS"}
            assert max(answer.lower, other.lower) <= min(answer.upper, other.upper)
            assert other.gap <= 1e-4
            Q, told = by_slsqp(laws, cost, budget, instances)
            assert np.sum(cost * Q) <= budget + 1e-9
            assert answer.lower - 1e-8 <= told <= answer.upper + 2e-4


def test_the_conic_model_is_the_problem(instances):
    """Its value, before any repair."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        laws, cost = instances.update_data(rng)
        program = MinLeakageProgram(laws, cost, between(cost, 0.5, instances))
        answer = program.solve()
        said = [made.value for made in answer.attempts if made.status == "optimal"]
        assert all(value == pytest.approx(answer.upper, abs=1e-6) for value in said)
        assert set(instances.update_variables(program, answer.point["q"])) == set(program.variables)
        assert instances.violation(program, answer.point) <= 1e-12


def test_the_point_is_a_mechanism_within_the_budget_and_tells_the_upper_end(instances):
    rng = np.random.default_rng(3)
    for _ in range(draws(6, 20)):
        laws, cost = instances.update_data(rng)
        budget = between(cost, rng.uniform(0.0, 1.2), instances)
        program = MinLeakageProgram(laws, cost, budget)
        answer = program.solve()
        Q = program.mechanism(answer.point)
        assert Q.min() >= 0.0
        assert np.allclose(Q.sum(axis=1), 1.0, rtol=0.0, atol=1e-14)
        assert np.sum(cost * Q) <= budget * (1.0 + 1e-15) + 1e-16
        assert max(instances.information(masses @ Q) for masses in laws) <= answer.upper + 1e-14


# ---------------------------------------------------------------- the bound


def test_no_multipliers_exceed_what_a_feasible_mechanism_tells(instances):
    rng = np.random.default_rng(4)
    for _ in range(draws(8, 30)):
        laws, cost = instances.update_data(rng)
        program = MinLeakageProgram(laws, cost, between(cost, rng.choice([0.0, rng.random()]), instances))
        drawn = [rng.dirichlet(np.full(cost.shape[1], 0.3), size=len(cost)) for _ in range(5)]
        told = [program.leakage(program.feasible(Q)) for Q in drawn]
        for _ in range(20):
            multipliers = {
                "weights": rng.dirichlet(np.ones(len(laws))) * 10.0 ** rng.uniform(-5, 5),
                "nu": np.array(10.0 ** rng.uniform(-3, 30)),
                "log_ratio": rng.normal(size=(len(program.leakages.masses), cost.shape[1]))
                * 10.0 ** rng.uniform(-9, 2),
            }
            assert program.bound(multipliers) <= min(told) + 1e-15
            assert program.bound(program.searched(multipliers)) <= min(told) + 1e-14


def test_the_bound_is_the_formula(instances):
    rng = np.random.default_rng(5)
    for _ in range(10):
        laws, cost = instances.update_data(rng)
        D = between(cost, 0.4, instances)
        program = MinLeakageProgram(laws, cost, D)
        weights, nu = rng.dirichlet(np.ones(len(laws))), rng.random() * 5.0
        phi = [rng.dirichlet(np.ones(len(masses)), size=cost.shape[1]).T for masses in laws]
        live = [masses.sum(axis=1) > 0.0 for masses in laws]
        phi = [p[k] / p[k].sum(axis=0) for p, k in zip(phi, live, strict=True)]
        ratio = [np.log(p / masses[k].sum(axis=1, keepdims=True)) for p, masses, k in zip(phi, laws, live, strict=True)]
        G = sum(w * masses[k].T @ x for w, masses, k, x in zip(weights, laws, live, ratio, strict=True))
        formula = float((G + nu * cost).min(axis=1).sum() - nu * D)
        multipliers = {"weights": weights, "nu": np.array(nu), "log_ratio": np.concatenate(ratio)}
        assert program.bound(multipliers) == pytest.approx(formula, abs=1e-12)


# ---------------------------------------------------------------- relations


def test_the_least_distortion_at_the_least_leakage_is_the_budget(instances):
    rng = np.random.default_rng(6)
    for _ in range(draws(4, 15)):
        laws, cost = instances.update_data(rng)
        budget = between(cost, rng.uniform(0.1, 0.7), instances)
        told = MinLeakageProgram(laws, cost, budget).solve()
        if told.upper < 1e-4:
            continue
        low, high = (MinDistortionProgram(laws, cost, x).solve() for x in (told.upper, told.lower))
        assert low.lower <= budget <= high.upper
        assert high.upper - low.lower <= 1e-6 * high.upper


@pytest.mark.thorough
def test_more_budget_never_tells_more_and_more_priors_never_less(instances):
    laws, cost = instances.update_data(np.random.default_rng(7), least=4, priors=3)
    program, before = MinLeakageProgram(laws, cost, between(cost, 0.0, instances)), math.inf
    for share in (0.0, 0.2, 0.5, 0.9, 1.0):
        program.set(between(cost, share, instances))
        answer = program.solve()
        fewer = MinLeakageProgram(laws[:1], cost, between(cost, share, instances)).solve()
        assert answer.lower <= before
        assert fewer.lower <= answer.upper
        before = answer.upper


def test_it_is_dpp_and_solving_again_does_not_canonicalise_again(instances):
    laws, cost = instances.update_data(np.random.default_rng(8), least=3, priors=2)
    program = MinLeakageProgram(laws, cost, between(cost, 0.5, instances))

    def changed():
        for share in (0.2, 0.4, 0.8):
            program.set(between(cost, share, instances))
            yield MinLeakageProgram(laws, cost, between(cost, share, instances))

    instances.assert_solved_again(program, changed())


@each("m", 2, 3, 5, 8)
def test_additive_noise_is_the_best_mechanism_of_a_problem_that_shifts_do_not_change(m):
    shift = (np.arange(m) - np.arange(m)[:, None]) % m
    cost = np.minimum(shift, m - shift) / m
    prior = [np.array([np.roll([0.6, 0.4] + [0.0] * (m - 2), a) for a in range(m)]) / m]
    for budget in (0.1, 0.4):
        tied = MinLeakageProgram(prior, cost, budget, tied=Additive().tied(m, m))
        answer, free = tied.solve(), MinLeakageProgram(prior, cost, budget).solve()
        assert tied.variables["q"].shape == (1, m)
        assert max(answer.lower, free.lower) <= min(answer.upper, free.upper)
        assert max(answer.gap, free.gap) <= 1e-8
        Q = tied.mechanism(answer.point)
        assert np.array_equal(Q, np.roll(np.roll(Q, 1, axis=0), 1, axis=1))


def test_tied_entries_cost_something_where_a_problem_is_not_symmetric(instances):
    rng = np.random.default_rng(9)
    cost, prior = rng.random((4, 4)) / 4.0, [np.diag(rng.dirichlet(np.ones(4)))]
    shifted = Additive().tied(4, 4)
    low = float(MinLeakageProgram(prior, cost, 10.0, tied=shifted).tied_cost.min())
    tied, free = MinLeakageProgram(prior, cost, low, tied=shifted), MinLeakageProgram(prior, cost, low)
    assert free.solve().upper < tied.solve().lower
    two_kinds = TiedEntries([[0, 1, 2], [0, 1, 2], [5, 3, 4]])  # rows of the variable for some inputs, permuted
    cost = rng.random((3, 3)) / 3.0
    program = MinLeakageProgram([np.diag([0.2, 0.3, 0.5])], cost, between(cost, 0.8, instances) + 0.05, tied=two_kinds)
    answer = program.solve()
    Q = program.mechanism(answer.point)
    assert np.array_equal(Q[0], Q[1])
    assert Q[2].tolist() == answer.point["q"][1][[2, 0, 1]].tolist()


# ---------------------------------------------------------------- degenerate data


@each("over", 0.0, 1e-16, 1e-12, 1e-9, 1e-6, every=2)
def test_on_the_edge_of_the_least_distortion(instances, over):
    rng = np.random.default_rng(10)
    for _ in range(5):
        laws, cost = instances.update_data(rng, least=3, most=4)
        answer = MinLeakageProgram(laws, cost, between(cost, 0.0, instances) * (1.0 + over)).solve()
        cheapest = np.eye(cost.shape[1])[cost.argmin(axis=1)]
        exact = max(instances.information(masses @ cheapest) for masses in laws)
        assert answer.lower <= exact + 1e-14
        assert abs(answer.upper - exact) <= (1e-11 if over == 0.0 else 1e-3)
        assert answer.gap <= 1e-6 * (1e-3 + answer.upper)


def test_ties_among_the_cheapest_outputs_are_left_to_the_leakage():
    """Two outputs are free for every input: telling nothing costs nothing."""
    cost = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]) / 3.0
    answer = MinLeakageProgram([np.eye(3) / 3.0], cost, 0.0).solve()
    assert answer.upper <= 1e-11
    cost = np.array([[0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 1.0, 0.0]]) / 4.0
    answer = MinLeakageProgram([np.eye(4) / 4.0], cost, 0.0).solve()  # one of two neighbours on a circle
    assert answer.lower <= math.log(2.0) <= answer.upper
    assert answer.gap <= 1e-7


def test_a_budget_an_ulp_below_the_least_distortion_is_that_distortion():
    cost = np.array([[0.1], [0.2], [0.4]])
    for budget in (cost.sum(), np.nextafter(cost.sum(), 0.0)):
        answer = MinLeakageProgram([np.eye(3) / 3.0], cost, budget).solve()
        assert answer.lower <= 0.0 <= answer.upper <= 1e-11
    with pytest.raises(InputError, match="the least is 3e-20"):
        MinLeakageProgram([np.eye(3) / 3.0], np.full((3, 3), 1e-20), 2e-20)


@each("budget", 1.0, 1e300)
def test_with_a_large_budget_nothing_is_told(instances, budget):
    laws, cost = instances.update_data(np.random.default_rng(11))
    answer = MinLeakageProgram(laws, cost, max(budget, between(cost, 1.0, instances))).solve()
    assert answer.attempts == ()
    assert answer.lower <= 0.0 <= answer.upper <= 1e-11


@pytest.mark.thorough
def test_a_mechanism_that_tells_nothing_though_it_is_not_constant():
    cost = 0.25 * (1.0 - np.eye(4))
    for budget, most in ((0.5, 1e-11), (0.51, 1e-11), (0.4999999, 1e-11), (0.45, 0.00501)):
        answer = MinLeakageProgram(SAY_NOTHING, cost, budget).solve()
        assert 0.0 <= answer.upper <= most
        assert answer.lower <= answer.upper
        assert answer.gap <= 1e-10


@each("scale", 1e-6, 1e6, 1e-12, 1e12)
def test_the_scale_of_the_cost_changes_nothing(instances, scale):
    laws, cost = instances.update_data(np.random.default_rng(12), least=3)
    budget = between(cost, 0.4, instances)
    answer, scaled = (MinLeakageProgram(laws, k * cost, k * budget).solve() for k in (1.0, scale))
    assert max(answer.lower, scaled.lower) <= min(answer.upper, scaled.upper) + 1e-12
    assert scaled.gap <= 1e-6


@pytest.mark.thorough
def test_inputs_letters_outputs_and_priors_that_do_not_count(instances):
    laws, cost = instances.update_data(np.random.default_rng(13), least=4, priors=2)
    for masses in laws:
        masses[:, 1] = 0.0  # no prior knows this input, but its truth costs
        masses[2] = 0.0
        masses /= masses.sum()
    budget = between(cost, 0.5, instances)
    answer = MinLeakageProgram(laws, cost, budget).solve()
    free = cost.copy()
    free[0] = 0.0
    dear = np.append(cost, np.full((len(cost), 1), 10.0), axis=1)  # an output that no one uses
    for others, costs in (
        (laws + laws, cost),
        ([np.delete(masses, 2, axis=0) for masses in laws], cost),
        (laws, dear),
        ([*laws, np.full((1, len(cost)), 1.0 / len(cost))], cost),  # a record with one letter
    ):
        same = MinLeakageProgram(others, costs, budget).solve()
        assert max(answer.lower, same.lower) <= min(answer.upper, same.upper)
        assert same.gap <= 1e-8 * same.upper + 1e-11
    assert MinLeakageProgram(laws, free, budget).solve().lower <= answer.upper


def test_one_of_everything():
    for inputs, outputs, letters in ((1, 1, 1), (1, 3, 2), (3, 1, 2), (3, 3, 1)):
        prior = np.full((letters, inputs), 1.0 / (letters * inputs))
        answer = MinLeakageProgram([prior], (np.ones((inputs, outputs)) / inputs), 1.0).solve()
        assert answer.lower <= 0.0 <= answer.upper <= 1e-11


def test_forty_priors(instances):
    laws, cost = instances.update_data(np.random.default_rng(14), least=6, priors=40)
    program = MinLeakageProgram(laws, cost, between(cost, 0.4, instances))
    answer = program.solve()
    assert answer.gap <= 1e-8 * answer.upper + 1e-11
    assert instances.violation(program, answer.point) <= 1e-12


# ---------------------------------------------------------------- size and time


@pytest.mark.thorough
def test_rate_distortion_at_a_hundred_inputs_closes():
    rng = np.random.default_rng(15)
    for kind in ("hamming", "random"):
        law = rng.dirichlet(np.ones(100))
        cost = law[:, None] * (1.0 - np.eye(100) if kind == "hamming" else rng.random((100, 100)))
        answer = MinLeakageProgram(
            [np.diag(law)], cost, 0.5 * (cost.min(axis=1).sum() + cost.sum(axis=0).min())
        ).solve()
        assert answer.gap <= 1e-8 * answer.upper + 1e-11


def test_improving_ends_with_the_time(instances, monkeypatch):
    """Our own method looks at the clock before every step, and does not begin one without time."""
    laws, cost = instances.update_data(np.random.default_rng(16), least=5)
    program, steps = MinLeakageProgram(laws, cost, between(cost, 0.4, instances)), []
    real = update.interior_points
    monkeypatch.setattr(update, "interior_points", lambda aim: (steps.append(1) or point for point in real(aim)))
    monkeypatch.setattr("cvxcertify.solvers.SETTINGS", {"CLARABEL": ({"max_iter": 1},)})
    program.wanted, (point, multipliers) = 1e-8, program.start()
    for seconds, most in ((-1.0, 0), (math.inf, 200)):
        program.deadline = update.time.monotonic() + seconds
        better = program.own(point, multipliers)
        assert len(steps) <= most
        assert program.value(better[0]) <= program.value(point)
        assert program.bound(better[1]) >= program.bound(multipliers)
    assert len(steps) > 5
    assert program.value(better[0]) - program.bound(better[1]) <= 1e-8 * program.value(better[0])


# ---------------------------------------------------------------- bad input


@each(
    "priors, cost, budget, tied, what",
    ([], FLIP, 0.1, None, "at least one prior"),
    ([np.full((2, 3), 1 / 6)], FLIP, 0.1, None, "prior 0: expected masses"),
    ([FAIR, np.eye(2)], FLIP, 0.1, None, "prior 1: expected numbers"),
    ([-FAIR], FLIP, 0.1, None, "of at least 0"),
    ([FAIR * np.nan], FLIP, 0.1, None, "of at least 0"),
    ([FAIR], FLIP[0], 0.1, None, "expected a cost"),
    ([FAIR], np.zeros((2, 0)), 0.1, None, "expected a cost"),
    ([FAIR], -FLIP, 0.1, None, "expected a cost"),
    ([FAIR], FLIP * np.nan, 0.1, None, "expected a cost"),
    ([FAIR], FLIP + np.inf, 0.1, None, "expected a cost"),
    ([FAIR], FLIP, -1e-9, None, "the least is 0"),
    ([FAIR], FLIP, math.nan, None, "distortion nan"),
    ([FAIR], FLIP, math.inf, None, "distortion inf"),
    ([FAIR], FLIP + 0.1, 0.1, None, "the least is 0.2"),
    ([FAIR], FLIP, 0.1, TiedEntries.free(1, 2), "expected `tied` to be TiedEntries for 2 inputs and 2 outputs"),
    ([FAIR], FLIP, 0.1, np.arange(4).reshape(2, 2), "expected `tied` to be TiedEntries"),
    ([FAIR], FLIP, 0.1, "tied", "expected `tied` to be TiedEntries"),
)
def test_bad_input_is_refused_before_any_solver(priors, cost, budget, tied, what):
    with pytest.raises(InputError, match=what):
        MinLeakageProgram(priors, cost, budget, tied=tied)


def test_a_bad_budget_is_refused_later_too_and_changes_nothing():
    program = MinLeakageProgram([FAIR], FLIP, 0.1)
    for budget in (-1.0, math.nan, math.inf):
        with pytest.raises(InputError, match="no mechanism has distortion"):
            program.set(budget)
    assert program.max_distortion == 0.1
    assert program.parameters["budget"].value == 0.1
