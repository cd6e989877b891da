"""Nothing is called proved that the checker did not prove: neither now, nor, by its digests, when the index was written."""

import csv
import json
import shutil
from fractions import Fraction

import pytest
from typer.testing import CliRunner

import dalenius as dl
from dalenius.catalogue import ratchet
from dalenius.catalogue.models import library, library_folder, library_model
from dalenius.cli import app

HOME = library_folder()
NAMES = LAPLACE, EXPONENTIAL, INFEASIBLE = ("parity/laplace-n4", "parity/exponential-n4", "infeasible/negative-leakage")


@pytest.fixture
def home(tmp_path):
    """A library of three models with certificates and index."""
    for name in NAMES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        for suffix in (".toml", ".cert"):
            shutil.copy(HOME / f"{name}{suffix}", tmp_path / f"{name}{suffix}")
    (tmp_path / "sets.toml").write_text(f"minimal = {json.dumps(NAMES)}\n")
    ratchet.write_index(tmp_path)
    return tmp_path


def edited(home):
    """A header that claims something else, of about the size of the truth."""
    path = home / f"{LAPLACE}.cert"
    header, rest = path.read_text().split("\n", 1)
    path.write_text(json.dumps(json.loads(header) | {"lower": "0.001", "upper": "0.0010000001"}) + "\n" + rest)


def copied(home):
    """The certificate of another model."""
    shutil.copy(home / f"{EXPONENTIAL}.cert", home / f"{LAPLACE}.cert")


def readdressed(home):
    """The certificate of another model, with this one's digest in its header."""
    header, rest = (home / f"{EXPONENTIAL}.cert").read_text().split("\n", 1)
    model = json.loads((home / f"{LAPLACE}.cert").read_text().split("\n", 1)[0])["model"]
    (home / f"{LAPLACE}.cert").write_text(json.dumps(json.loads(header) | {"model": model}) + "\n" + rest)


def changed(home):
    """Another model under the certificate."""
    path = home / f"{LAPLACE}.toml"
    path.write_text(dl.dumps(dl.load(home / f"{EXPONENTIAL}.toml")))


def listing(home, *arguments):
    return CliRunner().invoke(app, ["list", "--folder", str(home), *arguments])


@pytest.mark.parametrize("forged", [edited, copied, readdressed, changed])
def test_what_is_not_proved_is_not_called_proved(forged, home):
    before = {path: path.read_bytes() for path in (home / "INDEX.md", home / "index.csv")}
    forged(home)
    model = library_model(LAPLACE, home)
    assert (model.interval, model.gap, model.tightness) == (None, None, "unproved")
    assert not model.standing.proved
    assert model.standing.reason.startswith("rejected: ")
    assert (model.row().lower, model.row().upper, model.row().gap) == ("", "", "")

    shown = listing(home)
    assert shown.exit_code == 1
    (line,) = (line for line in shown.stdout.splitlines() if line.startswith(LAPLACE))
    assert line.split()[:2] == [LAPLACE, "unproved"]
    assert f"{LAPLACE}.cert: not proved (rejected: " in shown.stderr
    answer = {row["name"]: row for row in json.loads(listing(home, "--json").stdout)}
    assert (answer[LAPLACE]["proved"], answer[LAPLACE]["lower"]) == (False, "")
    assert (answer[EXPONENTIAL]["proved"], answer[INFEASIBLE]["proved"]) == (True, True)

    with pytest.raises(dl.errors.InputError, match=f"no index is written, for what is not proved: {LAPLACE} .rejected"):
        ratchet.write_index(home)
    assert {path: path.read_bytes() for path in before} == before


def test_an_index_that_lies_is_not_believed_by_the_next_one(home):
    """Not even one whose digests were forged along with the certificate."""
    edited(home)
    rows = list(csv.DictReader((home / "index.csv").read_text().splitlines()))
    forged = library_model(LAPLACE, home).row().certificate_digest
    for row in rows:
        row["certificate_digest"] = forged if row["name"] == LAPLACE else row["certificate_digest"]
    with (home / "index.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)
    with pytest.raises(dl.errors.InputError, match="no index is written"):
        ratchet.write_index(home)


def test_an_unproved_certificate_does_not_keep_a_model_from_being_solved(home):
    edited(home)
    entry = ratchet.tighten(library_model(LAPLACE, home), home)
    assert entry is None or Fraction(entry.lower) > Fraction("0.07")
    assert dl.verify(home / f"{LAPLACE}.toml", home / f"{LAPLACE}.cert").proved


def test_digests_bind_a_claim_to_its_proof(home):
    assert {model.standing.reason for model in library(folder=home)} == {"when the index was written"}
    assert {model.standing.reason for model in library()} == {"when the index was written"}, (
        "run `dalenius library index`"
    )
    path = home / f"{LAPLACE}.cert"
    header, rest = path.read_text().split("\n", 1)
    path.write_text(json.dumps(json.loads(header) | {"lower": "0.07"}) + "\n" + rest)  # true, and not what was proved
    model = library_model(LAPLACE, home)
    assert (model.standing.proved, model.standing.reason) == (True, "just now")
    assert model.interval[0] == Fraction("0.07")
    assert listing(home).exit_code == 0


@pytest.mark.parametrize("text", ["", "name\n", 'name,digest,certificate_digest\n"', "\ufeff\n", "name,digest\na,b\n"])
def test_an_index_of_another_form_says_nothing(home, text):
    (home / "index.csv").write_text(text, encoding="utf-8")
    assert {model.standing.reason for model in library(folder=home)} == {"just now"}


def test_a_claim_is_what_it_is_called(home):
    edited(home)
    model = library_model(LAPLACE, home)
    assert model.claim == (Fraction("0.001"), Fraction("0.0010000001"))
    assert model.interval is None
