"""The bounds of an audit's records, one after another: what they may take, and which comes first."""

from __future__ import annotations

import numpy as np

import dalenius as dl
from dalenius.audits import EntropyAudit
from dalenius.audits.bounds.dual_tree import DualTree
from dalenius.search import Run
from dalenius.search.limits import Limits


def audit(bound, rows):
    """Of two records of which the first has two letters."""
    problem = dl.MaximalLeakage(
        records=dl.Records(alphabets=[2, len(rows) // 2]),
        mechanism=dl.Channel(rows, inputs="dataset"),
        adversary=dl.EntropyAtLeast(bound),
    )
    return EntropyAudit(problem, Run.of(Limits(gap=1e-6)))


def test_a_tree_may_have_leaves_though_the_turn_of_its_record_is_over():
    """It was made with no room for them where the time of its dual bound had run out, and split boxes instead, for good."""
    rows = np.random.default_rng(1).dirichlet(np.full(4, 0.6), size=16).round(6)
    rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(6)
    found = audit("0.9 max", rows)
    found.clock.stop()
    found.run()  # from below, in its first steps
    found.clock.stopped = False
    record = found.records[0]
    found.bounding._bound(record, found.clock.slice(-1.0))
    [joint] = [runner for runner in record.race.runners if isinstance(runner, DualTree)]
    assert joint.most > 100


def test_where_any_law_will_do_the_vertices_are_enough():
    """Three outputs tell a letter no more than two of them."""
    found = audit(0, np.tile(0.85 * np.eye(3) + 0.05, (2, 1)).tolist())
    found.run()
    assert found.upper <= found.target
    assert "vertices" in {record.method for record in found.records}
    assert all(record.dual is None for record in found.records)
