"""Fields that are said once."""

import copy
import dataclasses
import inspect
import pickle
from fractions import Fraction
from typing import ClassVar

import pytest

import support
from dalenius.model.distortions import Distortion, Hamming
from dalenius.model.fields import Exact, Given, declared, listed, number, part, whole
from dalenius.model.shelf import Shelved


@declared
class Weighed(Shelved):
    kind: ClassVar[str] = "weighed"
    room: ClassVar[str] = "test: {0.kind}"
    share: Exact = Given(number(at_least=0, at_most=1), key="weight", normal=lambda kept, what: f"{kept} {what}")
    cost: Given[Distortion | None, Distortion | None] = Given(part(Distortion), default=None, kw_only=True)


@declared
class Counted(Weighed):
    kind: ClassVar[str] = "counted"
    times: Given[int | None, int | None] = Given(whole(at_least=1), default=None, tables=listed("a list"))


def test_what_is_written_in_many_ways_is_kept_in_one():
    made = Counted("0.5", 2, cost=Hamming())
    assert (made.share, made.times, made.cost) == (Fraction(1, 2), 2, Hamming())
    assert made == Counted(share=0.5, times=2, cost=Hamming())
    assert repr(made) == "Counted(share=Fraction(1, 2), cost=Hamming(), times=2)"
    for again in (pickle.loads(pickle.dumps(made)), copy.copy(made), dataclasses.replace(made)):
        assert again == made
        assert hash(again) == hash(made)
    assert dataclasses.replace(made, share="1/3").share == Fraction(1, 3)


def test_nobody_sets_a_field():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Weighed(1).share = 0


def test_none_is_what_is_not_given_and_nothing_else():
    assert Counted(1).times is None
    assert Counted(1, times=None, cost=None) == Counted(1)
    support.refused(lambda: Weighed(None), "test: weighed: weight: expected a number, got None")


def test_calls_say_what_may_be_written():
    told = "(share: 'Number', times: 'Integer | None' = None, *, cost: 'Distortion | None' = None)"
    assert str(inspect.signature(Counted)) == told


def test_tables_have_keys_and_parts_in_tables():
    made = Counted("1/3", cost=Hamming())
    assert made.to_model() == {"kind": "counted", "weight": Fraction(1, 3), "cost": {"kind": "hamming"}, "times": None}
    assert made.normal_form() == {**made.to_model(), "weight": "1/3 weight"}
    assert Counted.from_table({"weight": "1/3"}, "[test]") == Counted("1/3")


def test_a_refusal_says_whose_field_it_is():
    support.refused(lambda: Counted(2), "test: counted: weight must be from 0 to 1, got 2")
    support.refused(lambda: Weighed("x"), "test: weighed: weight: expected a number")
    support.refused(lambda: Weighed(1, cost=1), "test: weighed: cost: expected a Distortion, got 1")
    support.refused(lambda: Counted.from_table({}, "[test]"), "[test]: missing weight")
    support.refused(
        lambda: Counted.from_table({"weight": 1, "times": 3}, "[test]"), "[test]: times must be a list, got 3"
    )
