"""Linear programs about rows: what can be met strictly, what cannot, and multipliers which say that nothing can."""

import numpy as np
from scipy.sparse import csr_matrix

from dalenius.designs.exchange.interior import Inside, Outside, inside, raising
from dalenius.programs.demands import LinearRows
from dalenius.search import Clock

SHAPE = (2, 3)


def rows(*listed):
    """(terms by entry, end, equal)."""
    matrix = np.zeros((len(listed), 6))
    for r, (terms, _, _) in enumerate(listed):
        for i, c in terms.items():
            matrix[r, i] = c
    return LinearRows(
        csr_matrix(matrix), np.array([end for _, end, _ in listed], dtype=float), np.array([e for *_, e in listed])
    )


def test_without_rows_every_entry_is_free():
    found = inside(LinearRows.none(6), SHAPE, Clock())
    assert isinstance(found, Inside)
    assert found.support.all()
    assert np.allclose(found.q, 1 / 3)


def test_zeros_and_equalities_that_follow_are_found_and_zeros_are_raised():
    """Row 0 unbiased at the least output: all its mass is there. Two inequalities that leave one value: both are tight."""
    system = rows(
        ({0: 0.0, 1: 1.0, 2: 2.0}, 0.0, True),
        ({3: 1.0}, 0.25, False),
        ({3: -1.0}, -0.25, False),
        ({4: 1.0}, 0.5, False),
    )
    found = inside(system, SHAPE, Clock())
    assert isinstance(found, Inside)
    assert found.support.tolist() == [[True, False, False], [True, True, True]]
    assert found.tight.tolist() == [True, True, True, False]
    assert np.allclose(found.q[:, 0], [1.0, 0.25])
    prices = raising(system, found.support, Clock())
    assert np.all(prices[1:] >= 0.0)
    matrix = (system.matrix.T @ prices).reshape(SHAPE)
    least = np.where(found.support, matrix, np.inf).min(axis=1)
    assert least.sum() - prices @ system.ends >= -1e-9, "they cost nothing"
    assert np.all(matrix[0, 1:] >= least[0] + 1.0 - 1e-9), "they raise by 1 what must be 0"


def test_multipliers_of_what_nothing_meets():
    system = rows(({0: 1.0, 3: 1.0}, 1.5, True), ({0: 1.0, 1: -3.0}, -2.0, False), ({5: 1.0}, 0.9, False))
    found = inside(system, SHAPE, Clock())
    assert isinstance(found, Outside)
    assert np.all(found.prices[1:] >= 0.0)
    assert found.prices[2] == 0.0, "what is not in conflict has none"
    matrix = (system.matrix.T @ found.prices).reshape(SHAPE)
    assert matrix.min(axis=1).sum() - found.prices @ system.ends > 0.01
