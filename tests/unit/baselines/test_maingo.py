"""MAiNGO as a rival: its points are judged, its bounds are claims, and it leaves no files behind."""

from __future__ import annotations

import numpy as np
import pytest

import dalenius as dl
from dalenius.baselines import Maingo, Rest, aggregated, optimised_run
from dalenius.search.clock import Clock

pytest.importorskip("maingopy", reason="needs MAiNGO: pip install maingopy")
CERTIFIED = 0.0795415058653  # parity of four bits, Laplace, epsilon 1; Mrs. Gerber's lemma


def test_a_small_instance_is_closed_but_not_proved(support, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = optimised_run(aggregated(support.parity4(2.0)), optimiser=Maingo(gap=1e-3))
    assert run.termination is Rest.TOLERANCE
    assert CERTIFIED * (1.0 - 2e-3) <= run.value <= CERTIFIED + 1e-12
    assert run.bound == pytest.approx(CERTIFIED, rel=2e-3)
    assert run.claimed == pytest.approx(CERTIFIED, rel=2e-3)
    assert not list(tmp_path.iterdir())


def test_outputs_that_never_occur_and_rows_with_zeros():
    problem = dl.MaximalLeakage(
        records=dl.Records(1, alphabet=2),
        query=dl.Identity(),
        mechanism=dl.Channel([[1, 0, 0], ["1/2", "1/2", 0]]),
        adversary=dl.AnyPrior(),
    )
    run = optimised_run(aggregated(problem), optimiser=Maingo(gap=1e-3))
    assert run.value == pytest.approx(np.log(1.25), rel=1e-3)  # the Z-channel


def test_no_time_and_a_solver_that_fails(support, monkeypatch):
    import maingopy

    family = aggregated(support.parity4(1.0))
    start = family.random(np.random.default_rng(0))
    late = optimised_run(family, start, optimiser=Maingo(), clock=Clock(0.0))
    assert (late.termination, late.bound) == (Rest.TIME, None)

    class Failing(maingopy.MAiNGO):
        def solve(self):
            raise RuntimeError("no")

    monkeypatch.setattr(maingopy, "MAiNGO", Failing)
    failed = optimised_run(family, start, optimiser=Maingo())
    assert (failed.termination, failed.bound) == (Rest.REJECTED, None)
    assert failed.value == pytest.approx(family.judged(start)[0], abs=1e-12)
