"""Designs of two releases, one of which may look at the other's answer."""

from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, each
from dalenius.information.capacity import capacity
from dalenius.outcome import Scope
from dalenius.studies.trees import Stage, design_tree
from support import refused, refuses

BOXES, GAP = draws(2, 24), draws(3e-2, 2e-3)
THREE = dl.Records(3, alphabet=2)
ANYBODY, HOW_MANY = Stage("threshold 1", "hamming", "1/10"), Stage("count", "absolute", "2/5")


def leakage(tree, first, second):
    """To independent records of three bits: the capacity of the two rows that one of them selects, the others known."""
    rows = np.array([[a * b for y, a in enumerate(first[min(v, 1)]) for b in second[y][v]] for v in range(4)])
    return max(capacity(rows[[v, v + 1]], gap=1e-6).lower for v in range(3))


def stages(found):
    """Both as matrices of fractions."""
    return found.mechanism.mechanism.rows, [stage.mechanism.rows for stage in found.mechanism.then]


def distorts(first, second):
    """The mean distortion of each, of fair bits."""
    law = [Fraction(n, 8) for n in (1, 3, 3, 1)]
    wrong = sum(p * first[min(v, 1)][1 - min(v, 1)] for v, p in enumerate(law))
    off = sum(
        p * first[min(v, 1)][y] * second[y][v][z] * abs(z - v)
        for v, p in enumerate(law)
        for y in (0, 1)
        for z in range(4)
    )
    return wrong, off


@pytest.fixture(scope="module")
def trees():
    return [
        design_tree(
            THREE,
            ANYBODY,
            HOW_MANY,
            dl.ProductPriors(),
            adaptive=looks,
            boxes=1 if looks else BOXES,
            gap=2e-3 if looks else GAP,
        )
        for looks in (True, False)
    ]


def test_both_ends_are_proved_and_to_look_is_better(trees):
    """0.1169 nats beside 0.1334, which no pair that does not look goes below; the trees themselves are audited anew."""
    looks, fixed = trees
    assert (
        0.1169
        < looks.lower
        <= looks.upper
        < 0.117
        < draws(0.118, 0.1334)
        < fixed.lower
        <= fixed.upper
        < draws(0.139, 0.1337)
    )
    assert (looks.scope, fixed.scope) == (Scope.GLOBAL, draws(Scope.BLOCKWISE, Scope.GLOBAL))
    assert looks.gap <= 2e-3
    for found in trees:
        assert all(wanted <= most for wanted, most in zip(distorts(*stages(found)), (0.1, 0.4), strict=True))
        audited = dl.solve(
            dl.WorstCaseLeakage(
                records=THREE, query=found.query, mechanism=found.mechanism, adversary=dl.ProductPriors()
            )
        )
        assert found.lower <= audited.upper <= found.upper + 1e-9
        assert audited.upper == pytest.approx(leakage(found, *stages(found)), abs=1e-6)
    assert stages(fixed)[1][0] == stages(fixed)[1][1]
    assert looks.alternation is None
    assert {turn.block for turn in fixed.alternation.certificates} == {"first", "second"}


def test_the_lower_end_is_the_least_of_designs_that_are_verified_one_by_one(trees):
    for found in trees:
        assert found.lower <= min(result.lower for _, result in found.bounds if result.feasible is not False) + 1e-12
        for problem, result in found.bounds[:3]:
            assert dl.verify(problem, result.certificate).proved


def test_no_tree_within_the_budgets_leaks_less(trees):
    """Drawn ones, mixed with the truth as far as is needed; beside the best they begin near it."""
    random = np.random.default_rng(3)
    for found, looks in zip(trees, (True, False), strict=True):
        best = [np.array(matrix, dtype=float) for matrix in (stages(found)[0], stages(found)[1])]
        for k in range(draws(20, 1000)):
            near = 0.0 if k % 2 else random.uniform(0.8, 1)
            first = near * best[0] + (1 - near) * random.dirichlet(np.ones(2), size=2)
            second = near * best[1] + (1 - near) * random.dirichlet(np.full(4, 0.5), size=(2 if looks else 1, 4))
            for truth in np.linspace(0, 1, 21):
                mixed = (1 - truth) * first + truth * np.eye(2), (1 - truth) * second + truth * np.eye(4)
                wrong, off = distorts(*mixed)
                if wrong <= 0.1 and off <= 0.4:
                    assert leakage(found, *mixed) >= found.lower - 1e-6
                    break


@each(
    "adversary, records",
    (dl.IndependentBlocks(2), dl.Records(4, alphabet=2)),
    (dl.EntropyAtLeast("0.8 max"), dl.Records(2, alphabet=2)),
)
def test_households_and_entropy_bounds(adversary, records):
    found = design_tree(records, Stage("threshold 1", "hamming", "1/20"), Stage("count", "absolute", "3/5"), adversary)
    assert found.scope is Scope.GLOBAL
    assert found.gap <= 2e-3
    assert " .. " in str(found)


@pytest.mark.thorough
def test_queries_of_which_neither_says_the_other():
    """Two people of three answers: how many say 2, then the sum. A tree is better than all pairs that do not look (0.287)."""
    people, first, second = (
        dl.Records(2, alphabet=3),
        Stage(dl.Count([2]), "absolute", "1/4"),
        Stage("sum", "absolute", "1/2"),
    )
    looks = design_tree(people, first, second, "product_priors")
    assert 0.278 < looks.lower <= looks.upper < 0.281
    assert looks.scope in (Scope.BLOCKWISE, Scope.FEASIBLE)
    audited = dl.solve(
        dl.WorstCaseLeakage(records=people, query=looks.query, mechanism=looks.mechanism, adversary=dl.ProductPriors())
    )
    assert audited.lower - 1e-9 <= looks.upper
    fixed = design_tree(people, first, second, "product_priors", adaptive=False)
    assert looks.upper < 0.287 < fixed.lower < fixed.upper


def test_budgets_of_nothing_are_the_truth():
    found = design_tree(THREE, Stage("threshold 1", "hamming", 0), Stage("count", "absolute", 0), "product_priors")
    assert distorts(*stages(found)) == (0, 0)
    assert found.upper == pytest.approx(np.log(2))


test_what_is_no_tree_is_one_clear_error = refuses(
    (
        (THREE, Stage("count", "absolute", -1), HOW_MANY, "product_priors"),
        "max_distortion: expected at least 0, got -1",
    ),
    ((THREE, Stage("identity", "hamming", 1), HOW_MANY, "product_priors"), "a joint query is made of"),
    ((THREE, Stage("threshold 1", dl.DistortionMatrix([[1]]), 1), HOW_MANY, "product_priors"), "distortion"),
    ((THREE, ANYBODY, HOW_MANY, dl.MarkovChain("1/2", "1/2")), "adversary"),
    by=lambda given: design_tree(*given),
)


def test_trees_that_need_too_many_equations(monkeypatch):
    monkeypatch.setattr("dalenius.studies.trees.MAX_CONSTRAINTS", 2)
    refused(lambda: design_tree(THREE, ANYBODY, HOW_MANY, "product_priors"), "4 values of both", "at most 2")
