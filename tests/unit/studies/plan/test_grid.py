"""Grids: what values are written, and which problem stands at each place."""

import itertools
from fractions import Fraction

import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.model import digest, dumps, loads
from dalenius.studies.plan import axes_of, places, text_of, values_in, with_value
from support import refuses

AUDIT = support.problem(dl.Records(4, alphabet=2), dl.Count(), dl.geometric(1), "2 bits")
DESIGN = support.design(
    dl.MinDistortion,
    dl.Records(3, alphabet=2),
    dl.Count(),
    dl.Absolute(),
    "0.1 bits",
    dl.AnyPrior(),
    constraints=[dl.constraints.ErrorCap(1)],
)


@each(
    "text, expected",
    ("0:1 max:5", ["0 max", "0.25 max", "0.5 max", "0.75 max", "1 max"]),
    ("1:0:4", ["1", "2/3", "1/3", "0"]),
    ("2:10:5", ["2", "4", "6", "8", "10"]),
    ("0.1, 0.3,1", ["0.1", "0.3", "1"]),
    ("log 3,1/2", ["log 3", "1/2"]),
    ('true,"a,b"', ["true", "a,b"]),
)
def test_values_are_exact(text, expected):
    assert [text_of(value) for value in values_in(text, "path")] == expected


@each("text", "", "0:1 max:1", "0:1:x", "a:b:3", "1,,2", '"open', "0:1:1000000")
def test_values_that_are_none(text):
    support.refused(lambda: values_in(text, "path"), "path: ")


@each("text", "1:2", " 0.1 : 1/3 ", "0:1 max")
def test_a_spread_without_its_count(text):
    with pytest.raises(dl.errors.InputError, match=r"path: expected FIRST:LAST:COUNT.*has no COUNT"):
        values_in(text, "path")
    assert values_in(f'"{text}"', "path") == [text.strip()], "what is quoted is a text"


@each(
    "grid, words",
    ({"mechanism..epsilon": [1]}, "expected a path"),
    ({"mechanism.epsilon": 1}, "expected a list of values"),
    ({"mechanism.epsilon": []}, "expected values, got none"),
    ({"mechanism.epsilon": [0.5, "0.5"]}, "0.5 stands there twice$"),
    ({"mechanism.epsilon": "1,1.0"}, "1.0 stands there twice, once as 1$"),
    ({"mechanism.epsilon": "0.5,1/2"}, "1/2 stands there twice, once as 0.5$"),
    ({"a": range(400), "b": range(400)}, "at most 100000 points, got 160000"),
    ([("mechanism.epsilon", [1])], "expected a mapping"),
)
def test_grids_that_are_none(grid, words):
    with pytest.raises(dl.errors.InputError, match=words):
        axes_of(grid)


def test_the_last_axis_runs_fastest():
    axes = axes_of({"a": "1,2", "b": "x,y"})
    assert [tuple(place.values()) for place in places(axes)] == list(itertools.product((1, 2), "xy"))
    assert places(()) == [{}]


@each(
    "problem, path, value, line",
    (AUDIT, "mechanism.epsilon", Fraction(1, 3), 'epsilon = "1/3"'),
    (AUDIT, "records.count", 6, "count = 6"),
    (AUDIT, "adversary.entropy_at_least", "1/3 max", 'entropy_at_least = "1/3 max"'),
    (AUDIT, "adversary", dl.ProductPriors(), 'kind = "product_priors"'),
    (DESIGN, "max_leakage", "0.2 bits", 'max_leakage = "0.2 bits"'),
    (DESIGN, "constraints.0.at_most", 2, "at_most = 2"),
    (DESIGN, "distortion.kind", "squared", 'kind = "squared"'),
)
def test_one_key_changes_and_nothing_else(problem, path, value, line):
    changed = with_value(problem, path, value)
    before, after = dumps(problem).splitlines(), dumps(changed).splitlines()
    assert line in after
    assert sum(one not in before for one in after) == 1
    assert changed.written is None
    assert digest(loads(dumps(changed))) == digest(changed) != digest(problem)


test_what_is_wrong_names_the_place = refuses(
    ("mechanism.epsilon", "much", "mechanism.epsilon = much: "),
    ("mechanism.speed", 1, "unknown key 'speed'"),
    ("motor.speed", 1, "no table 'motor' in the model; there are problem, "),
    ("records.count.more", 1, "'more' is no key"),
    ("adversary.entropy_at_least", "9 bits", "above the largest possible entropy"),
    ("mechanisms", dl.geometric(1), "expected one of records, query, "),
    by=lambda path, value: with_value(AUDIT, path, value),
)
