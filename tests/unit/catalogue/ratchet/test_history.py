"""The index and the history of the package's library, and the history of a small one."""

import csv
import itertools
from fractions import Fraction

import pytest

import dalenius as dl
from dalenius.catalogue import ratchet
from dalenius.model import digest
from libraries import AUDIT, HOME, MODELS, problems, rows
from support import refused


def test_the_index_is_up_to_date():
    again = "run `dalenius library index`"
    assert (HOME / "INDEX.md").read_text(encoding="utf-8") == ratchet.index_markdown(rows()), again
    assert (HOME / "index.csv").read_text(encoding="utf-8") == ratchet.index_csv(rows()), again


def test_the_index_is_rounded_outward():
    rows = {row["name"]: row for row in csv.DictReader((HOME / "index.csv").read_text(encoding="utf-8").splitlines())}
    assert list(rows) == list(MODELS)
    for name, model in MODELS.items():
        if model.claim is not None:
            assert Fraction(rows[name]["lower"]) <= model.claim[0] <= model.claim[1] <= Fraction(rows[name]["upper"])


def test_the_history_only_tightens_and_ends_with_the_certificates():
    """Of every name: one meaning, each interval within the one before it, the last one that of the stored certificate."""
    past = {}
    for entry in ratchet.history(HOME):
        past.setdefault(entry.name, []).append(entry)
    assert set(past) == set(MODELS)
    assert len({digest(problem) for problem in problems().values()}) == len(MODELS), "a digest names one model"
    for name, entries in past.items():
        assert {entry.digest for entry in entries} == {digest(problems()[name])}
        assert [entry.date for entry in entries] == sorted(entry.date for entry in entries)
        ends = [(Fraction(entry.lower), Fraction(entry.upper)) for entry in entries if entry.lower]
        for (low, high), (lower, upper) in itertools.pairwise(ends):
            assert low <= lower <= upper <= high
        assert (ends[-1] if ends else None) == MODELS[name].claim


def test_a_lost_row_of_the_history_comes_back(small):
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    ratchet.submit(best, small)
    (small / "history.csv").unlink()
    ratchet.submit(best, small)
    assert [entry.name for entry in ratchet.history(small)] == [AUDIT]


def test_a_history_that_is_no_table(small):
    (small / "history.csv").write_text("name,date\n")
    refused(lambda: ratchet.history(small), "expected a table with the columns name, date, digest")


@pytest.mark.parametrize("by", ["two\nlines", "two\rlines", "\ud800", "x" * 201])
def test_a_name_that_would_break_the_history(small, by):
    """Nothing is written, neither the certificate nor a row that nobody can read back."""
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    refused(lambda: ratchet.submit(best, small, by=by), "one line of at most 200 printable characters")
    assert not list(small.rglob("*.cert"))
    assert ratchet.submit(best, small, by='Ada, "Lovelace"') == ratchet.history(small)[-1]


@pytest.mark.parametrize("row", ["x" * 200_000, '"', "\udcff", f"{AUDIT},,DIGEST,low,1,", f"{AUDIT},,DIGEST,nan,1,"])
def test_a_history_that_cannot_be_read(small, row):
    best = dl.Certificate.read(MODELS[AUDIT].certificate_path)
    text = "name,date,digest,lower,upper,by\n" + row.replace("DIGEST", best.header.model) + "\n"
    (small / "history.csv").write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(dl.errors.InputError, match=r"history\.csv"):
        ratchet.submit(best, small)
    assert not list(small.rglob("*.cert"))
