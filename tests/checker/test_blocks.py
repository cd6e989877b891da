"""Independent blocks: pieces against the channel written out for all datasets, and what the lines may say."""

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest

from campaigns import draws, each
from dalenius_check.allowance import Allowance
from dalenius_check.blocks import Blocks
from dalenius_check.channel import build
from dalenius_check.counts import datasets as datasets_of
from dalenius_check.model import parse_model
from dalenius_check.sums import reached
from forgery_subjects import toml

NOISE = [
    {"kind": "geometric", "epsilon": "1/2"},
    {"kind": "discrete_laplace", "scale": "3"},
    {"kind": "discrete_gaussian", "scale": "4/3"},
]
BITS = [
    *(
        {"kind": kind, "epsilon": "1/2"}
        for kind in ("laplace_threshold", "discrete_laplace", "geometric", "exponential")
    ),
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


def information(letters, laws):
    """I of masses (a letter each) whose outputs have these laws."""
    joint = {}
    for a, mass, law in zip(letters, *laws, strict=True):
        joint[a] = joint.get(a, 0) + mass * np.array(law)
    u = np.array(list(joint.values()))
    outer = u.sum(1, keepdims=True) * u.sum(0)
    return float(np.sum(u[u > 0] * np.log((u / np.where(outer > 0, outer, 1))[u > 0])))


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
                whole = information(letters, (masses, laws))
                assert information(letters, (masses, inside)) == pytest.approx(whole, abs=1e-12)
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
