"""Channels whose Shannon capacity is known in closed form."""

import math

import numpy as np

from campaigns import each
from dalenius.information.capacity import capacity

ROUNDING = 1e-13  # the bounds are evaluated in doubles


def assert_capacity(rows, exact) -> None:
    answer = capacity(np.array(rows, dtype=float))
    assert answer.lower <= exact + ROUNDING
    assert exact <= answer.upper + ROUNDING
    assert 0.0 <= answer.gap <= 1e-9


def symmetric(size, flip):
    return np.full((size, size), flip / (size - 1)) + (1.0 - flip * size / (size - 1)) * np.eye(size)


def row_entropy(row) -> float:
    return -sum(x * math.log(x) for x in row if x > 0.0)


@each("flip", 0.0, 1e-300, 1e-9, 0.01, 0.11, 0.3, 0.4999999, 0.5, 0.9, 1.0)
def test_binary_symmetric_channel(support, flip):
    assert_capacity([[1.0 - flip, flip], [flip, 1.0 - flip]], math.log(2.0) - support.binary_entropy(flip))


@each("lost", 0.0, 1e-12, 0.2, 0.5, 0.999, 1.0)
def test_binary_erasure_channel(lost):
    assert_capacity([[1.0 - lost, lost, 0.0], [0.0, lost, 1.0 - lost]], (1.0 - lost) * math.log(2.0))


@each("flip", 1e-300, 1e-9, 0.01, 0.5, 0.9, 0.9999)
def test_z_channel(flip):
    assert_capacity([[1.0, 0.0], [flip, 1.0 - flip]], math.log1p((1.0 - flip) * flip ** (flip / (1.0 - flip))))


@each("size", 1, 2, 3, 10, 70, 130)
def test_noiseless_channel(size):
    assert_capacity(np.eye(size), math.log(size))


@each("outputs", [0, 0, 0], [0, 1, 1, 0], [3, 1, 3, 0, 1, 2])
def test_deterministic_channel(outputs):
    assert_capacity(np.eye(5)[outputs], math.log(len(set(outputs))))


@each("size", 2, 3, 8, 61, 125)
@each("flip", 0.01, 0.2, 0.7)
def test_symmetric_channel(support, size, flip):
    """One tile of the elimination, and more than one."""
    exact = math.log(size) - support.binary_entropy(flip) - flip * math.log(size - 1)
    assert_capacity(symmetric(size, flip), exact)


@each(
    "rows",
    [[1 / 3, 1 / 6, 1 / 2], [1 / 3, 1 / 2, 1 / 6]],
    [[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.1, 0.7]],
    np.full((4, 6), 1 / 6),
)
def test_weakly_symmetric_channel(rows):
    """Rows that permute each other and equal column sums: log of the outputs minus the entropy of a row."""
    assert_capacity(rows, math.log(len(rows[0])) - row_entropy(rows[0]))


@each("seed", *range(4))
def test_invertible_channel_that_uses_every_input(seed):
    """All divergences equal C, so C = log sum_y exp(-(R^-1 h)(y)) with h the entropies of the rows."""
    rows = 0.6 * np.eye(5) + 0.4 * np.random.default_rng(seed).dirichlet(np.ones(5), size=5)
    inverted = np.linalg.solve(rows, [row_entropy(row) for row in rows])
    assert_capacity(rows, math.log(np.exp(-inverted).sum()))


@each("uses", 1, 2, 5, 7)
def test_several_uses(support, uses):
    """Capacities of independent channels add."""
    single, rows = np.array([[0.9, 0.1], [0.1, 0.9]]), np.ones((1, 1))
    for _ in range(uses):
        rows = np.kron(rows, single)
    assert_capacity(rows, uses * (math.log(2.0) - support.binary_entropy(0.1)))


def test_a_choice_between_channels(support):
    """Channels without a common output: C = log sum exp C_i."""
    parts = [symmetric(3, 0.2), np.array([[0.5, 0.5]]), symmetric(2, 0.25)]
    rows = np.zeros((6, 7))
    rows[:3, :3], rows[3:4, 3:5], rows[4:, 5:] = parts
    first = math.log(3) - support.binary_entropy(0.2) - 0.2 * math.log(2)
    last = math.log(2) - support.binary_entropy(0.25)
    assert_capacity(rows, math.log(math.exp(first) + 1.0 + math.exp(last)))


def test_unused_inputs():
    """An input in the middle of two others is never worth using."""
    assert_capacity([[0.9, 0.1], [0.5, 0.5], [0.1, 0.9], [0.7, 0.3]], math.log(2.0) - row_entropy([0.9, 0.1]))
