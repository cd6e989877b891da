"""What symmetries are worth: the leaves that a gap takes where exchanges of letters, inputs and outputs leave a record channel alone.

The figures are those of the day they were written, with a fifth of head-room, as in test_audits.py.
"""

from collections import Counter
from itertools import product

import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.audits.bounds.posteriors import PosteriorHalf
from dalenius.reduction import RecordSymmetries, exact_counts

HEAD_ROOM = 1.2


def modular_sum(size, flip, share):
    """Of three letters, with symmetric noise."""
    return support.problem(dl.Records(3, alphabet=size), dl.ModularSum(size), dl.symmetric(flip), f"{share} max")


def words(result) -> Counter[str]:
    """How many lines of each kind a certificate has."""
    return Counter(line.split('"')[1] for line in result.certificate.text.splitlines()[1:])


def test_sorted_chambers():
    """Without them 16,000 leaves left 9.6 %."""
    result = dl.solve(modular_sum(8, "0.2", "0.8"), gap=3e-3, time_limit=None, node_limit=2000)
    lines = words(result)
    assert result.termination is dl.answers.Termination.GAP_REACHED
    assert lines["row"] <= HEAD_ROOM * 890
    assert (lines["chamber"], lines["as"]) == (7, 7)


def test_orbits_of_boxes_near_full_entropy(counted_time):
    """Where letters are split into strong and weak copies. Without them 10,000 leaves left 0.55 %."""
    result = dl.solve(modular_sum(3, "0.6", "0.97"), gap=5e-3, time_limit=None, node_limit=2000)
    lines = words(result)
    assert result.termination is dl.answers.Termination.GAP_REACHED
    assert (lines["orbit"], lines["joint"]) == (1, 2)
    assert lines["row"] <= HEAD_ROOM * 600


def test_a_letter_that_is_the_mirror_image_of_another():
    """A count's letters 0 and 1 share a row tree."""
    result = dl.solve(dl.load("count/geometric-n4"), gap=3e-3, time_limit=None, node_limit=2000)
    lines = words(result)
    assert result.termination is dl.answers.Termination.GAP_REACHED
    assert lines["as"] == 1
    assert lines["row"] <= HEAD_ROOM * 510


def test_a_half_of_the_posterior(monkeypatch):
    """A mirror image fixes the middle output of a count of 4 bits, and exchanges its letters."""
    question = support.problem(dl.Records(4, alphabet=2), dl.Count(), dl.geometric(1), "0.5 max")
    half = dl.solve(question, gap=1e-3, time_limit=None)
    curve = dl.solve(question, gap=1e-2, time_limit=None, curve=True)
    monkeypatch.setattr(PosteriorHalf, "of", lambda *_: None)
    whole = dl.solve(question, gap=1e-3, time_limit=None)
    assert words(half)["orbit-split"] == 1
    assert words(half)["joint"] <= HEAD_ROOM * 87
    assert words(whole)["joint"] >= 1.7 * words(half)["joint"]
    assert words(curve)["orbit-split"] == 1
    assert curve.certificate.header.curve is not None
    assert len(curve.certificate.header.curve.above) == 1, "the part that is empty adds no line"
    assert half.lower <= whole.upper
    assert whole.lower <= half.upper


@pytest.mark.parametrize("size", [2, 3])
def test_nothing_is_lost_without_them(size, monkeypatch):
    """The same intervals with more leaves."""

    def nothing(problem, record):
        counts = exact_counts(problem.query_of_inputs, problem.records, record.record)
        letters = range(record.letters)
        return RecordSymmetries((), ((),) * record.letters, tuple(counts.index(counts[a]) for a in letters))

    question = modular_sum(size, "0.2", "0.8")
    shared = dl.solve(question, gap=1e-3, time_limit=None)
    monkeypatch.setattr(RecordSymmetries, "of", nothing)
    alone = dl.solve(question, gap=1e-3, time_limit=None)
    assert shared.lower == pytest.approx(alone.lower, rel=1e-9)
    assert np.isclose(shared.upper, alone.upper, rtol=1e-3)
    assert words(shared)["row"] < words(alone)["row"]
    assert words(alone)["chamber"] == 0


@pytest.mark.thorough
def test_a_tree_that_has_lost_its_multiplier_begins_anew(counted_time):
    """A designed mechanism whose worst priors use one class a letter, nearly: with multipliers near 0, where row leaves know of no
    other, 4,000 of them left 0.48 %."""
    rows = [["0.3049", "0.3179", "0.3401", "0.0371"], ["0.0137", "0.8317", "0.14", "0.0146"]]
    squares = dl.Table([sum(x * x for x in dataset) % 4 for dataset in product(range(4), repeat=3)])
    problem = support.problem(
        dl.Records(3, alphabet=4), squares, dl.Channel([*rows, *(row[::-1] for row in reversed(rows))]), "0.8 max"
    )
    result = dl.solve(problem, gap=1e-3, time_limit=None, node_limit=2000)
    assert result.termination is dl.answers.Termination.GAP_REACHED
