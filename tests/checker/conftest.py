"""Fixtures of the checker's tests."""

import importlib
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import planting


@pytest.fixture(scope="session")
def forge() -> ModuleType:
    """The helper module."""
    return importlib.import_module("forge")


@pytest.fixture(scope="session")
def forgeries() -> ModuleType:
    """The helper module."""
    return importlib.import_module("forgeries")


@pytest.fixture(scope="session")
def designs() -> ModuleType:
    """The helper module."""
    return importlib.import_module("designs")


@pytest.fixture(scope="session")
def privates() -> ModuleType:
    """The helper module."""
    return importlib.import_module("privates")


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], ModuleType]:
    """Import a copy of the checker in which one piece of one function is another (planting.py)."""

    def plant(name: str, hole: str) -> ModuleType:
        copy = tmp_path / ("planted_" + re.sub(r"\W", "_", name))
        # links, to compiled files too: they know their sources by time and size
        shutil.copytree(planting.PACKAGE, copy, copy_function=os.symlink)
        path, text = planting.planted(hole)
        changed = copy / path.relative_to(planting.PACKAGE)
        changed.unlink()
        changed.write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module(copy.name)

    return plant
