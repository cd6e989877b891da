"""Plans: what a point may begin with is fixed by its place, and its key says all that its record depends on."""

import dataclasses
import math

import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.studies.plan import ENTROPY, Plan, Settings, ancestors
from support import refuses

PARITY = support.problem(dl.Records(4, alphabet=2), dl.Parity(), dl.symmetric(0.1, k=2), dl.AnyPrior())
GRID = {ENTROPY: "0:1 max:9", "mechanism.flip": [0.1, 0.2]}


def plan(grid=GRID, problem=PARITY, **settings):
    return Plan.of({"parity": problem}, grid, Settings(**settings))


def test_a_place_begins_with_earlier_ones_and_few_steps_lead_to_it():
    for place in range(300):
        before = list(ancestors(place))
        assert all(other < place for other in before)
        assert before == sorted(before, reverse=True)
        assert len(before) <= math.log(max(place, 1), 4) + 1
        if before:
            assert before[1:] == list(ancestors(before[0]))


def test_chains_run_along_the_entropy_bound_and_not_across():
    points = plan().points
    assert [point.at["mechanism.flip"] for point in points[:4]] == ["0.1", "0.2"] * 2
    assert points[0].before == points[1].before == ()
    assert points[7 * 2 + 1].before == (9, 1)
    for point in plan().schedule:
        assert all(points[other].at["mechanism.flip"] == point.at["mechanism.flip"] for other in point.before)
    assert not any(point.before for point in plan({"mechanism.flip": "0:0.5:9"}).points)


def test_points_come_after_those_that_they_may_begin_with():
    seen = set()
    for point in plan().schedule:
        assert seen.issuperset(point.before)
        seen.add(point.index)
    assert seen == set(range(18))


def test_an_audit_begins_with_no_more_entropy_in_whatever_units():
    points = plan({ENTROPY: ["0.5 nats", "1 max", "1 bits", "0.1 max", "0"]}).points
    assert [point.before for point in points] == [(), (0,), (0,), (), ()]
    assert [point.before for point in plan({ENTROPY: ["0", "1 bits", "1/4 max"]}).points] == [(), (0,), (0,)]


def test_designs_hand_on_priors_along_their_budget():
    design = support.design(dl.MinLeakage, dl.Records(4, alphabet=2), dl.Parity(), dl.Hamming(), 0, dl.AnyPrior())
    points = plan({ENTROPY: "0,1 nats", "max_distortion": "0.4,0.2"}, design).points
    assert [point.before for point in points] == [(), (0,), (), (2,)]
    assert all(point.between is None for point in points)


def test_a_key_says_all_that_a_record_depends_on():
    keys = [point.key for point in plan().points]
    assert len(set(keys)) == len(keys)
    assert [point.key for point in plan(problem=dataclasses.replace(PARITY, title="another")).points] == keys
    for other in (
        plan(gap=1e-2),
        plan(seed=1),
        plan(problem=dataclasses.replace(PARITY, records=dl.Records(5, alphabet=2))),
    ):
        assert not set(keys) & {point.key for point in other.points}
    more = [point.key for point in plan({**GRID, "mechanism.flip": [0.1, 0.2, 0.3]}).points]
    assert set(keys) < set(more)


test_plans_that_are_none = refuses(
    ({}, {}, "at least one model"),
    ({"a": 5}, {}, "problem: expected"),
    ({"a": PARITY}, {"mechanism.flip": [2]}, "mechanism.flip = 2: "),
    by=lambda models, grid: Plan.of(models, grid, Settings()),
)


@each("wrong", {"gap": -1}, {"time_limit": 0}, {"seed": -1}, {"solver": "me"})
def test_settings_that_are_none(wrong):
    with pytest.raises(dl.errors.InputError, match=next(iter(wrong))):
        Settings(**wrong)
