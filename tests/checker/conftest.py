"""Fixtures of the checker's tests."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parent


def load(name: str) -> ModuleType:
    """A helper module of this folder, imported by its path."""
    full = f"checker_tests_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, HERE / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[full] = module
        spec.loader.exec_module(module)
    return sys.modules[full]


@pytest.fixture(scope="session")
def forge() -> ModuleType:
    """The helper module."""
    return load("forge")


@pytest.fixture(scope="session")
def designs() -> ModuleType:
    """The helper module."""
    return load("designs")
