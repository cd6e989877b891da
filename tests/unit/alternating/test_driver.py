"""The alternating loop: it stops where no block can gain, says so truthfully, and reports cycles with their evidence."""

import dataclasses
import itertools

import numpy as np
import pytest

import dalenius as dl
from campaigns import thinned
from dalenius.alternating import CycleWarning, LeakageScheme, Settings, Step, alternate
from dalenius.information import mutual_information, x_log_x
from dalenius.reduction import record_channels
from dalenius.search import Clock

PARITY = {"records": dl.Records(4, alphabet=2), "query": dl.Parity(), "mechanism": dl.laplace_threshold(1.0)}
SUM = {"records": dl.Records(3, alphabet=3), "query": dl.Sum(), "mechanism": dl.exponential(1.0, range=6)}
COUNT = {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "mechanism": dl.geometric(1.0, range=3)}
SCHEMES = [("posterior",), ("marginal", "conditional"), ("posterior", "marginal", "row")]
WHOLE = ("marginal", "conditionals")


def channel(question, bound):
    return record_channels(dl.WorstCaseLeakage(**question, adversary=dl.EntropyAtLeast(bound, "nats")))[0]


@pytest.mark.parametrize("blocks", thinned([(blocks,) for blocks in (*SCHEMES, WHOLE)], every=2))
@pytest.mark.parametrize(("question", "bound"), thinned([(COUNT, "0.6 max"), (PARITY, 2.5), (PARITY, 1.0)], every=2))
def test_every_block_is_at_rest_and_the_value_never_falls(question, bound, blocks):
    record = channel(question, bound)
    result = alternate(LeakageScheme(record, blocks, gap=1e-5), Settings(gap=1e-5), rng=np.random.default_rng(1))
    assert result.termination is dl.answers.Termination.GAP_REACHED
    assert {name.split()[0] for name in result.gains} == set(blocks)
    assert all(gain <= 1e-5 * result.value + 1e-11 for gain in result.gains.values())
    assert all(b >= a - 1e-12 for a, b in itertools.pairwise([sweep.value for sweep in result.trace]))
    entropy = np.sum(result.state * np.where(result.state > 0, record.log_uniform, 0.0)) - np.sum(x_log_x(result.state))
    assert entropy >= -record.max_knowledge - 1e-12
    assert result.value == pytest.approx(float(mutual_information(result.state @ record.rows)), abs=1e-14)


@pytest.mark.thorough
def test_blockwise_needs_a_certified_gain_of_every_block():
    """First-order blocks, and blocks that leave a variable out, end as a feasible point, however well they rest."""
    record = channel(PARITY, 2.5)
    for blocks in (("marginal", "conditional"), ("posterior",), ("posterior", "row")):
        result = alternate(LeakageScheme(record, blocks))
        assert result.termination is dl.answers.Termination.GAP_REACHED
        assert result.scope is dl.answers.Scope.FEASIBLE
    assert alternate(LeakageScheme(record)).scope is dl.answers.Scope.BLOCKWISE


@pytest.mark.thorough
def test_all_conditionals_together_gain_where_none_does_alone():
    """The block of the source paper's Theorem 4: a tenth more than where every row by itself is at its certified best."""
    rows = np.random.default_rng(0).dirichlet(np.full(3, 0.7), size=8)
    record = channel(
        {"records": dl.Records(3, alphabet=2), "query": dl.Identity(), "mechanism": dl.Channel(rows.tolist())},
        "0.6 max",
    )
    alone = alternate(LeakageScheme(record, ("posterior", "marginal", "row")), start=record.uniform)
    assert (alone.scope, round(alone.value, 4)) == (dl.answers.Scope.BLOCKWISE, 0.3097)
    together = alternate(LeakageScheme(record, (*SCHEMES[0], *WHOLE)), start=alone.state)
    assert (together.scope, round(together.value, 4)) == (dl.answers.Scope.BLOCKWISE, 0.3410)


def test_the_uniform_prior_is_left_where_no_first_order_step_leaves_it():
    """The source paper's start: nothing is told there, and no gradient says where to go; the rows, solved globally, do."""
    record = record_channels(dl.load("parity/laplace-n4"))[0]
    stuck = alternate(LeakageScheme(record, ("posterior",)), start=record.uniform)
    assert stuck.value < 1e-12
    assert stuck.scope is dl.answers.Scope.FEASIBLE
    free = alternate(LeakageScheme(record), start=record.uniform)
    assert free.scope is dl.answers.Scope.BLOCKWISE
    assert free.value == pytest.approx(0.0795415058653, rel=1e-6)


@pytest.mark.parametrize("solver", thinned(["auto", "own"], every=2))
def test_no_block_of_a_state_at_rest_can_gain_more_than_it_says(instances, solver):
    """Random letter laws, and random laws of one letter's, with enough entropy."""
    record, rng = channel(COUNT, "0.6 max"), np.random.default_rng(2)
    scheme = LeakageScheme(record, solver=solver, gap=1e-3)
    result = alternate(scheme, Settings(gap=1e-3), rng=rng)
    assert result.scope is dl.answers.Scope.BLOCKWISE
    p = result.state
    pi, w = p.sum(axis=1), p / p.sum(axis=1, keepdims=True)
    most = result.value + max(result.gains[name] for name in scheme.needed)
    assert most <= result.value * (1.0 + 1e-3) + 1e-11
    tried = {"letter law": 0, "row": 0}
    for _ in range(1000):
        other = rng.dirichlet(pi * rng.choice([3.0, 30.0, 300.0]) + 1e-3)[:, None] * w
        row = p.copy()
        letter, spread = rng.integers(len(pi)), rng.choice([1.0, 10.0, 100.0])
        law = rng.dirichlet(w[letter] * spread + 1e-3) * np.isfinite(record.log_uniform[letter])
        row[letter] = pi[letter] * law / law.sum()
        for name, prior in (("letter law", other), ("row", row)):
            if np.sum(instances.entropies(prior, record.log_uniform)) >= -record.max_knowledge:
                tried[name] += 1
                assert scheme.value(prior) <= most
    assert min(tried.values()) > 20


@pytest.mark.parametrize(
    "blocks", [SCHEMES[1], *(pytest.param(scheme, marks=pytest.mark.thorough) for scheme in SCHEMES[::2])], ids="+".join
)
def test_local_optima_lie_below_the_global_bound(blocks):
    """Blockwise optimal is not optimal: several starts may differ, and none is above what the audit proves."""
    problem = dl.WorstCaseLeakage(**SUM, adversary=dl.EntropyAtLeast("0.6 max"))
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
    scheme = LeakageScheme(channel(COUNT, "0.6 max"), ("posterior", "marginal"))
    one = alternate(scheme, rng=np.random.default_rng(3))
    assert alternate(scheme, Settings(restarts=3), rng=np.random.default_rng(3)).value >= one.value - 1e-9
    assert alternate(scheme, rng=np.random.default_rng(3)).value == pytest.approx(one.value, rel=1e-6)


class Rotation:
    """Two players who chase each other around a circle of `size` states."""

    monotone, maximises = False, True
    name, costly, needed = "turn", False, ("turn",)

    def __init__(self, size):
        self.size, self.blocks = size, [self]

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
    assert result.termination is dl.answers.Termination.STALLED
    assert result.scope is dl.answers.Scope.FEASIBLE
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
    assert result.termination is dl.answers.Termination.SIZE_LIMIT


class Counter:
    """Adds one, up to a limit; a costly one has a turn where nothing else moved."""

    def __init__(self, name, limit, gain=0.0, costly=False):
        self.name, self.limit, self.rest, self.costly, self.turns = name, limit, gain, costly, 0

    def step(self, state):
        self.turns += 1
        new = min(state + 1.0, max(self.limit, state))
        return Step(new, new, max(new - state, self.rest))


class Counters:
    monotone = maximises = True

    def __init__(self, *blocks):
        self.blocks, self.needed = blocks, [block.name for block in blocks]

    def start(self, rng):
        return 0.0

    def value(self, state):
        return state

    def key(self, state):
        return np.array([state])


def test_costly_blocks_wait_until_the_others_rest():
    cheap, dear = Counter("cheap", 5.0), Counter("dear", 7.0, costly=True)
    result = alternate(Counters(cheap, dear), Settings(gap=1e-3))
    assert (result.value, result.scope) == (7.0, dl.answers.Scope.BLOCKWISE)
    assert (cheap.turns, dear.turns) == (8, 3)
    assert result.found_by == ("dear", "own")


def test_blocks_of_one_name_all_have_their_turn():
    lazy, busy = Counter("twin", 0.0), Counter("twin", 2.0)
    result = alternate(Counters(lazy, busy), Settings(gap=1e-3))
    assert (result.value, result.scope) == (2.0, dl.answers.Scope.BLOCKWISE)


def test_no_block_is_asked_again_that_rested_since_the_last_step():
    """What it proved is about the same state."""
    first, second = Counter("first", 2.0), Counter("second", 1.0)
    result = alternate(Counters(first, second), Settings(gap=1e-3))
    assert (result.value, first.turns, second.turns) == (2.0, 3, 2)


def test_a_bound_that_does_not_close_is_no_rest():
    """Nothing better is found, and the gain cannot be excluded: STALLED, and no claim."""
    result = alternate(Counters(Counter("wide", 3.0, gain=0.5)), Settings(gap=1e-3))
    assert (result.value, result.termination, result.scope) == (
        3.0,
        dl.answers.Termination.STALLED,
        dl.answers.Scope.FEASIBLE,
    )


def test_a_stopped_clock_is_an_interrupt():
    clock = Clock(60.0)
    result = alternate(Counters(Counter("endless", 1e9)), progress=lambda sweep: clock.stop(), clock=clock)
    assert result.termination is dl.answers.Termination.INTERRUPTED
    assert len(result.trace) == 1


def test_a_block_of_ones_own_takes_its_turn():
    """Swapping the letters changes nothing that counts: it never moves, and the others rest as they did."""

    class Swap:
        name, costly = "swap", False

        def step(self, state):
            return Step(state[::-1], scheme.value(state[::-1]), 0.0, dl.answers.Scope.FEASIBLE)

    scheme = LeakageScheme(channel(PARITY, 2.5), ("posterior", Swap(), "marginal", "row"))
    result = alternate(scheme)
    assert result.scope is dl.answers.Scope.BLOCKWISE
    assert result.gains["swap"] == 0.0


def test_a_time_limit_stops_honestly():
    result = alternate(LeakageScheme(channel(COUNT, "0.6 max")), Settings(gap=1e-14, time_limit=1e-3))
    assert result.termination in (dl.answers.Termination.TIME_LIMIT, dl.answers.Termination.GAP_REACHED)
    assert result.trace


def test_settings_are_frozen_and_checked():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().gap = 1.0
    for bad in ({"gap": 0.0}, {"gap": float("nan")}, {"sweeps": 0}, {"restarts": -1}):
        with pytest.raises(dl.errors.InputError, match=next(iter(bad))):
            Settings(**bad)
    for bad in (("everything",), (), "row"):
        with pytest.raises(dl.errors.InputError, match="blocks"):
            LeakageScheme(channel(PARITY, 1.0), bad)
    with pytest.raises(dl.errors.InputError, match="solver"):
        LeakageScheme(channel(PARITY, 1.0), solver="gurobi")


def test_progress_is_told_after_every_sweep():
    told = []
    result = alternate(LeakageScheme(channel(PARITY, 2.5)), progress=told.append)
    assert tuple(told) == result.trace


def test_every_turn_leaves_the_interval_of_its_program():
    """The best value that the block can reach is in it, if it is about all choices: so is every value that a step reached."""
    record = channel(PARITY, 2.5)
    result = alternate(LeakageScheme(record, gap=1e-5), Settings(gap=1e-5), start=record.uniform)
    for sweep in result.trace:
        assert [turn.sweep for turn in sweep.certificates] == [sweep.number] * len(sweep.certificates)
        for turn in sweep.certificates:
            assert turn.lower <= turn.upper
            assert turn.seconds >= 0.0
            assert turn.scope is (
                dl.answers.Scope.FEASIBLE if turn.block == "posterior" else dl.answers.Scope.BLOCKWISE
            )
    values = [0.0, *(sweep.value for sweep in result.trace)]
    for before, sweep in zip(values, result.trace, strict=False):
        *_, last = sweep.certificates
        if last.moved and last.scope is dl.answers.Scope.BLOCKWISE:
            assert before - 1e-12 <= sweep.value <= last.upper
    rest = result.trace[-1].certificates
    assert [turn.block for turn in rest] == ["posterior", "marginal", "row 0", "row 1", "conditionals"]
    assert not any(turn.moved for turn in rest)
    assert all(turn.upper - result.value <= 1e-5 * result.value + 1e-11 for turn in rest)
    in_bits = result.summary(record=0).to("bits")
    assert in_bits.certificates[-1].units == "bits"
    assert in_bits.certificates[-1].upper == pytest.approx(rest[-1].upper / np.log(2.0))
    head, *rows = in_bits.table.splitlines()
    assert head.split()[:5] == ["sweep", "block", "lower", "upper", "gap"]
    *rows, note = rows
    assert len(rows) == sum(len(sweep.certificates) for sweep in result.trace)
    widest = max(in_bits.certificates, key=lambda turn: turn.gap)
    assert (
        note
        == f"{widest.block}: wide until the blocks seem to rest, as there is no need to know it better; its last turn counts"
    )
    resting = dataclasses.replace(in_bits, trace=in_bits.trace[-1:])
    assert len(resting.table.splitlines()) == 1 + len(rest)
    assert in_bits._repr_html_().count("<tr>") == len(rows) + 1


def test_a_block_of_ones_own_without_an_interval_has_what_its_gain_says():
    class Still:
        name, costly = "still", False

        def step(self, state):
            return Step(state, 0.0, 0.25, dl.answers.Scope.FEASIBLE)

    record = channel(PARITY, 2.5)
    scheme = LeakageScheme(record, ("posterior",))
    scheme.blocks = [Still()]
    (turn,) = alternate(scheme, start=record.uniform).trace[0].certificates
    value = scheme.value(record.uniform)
    assert (turn.lower, turn.upper, turn.solver, turn.moved) == (0.0, value + 0.25, "own", False)
