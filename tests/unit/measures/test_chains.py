"""Chains as a subject of measures: the record that tells most, what is refused, and the command."""

import dataclasses
import math
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from dalenius.information.chains import Chain, joint_law
from dalenius.measures.chains import OfChain
from dalenius.model.adversaries.chains import inputs_by_ones
from dalenius.search import Clock
from support import chain, refuses

PUFFERFISH = ["pufferfish_privacy"]


def test_a_box_is_its_lowest_corner_and_a_week_its_middle():
    week = dl.measure(chain(7, (0.2, 0.4), (0.2, 0.4)), only=PUFFERFISH)
    assert [row.name for row in week] == ["pufferfish_privacy"]
    ends = week["pufferfish_privacy"]
    assert ends.upper - ends.lower < 1e-15
    for same in (
        chain(7, 0.2, 0.2),
        chain(7, (0.2, 0.4), (0.2, 0.4), record=3),
        chain(7, 0.2, 0.2, dl.discrete_laplace(0.5)),
    ):
        assert dl.measure(same, only=PUFFERFISH)["pufferfish_privacy"].upper == pytest.approx(ends.upper)
    assert dl.measure(chain(7, 0.2, 0.2, record=0), only=PUFFERFISH)["pufferfish_privacy"].upper < ends.lower
    bits = dl.measure(chain(7, 0.2, 0.2), units="bits", only=PUFFERFISH)["pufferfish_privacy"]
    assert bits.upper == pytest.approx(ends.upper / 0.6931471805599453)


def test_a_range_that_holds_all_counts_changes_nothing():
    wide, known = (
        dl.measure(chain(4, 0.1, 0.3, dl.geometric(1, range=r)), only=PUFFERFISH)["pufferfish_privacy"]
        for r in ((-3, 9), None)
    )
    assert wide.upper == known.upper


def test_with_a_law_it_is_about_independent_records():
    assert "local_dp" in [row.name for row in dl.measure(chain(3, 0.1, 0.3), law=dl.Uniform())]


def listed(problem, record, point) -> float:
    """The largest |log ratio| of an output at a point, from a list of all counts."""
    count, stationary = len(problem.records), problem.adversary.stationary
    rows = problem.channel[inputs_by_ones(problem.query, problem.records)]
    told = joint_law(Chain(count, record, stationary), np.array(point)) @ rows
    given = told / told.sum(axis=1, keepdims=True)
    return float(np.abs(np.log(given[1] / given[0])).max())


@pytest.mark.parametrize(
    ("problem", "close"),
    [
        (chain(5, (0.2, 0.4), (0.1, 0.3), dl.symmetric(0.1), dl.Parity(), record=1), 1e-5),
        (chain(5, (0.3, 0.9), (0.4, 0.8), dl.geometric(0.5), record=2), 1e-5),
        (chain(4, (0.1, 0.2), (0.3, 0.4), dl.symmetric(0.2), dl.Threshold(2), record=0, start="any"), 1e-5),
        pytest.param(chain(3, (0.2, 0.22), (0.3, 0.31), start="any", record=1), 0.1, marks=pytest.mark.thorough),
    ],
)
def test_what_has_no_closed_form_is_searched(problem, close):
    found = dl.measure(problem, only=PUFFERFISH)["pufferfish_privacy"]
    rng, record = np.random.default_rng(3), problem.adversary.record
    low, high = (np.array([float(ends[k]) for ends in problem.adversary.box]) for k in (0, 1))
    seen = [listed(problem, record, low + (high - low) * rng.uniform(0.001, 0.999, low.size)) for _ in range(200)]
    assert max(seen) <= found.upper
    assert found.upper - found.lower <= close * found.upper
    assert found.lower <= 1.1 * max(seen)


def test_both_ways_agree():
    for record in (0, 2):
        closed = dl.measure(chain(4, (0.2, 0.3), (0.1, 0.4), record=record), only=PUFFERFISH)["pufferfish_privacy"]
        ends = OfChain(chain(4, (0.2, 0.3), (0.1, 0.4), record=record)).searched(Clock())
        assert ends.lower <= Fraction(closed.upper)
        assert Fraction(closed.lower) <= ends.upper <= Fraction(closed.upper) * Fraction(1_000_002, 1_000_000)


def test_a_time_limit_leaves_what_is_known(work_clock):
    asked = chain(3, (0.2, 0.22), (0.3, 0.31), dl.symmetric(0.1), dl.Parity(), start="any")
    ends = {
        seconds: dl.measure(asked, time_limit=work_clock.tick * readings, only=PUFFERFISH)["pufferfish_privacy"]
        for seconds, readings in (("none", 1), ("few", 60), ("more", 6000))
    }
    assert (ends["none"].lower, ends["none"].upper) == (0.0, math.inf)
    assert ends["few"].lower <= ends["more"].lower <= ends["more"].upper < ends["few"].upper < math.inf
    support.refused(lambda: dl.measure(asked, time_limit=0), "time_limit")


test_refused = refuses(
    (chain(101, 0.1, 0.3, start="any"), "stationary start"),
    (chain(101, 0.6, 0.5), "sum to at most 1"),
    (chain(101, 0.1, 0.3, dl.symmetric(0.1), dl.Parity()), "count or sum"),
    by=lambda problem: dl.measure(problem, only=PUFFERFISH)["pufferfish_privacy"],
)


def test_a_chain_of_one_record_is_that_record():
    found = dl.measure(chain(1, 0.2, 0.3, dl.geometric(1)))
    assert found["pufferfish_privacy"].upper == pytest.approx(1)
    assert found["mutual_information"].upper < found["shannon_capacity"].lower


def test_a_chain_has_what_its_audit_and_its_box_prove():
    problem = chain(3, (0.1, 0.2), 0.3)
    found, audit = dl.measure(problem), dl.solve(problem)
    worst = found["pufferfish_privacy"]
    assert (found["mutual_information"].lower, found["mutual_information"].upper) == (audit.lower, audit.upper)
    for name in ("local_dp", "leakage_capacity"):
        assert (found[name].lower, found[name].upper) == (worst.lower, worst.upper)
    for name in ("pointwise_maximal_leakage", "information_privacy"):
        assert (found[name].lower, found[name].upper) == (0.0, worst.upper)
        assert found[name].what.startswith("at most, over more priors: ")
    with pytest.raises(dl.errors.InputError, match=r"no bound against markov_chain: .*list priors"):
        found["bayes_advantage"]
    matrix = dl.FiniteChain([[("0.8", "0.9"), ("0.1", "0.2")], ["0.3", "0.7"]])
    several = dl.measure(dataclasses.replace(problem, adversary=matrix))
    assert "boxes of markov_chain alone" in several.refused["pufferfish_privacy"]
    assert several["local_dp"].upper == several["free_lunch_privacy"].upper
    low, high = several["mutual_information"].lower, several["mutual_information"].upper
    assert max(low, audit.lower) <= min(high, audit.upper)
