"""Designs with constraints that are stopped at any moment, or have hardly any time, memory or leaves: a proved interval, and a mechanism
that meets everything exactly."""

from __future__ import annotations

import math
import signal

import pytest

import dalenius as dl
from campaigns import thinned

COUNT = {
    "records": dl.Records(3, alphabet=2),
    "query": dl.Count(),
    "distortion": dl.Absolute(),
    "adversary": dl.EntropyAtLeast("0.8 max"),
}
CAPPED = [dl.ErrorCap("0.6"), dl.LocalDP("log 9")]
DESIGNS = {
    "rows": dl.MinLeakage(**COUNT, max_distortion="0.5", constraints=CAPPED),
    "a second adversary": dl.MinLeakage(
        **COUNT, max_distortion="0.5", constraints=[*CAPPED, dl.LeakageLimit(dl.ProductPriors(), "0.2")]
    ),
    "a budget of leakage": dl.MinDistortion(**COUNT, max_leakage="0.2 nats", constraints=CAPPED),
}
MOMENTS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]  # seconds of work


def checked(problem, result, limit):
    """What is promised whatever stopped it; within the interval of the design that was left to finish."""
    assert dl.verify(problem, result.certificate).proved
    assert 0.0 <= result.lower <= result.upper < math.inf
    assert result.termination in (limit, dl.Termination.GAP_REACHED)
    rows = result.mechanism.rows
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows)
    assert all(price.slack is None or price.slack >= 0 for price in result.constraints)


@pytest.mark.parametrize("moment", thinned(MOMENTS, every=3))
@pytest.mark.parametrize("name", DESIGNS)
def test_ctrl_c_at_any_moment(work_clock, name, moment):
    work_clock.alarm(moment, lambda: signal.raise_signal(signal.SIGINT))
    before = signal.getsignal(signal.SIGINT)
    try:
        result = dl.solve(DESIGNS[name], gap=1e-7, time_limit=100.0)
    except dl.DaleniusError as error:  # limits of leakage, and no mechanism yet that keeps them
        assert name != "rows"
        assert "time_limit" in str(error)
    else:
        checked(DESIGNS[name], result, dl.Termination.INTERRUPTED)
        assert result.seconds < 10.0
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize(
    ("limits", "why"),
    thinned(
        [
            ({"memory_limit": 1.0}, dl.Termination.SIZE_LIMIT),
            ({"node_limit": 1}, dl.Termination.SIZE_LIMIT),
            ({"memory_limit": 64.0, "time_limit": 2.0}, dl.Termination.SIZE_LIMIT),
            ({"time_limit": 0.01}, dl.Termination.TIME_LIMIT),
        ],
        every=1,
    ),
)
@pytest.mark.parametrize("name", DESIGNS)
def test_hardly_anything(work_clock, name, limits, why):
    result = dl.solve(DESIGNS[name], gap=1e-7, **limits)
    print(name, limits, result, result.termination)
    checked(DESIGNS[name], result, why)
