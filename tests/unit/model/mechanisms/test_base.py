"""Channels in exact numbers, against those in doubles: each ball holds a row that sums to 1, and the doubles are beside it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from flint import arb, ctx, fmpq

import dalenius as dl
from campaigns import each

MECHANISMS = [
    (dl.geometric("1/2"), 4),
    (dl.geometric(3, range=(-2, 6)), 4),
    (dl.geometric(1000), 3),
    (dl.exponential(1, range=5, sensitivity=2), 4),
    (dl.exponential(0), 3),
    (dl.laplace_threshold(1), 2),
    (dl.randomized_response("3/2"), 5),
    (dl.symmetric(0.2), 3),
    (dl.Channel([["1/3", "2/3"], [0.1, 0.9]]), 2),
    (dl.subset_selection("log 3", size=2), 4),
    (dl.optimized_unary_encoding("3/2"), 4),
    (dl.local_hashing("2 bits", buckets=3), 3),
    (dl.hadamard_response(0), 3),
    (dl.DesignedMechanism([["1/3", "2/3"], [0.1, 0.9]]), 2),
]


@each("mechanism, inputs", *MECHANISMS)
def test_doubles_are_beside_the_exact_numbers(mechanism, inputs):
    values = np.arange(inputs)
    with ctx.workprec(200):
        exact, doubles = mechanism.exact_channel(values), mechanism.channel(values)
        assert exact.shape == doubles.shape
        for row, beside in zip(exact, doubles, strict=True):
            assert arb(sum(row)).overlaps(arb(1))
            for x, y in zip(row, beside.tolist(), strict=True):
                assert abs(arb(x) - arb(y)) <= arb(4e-16)
                assert isinstance(x, fmpq) or x.rel_accuracy_bits() >= 100


def test_rational_kinds_are_exact():
    rows = dl.symmetric("1/5").exact_channel(np.arange(3))
    assert rows.tolist() == [[fmpq(4, 5) if x == y else fmpq(1, 10) for y in range(3)] for x in range(3)]
    rows = dl.Channel([[0.3, "0.7000000001"], [1, 0]]).exact_channel(np.arange(2))
    assert sum(rows[0]) == 1


@dataclass(frozen=True)
class Doubled(dl.mechanisms.Mechanism):
    """A kind of one's own, in doubles."""

    kind: ClassVar[str] = "doubled"

    def channel(self, values):
        return np.full((values.size, 3), 1 / 3)


def test_a_class_of_ones_own_is_its_doubles_divided_by_their_sums():
    rows = Doubled().exact_channel(np.arange(2))
    assert all(sum(row) == 1 for row in rows)
    assert rows[0, 0] == fmpq(1, 3)


def test_entries_are_told_from_zero_however_small_epsilon_is():
    for epsilon in ("1e-300", "1000"):
        rows = dl.geometric(epsilon).exact_channel(np.arange(4))
        assert all(x > 0 for x in rows.ravel())
        assert all(x.rel_accuracy_bits() >= 30 for x in rows.ravel())
