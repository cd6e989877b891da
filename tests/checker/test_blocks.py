"""Independent blocks: pieces against the channel written out for all datasets, and what the lines may say."""

import gzip
import itertools
import json
import math
import random
import zlib
from collections import Counter

import numpy as np
import pytest

import cases
from campaigns import draws, each
from dalenius_check import Status, check, digest
from dalenius_check.__main__ import main
from dalenius_check.core import read
from dalenius_check.core.allowance import Allowance, LimitError
from dalenius_check.core.arithmetic import arb
from dalenius_check.core.channel import build
from dalenius_check.core.counts import datasets as datasets_of
from dalenius_check.core.model import parse_model
from dalenius_check.lemmas.households import Drifting, channel_of
from dalenius_check.lemmas.households.blocks import Blocks
from dalenius_check.lemmas.households.routes import reached
from definitions import information, joint_law
from forgery_subjects import toml
from test_allowance import most

NOISE = [
    {"kind": "geometric", "epsilon": "1/2"},
    {"kind": "discrete_laplace", "scale": "3"},
    {"kind": "discrete_gaussian", "scale": "4/3"},
    {"kind": "staircase", "epsilon": "7/5", "sensitivity": 2, "top": 1},
]
BITS = [
    *(
        {"kind": kind, "epsilon": "1/2"}
        for kind in ("laplace_threshold", "discrete_laplace", "geometric", "exponential")
    ),
    {"kind": "staircase", "epsilon": "7/5", "sensitivity": 3, "top": 2},
    {"kind": "symmetric", "flip": "1/7"},
    {"kind": "randomized_response", "epsilon": "0.9"},
]


def drawn(rng):
    """A model of a supported kind, as tables."""
    alphabets = [rng.choice([1, 2, 2, 3]) for _ in range(rng.randint(2, 5))]
    sizes, left = [], len(alphabets)
    while left:
        sizes.append(rng.randint(1, min(left, 3)))
        left -= sizes[-1]
    kind = rng.choice(["count", "sum", "sum", "parity", "modular_sum", "threshold"])
    query = {"kind": kind}
    if kind == "count":
        query |= rng.choice([{}, {"letters": [0, 2]}])
    if kind == "modular_sum":
        query["modulus"] = rng.choice([2, 3, 4])
    if kind == "threshold":
        query["at"] = rng.randint(0, 6)
    if kind == "sum":
        each = [[rng.randint(-2, 4) for _ in range(size)] for size in alphabets]
        query |= rng.choice([{}, {"weights": [rng.randint(-2, 4) for _ in range(max(alphabets))]}, {"weights": each}])
    tables = {"alphabets": alphabets, "query": query, "sizes": sizes}
    values = listed(tables)
    width = rng.randint(2, 3)
    rows = [[str(rng.randint(0, 5)) for _ in range(width - 1)] + ["3"] for _ in values]
    rows = [[f"{x}/{sum(map(int, row))}" for x in row] for row in rows]
    choices = [{"kind": "matrix", "rows": rows}]
    if kind in ("count", "sum"):
        ends = [min(values) - rng.randint(0, 2), max(values) + rng.randint(1, 2)]
        choices += [*NOISE, {"kind": "geometric", "epsilon": "0.7", "range": ends}] * 2
    elif kind == "modular_sum":
        choices += BITS[-2:] * 2
    else:
        choices += BITS
    return tables | {"mechanism": rng.choice(choices)}


def contributions(tables, i, a):
    """What letter a of record i adds."""
    query = tables["query"]
    if query["kind"] == "count":
        return int(a in query.get("letters", [1]))
    weights = query.get("weights", range(9))
    return weights[i][a] if isinstance(weights, list) and isinstance(weights[0], list) else weights[a]


def value(tables, total):
    """The query's value at a sum."""
    query = tables["query"]
    if query["kind"] == "threshold":
        return int(total >= query["at"])
    modulus = 2 if query["kind"] == "parity" else query.get("modulus")
    return total % modulus if modulus else total


def listed(tables):
    """The query's values."""
    query, alphabets = tables["query"], tables["alphabets"]
    fixed = {"count": len(alphabets) + 1, "parity": 2, "threshold": 2, "modular_sum": query.get("modulus")}
    if query["kind"] in fixed:
        return list(range(fixed[query["kind"]]))
    options = [[contributions(tables, i, a) for a in range(size)] for i, size in enumerate(alphabets)]
    return sorted({sum(x) for x in itertools.product(*options)})


def row(tables, v):
    """R(. | v) of docs/model-format.md in doubles; of discrete Laplace noise the outputs that are not negligible."""
    mechanism, values = tables["mechanism"], listed(tables)
    kind, count = mechanism["kind"], len(values)

    def number(x):
        top, _, bottom = str(x).partition("/")
        return float(top) / float(bottom or 1)

    if kind == "matrix":
        return [number(x) for x in mechanism["rows"][values.index(v)]]
    if kind == "symmetric":
        flip = number(mechanism["flip"])
        return [1 - flip if w == v else flip / (count - 1) for w in values]
    if kind == "discrete_gaussian":
        found = np.exp(-((np.arange(values[0] - 60, values[-1] + 61) - v) ** 2) / 2 / number(mechanism["scale"]) ** 2)
        return list(found / found.sum())
    epsilon = 1 / number(mechanism["scale"]) if "scale" in mechanism else number(mechanism["epsilon"])
    if kind == "staircase":
        far = np.abs(np.arange(values[0] - 150, values[-1] + 151) - v)
        found = np.exp(-epsilon * np.ceil((far + 1 - mechanism["top"]) / mechanism["sensitivity"]))
        return list(found / found.sum())
    if kind == "laplace_threshold":
        flip = math.exp(-epsilon / 2) / 2
        return [1 - flip if w == v else flip for w in values]
    if kind == "randomized_response":
        return [(math.exp(epsilon) if w == v else 1) / (math.exp(epsilon) + count - 1) for w in values]
    low, high = mechanism.get("range", [values[0], values[-1]])
    if kind == "exponential":
        found = np.array([math.exp(-epsilon * abs(y - v) / 2) for y in range(low, high + 1)])
        return list(found / found.sum())
    a = math.exp(-epsilon)
    if kind == "discrete_laplace":
        return [a ** abs(y - v) * (1 - a) / (1 + a) for y in range(values[0] - 150, values[-1] + 150)]
    inside = [1 if y in (low, high) else 1 - a for y in range(low, high + 1)]
    return [a ** abs(y - v) * c / (1 + a) for y, c in zip(range(low, high + 1), inside, strict=True)]


def written(tables, entropy="0"):
    """The model's file."""
    held = {"kind": "independent_blocks", "sizes": tables["sizes"], "entropy_at_least": entropy}
    rest = {"query": tables["query"], "mechanism": tables["mechanism"], "adversary": held}
    return toml({"problem": "maximal_leakage", "records": {"alphabets": tables["alphabets"]}, **rest})


@each("seed", *range(draws(25, 1500)))
def test_a_piece_is_its_block_where_the_others_are_known(seed):
    """Every sum of the others is a piece, no other is; and I of a law on the block is what the whole model says."""
    rng = random.Random(seed)
    tables = drawn(rng)
    alphabets = tables["alphabets"]
    blocks = Blocks(parse_model(written(tables)))
    start = 0
    for j, size in enumerate(tables["sizes"]):
        shape, own = blocks.shape(j), range(start, start + size)
        others = [i for i in range(len(alphabets)) if i not in own]
        sums = {}
        for z in itertools.product(*(range(alphabets[i]) for i in others)):
            t = sum(contributions(tables, i, a) for i, a in zip(others, z, strict=True))
            sums[t % blocks.modulus if blocks.modulus else t] = t
        if blocks.route in ("rows", "threshold"):
            assert list(blocks.others(shape)) == sorted(sums)
        told = set(blocks.told(shape))
        for t, real in sums.items():
            place = t if blocks.route in ("rows", "threshold") else 0
            datasets = list(itertools.product(*(range(alphabets[i]) for i in own)))
            totals = [real + sum(contributions(tables, i, a) for i, a in zip(own, x, strict=True)) for x in datasets]
            laws = [row(tables, value(tables, total)) for total in totals]
            if place not in told:
                assert len({value(tables, total) for total in totals}) == 1
                continue
            masses = [rng.random() for _ in datasets]
            masses = [m / sum(masses) for m in masses]
            model = blocks.piece(shape, place)
            channel = build(model)
            rows = [[float(x.mid()) if hasattr(x, "mid") else int(x.p) / int(x.q) for x in r] for r in channel.rows]
            inside = [rows[k] for k in datasets_of(model, channel.values)]
            for i in range(size):
                letters = [x[i] for x in datasets]
                whole = information(joint_law(masses, letters, laws))
                assert information(joint_law(masses, letters, inside)) == pytest.approx(whole, abs=1e-12)
        start += size


@each("seed", *range(draws(60, 3000)))
def test_reached_sums_by_enumeration(seed):
    rng = random.Random(seed)
    parts = [tuple(rng.randint(-4, 9) * rng.choice([1, 1, 6]) for _ in range(rng.randint(1, 3))) for _ in range(3)]
    times = [rng.randint(0, 3) for _ in parts]
    modulus = rng.choice([0, 0, 2, 7, 12])
    counted = {}
    for part, n in zip(parts, times, strict=True):
        if n:
            counted[part] = counted.get(part, 0) + n
    sums = {sum(x) for x in itertools.product(*(part for part, n in counted.items() for _ in range(n)))}
    assert reached(Counter(counted), modulus, Allowance()) == sorted({x % modulus for x in sums} if modulus else sums)


def test_memory_of_sums_is_counted_before_they_are_listed():
    many = Counter({(0, 1): 1_000_000})
    with pytest.raises(LimitError, match="30 MiB of memory"):
        reached(many, 0, Allowance(memory=30))


# Exponential noise behind blocks: pieces by the user's own channel, with proportional columns merged, and what is refused.


HELD = 'kind="independent_blocks"; size={}'


def balls(row):
    return np.array([float(arb(x).mid().str(20, radius=False)) for x in row])


@each("seed", *range(draws(8, 200)))
def test_pieces_are_the_users_channel(seed, forge):
    """For every total of the others the rows are those of the whole model, outputs beyond the block's values put together."""
    rng = random.Random(seed)
    n, size = rng.choice([(4, 2), (5, 1), (3, 3), (4, 3)])
    weights = sorted(rng.sample(range(-2, 5), 2))
    query = rng.choice(['kind="count"', f'kind="sum"; weights={weights}'])
    epsilon, sensitivity = rng.choice(["0", "0.5", "3"]), rng.choice(["1", "2"])
    low, high = (0, n) if "count" in query else (n * weights[0], n * weights[1])
    first = low - rng.randint(0, 2)
    ends = f"; range=[{first}, {high + rng.randint(0, 3)}]" if rng.random() < 0.5 else ""
    first = first if ends else low
    mechanism = f'kind="exponential"; epsilon={epsilon}; sensitivity={sensitivity}{ends}'
    whole = build(parse_model(forge.model(f"count={n}; alphabet=2", query, mechanism, "0")))
    blocks = Drifting(parse_model(forge.model(f"count={n}; alphabet=2", query, mechanism, HELD.format(size))))
    shape = blocks.shape(0)
    assert list(blocks.told(shape)) == list(blocks.others(shape))
    for t in blocks.others(shape):
        made = channel_of(blocks.piece(shape, t))
        assert made.exact == (epsilon == "0")
        top = made.values[-1]
        for row, v in zip(made.rows, made.values, strict=True):
            full = balls(whole.rows[whole.values.index(v + t)])
            places = [min(max(first + y - t, made.values[0]), top) - made.values[0] for y in range(len(full))]
            assert np.allclose(np.bincount(places, full, minlength=top - made.values[0] + 1), balls(row), atol=1e-12)


def test_a_proof(forge):
    """Two bits apart: the middle total is told worst or best, each has a piece, and the witness may use any."""
    data = forge.model("count=2; alphabet=2", 'kind="count"', 'kind="exponential"; epsilon=1', HELD.format(1))
    q = math.exp(-0.5)
    rows = np.array([[1, q, q * q], [q, 1, q], [q * q, q, 1]])
    rows /= rows.sum(1, keepdims=True)
    pairs = [np.array([[x[0], x[1:].sum()] for x in rows[:2]]), np.array([[x[:2].sum(), x[2]] for x in rows[1:]])]
    best = max(told(pair, shares(pair)) for pair in pairs)
    law = [[f"{x:.15f}" for x in ((1 - shares(pair)) * pair[0] + shares(pair) * pair[1])] for pair in pairs]
    blocks = [[["block", 0, t], ["record", 0], ["vertices"], ["law", law[int(t)]]] for t in "01"]
    share = shares(pairs[0])
    witness = [["at", 0, "0"], ["witness", 0, [[f"{1 - share:.15f}", "0"], ["0", f"{share:.15f}"]]]]
    good = [*witness, *blocks[0], *blocks[1]]
    claim = f"{best - 1e-7:.15f}", f"{best + 1e-7:.15f}"
    assert check(data, forge.certificate(data, *claim, *good)).exit_code == 0
    assert check(data, forge.certificate(data, claim[1], "1", *good)).exit_code == 1
    assert "is not covered" in check(data, forge.certificate(data, *claim, *witness, *blocks[0])).reason
    assert "comes twice" in check(data, forge.certificate(data, *claim, *witness, *blocks[0], *blocks[0])).reason
    last = [["block", 0, "2"], *blocks[1][1:]]
    assert "never add up to 2" in check(data, forge.certificate(data, *claim, *witness, *last)).reason
    null = [["block", 0, None], *blocks[1][1:]]
    assert "t must be" in check(data, forge.certificate(data, *claim, *witness, *null)).reason
    leaf = [*blocks[0][:2], ["informed", "0", [["1", ["1", "1"]]]]]
    assert "only shift" in check(data, forge.certificate(data, *claim, *witness, *leaf)).reason


def shares(rows):
    """The probability of the second row that tells most."""
    grid = np.linspace(0, 1, 401)
    found = [told(rows, t) for t in grid]
    low, high = grid[max(int(np.argmax(found)) - 1, 0)], grid[min(int(np.argmax(found)) + 1, 400)]
    for _ in range(80):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (one, high) if told(rows, one) < told(rows, two) else (low, two)
    return (low + high) / 2


def told(rows, t):
    law = (1 - t) * rows[0] + t * rows[1]
    return (1 - t) * rows[0] @ np.log(rows[0] / law) + t * rows[1] @ np.log(rows[1] / law)


@each(
    "query, mechanism, status",
    ('kind="count"', 'kind="exponential"; epsilon=1; range=[0, 1]', 2),
    ('kind="count"', 'kind="several_releases"; parts=[{kind="exponential", epsilon=1}]', 2),
    ('kind="modular_sum"; modulus=3', 'kind="exponential"; epsilon=1', 2),
    ('kind="count"', 'kind="exponential"; epsilon=1; range=[-1, 7]', 1),
)
def test_what_is_known(query, mechanism, status, forge):
    data = forge.model("count=2; alphabet=2", query, mechanism, HELD.format(1))
    assert check(data, b"").exit_code == status


def test_a_range_that_misses_listed_values(forge):
    """Everybody is counted of a household, so that no sum is 0, but its count lists 0: no piece is made."""
    held = 'kind="independent_blocks"; sizes=[2]'
    data = forge.model(
        "alphabets=[1, 2]", 'kind="count"; letters=[0]', 'kind="exponential"; epsilon=1; range=[1, 2]', held
    )
    lines = [["witness", None, None], ["block", 0, "0"], ["record", 1], ["vertices"], ["law", ["1", "1", "1"]]]
    verdict = check(data, forge.certificate(data, "0", "2", *lines))
    assert (verdict.exit_code, "mechanism.range must contain" in verdict.reason) == (1, True), verdict.reason


# Designs against independent blocks: priors of a block where the others are known, by listing datasets; and pieces of a
# mechanism.


SUPPORTED = {
    "identity": ({"kind": "identity"}, None, None),
    "count": ({"kind": "count"}, lambda s, n: s, lambda n: list(range(n + 1))),
    "sum": ({"kind": "sum", "weights": [0, 3]}, lambda s, n: 3 * s, lambda n: [3 * s for s in range(n + 1)]),
    "parity": ({"kind": "parity"}, lambda s, n: s % 2, lambda n: [0, 1]),
    "modular_sum": ({"kind": "modular_sum", "modulus": 3}, lambda s, n: s % 3, lambda n: [0, 1, 2]),
    "threshold": ({"kind": "threshold", "at": 2}, lambda s, n: int(s >= 2), lambda n: [0, 1]),
}


def model(query="count", sizes=(1, 2), group="oblivious", problem="min_leakage", entropy=None, **more):
    held = {"kind": "independent_blocks", "sizes": list(sizes)} | ({"entropy_at_least": entropy} if entropy else {})
    tables = {
        "problem": problem,
        "max_distortion" if problem == "min_leakage" else "max_leakage": "1/3",
        "records": {"count": sum(sizes), "alphabet": 2},
        "query": SUPPORTED[query][0],
        "mechanism": {"class": group},
        "distortion": {"kind": "hamming"},
        "law": {"kind": "uniform"},
        "adversary": held,
    }
    return toml(tables | more)


def certificate(asked, lower, upper, mechanism, *lines, problem="min_leakage"):
    unit = "nats" if problem == "min_leakage" else "distortion"
    head = {"format": "dalenius-certificate/2", "problem": problem, "model": digest(asked), "unit": unit}
    head |= {"lower": lower, "upper": upper, "producer": "tests", "mechanism": mechanism}
    return "".join(json.dumps(line) + "\n" for line in [head, *lines]).encode()


@each("seed", *range(draws(12, 500)))
def test_bounds_of_priors_by_listing(seed):
    """The bound of one prior line and multipliers of budget and a row, from the joint law of a letter and the whole query's value."""
    rng = random.Random(seed)
    query, sizes = rng.choice(list(SUPPORTED)[1:]), rng.choice([(1, 2), (2, 1), (3,), (2, 2), (1, 1, 1)])
    n, (_, value, values) = sum(sizes), SUPPORTED[query]
    group = "additive" if query in ("parity", "modular_sum") and rng.random() < 0.5 else "oblivious"
    listed = values(n)
    i = rng.randrange(n)
    start = max(s for s in itertools.accumulate((0, *sizes[:-1])) if s <= i)
    size = sizes[[*itertools.accumulate((0, *sizes[:-1]))].index(start)]
    t = sum([rng.randint(0, 1) for _ in range(n - size)])
    row = {"kind": "linear", "terms": [[0, 1, "2"]], "at_most": "1/2"}
    mu = rng.choice([0, 1])
    asked = model(query, sizes, group, **({"constraints": [row]} if mu else {}))
    modulus = {"parity": 2, "modular_sum": 3}.get(query)
    told = {"sum": 3 * t, "threshold": t}.get(query, t % modulus if modulus else t)
    own = list(itertools.product((0, 1), repeat=size))
    inside = {"count": range(size + 1), "sum": range(0, 3 * size + 1, 3)}.get(query, listed)
    if query == "threshold":
        place = {x: [0, 1].index(int(sum(x) + t >= 2)) for x in own}
    else:
        place = {x: list(inside).index(value(sum(x), size)) for x in own}
    if rng.random() < 0.3:
        mass = {x: 1 / len(own) for x in own}
        prior = "uniform"
    else:
        pairs = {(x[i - start], place[x]) for x in own}
        weights = {pair: rng.randint(1, 4) for pair in sorted(pairs)}
        prior = [[str(weights.get((a, k), 0)) for k in range(len(list(inside)))] for a in (0, 1)]
        often = {pair: sum((x[i - start], place[x]) == pair for x in own) for pair in pairs}
        whole = sum(weights.values())
        mass = {x: weights[x[i - start], place[x]] / whole / often[x[i - start], place[x]] for x in own}
    p = np.zeros((2, len(listed)))
    for x, w in mass.items():
        p[x[i - start], listed.index(value(sum(x) + t, n))] += w
    phi = [[rng.randint(1, 5) for _ in listed] for _ in (0, 1)]
    posterior = np.array(phi, float) / np.sum(phi, axis=0)
    gain = np.einsum("ax,ay->xy", p, np.log(posterior / p.sum(1, keepdims=True)))
    law = np.zeros(len(listed))
    for x in itertools.product((0, 1), repeat=n):
        law[listed.index(value(sum(x), n))] += 2.0**-n
    nu = rng.choice([0, 1, 3])
    matrix = gain + nu * law[:, None] * (1 - np.eye(len(listed)))
    matrix[0, 1] += 2 * mu
    if group == "additive":
        v = len(listed)
        bound = min(sum(matrix[k, (k + z) % v] for k in range(v)) for z in range(v)) - nu / 3 - mu / 2
    else:
        bound = matrix.min(axis=1).sum() - nu / 3 - mu / 2
    rows = [["1" if y == x else "0" for y in range(len(listed))] for x in range(len(listed))][
        : 1 if group == "additive" else None
    ]
    lines = [["dual", str(nu)], ["prior", "1", i, [str(told), prior], [list(map(str, row)) for row in phi]]]
    lines += [["multiplier", 0, [[0, "1"]]]] * mu
    for slack in (-1e-9, 1e-9):
        reason = check(asked, certificate(asked, f"{bound + slack:.15f}", "0.7", rows, *lines)).reason
        assert ("lower <= the priors' bound fails" in reason) == (slack > 0 and bound + slack > 0), reason
        assert "file ends" in reason or slack > 0


SECTION = [["record", 0], ["vertices"], ["law", ["1", "1"]]]


FLIP = [["3/4", "1/4"], ["1/4", "3/4"]]
ALL = [(0, "0"), (0, "1"), (1, "0"), (1, "1")]
TOLD = 0.130812035941137  # log 2 - h(1/4)


@each(
    "sums, upper, reason",
    ([(0, "0"), (0, "1")], TOLD + 1e-9, ""),  # the other block is the same
    ([(0, "0"), (1, "0")], TOLD + 1e-9, "is not covered"),
    (ALL, TOLD + 1e-9, ""),
    (ALL, TOLD - 1e-9, "<= upper fails"),
    ([*ALL, (1, "1")], TOLD + 1e-9, "comes twice"),
    ([*ALL, (1, "2")], TOLD + 1e-9, "never add up to 2"),
    ([*ALL[:3], (1, None)], TOLD + 1e-9, "t must be text"),
    ([*ALL[:3], (2, "0")], TOLD + 1e-9, "the block must be"),
)
def test_pieces_of_a_mechanism(sums, upper, reason):
    """A parity through a channel that turns one bit in four round: whoever is known, a record tells log 2 - h(1/4)."""
    asked = model("parity", (2, 2), max_distortion="1/4")
    sections = [line for j, t in sums for line in (["block", j, t], *SECTION, ["record", 1], *SECTION[1:])]
    verdict = check(asked, certificate(asked, "0", f"{upper:.12f}", FLIP, ["dual", None], *sections))
    assert reason in verdict.reason
    assert verdict.proved == (not reason)


@each("problem", "min_leakage", "min_distortion")
def test_a_constant_mechanism_needs_no_sections(problem):
    asked = model("parity", (1, 2), problem=problem, **({} if problem == "min_leakage" else {"max_leakage": 0}))
    asked = asked.replace(b'max_distortion = "1/3"', b"max_distortion = 1")
    constant = [["1", "0"], ["1", "0"]]
    data = certificate(
        asked, "0", "0" if problem == "min_leakage" else "1/2", constant, ["dual", None], problem=problem
    )
    assert check(asked, data).proved, check(asked, data).reason


@each(
    "prior, reason",
    (["3", "uniform"], "never add up to 3"),
    ([None, "uniform"], "t must be text"),
    (["0", [["1", "1", "1"], ["1", "1", "1"]]], "which no dataset has"),
    (["0", [["1", "1"], ["1", "1"]]], "a letter's weights must be a list of 3"),
    (["0", [["1", "0", "0"], ["0", "0", "0"]]], "entropy bound <= witness's entropy fails"),
    ("uniform", "t and a prior"),
)
def test_priors_that_are_refused(prior, reason):
    """Record 1 is in a block of two, of a count of three."""
    asked = model("count", (1, 2), entropy="1 bits")
    phi = [["1"] * 4] * 2
    data = certificate(asked, "0.01", "0.7", [["1"] * 4] * 4, ["dual", "0"], ["prior", "1", 1, prior, phi])
    asked = asked.replace(b"1/3", b"1")
    data = certificate(asked, "0.01", "0.7", [["1"] * 4] * 4, ["dual", "0"], ["prior", "1", 1, prior, phi])
    verdict = check(asked, data)
    assert (verdict.exit_code, reason in verdict.reason) == (1, True), verdict.reason


@each(
    "asked, reason",
    (model(group="full"), "a design against independent_blocks needs"),
    (model("identity"), "a design against independent_blocks needs"),
    (
        model(constraints=[{"kind": "leakage", "at_most": "1 nats", "adversary": {"kind": "product_priors"}}]),
        "no constraints leakage",
    ),
    (
        model(constraints=[{"kind": "secret_leakage", "at_most": "1 nats", "of": {"kind": "count"}}]),
        "no constraints leakage",
    ),
    (
        model(objective={"combine": "sum", "terms": [{"kind": "distortion", "distortion": {"kind": "hamming"}}]}),
        "needs the class",
    ),
    (model(sizes=(1, 2), records={"count": 4, "alphabet": 2}), "must sum to 4"),
    (model(sizes=(1, 2), entropy="2 bits"), "entropy_at_least <= log |X|"),
    (model(adversary={"kind": "markov_chain", "to_one": ["1/2", "1/2"], "to_zero": ["1/2", "1/2"]}), "kind"),
)
def test_models_that_are_not_read(asked, reason):
    verdict = check(asked, b"")
    assert (verdict.exit_code, reason in verdict.reason) == (2, True), verdict.reason


# Compressed certificates: the verdict on what they say, and one line for whatever gzip would not have written.


CORPUS = cases.cases()
MODEL, TEXT = CORPUS["parity_output"].files
PACKED = gzip.compress(TEXT, mtime=0)


def test_the_verdict_is_that_on_the_text():
    """Whatever the compressor: its level, a name and a time in the header, blocks that are stored; also of a refused certificate."""
    assert check(MODEL, PACKED) == check(MODEL, TEXT)
    for level in (0, 1, 9):
        assert check(MODEL, gzip.compress(TEXT, level)).proved
    assert check(MODEL, (PACKED[:3] + b"\x08" + PACKED[4:10] + b"name.cert\0" + PACKED[10:])).proved
    for case in list(CORPUS.values())[::40]:
        model, text = case.files
        assert check(model, gzip.compress(text), resolved=case.resolved) == check(model, text, resolved=case.resolved)


def test_many_pieces(monkeypatch):
    monkeypatch.setattr(read, "_PIECE", 7)
    assert check(MODEL, PACKED) == check(MODEL, TEXT)
    assert check(MODEL, gzip.compress(TEXT * 50)) == check(MODEL, TEXT * 50)


DAMAGED = {
    "cut short": (PACKED[:-1], "the compressed data end too early"),
    "no checksum": (PACKED[:-8], "the compressed data end too early"),
    "half of it": (PACKED[: len(PACKED) // 2], "the compressed data end too early"),
    "two bytes": (PACKED[:2], "the compressed data end too early"),
    "a wrong checksum": (PACKED[:-5] + bytes([PACKED[-5] ^ 1]) + PACKED[-4:], "incorrect data check"),
    "a wrong length": (PACKED[:-1] + b"\1", "incorrect length check"),
    "another method": (PACKED[:2] + b"\7" + PACKED[3:], "unknown compression method"),
    "damaged": (PACKED[:12] + b"\xff" * 4 + PACKED[16:], "not what gzip writes"),
    "garbage after it": (PACKED + b"\n", "something stands after the compressed data"),
    "zeros after it": (PACKED + bytes(512), "something stands after the compressed data"),
    "two members": (PACKED + PACKED, "something stands after the compressed data"),
    "an empty second member": (PACKED + gzip.compress(b""), "something stands after the compressed data"),
    "compressed twice": (gzip.compress(PACKED), "not ASCII"),
    "nothing": (gzip.compress(b""), "the file ends where the header is expected"),
    "zlib's own form": (zlib.compress(TEXT), "not ASCII"),
}


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("piece", [5, 1 << 18])
def test_what_gzip_would_not_have_written(monkeypatch, name, piece):
    monkeypatch.setattr(read, "_PIECE", piece)
    data, reason = DAMAGED[name]
    verdict = check(MODEL, data)
    assert verdict.status is Status.REJECTED
    assert verdict.reason.startswith("certificate")
    assert reason in verdict.reason
    assert "\n" not in verdict.reason


def test_a_bomb(monkeypatch):
    """Memory is counted before it is taken, and the file's limit is that of what is decompressed."""
    bomb = gzip.compress(bytes(1 << 24))
    assert len(bomb) < 1 << 15
    found = []
    assert most(lambda: found.append(check(MODEL, bomb, memory=8))) < 10
    assert (found[0].status, found[0].allowed) == (Status.UNDECIDED, "memory")
    assert found[0].reason == "certificate line 1: limit: 8 MiB of memory"
    monkeypatch.setattr(read, "MAX_FILE", 1 << 20)
    verdict = check(MODEL, bomb)
    assert (verdict.status, verdict.reason) == (
        Status.REJECTED,
        "certificate: the certificate is longer than 1048576 bytes",
    )


def test_a_compressed_file_is_no_longer_than_others_either(monkeypatch):
    """A name in the header makes it as long as one likes."""
    long = PACKED[:3] + b"\x08" + PACKED[4:10] + b"x" * 5000 + b"\0" + PACKED[10:]
    assert check(MODEL, long).proved
    monkeypatch.setattr(read, "MAX_FILE", 5000)
    verdict = check(MODEL, long)
    assert (verdict.status, verdict.reason) == (
        Status.REJECTED,
        "certificate: the certificate is longer than 5000 bytes",
    )


def test_the_command_line(tmp_path, capsys):
    (tmp_path / "model").write_bytes(MODEL)
    (tmp_path / "proof").write_bytes(PACKED)
    assert main([str(tmp_path / "model"), str(tmp_path / "proof")]) == 0
    assert capsys.readouterr().out.startswith("proved: ")
    (tmp_path / "proof").write_bytes(PACKED[:-1])
    assert main([str(tmp_path / "model"), str(tmp_path / "proof")]) == 1
    assert capsys.readouterr() == ("rejected: certificate: the compressed data end too early\n", "")
