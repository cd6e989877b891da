"""Tables, probability mass functions and other packages' mechanisms, as records and mechanisms."""

from types import SimpleNamespace

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from support import refuses

TABLE = {"home": ["b", "a", "b", "c", "b"], "vote": ["no", "yes", "no", "no", "yes"]}


def test_a_table_becomes_households_one_after_the_other():
    people = dl.from_frame(TABLE, answer="vote", household="home", entropy_at_least="0.5 max")
    assert (people.letters, people.dataset) == (("no", "yes"), (0, 0, 1, 1, 0))
    assert people.blocks == dl.IndependentBlocks(sizes=[3, 1, 1], entropy_at_least="0.5 max")
    assert people.blocks == dl.IndependentBlocks.of_column(TABLE["home"], entropy_at_least="0.5 max")
    question = support.problem(people.records, dl.Count(), dl.geometric(1), people.blocks)
    assert question.query.value(people.records, people.dataset) == 2


def test_several_columns_are_combinations_of_their_answers():
    read = {**TABLE, "sex": ["f", "f", "m", "f", "m"]}
    people = dl.from_frame(read, answer=["vote", "sex"], household="home", letters={"sex": ["f", "m", "x"]})
    assert (people.attributes, people.answer, people.records.alphabets) == ((2, 3), "vote, sex", (6,) * 5)
    assert people.letters[3:5] == (("yes", "f"), ("yes", "m"))
    assert people.dataset == (0, 1, 4, 3, 0)
    assert people.records.letters[4] == "yes, m"


def test_letters_that_occur_are_sorted_by_size():
    ages = {"home": [1, 2, 3, 4], "age": [100, 9, 20, 9]}
    assert dl.from_frame(ages, answer="age", household="home").letters == (9, 20, 100)


test_a_column_of_households_says_who_lives_where = refuses(
    (["a", None, "b"], "1 of 3 rows have no household"),
    ([["a"]], "got a list"),
    ([1, True], "got both"),
    by=dl.IndependentBlocks.of_column,
)


def test_a_pandas_frame_is_a_table():
    pandas = pytest.importorskip("pandas")
    people = dl.from_frame(pandas.DataFrame(TABLE), answer="vote", household="home", letters=["yes", "no", "unknown"])
    assert people.records == dl.Records(5, alphabet=3)
    assert people.dataset == (1, 1, 0, 0, 1)


@each("column", "home", "vote")
@each("missing", "NA", "NaT")
def test_what_pandas_calls_missing_is_refused(column, missing):
    pandas = pytest.importorskip("pandas")
    entries = [1, getattr(pandas, missing), 1, 2, 1]
    typed = pandas.array(entries, dtype="Int64") if missing == "NA" else entries
    with pytest.raises(dl.errors.InputError, match=f"no {column}"):
        dl.from_frame(TABLE | {column: typed}, answer="vote", household="home")


def test_numbers_stand_for_truth_values_where_all_of_a_column_do():
    people = dl.from_frame(
        TABLE | {"vote": [True, False, True, True, True]}, answer="vote", household="home", letters=[0, 1]
    )
    assert people.dataset == (1, 1, 1, 0, 1)


@each(
    "arguments, words",
    ({"household": "house"}, "expected a column 'house'; the table has home, vote"),
    ({"table": {"home": [], "vote": []}}, "empty"),
    ({"table": TABLE | {"home": ["a"]}}, "5 and 1 rows"),
    (
        {"table": TABLE | {"home": ["a", None, "a", "a", "a"]}},
        r"1 of 5 rows \(the first: row 1, counted from 0\) have no home",
    ),
    ({"table": TABLE | {"home": ["a", float("nan"), "a", "a", "a"]}}, "no home"),
    ({"table": TABLE | {"home": ["a", [1], "a", "a", "a"]}}, "column 'home': expected texts.*got a list"),
    ({"table": TABLE | {"home": [1, True, 1, 2, 3]}}, "column 'home'.*got both"),
    (
        {"table": TABLE | {"vote": ["yes", None, "no", None, "no"]}},
        r"2 of 5 rows \(the first: row 1, .* have no vote; leave",
    ),
    ({"table": TABLE | {"vote": ["yes", float("nan"), "no", "no", "no"]}}, r"1 of 5 rows .* have no vote"),
    ({"table": TABLE | {"vote": ["yes", ["no"], "no", "no", "no"]}}, "column 'vote': expected texts.*got a list"),
    ({"table": TABLE | {"vote": [1, True, 0, 0, 0]}}, "column 'vote'.*got both"),
    ({"table": TABLE | {"vote": [1, np.True_, 0, 0, 0]}}, "column 'vote'.*got both"),
    ({"letters": ["no", ["yes"]]}, "letters: expected texts.*got a list"),
    ({"letters": ["no", "yes", None]}, "letters: expected answers, got a missing value"),
    ({"letters": ["no"]}, "none of the 1 letters"),
    ({"letters": ["no", "no"]}, "different answers"),
    ({"table": 5}, "expected a column"),
    ({"answer": []}, "several different ones"),
    ({"answer": ["vote", "vote"]}, "several different ones"),
    ({"answer": ["vote", "home"], "letters": ["no", "ja"]}, "a mapping of each to its answers"),
    ({"letters": {"vote": ["no"], "sex": ["f"]}}, "expected only vote, got 'sex', too"),
)
def test_tables_that_do_not_fit(arguments, words):
    with pytest.raises(dl.errors.InputError, match=words) as caught:
        dl.from_frame(**{"table": TABLE, "answer": "vote", "household": "home"} | arguments)
    assert "yes" not in str(caught.value), "no message repeats an answer"


def test_mass_functions_share_their_outputs():
    assert dl.from_pmfs([{"a": "1/3", "b": "2/3"}, {"c": 1}]) == dl.Channel([["1/3", "2/3", 0], [0, 0, 1]])
    for wrong in ([], [[0.5, 0.5]], [{"a": 0.5}], [{"a": 1.5, "b": -0.5}]):
        with pytest.raises(dl.errors.InputError, match="mechanism"):
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


@each(
    "mechanism, read",
    (like("Laplace", epsilon=0.5, sensitivity=2.0, delta=0.0, _scale=None), dl.laplace(4)),
    (like("Gaussian", epsilon=0.5, delta=1e-5, _scale=np.float64(19.375)), dl.gaussian("19.375")),
    (like("GaussianAnalytic", epsilon=0.5, delta=1e-5, _scale=np.float64(14.25)), dl.gaussian("14.25")),
    (like("GaussianDiscrete", epsilon=0.5, delta=1e-5, _scale=14.0625), dl.discrete_gaussian(scale="14.0625")),
)
def test_noise_of_diffprivlib_has_its_scale(mechanism, read):
    assert dl.from_diffprivlib(mechanism) == read


test_other_mechanisms_are_refused = refuses(
    (like("LaplaceTruncated", epsilon=1), ["GaussianDiscrete", "got LaplaceTruncated"]),
    (like("Gaussian", epsilon=1, delta=0.1), "no _scale"),
    (like("GaussianDiscrete", _scale=0.0), "adds no noise"),
    (like("Geometric", epsilon=1, delta=0.1), "delta"),
    (like("Geometric", epsilon=1), "no sensitivity"),
    (like("Geometric", epsilon=1, sensitivity=0), "above 0"),
    (like("GeometricTruncated", epsilon=1, sensitivity=1, lower=0.5, upper=8), "whole numbers"),
    (5, "got int"),
    by=dl.from_diffprivlib,
)
