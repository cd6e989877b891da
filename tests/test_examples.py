"""Every story in examples/ runs, and says what it should."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ARGUMENTS = {"fair_survey.py": ["--points", "3", "--time-limit", "4"]}


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_the_story_runs(path, tmp_path):
    command = [sys.executable, str(path), "-o", "out", *ARGUMENTS[path.name]]
    told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert told.returncode == 0, told.stderr
    assert "proved: " in told.stdout
    assert list((tmp_path / "out").glob("*.png"))
