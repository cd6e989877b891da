"""Helpers of the tests: problems in one line, the same quantities computed in another way, and random problems.

Nothing here uses the package's own counting, entropies or bounds: datasets are listed, sums are plain numpy.
"""

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

import dalenius as dl
import definitions
from campaigns import draws, each
from dalenius.model.fields import amount_text

# ---------------------------------------------------------------- problems and house assertions


TINY_AUDIT = dl.WorstCaseLeakage(
    records=dl.Records(2, alphabet=2), query=dl.Parity(), mechanism=dl.symmetric(0.1, k=2), adversary=dl.AnyPrior()
)
TINY_DESIGN = dl.MinLeakage(
    records=dl.Records(2, alphabet=2),
    query=dl.Parity(),
    distortion=dl.Hamming(),
    max_distortion=0,
    adversary=dl.AnyPrior(),
)


def problem(sizes, query, mechanism, bound) -> dl.WorstCaseLeakage:
    """A problem over records with these alphabet sizes; `query` None where rows are indexed by dataset."""
    records = sizes if isinstance(sizes, dl.Records) else dl.Records(alphabets=list(sizes))
    adversary = bound if isinstance(bound, dl.adversaries.Adversary) else dl.EntropyAtLeast(bound, "nats")
    rest = {} if query is None else {"query": query}
    return dl.WorstCaseLeakage(records=records, mechanism=mechanism, adversary=adversary, **rest)


def design(kind, records, query, distortion, budget, adversary, **more) -> dl.MinLeakage | dl.MinDistortion:
    """A design of this kind, `dl.MinLeakage` or `dl.MinDistortion`, with a budget of the other; an entropy bound may be a number,
    as a budget of leakage may, both of nats."""
    adversary = adversary if isinstance(adversary, dl.adversaries.Adversary) else dl.EntropyAtLeast(adversary, "nats")
    most = {"max_distortion": budget} if kind is dl.MinLeakage else {"max_leakage": amount_text(budget, "budget")}
    return kind(records=records, query=query, distortion=distortion, adversary=adversary, **most, **more)


def chain(count, up, down, mechanism=None, query=None, **more) -> dl.WorstCaseLeakage:
    """A count of bits, or what is asked instead, before an adversary who knows a Markov chain."""
    adversary = dl.MarkovChain(up, down, **more)
    return problem(dl.Records(count, alphabet=2), query or dl.Count(), mechanism or dl.geometric(0.5), adversary)


def parity4(bound, epsilon=1.0) -> dl.WorstCaseLeakage:
    """Parity of four bits, Laplace noise, threshold: the source paper's example."""
    return problem([2] * 4, dl.Parity(), dl.laplace_threshold(epsilon), bound)


def rows_of_two():
    """A full channel of two records whose last gap the tree over boxes of the conditionals closes."""
    rows = np.random.default_rng(1).dirichlet(np.full(3, 0.6), size=16).round(6)
    rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(6)
    return problem(dl.Records(alphabets=[4, 4]), None, dl.Channel(rows, inputs="dataset"), "0.7 max")


def solve(question, *, gap=2e-2, time_limit=1.5) -> dl.answers.Result:
    """A loose and quick audit: proved, in whatever time there is."""
    result = dl.solve(question, gap=gap, time_limit=time_limit)
    assert 0.0 <= result.lower <= result.upper
    return result


def assert_design(problem, result) -> dl.answers.DesignResult:
    """What is promised of a design that is found, whatever stopped the work, in exact numbers."""
    rows = result.mechanism.rows
    assert 0.0 <= result.lower <= result.upper < math.inf
    assert dl.verify(problem, result.certificate).proved
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows)
    assert result.distortion == problem.expected_distortion(rows)
    assert all(price.slack is None or price.slack >= 0 for price in result.constraints)
    if isinstance(problem, dl.MinLeakage):
        assert result.distortion <= problem.budget
        assert result.leakage[1] <= result.upper or problem.objective is not None
    elif result.leakage is not None:
        assert result.distortion <= Fraction(result.upper) or problem.objective is not None
        assert result.leakage[0] <= problem.max_leakage_nats
    if result.audit is not None:
        assert dl.verify(problem.release(rows), result.audit.certificate).proved
    return result


def solve_design(problem, **options) -> dl.answers.DesignResult:
    """A design with its promises kept, or a proof, as far as it goes, that there is none."""
    result = dl.solve(problem, **{"gap": 1e-4, "time_limit": 60.0} | options)
    if result.mechanism is not None:
        return assert_design(problem, result)
    assert 0.0 <= result.lower <= result.upper == math.inf
    assert dl.verify(problem, result.certificate).proved
    return result


def refused(build: Callable[[], object], *words: str) -> None:
    """Expect that something is refused as bad input, in a message short enough to read, with each of the words in it."""
    with pytest.raises(dl.errors.InputError) as caught:
        build()
    message = str(caught.value)
    assert len(message) < 600
    for word in words:
        assert word in message


def refuses(*rows: tuple, by: Callable = operator.call) -> Callable[[], None]:
    """Make one test of a table of bad input: a row is what `by` takes, a call unless it is given, and words of the refusal."""

    @each("row", *rows)
    def test(row):
        *given, words = row
        refused(functools.partial(by, *given), *([words] if isinstance(words, str) else words))

    return test


def assert_contains(result, exact, *, gap=None) -> None:
    """The house assertion: the interval contains the value; then, how wide it is."""
    assert result.lower <= exact <= result.upper
    if gap is not None:
        assert result.gap <= gap


def assert_overlap(first, second) -> None:
    """Two intervals of one and the same number."""
    assert first.lower <= second.upper
    assert second.lower <= first.upper


# ---------------------------------------------------------------- references


def binary_entropy(p: float) -> float:
    return sum(-x * math.log(x) for x in (p, 1.0 - p) if x > 0.0)


def gerber(n: int, flip: float, bound: float) -> float:
    """Mrs. Gerber's lemma: the leakage of the parity of n bits through a binary symmetric channel, b in nats."""
    spare = bound - (n - 1) * math.log(2.0)
    v = brentq(lambda x: binary_entropy(x) - spare, 0.0, 0.5, xtol=1e-16) if spare > 0.0 else 0.0
    return math.log(2.0) - binary_entropy(flip * (1.0 - v) + (1.0 - flip) * v)


def gerber_digits(n: int, epsilon: Decimal, bound: Decimal, digits: int = 60) -> Decimal:
    """The same for `laplace_threshold(epsilon)`, in decimal arithmetic; v by bisection."""
    with localcontext(prec=digits):
        log2 = Decimal(2).ln()

        def h(p: Decimal) -> Decimal:
            return -p * p.ln() - (1 - p) * (1 - p).ln()

        flip = (-epsilon / 2).exp() / 2
        spare = bound - (n - 1) * log2
        low, high = Decimal(10) ** -30, Decimal("0.5")
        for _ in range(3 * digits):
            middle = (low + high) / 2
            low, high = (middle, high) if h(middle) < spare else (low, middle)
        return log2 - h(flip * (1 - low) + (1 - flip) * low)


def capacity(rows, steps: int = 20_000) -> tuple[float, float]:
    """Shannon capacity of a channel by Blahut-Arimoto: bounds from both sides, in nats."""
    rows = np.asarray(rows, dtype=float)
    p = np.full(len(rows), 1.0 / len(rows))
    for _ in range(steps):
        distance = divergences(rows, p @ rows)
        if distance.max() - p @ distance < 1e-12:
            break
        p = p * np.exp(distance - distance.max())
        p /= p.sum()
    distance = divergences(rows, p @ rows)
    return float(p @ distance), float(distance.max())


def capacities(channels, steps: int):
    """Bounds on the Shannon capacities of a batch of channels (channels, letters, outputs), by Blahut-Arimoto."""
    log_rows = np.log(np.where(channels > 0.0, channels, 1.0))
    p = np.full(channels.shape[:2], 1.0 / channels.shape[1])
    for _ in range(steps):
        law = np.einsum("sa,say->sy", p, channels)
        distance = np.sum(channels * (log_rows - np.log(np.maximum(law, 1e-300))[:, None, :]), axis=2)
        lower, upper = np.sum(p * distance, axis=1), distance.max(axis=1)
        p = p * np.exp(distance)
        p /= p.sum(axis=1, keepdims=True)
    return lower, upper


def divergences(rows, law):
    """D(row || law) of every row, in nats."""
    safe = np.where(rows > 0.0, rows, 1.0)
    return np.sum(rows * (np.log(safe) - np.log(np.where(law > 0.0, law, 1.0))), axis=1)


def datasets(records) -> list[tuple[int, ...]]:
    """All datasets, in lexicographic order with record 0 slowest."""
    return list(itertools.product(*(range(size) for size in records.alphabets)))


def value_of(query, data: tuple[int, ...], index: int) -> int:
    """A query's value by its definition in docs/model-format.md."""
    match query.kind:
        case "parity":
            return sum(data) % 2
        case "modular_sum":
            return sum(data) % query.m
        case "count":
            return sum(letter in query.letters for letter in data)
        case "threshold":
            return int(sum(data) >= query.at)
        case "table":
            return query.table[index]
        case "identity":
            return index
        case "sum" if query.weights is None:
            return sum(data)
        case "sum" if isinstance(query.weights[0], tuple):
            return sum(row[letter] for row, letter in zip(query.weights, data, strict=True))
        case "sum":
            return sum(query.weights[letter] for letter in data)
    raise AssertionError(f"tests/support.py: value_of lacks the definition of the query {query.kind}")


def listed_values(query, records) -> list[int]:
    """The value of every dataset."""
    return [value_of(query, data, index) for index, data in enumerate(datasets(records))]


def inputs_of_datasets(question) -> list[int]:
    """For every dataset the row of the channel that it selects."""
    if question.mechanism.indexed_by() == "dataset":
        return list(range(question.records.datasets))
    order = question.query.values(question.records).tolist()
    return [order.index(value) for value in listed_values(question.query, question.records)]


def full_channel(question):
    """The channel from datasets to outputs."""
    return question.channel[inputs_of_datasets(question)]


def letters_of(question, record: int):
    """The letter of one record in every dataset."""
    return np.array([data[record] for data in datasets(question.records)])


def leakage(prior, letters, channel) -> float:
    """I(X_i; Y) in nats for a prior on datasets."""
    return max(float(definitions.information(definitions.joint_law(prior, letters, channel))), 0.0)


def worst_leakage(prior, question) -> float:
    """The largest I(X_i; Y) over the records."""
    channel = full_channel(question)
    return max(leakage(prior, letters_of(question, i), channel) for i in range(len(question.records)))


def entropy(prior) -> float:
    positive = prior[prior > 0.0]
    return float(-np.sum(positive * np.log(positive)))


def made_feasible(prior, bound: float):
    """The prior mixed with just enough of the uniform one that H >= bound (uniform itself where nothing less does)."""
    prior = np.maximum(prior, 0.0)
    prior = prior / prior.sum()
    uniform = np.full(prior.size, 1.0 / prior.size)
    low, high = 0.0, 1.0
    if entropy(prior) >= bound:
        return prior
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if entropy((1 - middle) * prior + middle * uniform) >= bound else (middle, high)
    return (1.0 - high) * prior + high * uniform


def without_entropy(question) -> tuple[float, float]:
    """L_0, from both sides: the best capacity over records and selections of one row a letter."""
    rows, inputs = question.channel, np.array(inputs_of_datasets(question))
    best = (0.0, 0.0)
    for i, size in enumerate(question.records.alphabets):
        letters = letters_of(question, i)
        choices = [np.unique(rows[inputs[letters == a]], axis=0) for a in range(size)]
        for chosen in itertools.product(*choices):
            found = capacity(np.array(chosen))
            best = (max(best[0], found[0]), max(best[1], found[1]))
    return best


def product_leakage(question) -> tuple[float, float]:
    """The same for independent records, whose others are known: the best capacity over settings of the others."""
    channel, shape = full_channel(question), question.records.alphabets
    index, best = np.arange(len(channel)).reshape(shape), (0.0, 0.0)
    for record in range(len(shape)):
        chosen = np.unique(np.moveaxis(index, record, -1).reshape(-1, shape[record]), axis=0)
        for found in (capacity(channel[rows]) for rows in chosen):
            best = (max(best[0], found[0]), max(best[1], found[1]))
    return best


# ---------------------------------------------------------------- an independent search from below


def softened(logs, log_counts, bound: float, power, *, steps: int, spare: float):
    """Priors p ~ N exp(power log q), power <= 1 by Newton steps so that H(p) is just above the bound; what is missing is mixed in.

    The mixture is feasible because entropy is concave: H((1-t) p + t u) >= (1-t) H(p) + t log |X|.
    """
    total = np.log(np.sum(np.exp(log_counts)))
    uniform = np.exp(log_counts - total)
    logs = logs - logs.max(axis=1, keepdims=True)
    for step in range(steps + 1):
        weights = np.exp(log_counts + power[:, None] * logs)
        norm = weights.sum(axis=1)
        p = weights / norm[:, None]
        mean = np.sum(p * logs, axis=1)
        reached = np.log(norm) - power * mean
        if step < steps:
            slope = power * (np.sum(p * logs**2, axis=1) - mean**2)
            moved = power + (reached - bound - 2.0 * spare) / np.maximum(slope, 1e-12)
            power = np.clip(moved, power / 4, np.minimum(4.0 * power, 1.0))
    share = np.clip((bound + spare - reached) / np.maximum(total - reached, 1e-12), 0.0, 1.0)[:, None]
    return (1.0 - share) * p + share * uniform, power


def ascend(rows, letters, bound: float, priors, *, sweeps: int, log_counts=None, steps: int = 6, spare: float = 1e-12):
    """Ascents of I(A; Y) in the joint law p of (letter, class), all starts in one batch; every iterate has H(p) >= bound + spare.

    I is at least sum p' g - D(p' || p) with g its gradient at p, so p' ~ (p exp g)^power, with the power that makes p' feasible,
    never leaks less. Each start goes further, to (p exp(speed g))^power, as long as that pays, and back where it does not. This is
    not the package's ascent (posteriors and closed forms): they share fixed points, not steps.

    Parameters
    ----------
    rows : (classes, outputs)
        One row for every pair of letter and class; `letters` says whose it is.
    priors : (starts, classes)
        Need not be feasible.
    log_counts : (classes,), optional
        Logarithms of the number of datasets of each pair; one each if not given.

    Returns
    -------
    priors, values, multipliers
        The multiplier is that of the entropy bound: p ~ N exp(g / multiplier) where an ascent has come to rest.
    """
    floor = 1e-30 if priors.dtype == np.float32 else 1e-290
    log_counts = np.zeros(len(rows), dtype=priors.dtype) if log_counts is None else np.asarray(log_counts)
    rows = rows.astype(priors.dtype)
    groups = [np.flatnonzero(letters == a) for a in range(letters.max() + 1)]

    def value_and_gradient(p):
        u = np.stack([p[:, group] @ rows[group] for group in groups], axis=1)
        inputs, outputs = u.sum(axis=2, keepdims=True), u.sum(axis=1, keepdims=True)
        scores = np.log(np.maximum(u, floor)) - np.log(np.maximum(inputs, floor)) - np.log(np.maximum(outputs, floor))
        gradient = np.empty_like(p)
        for a, group in enumerate(groups):
            gradient[:, group] = scores[:, a] @ rows[group].T
        return np.sum(u * scores, axis=(1, 2)), gradient

    powers, speeds = (np.full(len(priors), x, dtype=priors.dtype) for x in (0.5, 1.0))
    p, powers = softened(
        np.log(np.maximum(priors, floor)) - log_counts, log_counts, bound, powers, steps=steps, spare=spare
    )
    values, gradient = value_and_gradient(p)
    multipliers = np.ones_like(values)
    for _ in range(sweeps):
        logs = np.log(np.maximum(p, floor)) - log_counts + speeds[:, None] * gradient
        new, tried = softened(logs, log_counts, bound, powers, steps=steps, spare=spare)
        new_values, new_gradient = value_and_gradient(new)
        better = new_values >= values
        multipliers = np.where(better, (1.0 - tried) / (tried * speeds), multipliers)
        speeds = np.where(better, 1.4 * speeds, np.maximum(0.4 * speeds, 1.0)).astype(priors.dtype)
        p, gradient = (np.where(better[:, None], x, y) for x, y in ((new, p), (new_gradient, gradient)))
        values, powers = np.where(better, new_values, values), np.where(better, tried, powers)
    return p, values, multipliers


def random_starts(rng, count: int, size: int):
    """Laws of many shapes, from nearly one point to nearly uniform."""
    weights = rng.gamma(np.resize([0.1, 0.5, 1.0, 3.0], count)[:, None], size=(count, size)) + 1e-30
    return weights / weights.sum(axis=1, keepdims=True)


def brute_force(question, rng, *, starts: int = 1000, records=None) -> float:
    """The largest leakage that ascents find about these records (all of them if not given): a few sweeps for all starts, many for
    the best. The prior they end at is checked and evaluated from scratch."""
    rows, bound = full_channel(question), question.entropy_bound
    best = 0.0
    for record in range(len(question.records)) if records is None else records:
        letters = letters_of(question, record)
        priors = random_starts(rng, starts, len(rows)).astype(np.float32)
        priors, values, _ = ascend(rows, letters, bound, priors, sweeps=6, steps=2)
        for kept, sweeps in ((50, 30), (5, 60)):
            priors = priors[np.argsort(-values)[:kept]].astype(float)
            priors, values, _ = ascend(rows, letters, bound, priors, sweeps=sweeps)
        prior = priors[np.argmax(values)]
        assert abs(prior.sum() - 1.0) <= 1e-12
        assert entropy(prior) >= bound
        best = max(best, leakage(prior, letters, rows))
    return best


def random_counts(rng, inputs: int, outputs: int, *, total: int = 1000, zeros: float = 0.0):
    """Rows from a Dirichlet law of random concentration, as counts that sum to `total`; a share of the entries is set to zero."""
    rows = rng.dirichlet(np.full(outputs, rng.choice([0.1, 0.3, 1.0, 3.0])), size=inputs)
    best = np.eye(outputs, dtype=bool)[rows.argmax(axis=1)]
    rows = np.where((rng.random(rows.shape) < zeros) & ~best, 0.0, rows)
    counts = np.floor(total * rows / rows.sum(axis=1, keepdims=True)).astype(int)
    counts[best] += total - counts.sum(axis=1)
    return counts


def exact_rows(counts, total: int = 1000) -> list[list[Fraction]]:
    """Counts as exact probabilities."""
    return [[Fraction(count, total) for count in row] for row in counts.tolist()]


# ---------------------------------------------------------------- random problems (Hypothesis)


def examples(thin: int, full: int, **more) -> settings:
    """So many fixed draws of Hypothesis, daily and with --thorough; how long one takes is no matter."""
    health = list(HealthCheck)
    return settings(
        max_examples=draws(thin, full), deadline=None, derandomize=True, suppress_health_check=health, **more
    )


def laws(size: int) -> st.SearchStrategy[list[Fraction]]:
    """Probability vectors with small exact entries, zeros included."""
    weights = st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any)
    return weights.map(lambda w: [Fraction(x, sum(w)) for x in w])


def matrices(inputs: int, outputs: int) -> st.SearchStrategy[list[list[Fraction]]]:
    return st.lists(laws(outputs), min_size=inputs, max_size=inputs)


SIZES: list[list[int]] = [[2], [3], [2, 2], [2, 3], [3, 2], [2, 1, 2], [2, 2, 2]]
SHARES = ["0 nats", "0.3 max", "0.6 max", "0.9 max", "1 max"]


@st.composite
def queries(draw, sizes: list[int]):
    """A query that fits records of these sizes."""
    total = math.prod(sizes)
    makers: list[Callable[[], dl.queries.Query]] = [
        dl.Parity,
        lambda: dl.ModularSum(draw(st.integers(2, 4))),
        lambda: dl.Count(draw(st.sampled_from([[0], [1], [0, 1]]))),
        dl.Sum,
        lambda: dl.Sum([[draw(st.integers(-2, 2)) for _ in range(size)] for size in sizes]),
        lambda: dl.Threshold(draw(st.integers(0, 3))),
        lambda: dl.Table([draw(st.integers(-2, 2)) for _ in range(total)]),
        dl.Identity,
    ]
    return draw(st.sampled_from(makers))()


@st.composite
def oblivious(draw, bounds=tuple(SHARES)):
    """A small problem with a random channel on a random query's values."""
    sizes = draw(st.sampled_from(SIZES))
    query = draw(queries(sizes))
    rows = draw(matrices(query.values(dl.Records(alphabets=sizes)).size, draw(st.integers(2, 3))))
    return problem(sizes, query, dl.Channel(rows), draw(st.sampled_from(bounds)))


@st.composite
def by_dataset(draw, bounds=tuple(SHARES)):
    """A small problem with a random channel on datasets."""
    sizes = draw(st.sampled_from(SIZES))
    rows = draw(matrices(math.prod(sizes), draw(st.integers(2, 3))))
    return problem(sizes, None, dl.Channel(rows, inputs="dataset"), draw(st.sampled_from(bounds)))


@st.composite
def named(draw):
    """A small problem with a mechanism of every kind."""
    sizes = draw(st.sampled_from([[2, 2], [2, 3], [2, 2, 2]]))
    epsilon = draw(st.fractions(Fraction(1, 10), 3, max_denominator=50))
    kinds: list[Callable[[], tuple[dl.queries.Query, dl.mechanisms.Mechanism]]] = [
        lambda: (dl.Parity(), dl.laplace_threshold(epsilon)),
        lambda: (dl.Threshold(1), dl.randomized_response(epsilon, k=2)),
        lambda: (dl.ModularSum(3), dl.symmetric(epsilon / 4, k=3)),
        lambda: (dl.Count(), dl.geometric(epsilon)),
        lambda: (dl.Sum(), dl.exponential(epsilon, range=(-1, 5), sensitivity=2)),
        lambda: (dl.Count([0]), dl.geometric(epsilon, range=(0, 4))),
    ]
    query, mechanism = draw(st.sampled_from(kinds))()
    return problem(sizes, query, mechanism, draw(st.sampled_from(SHARES)))


def everything() -> st.SearchStrategy[dl.WorstCaseLeakage]:
    return st.one_of(oblivious(), by_dataset(), named())


def with_rows(question, rows) -> dl.WorstCaseLeakage:
    """The same question about another matrix."""
    mechanism = dl.Channel(rows, inputs=question.mechanism.inputs)
    return problem(question.records, question.query, mechanism, question.adversary)


def with_bound(question, bound) -> dl.WorstCaseLeakage:
    """The same question about another adversary."""
    return problem(question.records, question.query, question.mechanism, bound)


def random_priors(rng, question, count: int) -> Iterator[np.ndarray]:
    """Feasible priors of many shapes: sparse, spread, and concentrated on few datasets, pushed to the entropy bound."""
    size, bound = question.records.datasets, question.entropy_bound
    for j in range(count):
        prior = rng.dirichlet(np.full(size, (0.05, 0.3, 1.0)[j % 3]))
        if bound < math.log(size) - 1e-9:
            yield made_feasible(prior, bound)
