"""Solvers that lie, fail, die, hang: whatever they do, an interval stays valid, a point feasible, a termination honest."""

import functools
import threading

import cvxpy as cp
import numpy as np
import pytest

import liars
from campaigns import draws, thinned
from cvxcertify import solvers
from dalenius.information import x_log_x
from dalenius.outcome import Termination
from dalenius.programs import MarginalUpdate
from liars import STATUSES, broken, say, swapped, wild


class PanicError(BaseException):
    """Like Clarabel's PanicException, which is no Exception."""


def pytest_generate_tests(metafunc):
    """Every program class, by name."""
    if "cls" in metafunc.fixturenames:
        import dalenius.programs as programs

        found = [c for c in map(functools.partial(getattr, programs), dir(programs)) if isinstance(c, type)]
        classes = [c for c in found if issubclass(c, programs.Program) and c is not programs.Program]
        metafunc.parametrize("cls", classes, ids=lambda c: c.__name__)


@functools.cache
def truth(make, cls, seed):
    """An honest, tight answer to compare with."""
    answer = make(cls, seed).solve(gap=1e-9)
    assert answer.gap <= 1e-6 * (1.0 + abs(answer.upper)), "no reference"
    return answer


# ---------------------------------------------------------------- what liars say


def liar(rng, draw):
    """Says something without solving anything."""

    def solve(problem, *_, **__):
        say(problem, lambda one: draw(rng, one.shape), rng.choice(STATUSES), rng.normal())

    return solve


TWISTS = {
    "signs": lambda rng, _, x: -x,
    "noise": lambda rng, _, x: x + rng.normal(size=x.shape) * 10.0 ** rng.uniform(-16, 0),
    "scaled": lambda rng, _, x: x * 10.0 ** rng.uniform(-12, 12),
    "a little too good": lambda rng, _, x: x * (1.0 + 1e-7),
    "swapped": swapped,
    "transposed": lambda rng, _, x: x.T,
    "flattened": lambda rng, _, x: x.reshape(-1),
    "rounded": lambda rng, _, x: np.round(x, 2),
    "one not a number": lambda rng, _, x: np.where(np.arange(x.size).reshape(x.shape) == 0, np.nan, x),
}


def check(instances, program, answer, cls, seed):
    instances.assert_honest(answer, truth(instances.make, cls, seed))
    unknown = answer.lower == -np.inf if program.maximises else answer.upper == np.inf  # no point was found
    assert unknown or instances.violation(program, answer.point) <= 1e-9


CONIC = ("CLARABEL", "SCS")  # our own methods, which hear of no solver, would hide what becomes of its lies

# ---------------------------------------------------------------- every program against every fault


@pytest.mark.parametrize("draw", thinned([broken, wild], every=2))
def test_a_solver_that_lies(instances, monkeypatch, cls, draw):
    for seed in range(draws(1, 3)):
        truth(instances.make, cls, seed)
        program = instances.make(cls, seed)
        rng = np.random.default_rng(seed)
        with monkeypatch.context() as patch:
            patch.setattr(cp.Problem, "solve", liar(rng, draw))
            for _ in range(draws(4, 40)):
                check(instances, program, program.solve(solver=CONIC), cls, seed)


@pytest.mark.parametrize("twist", thinned(TWISTS, every=16))
def test_a_solver_that_twists_the_truth(instances, monkeypatch, cls, twist):
    truth(instances.make, cls, 0)
    program = instances.make(cls, 0)
    with monkeypatch.context() as patch:
        patch.setattr(cp.Problem, "solve", liars.liar(np.random.default_rng(0), TWISTS[twist]))
        for _ in range(draws(1, 3)):
            check(instances, program, program.solve(solver=CONIC), cls, 0)


@pytest.mark.parametrize(
    "error",
    thinned(
        [ValueError("no"), cp.SolverError("no"), PanicError("no"), SystemExit(1), MemoryError(), KeyboardInterrupt()],
        every=4,
    ),
)
def test_a_solver_that_fails(instances, monkeypatch, cls, error):
    def solve(*_, **__):
        raise error

    truth(instances.make, cls, 0)
    program = instances.make(cls, 0)
    with monkeypatch.context() as patch:
        patch.setattr(cp.Problem, "solve", solve)
        answer = program.solve(solver=CONIC)
    check(instances, program, answer, cls, 0)
    assert all(made.status.startswith(type(error).__name__) for made in answer.attempts)
    check(instances, program, program.solve(solver=CONIC), cls, 0)


def test_a_solver_that_hangs(instances, monkeypatch, cls):
    truth(instances.make, cls, 0)
    program, released = instances.make(cls, 0), threading.Event()
    monkeypatch.setattr(solvers, "GRACE", 0.05)
    with monkeypatch.context() as patch:
        patch.setattr(cp.Problem, "solve", lambda *_, **__: released.wait(30.0))
        answer = program.solve(solver=CONIC, time_limit=0.05)
    check(instances, program, answer, cls, 0)
    assert answer.termination in (Termination.TIME_LIMIT, Termination.GAP_REACHED)
    again = program.solve(solver=CONIC)
    released.set()
    check(instances, program, again, cls, 0)
    assert again.gap <= max(answer.gap, 0.0)


@pytest.mark.parametrize("steps", thinned([0, 1, 2, 5, 10], every=3))
def test_a_solver_that_stops_early(instances, monkeypatch, cls, steps):
    truth(instances.make, cls, 0)
    program = instances.make(cls, 0)
    settings = {"CLARABEL": ({"max_iter": steps},), "SCS": ({"max_iters": steps + 1},)}
    monkeypatch.setattr(solvers, "SETTINGS", settings | {"QICS": (), "MOSEK": ()})
    check(instances, program, program.solve(solver=CONIC), cls, 0)


def test_without_time_a_solver_says_what_it_has(instances, monkeypatch, cls):
    truth(instances.make, cls, 0)
    program = instances.make(cls, 0)
    for limit in (1e-9, 1e-4, 1e-3):
        check(instances, program, program.solve(solver=CONIC, time_limit=limit), cls, 0)


# ---------------------------------------------------------------- what a program makes of garbage


@pytest.mark.parametrize("method", ["repair", "project", "improve", "value", "bound"])
@pytest.mark.parametrize("fault", thinned(["raises", "nothing", "not a number", "shapes"], every=2))
def test_a_program_that_cannot_handle_an_answer_has_no_answer(instances, monkeypatch, method, fault):
    program = instances.make(MarginalUpdate)
    start = program.solve(solver=CONIC, time_limit=0.0)
    real = getattr(program, method)

    def bad(*given):
        if fault == "raises":
            raise ZeroDivisionError
        if fault == "nothing":
            return None
        if method in ("value", "bound"):
            return np.nan if fault == "not a number" else np.ones(2)
        made = real(*given)
        spoil = (lambda x: np.full_like(x, np.nan)) if fault == "not a number" else (lambda x: np.ones((2, 7)))
        spoiled = [{k: spoil(np.asarray(v)) for k, v in m.items()} for m in (made if method == "improve" else [made])]
        return tuple(spoiled) if method == "improve" else spoiled[0]

    def later(*given, first=[True]):  # noqa: B006  (the start needs its value and bound)
        if first and method in ("value", "bound"):
            first.clear()
            return real(*given)
        return bad(*given)

    monkeypatch.setattr(program, method, later)
    answer = program.solve(solver=CONIC)
    instances.assert_honest(answer, truth(instances.make, MarginalUpdate, 0))
    assert start.lower <= answer.lower
    assert answer.upper <= start.upper


def test_what_garbage_raised_is_in_the_status(instances, monkeypatch):
    program = instances.make(MarginalUpdate)

    def repair(_):
        raise ZeroDivisionError

    monkeypatch.setattr(program, "repair", repair)
    assert program.solve(solver=CONIC).attempts[0].status == "optimal; repair: ZeroDivisionError"


# ---------------------------------------------------------------- multipliers of any size


def exaggerated(rng, multipliers):
    """Slopes with anything added, laws and nonnegative multipliers of any size; what says which box is which is kept."""
    changed = {name: np.array(x, dtype=float) for name, x in multipliers.items()}
    size = 10.0 ** rng.uniform(-10, 40) * rng.choice([-1.0, 1.0])
    for name in changed.keys() & SLOPES:
        x = changed[name]
        changed[name] = x + size * rng.choice([np.ones(x.shape), rng.normal(size=x.shape[-1]) * np.ones(x.shape)])
    for name in changed.keys() & SCALES:
        changed[name] = changed[name] * 10.0 ** rng.choice([0.0, rng.uniform(-20, 40)])
    return changed


SLOPES, SCALES = {"sigma", "kappa", "log_ratio"}, {"mu", "law", "nu", "weights"}


def test_no_multipliers_make_a_wrong_bound(instances, cls):
    """Where multipliers are huge, rounding must go outward, too."""
    rng = np.random.default_rng(7)
    for seed in range(draws(1, 10)):
        answer = truth(instances.make, cls, seed)
        program = instances.make(cls, seed)
        for _ in range(50):
            with np.errstate(all="ignore"):
                bound = program.bound(exaggerated(rng, answer.multipliers))
            assert not (bound < answer.lower if program.maximises else bound > answer.upper), bound


# ---------------------------------------------------------------- many draws


def near(rng, array):
    """The truth, and a lie of any size about it."""
    size = 10.0 ** rng.uniform(-17, 3)
    return array * (1.0 + size * rng.normal(size=np.shape(array))) + rng.choice([0.0, size]) * rng.normal(
        size=np.shape(array)
    )


@pytest.mark.thorough
def test_many_lies_about_the_marginal_update(instances, monkeypatch):
    known = {seed: truth(instances.make, MarginalUpdate, seed) for seed in range(20)}
    made = {seed: instances.make(MarginalUpdate, seed) for seed in known}
    monkeypatch.setattr(solvers, "installed", lambda: frozenset(["CLARABEL"]))
    monkeypatch.setattr(solvers, "SETTINGS", {"CLARABEL": ({},)})
    rng = np.random.default_rng(5)

    def solve(problem, *_, **__):
        best = known[seed]
        if rng.random() < 0.5:
            return say(problem, lambda one: wild(rng, one.shape))
        problem.variables()[0].save_value(near(rng, best.point["pi"]))
        dual = near(rng, float(best.multipliers["mu"])) * 10.0 ** rng.choice([0.0, rng.uniform(0, 40)])
        return say(problem, lambda one: dual if one.shape == () else near(rng, best.point["pi"]))

    monkeypatch.setattr(cp.Problem, "solve", solve)
    for draw in range(draws(300, 10_000)):
        seed = draw % 20
        answer = made[seed].solve(solver="CLARABEL")
        instances.assert_honest(answer, known[seed])
        assert answer.point["pi"].min() >= 0.0
        assert abs(answer.point["pi"].sum() - 1.0) < 1e-12
        pi = answer.point["pi"]
        assert -np.sum(x_log_x(pi)) + pi @ made[seed].h >= made[seed].b - 1e-12
