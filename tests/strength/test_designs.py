"""How strong the exchange is: the master programs that a gap takes, and that it remembers the priors it has met."""

import itertools

import pytest

import dalenius as dl
import support
from dalenius.audits import entropy_at_least
from dalenius.designs.exchange.keeping import FIRST, Keeper
from dalenius.evidence.certificate import Certificate
from dalenius.search.boxes import BoxTree

# Model, gap, rounds, the methods of the audit behind the upper end.
DESIGNS = [
    ("design/count-erasure-independent", 1e-6, 3, {"selections"}),
    ("design/parity-n4-distortion", 1e-4, 1, {"capacity"}),
    ("design/parity-n4-b0.97", 1e-3, 1, {"dual"}),
    pytest.param("design/and-full", 1e-2, 2, {"capacity"}, marks=pytest.mark.thorough),
    ("design/squares-full", 1e-3, 4, {"capacity"}),
]


@pytest.mark.parametrize(("model", "gap", "rounds", "methods"), DESIGNS)
def test_the_rounds_that_a_gap_takes(model, gap, rounds, methods):
    result = dl.solve(dl.load(model), gap=gap, time_limit=None, node_limit=2000)
    assert result.termination is dl.answers.Termination.GAP_REACHED
    assert result.gap <= gap
    assert result.rounds <= rounds + 1
    assert {proof.method for proof in result.audit.records} == methods


def test_audits_begin_with_the_priors_that_are_known(monkeypatch):
    """Three people: the audit at the end searches for no others, and our own method solves the programs."""
    warm, search = list[int](), entropy_at_least.search
    monkeypatch.setattr(
        entropy_at_least, "search", lambda *a, **more: warm.append(len(more["warm"])) or search(*a, **more)
    )
    problem = support.design(
        dl.MinLeakage, dl.Records(3, alphabet=2), dl.Count(), dl.Absolute(), "0.5", dl.EntropyAtLeast("0.8 max")
    )
    result = dl.solve(problem, gap=5e-2, time_limit=None)
    assert result.gap <= 5e-2
    assert result.rounds <= 6
    assert warm[-1] > 1
    assert {use.solver for use in result.solvers} == {"own"}


def priors_known(result: dl.answers.DesignResult) -> list[int]:
    """How many priors each round's master program had."""
    return [moment.evidence for moment in result.trace if moment.stage == "exchange"]


@pytest.mark.thorough
def test_idle_priors_are_remembered():
    """A prior that a master gives no weight may well get some in a later one: for four rounds none is dropped."""
    counts = priors_known(dl.solve(dl.load("design/squares-full"), gap=1e-6, time_limit=None, node_limit=2000))
    assert len(counts) >= 5
    assert max(counts[:5]) > 40  # above this, priors may be dropped at all
    assert all(before <= after for before, after in itertools.pairwise(counts[:5]))


def test_few_priors_are_all_remembered():
    """Up to forty priors none is dropped, however long it has been idle."""
    problem = support.design(
        dl.MinLeakage, dl.Records(2, alphabet=3), dl.Sum(), dl.Absolute(), "0.3", dl.ProductPriors()
    )
    counts = priors_known(dl.solve(problem, gap=1e-7, time_limit=None))
    assert len(counts) >= 8  # idle ones would be dropped from the sixth on
    assert max(counts) <= 40
    assert all(before <= after for before, after in itertools.pairwise(counts))


def test_what_an_audit_leaves_open_is_given_to_the_constant_mechanism(counted_time, monkeypatch):
    """Its boxes prove that the mixture meets the budget. A second search, in the time left, once ended with a gap of 3e-1."""
    taken, follow, given, mixture = list[int](), BoxTree.follow, list[float](), Keeper.mixture

    def following(tree, other):
        follow(tree, other)
        taken.append(tree.leaves)

    def mixing(keeper, q, part, *more):
        given.append(part.clock.remaining / keeper.clock.remaining)
        return mixture(keeper, q, part, *more)

    monkeypatch.setattr(BoxTree, "follow", following)
    monkeypatch.setattr(Keeper, "mixture", mixing)
    budget, adversary = "0.1 nats", dl.EntropyAtLeast("0.9 max")
    problem = support.design(dl.MinDistortion, dl.Records(4, alphabet=2), dl.Count(), dl.Absolute(), budget, adversary)
    result = dl.solve(problem, gap=1e-5, time_limit=12.0)
    assert result.termination is dl.answers.Termination.TIME_LIMIT
    assert result.gap <= 0.06
    assert result.audit.upper <= 0.1
    assert 2 <= len(taken) <= 4  # some of them for proofs on the way
    assert taken[-1] <= result.audit.records[0].leaves <= 1.01 * taken[-1]  # a wide box may be halved once more
    assert given[1] == pytest.approx(FIRST, abs=0.01)  # after the constant mechanism's


def test_the_proof_of_an_audit_is_not_read_back(monkeypatch):
    """Its lines are there: of 40,000 leaves reading them took a second of twenty."""
    monkeypatch.delattr(Certificate, "body")
    assert dl.solve(dl.load("design/parity-n4-b0.97"), gap=1e-3, time_limit=None).gap <= 1e-3
