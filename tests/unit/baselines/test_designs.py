"""Rivals for designs: what they reach, where the optimum is known, under constraints and limits, and what they refuse by name."""

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.baselines import designs
from dalenius.baselines.designs import DESIGN_RIVALS, Game, game_run
from dalenius.baselines.gradients import prior_gradient
from dalenius.catalogue.models import library_model
from dalenius.information import mutual_information
from dalenius.search import Clock
from dalenius.studies.points import limits_of, rows_broken
from support import refuses

EXACT = np.log(2) + 0.1 * np.log(0.1) + 0.9 * np.log(0.9)  # of a parity within a distortion of 0.1


def parity(**more) -> dl.MinLeakage:
    given = {"adversary": dl.EntropyAtLeast("0.5 max"), "max_distortion": "0.1"} | more
    return dl.MinLeakage(
        records=dl.Records(3, alphabet=2), query="parity", distortion="hamming", law="uniform", **given
    )


def count(**more) -> dl.MinLeakage | dl.MinDistortion:
    kind = dl.MinDistortion if "max_leakage" in more else dl.MinLeakage
    given = {"adversary": dl.EntropyAtLeast("0.8 max")} | more
    return kind(records=dl.Records(2, alphabet=2), query="count", distortion="absolute", law="uniform", **given)


def run(method, problem, seed=0):
    """Ended by the steps that it takes, and no clock."""
    return game_run(method, Game.of(problem, seed, Clock()))


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Few starts of a search for priors, and few mechanisms in a row without a gain."""
    monkeypatch.setattr(designs, "STARTS", 4)
    monkeypatch.setattr(designs, "PATIENCE", 5)


@each("method", *DESIGN_RIVALS)
def test_the_optimum_is_reached_where_it_is_known(method):
    found = run(method, parity())
    assert found.value == pytest.approx(EXACT, rel=1e-5)
    assert found.rows.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert rows_broken(parity(), found.rows) <= 1e-12
    assert [moment.value for moment in found.trace] == sorted((m.value for m in found.trace), reverse=True)
    assert found.shown[-1][1] is found.rows
    assert len(found.shown) == len(found.trace)


UNBIASED = count(max_distortion="0.4", constraints=[dl.constraints.Unbiased()])
WATCHED = [dl.constraints.LeakageLimit(dl.EntropyAtLeast("0.9 max"), "0.1 nats")]


@pytest.mark.parametrize(
    ("method", "problem"),
    [
        ("slsqp", UNBIASED),
        *(
            pytest.param(method, problem, marks=pytest.mark.thorough)
            for method in ("slsqp", "convex-concave", "descent-ascent")
            for problem in (
                count(max_leakage="0.1 nats"),
                count(max_distortion="0.4", constraints=WATCHED),
                count(max_distortion="0.4", adversary=dl.IndependentBlocks(1)),
            )
            if method != "descent-ascent" or problem.bound is not None
        ),
    ],
)
def test_constraints_limits_and_households_are_kept(method, problem):
    proved = dl.solve(problem, gap=1e-2)
    found = run(method, problem)
    assert abs(rows_broken(problem, found.rows)) <= 1e-9
    assert found.value == pytest.approx(proved.upper, rel=0.03)
    for adversary, limit in limits_of(problem):
        assert dl.solve(problem.release(found.rows.tolist(), adversary), gap=1e-3).lower <= limit * (1.0 + 1e-3)


def test_a_projection_is_the_nearest_mechanism():
    rng = np.random.default_rng(0)
    game = Game.of(count(max_distortion="0.4"), 0, Clock())
    point = rng.normal(size=game.start.shape)
    near = game.projected(point)
    excess = game.exchange.region.linear.excess(near)
    assert excess.max() <= 1e-9
    for _ in range(20):
        other = game.projected(near + 0.3 * rng.normal(size=near.shape))
        assert np.sum((point - near) * (other - near)) <= 1e-9, "the angle of a projection is obtuse"


def test_the_gradient_of_a_prior_is_the_difference():
    rng = np.random.default_rng(0)
    masses, Q = rng.dirichlet(np.ones(6)).reshape(2, 3), rng.dirichlet(np.ones(4), size=3)
    slope, step = prior_gradient(masses, Q), rng.normal(size=(2, 3))
    step -= step.mean()
    ends = [float(mutual_information((masses + t * step) @ Q)) for t in (-1e-6, 1e-6)]
    assert (ends[1] - ends[0]) / 2e-6 == pytest.approx(np.sum(slope * step), rel=1e-5)


test_what_a_rival_does_not_know_it_names = refuses(
    ("slsqp", "design/bit-paid-errors", "minimise one thing, not an objective of several terms"),
    ("slsqp", "secret/count-beside-an-adversary", "not cones or limits about secrets"),
    ("subgradient", "infeasible/private-within-a-band", "no mechanism was found that meets the constraints"),
    ("descent-ascent", "design/count-n6-households", "moves a few priors a record"),
    by=lambda method, name: run(method, library_model(name).load()),
)


def test_too_many_entries_are_refused(monkeypatch):
    monkeypatch.setattr(designs, "MOST_ENTRIES", 3)
    support.refused(lambda: run("slsqp", parity()), "at most 3 entries of a mechanism")
