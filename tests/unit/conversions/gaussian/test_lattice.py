"""The best noise on a lattice: Gaussian against inputs of limited power, and not against inputs of limited amplitude."""

import math

import numpy as np
import pytest
from flint import arb

from campaigns import thinned
from cvxcertify.check import check_interval
from dalenius.conversions.gaussian import least_power, saddle_value, shaped_power
from dalenius.errors import DaleniusError, InputError
from dalenius.information.capacity import capacity

PEAK = [  # nats, largest input, reach: the least power, as a solver gave it, that of discrete Gaussian and of discrete Laplace noise
    (0.1, 1, 12, 4.50712137, 4.51168479, 7.06211585),
    (0.05, 1, 16, 9.50385881, 9.50692485, 15.52958209),
    (0.1, 2, 25, 18.02847425, 18.04673930, 27.24435319),
]


@pytest.mark.parametrize(("information", "most", "reach", "solver", "gaussian", "laplace"), thinned(PEAK, every=3))
def test_against_inputs_of_limited_amplitude_gaussian_noise_is_not_the_best(
    information, most, reach, solver, gaussian, laplace
):
    """The catalogue's second value, a solver's, is 1.7e-6 below what is proved."""
    found = least_power(information, most=most, reach=reach)
    assert found.lower - 2e-6 < solver < found.upper
    assert found.upper - found.lower < 2e-6 * found.upper
    for shape, value in (("gaussian", gaussian), ("laplace", laplace)):
        assert shaped_power(shape, information, most=most, reach=reach) == pytest.approx(value, abs=1e-8 + 1e-9 * value)
        assert found.upper < value
    rows = np.stack([np.pad(found.noise, (most + x, most - x)) for x in range(-most, most + 1)])
    assert capacity(np.maximum(rows, 1e-300)).lower <= information
    assert found.noise @ found.positions**2 == pytest.approx(found.upper, rel=1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("reach", [24, 28])
def test_against_inputs_of_limited_power_gaussian_noise_is_the_best(reach, tmp_path):
    """Delta = 1, 0.1 nats, step 0.5; the catalogue's 4.516654 is a solver's, and below what is proved."""
    found = least_power(0.1, most=10, reach=reach, step=0.5, power=1.0)
    gaussian = 1.0 / math.expm1(0.2)
    assert gaussian == pytest.approx(4.516656, abs=5e-7)
    assert 4.516654 < found.lower < found.upper < gaussian + 1e-6
    assert found.lower > gaussian - 2e-6
    assert float(saddle_value(arb(1), arb(found.upper), 1)) == pytest.approx(0.1, abs=1e-7)
    law = np.exp(-(found.positions**2) / (2.0 * gaussian))
    assert np.abs(found.noise - law / law.sum()).max() < 8e-7
    assert check_interval(found.proof.write(tmp_path / "interval.json").read_bytes()).proved


def test_what_is_no_lattice_is_refused():
    for wrong in (
        {"most": 0},
        {"reach": 1.5},
        {"step": 0.0},
        {"power": math.nan},
        {"information": -1.0},
        {"reach": 10**6},
    ):
        with pytest.raises(InputError, match="expected"):
            least_power(**{"information": 0.1, "most": 1, "reach": 5} | wrong)
    with pytest.raises(InputError, match="gaussian"):
        shaped_power("uniform", 0.1, most=1, reach=5)
    with pytest.raises(DaleniusError, match="reach farther"):
        least_power(1e-4, most=3, reach=1)
