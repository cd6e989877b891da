"""A kill at any moment: every file is whole, nothing that is listed is missing, no index is ahead of its history, a rerun mends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from campaigns import draws


@pytest.mark.campaign(minutes=7)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the campaign forks: run it on another system")
def test_a_kill_at_any_moment(tmp_path):
    """Of solve, sweep, frontier and library submit; the whole campaign kills two hundred times."""
    kills, names = draws(2, 10, 50), ["sweep", "submit", "solve", "frontier"][: draws(1, 4)]
    command = [sys.executable, Path(__file__).parents[1] / "killed.py", kills, 7, tmp_path / "place", *names]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stderr
    *wrong, killed = done.stdout.splitlines()
    assert not wrong
    assert int(killed.removesuffix(" killed")) >= kills // 2 * len(names)
