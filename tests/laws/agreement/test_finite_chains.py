"""What is certified about ranges of transition matrices holds for every matrix in them: against sums over all paths."""

import math
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each
from dalenius.information import mutual_information
from dalenius.information.letter_chains import LetterChain, stationary_laws, tangents
from definitions import information, joint_of_chain

RELEASES = [
    (dl.Count(letters=[2]), dl.geometric(1)),
    (dl.Sum(), dl.discrete_laplace(scale=2)),
    (dl.ModularSum(3), dl.randomized_response(1)),
    (dl.Threshold(2), dl.symmetric(0.1)),
    (dl.Count(letters=[0, 2]), dl.geometric(0.3)),
]


def leakages(problem, steps, first) -> list[float]:
    """I(X_i; Y) of every record, path by path."""
    count, values = len(problem.records), problem.query.values(problem.records).tolist()
    rows = {
        path: problem.channel[values.index(problem.query.value(problem.records, path))]
        for path in product(range(len(first)), repeat=count)
    }
    return [float(information(joint_of_chain(first, steps, count, i, rows.__getitem__))) for i in range(count)]


def some_law(rng, ranges) -> np.ndarray:
    """One of the laws in these ranges: a corner, or between two."""
    low, high = np.array(ranges, dtype=float).T
    corners = []
    for _ in range(2):
        law = low.copy()
        for b in rng.permutation(len(low)):
            law[b] += min(high[b] - low[b], 1 - law.sum())
        corners.append(law)
    share = rng.choice([1.0, rng.uniform()])
    return share * corners[0] + (1 - share) * corners[1]


def some_ranges(rng, letters, width):
    middle = rng.dirichlet(np.full(letters, 3.0))
    return [[round(max(p - width, 0.01), 3), round(min(p + width, 0.99), 3)] for p in middle]


def some_problem(rng, k):
    letters = 2 if k % 4 == 3 else 3
    query, mechanism = RELEASES[k % len(RELEASES)]
    query = dl.Count(letters=[1]) if letters == 2 and query.kind == "count" else query
    count, width = int(rng.integers(1, 5)), float(rng.choice([0.0, 0.02, 0.1]))
    ranges = [some_ranges(rng, letters, max(width, 0.002)) for _ in range(letters)]
    start = ("stationary", "any", some_ranges(rng, letters, 0.1))[k % 3]
    record = None if k % 2 else int(rng.integers(count))
    return support.problem(
        dl.Records(count, alphabet=letters), query, mechanism, dl.FiniteChain(ranges, start=start, record=record)
    )


def some_bits(rng, k):
    """The same of chains of bits, with more records."""
    query, mechanism = [(dl.Count(), dl.geometric(1)), *RELEASES[1:4], (dl.Parity(), dl.symmetric(0.2))][k % 5]
    count, start = int(rng.integers(2, 7)), ("stationary", "any")[k % 3 == 2]
    low = rng.uniform(0.05, 0.8, 2).round(3)
    ends = np.stack([low, low + rng.uniform(0, 0.1, 2).round(3)], axis=1).tolist()
    adversary = dl.MarkovChain(*ends, start=start, record=None if k % 2 else int(rng.integers(count)))
    return support.problem(dl.Records(count, alphabet=2), query, mechanism, adversary)


def some_chain(rng, adversary):
    """A matrix of transitions, and a first law, in the adversary's ranges."""
    if isinstance(adversary, dl.FiniteChain):
        point = np.array([some_law(rng, ranges) for ranges in adversary.box])
        steps = point[: adversary.letters]
        return steps, stationary_laws(steps[None])[0] if adversary.stationary else point[-1]
    up, down = (rng.uniform(*map(float, side)) for side in (adversary.to_one, adversary.to_zero))
    first = up / (up + down) if adversary.start == "stationary" else rng.uniform()
    return [[1 - up, up], [down, 1 - down]], [1 - first, first]


@pytest.mark.campaign(minutes=5)
@pytest.mark.parametrize("draw", [some_problem, some_bits])
def test_no_chain_of_the_ranges_tells_more(draw):
    rng = np.random.default_rng(11)
    for k in range(draws(3, 40, 200)):
        problem = draw(rng, k)
        result = dl.solve(problem, gap=5e-2, node_limit=draws(8, 60) if draw is some_problem else draws(20, 100))
        asked = range(len(problem.records)) if problem.adversary.record is None else [problem.adversary.record]
        best = 0.0
        for _ in range(draws(4, 30) if draw is some_problem else 20):
            found = leakages(problem, *some_chain(rng, problem.adversary))
            best = max(best, *(found[i] for i in asked))
        assert best <= result.upper + 1e-12, problem.to_model()


def test_every_bound_of_a_box_holds_on_the_box():
    rng = np.random.default_rng(12)
    for k in range(draws(6, 400)):
        problem = some_problem(rng, k)
        chain, rows = problem.adversary, problem.channel
        low, high = np.moveaxis(np.array(chain.box, dtype=float), 2, 0)
        adds = problem.query.contribution(0, chain.letters)
        totals = np.arange(len(problem.records) * max(adds) + 1)
        rows = rows[problem.query.index_of_total(totals, problem.records)]
        centre = low + (high - low) * ((1 - low.sum(1)) / (high - low).sum(1))[:, None]
        for record in range(len(problem.records)):
            known = LetterChain(len(problem.records), record, adds, chain.stationary)
            bound = tangents(known, rows, low[None], high[None], centre[None]).bounds[0]
            points = np.array([[some_law(rng, ranges) for ranges in chain.box] for _ in range(20)])
            found = mutual_information(known.joint_laws(points) @ rows)
            assert np.all(found <= bound + 1e-12), problem.to_model()


def test_two_letters_are_a_markov_chain():
    for start, record in (("stationary", 1), ("any", 0), ("any", 2))[: draws(1, 3)]:
        common = {"records": dl.Records(4, alphabet=2), "query": dl.Count(), "mechanism": dl.geometric(0.5)}
        short = dl.MarkovChain((0.2, 0.25), (0.3, 0.4), start=start, record=record)
        long = dl.FiniteChain([[(0.75, 0.8), (0.2, 0.25)], [(0.3, 0.4), (0.6, 0.7)]], start=start, record=record)
        one = dl.solve(dl.WorstCaseLeakage(adversary=short, **common), gap=1e-2, node_limit=60)
        other = dl.solve(dl.WorstCaseLeakage(adversary=long, **common), gap=1e-2)
        assert max(one.lower, other.lower) <= min(one.upper, other.upper) + 1e-12
        assert other.gap <= 1e-2


@each(
    "transitions, start",
    ([[1, 0], [0, 1]], "any"),
    ([["9/10", "1/10"], [0, 1]], "any"),
    ([[1, 0], ["1/2", "1/2"]], [(0, 1), (0, 1)]),
)
def test_letters_that_a_record_may_not_have(transitions, start):
    """Boxes in which such a letter is rare are few, and close the interval."""
    problem = support.problem(
        dl.Records(4, alphabet=2), dl.Count(), dl.discrete_laplace(0.5), dl.FiniteChain(transitions, start=start)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = dl.solve(problem, gap=1e-3)
    assert found.gap <= 1e-3
    assert sum(proof.leaves for proof in found.records) <= 160
    shares = np.linspace(0, 1, 101)
    steps = np.array(transitions, dtype=object).astype(str)
    steps = [[float(Fraction(p)) for p in row] for row in steps]
    best = max(max(leakages(problem, steps, (1 - share, share))) for share in shares)
    assert best <= found.upper + 1e-12
    assert found.lower >= best * (1 - 1e-3)


def test_what_is_known_of_a_letter_at_once_is_not_proved_by_a_tree():
    problem = support.problem(
        dl.Records(4, alphabet=3),
        dl.Sum(),
        dl.discrete_laplace(2),
        dl.FiniteChain([[(0.01, 0.98)] * 3] * 3, start="any"),
    )
    found = dl.solve(problem, gap=1e-3, node_limit=40)
    assert found.upper > math.log(3) - 1e-9
    assert [(proof.method, proof.leaves) for proof in found.records] == [("letters", 1)] * 4
