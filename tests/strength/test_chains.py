"""How strong audits against Markov chains are: what is reached in how many leaves, and what is left where time is short."""

import pytest

import dalenius as dl
import support
from dalenius.audits.choice import audit_within
from dalenius.evidence import QUICK
from dalenius.search import Limits, Run

HEAD_ROOM = 1.2


def searched(problem, **limits):
    """The audit, once it has run."""
    audit = audit_within(problem, Run.of(Limits(**limits)))
    audit.run()
    return audit


def parities(count, mechanism, to_one, to_zero, start):
    chain = dl.MarkovChain(to_one, to_zero, start=start)
    return support.problem(dl.Records(count, alphabet=2), dl.Parity(), mechanism, chain)


def nearly_even(start):
    return parities(2, dl.geometric("0.1"), ("0.21", "0.36"), ("0.2", "0.56"), start)


def test_derivatives_that_say_nothing_of_a_box_are_not_all_there_is():
    """By these alone 58 % of the bound was left open after as long."""
    audit = searched(nearly_even("stationary"), time_limit=5.0, gap=1e-4)
    assert audit.upper - audit.lower <= 1e-4 * audit.upper
    assert sum(proof.leaves for proof in audit.record_proofs()) <= HEAD_ROOM * 77


@pytest.mark.parametrize(("start", "bound"), [("stationary", 0.03), ("any", 0.0016)])
def test_there_is_a_short_proof_where_there_is_no_time_for_a_long_one(start, bound):
    """Nothing but log 2 was left once: a proof that took too long lost all that had been found."""
    audit = searched(nearly_even(start), time_limit=1.0, gap=1e-6)
    short = audit.retreat(QUICK)
    assert audit.upper < short.rounded <= bound
    assert len(short.lines) < 64 < len(audit.proof())


def test_halves_that_there_is_no_time_for_do_not_cost_what_is_known_of_the_whole():
    """A bound of 0.146 nats became log 2 when the box was halved, and 0.667 in 3 seconds."""
    problem = parities(30, dl.discrete_laplace(scale=1), ("0.9", "0.93"), ("0.05", "0.34"), "any")
    audit = searched(problem, time_limit=2.0)
    told = [moment.upper for moment in audit.clock.trace]
    assert told == sorted(told, reverse=True)
    assert audit.upper <= HEAD_ROOM * 0.1445
    assert audit.out_of_time
