"""Fixtures of the tests of exports: small instances of every program, and a solver that knows nothing of them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import clarabel
import numpy as np
import pytest
from scipy.sparse import csc_matrix

from dalenius.programs import StandardForm

NAME = "dalenius_tests_programs_instances"


@pytest.fixture(scope="session")
def instances() -> ModuleType:
    """The module tests/programs/instances.py, loaded by its path."""
    if NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(NAME, Path(__file__).parents[1] / "programs" / "instances.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[NAME] = module
        spec.loader.exec_module(module)
    return sys.modules[NAME]


def settings() -> clarabel.DefaultSettings:
    chosen = clarabel.DefaultSettings()
    chosen.verbose = False
    chosen.tol_gap_abs = chosen.tol_gap_rel = chosen.tol_feas = 1e-10
    return chosen


def solved(form: StandardForm) -> tuple[np.ndarray, np.ndarray, float]:
    """x, z and the value, from the clarabel package alone; our sign of A is the opposite of its own."""
    cones = []
    for part in form.rows:
        if part.cone == "exponential":
            cones += [clarabel.ExponentialConeT()] * (part.size // 3)
        else:
            cones.append((clarabel.ZeroConeT if part.cone == "zero" else clarabel.NonnegativeConeT)(part.size))
    size = form.c.size
    cost = -form.c if form.maximises else form.c
    found = clarabel.DefaultSolver(
        csc_matrix((size, size)), cost, csc_matrix(-form.A), form.b, cones, settings()
    ).solve()
    x = np.array(found.x)
    return x, np.array(found.z), form.value(x)


@pytest.fixture(scope="session")
def solver():
    """`solved`."""
    return solved


@pytest.fixture(scope="session")
def clarabel_settings():
    """`settings`."""
    return settings
