"""A thousand small models with symmetries against a brute force that knows of none.

Proofs about such models bound one of the images that a law or a prior has under exchanges of letters, inputs and outputs. An image too
few would be a bound that is too low, and the brute force of `support` finds what is above it.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
from campaigns import thinned

INSTANCES = 1000
BLOCK = 5
STARTS = 300
NODES = 100  # a node limit, so that the answer does not depend on the machine; most instances close before


def cyclic(rng, size: int) -> list[list[Fraction]]:
    """Each row the one before it, shifted."""
    counts = rng.multinomial(90, rng.dirichlet(np.full(size, 1.5))) + 10 // size + 1
    return [[Fraction(int(counts[(y - v) % size]), int(counts.sum())) for y in range(size)] for v in range(size)]


def mirrored(rng, inputs: int, outputs: int) -> list[list[Fraction]]:
    """Row v from left to right is the row at the other end from right to left."""
    counts = rng.integers(1, 30, size=(inputs, outputs))
    counts = counts + counts[::-1, ::-1]
    return [[Fraction(int(n), int(row.sum())) for n in row] for row in counts]


def latin(rng, size: int) -> list[int]:
    """A Latin square with its rows, columns and values in any order."""
    p, q, s = (rng.permutation(size) for _ in range(3))
    return [int(s[(p[a] + q[b]) % size]) for a in range(size) for b in range(size)]


def instance(support, number: int) -> dl.MaximalLeakage:
    rng = np.random.default_rng([16, number])
    size, flip = int(rng.integers(2, 5)), Fraction(int(rng.integers(1, 100)), 100)
    bound = f"{rng.choice([rng.integers(300, 900), rng.integers(900, 999)])}e-3 max"
    kind = number % 6
    if kind == 0:
        return support.problem([size] * 2, dl.ModularSum(size), dl.symmetric(flip), bound)
    if kind == 1:
        return support.problem([size] * 2, dl.Table(latin(rng, size)), dl.symmetric(flip), bound)
    if kind == 2:
        return support.problem([size] * 2, dl.ModularSum(size), dl.Channel(cyclic(rng, size)), bound)
    if kind == 3:
        bits = int(rng.integers(2, 5))
        return support.problem(
            [2] * bits, dl.Count(), dl.Channel(mirrored(rng, bits + 1, int(rng.integers(2, 6)))), bound
        )
    if kind == 4:
        query = dl.Table([(a * a + b * b) % 4 for a in range(4) for b in range(4)])
        return support.problem([4, 4], query, dl.Channel(mirrored(rng, 3, 3)), bound)
    return support.problem([size, 2], None, dl.randomized_response(Fraction(int(rng.integers(1, 40)), 10)), bound)


def words(result) -> Counter[str]:
    """How many lines of each kind a certificate has."""
    return Counter(line.split('"')[1] for line in result.certificate.text.splitlines()[1:])


@pytest.mark.parametrize("block", thinned(range(INSTANCES // BLOCK), every=200))
def test_no_upper_bound_is_below_what_a_brute_force_finds(support, block):
    seen = Counter[str]()
    for number in range(block * BLOCK, (block + 1) * BLOCK):
        question = instance(support, number)
        result = dl.solve(question, gap=1e-3, time_limit=None, node_limit=NODES)
        best = support.brute_force(question, np.random.default_rng(number), starts=STARTS)
        assert best <= result.upper + 1e-12
        assert result.lower <= result.upper
        seen += words(result)
    assert block or seen["chamber"]  # five models may all be closed by what needs none; the daily ones are not
    assert seen["as"]
