"""Tables, probability mass functions and other packages' mechanisms, as records and mechanisms."""

import json
from fractions import Fraction
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
    ({"table": TABLE | {"home": ["a", None, "a", "a", "a"]}}, "no home"),
    ({"table": TABLE | {"home": ["a", float("nan"), "a", "a", "a"]}}, "no home"),
    ({"table": TABLE | {"home": ["a", [1], "a", "a", "a"]}}, "column 'home': expected texts.*got a list"),
    ({"table": TABLE | {"home": [1, True, 1, 2, 3]}}, "column 'home'.*got both"),
    ({"table": TABLE | {"vote": ["yes", None, "no", None, "no"]}}, "2 of 5 rows have no vote; leave"),
    ({"table": TABLE | {"vote": ["yes", float("nan"), "no", "no", "no"]}}, "1 of 5 rows have no vote"),
    ({"table": TABLE | {"vote": ["yes", ["no"], "no", "no", "no"]}}, "column 'vote': expected texts.*got a list"),
    ({"table": TABLE | {"vote": [1, True, 0, 0, 0]}}, "column 'vote'.*got both"),
    ({"table": TABLE | {"vote": [1, np.True_, 0, 0, 0]}}, "column 'vote'.*got both"),
    ({"letters": ["no", ["yes"]]}, "letters: expected texts.*got a list"),
    ({"letters": ["no", "yes", None]}, "letters: expected answers, got a missing value"),
    ({"letters": ["no"]}, "none of the 1 letters"),
    ({"letters": ["no", "no"]}, "different answers"),
    ({"table": 5}, "expected a column"),
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


test_other_mechanisms_are_refused = refuses(
    (like("Laplace", epsilon=1), "Laplace"),
    (like("Geometric", epsilon=1, delta=0.1), "delta"),
    (like("Geometric", epsilon=1), "no sensitivity"),
    (like("Geometric", epsilon=1, sensitivity=0), "above 0"),
    (like("GeometricTruncated", epsilon=1, sensitivity=1, lower=0.5, upper=8), "whole numbers"),
    (5, "got int"),
    by=dl.from_diffprivlib,
)


def opendp_text(name, **arguments):
    return json.dumps(
        {"__function__": name, "__module__": "measurements", "__kwargs__": arguments, "__version__": "0.16.0"}
    )


ATOM = {"__function__": "atom_domain", "__kwargs__": {"bounds": None, "nan": None, "T": "i32"}}
COUNTED = {
    "__function__": "transformation_output_domain",
    "__kwargs__": {"this": {"__function__": "make_count", "__kwargs__": {"input_domain": ATOM, "TO": "i32"}}},
}


def made(*functions, domain=ATOM):
    """A pipeline of transformations as OpenDP 0.16 writes it down, and the domain of what it makes."""
    for name, arguments in functions:
        made_of = {"__function__": name, "__kwargs__": {"input_domain": domain, **arguments}}
        if domain.get("__function__") == "transformation_output_domain":
            both = {"transformation1": made_of, "transformation0": domain["__kwargs__"]["this"]}
            made_of = {"__function__": "make_chain_tt", "__kwargs__": both}
        domain = {"__function__": "transformation_output_domain", "__kwargs__": {"this": made_of}}
    return domain


NUMBERS = {"__function__": "vector_domain", "__kwargs__": {"atom_domain": ATOM, "size": None}}
TEXTS = {"__function__": "vector_domain", "__kwargs__": {"atom_domain": {**ATOM, "__kwargs__": {"T": "String"}}}}
CLAMPED = ("make_clamp", {"bounds": {"__tuple__": [0, 10]}})


@each(
    "domain",
    made(CLAMPED, ("make_sum", {}), domain=NUMBERS),
    made(("make_sum", {}), domain=NUMBERS),
    made(("make_count", {"TO": "i32"}), domain=TEXTS),
    made(("make_cast_default", {"TOA": "i32"}), CLAMPED, ("make_sum", {}), domain=TEXTS),
)
def test_counts_and_sums_of_pipelines_are_whole_numbers(domain):
    assert dl.from_opendp(opendp_text("make_laplace", input_domain=domain, scale=2.0)) == dl.discrete_laplace(scale=2)


test_what_is_no_whole_number_is_called_that = refuses(
    (NUMBERS, ["one number", "vector_domain", "noise of their own"]),
    (made(CLAMPED, domain=NUMBERS), ["one number", "make_clamp"]),
    (made(("make_count_by_categories", {"TOA": "i32"}), domain=NUMBERS), "make_count_by_categories"),
    (made(CLAMPED, ("make_sum", {}), domain=TEXTS), ["whole numbers", "String"]),
    by=lambda domain: dl.from_opendp(opendp_text("make_laplace", input_domain=domain, scale=2.0)),
)


@each(
    "text, mechanism",
    (opendp_text("make_laplace", input_domain=ATOM, scale=2.0, k=None), dl.discrete_laplace(scale=2)),
    (opendp_text("make_geometric", input_domain=COUNTED, scale=0.5, bounds=None), dl.discrete_laplace(scale=0.5)),
    (
        opendp_text("make_geometric", input_domain=ATOM, scale=2.0, bounds={"__tuple__": [0, 10]}),
        dl.geometric(0.5, range=10),
    ),
    (opendp_text("make_randomized_response_bool", prob=0.75), dl.symmetric(0.25, k=2)),
    (opendp_text("make_randomized_response", categories=["a", "b", "c"], prob=0.5), dl.symmetric(0.5, k=3)),
)
def test_measurements_of_opendp_are_read_from_their_constructors(text, mechanism):
    assert dl.from_opendp(text) == mechanism
    chain = {"__function__": "make_chain_mt", "__kwargs__": {"measurement1": json.loads(text), "transformation0": {}}}
    assert dl.from_opendp(json.dumps(chain)) == mechanism


def test_numbers_of_opendp_are_the_doubles_that_they_are():
    noise = dl.from_opendp(opendp_text("make_laplace", input_domain=ATOM, scale=0.1, k=None))
    assert noise.scale == Fraction(0.1) != Fraction(1, 10)


test_other_measurements_are_refused = refuses(
    (opendp_text("make_gaussian", input_domain=ATOM, scale=2.0), "make_laplace, make_geometric"),
    (opendp_text("make_laplace", input_domain={**ATOM, "__kwargs__": {"T": "f64"}}, scale=2.0), "whole numbers"),
    (opendp_text("make_laplace", input_domain=ATOM, scale=2.0, k=-3), "without k"),
    (opendp_text("make_laplace", input_domain=ATOM), "no scale"),
    (opendp_text("make_randomized_response_bool", prob=1.75), "prob is a probability"),
    (opendp_text("make_laplace", input_domain=ATOM, scale=0.0), "no noise"),
    (opendp_text("make_laplace", scale=1.0), "one number"),
    (json.dumps({"__function__": "make_chain_mt", "__kwargs__": {}}), "no measurement1"),
    ("[]", "JSON object"),
    ("no JSON", "no JSON"),
    (json.dumps({}), "got None"),
    by=dl.from_opendp,
)


def test_opendp_itself():
    """Where it is installed: a count of rows, noise on it, serialized and read."""
    dp = pytest.importorskip("opendp.prelude", reason="needs opendp: pip install opendp")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=bool)), dp.symmetric_distance()
    assert dl.from_opendp(space >> dp.t.then_count() >> dp.m.then_laplace(scale=2.0)) == dl.discrete_laplace(scale=2)
    assert dl.from_opendp(dp.m.make_randomized_response_bool(prob=0.75)) == dl.symmetric(0.25, k=2)
    with pytest.raises(dl.errors.InputError, match="make_gaussian"):
        dl.from_opendp(dp.m.make_gaussian(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=2.0))
    support.refused(lambda: dl.from_opendp(5), "expected a JSON object")
