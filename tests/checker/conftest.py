"""Fixtures of the checker's tests."""

from __future__ import annotations

import importlib
import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import dalenius_check

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


@pytest.fixture(scope="session")
def privates() -> ModuleType:
    """The helper module."""
    return load("privates")


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, str, str], ModuleType]:
    """Import a copy of the checker in which one piece of one file is another."""

    def plant(name: str, file: str, old: str, new: str) -> ModuleType:
        copy = tmp_path / f"planted_{name}"
        shutil.copytree(Path(dalenius_check.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
        source = (copy / file).read_text()
        assert source.count(old) == 1
        (copy / file).write_text(source.replace(old, new))
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module(copy.name)

    return plant
