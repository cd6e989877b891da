"""The band of a funnel for every limit: closed forms, solves in between, planes that one certificate proves."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, each

LOG2 = math.log(2.0)


def h(p):
    return -p * math.log(p) - (1 - p) * math.log(1 - p)


def flipped(a):
    """S is X, a fair bit, but for a flip of this probability."""
    return [[(1 - a) / 2, a / 2], [a / 2, (1 - a) / 2]]


@each("make", dl.PrivacyFunnel, dl.InformationBottleneck)
def test_a_flipped_fair_bit_has_its_whole_curve(make):
    """The funnel is a chord; the bottleneck is Mrs. Gerber's function of the limit."""
    a = 0.1
    whole = LOG2 - h(a)
    funnel = make is dl.PrivacyFunnel
    curve = dl.answers.FunnelCurve.of(make(flipped(a), whole if funnel else LOG2 * 0.9), gap=0.01)
    for flip in (0.05, 0.2, 0.3, 0.4):
        limit, value = LOG2 - h(flip), LOG2 - h(flip * (1 - a) + (1 - flip) * a)
        if funnel:
            limit, value = flip * whole, flip * LOG2
        low, high = curve.at(limit)
        assert low <= value <= high
        assert high - low < 0.02 * LOG2
    assert curve.at(0.0)[0] == 0.0


def test_one_certificate_proves_every_plane():
    joint = [["1/4", "1/4", 0], [0, "1/8", "3/8"]]
    problem = dl.PrivacyFunnel(joint, "0.3 nats")
    curve = dl.answers.FunnelCurve.of(problem, gap=0.01)
    (zero, first), *_, (last, whole) = curve.points
    assert (zero, last) == (0.0, 0.3)
    planes = whole.certificate.upper_lines()
    assert len(planes) == len(curve.points) - 1
    verdict = dl.verify(problem.within(last), whole.certificate)
    assert verdict.proved
    assert sum("with c in the place of its limit" in line for line in verdict.lines) == len(planes) - 1
    for limit, result in curve.points:
        assert dl.verify(problem.within(limit), result.certificate).proved
    assert first.gap < 1e-9


@pytest.mark.parametrize("seed", range(draws(2, 20, 200)))
def test_solves_in_between_agree_with_the_band(seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 100, size=(int(rng.integers(2, 4)), int(rng.integers(3, 6))))
    joint = [[Fraction(int(w), int(weights.sum())) for w in row] for row in weights]
    p = weights / weights.sum()
    most = 0.9 * float((p * np.log(p / np.outer(p.sum(1), p.sum(0)))).sum())
    measure = [None, "chi_square", "guessing"][seed % 3]
    of_lines = partial(dl.constraints.MeasureLimit, [["3/2", "-3/2"], [-1, 1]])
    limit = [dl.constraints.MutualInformation, of_lines][seed % 2]
    curve = dl.answers.FunnelCurve.of(dl.PrivacyFunnel(joint, limit(most), measure=measure), gap=0.02)
    top = curve.at(most)[1]
    for share in (0.3, 0.05, 0.71)[: draws(1, 3)]:
        found = dl.solve(dl.PrivacyFunnel(joint, limit(share * most), measure=measure), gap=1e-3)
        low, high = curve.at(share * most)
        assert found.lower <= high
        assert low <= found.upper
        assert high - low < 0.03 * top


@pytest.fixture(scope="module")
def in_bits():
    """One of few points; its right end is no double."""
    return dl.answers.FunnelCurve.of(dl.PrivacyFunnel(flipped(0.1), "0.1 bits"), gap=0.1)


def test_limits_are_amounts(in_bits):
    for limit, nats in (("0.05 bits", 0.05 * LOG2), ("0.04 nats", 0.04), ("0.04", 0.04), (Fraction(1, 25), 0.04)):
        for end, other in zip(in_bits.at(limit), in_bits.at(nats), strict=True):
            assert end == pytest.approx(other, abs=1e-14)
    low, high = in_bits.at("0.1 bits")
    assert low <= 0.1 * LOG2 * LOG2 / (LOG2 - h(0.1)) <= high
    assert high - low < 0.1 * high
    last, beyond = in_bits.at(in_bits.points[-1][0]), in_bits.at(1)
    assert beyond[0] == last[0]
    assert last[1] < LOG2 <= beyond[1]


@each("limit", "abc", "0.1 bytes", "-1 bits", -0.5, math.nan, math.inf, None, "1e350 nats")
def test_what_is_no_limit_is_one_error(in_bits, limit):
    for asked in (in_bits.at, lambda c: in_bits.table([0.01, c])):
        with pytest.raises(dl.errors.InputError, match=r"^limit: ") as error:
            asked(limit)
        assert "\n" not in str(error.value)


def test_a_number_without_unit_has_none():
    problem = dl.PrivacyFunnel(flipped(0.1), dl.constraints.ChiSquare("1/20"))
    curve = dl.answers.FunnelCurve.of(problem, gap=0.1)
    assert curve.at("0.04") == curve.at(Fraction(1, 25))
    with pytest.raises(dl.errors.InputError, match="limit: expected a number"):
        curve.at("0.04 bits")


def test_a_table_has_even_steps_or_the_limits_that_are_given(in_bits):
    def rows(text):
        head, *lines = text.splitlines()
        assert head == "limit,lower,upper"
        return [tuple(map(float, line.split(","))) for line in lines]

    last = in_bits.points[-1][0]
    assert [row[0] for row in rows(in_bits.table(5))] == [0.0, last / 4, last / 2, 0.75 * last, last]
    assert len(rows(in_bits.table())) == 30
    given = rows(in_bits.table([0.01, "0.05 bits"]))
    assert [row[0] for row in given] == [0.01, pytest.approx(0.05 * LOG2, rel=1e-15)]
    for limit, low, high in given + rows(in_bits.table(7)):
        proved = in_bits.at(limit)
        assert low <= proved[0] <= proved[1] <= high
    for wrong in (1, "0.1 bits", 0.1, True):
        with pytest.raises(dl.errors.InputError, match=r"^limits: "):
            in_bits.table(wrong)


@each("limit", 0, "0 bits", dl.constraints.ChiSquare(0))
def test_a_right_end_of_0_is_one_error(limit):
    with pytest.raises(dl.errors.InputError, match="its limit is the curve's right end: give more than 0"):
        dl.answers.FunnelCurve.of(dl.PrivacyFunnel(flipped(0.1), limit))


def test_what_is_no_curve_is_one_error():
    with pytest.raises(dl.errors.InputError, match="within a limit"):
        dl.answers.FunnelCurve.of(
            dl.MaxInformation(records=dl.Records(1, alphabet=2), query=dl.Identity(), privacy=dl.LocalDP(1))
        )
    with pytest.raises(dl.errors.InputError, match="points"):
        dl.answers.FunnelCurve.of(dl.PrivacyFunnel(flipped(0.1), 0.1), points=1)
