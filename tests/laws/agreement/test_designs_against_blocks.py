"""Designs against independent blocks: the convex program by definition, and the two adversaries that blocks lie between."""

import itertools
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import thinned

CASES = {
    "count": ([2] * 4, dl.Count(), [2, 2], "1/4", "oblivious"),
    "weights": ([2, 2, 2], dl.Sum([0, 2]), [2, 1], "1/2", "oblivious"),
    "three letters": ([3, 2, 2], dl.Sum(), [2, 1], "1/3", "oblivious"),
    "residues": ([3, 3, 3], dl.ModularSum(3), [1, 2], "1/5", "additive"),
    "majority": ([2] * 5, dl.Threshold(3), [3, 2], "1/10", "oblivious"),
}


def design(name, *, entropy=None, blocks=None) -> dl.MinLeakage:
    sizes, query, given, budget, kind = CASES[name]
    return support.design(
        dl.MinLeakage,
        dl.Records(alphabets=sizes),
        query,
        dl.Hamming() if kind == "additive" or name == "majority" else dl.Absolute(),
        budget,
        dl.IndependentBlocks(sizes=given if blocks is None else blocks, entropy_at_least=entropy),
        mechanism=kind,
    )


def selected(problem) -> set[tuple[int, ...]]:
    """The inputs that the letters of a record can select, each letter with a dataset of the record's block, the others being known."""
    values, sizes = problem.query.values(problem.records).tolist(), problem.records.alphabets
    found, ends = set(), np.cumsum(problem.adversary.sizes)
    for block in (range(end - size, end) for end, size in zip(ends, problem.adversary.sizes, strict=True)):
        for others in itertools.product(*(range(1 if i in block else size) for i, size in enumerate(sizes))):
            for record in block:
                reached = [set() for _ in range(sizes[record])]
                for own in itertools.product(*(range(sizes[i]) for i in block)):
                    dataset = [*others[: block.start], *own, *others[block.stop :]]
                    reached[dataset[record]].add(values.index(problem.query.value(problem.records, dataset)))
                found |= {choice for choice in itertools.product(*reached) if len(set(choice)) > 1}
    return found


def by_definition(problem) -> float:
    """min u with D(Q(k_a) || q) <= u for every selection k, a law q of its own, and the distortion within its budget."""
    inputs, outputs = problem.cost.shape
    Q, u, cost = cp.Variable((inputs, outputs), nonneg=True), cp.Variable(), problem.input_law[:, None] * problem.cost
    rules = [cp.sum(Q, axis=1) == 1, cp.sum(cp.multiply(cost, Q)) <= float(problem.budget)]
    for choice in selected(problem):
        q = cp.Variable(outputs, nonneg=True)
        rules += [cp.sum(q) == 1, *(cp.sum(cp.rel_entr(Q[k], q)) <= u for k in set(choice))]
    return float(cp.Problem(cp.Minimize(u), rules).solve(solver="CLARABEL"))


def solved(problem, gap=1e-3):
    result = dl.solve(problem, gap=gap, time_limit=None)
    assert result.termination is dl.answers.Termination.GAP_REACHED
    assert dl.verify(problem, result.certificate).proved
    assert dl.verify(problem.release(result.mechanism.rows), result.audit.certificate).proved
    return result


@pytest.mark.parametrize("name", thinned(CASES, every=2))
def test_the_least_leakage_is_that_of_the_program_by_definition(name):
    problem = design(name)
    result, expected = solved(problem), by_definition(problem)
    assert result.lower - 1e-6 <= expected <= result.upper + 1e-6


@pytest.mark.thorough
def test_problem_3_is_the_inverse():
    problem = design("count")
    least = solved(problem)
    parts = {
        "records": problem.records,
        "query": problem.query,
        "distortion": dl.Absolute(),
        "adversary": problem.adversary,
    }
    inverse = solved(dl.MinDistortion(max_leakage=Fraction(least.upper), **parts))
    assert inverse.lower <= float(problem.budget) + 1e-9
    assert inverse.upper >= 0.98 * float(problem.budget)


@pytest.mark.parametrize("name", thinned(reversed(CASES), every=5))
def test_blocks_of_one_are_independent_records_and_one_block_is_everybody(name):
    single = design(name, blocks=[1] * len(CASES[name][0]))
    whole = design(name, blocks=[len(CASES[name][0])])
    for blocks, other in ((single, dl.ProductPriors()), (whole, dl.AnyPrior())):
        tables = {**vars(blocks), "adversary": other}
        alike = dl.MinLeakage(
            **{
                key: tables[key]
                for key in ("records", "query", "distortion", "max_distortion", "mechanism", "adversary")
            }
        )
        first, second = solved(blocks), solved(alike, gap=1e-2)
        assert first.lower <= second.upper + 1e-12
        assert second.lower <= first.upper + 1e-12


@pytest.mark.thorough
def test_some_entropy_in_the_household_leaves_less_to_be_told():
    any_law, some = solved(design("count")), solved(design("count", entropy="0.8 max"), gap=2e-2)
    assert some.lower < some.upper < any_law.lower


def test_a_frontier_falls():
    points = [point.result for point in dl.frontier(design("count"), ["1/8", "1/2"], gap=1e-2)]
    assert all(before.lower > after.upper for before, after in itertools.pairwise(points))
