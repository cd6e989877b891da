"""The alternating loop: it stops where no block can gain, says so truthfully, and reports cycles with their evidence."""

import dataclasses
import itertools

import numpy as np
import pytest

import dalenius as dl
from dalenius.alternating import CycleWarning, LeakageScheme, Settings, Step, alternate
from dalenius.information import mutual_information, x_log_x
from dalenius.reduction import record_channels

PARITY = {"records": dl.Records(4, alphabet=2), "query": dl.Parity(), "mechanism": dl.laplace_threshold(1.0)}
SUM = {"records": dl.Records(3, alphabet=3), "query": dl.Sum(), "mechanism": dl.exponential(1.0, range=6)}
SCHEMES = [("posterior",), ("marginal", "conditional"), ("marginal", "conditional", "posterior")]


def channel(question, bound):
    return record_channels(dl.MaximalLeakage(**question, adversary=dl.EntropyAtLeast(bound)))[0]


@pytest.mark.parametrize("blocks", SCHEMES, ids="+".join)
@pytest.mark.parametrize(("question", "bound"), [(PARITY, 2.5), (PARITY, 1.0), (SUM, "0.6 max")])
def test_every_block_is_at_rest_and_the_value_never_falls(question, bound, blocks):
    record = channel(question, bound)
    result = alternate(LeakageScheme(record, blocks), Settings(gap=1e-5), rng=np.random.default_rng(1))
    assert result.termination is dl.Termination.GAP_REACHED
    assert set(result.gains) == set(blocks)
    assert all(gain <= 1e-5 * result.value + 1e-11 for gain in result.gains.values())
    values = [sweep.value for sweep in result.trace]
    assert all(b >= a - 1e-12 for a, b in itertools.pairwise(values))
    entropy = np.sum(result.state * np.where(result.state > 0, record.log_uniform, 0.0)) - np.sum(x_log_x(result.state))
    assert entropy >= -record.max_knowledge - 1e-12
    assert result.value == pytest.approx(float(mutual_information(result.state @ record.rows)), abs=1e-14)


def test_first_order_blocks_never_claim_more_than_a_feasible_point():
    result = alternate(LeakageScheme(channel(PARITY, 2.5), ("marginal", "conditional")))
    assert result.scope is dl.Scope.FEASIBLE
    assert alternate(LeakageScheme(channel(PARITY, 2.5))).scope is dl.Scope.BLOCKWISE


@pytest.mark.parametrize("blocks", [*SCHEMES[:2], pytest.param(SCHEMES[2], marks=pytest.mark.thorough)], ids="+".join)
def test_local_optima_lie_below_the_global_bound(blocks):
    """Blockwise optimal is not optimal: several starts may differ, and none is above what the audit proves."""
    problem = dl.MaximalLeakage(**SUM, adversary=dl.EntropyAtLeast("0.6 max"))
    upper = dl.solve(problem, gap=1e-2, time_limit=1.0).upper  # a bound wherever it stops
    record = record_channels(problem)[0]
    for seed in range(4):
        assert alternate(LeakageScheme(record, blocks), rng=np.random.default_rng(seed)).value <= upper


def test_a_certified_gain_bounds_every_choice_of_the_block():
    """Random letter laws with enough entropy never gain more than the marginal block said was possible."""
    record = channel(SUM, "0.5 max")
    scheme = LeakageScheme(record, ("marginal",))
    rng = np.random.default_rng(5)
    p = scheme.start(rng)
    gain, now = scheme.blocks[0].step(p).gain, scheme.value(p)
    w = p / p.sum(axis=1, keepdims=True)
    tried = 0
    for pi in rng.dirichlet(np.full(record.letters, 0.7), size=4000):
        other = pi[:, None] * w
        entropy = np.sum(other * np.where(other > 0, record.log_uniform, 0.0)) - np.sum(x_log_x(other))
        if entropy >= -record.max_knowledge:
            tried += 1
            assert scheme.value(other) <= now + gain
    assert tried > 100


def test_restarts_keep_the_best_and_equal_seeds_agree():
    record = channel(SUM, "0.6 max")
    one = alternate(LeakageScheme(record), rng=np.random.default_rng(3))
    many = alternate(LeakageScheme(record), Settings(restarts=5), rng=np.random.default_rng(3))
    assert many.value >= one.value - 1e-9
    again = alternate(LeakageScheme(record), rng=np.random.default_rng(3))
    assert again.value == pytest.approx(one.value, rel=1e-6)


class Rotation:
    """Two players who chase each other around a circle of `size` states."""

    monotone, maximises = False, True

    def __init__(self, size):
        self.size, self.blocks = size, [self]

    name = "turn"

    def start(self, rng):
        return 0

    def step(self, state):
        new = (state + 1) % self.size
        return Step(new, self.value(new), 1.0)

    def value(self, state):
        return float(state)

    def key(self, state):
        return np.array([np.cos(2 * np.pi * state / self.size), np.sin(2 * np.pi * state / self.size)])


@pytest.mark.parametrize("size", [2, 3, 7])
def test_a_cycle_is_reported_with_its_evidence(size):
    with pytest.warns(CycleWarning, match="back at its state after sweep 0"):
        result = alternate(Rotation(size))
    assert result.termination is dl.Termination.STALLED
    assert result.scope is dl.Scope.FEASIBLE
    assert (result.cycle.first, result.cycle.second) == (0, size)
    assert result.cycle.distance < 1e-12
    assert len(result.cycle.values) == size


class Crawl(Rotation):
    """Progress that gets slower and slower is no cycle."""

    def step(self, state):
        new = state + 0.5 ** (state + 1)
        return Step(new, new, 1.0)

    def key(self, state):
        return np.array([float(state)])


def test_slow_progress_is_no_cycle():
    result = alternate(Crawl(1), Settings(sweeps=60))
    assert result.cycle is None
    assert result.termination is dl.Termination.SIZE_LIMIT


def test_a_time_limit_stops_honestly():
    result = alternate(LeakageScheme(channel(SUM, "0.6 max")), Settings(gap=1e-14, time_limit=1e-3))
    assert result.termination in (dl.Termination.TIME_LIMIT, dl.Termination.GAP_REACHED)
    assert result.trace


def test_settings_are_frozen_and_checked():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().gap = 1.0
    for bad in ({"gap": 0.0}, {"gap": float("nan")}, {"sweeps": 0}, {"restarts": -1}):
        with pytest.raises(dl.InputError, match=next(iter(bad))):
            Settings(**bad)
    with pytest.raises(dl.InputError, match="blocks"):
        LeakageScheme(channel(PARITY, 1.0), ("everything",))


def test_progress_is_told_after_every_sweep():
    told = []
    result = alternate(LeakageScheme(channel(PARITY, 2.5)), progress=told.append)
    assert tuple(told) == result.trace
