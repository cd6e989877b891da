"""Fixtures of the programs' tests: a small instance of every class."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

NAME = "dalenius_tests_programs_instances"


@pytest.fixture(scope="session")
def instances() -> ModuleType:
    """The module tests/programs/instances.py, loaded by its path."""
    if NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(NAME, Path(__file__).parent / "instances.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[NAME] = module
        spec.loader.exec_module(module)
    return sys.modules[NAME]
