"""Chambers: every law has an image in them, and closing a box loses none of their laws."""

from itertools import combinations, permutations

import numpy as np
import pytest

from campaigns import each
from dalenius.reduction import Chamber, RowSymmetry
from permutations import generated


def moves(size, generators):
    return [RowSymmetry(*[np.array(g)] * 4) for g in generators]


def exchanges(size):
    for i, j in combinations(range(size), 2):
        g = list(range(size))
        g[i], g[j] = j, i
        yield g


def shifts(size):
    return [np.roll(np.arange(size), s).tolist() for s in range(1, size)]


def chamber(size, generators):
    return Chamber.of(moves(size, generators), np.zeros(size), np.ones(size), np.zeros(size, dtype=np.int64))


def inside(chamber, K):
    return all(K[z] >= K[y] for y, z in zip(*np.nonzero(chamber.above), strict=True))


CASES = {
    "all exchanges": (4, list(exchanges(4)), 24),
    "shifts": (5, shifts(5), 5),
    "shifts and mirror images": (5, [*shifts(5), [0, 4, 3, 2, 1]], 10),
    "two pairs": (4, [[1, 0, 2, 3], [0, 1, 3, 2]], 4),
    "one mirror image": (5, [[4, 3, 2, 1, 0]], 2),
}


@each("size, generators, order", *CASES.values())
def test_one_image_of_every_law_is_inside(size, generators, order):
    one, rng = chamber(size, generators), np.random.default_rng(1)
    group = generated(generators, size)
    assert len(group) == order
    inside_shares = []
    for _ in range(300):
        K = rng.dirichlet(np.ones(size))
        images = [K[list(g)] for g in group]
        assert any(inside(one, image) for image in images)
        inside_shares.append(np.mean([inside(one, image) for image in images]))
    assert np.mean(inside_shares) == pytest.approx(1 / order)


@each("size, generators, order", *CASES.values())
def test_closing_a_box_loses_no_law_of_the_chamber(size, generators, order):
    one, rng = chamber(size, generators), np.random.default_rng(2)
    for _ in range(300):
        image = next(K for K in (rng.dirichlet(np.ones(size)) for _ in range(10_000)) if inside(one, K))
        low, high = image - rng.uniform(0, 0.2, size), image + rng.uniform(0, 0.2, size)
        closed = one.close(low, high)
        assert np.all(closed[0] <= image)
        assert np.all(image <= closed[1])
        assert np.all(closed[0] >= low)
        assert np.all(closed[1] <= high)
        again = one.close(*closed)
        assert np.array_equal(again[0], closed[0])
        assert np.array_equal(again[1], closed[1])


def test_a_step_is_allowed_by_those_before_it():
    """Each move of a step maps the orders before it onto such orders, which the checker asks for."""
    for size, generators, _ in CASES.values():
        one = chamber(size, generators)
        orders = set()
        for y, listed in one.steps:
            for move in listed:
                assert all((int(move.kept[z]), int(move.kept[x])) in orders for z, x in orders)
            orders |= {(y, int(move.kept[y])) for move in listed}


def test_what_a_box_or_a_law_breaks_is_not_used():
    every, flat = moves(3, list(exchanges(3))), np.zeros(3, dtype=np.int64)
    assert len(Chamber.of(every, np.array([0.1, 0.0, 0.0]), np.ones(3), flat).steps) == 1
    assert len(Chamber.of(every, np.zeros(3), np.ones(3), np.array([0, 0, 1])).steps) == 1
    assert Chamber.of(every, np.array([0.2, 0.1, 0.0]), np.ones(3), flat).steps == ()
    whole = chamber(3, list(exchanges(3)))
    assert whole.holds(np.zeros(3), np.ones(3), flat)
    assert not whole.holds(np.array([0.1, 0.0, 0.0]), np.ones(3), flat)
    assert Chamber.whole(3).covers(whole)
    assert not whole.covers(Chamber.whole(3))


def test_a_chamber_seen_from_elsewhere():
    size, generators, _ = CASES["shifts"]
    one, rng = chamber(size, generators), np.random.default_rng(3)
    for where in list(permutations(range(size)))[::17]:
        other = one.seen_by(RowSymmetry(*[np.array(where)] * 4))
        K = rng.dirichlet(np.ones(size))
        moved = np.empty(size)
        moved[list(where)] = K
        assert inside(other, moved) == inside(one, K)
        for (y, listed), (z, seen) in zip(one.steps, other.steps, strict=True):
            assert where[y] == z
            assert [where[m.kept[y]] for m in listed] == [s.kept[z] for s in seen]
