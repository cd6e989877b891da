"""Number traps of Python and python-flint, and the ball operations, by both arithmetics."""

from fractions import Fraction

import numpy as np
import pytest

from dalenius_check.core.allowance import LimitError
from dalenius_check.core.arithmetic import arb, choose, fmpq, using
from dalenius_check.core.arithmetic.vectors import log_sum_exp
from dalenius_check.core.numbers import (
    OpenError,
    RefusedError,
    at_most,
    enclosure,
    largest,
    rational,
    total,
    xlogx,
)


@pytest.fixture(autouse=True, params=["flint", "python"])
def arithmetic(request):
    chosen = choose(request.param)
    with using(chosen), chosen.workprec(128):
        yield


def contains(ball, number):
    return (ball.lower() <= number) is True and (number <= ball.upper()) is True


def overlaps(ball, other):
    return not (ball < other or ball > other)


@pytest.mark.parametrize(
    "text", ["0", "-0", "007", "1.50", "-12.25e-3", "5e2", "0e-400", "1e400", "-3/4", "6/8", "0/5", "1e-400", "9" * 400]
)
def test_numbers_are_exact(text):
    value = rational(text)
    assert Fraction(int(value.numerator), int(value.denominator)) == Fraction(text)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " 1",
            "1 ",
            "1\n",
            "+1",
            ".5",
            "5.",
            "1e",
            "1e+3",
            "1E3",
            "e3",
            "--1",
            "1_0",
            "0x10",
            "0b1",
            "1/0",
            "1/-2",
        ),
        *("1.5/2", "1/2e1", "inf", "-inf", "nan", "NaN", "1 +/- 0.1", "[1 +/- 0.1]", "1e401", "1e-401", "1e999999999"),
        *("\u0663", "1\u0660", "\uff11", "1" * 401, "1e" + "9" * 390, "0." + "0" * 399, "1,5", "1j", "True", "\x001"),
    ],
)
def test_other_texts_are_refused(text):
    with pytest.raises(RefusedError):
        rational(text)


def test_comparisons_accept_only_certainty():
    third = arb(1) / 3
    at_most(arb(1), arb(1), "equal exact balls")
    at_most(arb(0), third, "less")
    for small, large in [
        (third, third),
        (arb("nan"), arb(1)),
        (arb(1), arb("nan")),
        (arb(0).log(), arb(1)),
        (0 * arb(0).log(), arb(1)),
        (arb(10**400), arb(10**300).exp()),
    ]:
        with pytest.raises(OpenError):
            at_most(small, large, "open")
    with pytest.raises(RefusedError):
        at_most(third, arb(fmpq(33, 100)), "greater")


def test_xlogx():
    assert xlogx(arb(0)).is_zero()
    assert xlogx(arb(1)).is_zero()
    assert not xlogx(arb("nan")).is_finite()
    assert not xlogx(arb(1).union(arb(-1))).is_finite()
    tiny = arb(0).union(arb(fmpq(1, 1000)))
    for x in (fmpq(1, 1000), fmpq(1, 10**9), fmpq(1, 10**300)):
        assert contains(xlogx(tiny), arb(x) * arb(x).log())
    assert contains(xlogx(tiny), arb(0))


def test_largest_and_log_sum_exp():
    assert contains(largest([arb(1), arb(3), arb(2)]), 3)
    assert contains(largest([arb(1).union(arb(5)), arb(2)]), 4)
    for bad in ([arb("nan"), arb(1)], [arb(1), arb("nan")], [arb(1), arb(0).log()]):
        assert not largest(bad).is_finite()
        assert not log_sum_exp(bad).is_finite()
    assert overlaps(log_sum_exp([arb(0), arb(0)]), arb(2).log())
    difference = log_sum_exp([arb(10**30), arb(10**30) - 1]) - 10**30 - (1 + arb(-1).exp()).log()
    assert difference.max(-difference) < arb(1) / 10**6
    assert overlaps(log_sum_exp([arb(-(10**300)), arb(7)]), arb(7))


def test_enclosure_is_outward_and_small():
    rng = np.random.default_rng(1)
    for _ in range(200):
        ball = arb(fmpq(-int(1e9 * rng.exponential() * 10 ** rng.uniform(-3, 5)), 10**9)).exp()
        low, high = enclosure(ball, ball)
        assert arb(low) <= ball.upper()
        assert arb(high) >= ball.lower()
        assert 0 <= low <= high <= 1
        assert low.denominator.bit_length() < 10_000
        assert high.denominator.bit_length() < 10_000
    wide = (arb(1) / 4).union(arb(1) / 3)
    low, high = enclosure(wide, wide)
    assert fmpq(1, 5) < low <= fmpq(1, 4)
    assert fmpq(1, 3) <= high < fmpq(2, 5)
    assert enclosure(arb("nan"), arb("nan")) == (0, 1)
    assert enclosure(arb(1), arb(1)) == (1, 1)
    assert enclosure(arb(-1), arb(3)) == (0, 1)
    low, high = enclosure(arb(-(10**9)).exp(), arb(-(10**9)).exp())
    assert low == 0
    assert high == fmpq(1, 2**128)


def test_sums_are_limited():
    with pytest.raises(LimitError):
        total(fmpq(1, 2**4000 + 2 * j + 1) for j in range(100))
    assert total(fmpq(1, 10**300) for _ in range(1000)) == fmpq(1, 10**297)
