"""What every limit about a secret is to a program: a convex constraint in cones, and tangents that bound it from below.

Notation: P(s,x) is the law of secret and input, pi(s) its margin; u(s,y) = sum_x P(s,x) Q(x,y), W(s,y) = u(s,y)/pi(s) and
r(y) = sum_s u(s,y) belong to the output of a mechanism Q. Every measure here is convex in Q, homogeneous of degree 1 in u up to a
constant, so that each of its tangents is sum_sy L(s,y) u(s,y) - constant with some slopes L.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import cvxpy as cp
import numpy as np

from dalenius.information.arrays import Floats

__all__ = ["Constraints", "SecretPart", "Tangents", "Variables", "rounded"]

Variables = dict[str, cp.Variable]
Constraints = dict[str, cp.Constraint]
Tangents = tuple[Floats, Floats]  # weights (R,) of at least 0, and hints (R, width)
DIGITS = 13  # of a hint


class SecretPart(ABC):
    """C_i(Q) <= at_most for i = 0, 1, ..., about one law of a secret; its multipliers are weights and hints, a tangent for each i.

    Parameters
    ----------
    masses : (letters, inputs)
        P(s,x), each letter with mass.
    at_most : float

    Attributes
    ----------
    pi : (letters,)
    """

    def __init__(self, masses: Floats, at_most: float) -> None:
        self.masses, self.at_most = masses, at_most
        self.pi = np.asarray(masses.sum(axis=1))

    @property
    def letters(self) -> int:
        return len(self.masses)

    @property
    @abstractmethod
    def count(self) -> int:
        """How many tangents there are."""

    @abstractmethod
    def width(self, outputs: int) -> int:
        """How many numbers a hint has."""

    @abstractmethod
    def model(self, u: cp.Expression, r: cp.Expression, allowed: cp.Expression) -> tuple[Variables, Constraints]:
        """C(Q) <= allowed for all i, in cones, by names."""

    @abstractmethod
    def tangents(self, duals: Mapping[str, Floats]) -> Tangents | None:
        """Those that a solver's multipliers of the model are; None where one is missing."""

    @abstractmethod
    def slopes(self, i: int, hint: Floats) -> tuple[Floats, Floats]:
        """L_i(s,y), and the size of what is summed in it."""

    @abstractmethod
    def values(self, u: Floats) -> Floats:
        """C_i, one for each tangent or one for all."""

    def valid(self, hints: Floats) -> Floats:
        """The nearest hints that are allowed, in few digits."""
        return rounded(np.nan_to_num(hints, nan=1.0, posinf=1.0, neginf=1.0))

    def behind(self, i: int, hint: Floats) -> float:
        """The constant of a tangent and `at_most`: what is subtracted for a weight of 1."""
        return self.at_most

    def turned(self, weights: Floats, hints: Floats) -> Tangents:
        """More tangents near these, where a solver's are not exact enough; by default none."""
        return weights, hints

    def nothing(self, outputs: int) -> Tangents:
        """Weights of 0."""
        return np.zeros(self.count), self.valid(np.ones((self.count, self.width(outputs))))

    def excess(self, Q: Floats) -> float:
        """By how much the measure is too large, negative where there is room."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.max(self.values(self.masses @ Q), initial=-np.inf)) - self.at_most

    def combined(self, weights: Floats, hints: Floats) -> tuple[Floats, Floats, float]:
        """sum_i weight_i g_i(x,y) with g_i = sum_s P(s,x) L_i(s,y), its size, and what is subtracted."""
        total, size, spent = np.zeros((self.letters, 1)), np.zeros((self.letters, 1)), 0.0
        for i in np.flatnonzero(weights > 0.0).tolist():
            slopes, sizes = self.slopes(i, hints[i])
            total, size = total + weights[i] * slopes, size + weights[i] * sizes
            spent += weights[i] * self.behind(i, hints[i])
        return self.masses.T @ total, self.masses.T @ size, spent


def rounded(hints: Floats) -> Floats:
    """Numbers in few digits: a certificate has each of them."""
    return np.array([float(f"{x:.{DIGITS}g}") for x in np.asarray(hints).reshape(-1)]).reshape(np.shape(hints))
