"""Gaussian noise on bounded inputs: privacy profiles, capacities with a proof of optimality, and finite sets of inputs, in balls;
and the best noise on a lattice."""

from dalenius.conversions.gaussian.amplitude import AmplitudeCapacity, amplitude_capacity, amplitude_of
from dalenius.conversions.gaussian.inputs import (
    ListedInputs,
    chi_square,
    gaussian_delta,
    gaussian_information,
    information_of_profile,
    saddle_value,
)
from dalenius.conversions.gaussian.lattice import LeastPower, least_power, shaped_power

__all__ = [
    "AmplitudeCapacity",
    "LeastPower",
    "ListedInputs",
    "amplitude_capacity",
    "amplitude_of",
    "chi_square",
    "gaussian_delta",
    "gaussian_information",
    "information_of_profile",
    "least_power",
    "saddle_value",
    "shaped_power",
]
