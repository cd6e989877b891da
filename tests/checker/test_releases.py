"""Mechanisms of several answers, by definition: every sequence of answers listed, and outputs of one type added up."""

import itertools
import math
import random
from collections import Counter
from fractions import Fraction

import pytest

from campaigns import draws, each
from dalenius_check.arithmetic import choose, chosen, fmpq, is_rational, using
from dalenius_check.channel import build
from dalenius_check.gaussian import beyond
from dalenius_check.model import parse_model
from dalenius_check.numbers import RefusedError
from forgery_subjects import toml


def channel(mechanism, count=2, alphabet=2, query="count"):
    """The checker's."""
    table = {"problem": "maximal_leakage", "records": {"count": count, "alphabet": alphabet}, "query": {"kind": query}}
    return build(parse_model(toml({**table, "mechanism": mechanism, "adversary": {"kind": "product_priors"}})))


def doubles(rows):
    """Its rows."""
    middles = [[x if is_rational(x) else x.mid().fmpq() for x in row] for row in rows]
    return [[int(x.numerator) / int(x.denominator) for x in row] for row in middles]


@each("arithmetic", "flint", "python")
@each("noise", {"flip": "1/5"}, {"flip": "0"}, {"flip": 1}, {"epsilon": "0.8"}, {"epsilon": 0})
@each("n", 1, 4, 5)
def test_randomized_counts_turn_every_bit_round(n, noise, arithmetic):
    flip = {"1/5": 0.2, "0": 0.0, 1: 1.0}.get(noise.get("flip"), 1 / (1 + math.exp(float(noise.get("epsilon", 0)))))
    with using(choose(arithmetic)):
        found = channel({"kind": "randomized_count", **noise}, n)
        assert found.exact == ("flip" in noise or noise["epsilon"] == 0)
        rows = doubles(found.rows)
    for v in range(n + 1):
        bits, wanted = [1] * v + [0] * (n - v), [0.0] * (n + 1)
        for turns in itertools.product((0, 1), repeat=n):
            chance = math.prod(flip if turn else 1 - flip for turn in turns)
            wanted[sum(b ^ turn for b, turn in zip(bits, turns, strict=True))] += chance
        assert rows[v] == pytest.approx(wanted, abs=1e-12)


@each("arithmetic", "flint", "python")
@each("scale, ends", ("1/100", [0, 3]), ("0.7", [-1, 3]), ("5", [0, 3]), ("40", [-9, 30]))
def test_gaussian_noise_is_clamped(scale, ends, arithmetic):
    """Against sums in doubles, far out; rows have the sum 1; and so has what is lost where nothing is clamped a bound."""
    with using(choose(arithmetic)), chosen().workprec(128):
        found = channel({"kind": "discrete_gaussian", "scale": scale, "range": ends}, 3)
        rows, s = doubles(found.rows), float(Fraction(scale))
        sums = [sum((x.mid().fmpq() for x in row), fmpq(0)) for row in found.rows]
        assert all(abs(total - 1) < fmpq(1, 10**30) for total in sums)
        bound = beyond(fmpq(Fraction(scale).numerator, Fraction(scale).denominator))
        above, far = int(bound.lower().fmpq() * 10**60) / 1e60, math.ceil(10 * s + 1)
    law = {k: math.exp(-((k / s) ** 2) / 2) for k in range(-700, 701)}
    whole = math.fsum(law.values())
    for v, row in enumerate(rows):
        below = math.fsum(w for k, w in law.items() if k <= ends[0] - v)
        over = math.fsum(w for k, w in law.items() if k >= ends[1] - v)
        wanted = [below, *(law[y - v] for y in range(ends[0] + 1, ends[1])), over]
        assert row == pytest.approx([w / whole for w in wanted], rel=1e-12, abs=1e-300)
    assert above >= math.fsum(w for k, w in law.items() if k >= far) / whole


def drawn(rng):
    """Parts about three values, and their rows in doubles."""
    big = math.exp(0.7)
    known = [
        ({"kind": "symmetric", "flip": "1/4"}, [[0.75 if y == v else 0.125 for y in range(3)] for v in range(3)]),
        (
            {"kind": "randomized_response", "epsilon": "0.7"},
            [[(big if y == v else 1) / (big + 2) for y in range(3)] for v in range(3)],
        ),
        ({"kind": "matrix", "rows": [["0", "1"], ["1/3", "2/3"], ["1", "0"]]}, [[0, 1], [1 / 3, 2 / 3], [1, 0]]),
        ({"kind": "randomized_count", "flip": "0"}, [[float(y == v) for y in range(3)] for v in range(3)]),
        ({"kind": "matrix", "rows": [["1"], ["1"], ["1"]]}, [[1], [1], [1]]),
    ]
    return [(*rng.choice(known), rng.randint(1, 3)) for _ in range(rng.randint(1, 2))]


@each("seed", *range(draws(12, 200)))
def test_several_releases_add_up_sequences_of_one_type(seed):
    """And the types are numbered as the document says, the last part fastest."""
    rng = random.Random(seed)
    parts = drawn(rng)
    with using(choose(rng.choice(["flint", "python"]))):
        found = channel({"kind": "several_releases", "parts": [{**table, "times": n} for table, _, n in parts]})
        assert found.exact == all("epsilon" not in table for table, _, _ in parts)
        rows = doubles(found.rows)
    types = []
    for _, part, n in parts:
        listed = [c for c in itertools.product(range(n + 1), repeat=len(part[0])) if sum(c) == n]
        types.append(sorted(listed, reverse=True))
    outputs = list(itertools.product(*types))
    for v in range(3):
        wanted = Counter[object]()
        sequences = [list(itertools.product(range(len(part[0])), repeat=n)) for _, part, n in parts]
        for ones in itertools.product(*sequences):
            chance = math.prod(part[v][y] for (_, part, _), ys in zip(parts, ones, strict=True) for y in ys)
            sums = zip(parts, ones, strict=True)
            wanted[tuple(tuple(ys.count(y) for y in range(len(part[0]))) for (_, part, _), ys in sums)] += chance
        assert rows[v] == pytest.approx([wanted[c] for c in outputs], abs=1e-12)


def test_equal_entries_are_one_number():
    """So that symmetries are seen where numbers are enclosed by balls."""
    found = channel(
        {"kind": "several_releases", "parts": [{"kind": "randomized_response", "epsilon": 1, "times": 4}]}, 1, 3
    )
    assert len({id(x) for row in found.rows for x in row}) == len(
        {round(x, 12) for row in doubles(found.rows) for x in row}
    )


@each(
    "mechanism, reason",
    ({"kind": "randomized_count"}, "either 'epsilon' or 'flip'"),
    ({"kind": "randomized_count", "flip": "0.1", "epsilon": 1}, "either 'epsilon' or 'flip'"),
    ({"kind": "randomized_count", "flip": "1.1"}, "at most 1"),
    ({"kind": "discrete_laplace"}, "either 'epsilon' or 'scale'"),
    ({"kind": "discrete_laplace", "scale": "1/1001"}, "at least 1/1000"),
    ({"kind": "discrete_laplace", "epsilon": "0"}, "must be positive"),
    ({"kind": "discrete_gaussian", "scale": "1/101", "range": [0, 2]}, "at least 1/100"),
    ({"kind": "discrete_gaussian", "scale": "1000001", "range": [0, 2]}, "at most 1000000"),
    ({"kind": "discrete_gaussian", "scale": "1", "range": [0, 1]}, "every value"),
    ({"kind": "several_releases", "parts": [{"kind": "discrete_gaussian", "scale": "1"}]}, "range is missing"),
    ({"kind": "several_releases", "parts": []}, "at least one table"),
    ({"kind": "several_releases", "parts": [{"kind": "several_releases", "parts": []}]}, "must be"),
    ({"kind": "several_releases", "parts": [{"kind": "hadamard_response", "epsilon": 1}]}, "must be"),
    ({"kind": "several_releases", "parts": [{"kind": "symmetric", "flip": "0.1", "times": 0}]}, "an integer from 1"),
    ({"kind": "several_releases", "parts": [{"kind": "matrix", "inputs": "dataset", "rows": [["1"]]}]}, "'query'"),
    ({"kind": "several_releases", "parts": [{"kind": "symmetric", "flip": "0.1", "k": 2}]}, "mechanism.k must be 3"),
    (
        {"kind": "several_releases", "parts": [{"kind": "symmetric", "flip": "0.1", "times": 10**9}]},
        "more than 16777216 entries",
    ),
)
def test_what_no_channel_is_made_of(mechanism, reason):
    with pytest.raises(RefusedError, match=reason):
        channel(mechanism)


def test_a_randomized_count_needs_a_count():
    with pytest.raises(RefusedError, match=r"0, 1, \.\.\., n"):
        channel({"kind": "randomized_count", "flip": "0.1"}, 1, 1, "sum")
