"""Global solvers as rivals, each by itself: points are judged, bounds are claims, and without time there is the start."""

import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.baselines import Maingo, Rest, Scip, aggregated, optimised_run
from dalenius.search.clock import Clock

CERTIFIED = 0.0795415058653  # parity of four bits, Laplace, epsilon 1; Mrs. Gerber's lemma
GAP = 1e-3
GLOBAL = {"pyscipopt": Scip(gap=GAP), "maingopy": Maingo(gap=GAP)}


@pytest.fixture(params=GLOBAL)
def optimiser(request):
    pytest.importorskip(request.param, reason=f"pip install {request.param}")
    return GLOBAL[request.param]


def test_a_small_instance_is_closed_but_not_proved(support, optimiser, tmp_path, monkeypatch):
    """Its value is ours once judged; what it says itself is true to its tolerances, and no further; it leaves no files behind."""
    monkeypatch.chdir(tmp_path)
    run = optimised_run(aggregated(support.parity4(2.0)), optimiser=optimiser)
    assert run.termination is Rest.TOLERANCE
    assert CERTIFIED * (1.0 - 2.0 * GAP) <= run.value <= CERTIFIED + 1e-12
    assert run.bound == pytest.approx(CERTIFIED, rel=2.0 * GAP)
    assert run.claimed == pytest.approx(CERTIFIED, rel=2.0 * GAP)
    assert run.violation == 0.0
    assert max(moment.value for moment in run.trace) == pytest.approx(run.value, abs=1e-12)
    assert not list(tmp_path.iterdir())


def test_outputs_that_never_occur_and_rows_with_zeros(optimiser):
    """Nothing is infeasible because it cannot be."""
    problem = support.problem(
        dl.Records(1, alphabet=2), dl.Identity(), dl.Channel([[1, 0, 0], ["1/2", "1/2", 0]]), dl.AnyPrior()
    )
    run = optimised_run(aggregated(problem), optimiser=optimiser)
    assert run.value == pytest.approx(np.log(1.25), rel=GAP)  # the Z-channel


def test_no_time(support, optimiser):
    family = aggregated(support.parity4(1.0))
    start = family.random(np.random.default_rng(0))
    late = optimised_run(family, start, optimiser=optimiser, clock=Clock(0.0))
    assert (late.termination, late.bound) == (Rest.TIME, None)
    assert late.value == pytest.approx(family.judged(start)[0], abs=1e-12)
