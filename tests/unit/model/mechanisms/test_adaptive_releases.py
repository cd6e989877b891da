"""Trees of releases: channels, exact numbers, model files, and what is refused before it takes memory."""

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.model.model_file import loads
from dalenius.model.schema import model_schema

LOOK = dl.symmetric("0.1")


def audit(query, mechanism, records=None, adversary=None):
    return support.problem(records or dl.Records(3, alphabet=2), query, mechanism, adversary or dl.AnyPrior())


def test_stages_of_a_joint_query_are_on_their_own_query():
    """A count first; where it says 3, the parity too."""
    query = dl.Joint(dl.Count(), dl.Parity())
    tree = dl.adaptive(dl.geometric(1), then=[None, None, None, dl.adaptive(dl.symmetric("0.2"), on=1)])
    problem = audit(query, tree)
    counts = dl.geometric(1).channel(np.arange(4))
    parities = dl.symmetric("0.2").channel(np.arange(2))[[0, 1, 0, 1]]
    np.testing.assert_allclose(problem.channel, np.hstack([counts[:, :3], counts[:, 3:] * parities]), atol=1e-15)
    assert problem.mechanism.output_labels(np.arange(4))[2:] == ["2", "3; 0", "3; 1"]
    assert loads(dl.dumps(problem)) == problem


def test_alike_paths_are_one_output():
    tree = dl.adaptive(LOOK, then=[dl.adaptive(LOOK, then=[None, LOOK]), dl.adaptive(LOOK, then=[LOOK, None])])
    problem = audit(dl.Parity(), tree)
    assert tree.output_labels(np.arange(2)) == ["0; 0", "0; 1; 0, in any order", "0; 1; 1, in any order", "1; 1"]
    np.testing.assert_allclose(problem.channel[0], [0.81, 2 * 0.9 * 0.9 * 0.1, 2 * 0.9 * 0.1 * 0.1, 0.01], atol=1e-15)
    index = problem.alike
    assert (index[0] == index[1, ::-1]).all()
    assert len(set(index[0].tolist())) == 4


def test_equal_numbers_are_told_whatever_they_were_made_of():
    """In balls, too: the product of the same two entries is one number in whatever order they come."""
    tree = dl.adaptive(dl.randomized_response(1), then=[dl.geometric(1), dl.geometric(1)])
    index = audit(dl.Parity(), tree).alike
    assert (index == index[::-1, ::-1]).all()


def test_a_tree_out_of_a_model_file_may_leave_out_what_follows():
    text = """
problem = "maximal_leakage"
records = { count = 3, alphabet = 2 }
query = { kind = "parity" }
adversary = { entropy_at_least = 0 }

[mechanism]
kind = "adaptive"
mechanism = { kind = "symmetric", flip = 0.1 }
then = [{}, { mechanism = { kind = "symmetric", flip = 0.1 }, then = [{}, {}] }]
"""
    assert loads(text).mechanism == dl.adaptive(LOOK, then=[None, dl.adaptive(LOOK, then=[None, None])])
    stage = model_schema()["definitions"]["stage"]["anyOf"]
    assert [sorted(one["properties"]) for one in stage] == [[], ["mechanism", "on", "then"]]


def test_households_see_the_rows_of_their_own_values():
    """Of matrices every total of the others is a piece with its rows; of a threshold, what is left of it."""
    rows = dl.Channel([["1/2", "1/2"], ["1/3", "2/3"], ["1/4", "3/4"], [0, 1]])
    tree = dl.adaptive(rows, then=[None, rows])
    whole = tree.channel(np.arange(4))
    pieces = audit(dl.Count(), tree, adversary=dl.IndependentBlocks(2), records=dl.Records(3, alphabet=2)).pieces
    for piece, question in pieces:
        start, size = piece.total, len(piece.records)
        np.testing.assert_allclose(question.channel, whole[start : start + size + 1], atol=1e-15)
    looks = dl.adaptive(LOOK, then=[None, LOOK])
    left = audit(dl.Threshold(2), looks, adversary=dl.IndependentBlocks(1)).pieces
    assert [(piece.total, piece.query, piece.mechanism) for piece, _ in left] == [(1, dl.Threshold(1), looks)]


def deep(depth):
    tree = dl.adaptive(LOOK)
    for _ in range(depth - 1):
        tree = dl.adaptive(LOOK, then=[None, tree])
    return tree


def wide():
    """A shared part: few objects, 2^17 stages when it is written out."""
    tree = LOOK
    for _ in range(16):
        tree = dl.adaptive(LOOK, then=[tree, tree])
    return tree


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: deep(17), "at most 16 stages deep, got 17"),
        (lambda: wide(), "at most 16 stages deep, got 17|at most 65536 stages"),
        (lambda: dl.adaptive(LOOK, then=[deep(15)] * 5000), "at most 65536 stages, got 75001"),
        (lambda: audit(dl.Parity(), dl.adaptive(LOOK, then=[LOOK])), "one entry for each of 2 outputs, got 1"),
        (
            lambda: audit(
                dl.Count(), dl.adaptive(dl.geometric(1, range=999), then=[dl.geometric(1, range=999)] * 1000)
            ),
            "at most 262144 paths, got 1000000",
        ),
        (
            lambda: audit(
                dl.Count(),
                dl.adaptive(dl.geometric(1), then=[dl.geometric(1)] * 400),
                records=dl.Records(399, alphabet=2),
            ),
            "more than 16777216 entries",
        ),
        (lambda: dl.adaptive(dl.subset_selection(1, size=1)), "adaptive knows matrix, "),
        (lambda: dl.adaptive(dl.gaussian(1)), "adaptive knows matrix, "),
        (lambda: dl.adaptive(dl.Channel([[1]], inputs="dataset")), "rows are the query's values"),
        (lambda: audit(dl.Parity(), dl.adaptive(LOOK, on=1)), "a part is on query 1, but there are 1"),
        (
            lambda: audit(dl.Count(), dl.adaptive(dl.geometric(1)), adversary=dl.IndependentBlocks(1)),
            "adaptive with matrices",
        ),
    ],
)
def test_what_is_refused(made, message):
    with pytest.raises(dl.errors.InputError, match=message):
        made()


@each(
    "table, message",
    (
        "{ kind = 'adaptive', mechanism = { kind = 'symmetric', flip = 0.1 }, then = [1, {}] }",
        "expected a table, empty",
    ),
    ("{ kind = 'adaptive', then = [{}, {}] }", "missing mechanism"),
    ("{ kind = 'adaptive', mechanism = { kind = 'adaptive' } }", "kind must be one of"),
    ("{ kind = 'adaptive', mechanism = { kind = 'symmetric', flip = 0.1, times = 2 } }", "unknown key 'times'"),
)
def test_what_a_file_must_say(table, message):
    text = f"""
problem = "maximal_leakage"
records = {{ count = 3, alphabet = 2 }}
query = {{ kind = "parity" }}
adversary = {{ entropy_at_least = 0 }}
mechanism = {table}
"""
    with pytest.raises(dl.errors.InputError, match=message):
        loads(text)
