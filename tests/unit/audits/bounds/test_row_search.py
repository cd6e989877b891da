"""Row problems in groups: what merging outputs loses, what cuts close, and bounds against brute force."""

import numpy as np
import pytest
from tests.campaigns import draws

from campaigns import each
from dalenius.audits.bounds.output_groups import OutputGroups
from dalenius.audits.bounds.row_boxes import RowBox, RowProblem
from dalenius.audits.bounds.row_search import RowTree
from dalenius.information import x_log_x
from dalenius.search.tree import Branch

ROUNDING = 1e-11


def instance(seed: int, outputs: int = 12):
    """A random row problem of five classes: rows, log masses, an output law, beta, and laws on the classes, good ones among them."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(outputs, rng.choice([0.3, 1.0, 5.0])), size=5)
    if seed % 3 == 0:  # a smooth channel, as counts have
        rows = np.exp(-rng.uniform(0.1, 1.0) * np.abs(np.arange(outputs) - np.linspace(0, outputs - 1, 5)[:, None]))
        rows /= rows.sum(axis=1, keepdims=True)
    log_masses = np.log(rng.dirichlet(np.ones(5)))
    law, beta = rng.dirichlet(np.full(outputs, 5.0)), float(rng.uniform(0.05, 0.8))
    laws = np.vstack([np.eye(5), rng.dirichlet(np.full(5, 0.5), size=200)])
    for _ in range(100):  # convex-concave steps: towards local maxima
        weight = log_masses + (np.log(np.maximum(laws @ rows, 1e-300)) - np.log(law)) @ rows.T / beta
        laws = np.exp(weight - weight.max(axis=1, keepdims=True))
        laws /= laws.sum(axis=1, keepdims=True)
    laws = np.vstack([laws, np.eye(5), rng.dirichlet(np.full(5, 0.5), size=200)])
    return rows, log_masses, law, beta, laws


def attained(rows, log_masses, law, beta, laws):
    """The row problem's values."""
    K = laws @ rows
    return x_log_x(K).sum(axis=1) - K @ np.log(law) + beta * (laws @ log_masses - x_log_x(laws).sum(axis=1))


def problem_of(rows, log_masses, law, beta, laws) -> RowProblem:
    return RowProblem(OutputGroups.of(rows, laws[:1]), log_masses, law, beta, decimals=9)


def covers(problem: RowProblem, box: RowBox, laws) -> np.ndarray:
    """Which laws have every K_g in the box, those of coarser groups included."""
    low, high = box.all_ranges()
    K = laws @ problem.columns(box)
    return np.all((low - ROUNDING <= K) & (high + ROUNDING >= K), axis=1)


@each("seed", *range(6))
def test_groups_are_partitions_and_lose_what_they_say(seed):
    rows, *_, laws = instance(seed)
    groups = OutputGroups.of(rows, laws[:1])
    for partition in (groups.singles, groups.partition(1), groups.partition(5), groups.first_partition(1e-3)):
        assert sorted(y for g in partition for y in groups.outputs(g)) == list(range(12))
        which = np.array(partition)
        assert np.allclose(groups.columns[:, which].sum(axis=1), 1.0)
        for w in laws[:20]:
            merged = x_log_x(w @ groups.columns[:, which]).sum() + w @ groups.corrections[:, which].sum(axis=1)
            loss = merged - x_log_x(w @ rows).sum()
            assert loss >= -ROUNDING
            assert loss == pytest.approx(groups.lost(which, w).sum(), abs=1e-10)


def test_proportional_outputs_are_merged_for_nothing():
    shares = np.repeat(np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]), 4, axis=1) * np.tile([0.1, 0.2, 0.3, 0.4], 3)
    groups = OutputGroups.of(shares[:, np.random.default_rng(0).permutation(12)], np.array([[0.3, 0.7]]))
    assert groups.loss[list(groups.partition(3))].sum() == pytest.approx(0.0, abs=1e-12)


@each("seed", *range(draws(6, 1000)))
def test_bounds_of_all_leaves_hold_and_leaves_cover(seed):
    given = instance(seed, outputs=4 + seed % 12)
    values, problem, laws = attained(*given), problem_of(*given), given[-1]
    room = (1e-3, 0.3)[seed % 2]
    tree = RowTree(problem, float(values.max()) + room, room)
    assert tree.upper >= values.max() - ROUNDING
    for _ in range(30):
        before = tree.upper
        if not tree.branch(4, above=tree.target):
            break
        assert tree.upper >= values.max() - ROUNDING
    assert tree.upper <= before or tree.leaves > 1
    covered = np.zeros(len(laws), dtype=bool)
    for node in tree.preorder():
        if not isinstance(node, Branch):
            inside = covers(problem, node.content, laws)
            assert np.all(values[inside] <= node.bound + ROUNDING)
            covered |= inside
    assert covered.all()
