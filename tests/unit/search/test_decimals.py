"""Slopes with few digits: no leaf's bound is above its tree's, and certificates prove what they proved."""

from types import SimpleNamespace

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each, thinned
from dalenius.audits.bounds.output_groups import OutputGroups
from dalenius.audits.bounds.posteriors import PosteriorRelaxation, PosteriorTree
from dalenius.audits.bounds.row_boxes import RowProblem
from dalenius.audits.bounds.row_search import RowTree
from dalenius.audits.bounds.rows import RowRelaxation
from dalenius.evidence import vector_text
from dalenius.search.boxes import BoxTree
from dalenius.search.clock import Clock
from dalenius.search.decimals import short_within, shortened
from dalenius.search.tree import Leaf

SLIP = 1e-12


def digits(slopes) -> int:
    """Characters that slopes take in a certificate."""
    return sum(len(text) for row in slopes for text in vector_text(row))


def leaves_of(tree) -> list:
    return [node for node in tree.preorder() if isinstance(node, Leaf)]


def draw(seed: int, outputs: int = 4):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.full(outputs, 0.7), size=5)
    return rows, np.log(rng.dirichlet(np.ones(5))), rng.dirichlet(np.full(outputs, 5.0)), float(rng.uniform(0.05, 0.8))


@pytest.mark.parametrize("seed", thinned(range(3), every=3))
def test_row_boxes(seed):
    rows, log_masses, law, beta = draw(seed)
    relaxation = RowRelaxation(rows, log_masses, law, beta, decimals=9)
    tree = BoxTree(relaxation, rows.min(axis=0), rows.max(axis=0), np.zeros(len(law)))
    while tree.leaves < 150 and tree.branch(32, above=-np.inf):
        pass
    boxes = [leaf.content for leaf in leaves_of(tree)]
    short = np.array(list(tree.short_hints()))
    for box, slopes in zip(boxes, short, strict=True):
        assert relaxation.largest(box.low[None], box.high[None], slopes[None]) <= tree.upper + SLIP
    assert 2 * digits(short) < digits([box.hints for box in boxes])
    before, level = tree.upper, float(np.median([leaf.bound for leaf in leaves_of(tree)]))
    tree.tell(level)
    assert len(tree.told) >= tree.leaves // 2
    told = {number: tree.nodes[number].content.hints for number in tree.told}
    for number, slopes in told.items():
        box = tree.nodes[number].content
        assert relaxation.largest(box.low[None], box.high[None], slopes[None]) <= level + SLIP
    while tree.branch(32, above=level):
        pass
    assert level <= tree.upper < before
    assert all(any(slopes is given for given in tree.short_hints()) for slopes in told.values())
    assert not tree.lent(tree.lend(1)).told


@each("seed", *range(3), every=3)
def test_row_boxes_in_groups(seed):
    rows, log_masses, law, beta = draw(seed, outputs=12)
    problem = RowProblem(OutputGroups.of(rows, np.full((1, 5), 0.2)), log_masses, law, beta, decimals=9)
    tree = RowTree(problem, problem.bounded([problem.root(1e-3)])[0].bound - 0.02, 1e-3)
    while tree.leaves < 200 and tree.branch(16, above=-np.inf):
        pass
    proof = tree.proof()
    short = {number: slopes for number, (_, slopes) in proof.items()}
    for number, (box, _) in proof.items():
        low, high = box.all_ranges()
        curved = np.arange(len(low)) < len(box.groups)
        ends = [np.where(curved, x * np.log(np.maximum(x, 1e-300)), 0.0) - short[number] * x for x in (low, high)]
        weight = problem.base(box) + problem.columns(box) @ short[number] / beta
        bound = np.maximum(*ends).sum() + beta * np.log(np.exp(weight - weight.max()).sum()) + beta * weight.max()
        assert bound <= tree.upper + SLIP or np.any(low > high)
    assert 1.5 * digits(short.values()) < digits([box.slopes for box, _ in proof.values()])


@pytest.mark.parametrize(("letters", "multiplier"), thinned([(2, None), (3, None), (2, 0.25)], every=2))
def test_boxes_of_the_posterior(letters, multiplier):
    """With a multiplier that all leaves have, it stays as it is."""
    rng = np.random.default_rng(letters)
    rows, log_uniform = rng.dirichlet(np.full(3, 0.7), size=5), np.log(rng.dirichlet(np.ones(5 * letters)))
    channel = SimpleNamespace(
        rows=rows, log_uniform=log_uniform.reshape(letters, 5), max_knowledge=0.2, letters=letters
    )
    relaxation = PosteriorRelaxation(channel, decimals=7, multiplier=multiplier)
    runner = PosteriorTree(relaxation, 0.3, target=0.0)
    while runner.leaves < 300 and runner.grow(Clock()):
        pass
    boxes = [leaf.content for leaf in leaves_of(runner.tree)]
    short = np.array(list(runner.tree.short_hints()))
    low, high = (np.array([getattr(box, name) for box in boxes]) for name in ("low", "high"))
    ends = relaxation._all_letters(low, high)
    empty = np.any(ends[0] > ends[1], axis=(1, 2))  # whatever their slopes say
    assert relaxation._bound(short, *ends)[1][~empty].max() <= runner.upper + SLIP
    assert 1.5 * digits(short) < digits([box.hints for box in boxes])
    assert multiplier is None or np.all(short[:, -1] == multiplier)


def test_a_leaf_without_room_keeps_its_slopes():
    """Also one whose bound is above the level."""
    slopes = np.array([[0.1234567, -3.7654321]] * 2)
    kept = shortened(slopes, np.ones((2, 2)), 0.0, 7, lambda x: np.array([0.0, 1.0]) + np.abs(x - slopes).sum(axis=1))
    assert np.array_equal(kept, slopes)


def test_silly_slopes_are_short():
    x = np.array([-6408235.6465575, 9411223479.52832, 0.3333333])
    assert vector_text(short_within(x, np.array([1e6, 1e9, 0.05]), 7)) == ("-6000000", "9000000000", "0.3")


def test_the_interval_stays_that_of_the_tree():
    """Nothing is refused, so nothing is rounded further than it was."""
    problem = support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.geometric(1), "0.8 max")
    result = dl.solve(problem, gap=1e-3)
    assert result.gap <= 1e-3
    assert result.refusals == ()
    rows = [line for line in result.certificate.text.splitlines() if line.startswith(('["row"', '["joint"'))]
    assert len("".join(rows)) / len(rows) < 80
