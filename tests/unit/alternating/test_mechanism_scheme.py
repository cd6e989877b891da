"""The alternation for Problems 2 and 3: at rest where it should be, cycling where it does, and never below what is proved."""

import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.alternating import CycleWarning, MechanismScheme, Settings, alternate
from dalenius.designs.exchange import Exchange
from dalenius.outcome import Scope, Termination
from dalenius.search import Limits, Run
from support import refused, refuses


def parity(cls=dl.MinLeakage, **budget):
    return cls(
        records=dl.Records(3, alphabet=2),
        query=dl.Parity(),
        distortion=dl.Hamming(),
        adversary=dl.EntropyAtLeast("0.5 nats"),
        **(budget or {"max_distortion": 0.1}),
    )


def count(**more):
    return dl.MinLeakage(
        records=dl.Records(3, alphabet=2),
        query=dl.Count(),
        distortion=dl.Absolute(),
        max_distortion=0.5,
        adversary=dl.EntropyAtLeast("0.5 max"),
        **more,
    )


def scheme(problem, gap=1e-3, seconds=30.0, **options):
    return MechanismScheme(Exchange(problem, Run.of(Limits(gap=gap, time_limit=seconds), seed=1)), **options)


def both(records, query, distortion, distorted, leaked, bound, law=None):
    """The least leakage, and the least distortion."""
    adversary = bound if isinstance(bound, dl.ProductPriors) else dl.EntropyAtLeast(bound, "nats")
    given = {"records": records, "query": query, "distortion": distortion, "adversary": adversary}
    given |= {"law": law or dl.Uniform()}
    return dl.MinLeakage(**given, max_distortion=distorted), dl.MinDistortion(**given, max_leakage=f"{leaked} nats")


BITS, TRITS = dl.Records(3, alphabet=2), dl.Records(2, alphabet=3)
TWENTY = [
    *both(dl.Records(3, alphabet=3), dl.ModularSum(3), dl.Hamming(), "0.25", 0.12, "0.85 max"),
    *both(BITS, dl.Count(), dl.Squared(), "0.6", 0.2, dl.ProductPriors()),
    *both(BITS, dl.Count(), dl.Absolute(), "0.4", 0.15, "0.75 max"),
    *both(dl.Records(2, alphabet=4), dl.ModularSum(4), dl.Hamming(), "0.3", 0.2, "0.8 max"),
    *both(TRITS, dl.Sum(), dl.Absolute(), "0.4", 0.2, "0.8 max"),
    *both(TRITS, dl.Sum(), dl.Squared(), "0.5", 0.3, "0.8 max"),
    *both(dl.Records(4, alphabet=2), dl.Threshold(2), dl.Hamming(), "0.2", 0.08, "0.7 max"),
    *both(dl.Records(4, alphabet=2), dl.Count(), dl.Absolute(), "0.5", 0.1, "0.6 max"),
    *both(dl.Records(2, alphabet=2), dl.Identity(), dl.Hamming(), "0.3", 0.2, "0.7 max", dl.Iid(["0.6", "0.4"])),
    *both(dl.Records(alphabets=[2, 3]), dl.Sum(), dl.Absolute(), "0.4", 0.15, "0.8 max"),
]


@pytest.mark.parametrize(
    "problem",
    # daily a leakage against a bound of entropy, and a distortion against independent records
    [p if k in (0, 3) else pytest.param(p, marks=pytest.mark.thorough) for k, p in enumerate(TWENTY)],
)
def test_a_bundle_comes_to_rest_near_the_optimum(problem):
    """Half of these cycle with a memory of one, and end at 0.5 to 0.98."""
    result = dl.solve(problem, method="alternating", gap=1e-2, time_limit=60.0)
    (one,) = result.alternating
    assert (one.scope, one.termination, one.cycle) == (Scope.BLOCKWISE, Termination.GAP_REACHED, None)
    assert result.gap <= 1e-2
    assert max(one.gains.values()) <= 1e-2 * one.value
    assert {turn.block for turn in one.certificates} == {"mechanism", "adversary"}
    for turn in one.certificates:
        assert turn.lower <= turn.upper
        assert (turn.paper is None) == (turn.block == "adversary")
        assert turn.paper is None or turn.paper >= turn.lower * (1.0 - 1e-9), "nothing in the budget is better"
    assert {use.solver for use in result.solvers} == {"clarabel"}
    best = dl.solve(problem, gap=1e-2, time_limit=60.0)
    assert max(result.lower, best.lower) <= min(result.upper, best.upper)


def test_a_bundle_is_one_program_for_each_power_of_two():
    """Priors are data of the mechanism's program: it is compiled as often as there are more than fit."""
    one = scheme(count(), gap=5e-2)
    result = alternate(one, Settings(gap=5e-2))
    sizes = [len(shape) for shape in one.programs]
    assert len(sizes) == len(set(sizes)) < len(result.trace)
    assert all(size & (size - 1) == 0 for size in sizes)
    assert len(result.state.priors) <= one.memory


test_a_memory_that_is_none_is_refused = refuses(
    (0, "memory: expected an integer of at least 1, got 0"),
    (2.5, "memory: expected an integer, got 2.5"),
    (float("nan"), "memory: expected an integer"),
    by=lambda memory: dl.solve(parity(), method="alternating", memory=memory),
)


def test_a_scheme_without_memory_is_refused():
    refused(lambda: scheme(parity(), memory=0), "memory: expected an integer of at least 1, got 0")


@pytest.mark.parametrize("problem", [count(), parity(dl.MinDistortion, max_leakage="0.1 nats")])
def test_hardly_any_time_is_an_honest_interval(problem):
    result = dl.solve(problem, method="alternating", time_limit=1e-3)
    assert 0.0 <= result.lower <= result.upper
    assert dl.verify(problem, result.certificate).proved
    assert len(result.alternating[0].trace) <= 1


def test_a_memory_without_an_alternating_design_is_refused():
    audit = parity().release([[0.9, 0.1], [0.1, 0.9]])
    support.refused(lambda: dl.solve(parity(), memory=4), "memory: of a design with method")
    support.refused(lambda: dl.solve(audit, method="alternating", memory=4), "memory: of a design with method")


def test_parity_rests_at_the_optimum_and_no_block_can_gain():
    """log 2 - h(0.1), docs/theory.md."""
    exact = np.log(2) + 0.1 * np.log(0.1) + 0.9 * np.log(0.9)
    result = alternate(scheme(parity(), gap=1e-5), Settings(gap=1e-5))
    assert result.scope is Scope.BLOCKWISE
    assert result.termination is Termination.GAP_REACHED
    assert result.value == pytest.approx(exact, rel=1e-4)
    assert max(result.gains.values()) <= 1e-5 * result.value + 1e-11
    mechanism, adversary = result.summary().trace[-1].certificates
    for turn in (mechanism, adversary):
        assert turn.lower - 1e-5 <= exact <= turn.upper + 1e-5
        assert (turn.gap <= 1e-4, turn.units, turn.scope) == (True, "nats", Scope.BLOCKWISE)


def test_parity_under_a_leakage_budget_rests_at_the_inverse():
    budget = float(np.log(2) + 0.1 * np.log(0.1) + 0.9 * np.log(0.9))
    result = alternate(
        scheme(parity(dl.MinDistortion, max_leakage=f"{budget} nats"), gap=1e-4), Settings(gap=1e-3, sweeps=30)
    )
    assert result.value == pytest.approx(0.1, rel=1e-2)
    turns = result.summary(units="distortion").certificates
    assert {(turn.block, turn.units) for turn in turns} == {("mechanism", "distortion"), ("adversary", "nats")}
    assert all(turn.lower <= turn.upper for turn in turns)


@pytest.mark.parametrize("memory", [1, pytest.param(2, marks=pytest.mark.thorough)])
def test_a_count_cycles_with_the_evidence(memory):
    """The best mechanism for one prior, or for two, tells another one everything."""
    with pytest.warns(CycleWarning, match="back at its state"):
        result = alternate(scheme(count(), memory=memory), Settings(gap=1e-3, sweeps=40))
    assert result.termination is Termination.STALLED
    assert result.scope is Scope.FEASIBLE
    assert result.cycle is not None
    assert result.cycle.second > result.cycle.first + 1
    assert result.gains["adversary"] > 0.05, "an adversary is certified to be told more"


@pytest.mark.thorough
def test_its_interval_is_proved_but_stops_short_of_the_exchange():
    problem = count()
    with pytest.warns(CycleWarning):
        short = dl.solve(problem, method="alternating", memory=1, gap=1e-2, time_limit=20.0)
    best = dl.solve(problem, gap=1e-2, time_limit=60.0)
    assert dl.verify(problem, short.certificate).proved
    assert short.upper > best.upper * 1.05
    assert short.lower <= best.upper
    assert best.lower > short.lower
    assert problem.expected_distortion(short.mechanism.rows) <= problem.budget


def test_additive_noise_alternates_too():
    problem = support.design(
        dl.MinLeakage, dl.Records(2, alphabet=3), dl.ModularSum(3), dl.Hamming(), 0.3, "0.5 max", mechanism="additive"
    )
    rows = alternate(scheme(problem), Settings(gap=1e-3, sweeps=20)).state.Q
    for v, row in enumerate(rows):
        np.testing.assert_allclose(row, np.roll(rows[0], v), atol=1e-12)


def test_an_unknown_method_is_refused():
    support.refused(lambda: dl.solve(parity(), method="gradient"), "method: expected one of exchange, alternating")
