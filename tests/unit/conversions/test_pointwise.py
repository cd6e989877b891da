"""Closed forms of pointwise maximal leakage: priors with a floor, and Laplace noise on counts."""

import math

import numpy as np
import pytest

from campaigns import each
from dalenius.conversions import (
    conditional_leakage_with_floor,
    correlated_record_leakage,
    dataset_leakage_with_floor,
    laplace_count_leakage,
    laplace_count_scale,
    laplace_count_tails,
    laplace_dataset_leakage,
    record_leakage_with_floor,
)
from dalenius.errors import InputError
from digits import same
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


# Laplace noise on a share: reference values, brute force over outputs, and the inverse.


@each(
    "c, records, scale, told, simplified",
    ("0", 10, "0.1", 1.0, 1.0),
    ("0.1", 10, "0.1", 0.84143492126, 0.905),
    ("0.3", 10, "0.1", 0.584264778156, 0.745),
    ("0.49", 10, "0.1", 0.389170811641, 0.63005),
    ("0.3", 100, "0.1", 0.0689362381351, 0.07045),
    ("0.3", 1, "0.2", 1.18837323641, 4.625),
)
def test_reference_values_and_their_inverse(c, records, scale, told, simplified):
    found = laplace_count_leakage(records, scale, c=c)
    assert found == pytest.approx(told, rel=3e-12)
    printed = laplace_count_leakage(records, scale, c=c, sharp=False)
    assert found <= printed
    assert simplified <= printed == pytest.approx(simplified, rel=1e-15)
    asked = laplace_count_scale(found, records, c=c)
    assert asked == pytest.approx(float(scale), rel=1e-13)
    assert laplace_count_leakage(records, asked, c=c) <= found * (1 + 1e-15)


def test_e2_7_the_simplified_form_may_exceed_differential_privacy():
    same(laplace_count_leakage(1, "0.05", c="0.49999", sharp=False), "59.998")
    assert laplace_count_leakage(1, "0.05", c="0.49999") < math.log(2) + 1e-4 < laplace_count_leakage(1, "0.05") < 20.1


@each("records, scale, p", (1, 0.1, 0.3), (4, 0.1, 0.2), (10, 0.05, 0.5))
def test_no_output_tells_more(records, scale, p):
    y = np.linspace(-1, 2, 601)[:, None]

    def density(among: int, more: int) -> np.ndarray:
        chances = [math.comb(among, k) * p**k * (1 - p) ** (among - k) for k in range(among + 1)]
        return np.exp(-np.abs(y - (np.arange(among + 1) + more) / records) / scale) @ np.array(chances)

    whole = density(records, 0)
    record = max(np.log(density(records - 1, d) / whole).max() for d in (0, 1))
    assert record == pytest.approx(max(laplace_count_tails(records, scale, p)), abs=1e-12)
    likeliest = np.exp(-np.abs(y - np.arange(records + 1) / records) / scale).max(axis=1)
    assert np.log(likeliest / whole).max() == pytest.approx(laplace_dataset_leakage(records, scale, p), abs=1e-12)


def test_the_whole_dataset():
    assert laplace_dataset_leakage(10, "0.1", "0.5") == pytest.approx(3.7988549304, rel=1e-10)


def test_far_and_refused():
    assert laplace_count_leakage(1, "1e-6") >= 1e6
    assert laplace_count_leakage(1, "1e200", c="0.3") == pytest.approx(0.7e-200, rel=1e-9)
    assert laplace_count_scale(3, 5, c="0.4") == 0.0
    for wrong in ({"c": 0.5}, {"c": -1}, {"scale": 0}, {"records": 0}):
        with pytest.raises(InputError):
            laplace_count_leakage(**{"records": 1, "scale": 1, **wrong})
