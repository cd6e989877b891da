"""Independent blocks against what they are by definition: no product of block laws tells more, and known others tell as much."""

import functools
import itertools
import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each, thinned
from dalenius.catalogue.models import library
from dalenius.programs import MarginalUpdate, MinDistortionProgram, MinLeakageProgram, PosteriorUpdate
from dalenius.reduction import record_channels
from definitions import information

RNG = np.random.default_rng(20261122)
WIDE = 60  # noise beyond this many steps has a probability below 1e-12 for every epsilon here
CASES = {
    "count": ([2] * 6, dl.Count(), dl.geometric(0.5), [3, 3]),
    "count in odd blocks": ([2] * 6, dl.Count(), dl.discrete_laplace(scale=1.5), [1, 2, 3]),
    "counted letters": ([2, 3, 3, 2, 2], dl.Count([1, 2]), dl.geometric(1, range=(-2, 9)), [2, 3]),
    "gaussian": ([2] * 5, dl.Count(), dl.discrete_gaussian(scale="1.5"), [3, 2]),
    "staircase": ([2] * 5, dl.Count(), dl.staircase(1.6, sensitivity=2, top=1), [3, 2]),
    "parity behind stairs": ([2] * 4, dl.Parity(), dl.staircase(2, sensitivity=3, top=2), [2, 2]),
    "weights": ([2] * 5, dl.Sum([0, 3]), dl.discrete_laplace(0.4), [2, 2, 1]),
    "weights of records": ([2, 2, 3, 2], dl.Sum([[0, 2], [0, 1], [0, 1, 5], [1, 2]]), dl.geometric(0.7), [2, 2]),
    "parity": ([2] * 6, dl.Parity(), dl.laplace_threshold(1), [2, 4]),
    "modular sum": ([3] * 4, dl.ModularSum(3), dl.randomized_response(1), [2, 2]),
    "majority": ([2] * 5, dl.Threshold(3), dl.symmetric(0.1), [2, 3]),
    "matrix of a count": ([2] * 5, dl.Count(), dl.Channel(RNG.dirichlet(np.ones(3), size=6).tolist()), [2, 3]),
    "exponential": ([2] * 5, dl.Count(), dl.exponential(1.5), [2, 3]),
    "exponential, weights": (
        [2, 2, 3, 2],
        dl.Sum([[0, 2], [0, 1], [0, 1, 5], [1, 2]]),
        dl.exponential(1, range=(-2, 12)),
        [1, 2, 1],
    ),
    "matrix of residues": ([2] * 5, dl.ModularSum(4), dl.Channel(RNG.dirichlet(np.ones(4), size=4).tolist()), [3, 2]),
}


def case(name, bound=None) -> dl.WorstCaseLeakage:
    sizes, query, mechanism, blocks = CASES[name]
    return support.problem(
        dl.Records(alphabets=sizes), query, mechanism, dl.IndependentBlocks(sizes=blocks, entropy_at_least=bound)
    )


def rows_of_datasets(support, question):
    """The row of every dataset, noise on a sum far beyond its values, and nothing merged."""
    mechanism, values = question.mechanism, np.array(support.listed_values(question.query, question.records))
    if isinstance(mechanism, dl.discrete_laplace):
        epsilon = float(mechanism.epsilon or 1 / mechanism.scale)
        steps = np.abs(np.arange(values.min() - WIDE, values.max() + WIDE + 1)[None, :] - values[:, None])
        return np.exp(-epsilon * steps) * math.tanh(epsilon / 2)
    if isinstance(mechanism, dl.discrete_gaussian | dl.staircase):
        steps = np.abs(np.arange(values.min() - WIDE, values.max() + WIDE + 1)[None, :] - values[:, None])
        if isinstance(mechanism, dl.staircase):
            stairs = np.ceil((steps + 1 - mechanism.top) / mechanism.sensitivity)
            weights = np.exp(-float(mechanism.epsilon) * stairs)
        else:
            weights = np.exp(-0.5 * (steps / float(mechanism.scale)) ** 2)
        return weights / weights.sum(axis=1, keepdims=True)
    return support.full_channel(question)


def blocks_of(question):
    ends = np.cumsum(question.adversary.sizes)
    return [range(end - size, end) for end, size in zip(ends, question.adversary.sizes, strict=True)]


def letters_told(prior, letters, rows):
    """I(X_i; Y) for many priors at once, each a law on datasets."""
    return information(np.stack([(prior * (letters == a)) @ rows for a in range(letters.max() + 1)], axis=1))


def random_laws(rng, count, size):
    """From nearly one point to nearly uniform."""
    weights = rng.gamma(rng.choice([0.03, 0.1, 0.5, 2.0], size=count)[:, None], size=(count, size)) + 1e-200
    return weights / weights.sum(axis=1, keepdims=True)


def entropies(laws):
    return -np.sum(laws * np.log(np.where(laws > 0.0, laws, 1.0)), axis=1)


@pytest.mark.parametrize(("name", "bound"), thinned(itertools.product(CASES, [None, "0.6 max"]), 7))
def test_no_product_of_block_laws_tells_more(support, name, bound):
    """20,000 of them in the whole campaign; with a bound those count whose own block has the entropy."""
    question, count = case(name, bound), draws(200, 1000)
    upper, rows = dl.solve(question, gap=1e-2).upper, rows_of_datasets(support, question)
    data, rng = np.array(support.datasets(question.records)), np.random.default_rng(len(name))
    prior, enough = np.ones((count, len(data))), []
    for block in blocks_of(question):
        inside = list(itertools.product(*(range(question.records.alphabets[i]) for i in block)))
        laws = random_laws(rng, count, len(inside))
        if bound:
            uniform = np.full(laws.shape, 1 / len(inside))
            share = rng.uniform(size=(count, 1)) * (rng.uniform(size=(count, 1)) < 0.7)
            laws = (1 - share) * laws + share * uniform
        place = {letters: k for k, letters in enumerate(inside)}
        prior *= laws[:, [place[tuple(row[list(block)])] for row in data.tolist() for row in [np.array(row)]]]
        enough.append(entropies(laws) >= (0.6 * math.log(len(inside)) if bound else 0.0))
    for block, own in zip(blocks_of(question), enough, strict=True):
        assert own.any()
        for record in block:
            assert letters_told(prior, data[:, record], rows)[own].max() <= upper + 1e-9


@pytest.mark.parametrize("name", thinned(CASES, 4))
def test_known_others_and_any_law_of_the_own_block_tell_as_much(support, name):
    """By listing: for every dataset of the others the largest capacity of one row a letter of the own block's."""
    question, rows = case(name), rows_of_datasets(support, case(name))
    data, best = support.datasets(question.records), 0.0
    place = {dataset: k for k, dataset in enumerate(data)}
    for block in blocks_of(question):
        outside = [i for i in range(len(question.records)) if i not in block]
        for others in {tuple(row[i] for i in outside) for row in data}:
            known = [d for d in data if tuple(d[i] for i in outside) == others]
            for record in block:
                options = [[d for d in known if d[record] == a] for a in range(question.records.alphabets[record])]
                distinct = [list({rows[place[d]].tobytes(): rows[place[d]] for d in own}.values()) for own in options]
                channels = np.array(list(itertools.product(*distinct)))
                best = max(best, float(support.capacities(channels, 60)[0].max()))
    result = dl.solve(question, gap=1e-3)
    assert best <= result.upper + 1e-9
    assert result.lower <= best + 2e-3 * best + 1e-9


@each("name", *thinned(CASES, 4))
def test_blocks_of_one_are_independent_records(name):
    question = case(name)
    sizes = dl.IndependentBlocks(1)
    noise = question.mechanism
    if isinstance(noise, dl.discrete_gaussian):  # what product priors know of it is clamped, this far out
        noise = dl.discrete_gaussian(scale=noise.scale, range=(-WIDE, WIDE))
    parts = {"records": question.records, "query": question.query}
    apart = dl.solve(dl.WorstCaseLeakage(**parts, mechanism=question.mechanism, adversary=sizes), gap=1e-6)
    independent = dl.solve(dl.WorstCaseLeakage(**parts, mechanism=noise, adversary=dl.ProductPriors()), gap=1e-6)
    assert apart.lower <= independent.upper
    assert independent.lower <= apart.upper
    assert apart.gap <= 1e-6


@pytest.mark.parametrize(
    ("name", "bound"), thinned(itertools.product(["modular sum", "matrix of a count", "count"], [None, "0.7 max"]), 6)
)
def test_one_block_of_all_is_an_audit_of_all(name, bound):
    question = case(name)
    parts = {"records": question.records, "query": question.query, "mechanism": question.mechanism}
    everybody = len(question.records)
    together = dl.solve(
        dl.WorstCaseLeakage(**parts, adversary=dl.IndependentBlocks(everybody, entropy_at_least=bound)), gap=1e-2
    )
    anyone = dl.solve(dl.WorstCaseLeakage(**parts, adversary=dl.EntropyAtLeast(bound or 0, "nats")), gap=1e-2)
    assert together.lower <= anyone.upper
    assert anyone.lower <= together.upper
    assert max(together.gap, anyone.gap) <= 1e-2


def test_a_bound_on_every_block_would_leave_less():
    """Two one-bit blocks with 90 % of their entropy *each*: 0.0805; the own block's bound alone, which is asked here: 0.1109."""
    question = support.problem(
        dl.Records(2, alphabet=2),
        dl.Count(),
        dl.discrete_laplace(1),
        dl.IndependentBlocks(1, entropy_at_least="0.9 max"),
    )
    assert 0.1108 < dl.solve(question, gap=1e-4).lower <= 0.1110


# Every block program, on the models of the library that close fast: certified to 1e-6.


@functools.cache
def audits() -> dict[str, dl.WorstCaseLeakage]:
    """Those with a matrix, by name; not while tests are collected, which every process does."""
    loaded = {model.name: model.load() for model in library("fast")}
    return {
        name: problem
        for name, problem in loaded.items()
        if isinstance(problem, dl.WorstCaseLeakage) and problem.route.whole
    }


def certified(answer) -> bool:
    """A relative gap of at most 1e-6, or a value that is nothing."""
    return answer.gap <= 1e-6 * max(abs(answer.lower), abs(answer.upper)) + 4e-11


def prior(channel) -> np.ndarray:
    """A prior that is not symmetric: the uniform one, tilted, and mixed back until it has the entropy."""
    ramp = (
        np.linspace(0.0, 1.0, channel.letters)[:, None] + np.linspace(0.0, 2.0, channel.log_uniform.shape[1])[None, :]
    )
    p = channel.uniform * np.exp(ramp)
    return p / p.sum()


@pytest.mark.thorough
def test_prior_blocks():
    entropic = [
        problem
        for problem in audits().values()
        if isinstance(problem.adversary, dl.EntropyAtLeast) and problem.max_knowledge
    ]
    assert len(entropic) > 30
    for problem in entropic[:: draws(9, 1)]:
        prior_blocks(record_channels(problem)[0])


def prior_blocks(channel):
    p = prior(channel)
    w = p / p.sum(axis=1, keepdims=True)
    logs = np.where(w > 0.0, channel.log_uniform, 0.0)
    spread = np.sum(w * logs - np.where(w > 0.0, w * np.log(np.where(w > 0.0, w, 1.0)), 0.0), axis=1)
    bound = min(-channel.max_knowledge, float(np.log(np.exp(spread).sum())) - 1e-6)
    assert certified(MarginalUpdate(w @ channel.rows, spread, bound).solve(gap=1e-7))
    u = p @ channel.rows
    assert certified(
        PosteriorUpdate(channel.rows, channel.log_uniform, u / u.sum(axis=0), -channel.max_knowledge).solve(gap=1e-7)
    )


@each("size, other", (1, dl.ProductPriors()), (3, dl.EntropyAtLeast(0, "nats")))
def test_designs_with_constraints_are_those_of_the_adversary_that_blocks_are(size, other):
    """One household of all is any prior, and households of one are independent records."""
    asked = {
        "records": dl.Records(3, alphabet=2),
        "query": dl.Count(),
        "distortion": dl.Absolute(),
        "max_distortion": "2/5",
        "constraints": [dl.constraints.ErrorCap("9/20"), dl.LocalDP("log 20"), dl.constraints.ZeroEntries([(0, 3)])],
    }
    blocks, same = (
        dl.solve(dl.MinLeakage(adversary=one, **asked), gap=1e-3) for one in (dl.IndependentBlocks(size), other)
    )
    assert max(blocks.lower, same.lower) <= min(blocks.upper, same.upper)
    assert blocks.gap <= 1e-3 < blocks.lower
    free = dl.solve(dl.MinLeakage(adversary=other, **asked | {"constraints": []}), gap=1e-3)
    assert free.upper < blocks.lower


def test_mechanism_blocks():
    assert len(audits()) > 40
    for problem in list(audits().values())[:: -draws(15, 1)]:
        mechanism_blocks(problem)


def mechanism_blocks(problem):
    """On the model's own query: what is released where, under its uniform prior tilted, within budgets from tight to loose."""
    inputs = min(problem.shape[0], 40)
    rng = np.random.default_rng(5)
    priors = [p / p.sum() for p in (rng.dirichlet(np.full(inputs, 0.5), size=2) for _ in range(2))]
    law = sum(priors).sum(axis=0) / 2
    cost = law[:, None] * np.abs(np.subtract.outer(np.arange(inputs), np.arange(inputs)))
    most = cost.sum(axis=0).min()
    for share in (0.1, 0.9, 0.5)[: draws(1, 3)]:
        least = MinLeakageProgram(priors, cost, share * most).solve(gap=1e-7)
        assert certified(least)
        back = MinDistortionProgram(priors, cost, least.upper).solve(gap=1e-7)
        assert certified(back)
        assert back.lower <= share * most * (1.0 + 1e-6)


# Designs against independent blocks: the convex program by definition, and the two adversaries that blocks lie between.


DESIGNS = {
    "count": ([2] * 4, dl.Count(), [2, 2], "1/4", "oblivious"),
    "weights": ([2, 2, 2], dl.Sum([0, 2]), [2, 1], "1/2", "oblivious"),
    "three letters": ([3, 2, 2], dl.Sum(), [2, 1], "1/3", "oblivious"),
    "residues": ([3, 3, 3], dl.ModularSum(3), [1, 2], "1/5", "additive"),
    "majority": ([2] * 5, dl.Threshold(3), [3, 2], "1/10", "oblivious"),
}


def design(name, *, entropy=None, blocks=None) -> dl.MinLeakage:
    sizes, query, given, budget, kind = DESIGNS[name]
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
    result = support.solve_design(problem, gap=gap, time_limit=None)
    assert result.termination is dl.answers.Termination.GAP_REACHED
    return result


@pytest.mark.parametrize("name", thinned(DESIGNS, every=2))
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
    inverse = solved(dl.MinDistortion(max_leakage=f"{Fraction(least.upper)} nats", **parts))
    assert inverse.lower <= float(problem.budget) + 1e-9
    assert inverse.upper >= 0.98 * float(problem.budget)


@pytest.mark.parametrize("name", thinned(reversed(DESIGNS), every=5))
def test_blocks_of_one_are_independent_records_and_one_block_is_everybody(name):
    single = design(name, blocks=[1] * len(DESIGNS[name][0]))
    whole = design(name, blocks=[len(DESIGNS[name][0])])
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
