"""Designs with constraints, stopped at a moment, or with little time, memory or leaves: what they hand out is proved, and exact."""

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
CAPPED = [dl.constraints.ErrorCap("0.6"), dl.LocalDP("log 9")]
DESIGNS = {
    "rows": dl.MinLeakage(**COUNT, max_distortion="0.5", constraints=CAPPED),
    "a second adversary": dl.MinLeakage(
        **COUNT, max_distortion="0.5", constraints=[*CAPPED, dl.constraints.LeakageLimit(dl.ProductPriors(), "0.2")]
    ),
    "a budget of leakage": dl.MinDistortion(**COUNT, max_leakage="0.2 nats", constraints=CAPPED),
}
MOMENTS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]  # seconds of work
LIMITS = [{"memory_limit": 1.0}, {"node_limit": 1}, {"time_limit": 0.01}, {"time_limit": 0.3}]
STOPPED = {dl.answers.Termination.INTERRUPTED, dl.answers.Termination.SIZE_LIMIT, dl.answers.Termination.TIME_LIMIT}


def attempted(name: str, **options: float) -> dl.answers.DesignResult | None:
    """Solved, with what is promised whatever stopped it; None where there was no time to find a mechanism that meets everything."""
    problem = DESIGNS[name]
    result = dl.solve(problem, **{"gap": 1e-6, "time_limit": 0.5} | options)
    assert dl.verify(problem, result.certificate).proved
    if not result.feasible:
        assert 0.0 <= result.lower < result.upper == math.inf
        assert result.termination in STOPPED
        return None
    assert 0.0 <= result.lower <= result.upper < math.inf
    rows = result.mechanism.rows
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows)
    assert all(price.slack is None or price.slack >= 0 for price in result.constraints)
    return result


@pytest.mark.parametrize("moment", thinned(MOMENTS, every=12))
@pytest.mark.parametrize("name", DESIGNS)
def test_ctrl_c_at_any_moment(work_clock, name, moment):
    work_clock.alarm(moment, lambda: signal.raise_signal(signal.SIGINT))
    before = signal.getsignal(signal.SIGINT)
    result = attempted(name, time_limit=100.0)
    assert signal.getsignal(signal.SIGINT) is before
    assert result is not None or name != "rows"
    assert result is None or result.termination is dl.answers.Termination.INTERRUPTED
    assert result is None or result.seconds < 10.0


@pytest.mark.parametrize("limits", thinned(LIMITS, every=2), ids=str)
@pytest.mark.parametrize("name", DESIGNS)
def test_hardly_any_time_memory_or_leaves(work_clock, name, limits):
    result = attempted(name, **limits)
    assert result is not None or name != "rows" or "time_limit" in limits
    assert result is None or result.termination in STOPPED
    if result is not None and limits == {"memory_limit": 1.0}:
        assert len(result.certificate.text) < 2**20
