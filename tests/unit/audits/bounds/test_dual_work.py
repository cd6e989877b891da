"""The dual bound as work: what all letters need before there is a bound is left at the first look after the time is over."""

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from clocks import Looks
from dalenius.audits.ascent import Candidate
from dalenius.audits.bounds.dual_work import DualWork, Goal, Turn
from dalenius.information.deadline import TimeIsOverError
from dalenius.reduction import RecordSymmetries, record_channels
from dalenius.search import Clock


def test_letters_are_left_where_the_time_is_over():
    wide = support.problem(dl.Records(3, alphabet=7), dl.Sum(), dl.discrete_laplace(scale=5), "0.9 max")
    channel = record_channels(wide)[0]
    goal = Goal(tolerance=0.1, enough=0.1, useless=np.inf, decimals=9)
    candidate, symmetries = Candidate(channel.uniform, 0.0, 0.3), RecordSymmetries.of(wide, channel)

    def bound(until: Looks) -> float:
        work = DualWork(channel, candidate, symmetries, goal, clock=Clock(), until=until)
        work.run(Turn(may_grow=lambda trees, least: False))
        return work.bound.upper

    whole = Looks(10**6)
    upper = bound(whole)
    looks = 10**6 - whole.left
    assert looks > 5 * channel.letters
    for left in range(0, looks, 41):
        until = Looks(left)
        with pytest.raises(TimeIsOverError):
            bound(until)
        assert until.late == 1
    assert bound(Looks(looks)) == upper


@each("seconds", 0.005, 0.02, 0.1)
def test_an_audit_without_a_dual_bound_has_an_interval(support, seconds):
    """Whatever was not begun in time: the letters bound the leakage."""
    households = support.problem(
        dl.Records(100, alphabet=25), dl.Sum(), dl.discrete_laplace(scale=10), dl.IndependentBlocks(2)
    )
    assert support.solve(households, gap=1e-6, time_limit=seconds).upper <= np.log(25) + 1e-12
