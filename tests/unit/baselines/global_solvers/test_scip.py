"""SCIP as a rival: where it fails there is a point all the same. What it shares with other global solvers: test_nonlinear.py."""

import numpy as np
import pytest

from dalenius.baselines import Rest, Scip, aggregated, global_solvers, optimised_run

pytest.importorskip("pyscipopt", reason="needs SCIP: pip install pyscipopt")


def test_a_solver_that_fails(support, monkeypatch):
    family = aggregated(support.parity4(1.0))
    start = family.random(np.random.default_rng(0))
    monkeypatch.setattr(global_solvers, "_optimised", lambda model, program, masses: False)
    failed = optimised_run(family, start, optimiser=Scip())
    assert (failed.termination, failed.bound) == (Rest.REJECTED, None)
    assert failed.value == pytest.approx(family.judged(start)[0], abs=1e-12)
