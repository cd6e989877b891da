"""Leaves by what a record's letters alone tell, and noise without a range: against bounds by listing datasets, and what is refused."""

import itertools
import math
import random

import numpy as np

from campaigns import draws, each
from dalenius_check import check
from definitions import information

GEOMETRIC = 'kind="geometric"; epsilon=0.5'
A = math.exp(-0.5)
BIT = math.log(2) + (
    A * math.log(A) / (1 + A) - math.log(1 + A)
)  # a count's bit behind this noise: log 2 - h(a / (1 + a))


def far(row, law):
    used = row > 0
    return row[used] @ np.log(row[used] / law[used])


def informed(share, size, b, letters, rows, pairs):
    """The bound of a line, by its formula."""
    ends = [0.0, *(t for t, _ in pairs)]
    laws = [np.array(r, float) / sum(r) for _, r in pairs]
    if len(pairs) == 1:
        g = max(far(row, laws[0]) for row in rows)
    else:
        h = [0 if t in (0, 1) else -t * math.log(t) - (1 - t) * math.log(1 - t) for t in ends]
        g = max(
            (1 - ends[k]) * far(rows[0], law) + ends[k] * far(rows[1], law) - share * h[k]
            for j, law in enumerate(laws)
            for k in (j, j + 1)
        )
    return (1 - share) * (math.log(size) - b) + share * math.log(letters) + g


def geometric(values, low, high):
    rows = np.array([[A ** abs(y - v) for y in range(low, high + 1)] for v in values]) / (1 + A)
    rows[:, 1:-1] *= 1 - A
    return rows


MODELS = {
    "count": (
        "count=3; alphabet=2",
        'kind="count"',
        GEOMETRIC,
        [2, 2, 2],
        sum,
        geometric(range(4), 0, 3),
        geometric([0, 1], 0, 1),
    ),
    "wide": (
        "count=2; alphabet=3",
        'kind="sum"; weights=[0, 2, 5]',
        'kind="geometric"; epsilon=0.5; range=[-1, 12]',
        [3, 3],
        lambda x: sum([0, 2, 5][a] for a in x),
        geometric([0, 2, 4, 5, 7, 10], -1, 12),
        geometric([0, 2, 5], 0, 5),
    ),
    "laplace": (
        "alphabets=[2, 3]",
        'kind="sum"',
        'kind="discrete_laplace"; scale=2',
        [2, 3],
        sum,
        geometric(range(4), 0, 3),
        geometric([0, 1], 0, 1),
    ),
    "parity": (
        "count=3; alphabet=2",
        'kind="parity"',
        'kind="symmetric"; flip="1/4"',
        [2, 2, 2],
        lambda x: sum(x) % 2,
        np.array([[0.75, 0.25], [0.25, 0.75]]),
        np.array([[0.75, 0.25], [0.25, 0.75]]),
    ),
}


@each("seed", *range(draws(8, 400)))
def test_no_prior_tells_more_than_informed_leaves(seed, forge):
    """The bound of a leaf is that of its formula, and no prior of so much entropy tells more, datasets listed."""
    rng = random.Random(seed)
    name = rng.choice(list(MODELS))
    records, query, mechanism, sizes, value, rows, own = MODELS[name]
    datasets = list(itertools.product(*map(range, sizes)))
    answers = [value(x) for x in datasets]
    place = {v: k for k, v in enumerate(sorted(set(answers)))}
    weights = np.array([rng.random() ** rng.choice([1, 4, 12]) for _ in datasets])
    prior = weights / weights.sum()
    b = -prior @ np.log(prior) - 1e-9
    told = np.zeros((sizes[0], rows.shape[1]))
    for x, v, p in zip(datasets, answers, prior, strict=True):
        told[x[0]] += p * rows[place[v]]
    share = rng.choice([0, 1, rng.random()])
    width = own.shape[1]
    ends = sorted(rng.sample(range(1, 10), rng.randint(0, 3))) if sizes[0] == 2 else []
    pairs = [(t, [rng.randint(1, 5) for _ in range(width)]) for t in [*(t / 10 for t in ends), 1.0]]
    bound = informed(share, len(datasets), b, sizes[0], own, pairs)
    assert information(told) <= bound
    line = ["informed", f"{share:.17f}", [[f"{t:.1f}", list(map(str, r))] for t, r in pairs]]
    data = forge.model(records, query, mechanism, f"{b:.15f}")
    others = [["record", 1], ["vertices"], ["law", ["1"] * rows.shape[1]]] if name == "laplace" else []
    for slack in (-1e-9, 1e-9):
        claim = forge.certificate(
            data, "0", f"{max(bound + slack, 0):.15f}", ["witness", None, None], ["record", 0], line, *others
        )
        reason = check(data, claim).reason
        assert ("informed leaf <= upper fails" in reason) == (slack < 0), reason


@each(
    "lambda_, pairs, b, bound",
    ("0", [["1", ["1", "1"]]], "1 max", BIT),
    ("1/2", [["1", ["1", "1"]]], "1 nats", (4 * math.log(2) - 1) / 2 + math.log(2) / 2 + BIT),
)
def test_a_count_whose_others_are_told(lambda_, pairs, b, bound, forge):
    data = forge.model("count=4; alphabet=2", 'kind="count"', GEOMETRIC, f'"{b}"')
    for slack, status in ((1e-12, 0), (-1e-12, 1)):
        lines = [["witness", None, None], ["record", 0], ["informed", lambda_, pairs]]
        assert check(data, forge.certificate(data, "0", f"{bound + slack:.15f}", *lines)).exit_code == status


@each("n", 1, 2, 3, 7)
def test_the_farthest_values(n, forge):
    """The pair at the ends has the largest capacity; that of one is attained."""
    rows = geometric([0, n], 0, n)
    bound = far(rows[0], rows.mean(0))
    for k in range(1, n + 1):
        near = geometric([0, k], 0, k)
        assert far(near[0], near.mean(0)) <= bound + 1e-15
    data = forge.model(f"count={n}; alphabet=2", 'kind="count"', GEOMETRIC, "0")
    weights = [["1", *["0"] * n], [*["0"] * n, "1"]]
    for slack, status in ((1e-12, 0), (-1e-12, 1)):
        lines = [["witness", 0, weights], ["record", 0], ["ends"]]
        low = f"{bound - 1e-12:.15f}" if n == 1 or slack < 0 else "0"
        found = check(data, forge.certificate(data, low, f"{bound + slack:.15f}", *lines))
        assert found.exit_code == status, found.reason


ONE = [["1", ["1", "1"]]]


@each(
    "line, reason",
    (["informed", "-1/9", ONE], "nonnegative"),
    (["informed", "1.000001", ONE], "lambda must be at most 1"),
    (["informed", "0", []], "one pair is expected"),
    (["informed", "0", [["1/2", ["1", "1"]]]], "t must ascend from above 0 to 1"),
    (["informed", "0", [["2", ["1", "1"]]]], "t must ascend from above 0 to 1"),
    (["informed", "0", [["0", ["1", "1"]], *ONE]], "t must ascend"),
    (["informed", "0", [["1/2", ["1", "1"]], ["1/2", ["1", "1"]], *ONE]], "t must ascend"),
    (["informed", "0", [*ONE, *ONE]], "t must ascend"),
    (["informed", "0", [["1", ["1", "0"]]]], "the law is zero at output 1"),
    (["informed", "0", [["1", ["1", "1", "1"]]]], "r must be a list of 2"),
    (["informed", "0", [["1"]]], "t and r must be a list of 2"),
    (["informed", "0"], "takes 2 entries"),
    (["ends", None], "takes 0 entries"),
)
def test_leaves_that_are_refused(line, reason, forge):
    data = forge.model("count=2; alphabet=2", 'kind="count"', GEOMETRIC, "1")
    verdict = check(data, forge.certificate(data, "0", "2", ["witness", None, None], ["record", 0], line))
    assert (verdict.exit_code, reason in verdict.reason) == (1, True), verdict.reason


@each(
    "parts, line, reason",
    (("count=2; alphabet=2", 'kind="count"', 'kind="exponential"; epsilon=1'), ["informed", "0", ONE], "only shift"),
    (
        ("count=2; alphabet=2", 'kind="count"', 'kind="matrix"; rows=[[1],[1],[1]]'),
        ["informed", "0", ONE],
        "only shift",
    ),
    (
        ("count=2; alphabet=2", 'kind="threshold"; at=1', 'kind="symmetric"; flip="1/4"'),
        ["informed", "0", ONE],
        "only shift",
    ),
    (
        ("count=2; alphabet=3", 'kind="count"', GEOMETRIC),
        ["informed", "0", [["1/2", ["1", "1"]], *ONE]],
        "one pair is expected",
    ),
    (("count=2; alphabet=3", 'kind="count"', GEOMETRIC), ["ends"], "two letters"),
    (("count=2; alphabet=2", 'kind="parity"', 'kind="symmetric"; flip="1/4"'), ["ends"], "a count or a sum"),
    (
        ("count=2; alphabet=2", 'kind="count"', 'kind="discrete_gaussian"; scale=1'),
        ["ends"],
        "geometric or discrete_laplace",
    ),
    (
        ("count=2; alphabet=2", 'kind="count"', 'kind="several_releases"; parts=[{kind="geometric", epsilon=1}]'),
        ["informed", "0", ONE],
        "one release",
    ),
    (
        ("count=2; alphabet=2", 'kind="sum"; weights=[3, 3]', 'kind="geometric"; epsilon=1; range=[0, 9]'),
        ["ends"],
        "differ",
    ),
)
def test_leaves_where_they_are_unknown(parts, line, reason, forge):
    data = forge.model(*parts, "1")
    verdict = check(data, forge.certificate(data, "0", "2", ["witness", None, None], ["record", 0], line))
    assert (verdict.exit_code, reason in verdict.reason) == (1, True), verdict.reason


NOISE = 'kind="discrete_gaussian"; scale=1'
LOST = 2 * math.log(2) * math.exp(-60.5) / (1 - math.exp(-11.5))  # R = 11: about 7.3e-27


def gaussian(values, last=2):
    """The rows, clamped between 11 below 0 and 11 above the last value."""
    far = np.arange(-60, 61)
    weights = np.exp(-(far**2) / 2) / np.exp(-(far**2) / 2).sum()
    rows = np.zeros((len(values), last + 23))
    for row, v in zip(rows, values, strict=True):
        np.add.at(row, np.clip(far + v, -11, last + 11) + 11, weights)
    return rows


def shares(rows):
    return [f"{x:.50f}" for x in rows.mean(0)]


HELD = {
    'entropy_at_least="1 max"': ([[0, 1], [1, 2]], ["witness", 0, "uniform"], [["record", 0], ["uniform"]]),
    'kind="prior_set"; priors=[[0.5, 0, 0, 0.5]]': ([[0], [2]], ["witness", 0, 0], []),
    'kind="product_priors"': ([[0], [1]], ["witness", 0, [0, ["1", "1"]]], []),
    'kind="floor_priors"; floor=0.5': ([[0], [1]], ["witness", 0, [0, ["1", "1"]]], [None]),
}


@each("held", *list(HELD))
def test_noise_without_a_range(held, forge):
    """What two letters that are as likely tell, of the values that they stand for."""
    data = forge.model("count=2; alphabet=2", 'kind="count"', NOISE, held)
    listed, witness, lines = HELD[held]
    rows = np.array([gaussian(values).mean(0) for values in listed])
    told = (far(rows[0], rows.mean(0)) + far(rows[1], rows.mean(0))) / 2
    if "entropy" not in held and "prior_set" not in held:
        pairs = enumerate(([0, 1], [1, 2]))
        lines = [["record", 0], *(["law", [j], shares(gaussian(pair)), *lines] for j, pair in pairs)]
    for slack, status in ((1e-12, 0), (-1e-12, 1)):
        low = f"{told - 1e-12:.15f}" if status == 0 else "0"
        found = check(data, forge.certificate(data, low, f"{told + slack:.15f}", witness, *lines))
        assert found.exit_code == status, found.reason


@each(
    "query, held, lines",
    ('kind="parity"', 'entropy_at_least="1 max"', [["record", 0], ["uniform"]]),
    ('kind="count"', 'kind="prior_set"; priors=[[1, 0, 0, 0]]', []),
)
def test_what_clamping_loses_is_counted(query, held, lines, forge):
    """Where clamped outputs tell exactly nothing."""
    data = forge.model("count=2; alphabet=2", query, NOISE, held)
    for share, status in ((1.001, 0), (0.999, 1), (0, 1)):
        found = check(data, forge.certificate(data, "0", f"{share * LOST:.40f}", ["witness", None, None], *lines))
        assert found.exit_code == status, found.reason


def test_a_curve_counts_it_too(forge):
    """The least line that a leaf is below, at both ends, is more than the leaf's by what clamping loses."""
    data = forge.model("count=1; alphabet=2", 'kind="count"', NOISE, "0")
    rows = gaussian([0, 1], 1)
    half = far(rows[0], rows.mean(0))
    lines = [["record", 0], ["joint", "1", "0", None, shares(rows)]]

    def least(curve):
        low, high = 0, 10**22
        while high - low > 1:
            c = f"{half:.13f}"[:-1] + f"{(low + high) // 2:022d}"
            extra = {"curve": {"above": [[c, "0"]], "below": []}} if curve else {}
            wide = "1" if curve else c
            good = (
                check(data, forge.certificate(data, "0", wide, ["witness", None, None], *lines, **extra)).exit_code == 0
            )
            low, high = (low, (low + high) // 2) if good else ((low + high) // 2, high)
        return high

    one, other = least(True), least(False)
    assert one == other
    assert 0 < one < 10**22


@each(
    "parts",
    ("count=2; alphabet=2", 'kind="joint"; queries=[{kind="count"}, {kind="parity"}]', NOISE, "0"),
    (
        "count=2; alphabet=2",
        'kind="count"',
        'kind="several_releases"; parts=[{kind="discrete_gaussian", scale=1}]',
        "0",
    ),
    ("count=2; alphabet=2", 'kind="count"', NOISE, 'kind="markov_chain"; to_one=[0.1, 0.2]; to_zero=[0.1, 0.2]'),
)
def test_noise_without_a_range_is_refused(parts, forge):
    verdict = check(forge.model(*parts), b"")
    assert verdict.exit_code == 2, verdict.reason
