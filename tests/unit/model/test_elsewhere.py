"""Tables, probability mass functions and other packages' mechanisms, as records and mechanisms."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import dalenius as dl

TABLE = {"home": ["b", "a", "b", "c", "b"], "vote": ["no", "yes", "no", "no", "yes"]}


def test_a_table_becomes_households_one_after_the_other():
    people = dl.from_frame(TABLE, answer="vote", household="home", entropy_at_least="0.5 max")
    assert (people.letters, people.dataset) == (("no", "yes"), (0, 0, 1, 1, 0))
    assert people.blocks == dl.IndependentBlocks(sizes=[3, 1, 1], entropy_at_least="0.5 max")
    assert people.blocks == dl.IndependentBlocks.of_column(TABLE["home"], entropy_at_least="0.5 max")
    question = dl.MaximalLeakage(
        records=people.records, query=dl.Count(), mechanism=dl.geometric(1), adversary=people.blocks
    )
    assert question.query.value(people.records, people.dataset) == 2


def test_a_pandas_frame_is_a_table():
    pandas = pytest.importorskip("pandas")
    people = dl.from_frame(pandas.DataFrame(TABLE), answer="vote", household="home", letters=["yes", "no", "unknown"])
    assert people.records == dl.Records(5, alphabet=3)
    assert people.dataset == (1, 1, 0, 0, 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"household": "house"}, "expected a column 'house'"),
        ({"table": {"home": [], "vote": []}}, "empty"),
        ({"table": TABLE | {"home": ["a"]}}, "5 and 1 rows"),
        ({"table": TABLE | {"home": ["a", None, "a", "a", "a"]}}, "no home"),
        ({"table": TABLE | {"home": ["a", float("nan"), "a", "a", "a"]}}, "no home"),
        ({"letters": ["no"]}, "none of the 1 letters"),
        ({"letters": ["no", "no"]}, "different answers"),
        ({"table": 5}, "expected a column"),
    ],
)
def test_tables_that_do_not_fit(arguments, words):
    with pytest.raises(dl.InputError, match=words) as caught:
        dl.from_frame(**{"table": TABLE, "answer": "vote", "household": "home"} | arguments)
    assert "yes" not in str(caught.value), "no message repeats an answer"


def test_mass_functions_share_their_outputs():
    mechanism = dl.from_pmfs([{"a": "1/3", "b": "2/3"}, {"c": 1}])
    assert mechanism == dl.Channel([["1/3", "2/3", 0], [0, 0, 1]])
    for wrong in ([], [[0.5, 0.5]], [{"a": 0.5}], [{"a": 1.5, "b": -0.5}]):
        with pytest.raises(dl.InputError, match="mechanism"):
            dl.from_pmfs(wrong)


def like(name, **attributes):
    """An object as diffprivlib has it."""
    return type(name, (SimpleNamespace,), {})(**attributes)


def test_mechanisms_of_diffprivlib_are_read_from_their_attributes():
    noise = dl.from_diffprivlib(like("Geometric", epsilon=1.5, sensitivity=3, delta=0.0))
    assert noise == dl.discrete_laplace(0.5)
    cut = dl.from_diffprivlib(like("GeometricTruncated", epsilon=0.5, sensitivity=1, delta=0.0, lower=0, upper=8))
    assert cut == dl.geometric(0.5, range=8)
    bit = dl.from_diffprivlib(like("Binary", epsilon=1, delta=0.0, value0="no", value1="yes"))
    np.testing.assert_allclose(bit.channel(np.arange(2))[0, 0], np.e / (1 + np.e))


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (like("Laplace", epsilon=1), "Laplace"),
        (like("Geometric", epsilon=1, delta=0.1), "delta"),
        (like("Geometric", epsilon=1), "no sensitivity"),
        (like("Geometric", epsilon=1, sensitivity=0), "above 0"),
        (like("GeometricTruncated", epsilon=1, sensitivity=1, lower=0.5, upper=8), "whole numbers"),
        (5, "got int"),
    ],
)
def test_other_mechanisms_are_refused(mechanism, words):
    with pytest.raises(dl.InputError, match=words):
        dl.from_diffprivlib(mechanism)
