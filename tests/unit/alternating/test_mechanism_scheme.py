"""The alternation for Problems 2 and 3: at rest where it should be, cycling where it does, and never below what is proved."""

import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.alternating import CycleWarning, MechanismScheme, Settings, alternate
from dalenius.designs.exchange import Exchange
from dalenius.outcome import Scope, Termination
from dalenius.search import Limits, Run


def parity(cls=dl.MinLeakage, **budget):
    return cls(
        records=dl.Records(3, alphabet=2),
        query=dl.Parity(),
        distortion=dl.Hamming(),
        adversary=dl.EntropyAtLeast(0.5),
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


def scheme(problem, gap=1e-3, seconds=30.0):
    return MechanismScheme(Exchange(problem, Run.of(Limits(gap=gap, time_limit=seconds), seed=1)))


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
    result = alternate(scheme(parity(dl.MinDistortion, max_leakage=budget), gap=1e-4), Settings(gap=1e-3, sweeps=30))
    assert result.value == pytest.approx(0.1, rel=1e-2)
    turns = result.summary(units="distortion").certificates
    assert {(turn.block, turn.units) for turn in turns} == {("mechanism", "distortion"), ("adversary", "nats")}
    assert all(turn.lower <= turn.upper for turn in turns)


def test_a_count_cycles_with_the_evidence():
    """The best mechanism for one prior tells another one everything."""
    with pytest.warns(CycleWarning, match="back at its state"):
        result = alternate(scheme(count()), Settings(gap=1e-3, sweeps=40))
    assert result.termination is Termination.STALLED
    assert result.scope is Scope.FEASIBLE
    assert result.cycle is not None
    assert result.cycle.second > result.cycle.first + 1
    assert result.gains["adversary"] > 0.05, "an adversary is certified to be told more"


@pytest.mark.thorough
def test_its_interval_is_proved_but_stops_short_of_the_exchange():
    problem = count()
    with pytest.warns(CycleWarning):
        short = dl.solve(problem, method="alternating", gap=1e-2, time_limit=20.0)
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
