"""Measurements and pipelines of OpenDP, from texts and from objects that say how they were made."""

import json
from fractions import Fraction
from types import SimpleNamespace

import pytest

import dalenius as dl
import support
from campaigns import each
from support import refuses


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
    (made(("make_mean", {}), domain=NUMBERS), ["make_count_by_categories", "got 'make_mean'"]),
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
    (opendp_text("make_gaussian", input_domain=COUNTED, scale=2.5, k=None), dl.discrete_gaussian(scale="5/2")),
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
    (opendp_text("make_composition", measurements=[]), "make_laplace, make_geometric, make_gaussian"),
    (opendp_text("make_gaussian", input_domain=ATOM, scale=2.0, k=-3), "without k"),
    ('{"__function__": "make_laplace", "__kwargs__": {"scale": 1e999}}', "make_laplace is known on one number"),
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


SIZED = {"__function__": "vector_domain", "__kwargs__": {"atom_domain": ATOM, "size": 40}}
LIMITED = {**ATOM, "__kwargs__": {"bounds": {"__tuple__": [1, 3]}, "T": "i32"}}
BOUNDED = {"__function__": "vector_domain", "__kwargs__": {"atom_domain": LIMITED, "size": None}}
CATEGORIES = ("make_count_by_categories", {"categories": ["a", "b"], "null_category": True, "TOA": "i32"})


def in_context(domain):
    """The domain of a Context's data, as its queries have it."""
    inside = {"__function__": "make_adaptive_composition", "__kwargs__": {"input_domain": domain, "d_in": 1}}
    return {"__function__": "measurement_input_domain", "__kwargs__": {"this": inside}}


def pipeline(domain, people, noise="make_laplace"):
    return dl.from_opendp(opendp_text(noise, input_domain=domain, scale=2.0), people=people)


@each(
    "domain, query, letters",
    (made(CLAMPED, ("make_sum", {}), domain=NUMBERS), dl.Sum(), range(11)),
    (made(CLAMPED, ("make_sum", {}), domain=SIZED), dl.Sum(), range(11)),
    (made(("make_sum", {}), domain=BOUNDED), dl.Sum(), range(4)),
    (
        made(("make_clamp", {"bounds": {"__tuple__": [-2, -1]}}), ("make_sum", {}), domain=NUMBERS),
        dl.Sum([-2, -1, 0]),
        (-2, -1, 0),
    ),
    (made(("make_clamp", {"bounds": {"__tuple__": [1, 2]}}), ("make_sum", {}), domain=SIZED), dl.Sum([1, 2]), (1, 2)),
    (
        made(("make_cast", {"TOA": "i32"}), ("make_drop_null", {}), CLAMPED, ("make_sum", {}), domain=SIZED),
        dl.Sum(),
        range(11),
    ),
    (made(CLAMPED, ("make_sum", {}), domain=in_context(NUMBERS)), dl.Sum(), range(11)),
    (made(("make_count", {"TO": "i32"}), domain=TEXTS), dl.Count(), ("not counted", "counted")),
    (made(CATEGORIES, domain=TEXTS), dl.Histogram(), ("a", "b", "any other category")),
)
def test_a_pipeline_says_what_a_person_adds(domain, query, letters):
    found = pipeline(domain, people=40)
    assert found.query == query
    assert found.records == dl.Records(40, alphabet=len(letters))
    assert found.records.letters == tuple(map(str, letters))
    assert found.mechanism == dl.discrete_laplace(scale=2)
    assert pipeline(domain, 40, "make_gaussian").mechanism == dl.discrete_gaussian(scale=2)


def test_randomised_response_is_of_one_person():
    found = dl.from_opendp(opendp_text("make_randomized_response", categories=["a", "b", "c"], prob=0.5), people=1)
    assert (found.query, found.records.letters) == (dl.Identity(), ("a", "b", "c"))
    bit = opendp_text("make_randomized_response_bool", prob=0.75)
    assert dl.from_opendp(bit, people=1).records.letters == ("false", "true")
    support.refused(lambda: dl.from_opendp(bit, people=5), "one person's own answer")


test_other_pipelines_are_refused = refuses(
    (made(CLAMPED, ("make_sum", {}), domain=SIZED), 50, "has 40 rows; got 50"),
    (made(("make_sum", {}), domain=NUMBERS), 5, "clamped (make_clamp) just before; got None"),
    (made(("make_count", {"TO": "i32"}), domain=SIZED), 40, "their count is public"),
    (
        made(("make_count_distinct", {"TO": "i32"}), domain=TEXTS),
        5,
        ["clamped sums and counts", "got 'make_count_distinct'"],
    ),
    (
        made(CLAMPED, ("make_resize", {"size": 9}), ("make_sum", {}), domain=NUMBERS),
        5,
        ["make_clamp", "got 'make_resize'"],
    ),
    (made((CATEGORIES[0], {**CATEGORIES[1], "null_category": False}), domain=TEXTS), 5, "with null_category"),
    (ATOM, 5, "got 'atom_domain'"),
    (made(CLAMPED, ("make_sum", {}), domain=NUMBERS), 0, "records: count"),
    *(
        (made(("make_clamp", {"bounds": {"__tuple__": ends}}), ("make_sum", {}), domain=NUMBERS), 5, "at most 10000")
        for ends in ([0, 10**12], [0, 10**4], [3, 2])
    ),
    by=pipeline,
)


def object_of(tree):
    """The object that OpenDP has for a tree: what made it, and no more."""
    if isinstance(tree, dict) and "__tuple__" in tree:
        return tuple(tree["__tuple__"])
    if not isinstance(tree, dict) or "__function__" not in tree:
        return tree
    told = {**tree, "__kwargs__": {key: object_of(value) for key, value in tree["__kwargs__"].items()}}
    return SimpleNamespace(__opendp_dict__=told)


def test_objects_are_read_without_opendp():
    """As of counts by category, which OpenDP 0.13 to 0.16 cannot serialize; and what else is no text there."""
    text = opendp_text("make_laplace", input_domain=made(CATEGORIES, domain=TEXTS), scale=2.5)
    measured = object_of(json.loads(text))
    measured.__opendp_dict__["__kwargs__"] |= {"input_metric": object(), "MO": object()}
    assert dl.from_opendp(measured, people=9).mechanism == dl.discrete_laplace(scale="5/2")
    assert dl.from_opendp(SimpleNamespace(resolve=lambda: measured)) == dl.discrete_laplace(scale="5/2")
    support.refused(lambda: dl.from_opendp(SimpleNamespace(resolve=lambda: 1 / 0)), "OpenDP cannot resolve the query")
    wrapped = {"__function__": "make_pureDP_to_zCDP", "__kwargs__": {"measurement": json.loads(text)}}
    assert dl.from_opendp(json.dumps(wrapped)) == dl.discrete_laplace(scale="5/2")


def test_opendp_itself():
    """Where it is installed: pipelines and a query of a Context, built, read and audited."""
    dp = pytest.importorskip("opendp.prelude", reason="needs opendp: pip install opendp")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=bool)), dp.symmetric_distance()
    assert dl.from_opendp(space >> dp.t.then_count() >> dp.m.then_laplace(scale=2.0)) == dl.discrete_laplace(scale=2)
    assert dl.from_opendp(dp.m.make_randomized_response_bool(prob=0.75)) == dl.symmetric(0.25, k=2)
    texts = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    cells = dl.from_opendp(texts >> dp.t.then_count_by_categories(["a", "b"]) >> dp.m.then_laplace(2.0), people=9)
    assert (cells.query, len(cells.records.letters)) == (dl.Histogram(), 3)
    context = dp.Context.compositor(
        data=[1, 2, 3],
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=2,
        domain=dp.vector_domain(dp.atom_domain(T=int)),
    )
    found = dl.from_opendp(context.query().clamp((0, 10)).sum().laplace(), people=3)
    assert (found.query, found.mechanism) == (dl.Sum(), dl.discrete_laplace(scale=20))
    support.refused(lambda: dl.from_opendp(5), "expected a measurement of OpenDP")
