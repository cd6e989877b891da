"""Priors with a floor: the reference dataset, priors drawn at random, and the limit."""

import math

import numpy as np
import pytest

from campaigns import each
from dalenius.conversions import (
    conditional_leakage_with_floor,
    correlated_record_leakage,
    dataset_leakage_with_floor,
    record_leakage_with_floor,
)
from support import refused

RELEASE = [["0.9", "0.1"], ["0.7", "0.3"], ["0.6", "0.4"], ["0.2", "0.8"]]
TABLE = {
    record_leakage_with_floor: (0.7444404749, 1.062894206, 1.34726407, 1.385894461, 1.386294321),
    conditional_leakage_with_floor: (0.8266785732, 1.123930097, 1.356735559, 1.385994406, 1.386294331),
    dataset_leakage_with_floor: (1.214444104, 1.660731207, 2.030460919, 2.078941647, 2.079441492),
}


@each("told", *TABLE)
def test_reference_values(told):
    for floor, value in zip(("0.25", "0.1", "0.01", "1e-4", "1e-8"), TABLE[told], strict=True):
        assert told(RELEASE, 2, floor) == pytest.approx(value, abs=1e-9)


def test_the_correlated_prior():
    for share, value in (("0.1", 1.418382676), ("0.01", 1.988801914), ("1e-4", 2.078492005), ("1e-8", 2.079441447)):
        assert correlated_record_leakage(RELEASE, 2, share) == pytest.approx(value, abs=1e-9)
    first_says_less = [[0.9, 0.1], [0.1, 0.9], [0.5, 0.5], [0.5, 0.5]]
    assert correlated_record_leakage(first_says_less, 2, "1e-9") == pytest.approx(math.log(9), abs=1e-7)


def test_no_product_prior_with_the_floor_tells_more():
    draw = np.random.default_rng(5)
    rows = draw.dirichlet(np.ones(3), size=9).round(6)
    rows[:, 2] = 1 - rows[:, 0] - rows[:, 1]
    floor, release = 0.1, [[f"{entry:.6f}" for entry in row] for row in rows]
    bounds = record_leakage_with_floor(release, 3, "0.1"), dataset_leakage_with_floor(release, 3, "0.1")
    cube, most = rows.reshape(3, 3, 3), [0.0, 0.0]
    for _ in range(300):
        a, b = (floor + 0.7 * draw.dirichlet(np.full(3, 0.1)) for _ in range(2))
        outputs = np.einsum("i,j,ijy->y", a, b, cube)
        records = max(
            (np.einsum("j,ijy->iy", b, cube) / outputs).max(), (np.einsum("i,ijy->jy", a, cube) / outputs).max()
        )
        most = [max(most[0], math.log(records)), max(most[1], math.log((rows / outputs).max()))]
    assert all(found - 0.05 < reached <= found for reached, found in zip(most, bounds, strict=True))


def test_zeros_and_refusals():
    assert conditional_leakage_with_floor([[1, 0], [0, 1]], 2, 0) == math.inf
    assert conditional_leakage_with_floor([[1, 0], [1, 0]], 2, 0) == 0.0
    refused(lambda: conditional_leakage_with_floor(RELEASE[:3], 2, 0), "power of 2")
    refused(lambda: dataset_leakage_with_floor(RELEASE, 2, "0.6"), "floor")
