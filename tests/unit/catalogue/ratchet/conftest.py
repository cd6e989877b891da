"""A small library that tests may change."""

import json

import pytest

from libraries import NAMES, copy_model


@pytest.fixture
def small(tmp_path):
    """A library of an audit, a design and an infeasible one, without certificates."""
    for name in NAMES:
        copy_model(name, tmp_path, certified=False)
    (tmp_path / "sets.toml").write_text(f"minimal = {json.dumps(NAMES)}\n")
    return tmp_path
