"""Fixtures of all tests: the helper modules of this folder, which pytest puts on the path (`pythonpath` in pyproject.toml).

They are fixtures, not imports, so that collecting a file costs no import of cvxpy.
"""

from __future__ import annotations

import importlib
import signal
from types import ModuleType

import pytest

# The background jobs of a shell inherit that Ctrl-C is ignored; tests interrupt themselves and others.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def support() -> ModuleType:
    """tests/support.py: problems in one line, and the same quantities computed in another way."""
    return importlib.import_module("support")


@pytest.fixture(scope="session")
def instances() -> ModuleType:
    """tests/instances.py: a small instance of every program."""
    return importlib.import_module("instances")


@pytest.fixture(scope="session")
def solver():
    """`solved` of tests/plain_clarabel.py."""
    return importlib.import_module("plain_clarabel").solved


@pytest.fixture(scope="session")
def clarabel_settings():
    """`settings` of tests/plain_clarabel.py."""
    return importlib.import_module("plain_clarabel").settings
