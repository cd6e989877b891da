"""Multipliers of row boxes: near the best there are, each box for itself, and the same whoever finds them."""

import importlib
import sys
from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from campaigns import draws
from dalenius.audits.bounds import rows as row_problem
from dalenius.audits.bounds.row_multipliers import row_multipliers
from dalenius.audits.bounds.rows import RowRelaxation, RowSolver
from dalenius.information.secants import secant, tighten
from dalenius.search import Clock

ALIKE = 1e-8  # nats: the least gain of a step is 1e-9, and one may stop where the other goes on


def problem(rng, boxes=6):
    """Rows; log masses, slopes less log r, and ends of each box; beta: with classes that do not exist, boxes out of reach, a point."""
    outputs = rng.integers(2, 9)
    classes = outputs + rng.integers(4)
    rows = rng.dirichlet(np.ones(outputs), size=classes)
    masses = rng.dirichlet(np.ones(classes), size=boxes)
    masses[:, 1:] *= rng.random((boxes, classes - 1)) < 0.8
    ends = rng.dirichlet(np.ones(classes), size=(boxes, 2)) @ rows
    ends[0] = ends[0, 0]
    low, high = tighten(ends.min(axis=1), ends.max(axis=1), axis=1)
    base = secant(low, high)[1] - np.log(rng.dirichlet(np.ones(outputs)))
    with np.errstate(divide="ignore"):
        return rows, np.log(masses), base, low, high, float(np.exp(rng.uniform(-1.0, 2.0)))


def value(nu, rows, log_masses, base, low, high, beta):
    """What multipliers prove, but for what does not depend on them, written from the definition; -1 where a box is out of reach."""
    weight = log_masses + (base + nu) @ rows.T / beta
    return np.maximum(beta * np.logaddexp.reduce(weight, axis=1) + np.maximum(-nu * low, -nu * high).sum(axis=1), -1.0)


def test_no_others_are_much_better():
    """Against a solver that knows no derivatives, from where they are; they are never worse than none."""
    rng, missed = np.random.default_rng(0), list[float]()
    for _ in range(draws(3, 40)):
        rows, log_masses, base, low, high, beta = problem(rng, boxes=2)
        nu = row_multipliers(rows, log_masses, base, low, high, beta)
        for j in range(2):
            one = log_masses[j : j + 1], base[j : j + 1], low[j : j + 1], high[j : j + 1]

            def of(x, rows=rows, one=one, beta=beta):
                return float(value(x[None], rows, *one, beta)[0])

            assert of(nu[j]) <= of(np.zeros_like(nu[j])) + ALIKE
            missed.append(of(nu[j]) - minimize(of, nu[j], method="Powell").fun)
    assert np.quantile(missed, 0.8) <= 1e-5


def test_boxes_do_not_know_each_other():
    rows, log_masses, base, low, high, beta = problem(np.random.default_rng(1))
    together = row_multipliers(rows, log_masses, base, low, high, beta)
    alone = [
        row_multipliers(rows, *(x[j : j + 1] for x in (log_masses, base, low, high)), beta)[0] for j in range(len(base))
    ]
    assert value(together, rows, log_masses, base, low, high, beta) == pytest.approx(
        value(np.array(alone), rows, log_masses, base, low, high, beta), abs=ALIKE
    )


@pytest.fixture
def interpreted(monkeypatch):
    """What numba would compile, as it stands: compiling takes long."""
    monkeypatch.setattr(pytest.importorskip("numba"), "njit", lambda **settings: lambda function: function)
    bounds = importlib.import_module("dalenius.audits.bounds")
    monkeypatch.delitem(sys.modules, "dalenius.audits.bounds.compiled", raising=False)
    monkeypatch.delattr(bounds, "compiled", raising=False)
    yield importlib.import_module("dalenius.audits.bounds.compiled")
    sys.modules.pop("dalenius.audits.bounds.compiled")
    del bounds.compiled


def test_loops_over_single_boxes_find_the_same(interpreted):
    assert_same(interpreted, 4)


@pytest.mark.thorough
def test_compiled_ones_are_the_same():
    pytest.importorskip("numba")
    from dalenius.audits.bounds import compiled

    assert_same(compiled, 600)


def assert_same(compiled, times):
    rng, differences = np.random.default_rng(2), list[float]()
    for _ in range(times):
        instance = problem(rng)
        plain, fast = (find(*instance) for find in (row_multipliers, compiled.row_multipliers))
        differences += np.abs(value(plain, *instance) - value(fast, *instance)).tolist()
    assert np.quantile(differences, 0.95) <= ALIKE  # one in a hundred has not come to rest after the last step
    assert np.mean(differences) <= 1e-4
    rows, log_masses, *boxes = problem(rng)
    assert np.array_equal(
        compiled.row_multipliers(rows, log_masses[0], *boxes),
        compiled.row_multipliers(rows, np.broadcast_to(log_masses[0], log_masses.shape), *boxes),
    )


def solved(solver, times):
    """So many calls with one and the same problem."""
    instance = problem(np.random.default_rng(3))
    return [solver(*instance) for _ in range(times)]


def test_what_was_compiled_is_loaded_when_there_was_work_for_it(monkeypatch, interpreted):
    monkeypatch.setattr(row_problem, "_kept", lambda: True)
    monkeypatch.setattr(row_problem, "LOADING", 0.5)
    solver = RowSolver()
    solved(solver, 1)
    assert solver.solve is row_multipliers
    solver.worked = row_problem.LOADING
    first, second = solved(solver, 2)
    assert solver.solve is not row_multipliers
    assert np.array_equal(first, second)


def test_numpy_goes_on_until_another_process_has_compiled(monkeypatch, interpreted):
    """It is begun once there was work for it; where it could keep nothing, this process compiles."""
    ends, asked = [None, None, 0], list[int]()
    monkeypatch.setattr(row_problem, "_kept", lambda: False)
    monkeypatch.setattr(row_problem, "_builder", lambda: asked.append(1) or (lambda: ends[len(asked) - 1]))
    solver = RowSolver(worked=row_problem.LOADING)
    solved(solver, 1)
    assert not asked
    solver.worked = row_problem.COMPILING
    solved(solver, 2)
    assert solver.solve is row_multipliers
    solved(solver, 2)
    assert solver.solve is not row_multipliers
    assert len(asked) == 3


def test_another_process_is_started_once_and_given_these_sources(monkeypatch):
    started = list[list[str]]()

    class Process:
        def __init__(self, command, **options):
            started.append(command)
            if len(started) > 1:
                raise PermissionError

        def poll(self):
            return None

    monkeypatch.setattr(row_problem.subprocess, "Popen", Process)
    monkeypatch.setattr(row_problem, "_builder", cache(row_problem._builder.__wrapped__))  # one may be compiling
    assert row_problem._builder() is row_problem._builder()
    assert row_problem._builder()() is None
    ((_, _, code),) = started
    compile(code, "", "exec")
    assert repr(sys.path) in code
    row_problem._builder.cache_clear()
    assert row_problem._builder()() == 0


def test_what_there_is_no_time_for_is_not_loaded(monkeypatch, interpreted):
    """Compiling takes six seconds: it is begun only where so much is left, and ends with the clock."""
    monkeypatch.setattr(row_problem, "_kept", lambda: False)
    monkeypatch.setattr(row_problem, "_builder", lambda: lambda: 0)
    late, stopped = Clock(row_problem.COMPILING - 1.0), Clock()
    solver = RowSolver(worked=row_problem.COMPILING, clock=late)
    solved(solver, 2)
    assert solver.solve is row_multipliers
    stopped.stop()
    assert row_problem._compiled(stopped) is row_multipliers


@pytest.mark.parametrize("trouble", [ImportError("none"), RuntimeError("a version that it does not like")])
def test_without_numba_numpy_goes_on(monkeypatch, trouble):
    class Broken:
        def find_spec(self, name, path=None, target=None):
            if name == "numba":
                raise trouble

    for name in [name for name in sys.modules if name == "numba" or name.endswith("bounds.compiled")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("dalenius.audits.bounds.compiled", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    monkeypatch.setattr(row_problem, "_builder", lambda: lambda: 1)
    solver = RowSolver(worked=row_problem.COMPILING)
    first, second = solved(solver, 2)
    assert solver.solve is row_multipliers
    assert np.array_equal(first, second)


def test_bounds_hold_whatever_the_multipliers():
    """A solver that answers nonsense makes bounds wide, not wrong."""
    rng = np.random.default_rng(4)
    rows, law = rng.dirichlet(np.ones(4), size=5), rng.dirichlet(np.ones(4))
    shares, beta = np.log(rng.dirichlet(np.ones(5))), 0.3
    low, high = rows.min(axis=0)[None], rows.max(axis=0)[None]

    def nonsense(rows, log_masses, base, low, high, beta, enough):
        return rng.choice([np.nan, -1e30, 1e9, 3.0], size=base.shape)

    w = rng.dirichlet(np.ones(5), size=200)
    K = w @ rows
    attained = (K * np.log(K / law)).sum(axis=1) + beta * (w * (shares - np.log(w))).sum(axis=1)
    bounds = RowRelaxation(rows, shares, law, beta, multipliers=nonsense)(low, high, np.zeros((1, 4))).bounds
    assert np.isfinite(bounds[0])
    assert attained.max() <= bounds[0]
