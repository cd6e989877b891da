"""Designs that minimise several leakages and distortions at once: closed forms, what the proof rests on, limits, what is refused."""

import dataclasses
import json
import math
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from clocks import PATIENCE
from dalenius._join import join
from dalenius.baselines import aggregated, design_run
from dalenius.designs.exchange import Exchange
from dalenius.evidence.lower import TermLine, WeightLine
from dalenius.evidence.upper import TermSection
from dalenius.export import offers, subproblem
from dalenius.programs.base import Program
from dalenius.search import Limits, Run
from dalenius.studies.curves import Band, spread_budgets
from dalenius.studies.release import bound_of

BIT = {
    "records": dl.Records(1, alphabet=2),
    "query": dl.Identity(),
    "distortion": dl.Hamming(),
    "adversary": dl.ProductPriors(),
}
COUNT = {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
LISTED = dl.PriorSet([[Fraction(1, 8)] * 8, [Fraction(1, 2), 0, 0, 0, 0, 0, 0, Fraction(1, 2)]])
WRONG = dl.objectives.DistortionTerm(dl.Hamming(), weight="3/2")


def told(flip: float) -> float:
    """The capacity of a bit that is told wrongly so often."""
    return math.log(2) - support.binary_entropy(flip)


def proved(problem: dl.problems.DesignProblem, **options) -> dl.answers.DesignResult:
    """Solved; what is promised of any result holds, and what the terms come to is at most `upper`."""
    result = support.solve_design(problem, **options)
    if result.mechanism is not None:
        ends = [Fraction(term.upper) for term in result.objective]
        assert problem.objective.of(ends) <= Fraction(result.upper)
        assert [Fraction(text) for text in result.certificate.header.terms] >= ends
        assert_weights_are_allowed(problem, result)
    return result


def assert_weights_are_allowed(problem: dl.problems.DesignProblem, result: dl.answers.DesignResult) -> None:
    """v_j <= w_j, or sum v_j / w_j <= 1, exactly, for the weights as the certificate writes them."""
    shares = [Fraction(0)] * len(problem.objective.weights)
    for line in result.certificate.lower_lines():
        if line.word in ("weight", "term"):
            shares[line.term] += Fraction(line.weight) / problem.objective.weights[line.term]
        elif line.word == "prior" and isinstance(problem, dl.MinLeakage):
            shares[0] += Fraction(line.weight) / problem.objective.weights[0]
    whole = sum(shares) if problem.objective.combine == "max" else max(shares)
    assert whole <= 1
    assert result.lower == 0.0 or whole > 1 - 1e-12


# ---------------------------------------------------------------- what the optimum is


def test_a_bit_that_pays_for_every_error():
    """Least log 2 - h(f) + w f: log((1-f)/f) = w. A budget that nobody exceeds plays no part, however large it is."""
    result = proved(dl.MinLeakage(**BIT, max_distortion=10**15, objective=dl.objectives.WeightedSum([WRONG])))
    flip = 1 / (1 + math.exp(1.5))
    assert result.lower <= told(flip) + 1.5 * flip <= result.upper
    assert result.units == "objective"
    leakage, distortion = result.objective
    assert (leakage.kind, leakage.units, distortion.kind, distortion.weight) == ("leakage", "nats", "distortion", 1.5)
    assert distortion.upper == result.distortion
    assert abs(float(distortion.upper) - flip) < 1e-2
    assert [term.multiplier for term in result.objective] == pytest.approx([1.0, 1.5])
    assert str(result).endswith("(gap_reached)")
    assert "least objective" in str(result)


def test_a_bit_whose_leakage_and_weighted_error_are_alike():
    """Least max(log 2 - h(f), w f), which is where both are one."""
    low, high = 1e-9, 0.5
    while high - low > 1e-15:
        flip = 0.5 * (low + high)
        low, high = (flip, high) if told(flip) > 1.5 * flip else (low, flip)
    result = proved(dl.MinLeakage(**BIT, max_distortion=1, objective=dl.objectives.WeightedMaximum([WRONG])))
    assert result.lower <= told(low) + 1e-12
    assert 1.5 * high <= result.upper + 1e-12
    assert all(term.multiplier > 0 for term in result.objective)


def test_a_private_release_may_be_wrong_in_two_ways():
    """Three letters told right with probability e^epsilon/(e^epsilon + 2) = 1/2: k-ary randomised response is best for both terms."""
    given = {
        "records": dl.Records(1, alphabet=3),
        "query": dl.Identity(),
        "distortion": dl.Hamming(),
        "privacy": dl.LocalDP("log 2"),
    }
    cyclic = dl.objectives.DistortionTerm(dl.DistortionMatrix([[0, 1, 1], [1, 0, 1], [1, 1, 0]]), weight=2)
    for kind, best in ((dl.objectives.WeightedSum, 1.5), (dl.objectives.WeightedMaximum, 1.0)):
        result = proved(dl.MinDistortion(**given, objective=kind([cyclic])))
        assert result.lower <= best <= result.upper
        assert result.upper - result.lower < 1e-9
        assert result.exp_epsilon <= 2
        assert result.audit is None
        exact = result.certificate.header.claim == (Fraction(best), Fraction(best))
        assert exact == (kind is dl.objectives.WeightedSum), (
            "a sum of distortions is a linear program, solved at its vertex"
        )
    assert [
        term.multiplier
        for term in proved(dl.MinDistortion(**given, objective=dl.objectives.WeightedSum([cyclic]))).objective
    ] == [1, 2]
    leaking = proved(
        dl.MinDistortion(
            **given, objective=dl.objectives.WeightedMaximum([dl.objectives.LeakageTerm(dl.ProductPriors(), weight=20)])
        )
    )
    assert leaking.upper > 0.5
    assert leaking.objective[1].multiplier > 0


def test_several_adversaries_and_a_limit_at_once():
    """A least distortion with two leakages that are paid for, one that is limited, one that is the budget, and rows."""
    terms = [
        dl.objectives.LeakageTerm(dl.ProductPriors(), weight=2),
        dl.objectives.LeakageTerm(LISTED, weight="1/7"),
        dl.objectives.DistortionTerm(dl.Squared()),
    ]
    problem = dl.MinDistortion(
        **COUNT, adversary=dl.EntropyAtLeast("1 max"), max_leakage="0.12 nats", objective=dl.objectives.WeightedSum(terms, weight=3),
        constraints=[dl.constraints.LeakageLimit(LISTED, "0.3"), dl.LocalDP("log 20")],
    )  # fmt: skip
    result = proved(problem, gap=1e-2)
    assert result.gap <= 1e-2
    assert result.leakage[1] <= 0.12
    assert {TermLine, WeightLine} <= {type(line) for line in result.certificate.lower_lines()}
    assert [line.term for line in result.certificate.upper_lines() if isinstance(line, TermSection)] == [1, 2]
    for j, adversary in ((1, dl.ProductPriors()), (2, LISTED)):
        again = dl.solve(problem.release(result.mechanism.rows, adversary))
        assert again.lower <= result.objective[j].upper
        assert result.objective[j].lower <= again.upper
    assert [term.multiplier for term in result.objective] == pytest.approx([3.0, 2.0, 1 / 7, 1.0])
    in_bits = result.with_leakages_in("bits").objective
    assert in_bits[1].upper * math.log(2) == pytest.approx(result.objective[1].upper)
    assert [term.units for term in in_bits] == ["distortion", "bits", "bits", "distortion"]
    support.refused(lambda: result.to("bits"), "an objective counts in weighted nats and distortions")


def test_the_class_additive_and_what_is_best_silent():
    modular = {
        "records": dl.Records(2, alphabet=3),
        "query": dl.ModularSum(3),
        "distortion": dl.Hamming(),
        "mechanism": "additive",
    }
    terms = [dl.objectives.LeakageTerm(dl.EntropyAtLeast("0.9 max"), weight=2)]
    objective = dl.objectives.WeightedMaximum(terms)
    paid = dl.objectives.WeightedSum([*terms, dl.objectives.DistortionTerm(dl.Hamming(), weight=3)])
    result = proved(
        dl.MinLeakage(**modular, adversary=dl.ProductPriors(), max_distortion="0.3", objective=paid), gap=1e-2
    )
    assert result.gap <= 1e-2
    first, second, third = result.mechanism.rows
    assert first == (*second[1:], second[0]) == (*third[2:], *third[:2])
    silent = proved(dl.MinLeakage(**modular, adversary=dl.ProductPriors(), max_distortion=1, objective=objective))
    assert silent.upper == 0.0
    assert [term.upper for term in silent.objective] == [0.0, 0.0]


def test_symmetries_that_a_term_breaks_are_not_used():
    given = {**COUNT, "adversary": dl.EntropyAtLeast("0.5 max"), "max_distortion": 1}
    lopsided = dl.objectives.DistortionTerm(
        dl.DistortionMatrix([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [2, 1, 1, 0]])
    )
    for term, maps in (
        (dl.objectives.DistortionTerm(dl.Squared()), 1),
        (lopsided, 0),
        (dl.objectives.LeakageTerm(dl.ProductPriors()), 0),
    ):
        problem = dl.MinLeakage(**given, objective=dl.objectives.WeightedSum([term]))
        assert len(Exchange(problem, Run.of(Limits())).orbits.moving_outputs) == maps


def test_the_unit_of_the_distortions_makes_no_difference():
    ends = []
    for unit in (1, 10**12):
        costs = [dl.DistortionMatrix([[0, k * unit], [unit, 0]]) for k in (1, 2)]
        objective = dl.objectives.WeightedMaximum([dl.objectives.DistortionTerm(costs[1])])
        result = proved(
            dl.MinDistortion(**BIT | {"distortion": costs[0]}, max_leakage="0.1 nats", objective=objective), gap=1e-4
        )
        assert result.gap <= 1e-4
        ends.append((Fraction(result.lower) / unit, Fraction(result.upper) / unit))
    assert max(low for low, _ in ends) <= min(high for _, high in ends)


@each("kind", dl.objectives.WeightedSum, dl.objectives.WeightedMaximum)
def test_the_unit_of_the_weights_makes_no_difference(kind):
    ends = []
    for unit in (Fraction(1), Fraction(1, 10**30), Fraction(10**60)):
        terms = [dataclasses.replace(WRONG, weight=unit * Fraction(3, 2))]
        result = proved(dl.MinLeakage(**BIT, max_distortion=1, objective=kind(terms, weight=unit)), gap=1e-6)
        assert result.gap <= 1e-6
        ends.append((Fraction(result.lower) / unit, Fraction(result.upper) / unit))
    assert max(low for low, _ in ends) <= min(high for _, high in ends)
    with pytest.raises(dl.errors.InputError, match="none less than 1e-15 of another"):
        dl.MinLeakage(**BIT, max_distortion=1, objective=kind([WRONG], weight=Fraction(1, 10**20)))


# ---------------------------------------------------------------- what the claim rests on


@each("kind", dl.objectives.WeightedSum, dl.objectives.WeightedMaximum)
def test_without_a_weight_that_is_needed_the_claim_is_rejected(kind):
    objective = kind([WRONG, dl.objectives.LeakageTerm(dl.FixedPrior([0.25, 0.75]))])
    problem = dl.MinLeakage(**BIT, max_distortion=1, objective=objective)
    result = proved(problem)
    header, *lines = result.certificate.text.splitlines()

    def stands(changed: list[str], first: str = header) -> bool:
        return dl.verify(problem, dl.Certificate("\n".join([first, *changed, ""]))).proved

    assert stands(lines)
    weight = next(line for line in lines if line.startswith('["weight",1'))
    assert not stands([line for line in lines if line != weight])
    assert not stands([line for line in lines if not line.startswith('["prior"')])
    assert not stands([json.dumps(["weight", 1, "1.6"]) if line == weight else line for line in lines])
    assert not stands([*lines[:2], weight, *lines[1:]])
    ends = json.loads(header)
    lower = {**ends, "terms": [ends["terms"][0], str(float(ends["terms"][1]) * 0.99), *ends["terms"][2:]]}
    assert not stands(lines, json.dumps(lower))
    heavier = dataclasses.replace(problem, objective=kind([dataclasses.replace(WRONG, weight=1), *objective.terms[1:]]))
    assert not dl.verify(heavier, result.certificate).proved


def test_infeasible_designs_name_what_is_in_conflict():
    problem = dl.MinLeakage(
        **COUNT, adversary=LISTED, max_distortion=3, constraints=[dl.LocalDP("log 3"), dl.constraints.Band(1)],
        objective=dl.objectives.WeightedMaximum([dl.objectives.DistortionTerm(dl.Squared())]),
    )  # fmt: skip
    result = proved(problem)
    assert str(result) == "no mechanism meets constraints[0] (local_dp) and constraints[1] (band) (proved)"
    assert (result.objective, result.certificate.header.terms) == ((), None)
    never = dataclasses.replace(problem, constraints=(), max_distortion=-1)
    assert proved(never).termination is dl.answers.Termination.INFEASIBLE


def test_little_time_gives_a_wide_interval(work_clock):
    problem = support.design(
        dl.MinLeakage,
        dl.Records(5, alphabet=2),
        dl.Count(),
        dl.Absolute(),
        1,
        "0.8 max",
        objective=dl.objectives.WeightedSum(
            [dl.objectives.LeakageTerm(dl.EntropyAtLeast("0.9 max")), dl.objectives.DistortionTerm(dl.Squared())]
        ),
    )
    result = proved(problem, gap=1e-9, time_limit=0.3)
    assert result.termination is dl.answers.Termination.TIME_LIMIT
    assert 0.0 < result.lower <= result.upper < 3.0
    assert len(result.objective) == 3


def test_what_a_solver_may_take_follows_from_the_clock_that_counts_work(monkeypatch):
    """A third of a second of work is minutes of the machine, so that a busy one does not stop a solver that an idle one would not.

    That is so of the first program: a round that begins just before the time is over has what is left.
    """
    limits, solve = [], Program.solve

    def noted(program: Program, **options: object) -> object:
        limits.append(options["time_limit"])
        return solve(program, **options)

    monkeypatch.setattr(Program, "solve", noted)
    bit = {
        "records": dl.Records(2, alphabet=2),
        "query": dl.Count(),
        "distortion": dl.Absolute(),
        "max_distortion": 0.3,
    }
    adversary = dl.EntropyAtLeast("0.8 max")
    for objective in (None, dl.objectives.WeightedSum([dl.objectives.LeakageTerm(dl.EntropyAtLeast("0.9 max"))])):
        dl.solve(dl.MinLeakage(**bit, adversary=adversary, objective=objective), gap=0.1, time_limit=0.3)
        assert limits
        assert 10.0 < limits[0] == max(limits) <= 0.3 * PATIENCE
        limits.clear()


def test_two_proofs_become_one():
    """The lower end of the one with the mechanism, and the ends of its terms, of the other."""
    terms = [dl.objectives.LeakageTerm(dl.FixedPrior([0.25, 0.75])), WRONG]
    problem = dl.MinLeakage(**BIT, max_distortion=1, objective=dl.objectives.WeightedMaximum(terms))
    one, other = proved(problem, gap=1e-6).certificate, proved(problem, gap=0.5).certificate
    header = json.loads(one.text.splitlines()[0]) | {"lower": "0.1"}
    loose = dl.Certificate("\n".join([json.dumps(header), *one.text.splitlines()[1:], ""]))
    both = join(problem, loose, other)
    assert dl.verify(problem, both).proved
    assert both.header.upper == min(one.header.upper, other.header.upper, key=Fraction)
    assert both.header.terms in (one.header.terms, other.header.terms)


@pytest.mark.thorough
def test_few_nodes_give_a_wide_interval():
    terms = [
        dl.objectives.LeakageTerm(dl.EntropyAtLeast("0.8 max"), weight="1/2"),
        dl.objectives.DistortionTerm(dl.Squared()),
    ]
    problem = support.design(
        dl.MinLeakage,
        dl.Records(2, alphabet=2),
        dl.Count(),
        dl.Absolute(),
        1,
        "0.9 max",
        objective=dl.objectives.WeightedMaximum(terms),
    )
    result = proved(problem, gap=1e-2, node_limit=1)
    assert result.termination is dl.answers.Termination.SIZE_LIMIT
    assert 0.0 < result.lower < result.upper


# ---------------------------------------------------------------- what else there is


def test_budgets_and_releases_and_exports_know_it():
    problem = dl.MinLeakage(**BIT, max_distortion="0.1", objective=dl.objectives.WeightedSum([WRONG]))
    points = list(dl.frontier(problem, ["0.05", "0.1", "0.2"], gap=1e-3))
    assert [point.result.units for point in points] == ["objective"] * 3
    band, best = Band(points), told(0.15) + 0.225
    assert band.lower("0.15") <= best <= band.upper("0.15")
    result = points[1].result
    released = bound_of(problem, result.mechanism, Fraction(result.upper), result.certificate)
    assert released.nats == result.objective[0].upper < result.upper
    for certificate in (None, result.certificate):
        assert [offer.name for offer in offers(problem, certificate)] == ["master"]
        answer = subproblem(problem, "master", certificate).solve(solver="clarabel")
        assert answer.lower <= result.upper
        assert answer.gap < 1e-6
    assert answer.upper >= result.lower - 1e-3


def test_what_knows_no_objectives_refuses_them():
    objective = dl.objectives.WeightedSum([dl.objectives.DistortionTerm(dl.Squared())])
    problem = dl.MinLeakage(**COUNT, adversary=dl.EntropyAtLeast("1 nats"), max_distortion="0.2", objective=objective)
    for refused, message in (
        (lambda: dl.solve(problem, method="alternating"), "method: a design with an objective of several terms"),
        (lambda: dl.solve(problem, solver="own"), "solver: our own method knows no objective of several terms"),
        (lambda: dl.compare(problem), "compare: expected a design without an objective of several terms"),
        (lambda: spread_budgets(problem, 3), "without an objective of several terms; list budgets"),
        (
            lambda: design_run(problem, aggregated(problem), np.random.default_rng(0)),
            "baselines: expected a design without",
        ),
    ):
        with pytest.raises(dl.errors.InputError, match=message):
            refused()


def test_the_command_line_says_what_the_terms_come_to(tmp_path, command_line):
    problem = dl.MinLeakage(**BIT, max_distortion=1, objective=dl.objectives.WeightedSum([WRONG]))
    (model := tmp_path / "bit.toml").write_text(dl.dumps(problem))
    answer = json.loads(command_line("solve", model, "--json", "--units", "bits").stdout)
    assert answer["units"] == "objective"
    assert [term["kind"] for term in answer["objective"]] == ["leakage", "distortion"]
    assert answer["objective"][0]["units"] == "bits"
    assert answer["objective"][1]["weight"] == "3/2"
    shown = command_line("solve", model, "-o", tmp_path / "out").stdout
    assert "least objective" in shown
    assert "term 1 (distortion)" in shown
    assert "weight 3/2" in shown
