"""Designs with constraints: closed forms, exact mechanisms, prices, infeasibility with its reasons, limits."""

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np

import dalenius as dl
import support
from campaigns import each
from dalenius.designs.exchange import Exchange
from dalenius.evidence.lower import AlsoLine, ConeLine, MultiplierLine
from dalenius.model.constraints import (
    Affine,
    Band,
    ErrorCap,
    LeakageLimit,
    Linear,
    LocalDPBetween,
    Monotone,
    SecondOrderCone,
    Unbiased,
    ZeroEntries,
)

FAIR = {"records": dl.Records(1, alphabet=2), "query": dl.Identity(), "adversary": dl.ProductPriors()}
COUNT = {"records": dl.Records(3, alphabet=2), "query": dl.Count()}
LISTED = dl.PriorSet([[Fraction(1, 8)] * 8, [Fraction(1, 2), 0, 0, 0, 0, 0, 0, Fraction(1, 2)]])


def entropy(*laws: float) -> float:
    return -sum(p * math.log(p) for p in laws if p > 0.0)


def proved(problem: dl.problems.DesignProblem, **options) -> dl.answers.DesignResult:
    """Solved; what is promised of any result holds."""
    result = dl.solve(problem, **{"gap": 1e-4, "time_limit": 60.0} | options)
    assert dl.verify(problem, result.certificate).proved
    if result.mechanism is None:
        return result
    assert all(sum(row) == 1 and min(row) >= 0 for row in result.mechanism.rows)
    for price in result.constraints:
        assert price.slack is None or price.slack >= 0
    return result


# ---------------------------------------------------------------- what the optimum is


def test_a_capped_error_is_a_rate_distortion_problem():
    """An error of at most 0.1 for each bit, whatever its probability: capacity of the channel that attains it."""
    problem = dl.MinLeakage(**FAIR, distortion=dl.Hamming(), max_distortion=1, constraints=[ErrorCap("0.1")])
    result = proved(problem)
    assert result.lower <= math.log(2) - entropy(0.1, 0.9) <= result.upper
    assert [price.binds for price in result.constraints] == [True]
    assert str(result.constraints[0]) == "constraints[0] (error)"
    assert dl.solve(dataclasses.replace(problem, constraints=())).upper == 0.0


def test_an_unbiased_bit_needs_outputs_beyond_it():
    """With outputs 0 and 1 it must be told as it is; with -1, 0, 1, 2 less is told, exactly on average."""
    ends = {**FAIR, "distortion": dl.Squared(), "max_distortion": 1, "constraints": [Unbiased()]}
    told = proved(dl.MinLeakage(**ends))
    assert told.mechanism.rows == ((1, 0), (0, 1))
    assert told.lower <= math.log(2) <= told.upper
    wider = proved(dl.MinLeakage(**{**ends, "distortion": dl.Squared(outputs=[-1, 0, 1, 2])}))
    assert wider.upper < 0.2
    for v, row in enumerate(wider.mechanism.rows):
        assert sum(o * q for o, q in zip([-1, 0, 1, 2], row, strict=True)) == v
    assert wider.constraints[1].slack == 0
    assert wider.mechanism.outputs == (-1, 0, 1, 2)


def test_a_privacy_notion_with_constraints_is_a_linear_program():
    """k-ary randomised response, right with probability e^epsilon/(e^epsilon + k - 1), is best; a zero in it makes it impossible."""
    given = {"records": dl.Records(1, alphabet=3), "query": dl.Identity(), "distortion": dl.Hamming()}
    result = proved(dl.MinDistortion(**given, privacy=dl.LocalDP("log 2"), constraints=[ErrorCap("1/2")]))
    assert result.lower <= 0.5 <= result.upper
    assert result.upper - result.lower < 1e-9
    assert result.exp_epsilon <= 2
    pointwise = dl.MinDistortion(
        **given,
        law=dl.Iid([0.5, 0.3, 0.2]),
        privacy=dl.PointwiseMaximalLeakage("log 2"),
        constraints=[Monotone()],
    )
    assert proved(pointwise).lower <= 0.2 <= proved(pointwise).upper
    never = dl.MinDistortion(
        **given,
        privacy=dl.LocalDP(1),
        constraints=[ZeroEntries([(0, 2)]), ErrorCap("1/2")],
    )
    assert (
        str(proved(never)) == "no mechanism meets privacy and constraints[0] (zero) and constraints[1] (error) (proved)"
    )


def test_several_adversaries_and_a_cone():
    """The limits of all hold, proved each by its own sections; multipliers of everything are in the certificate."""
    problem = dl.MinLeakage(
        **COUNT, adversary=LISTED, distortion=dl.Absolute(), max_distortion="0.4",
        constraints=[
            LeakageLimit(dl.PriorSet([[Fraction(1, 4), 0, 0, Fraction(1, 4), 0, Fraction(1, 4), Fraction(1, 4), 0]]), "0.05"),
            SecondOrderCone([Affine([(0, y, 1)]) for y in (1, 2, 3)], constant="0.3"),
            LocalDPBetween("log 12", pairs=[(1, 2)]),
        ],
    )  # fmt: skip
    result = proved(problem, gap=1e-3)
    rows = result.mechanism.rows
    assert sum(q * q for q in rows[0][1:]) <= Fraction(9, 100)
    assert all(rows[a][y] <= 12 * rows[b][y] for a, b in ((1, 2), (2, 1)) for y in range(4))
    assert dl.solve(problem.release(rows, problem.own_constraints[0].adversary)).upper <= 0.05
    kinds = {type(line) for line in result.certificate.lower_lines()}
    assert {AlsoLine, ConeLine, MultiplierLine} <= kinds
    assert all(price.binds for price in result.constraints)
    assert result.gap <= 1e-3


def test_a_least_distortion_within_two_limits_of_leakage():
    problem = dl.MinDistortion(
        **COUNT, adversary=LISTED, distortion=dl.Absolute(), max_leakage="0.3 bits",
        constraints=[LeakageLimit(dl.ProductPriors(), "0.1"), ErrorCap("1.4")],
    )  # fmt: skip
    result = proved(problem, gap=1e-3)
    assert result.gap <= 1e-3
    assert result.leakage[1] <= 0.3 * math.log(2)
    looser = proved(dataclasses.replace(problem, constraints=problem.own_constraints[1:]), gap=1e-3)
    assert looser.upper < result.lower


def test_symmetries_that_constraints_break_are_not_used():
    """The class full on three bits: four orbits where the constraints treat records alike, six where they name a dataset."""
    given = {**COUNT, "adversary": dl.EntropyAtLeast("0.5 max"), "mechanism": "full", "distortion": dl.Absolute()}
    alike = dl.MinLeakage(**given, max_distortion=1, constraints=[ErrorCap("0.5")])
    single = dl.MinLeakage(**given, max_distortion=1, constraints=[ErrorCap("0.5", groups=[[1]])])
    from dalenius.search import Limits, Run

    assert len(Exchange(alike, Run.of(Limits())).orbits.cost) == 4
    assert len(Exchange(single, Run.of(Limits())).orbits.cost) == 6
    modular = support.design(
        dl.MinLeakage,
        dl.Records(2, alphabet=3),
        dl.ModularSum(3),
        dl.Hamming(),
        "0.5",
        dl.PriorSet([[Fraction(1, 9)] * 9]),
        mechanism="additive",
        constraints=[Linear([(0, 1, 1), (0, 2, -3)], equals=0)],
    )
    q = proved(modular).mechanism.rows[0]
    assert q[1] == 3 * q[2]


# ---------------------------------------------------------------- nothing is feasible


@each(
    "constraints, names",
    
        ([dl.LocalDP("log 3"), Band(1)], "constraints[0] (local_dp) and constraints[1] (band)"),
        ([Monotone(), Unbiased(), ZeroEntries([(0, 0)])], "constraints[1] (unbiased) and constraints[2] (zero)"),
        ([SecondOrderCone([Affine([(1, y, 1)]) for y in range(4)], constant="0.45")], "constraints[0] (cone)"),
        ([ErrorCap("0.1"), LeakageLimit(LISTED, "0.1")], "constraints[0] (error) and constraints[1] (leakage)"),
        ([Band(3), LeakageLimit(LISTED, "-0.1")], "constraints[1] (leakage)"),
        ([Linear([(0, 0, 1)], equals="2/3"), Linear([(0, 0, 2)], at_most=1)], 
            "constraints[0] (linear) and constraints[1] (linear)"),
)  # fmt: skip
def test_infeasible_designs_are_proved_so_and_name_what_is_in_conflict(constraints, names):
    problem = dl.MinLeakage(
        **COUNT, adversary=LISTED, distortion=dl.Absolute(), max_distortion=3, constraints=constraints
    )
    result = proved(problem)
    assert result.termination is dl.answers.Termination.INFEASIBLE
    assert str(result) == f"no mechanism meets {names} (proved)"
    assert result.mechanism is None
    for number in range(len(constraints)):  # what the claim needs is needed
        header, *lines = result.certificate.text.splitlines()
        left = [line for line in lines if json.loads(line)[1] != number or json.loads(line)[0] in ("dual", "prior")]
        if len(left) < len(lines):
            assert not dl.verify(problem, dl.Certificate("\n".join([header, *left, ""]))).proved


def test_a_budget_of_leakage_below_what_constraints_need():
    problem = dl.MinDistortion(
        **COUNT,
        adversary=LISTED,
        distortion=dl.Absolute(),
        max_leakage="0.01",
        constraints=[ErrorCap(1)],
    )
    assert str(proved(problem)) == "no mechanism meets max_leakage and constraints[0] (error) (proved)"


# ---------------------------------------------------------------- what the claim rests on


def test_without_a_multiplier_that_binds_the_claim_is_rejected():
    problem = dl.MinLeakage(
        **FAIR,
        distortion=dl.Hamming(),
        max_distortion=1,
        constraints=[ErrorCap("0.1"), Monotone()],
    )
    result = proved(problem)
    lines = result.certificate.text.splitlines()
    assert any(line.startswith('["multiplier",0') for line in lines)
    left = [line for line in lines if not line.startswith('["multiplier",0')]
    assert not dl.verify(problem, dl.Certificate("\n".join([*left, ""]))).proved
    other = dataclasses.replace(problem, constraints=[ErrorCap("0.11"), Monotone()])
    assert not dl.verify(other, result.certificate).proved


def test_what_does_not_go_with_constraints_is_refused():
    problem = dl.MinLeakage(
        **COUNT,
        adversary=dl.EntropyAtLeast(1),
        distortion=dl.Hamming(),
        max_distortion="0.2",
        constraints=[Monotone()],
    )
    support.refused(lambda: dl.solve(problem, method="alternating"), "method: a design with constraints")
    support.refused(lambda: dl.solve(problem, solver="own"), "solver: our own method knows no constraints")
    support.refused(lambda: dl.compare(problem), "compare: expected a design without constraints")


def test_little_time_gives_a_wide_interval():
    problem = support.design(
        dl.MinLeakage,
        dl.Records(5, alphabet=2),
        dl.Count(),
        dl.Absolute(),
        1,
        "0.8 max",
        constraints=[ErrorCap("0.9")],
    )
    result = proved(problem, gap=1e-6, time_limit=1.0)
    assert result.termination is dl.answers.Termination.TIME_LIMIT
    assert 0.0 <= result.lower <= result.upper <= math.log(2) + 1e-9
    assert np.isfinite(float(result.distortion))
