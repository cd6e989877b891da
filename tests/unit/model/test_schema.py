"""The JSON schema of model files says what the loader says."""

import copy
import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

import dalenius as dl
from campaigns import each, thinned
from dalenius.catalogue.models import library, library_folder
from dalenius.model.adversaries import ADVERSARIES
from dalenius.model.constraints import CONSTRAINTS
from dalenius.model.distortions import DISTORTIONS
from dalenius.model.laws import LAWS
from dalenius.model.mechanisms import MECHANISMS
from dalenius.model.model_file import SPELLINGS
from dalenius.model.objectives import TERMS
from dalenius.model.privacy import NOTIONS
from dalenius.model.queries import QUERIES
from dalenius.model.schema import model_schema
from dalenius.model.shelf import read_shelved

MODELS = sorted(library_folder().glob("*/*.toml"))
BY_LENGTH = sorted(MODELS, key=lambda path: (path.stat().st_size, path))  # the longest take seconds, and are not daily


@pytest.fixture(scope="module")
def schema():
    return Draft7Validator(model_schema())


def tables(value, path=()):
    """Every table of a model, with the way to it."""
    if isinstance(value, dict):
        yield path, value
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        if isinstance(member, dict) or (isinstance(member, list) and any(isinstance(m, dict) for m in member)):
            yield from tables(member, (*path, key))


def changed(model, path, change):
    """A copy in which a table is changed."""
    model = copy.deepcopy(model)
    table = model
    for key in path:
        table = table[key]
    change(table)
    return model


def complaint(model, folder):
    """What the loader says; None if it reads the model."""
    try:
        SPELLINGS[model["problem"]].from_model(model, folder)
    except dl.errors.InputError as error:
        return str(error)
    return None


def test_it_is_a_schema():
    Draft7Validator.check_schema(model_schema())


def test_a_model_of_every_kind_fits(schema):
    """Every day; all models of the library in the whole campaign."""
    for name in (model.name for model in library("minimal")):
        model = tomllib.loads((library_folder() / f"{name}.toml").read_text(encoding="utf-8"))
        assert [error.message for error in schema.iter_errors(model)] == [], name


@pytest.mark.parametrize("path", thinned(BY_LENGTH, every=21), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_library_models_fit_and_what_is_unknown_is_refused_by_both(schema, path):
    model = tomllib.loads(path.read_text())
    assert [error.message for error in schema.iter_errors(model)] == []
    for where, table in tables(model):
        unknown = changed(model, where, lambda table: table.update(unheard_of=1))
        assert not schema.is_valid(unknown), where
        assert "unknown key 'unheard_of'" in complaint(unknown, path.parent), where
        if "kind" in table:
            other = changed(model, where, lambda table: table.update(kind="unheard_of"))
            assert not schema.is_valid(other), where
            assert re.search("kind must be one of|or a kind, not both", complaint(other, path.parent)), where


@pytest.mark.parametrize("path", thinned(MODELS, every=28), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_keys_that_the_loader_misses_it_misses_too_and_no_others(schema, path):
    model = tomllib.loads(path.read_text())
    for where, table in tables(model):
        for key in table:
            without = changed(model, where, lambda table, key=key: table.pop(key))
            said = complaint(without, path.parent) if "problem" in without else "missing problem"
            if said is None:
                assert schema.is_valid(without), (where, key)
            elif "missing" in said or "expected a table" in said:
                assert not schema.is_valid(without), (where, key, said)


def test_every_shelf_is_in_it(schema):
    """Whatever kind the loader lists in its message the schema has, with the keys that its message about unknown keys lists."""
    shelves = {
        "query": QUERIES,
        "mechanism": MECHANISMS,
        "adversary": ADVERSARIES,
        "constraint": CONSTRAINTS,
        "distortion": DISTORTIONS,
        "law": LAWS,
        "privacy": NOTIONS,
        "term": TERMS,
    }
    for name, shelf in shelves.items():
        kinds = {
            branch["properties"]["kind"]["const"]: {*branch["properties"]} - {"kind"}
            for branch in schema.schema["definitions"][name]["oneOf"]
            if "kind" in branch["properties"]
        }
        assert {*shelf} == {*kinds} - {"csv"}
        for kind, keys in kinds.items():
            if kind != "csv":
                with pytest.raises(dl.errors.InputError, match="unknown key") as refused:
                    read_shelved(shelf, {"kind": kind, "unheard_of": 1}, name)
                listed = str(refused.value).split("expected ", 1)[1].split(" (did you")[0]
                assert keys == ({*listed.split(", ")} - {"no keys"})


@each(
    "table, valid",
    ({"kind": "geometric", "epsilon": 0.5, "range": 3}, True),
    ({"kind": "geometric", "epsilon": "1/2", "range": [0, 3]}, True),
    ({"kind": "geometric", "epsilon": True}, False),
    ({"kind": "geometric", "epsilon": "log 3"}, False),
    ({"kind": "geometric", "epsilon": 0.5, "range": [0, 3, 4]}, False),
    ({"kind": "local_hashing", "epsilon": "log 3", "buckets": 2}, True),
    ({"kind": "local_hashing", "epsilon": "log 3", "buckets": 2.5}, False),
    ({"kind": "matrix", "rows": [[1, "1/3"]], "inputs": "datasets"}, False),
)
def test_types(schema, table, valid):
    model = tomllib.loads((Path(library_folder()) / "count/independent-n8.toml").read_text())
    assert schema.is_valid(model | {"mechanism": table}) is valid


@each(
    "table, valid",
    ({"kind": "band", "width": "3/2"}, True),
    ({"kind": "band", "width": "2 bits"}, False),
    ({"kind": "error", "at_most": "log 2"}, False),
    ({"kind": "leakage", "at_most": "2 bits", "adversary": {"kind": "product_priors"}}, True),
    ({"kind": "local_dp_delta", "epsilon": "log 2", "at_most": "0.1"}, True),
    ({"kind": "local_dp_delta", "epsilon": "log 2", "at_most": "0.1 bits"}, False),
)
def test_a_number_without_unit_has_none_in_limits(schema, table, valid):
    model = tomllib.loads((Path(library_folder()) / "design/count-n6-local-dp.toml").read_text())
    assert schema.is_valid(model | {"constraints": [table]}) is valid
