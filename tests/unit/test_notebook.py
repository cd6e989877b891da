"""What notebooks show of problems, results and measures: everything as text, and every interval outward."""

import re
from fractions import Fraction

import dalenius as dl
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
    for answer in (*answers, dl.audit(problem)):
        assert len(repr(answer)) <= 160
        assert "\n" not in repr(answer)
