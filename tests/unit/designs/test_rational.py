"""From doubles to exact rows."""

from fractions import Fraction

import numpy as np

from campaigns import each
from dalenius.designs.rational import DENOMINATOR, LinearSystem, mixtures, rational_rows


@each("outputs", 1, 2, 3, 7, 500)
def test_rows_sum_to_one_exactly_and_are_near(outputs):
    Q = np.random.default_rng(outputs).dirichlet(np.full(outputs, 0.2), size=20)
    rows = rational_rows(Q)
    for row, near in zip(rows, Q, strict=True):
        assert sum(row) == 1
        assert min(row) >= 0
        assert all(DENOMINATOR % entry.denominator == 0 for entry in row)
        assert max(abs(float(x) - y) for x, y in zip(row, near, strict=True)) <= (outputs + 1) / DENOMINATOR


def test_zeros_stay_zeros_and_noise_below_zero_goes():
    rows = rational_rows(np.array([[0.0, 1.0, -1e-17], [1e-14, 1.0, 0.0]]))
    assert rows[0] == [0, 1, 0]
    assert sum(rows[1]) == 1
    assert rows[1][2] == 0


def test_rows_need_not_be_normalised():
    assert rational_rows(np.array([[3.0, 1.0]])) == [[Fraction(3, 4), Fraction(1, 4)]]


@each("share", 0.0, 1e-9, 0.5, 1.0)
def test_mixtures_begin_with_the_share_and_end_with_the_other(share):
    Q, other = np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]])
    shares = [float(mixed[0, 0]) for mixed in mixtures(Q, other, share)]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert shares[0] >= share
    assert share > 0.0 or shares[0] == 0.0
    assert len(shares) < 20


def test_unknowns_that_others_express_are_not_counted():
    """Entries of a private mechanism are multiples of the ends of their columns, or 0: as many as one likes are solved."""
    many = 3000
    system = LinearSystem(2 * many + 1)
    for i in range(many):
        system.add({i: Fraction(1), 2 * many: Fraction(-1, i + 1)}, Fraction(0))
        for sign in (1, -1):
            system.add({many + i: Fraction(sign)}, Fraction(0))
    system.add({2: Fraction(1), 5: Fraction(1), many: Fraction(7)}, Fraction(1))
    solved = system.solved()
    assert solved[2 * many] == 2
    assert solved[: many + 2] == [Fraction(2, i + 1) for i in range(many)] + [0, 0]


def test_an_unknown_that_nothing_says_anything_about_has_no_solution():
    system = LinearSystem(3)
    for factor in (1, 2, 3):
        system.add({0: Fraction(1), 1: Fraction(factor)}, Fraction(1))
    assert system.solved() is None
