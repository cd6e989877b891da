"""Chains of several letters in doubles: laws against sums over all paths, largest means against linear programmes, known bounds."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from campaigns import each
from dalenius.information import mutual_information
from dalenius.information.letter_chains import LetterChain, stationary_laws, tangents, upper_means
from dalenius.model.mechanisms import Geometric
from definitions import joint_of_chain

WEEK = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.3, 0.6]])
FIRST = np.array([0.2, 0.5, 0.3])


def by_paths(chain: LetterChain, steps, first) -> np.ndarray:
    """P(X_i = x, total = s), path by path."""

    def row(path):
        return np.eye(chain.totals)[sum(chain.adds[b] for b in path)]

    return joint_of_chain(first, steps, chain.count, chain.record, row)


@each("record", 0, 2, 3)
@each("stationary", True, False)
def test_the_law_is_that_of_all_paths(record, stationary):
    chain = LetterChain(4, record, (0, 2, 1), stationary)
    points = WEEK[None] if stationary else np.vstack([WEEK, FIRST])[None]
    first = chain.first_law(points)[0]
    assert first @ WEEK == pytest.approx(first) or not stationary
    law = by_paths(chain, WEEK, first)
    assert chain.joint_laws(points)[0] == pytest.approx(law, abs=1e-15)
    assert chain.laws_of_totals(points)[0] == pytest.approx(law / law.sum(1, keepdims=True), abs=1e-15)


def test_stationary_laws():
    assert stationary_laws(WEEK[None])[0] @ WEEK == pytest.approx(stationary_laws(WEEK[None])[0])
    assert np.isnan(stationary_laws(np.eye(2)[None])).all()


def test_the_largest_mean_is_that_of_a_linear_programme():
    rng = np.random.default_rng(3)
    low = rng.uniform(0, 0.2, (5, 3, 4))
    high = low + rng.uniform(0.2, 0.5, (5, 3, 4))
    values = rng.normal(size=(5, 4, 2))
    found = upper_means(low, high, values)
    for box, row, place in np.ndindex(5, 3, 2):
        solved = linprog(
            -values[box, :, place],
            A_eq=np.ones((1, 4)),
            b_eq=[1],
            bounds=list(zip(low[box, row], high[box, row], strict=True)),
        )
        assert found[box, row, place] == pytest.approx(-solved.fun)


@each("stationary", True, False)
def test_what_a_bound_adds_is_of_the_order_of_its_box(stationary):
    """The bound exceeds the largest leakage by something of second order: a box of half the width, a quarter."""
    chain = LetterChain(5, 2, (0, 0, 1), stationary)
    rows = Geometric(0.5).channel(np.arange(6))
    rng = np.random.default_rng(5)
    point = WEEK if stationary else np.vstack([WEEK, FIRST])
    excess = []
    for width in (0.02, 0.01, 0.0):
        found = tangents(chain, rows, point[None] - width, point[None] + width, point[None])
        change = rng.choice([-width, width], (400, len(point), 2))
        change = np.stack([change[..., 0], -change[..., 0], 0 * change[..., 0]], axis=-1)
        change = rng.permuted(change, axis=2)
        leakages = mutual_information(chain.joint_laws(point + change) @ rows)
        assert leakages.max() <= found.bounds[0] + 1e-14
        excess.append(found.bounds[0] - leakages.max())
    assert excess[0] < 1e-2
    assert excess[1] < excess[0] / 3
    assert excess[2] == pytest.approx(0, abs=1e-12)


def test_letters_that_the_first_record_cannot_have_are_left_out():
    chain = LetterChain(3, 0, (0, 1, 2), stationary=False)
    rows = Geometric(0.5).channel(np.arange(7))
    point = np.vstack([WEEK, [1.0, 0.0, 0.0]])[None]
    assert tangents(chain, rows, point, point, point).bounds == pytest.approx(0, abs=1e-15)
    low, high = point.copy(), point.copy()
    low[:, :3], high[:, :3] = low[:, :3] - 0.01, high[:, :3] + 0.01
    assert tangents(chain, rows, low, high, point).bounds[0] < 1e-2


def test_rare_letters_have_their_digits_in_stationary_laws():
    """0.4775 of letter 0 moves to letter 1, which moves back 5e-41 of the time, as doubles never."""
    (law,) = stationary_laws(np.array([[[0.5225, 0.4775], [5e-41, 1.0]]]))
    assert law == pytest.approx([5e-41 / 0.4775, 1.0], rel=1e-14, abs=0.0)
    (end,) = stationary_laws(np.array([[[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]]))
    assert end.round(12).tolist() == [0.0, 1.0, 0.0]


def test_a_bound_holds_where_letters_hardly_ever_change():
    """1 - 1e-17 is 1 in doubles: what a change of such rows does in the long run was an inverse of nothing but rounding."""
    chain, rows = (
        LetterChain(12, 9, (0, 1), stationary=True),
        np.repeat([[0.505, 0.495], [0.495, 0.505]], (3, 10), axis=0),
    )
    tiny, small = Fraction(1, 10**40), Fraction(5, 10**17)
    ends = (small, tiny), (tiny, small), (small / 2, small / 2)  # what stays is least where what moves is largest
    low, high, at = (np.array([[[1 - moved, to_one], [tiny, 1 - tiny]]], dtype=object) for moved, to_one in ends)
    points = np.array([[[1.0, float(to_one)], [1e-40, 1.0]] for to_one in np.geomspace(1e-40, 5e-17, 50)])
    leakages = mutual_information(chain.joint_laws(points) @ rows)
    found = tangents(chain, rows, low, high, at)
    assert leakages.max() <= found.bounds[0] + 1e-14
