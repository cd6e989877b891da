"""What notebooks show of problems, results and measures: everything as text, and every interval outward."""

import re
from fractions import Fraction

import numpy as np

import dalenius as dl
from dalenius.answers import ConstraintPrice, LeastFavourablePrior
from dalenius.export import written
from dalenius.programs import MarginalUpdate
from dalenius.units import UNITS, lower_in, upper_in

EVIL = "<script>alert('x')</script>"


def test_problems_results_and_measures_show_themselves():
    problem = dl.WorstCaseLeakage(
        records=dl.Records(2, alphabet=2),
        query=dl.Count(),
        mechanism=dl.geometric(1),
        adversary=dl.AnyPrior(),
        title=EVIL,
    )
    result = dl.solve(problem)
    for shown in (problem, result, result.to("bits"), dl.measure(problem)):
        page = shown._repr_html_()
        assert page.startswith("<table>")
        assert "<script" not in page
    assert "mechanism.epsilon" in problem._repr_html_()
    for units in UNITS:
        low, high = re.search(
            rf"leakage in {units}</th><td>(\S+) \.\. (\S+) {units} of \S+ \w+ possible</td>", result._repr_html_()
        ).groups()
        assert Fraction(low) <= lower_in(result.lower, units)
        assert Fraction(high) >= upper_in(result.upper, units)


def test_a_design_and_one_that_nothing_meets():
    design = dl.load("infeasible/negative-leakage")
    assert "inf" in dl.solve(design)._repr_html_()
    assert "problem" in design._repr_html_()


def test_the_largest_information_is_called_no_leakage():
    private = dl.MaxInformation(records=dl.Records(1, alphabet=2), query=dl.Identity(), privacy=dl.LocalDP("log 3"))
    shown = dl.solve(private)._repr_html_()
    assert all(f">largest information in {units}</th>" in shown for units in UNITS)
    assert "leakage" not in shown


def test_answers_are_shown_in_two_lines():
    problem = dl.WorstCaseLeakage(
        records=dl.Records(2, alphabet=2), query="count", mechanism="geometric 1", adversary="product_priors"
    )
    result = dl.solve(problem)
    assert repr(result) == f"<Result: {result}>"
    found = dl.measure(problem, time_limit=5)
    answers = (
        result,
        result.witness,
        found,
        found["local_dp"],
        dl.convert("local_dp", 1, to="pointwise_maximal_leakage", p_min="0.2"),
    )
    block, offered = dl.subproblem(problem, "marginal").solve(), written(dl.load("sum/unequal-alphabets"))
    assert "rules used" not in repr(dl.verify(problem, result.certificate))
    for answer in (*answers, dl.audit(problem), block, *block.attempts, *offered):
        assert len(repr(answer)) <= 160
        assert "\n" not in repr(answer)


def test_prices_priors_and_programs_are_read_in_one_line():
    price = ConstraintPrice(0, "error", 0.25, units="nats per unit")
    assert str(price) == "constraints[0] (error) binds, at a price of 0.25 nats per unit"
    assert str(ConstraintPrice(None, "max_distortion", 0.0)) == "max_distortion does not bind"
    prior = LeastFavourablePrior("adversary", 0, np.array([[0.5, 0.0], [0.125, 0.375]]), 0.418)
    assert str(prior) == "adversary, record 0, weight 0.418, masses [[0.5 0. ] [0.125 0.375]]"
    large = LeastFavourablePrior("adversary", 0, np.full((2, 1000), 1 / 2000), 1.0)
    assert len(str(large)) < 200
    roomy = ConstraintPrice(0, "error", 0.25, slack=Fraction(1, 3), units="nats per unit")
    assert str(roomy).endswith("per unit; slack 0.333333")
    program = MarginalUpdate(np.eye(2), np.zeros(2), 0.5)
    names = ", ".join(f"{name} {variable.shape}" for name, variable in program.variables.items())
    assert str(program).startswith(f"<MarginalUpdate: maximises over {names}")
