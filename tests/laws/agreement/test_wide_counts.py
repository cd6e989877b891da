"""Counts whose matrix is never written out: proved, against what is written out of as many people, and against what must hold."""

import math
from dataclasses import replace

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import thinned
from dalenius.audits.ascent import search
from dalenius.audits.choice import audit_of
from dalenius.audits.wide import WideAudit
from dalenius.reduction import record_channels
from dalenius.search import Limits, Run

ALONE = 0.04371346  # bits about one of independent people, epsilon 1/2


def asked(records, adversary, mechanism=None) -> dl.WorstCaseLeakage:
    return support.problem(records, dl.Count(), mechanism or dl.geometric(0.5), adversary)


def solved(question, gap=1e-6):
    """The interval in bits, once it is proved again."""
    found = dl.solve(question, gap=gap)
    assert dl.verify(question, found.certificate).proved
    return found.to("bits")


@pytest.mark.parametrize(
    ("people", "mechanism"),
    thinned(
        [
            (10_000, dl.geometric(0.5, range=(-5, 20_000))),
            (1_000_000, dl.geometric(0.5)),
            (1_000_000, dl.discrete_laplace(scale=2)),
        ],
        3,
    ),
)
def test_independent_people_are_households_of_one(people, mechanism):
    found = solved(asked(dl.Records(people, alphabet=2), dl.ProductPriors(), mechanism))
    assert found.lower <= ALONE + 1e-8 <= found.upper + 2e-8
    assert found.gap <= 1e-6


@pytest.mark.parametrize(
    ("people", "bound", "low", "high"),
    thinned(
        [
            (5_000, "4999.9 bits", 0.1067, 0.1394),
            (1_000_000, "999999.9 bits", 0.1005, 0.1394),
            (1_000_000, "999999.5 bits", 0.5009, 0.5219),
            (1_000_000, "0.9 max", 1 - 1e-9, 1 + 1e-9),
            (1_000_000, "0 nats", 1 - 1e-9, 1 + 1e-9),
        ],
        5,
    ),
)
def test_who_knows_little_of_many_is_told_little_more_than_they_know(people, bound, low, high):
    found = solved(asked(dl.Records(people, alphabet=2), dl.EntropyAtLeast(bound)))
    assert low <= found.lower <= found.upper <= high


def test_any_prior_at_all_is_told_what_the_farthest_counts_tell():
    """With weak noise less than a bit; the window has every count of 5,000 people."""
    found = solved(asked(dl.Records(5_000, alphabet=2), dl.AnyPrior(), dl.geometric("1/1000")))
    assert found.gap <= 1e-6
    rows = dl.geometric("1/1000").channel(np.array([0, 5_000]))
    mean = rows.mean(axis=0)
    assert found.lower <= float(np.sum(rows[0] * np.log2(rows[0] / mean))) + 1e-12
    assert float(np.sum(rows[0] * np.log2(rows[0] / mean))) <= found.upper + 1e-12


def test_three_letters_are_told_apart_by_far_counts():
    found = solved(asked(dl.Records(100_000, alphabet=3), dl.EntropyAtLeast("0.9 max")))
    assert math.log2(3) - 1e-9 <= found.lower <= found.upper <= math.log2(3) + 1e-9


@pytest.mark.parametrize("bound", thinned(["29 bits", "29.9 bits", "10 bits", "0 nats"], 4))
def test_a_count_of_thirty_as_if_it_were_wide(monkeypatch, bound):
    """The window has every count, so that the search finds what the whole channel tells; and no bound is below it."""
    question = asked(dl.Records(30, alphabet=2), dl.EntropyAtLeast(bound))
    run = Run.of(Limits(gap=1e-6, time_limit=60))
    written = search(record_channels(question)[0], rng=np.random.default_rng(1), clock=run.clock, starts=6)
    monkeypatch.setattr("dalenius.model.problems.large.MAX_ENTRIES", 100)
    audit = audit_of(replace(question), run)
    audit.run()
    assert isinstance(audit, WideAudit)
    assert 0.9999 * written.leakage <= audit.lower <= audit.upper + 1e-12
    assert written.leakage <= audit.upper + 1e-9
