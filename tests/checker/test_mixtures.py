"""Lines `mixture` and witnesses of local protocols, end to end: against channels written out in doubles, for all their adversaries."""

import itertools
import json
import math
import random
from fractions import Fraction

import pytest

import test_classes as classes
from campaigns import each, thinned
from dalenius_check import check
from dalenius_check.model import parse_model
from forgery_subjects import toml
from forgery_truth import normalised

KINDS = ("optimized_unary_encoding", "local_hashing", "subset_selection", "hadamard_response")
LEVELS = [("log 3", 3.0), ("1 bits", 2.0), ("0.7", math.exp(0.7)), ("log 20", 20.0), ("0", 1.0)]


def channel(kind, size, big, number):
    """R(k, y) of docs/model-format.md."""
    inputs = range(size)
    if kind == "optimized_unary_encoding":
        bits = [[1 / (big + 1), big / (big + 1)], [0.5, 0.5]]
        return [[math.prod(bits[j == k][1 - (y >> j & 1)] for j in inputs) for y in range(2**size)] for k in inputs]
    if kind == "local_hashing":
        share = number**-size / (big + number - 1)
        outputs = [divmod(y, number) for y in range(number ** (size + 1))]
        return [[share * (big if h // number**k % number == b else 1) for h, b in outputs] for k in inputs]
    if kind == "subset_selection":
        share = 1 / (math.comb(size - 1, number - 1) * big + math.comb(size - 1, number))
        return [
            [share * (big if k in found else 1) for found in itertools.combinations(inputs, number)] for k in inputs
        ]
    width = next(2**j for j in itertools.count() if 2**j > size)
    return [
        [2 / width * ((1 if ((k + 1) & y).bit_count() % 2 else big) / (big + 1)) for y in range(width)] for k in inputs
    ]


def far(rows, law):
    """D(R(k, .) || the outputs' law under this one)."""
    mixed = [sum(float(p) * row[y] for p, row in zip(law, rows, strict=True)) for y in range(len(rows[0]))]
    return [sum(x * math.log(x / y) for x, y in zip(row, mixed, strict=True)) for row in rows]


def ranges(rng, kind, law, full):
    """`how`: everything, or some of it; and whether it is everything."""
    counts = [law.count(p) for p in dict.fromkeys(law)]
    listed = [[g, 0, n] if full else [g, *sorted(rng.choices(range(n + 1), k=2))] for g, n in enumerate(counts)]
    if kind == "hadamard_response":
        return None
    if kind == "subset_selection":
        del listed[rng.randrange(len(listed))]
        return listed
    return [rng.choice([1, 2, 5, 32]), listed if full else [one for one in listed if rng.random() < 0.5]]


@each("seed", *thinned(range(400), every=50))
def test_mixtures_and_witnesses(seed):
    rng = random.Random(seed)
    size, kind, (epsilon, big) = rng.randint(2, 5), KINDS[(seed // 50 + seed) % 4], rng.choice(LEVELS)
    mechanism, number = {"kind": kind, "epsilon": epsilon}, None
    if kind == "local_hashing":
        number = mechanism["buckets"] = rng.randint(2, 3)
    if kind == "subset_selection":
        number = mechanism["size"] = rng.randint(1, size - 1)
    rows = channel(kind, size, big, number)
    assert all(sum(row) == pytest.approx(1) for row in rows)
    held = rng.choice([{"kind": "product_priors"}, *(classes.drawn(rng, one, size) for one in classes.KINDS)])
    free = held["kind"] == "product_priors"
    model = toml(
        {
            "problem": "maximal_leakage",
            "records": {"count": 1, "alphabet": size},
            "query": {"kind": "identity"},
            "mechanism": mechanism,
            "adversary": held,
        }
    )
    head = {"format": "dalenius-certificate/2", "problem": "maximal_leakage", "model": parse_model(model).digest}
    head |= {"unit": "nats", "producer": "tests"}

    def proved(lower, upper, *lines):
        values = [{**head, "lower": str(Fraction(lower)), "upper": str(Fraction(upper))}, *lines]
        verdict = check(model, "".join(json.dumps(line) + "\n" for line in values).encode())
        assert "internal" not in verdict.reason
        return verdict.proved

    law = normalised([Fraction(rng.randint(0, 2)) for _ in range(size - 1)] + [Fraction(1)])
    rng.shuffle(law)
    found, full = far(rows, law), rng.random() < 0.6
    hint = rng.choice([{"kl_ball_priors": ["1/3"], "chi_square_ball_priors": ["1/4", "1/10"]}.get(held["kind"]), None])
    bound = max(found) if free else classes.most(held, {a: found[a] for a in classes.counted(held, size)}, hint)
    more = [] if free else [hint]
    mixture = ["mixture", [0], list(map(str, law)), *more, ranges(rng, kind, law, full)]
    if bound > 1e-8:
        assert not proved(0, bound - 1e-9, ["witness", None, None], ["record", 0], mixture)
    assert proved(0, bound + 1e-9, ["witness", None, None], ["record", 0], mixture) or not full
    weights, prior = (law, law) if free else classes.somewhere(rng, held, size)
    inside = held["kind"] in ("product_priors", "polytope_priors") or classes.member(held, prior)
    value = sum(float(p) * d for p, d in zip(prior, far(rows, prior), strict=True))
    witness = ["witness", 0, [0, list(map(str, weights)), ranges(rng, kind, prior, True)]]
    last = ["mixture", [0], ["1"] * size, *([] if free else [None]), ranges(rng, kind, [1] * size, True)]
    for lower in (value - 1e-9, value + 1e-9):
        if lower > 0:
            assert proved(lower, 9, witness, ["record", 0], last) == (inside and lower < value)
