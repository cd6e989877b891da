"""Modular sums through symmetric channels."""

import math

import dalenius as dl
from campaigns import each


def test_known_instance(support):
    question = support.problem([3] * 3, dl.ModularSum(3), dl.symmetric(0.2, k=3), "0.8 max")
    result = dl.solve(question, gap=1e-3)
    assert result.lower >= 0.30954
    assert result.upper >= 0.3095486
    assert result.gap <= 1e-3


@each("m, n, flip", (3, 3, 0.2), (4, 2, 0.3), (5, 3, 0.1))
def test_slack_entropy_bound_gives_the_symmetric_capacity(support, m, n, flip):
    """For b <= (n-1) log m a uniform first letter and the rest uniform on one residue reach the channel's capacity."""
    exact = math.log(m) + (1 - flip) * math.log(1 - flip) + flip * math.log(flip / (m - 1))
    question = support.problem([m] * n, dl.ModularSum(m), dl.symmetric(flip, k=m), f"{n - 1}/{n} max")
    support.assert_contains(dl.solve(question, gap=1e-4), exact, gap=1e-4)


def test_one_record_is_the_channel_itself(support):
    """One record through a symmetric channel: uniform attains the capacity, and it is feasible for every b."""
    question = support.problem([4], dl.ModularSum(4), dl.symmetric(0.1, k=4), "0.9 max")
    low, high = support.capacity(question.channel)
    result = dl.solve(question, gap=1e-4)
    assert result.lower <= high
    assert low <= result.upper
    assert result.gap <= 1e-4
