"""The distinct rows of a channel."""

import numpy as np

from dalenius.reduction import distinct_rows


def test_rows_come_in_the_order_of_their_numbers():
    """That of `np.unique`, of probabilities of all sizes; a zero has no sign."""
    rng = np.random.default_rng(5)
    rows = rng.choice([0.0, -0.0, 5e-324, 1e-300, 1e-17, 0.1, 0.5, np.nextafter(0.5, 1), 1.0], size=(300, 3))
    distinct, row_of_input = distinct_rows(rows)
    expected, place = np.unique(rows, axis=0, return_inverse=True)
    assert len(distinct) < 300
    assert np.array_equal(distinct, expected)
    assert np.array_equal(row_of_input, place.reshape(-1))
