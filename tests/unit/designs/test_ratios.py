"""Limits of ratios about many inputs: the sparse program and its repairs agree with exact vertices, and are proved."""

from fractions import Fraction

import numpy as np

import dalenius as dl
from campaigns import each
from dalenius._prove import prove
from dalenius.designs import LinearDesign, has_only_ratios
from dalenius.designs.ratios import RatioProgram
from dalenius.search import Limits, Run

JOINT = [["1/4", "3/20", "2/25", "1/50"], ["1/50", "2/25", "3/20", "1/4"]]
THIRD = [["1/8", "1/16", "1/16", 0], [0, "1/8", "1/4", "1/16"], ["1/16", "1/16", 0, "3/16"]]
LIMITS = [
    dl.constraints.LocalInformationPrivacy("log 3/2"),
    dl.constraints.LocalInformationPrivacy(0.4, secret=[JOINT, THIRD]),
    dl.constraints.LocalInformationPrivacy("log 2", priors=[[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]]),
    dl.constraints.LocalDPBetween("log 2", secret=THIRD),
    dl.constraints.LocalDPBetween("log 2", pairs=[(0, 1), (1, 2), (3, 2)]),
    dl.constraints.PointwiseLeakageLimit("log 5/4", secret=JOINT),
    dl.constraints.PointwiseLeakageLimit("log 2", priors=[[0.4, 0.3, 0.3, 0], [0.1, 0.2, 0.3, 0.4]]),
]


def design(*limits, letters=4, **more):
    more = {"distortion": dl.Absolute(), **more}
    return dl.MinDistortion(records=dl.Records(1, alphabet=letters), query=dl.Identity(), constraints=limits, **more)


def proved(problem):
    search = Run.of(Limits(gap=1e-6))
    proposer = LinearDesign(problem, search)
    proposer.run()
    return prove(problem, proposer, search)


@each("limits", [LIMITS[0], LIMITS[3], LIMITS[5]], *([each] for each in LIMITS), every=3)
def test_what_it_proves_is_about_the_exact_optimum(limits):
    problem = design(*limits)
    assert not has_only_ratios(problem)  # a small one is solved exactly
    exact, sparse = dl.solve(problem, gap=1e-9), proved(problem)
    assert sparse.gap <= 1e-8
    assert sparse.lower <= exact.upper
    assert exact.lower <= sparse.upper
    assert [price.kind for price in sparse.constraints] == [limit.kind for limit in limits]
    assert sum(price.binds for price in sparse.constraints) >= 1
    assert min(price.slack for price in sparse.constraints) >= 0


@each("limit", *LIMITS)
def test_repairs_keep_every_row_exactly(limit):
    problem, rng = design(limit), np.random.default_rng(3)
    program = RatioProgram(problem, problem.distortions)
    for _ in range(3):
        q = rng.dirichlet(np.full(4, 0.5), size=4)
        q[:, 2] = 0.0
        made = program.repaired([[Fraction(x) for x in row] for row in (q / q.sum(axis=1, keepdims=True)).tolist()])
        assert {sum(row) for row in made} == {1}
        room = min(-sum(c * made[x][y] for (x, y), c in terms.items()) for terms in limit.rows(problem.space).below)
        assert room >= 0
        assert program.slack(made)[0] == room


@each("limit", *LIMITS)
def test_multipliers_prove_what_the_rows_do(limit):
    """Rows that a ratio is short for have the same sum; what is given to pairs of forms, too."""
    problem, rng = design(limit), np.random.default_rng(4)
    program = RatioProgram(problem, problem.distortions)
    drawn = [Fraction(int(x), 1000) for x in rng.integers(0, 30, size=len(program.program(program.below).rows))]
    multipliers = program.multipliers(drawn)
    (prices,) = program.prices(multipliers).values()
    matrix = [[p * d for d in row] for p, row in zip(problem.exact_input_law(), problem.exact_cost(), strict=True)]
    for r, price in prices.items():
        for (x, y), c in limit.rows(problem.space).above[r].items():
            matrix[x][y] += price * c
    assert program.proved(multipliers) == sum(map(min, matrix))


def test_many_inputs():
    joint = np.random.default_rng(5).integers(1, 20, size=(3, 60))
    secret = [[Fraction(int(p), int(joint.sum())) for p in row] for row in joint]
    problem = design(dl.constraints.LocalInformationPrivacy("log 3/2", secret=secret), letters=60)
    assert has_only_ratios(problem)
    answer = dl.solve(problem, gap=1e-6)
    assert answer.gap <= 1e-6
    assert answer.distortion == problem.expected_distortion(answer.mechanism.rows)
    assert dl.verify(problem, answer.certificate).proved


@each(
    "more",
    {"constraints": [dl.constraints.LocalInformationPrivacy(0.5), dl.constraints.Unbiased(1)]},
    {"constraints": [dl.constraints.LocalInformationPrivacy(0)]},
    {
        "constraints": [dl.constraints.LocalInformationPrivacy(0.5)],
        "objective": dl.objectives.WeightedSum([dl.objectives.DistortionTerm(dl.Squared())]),
    },
)
def test_what_else_is_asked_of_a_design_is_not_left_out(more):
    records, query = dl.Records(1, alphabet=60), dl.Identity()
    assert not has_only_ratios(dl.MinDistortion(records=records, query=query, distortion=dl.Absolute(), **more))
