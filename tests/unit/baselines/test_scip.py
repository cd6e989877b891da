"""SCIP as a rival: its points are judged, its bounds are claims, and where it fails there is a point all the same."""

from __future__ import annotations

import numpy as np
import pytest

import dalenius as dl
from dalenius.baselines import Rest, Scip, aggregated, optimised_run, scip
from dalenius.search.clock import Clock

pytest.importorskip("pyscipopt", reason="needs SCIP: pip install pyscipopt")
CERTIFIED = 0.0795415058653  # parity of four bits, Laplace, epsilon 1; Mrs. Gerber's lemma
GAP = 1e-4


def test_a_small_instance_is_closed_but_not_proved(support):
    """Its value is ours once judged; what it says itself is true to its tolerances, and no further."""
    run = optimised_run(aggregated(support.parity4(2.0)), optimiser=Scip(gap=GAP))
    assert run.termination is Rest.TOLERANCE
    assert CERTIFIED * (1.0 - 2.0 * GAP) <= run.value <= CERTIFIED + 1e-12
    assert run.bound == pytest.approx(CERTIFIED, rel=1e-3)
    assert run.claimed == pytest.approx(CERTIFIED, rel=1e-3)
    assert run.violation == 0.0
    values = [moment.value for moment in run.trace]
    assert max(values) == pytest.approx(run.value, abs=1e-12)


def test_outputs_that_never_occur_and_rows_with_zeros():
    """Nothing is infeasible because it cannot be."""
    problem = dl.MaximalLeakage(
        records=dl.Records(1, alphabet=2),
        query=dl.Identity(),
        mechanism=dl.Channel([[1, 0, 0], ["1/2", "1/2", 0]]),
        adversary=dl.AnyPrior(),
    )
    run = optimised_run(aggregated(problem), optimiser=Scip(gap=1e-3))
    assert run.value == pytest.approx(np.log(1.25), rel=1e-3)  # the Z-channel


def test_no_time_and_a_solver_that_fails(support, monkeypatch):
    family = aggregated(support.parity4(1.0))
    start = family.random(np.random.default_rng(0))
    late = optimised_run(family, start, optimiser=Scip(), clock=Clock(0.0))
    assert (late.termination, late.bound) == (Rest.TIME, None)
    assert late.value == pytest.approx(family.judged(start)[0], abs=1e-12)

    monkeypatch.setattr(scip, "_optimised", lambda model, program, masses: False)
    failed = optimised_run(family, start, optimiser=Scip())
    assert (failed.termination, failed.bound) == (Rest.REJECTED, None)
    assert failed.value == pytest.approx(family.judged(start)[0], abs=1e-12)
