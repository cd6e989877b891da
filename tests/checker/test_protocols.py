"""Local protocols: what the checker encloses against the channels, written out by definition; and both arithmetics alike."""

import itertools
import math
import random
from fractions import Fraction

import pytest

from campaigns import draws, each
from dalenius_check.allowance import Allowance, LimitError
from dalenius_check.arithmetic import arb, choose, fmpq, using
from dalenius_check.numbers import RefusedError
from dalenius_check.protocols import PROTOCOLS

KINDS = {
    "subset_selection": {"size": 2},
    "optimized_unary_encoding": {},
    "local_hashing": {"buckets": 3},
    "hadamard_response": {},
}
LAWS = [[1, 1, 1, 1], [3, 3, 1, 1], [0, 2, 2, 1], [4, 3, 2, 1]]


def by_definition(kind, epsilon, size):
    """The rows of docs/model-format.md, output by output, in doubles."""
    e, inputs = math.exp(epsilon), range(size)
    if kind == "subset_selection":
        likely = [[e if k in chosen else 1.0 for chosen in itertools.combinations(inputs, 2)] for k in inputs]
        return [[x / sum(row) for x in row] for row in likely]
    if kind == "optimized_unary_encoding":
        one = [[0.5 if j == k else 1 / (e + 1) for j in inputs] for k in inputs]
        bits = list(itertools.product((0, 1), repeat=size))
        return [[math.prod(p if b else 1 - p for p, b in zip(row, y, strict=True)) for y in bits] for row in one]
    if kind == "local_hashing":
        reports = [(h, b) for h in itertools.product(range(3), repeat=size) for b in range(3)]
        return [[(e if h[k] == b else 1.0) / (e + 2) / 3**size for h, b in reports] for k in inputs]
    outputs = 1 << size.bit_length()
    even = [[(k + 1 & y).bit_count() % 2 == 0 for y in range(outputs)] for k in inputs]
    return [[2 * (e if alike else 1.0) / outputs / (e + 1) for alike in row] for row in even]


def how_of(kind, sizes, draw):
    """A way to sum, of which every number is drawn."""
    ranges = [(g, *sorted(draw.choices(range(n + 1), k=2))) for g, n in enumerate(sizes)]
    if kind == "hadamard_response":
        return None
    if kind == "subset_selection":
        left = draw.randrange(len(sizes))
        return [list(entry) for entry in ranges if entry[0] != left]
    return [draw.randint(1, 32), [list(entry) for entry in ranges if draw.random() < 0.5]]


def made(kind, epsilon=1, size=4):
    """The protocol in the arithmetic that is chosen; epsilon is 1 over a whole number, or whole."""
    amount = fmpq(Fraction(epsilon).numerator, Fraction(epsilon).denominator)
    return PROTOCOLS[kind]({"kind": kind, "epsilon": (amount, "nats"), "k": None, **KINDS[kind]}, size, Allowance())


def number(ball):
    """The rational that a ball without width is, as a double."""
    value = ball.fmpq()
    return int(value.numerator) / int(value.denominator)


@each("arithmetic", "flint", "python")
@each("kind", *KINDS)
def test_both_sides_hold_whatever_is_summed(kind, arithmetic):
    draw = random.Random(f"{kind} {arithmetic}")
    with using(choose(arithmetic)):
        for weights in LAWS * draws(1, 10):
            epsilon = draw.choice(["1/4", "1", "3"])
            law = [Fraction(w, sum(weights)) for w in weights]
            rows = by_definition(kind, float(Fraction(epsilon)), 4)
            mixed = [sum(float(p) * row[y] for p, row in zip(law, rows, strict=True)) for y in range(len(rows[0]))]
            exact = [sum(x * math.log(x / r) for x, r in zip(row, mixed, strict=True)) for row in rows]
            sizes = [weights.count(w) for w in dict.fromkeys(weights)]
            how, given = how_of(kind, sizes, draw), [fmpq(p.numerator, p.denominator) for p in law]
            below, above = (made(kind, epsilon).divergences(given, how, above=side) for side in (False, True))
            for low, value, high in zip(below, exact, above, strict=True):
                assert number(low.lower()) <= value + 1e-13
                assert number(high.upper()) >= value - 1e-13


@each("kind", *KINDS)
def test_rows_are_those_of_the_document(kind):
    for row, wanted in zip(made(kind).rows(), by_definition(kind, 1.0, 4), strict=True):
        assert sorted(number(arb(x).mid()) for x in row) == pytest.approx(sorted(wanted), rel=1e-14)


def test_too_many_tuples_end_undecided():
    protocol = made("optimized_unary_encoding", size=4000)
    with pytest.raises(LimitError, match="tuples"):
        protocol.ranges([[0, 0, 2000], [1, 0, 2000]], [2000, 2000])


def test_sizes_that_no_protocol_has():
    with pytest.raises(RefusedError, match="from 2 to 16384"):
        made("hadamard_response", size=1)
    with pytest.raises(RefusedError, match="from 2 to 16384"):
        made("hadamard_response", size=20_000)
