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
    assert "limit,lower,upper" in curve.table([0.1])


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
    for share in (0.05, 0.3, 0.71):
        found = dl.solve(dl.PrivacyFunnel(joint, limit(share * most), measure=measure), gap=1e-3)
        low, high = curve.at(share * most)
        assert found.lower <= high
        assert low <= found.upper
        assert high - low < 0.03 * top


def test_what_is_no_curve_is_one_error():
    with pytest.raises(dl.errors.InputError, match="within a limit"):
        dl.answers.FunnelCurve.of(
            dl.MaxInformation(records=dl.Records(1, alphabet=2), query=dl.Identity(), privacy=dl.LocalDP(1))
        )
    with pytest.raises(dl.errors.InputError, match="points"):
        dl.answers.FunnelCurve.of(dl.PrivacyFunnel(flipped(0.1), 0.1), points=1)
