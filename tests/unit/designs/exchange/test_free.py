"""Mechanisms become exact, and exactly as symmetric as their problem."""

import math
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from campaigns import each
from dalenius.designs.exchange.free import FreeRegion
from dalenius.designs.exchange.keeping import upper_after
from dalenius.reduction import Orbits
from dalenius.search import Limits, Progress, Run

COUNT = {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
SUM = {"records": dl.Records(2, alphabet=3), "query": dl.ModularSum(3), "distortion": dl.Hamming()}
LOPSIDED = dl.DistortionMatrix([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 2, 1, 0]])


def region_of(parts, mechanism):
    """Of a design without a budget of distortion."""
    problem = dl.MinDistortion(**parts, mechanism=mechanism, max_leakage="1/4", adversary=dl.EntropyAtLeast("0.8 max"))
    return FreeRegion(problem, Orbits.of(problem), Run.of(Limits()))


@each("parts, mechanism", (COUNT, "oblivious"), (COUNT, "full"), (SUM, "oblivious"), (SUM, "additive"))
def test_exact_rows_are_as_symmetric_as_the_problem(parts, mechanism):
    """However the mechanism in doubles is: the mean over the symmetries, which costs as much exactly and is exactly stochastic."""
    region = region_of(parts, mechanism)
    tied, problem = region.tied, region.problem
    q = np.random.default_rng(0).dirichlet(np.full(tied.outputs, 0.5), size=tied.rows)
    own = region.own_rows(region.exact(q, []))
    rows = problem.tied.expand_rows(own)
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows)
    symmetries = region.orbits.moving_outputs
    assert symmetries
    on_orbits = dict(zip(region.orbits.orbit.tolist(), rows, strict=True))
    for symmetry in symmetries:
        for k, row in on_orbits.items():
            image = on_orbits[int(symmetry.inputs[k])]
            assert [image[y] for y in symmetry.outputs.tolist()] == list(row)
    cost = float(np.sum(region.orbits.cost * tied.expand(q)))
    assert float(problem.expected_distortion(own)) == pytest.approx(cost, abs=1e-11)


def test_without_symmetries_they_are_what_they_are():
    region = region_of({**COUNT, "distortion": LOPSIDED}, "oblivious")
    assert not region.orbits.moving_outputs
    Q = np.array([[0.5, 0.25, 0.125, 0.125]] * 3 + [[0.0, 0.0, 0.0, 1.0]])
    assert region.own_rows(region.exact(Q, [])) == [[Fraction(x) for x in row] for row in Q.tolist()]


def test_a_later_mixture_leaves_what_an_audit_had_come_to_in_its_time():
    """Of the upper ends that an audit tells on its way, the least of those in time; none before the first."""
    trace = [Progress(seconds, "dual", 0.1, upper, 1) for seconds, upper in ((0.5, 0.4), (1.0, 0.2), (2.0, 0.11))]
    ends = [upper_after(trace, seconds) for seconds in (0.1, 0.5, 1.9, 2.0, 9.0)]
    assert ends == [math.inf, 0.4, 0.2, 0.11, 0.11]
