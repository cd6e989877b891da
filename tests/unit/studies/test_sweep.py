"""Leakage against entropy: which way each point is found."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import dalenius as dl
from dalenius.studies.sweep import entropy_curve

SHARES = [Fraction(1, 2), Fraction(3, 4)]


def test_a_scheme_and_a_solver_of_ones_choice_at_every_point(support):
    problem = support.parity4(2.0)
    plain = list(entropy_curve(problem, SHARES, gap=1e-2))
    found = list(entropy_curve(problem, SHARES, gap=1e-2, method="alternating", solver="clarabel"))
    assert {use.solver for point in found for use in point.result.solvers} == {"clarabel"}
    for point, other in zip(found, plain, strict=True):
        assert point.result.alternating[0].scope is dl.Scope.BLOCKWISE
        assert not other.result.alternating
        assert point.result.lower <= other.result.upper
        assert other.result.lower <= point.result.upper


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"solver": "clarabel"}, "choose method="),
        ({"solver": "gurobi"}, "solver: expected one of auto, own, clarabel, mosek, scs; got 'gurobi'"),
        ({"method": "exchange"}, "method: of an audit expected alternating, or none"),
    ],
)
def test_a_way_that_has_no_meaning_is_refused_before_the_first_point(support, options, words):
    with pytest.raises(dl.InputError, match=words):
        entropy_curve(support.parity4(2.0), SHARES, **options)


def test_the_command(command_line):
    ways = ["--method", "alternating", "--solver", "own"]
    done = command_line("sweep", "parity/laplace-n4", "-o", "out", "--points", "2", "--gap", "1e-2", *ways, "--json")
    assert done.returncode == 0, done.stderr
    first, _ = json.loads(done.stdout)["points"]
    assert {use["solver"] for use in first["solvers"]} == {"own"}
    assert [one["record"] for one in first["alternating"]] == [0]
    refused = command_line("sweep", "parity/laplace-n4", "-o", "out", "--solver", "clarabel")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)
