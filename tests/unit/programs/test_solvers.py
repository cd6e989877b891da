"""Which solvers are tried, with which settings, and what becomes of an attempt."""

import ctypes
import importlib.util
import os
import signal
import sys
import threading
import types
import warnings

import cvxpy as cp
import numpy as np
import pytest

import instances
from campaigns import draws
from cvxcertify import solvers
from cvxcertify.solvers import SETTINGS
from dalenius.errors import InputError
from dalenius.outcome import Termination
from dalenius.programs import (
    SOLVERS,
    ConditionalUpdate,
    MarginalUpdate,
    MinDistortionProgram,
    MinLeakageProgram,
    PosteriorUpdate,
    RowUpdate,
    base,
)
from dalenius.programs.solvers import attempt, ladder, order_of
from support import refused

CHANNEL = np.array([[0.9, 0.1], [0.2, 0.8]])


class PanicError(BaseException):
    """Like Clarabel's PanicException, which is no Exception."""


@pytest.fixture
def program():
    return MarginalUpdate(CHANNEL, np.array([0.3, 0.0]), 0.5)


@pytest.fixture
def installed(monkeypatch):
    """Say which solvers are installed."""

    def say(*names):
        monkeypatch.setattr(solvers, "installed", lambda: frozenset(names))

    return say


def tried(solver):
    return [name for name, _ in ladder(solver)]


def attempted(program, **rest):
    return attempt(program.problem, program.variables, program.constraints, "CLARABEL", {}, **rest)


# ---------------------------------------------------------------- the ladder


def test_auto_starts_with_clarabel_and_ends_with_what_is_installed(installed):
    installed("SCS", "CLARABEL")
    assert tried("auto") == ["CLARABEL", "own"] + ["CLARABEL"] * (len(SETTINGS["CLARABEL"]) - 1) + ["SCS"]
    installed("CLARABEL")
    assert set(tried("auto")) == {"CLARABEL", "own"}
    installed("CLARABEL", "QICS", "SCS")
    assert tried("auto")[-2:] == ["QICS", "SCS"]


@pytest.mark.parametrize("name", ["clara", "", "GUROBI", None, 3, ("CLARABEL", "GUROBI"), ("auto",)])
def test_an_unknown_solver_is_refused(program, name):
    refused(lambda: program.solve(solver=name), "expected one of")


@pytest.mark.parametrize("name", [name for name in SOLVERS if name not in ("auto", "own")])
def test_a_solver_that_is_not_installed_is_refused(program, installed, name):
    installed()
    for asked in (name, name.lower(), ("own", name)):
        with pytest.raises(InputError, match=f"{name} is not installed; pip install {name.lower()}"):
            program.solve(solver=asked)


def test_small_letters_are_as_good(program):
    assert [name for name, _ in ladder("clarabel")] == [name for name, _ in ladder("CLARABEL")]
    assert {made.solver for made in program.solve(solver="clarabel").attempts} == {"CLARABEL"}


def test_what_dalenius_solve_tries(installed, monkeypatch):
    installed("CLARABEL", "SCS", "MOSEK")
    fake_mosek(monkeypatch, refuse)
    assert order_of("auto") == ("CLARABEL", "own")
    assert order_of("auto", ("own", "CLARABEL")) == ("own", "CLARABEL")
    assert [order_of(name) for name in ("own", "scs", "Clarabel")] == [("own",), ("SCS",), ("CLARABEL",)]
    fake_mosek(monkeypatch, lambda _: None)
    assert order_of("auto") == ("MOSEK", "CLARABEL", "own")
    assert order_of("mosek") == ("MOSEK",)


def test_without_any_solver_our_own_method_answers_and_without_that_the_answer_is_wide_but_valid(
    program, installed, monkeypatch, instances
):
    truth = program.solve()
    installed()
    monkeypatch.setattr(cp.Problem, "solve", lambda *_, **__: (_ for _ in ()).throw(cp.SolverError("none")))
    answer = program.solve()
    instances.assert_honest(answer, truth)
    assert answer.termination is Termination.GAP_REACHED
    assert set(answer.found_by.values()) == {"own"}
    monkeypatch.setattr(MarginalUpdate, "own", lambda *_: None)
    answer = program.solve()
    instances.assert_honest(answer, truth)
    assert answer.termination is Termination.STALLED
    assert set(answer.found_by.values()) == {"start"}
    refused(lambda: program.solve(solver="own"), "marginal has no method of our own")


def test_settings_are_handed_out_as_copies():
    for _, settings in ladder("CLARABEL"):
        settings["tol_gap_abs"] = 1.0
    assert all(settings["tol_gap_abs"] < 1e-9 for _, settings in ladder("CLARABEL"))


@pytest.mark.parametrize("name", [name for name in SOLVERS if name not in ("auto", "own", "MOSEK")])
def test_every_installed_solver_answers(program, instances, name):
    if name not in solvers.installed():
        pytest.skip(f"needs {name}: pip install {name.lower()}")
    truth = program.solve()
    answer = program.solve(solver=name)
    instances.assert_honest(answer, truth)
    assert {made.solver for made in answer.attempts} == {name}
    assert set(answer.found_by.values()) == {name}
    assert answer.gap < 1e-5


# ---------------------------------------------------------------- MOSEK and its licence


def fake_mosek(monkeypatch, checkout):
    """A module `mosek` whose licence server does `checkout`."""
    module = types.ModuleType("mosek")
    module.__spec__ = importlib.util.spec_from_loader("mosek", loader=None)

    class Env:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def checkoutlicense(self, _):
            checkout(module)

    module.Error = type("Error", (Exception,), {})
    module.Env, module.feature = Env, types.SimpleNamespace(pton=0)
    monkeypatch.setitem(sys.modules, "mosek", module)


def refuse(module):
    raise module.Error("1008: no licence file")


def test_mosek_without_a_licence_is_not_chosen_and_cannot_be(program, installed, monkeypatch):
    installed("CLARABEL", "MOSEK")
    fake_mosek(monkeypatch, refuse)
    assert "MOSEK" not in tried("auto")
    refused(lambda: program.solve(solver="MOSEK"), "1008: no licence file")


def test_mosek_with_a_licence_comes_first_with_tolerances_and_a_time_limit(program, installed, monkeypatch, instances):
    """No licence is needed for that: Clarabel solves what MOSEK is asked for, and what it was asked is looked at."""
    installed("CLARABEL", "MOSEK", "SCS")
    fake_mosek(monkeypatch, lambda _: None)
    assert list(dict.fromkeys(tried("auto"))) == ["MOSEK", "CLARABEL", "own", "SCS"]
    assert tried("mosek") == ["MOSEK"]
    asked, real, truth = list[dict[str, object]](), cp.Problem.solve, program.solve(solver="CLARABEL")

    def solve(problem, **settings):
        asked.append(settings)
        return real(problem, solver="CLARABEL")

    monkeypatch.setattr(cp.Problem, "solve", solve)
    for choice in ("auto", "mosek"):
        answer = program.solve(solver=choice, gap=1e-6, time_limit=7.0)
        instances.assert_honest(answer, truth, gap=1e-6)
        assert set(answer.found_by.values()) == {"MOSEK"}
    first, second = asked
    assert first["solver"] == second["solver"] == "MOSEK"
    assert first["accept_unknown"], "an inaccurate answer is repaired, too"
    limits = first["mosek_params"]
    assert 6.0 < limits["MSK_DPAR_OPTIMIZER_MAX_TIME"] <= 7.0
    assert all(value <= 1e-8 for name, value in limits.items() if "_TOL_" in name)
    assert "MSK_DPAR_OPTIMIZER_MAX_TIME" not in SETTINGS["MOSEK"][0]["mosek_params"], "settings are copies"


def test_mosek_knows_the_parameters_that_it_is_given():
    """As far as it goes without a licence: a task takes them by these names."""
    mosek = pytest.importorskip("mosek", reason="needs MOSEK: pip install mosek")
    with mosek.Env() as environment, environment.Task() as task:
        for name, value in (SETTINGS["MOSEK"][0]["mosek_params"] | {solvers.MOSEK_TIME: 7.0}).items():
            task.putparam(name, str(value))
            assert task.getdouparam(getattr(mosek.dparam, name.removeprefix("MSK_DPAR_").lower())) == value


def test_a_licence_without_the_solver_is_not_enough(installed, monkeypatch):
    installed("CLARABEL")
    fake_mosek(monkeypatch, lambda _: None)
    assert "MOSEK" not in tried("auto")


@pytest.mark.parametrize("error", [ImportError("libmosek64.so"), OSError("cannot load")])
def test_a_mosek_that_cannot_be_imported_is_no_mosek(installed, monkeypatch, error):
    installed("CLARABEL", "MOSEK")

    class Broken:
        def find_spec(self, name, *_):
            if name == "mosek":
                raise error

    monkeypatch.delitem(sys.modules, "mosek", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    assert "MOSEK" not in tried("auto")
    with pytest.raises(InputError, match=str(error)):
        tried("MOSEK")


def test_mosek_itself(program, instances):
    if reason := solvers.mosek_refusal():
        pytest.skip(f"needs MOSEK: pip install mosek, and a licence ({reason})")
    instances.assert_honest(program.solve(solver="MOSEK"), program.solve())


# ---------------------------------------------------------------- one attempt


def test_an_attempt_brings_back_names_and_finite_arrays(program):
    made = attempted(program)
    assert made.status == "optimal"
    assert set(made.point) == {"pi"}
    assert set(made.duals) == {"total", "entropy"}
    assert made.value == pytest.approx(program.problem.value)
    assert not made.hung


def test_candidates_are_copies(program):
    made = attempted(program)
    program.variables["pi"].value[:] = 7.0
    assert made.point["pi"].max() < 1.1


@pytest.mark.parametrize(
    "error", [ValueError("no"), cp.SolverError("no"), PanicError("no"), SystemExit(3), MemoryError()]
)
def test_whatever_a_solver_raises_is_a_status(program, monkeypatch, error):
    def raises(*_, **__):
        raise error

    attempted(program)  # what it leaves behind is not this solver's answer
    monkeypatch.setattr(cp.Problem, "solve", raises)
    made = attempted(program)
    assert made.status.startswith(type(error).__name__)
    assert made.point == {}
    assert made.duals == {}


def test_warnings_are_silent_during_an_attempt_and_restored_after(program, monkeypatch):
    def warns(*_, **__):
        warnings.warn("inaccurate", UserWarning, stacklevel=1)

    monkeypatch.setattr(cp.Problem, "solve", warns)
    before = list(warnings.filters)
    assert attempted(program).status == "None"
    assert list(warnings.filters) == before


def test_a_solver_that_hangs_is_left_behind(program, monkeypatch, instances):
    truth = program.solve()
    released, ended, old = threading.Event(), list[bool](), program.problem
    monkeypatch.setattr(solvers, "GRACE", 0.05)
    before = list(warnings.filters)
    with monkeypatch.context() as patch:
        patch.setattr(cp.Problem, "solve", lambda *_, **__: ended.append(released.wait(60.0)))
        answer = program.solve(time_limit=0.1)
        assert not ended, "it still hangs"
    assert [made.hung for made in answer.attempts] == [True]
    assert answer.attempts[0].status == "hung"
    assert answer.termination is Termination.TIME_LIMIT
    instances.assert_honest(answer, truth)
    assert list(warnings.filters) == before, "a thread that hangs must not keep the process's warnings off"
    assert program.problem is not old, "the late thread keeps the old objects"
    assert program.solve().termination is Termination.GAP_REACHED
    released.set()
    assert program.solve().termination is Termination.GAP_REACHED


def test_after_a_hang_other_data_can_be_set(program, monkeypatch):
    released = threading.Event()
    monkeypatch.setattr(solvers, "GRACE", 0.05)
    with monkeypatch.context() as patch:
        patch.setattr(cp.Problem, "solve", lambda *_, **__: released.wait(30.0))
        program.solve(time_limit=0.1)
    released.set()
    program.set(CHANNEL[::-1], np.zeros(2), 0.0)
    fresh = MarginalUpdate(CHANNEL[::-1], np.zeros(2), 0.0).solve()
    assert program.solve().upper == pytest.approx(fresh.upper, abs=1e-7)


def test_ctrl_c_is_passed_on_and_the_program_can_be_solved_again(program, monkeypatch):
    old = program.problem

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(base, "attempt", interrupted)
        with pytest.raises(KeyboardInterrupt):
            program.solve()
    assert program.problem is not old, "the solver's thread may still hold the old objects"
    assert program.solve().termination is Termination.GAP_REACHED


@pytest.mark.skipif(os.name != "posix", reason="sets a handler of the C library")
def test_ctrl_c_is_heard_though_a_solver_puts_its_own_handler_in_place(program, monkeypatch):
    """As SCS does, which swallows the signal."""
    heard = threading.Event()

    def interrupt(*_):
        heard.set()
        raise KeyboardInterrupt

    def swallows(*_, **__):
        ctypes.CDLL(None).signal(signal.SIGINT, ctypes.c_void_p(signal.SIG_IGN))
        for _ in range(2000):
            os.kill(os.getpid(), signal.SIGINT)
            if heard.wait(0.005):
                return

    monkeypatch.setattr(cp.Problem, "solve", swallows)
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            program.solve(solver="CLARABEL", time_limit=20.0)
    finally:
        signal.signal(signal.SIGINT, before)


# ---------------------------------------------------------------- the arguments of solve


@pytest.mark.parametrize("gap", [-1.0, float("nan"), "1e-3", None, True])
def test_a_bad_gap_is_refused(program, gap):
    refused(lambda: program.solve(gap=gap), "gap")


@pytest.mark.parametrize("limit", [float("nan"), -1.0, "60", True])
def test_a_bad_time_limit_is_refused(program, limit):
    refused(lambda: program.solve(time_limit=limit), "time_limit")


@pytest.mark.parametrize("limit", [None, float("inf"), 1e300])
def test_no_time_limit(program, limit):
    assert program.solve(time_limit=limit).termination is Termination.GAP_REACHED


def test_no_time_at_all(program):
    answer = program.solve(time_limit=0.0)
    assert answer.termination is Termination.TIME_LIMIT
    assert answer.attempts == ()


def test_a_gap_of_anything_needs_no_solver_and_a_gap_of_nothing_stalls(program):
    assert program.solve(gap=1e300).attempts == ()
    answer = program.solve(gap=0.0)
    assert answer.termination is Termination.STALLED
    assert len(answer.attempts) == len(tried("auto"))


# ---------------------------------------------------------------- our own methods


@pytest.mark.parametrize("cls", instances.program_classes(), ids=lambda c: c.name)
def test_two_solvers_agree_about_every_program(cls):
    for seed in range(draws(1, 10)):
        answers = [instances.make(cls, seed).solve(solver=solver, gap=1e-5) for solver in ("CLARABEL", "SCS")]
        assert max(a.lower for a in answers) <= min(a.upper for a in answers)
        assert all(a.gap <= 2e-5 * (1.0 + abs(a.upper)) for a in answers)


@pytest.mark.parametrize(
    ("cls", "gap", "most"),
    [
        (MarginalUpdate, 1e-7, 1e-7),
        (PosteriorUpdate, 1e-7, 2e-6),
        (ConditionalUpdate, 1e-7, 2e-6),
        (RowUpdate, 1e-3, 1e-3),
        (MinLeakageProgram, 1e-7, 1e-7),
        (MinDistortionProgram, 1e-7, 1e-7),
    ],
    ids=lambda x: getattr(x, "name", None),
)
def test_our_own_methods_need_no_cvxpy_and_agree_with_clarabel(instances, monkeypatch, cls, gap, most):
    seeds = range(draws(1, 25))
    truths = [instances.make(cls, seed).solve(solver="clarabel", gap=gap) for seed in seeds]
    monkeypatch.setattr(cp.Problem, "solve", lambda *_, **__: pytest.fail("cvxpy was asked"))
    for seed, truth in zip(seeds, truths, strict=True):
        program = instances.make(cls, seed)
        answer = program.solve(solver="own", gap=gap)
        assert answer.lower <= truth.upper
        assert truth.lower <= answer.upper
        assert answer.gap <= most * abs(answer.upper) + 1e-11
        assert instances.violation(program, answer.point) <= 1e-9
        assert {made.solver for made in answer.attempts} <= {"own"}


def test_our_own_way_to_the_letter_law_at_every_entropy():
    """From no bound at all to the largest entropy, letters without any use among them."""
    K = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.3, 0.4, 0.3]])
    h = np.array([0.0, 0.3, 1.0, 0.1])
    most = float(np.log(np.exp(h).sum()))
    for share in (-1.0, 0.3, 0.8, 0.99, 1.0 - 1e-9, 1.0):
        program = MarginalUpdate(K, h, share * most)
        answer = program.solve(solver="own", gap=1e-7)
        assert answer.gap <= 1e-6
        assert program.most - program._missing(answer.point["pi"]) >= share * most - 1e-13
