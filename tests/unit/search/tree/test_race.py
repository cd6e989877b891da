"""Who is grown next: the best one that may reach the target, and the others as much as is their due."""

import math

import pytest

from dalenius.search.clock import Clock
from dalenius.search.tree import HOPELESS, Race


class Runner:
    """One that does nothing."""

    hopeless = property(lambda self: self.floor > self.target)

    def __init__(self, upper, floor=-math.inf):
        self.upper, self.floor, self.target = upper, floor, 0.0

    def grow(self, clock):
        return True


def shares(race, runners, steps=400, target=1.0):
    """Of the time, a second a step, that each gets."""
    for _ in range(steps):
        race.charge(race.choose(target, lambda runner: True), 1.0)
    return [race._seconds[id(runner)] / steps for runner in runners]


def test_the_best_gets_most_and_the_others_their_share():
    runners = [Runner(2.0), Runner(3.0), Runner(4.0)]
    best, second, third = shares(Race(runners, fair=[0.6, 0.5, 0.1]), runners)
    assert second / best == pytest.approx(0.5, abs=0.02)
    assert third / best == pytest.approx(0.1, abs=0.02)


def test_one_that_cannot_reach_the_target_is_not_the_best():
    runners = [Runner(2.0, floor=1.5), Runner(3.0)]
    hopeless, best = shares(Race(runners, fair=[0.6, 0.6]), runners)
    assert hopeless / best == pytest.approx(HOPELESS, abs=0.02)
    assert shares(Race(runners, fair=[0.6, 0.6]), runners, target=1.6)[0] > 0.5


def test_one_that_can_become_no_better_than_another_gets_nothing():
    runners = [Runner(2.5, floor=2.0), Runner(1.9)]
    assert shares(Race(runners, fair=[0.6, 0.6]), runners) == [0.0, 1.0]


def test_one_that_is_stuck_is_left():
    runners = [Runner(2.0), Runner(3.0)]
    runners[0].grow = lambda clock: False
    race = Race(runners, fair=[0.1, 0.1])
    assert race.turn(Clock(), 1.0, lambda runner: True) is runners[0]
    assert {id(race.turn(Clock(), 1.0, lambda runner: True)) for _ in range(5)} == {id(runners[1])}
    runners[1].grow = lambda clock: False
    race.turn(Clock(), 1.0, lambda runner: True)
    assert race.turn(Clock(), 1.0, lambda runner: True) is None
