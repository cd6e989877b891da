"""What multipliers prove is finite and written with posteriors above 0, whatever a solver says of them."""

import math

import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.designs.exchange import Exchange
from dalenius.designs.exchange.bound import OwnBound, design_bound
from dalenius.designs.exchange.goals import OWN, Goal
from dalenius.designs.oracle import Prior
from dalenius.search import Limits, Run


def test_posteriors_that_vanish_in_doubles():
    problem = support.design(
        dl.MinLeakage,
        dl.Records(1, alphabet=3),
        dl.Identity(),
        dl.Hamming(),
        "0.3",
        dl.AnyPrior(),
        constraints=[dl.constraints.ErrorCap("0.4")],
    )
    run = Exchange(problem, Run.of(Limits()))
    goal, masses = Goal(run.region, run.watchers), np.diag([1.0, 1e-30, 1e-30])
    watched = [(OWN, Prior(0, masses))]
    program = goal.program(watched, np.full((3, 3), 1 / 3))
    steep = np.array([[0.0, 0.0, 0.0], [-900.0, 0.0, 1.0], [0.0, -1e6, 0.0]])
    bound = design_bound(program, goal, watched, program.start()[1] | {"log_ratio": steep}, "nobody")
    assert bound.priors[0][1].posteriors.min() > 0.0
    assert all(map(math.isfinite, OwnBound(bound, run.region).value()))


@pytest.mark.filterwarnings("error::dalenius.errors.ProofRefusedWarning")
def test_heavy_priors_prove_as_much_as_their_posteriors_have_digits():
    """Of a weight of 3e10 scores of 0.1 are known to 3e-6: what was refused was rounding, and there was a doubt about the answer."""
    problem = support.design(
        dl.MinDistortion,
        dl.Records(1, alphabet=3),
        dl.Identity(),
        dl.DistortionMatrix([["1000", "1", "1"], ["1/3", "1/3", "0"], ["0", "0", "1/3"]]),
        "0",
        dl.FloorPriors("0.1"),
    )
    result = dl.solve(problem, gap=1e-4)
    assert result.lower <= 4 / 9 <= result.upper
    assert all(refusal.rounding for refusal in result.refusals)
    assert result.gap <= 1e-4
