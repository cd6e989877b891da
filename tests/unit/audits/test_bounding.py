"""The bounds of an audit's records, one after another: what they may take, and which comes first."""

from types import SimpleNamespace

import numpy as np

import dalenius as dl
from dalenius.audits.bounds.dual_tree import DualTree
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.search import Run
from dalenius.search.run import Limits


def audit(**parts):
    return EntropyAudit(dl.WorstCaseLeakage(**parts), Run.of(Limits(gap=1e-6)))


def test_a_tree_may_have_leaves_though_the_turn_of_its_record_is_over(monkeypatch):
    """It was made with no room for them where the time of its dual bound had run out, and split boxes instead, for good."""
    rows = np.random.default_rng(1).dirichlet(np.full(4, 0.6), size=16).round(6)
    rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(6)
    found = audit(
        records=dl.Records(alphabets=[2, 8]),
        mechanism=dl.Channel(rows, inputs="dataset"),
        adversary=dl.EntropyAtLeast("0.9 max"),
    )
    with monkeypatch.context() as without:
        without.setattr("dalenius.audits.bounding.Bounding.run", lambda bounding, clock: None)
        found.run()  # from below alone
    record = found.records[0]
    found.bounding._bound(record, found.clock.slice(-1.0))
    [joint] = [runner for runner in record.race.runners if isinstance(runner, DualTree)]
    assert joint.aim.most > 100


def test_it_is_certain_that_a_constant_output_tells_nothing():
    """A design stopped early was an error: the one mechanism left was constant, and its certain bound all there is to know."""
    channel = dl.Channel([["1/4", "3/4"]] * 6, inputs="dataset")
    found = audit(records=dl.Records(alphabets=[2, 3]), mechanism=channel, adversary=dl.EntropyAtLeast("0.8 max"))
    upper, proof = found.certain()
    assert upper == 0.0
    assert len(proof) == 6  # for either record


def test_where_any_law_will_do_the_vertices_are_enough():
    """Four rows have a larger capacity than any two of them, and a bit selects two."""
    bits, noise = dl.Records(3, alphabet=2), dl.symmetric(0.2, k=4)
    found = audit(records=bits, query=dl.Count(), mechanism=noise, adversary=dl.AnyPrior())
    found.run()
    assert found.upper <= found.target
    assert [record.method for record in found.records] == ["vertices"]
    assert all(record.dual is None for record in found.records)


def test_a_dual_bound_that_cannot_close_has_a_quarter_of_what_the_trees_have(monkeypatch):
    """It had as much as they, in one piece: of a count of 200, half of the time that their proof was short of."""
    found = audit(
        records=dl.Records(3, alphabet=2),
        query=dl.Count(),
        mechanism=dl.geometric(1),
        adversary=dl.EntropyAtLeast("0.9 max"),
    )
    monkeypatch.setattr("dalenius.audits.bounding.Bounding.run", lambda bounding, clock: None)
    found.run()
    record = found.records[0]
    record.dual = SimpleNamespace(finished=False, attainable=0.0, may_close=False, seconds=1.0)
    record.race = SimpleNamespace(seconds=3.9, runners=())
    assert not found.bounding._dual_is_due(record)
    record.race.seconds = 4.1
    assert found.bounding._dual_is_due(record)
    record.race.seconds, record.dual.may_close = 0.0, True
    assert found.bounding._dual_is_due(record)
