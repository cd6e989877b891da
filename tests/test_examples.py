"""Every story in examples/ runs, and says what it should."""

from __future__ import annotations

import csv
import functools
import itertools
import math
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ARGUMENTS = {
    "designed_against_classical.py": ["--bits", "3", "--points", "3", "--gap", "0.05", "--time-limit", "4"],
    "fair_survey.py": ["--points", "3", "--time-limit", "4"],
    "published_numbers_under_report.py": ["--points", "3", "--starts", "2"],
}
PUBLISHED = "published_numbers_under_report.py"
FLIP = {"laplace": math.exp(-0.5) / 2.0, "exponential": 1.0 / (1.0 + math.exp(0.5))}


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """What a story printed, and the folder it wrote; each runs once."""

    @functools.cache
    def run(name):
        folder = tmp_path_factory.mktemp("story")
        command = [sys.executable, str(ROOT / "examples" / name), "-o", "out", *ARGUMENTS[name]]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False), folder

    def tell(name):
        told, folder = run(name)
        assert told.returncode == 0, told.stderr
        return told.stdout, folder / "out"

    return tell


def read(path):
    """The lines of a CSV file, with numbers where there are numbers."""
    with path.open(newline="") as file:
        return [{key: number(value) for key, value in line.items()} for line in csv.DictReader(file)]


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "examples").glob("*.py")))
def test_the_story_runs(name, story):
    told, out = story(name)
    assert "proved: " in told
    assert list(out.glob("*.png"))


@pytest.mark.parametrize("mechanism", FLIP)
class TestPublishedNumbers:
    """The source paper's Table 3 (n = 4, parity, epsilon = 1) against proofs and against Mrs. Gerber's lemma."""

    @pytest.fixture
    def rows(self, mechanism, story):
        lines = read(story(PUBLISHED)[1] / "published-numbers" / "published-numbers.csv")
        return [line for line in lines if line["mechanism"] == mechanism]

    @pytest.fixture
    def exact(self, mechanism, support):
        def leakage(bound):
            return support.gerber(4, FLIP[mechanism], bound) if bound < 2.772 else 0.0

        return leakage

    def test_certified_intervals_contain_the_closed_form(self, rows, exact):
        assert [row["entropy_nats"] for row in rows] == pytest.approx([0, 0.5, 1, 1.5, 2, 4 * math.log(2)])
        for row in rows:
            value = exact(row["entropy_nats"])
            assert row["certified_lower"] <= value <= row["certified_upper"]
            assert row["closed_form"] == pytest.approx(value, abs=1e-12)
            assert row["certified_upper"] - row["certified_lower"] <= max(2e-3 * value, 1e-12)

    def test_the_certified_curve_falls(self, mechanism, exact, story):
        curve = read(story(PUBLISHED)[1] / "published-numbers" / f"curve-{mechanism}.csv")
        assert len(curve) == 7
        for point in curve:
            value = exact(point["share_of_max_entropy"] * 4 * math.log(2))
            assert point["lower_nats"] <= value + 1e-6  # six digits of the share are written
            assert point["upper_nats"] >= value - 1e-6
        for before, after in itertools.pairwise(curve):
            assert after["upper_nats"] <= before["upper_nats"]
            assert after["lower_nats"] <= before["lower_nats"] + 1e-12

    def test_published_numbers_lie_below_the_proof(self, mechanism, rows):
        published = {"laplace": [0.062, 0.041, 0.022, 0.009], "exponential": [0.024, 0.015, 0.008, 0.003]}
        between = [row for row in rows if 0 < row["entropy_nats"] <= 2]
        assert [row["published"] for row in between] == published[mechanism]
        for row in between:
            assert row["published"] + 5e-4 < row["certified_lower"]
            assert row["factor"] == pytest.approx(row["certified_lower"] / row["published"])
        assert between[-1]["factor"] == pytest.approx({"laplace": 8.84, "exponential": 10.1}[mechanism], abs=0.01)

    def test_what_is_published_without_entropy_bound(self, mechanism, rows, story):
        """Laplace: cut, not rounded. Exponential: more than the channel's capacity, and the story says so."""
        first = rows[0]
        if mechanism == "laplace":
            assert 0.079 == first["published"] < first["certified_lower"] < 0.080
        else:
            assert first["published"] == 0.032 > first["certified_upper"] + 5e-4
            assert "Too large, exponential: 0.032" in story(PUBLISHED)[0]

    def test_no_ascent_passes_the_proof(self, rows):
        for row in rows:
            stops = [row[key] for key in row if key.startswith(("ascent", "short", "long"))]
            assert len(stops) == 5
            assert max(stops) <= row["certified_upper"] + 1e-9

    def test_where_the_ascents_come_to_rest(self, rows):
        """From the uniform start at the maximum or at nothing; with short steps, far below."""
        at = {round(row["entropy_nats"], 2): row for row in rows}
        assert at[1.5]["ascent_uniform_start"] == pytest.approx(at[1.5]["certified_lower"], rel=1e-4)
        assert at[2.0]["ascent_uniform_start"] < 1e-9
        assert at[2.0]["short_steps_best"] < 0.9 * at[2.0]["certified_lower"]
        assert at[2.0]["long_steps_best"] > 0.9 * at[2.0]["certified_lower"]
