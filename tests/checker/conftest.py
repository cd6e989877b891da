"""Fixtures of the checker's tests."""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

import dalenius_check


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
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, str, str], ModuleType]:
    """Import a copy of the checker in which one piece of one file is another."""

    def plant(name: str, file: str, old: str, new: str) -> ModuleType:
        copy = tmp_path / f"planted_{name}"
        shutil.copytree(
            Path(dalenius_check.__file__).parent, copy
        )  # compiled files too: they know their sources by time and size
        source = (copy / file).read_text()
        assert source.count(old) == 1
        (copy / file).write_text(source.replace(old, new))
        monkeypatch.syspath_prepend(tmp_path)
        return importlib.import_module(copy.name)

    return plant
