"""Rivals side by side: `dalenius.compare`, its table, its picture and its command."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import dalenius as dl
from dalenius.report import comparison_picture, comparison_table
from dalenius.studies.compare import METHODS, compare, methods_for

module = sys.modules[compare.__module__]  # `dalenius.compare` is the function
ROOT = Path(__file__).parents[3]
CERTIFIED = 0.0795415058653
UNO = find_spec("unopy") is not None


@pytest.fixture(scope="module")
def comparison(support):
    return dl.compare(support.parity4(2.0), seeds=3, budget=40.0)  # none needs it


@pytest.fixture(scope="module")
def design():
    problem = dl.MinLeakage(
        records=dl.Records(3, alphabet=2),
        query=dl.Parity(),
        distortion=dl.Hamming(),
        max_distortion=0.1,
        adversary=dl.EntropyAtLeast(0.5),
    )
    return dl.compare(problem, seeds=2, budget=2.0)


def test_parity_of_four_bits(comparison):
    installed = [method for method in METHODS if UNO or not method.startswith("cvxpy-nlp")]
    assert [entry.method for entry in comparison.entries] == installed
    assert comparison.lower <= CERTIFIED <= comparison.upper
    assert (comparison.units, comparison.maximises) == ("nats", True)
    for entry in comparison.entries:
        assert entry.value <= comparison.upper
        assert entry.violation <= 1e-12
        assert entry.shortfall == pytest.approx(max(comparison.lower - entry.value, 0.0) / comparison.upper, abs=1e-12)
        values = [value for _, value in entry.trace]
        assert values == sorted(values)
    full = comparison.entry("paper-full")
    assert (full.seeds, full.first) == (3, 0.0)
    assert full.shortfall < 1e-3
    assert full.reached is not None
    assert math.isnan(comparison.entry("certified").first)


def test_a_design(design):
    assert [entry.method for entry in design.entries] == ["certified", "paper-full", "paper-aggregated"]
    exact = math.log(2) + 0.1 * math.log(0.1) + 0.9 * math.log(0.9)
    assert design.lower <= exact <= design.upper
    for entry in design.entries:
        assert entry.value >= exact - 1e-12
        assert entry.method == "certified" or entry.value == pytest.approx(exact, rel=1e-2)
        assert entry.violation <= 1e-12
        values = [value for _, value in entry.trace]
        assert values == sorted(values, reverse=True)


def test_a_budget_of_leakage_is_met_by_the_houses_own_repair():
    problem = dl.MinDistortion(
        records=dl.Records(4, alphabet=2),
        query=dl.Parity(),
        distortion=dl.Hamming(),
        max_leakage=0.05,
        adversary=dl.EntropyAtLeast(2.2),
    )
    comparison = dl.compare(problem, methods=["paper-full"], seeds=1, budget=2.0, gap=1e-2)
    (entry,) = comparison.entries
    assert entry.violation > 0.01, "from the uniform start it sees no leakage, and leaves the mechanism as it is"
    assert comparison.lower <= entry.value
    assert entry.claimed < 1e-6 < entry.value
    assert comparison.units == "distortion"


def test_table_and_picture(comparison, design, tmp_path):
    for found, unit in ((comparison, "nats"), (design, "nats")):
        rows = list(csv.DictReader(comparison_table(found).splitlines()))
        assert [row["method"] for row in rows] == [entry.method for entry in found.entries]
        assert [float(row["value"]) for row in rows] == [entry.value for entry in found.entries]
        assert {row["unit"] for row in rows} == {unit}
        assert comparison_picture(found, tmp_path / "picture.png", title="t", units="bits").stat().st_size > 5000


def test_which_methods_fit():
    large = dl.MaximalLeakage(
        records=dl.Records(40, alphabet=2),
        query=dl.Parity(),
        mechanism=dl.symmetric(0.1, k=2),
        adversary=dl.EntropyAtLeast("0.5 max"),
    )
    optional = ["cvxpy-nlp-aggregated"] if UNO else []
    assert methods_for(large) == ["certified", "paper-aggregated", "slsqp", "trust-constr", *optional]
    with pytest.raises(dl.InputError, match="aggregated"):
        dl.compare(large, methods=["paper-full"])


class TestWhatCannotBe:
    """A rival on the wrong side of a proof is a bug of one of the two, and never a result."""

    @pytest.mark.parametrize("method", ["paper-full", "paper-aggregated", "slsqp", "trust-constr"])
    def test_an_audit(self, method, monkeypatch, support):
        true = module.AUDITS[method]

        def lying(*arguments, **more):
            return dataclasses.replace(true(*arguments, **more), value=CERTIFIED * (1.0 + 1e-7))

        monkeypatch.setitem(module.AUDITS, method, lying)
        with pytest.raises(dl.DaleniusError, match=f"{method} attains .* more than the certified upper bound"):
            module.compare(support.parity4(1.0), methods=[method], seeds=1, gap=1e-8)

    def test_a_design(self, monkeypatch, design):
        monkeypatch.setattr(module, "_judged", lambda *_: (0.1, 0.0))
        with pytest.raises(dl.DaleniusError, match="less than the certified lower bound"):
            module.compare(design.problem, methods=["paper-aggregated"], seeds=1, budget=1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": ["gradient"]}, "methods: expected some of certified"),
        ({"methods": []}, "methods"),
        ({"methods": "slsqp"}, "methods"),
        ({"seeds": 0}, "seeds"),
        ({"budget": 0}, "budget"),
        ({"budget": math.nan}, "budget"),
        ({"gap": "small"}, "gap"),
    ],
)
def test_bad_arguments(arguments, message, support):
    with pytest.raises(dl.InputError, match=message):
        dl.compare(support.parity4(1.0), **arguments)


def test_a_solver_that_is_not_installed(monkeypatch, support):
    monkeypatch.setattr("dalenius.baselines.cvxpy_nlp.find_spec", lambda name: None)
    assert methods_for(support.parity4(1.0)) == ["certified", "paper-full", "paper-aggregated", "slsqp", "trust-constr"]
    with pytest.raises(dl.InputError, match=r"not installed; pip install 'dalenius\[rivals\]'"):
        dl.compare(support.parity4(1.0), methods=["cvxpy-nlp-full"])


def test_bad_problems(support, design):
    with pytest.raises(dl.InputError, match="expected a MaximalLeakage"):
        dl.compare("parity")
    with pytest.raises(dl.InputError, match="entropy_at_least"):
        dl.compare(dataclasses.replace(support.parity4(1.0), adversary=dl.ProductPriors()))
    for method in list(METHODS)[3:]:
        with pytest.raises(dl.InputError, match=f"{method} audits a mechanism, it does not design one"):
            dl.compare(design.problem, methods=[method])
    with pytest.raises(dl.InputError, match="meets the budget"):
        dl.compare(dataclasses.replace(design.problem, max_distortion=-1))


def run(*arguments, cwd):
    command = [sys.executable, "-m", "dalenius.cli", "compare", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def test_the_command(tmp_path):
    model = ROOT / "models/parity/laplace-n4.toml"
    told = run(model, "--seeds", 1, "--budget", 1, "-o", "out", cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    for method in methods_for(dl.load(model)):
        assert method in told.stdout
    assert "certified  0.0795415058" in told.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "laplace-n4.compare.csv",
        "laplace-n4.compare.png",
    ]
    told = run(model, "--methods", "slsqp", "--seeds", 2, "--json", cwd=tmp_path)
    answer = json.loads(told.stdout)
    assert [entry["method"] for entry in answer["methods"]] == ["slsqp"]
    assert answer["lower"] <= CERTIFIED <= answer["upper"]
    assert answer["methods"][0]["value"] <= answer["upper"]


@pytest.mark.parametrize("arguments", [["--methods", "gradient"], ["--budget", "-1"], ["--seeds", "0"]], ids=" ".join)
def test_bad_commands(arguments, tmp_path):
    told = run(ROOT / "models/parity/laplace-n4.toml", *arguments, cwd=tmp_path)
    assert told.returncode == 2
    assert told.stdout == ""
    assert "Traceback" not in told.stderr
