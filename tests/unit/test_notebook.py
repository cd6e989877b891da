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
