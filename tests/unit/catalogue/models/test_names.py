"""Models by their names, and how tight their intervals are."""

import json
import math
from decimal import Decimal
from pathlib import Path

import pytest

import dalenius as dl
from campaigns import each
from dalenius.catalogue.models import CLOSED, library
from libraries import MODELS, problems, run


def test_a_model_is_loaded_by_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert dl.load("parity/laplace-n4") == dl.load(MODELS["parity/laplace-n4"].path) == problems()["parity/laplace-n4"]
    assert dl.load(str(MODELS["identity/bit"].path)) == problems()["identity/bit"]
    (tmp_path / "parity").mkdir()
    (tmp_path / "parity/laplace-n4").write_text(dl.dumps(problems()["identity/bit"]))
    assert dl.load("parity/laplace-n4") == problems()["identity/bit"], "a file that is there comes first"


@each(
    "name, message",
    ("parity/laplace-n5", "did you mean parity/laplace-n4"),
    ("laplace-n4", "did you mean parity/laplace-n4"),
    ("zzz", "dalenius list"),
    ("parity/laplace-n5.toml", "cannot be read"),
    (Path("parity/laplace-n5"), "cannot be read"),
    ("x" * 5000, "no model named 'xxx"),
)
def test_unknown_names(name, message):
    with pytest.raises(dl.errors.InputError, match=message):
        dl.load(name)


def test_tightness_is_what_the_gap_says():
    for model in MODELS.values():
        if model.tightness in ("closed", "bracket"):
            assert (model.gap <= CLOSED) is (model.tightness == "closed")
            assert not model.formula
        assert (model.claim is None) is (model.tightness == "infeasible")


def test_the_list():
    rows = json.loads(run("list", "--set", "minimal", "--json"))
    assert [row["name"] for row in rows] == [model.name for model in library("minimal")]
    row = next(row for row in rows if row["name"] == "parity/laplace-n4")
    assert Decimal(row["lower"]) <= Decimal("0.0795415058653") <= Decimal(row["upper"])
    assert (row["datasets"], row["inputs"], row["outputs"], row["tightness"]) == ("2^4", 2, 2, "exact")
    text = run("list", "--set", "minimal", "--units", "bits")
    line = next(line for line in text.splitlines() if "parity/laplace-n4 " in line)
    lower, upper = (float(end) for end in line.split(".. ")[0].split()[-1:] + line.split(".. ")[1].split()[:1])
    assert lower <= 0.0795415058653 / math.log(2) <= upper
    assert "scale/parity-n100000" not in text
