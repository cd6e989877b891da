"""A kill at any moment: every file is whole, nothing that is listed is missing, no index is ahead of its history, a rerun mends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from campaigns import draws


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the campaign forks: run it on another system")
def test_a_kill_at_any_moment(tmp_path):
    """Of solve, sweep, frontier and library submit; the whole campaign kills two hundred times."""
    kills = draws(1, 50)
    command = [sys.executable, str(Path(__file__).parents[1] / "killed.py"), str(kills), "7", str(tmp_path / "place")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr
    *wrong, killed = done.stdout.splitlines()
    assert not wrong
    assert int(killed.removesuffix(" killed")) >= (2 * kills)
