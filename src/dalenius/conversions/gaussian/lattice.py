"""Best-case noise on a lattice: the least power of noise that limits what inputs of limited power, or amplitude, tell; certified."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalenius.errors import DaleniusError, InputError
from dalenius.information.arrays import Floats
from dalenius.information.capacity import capacity
from dalenius.programs import CertifiedInterval, certify
from dalenius.programs.plain import lattice_noise

SOLVER = "CLARABEL"
SPARE = 1e-10  # nats of the limit, of which every summand gets a part, so that doubles decide that a point is inside
WIDER = 1e-2  # by how much more power the noise has that a solver's is mixed with
HALVINGS = 45
TINY = 1e-300  # a floor under probabilities
MOST_CONES = 20_000


@dataclass(frozen=True, eq=False)
class LeastPower:
    """The least power of noise on a lattice within an interval that is proved.

    Attributes
    ----------
    lower, upper : float
        In the square of the lattice's unit of length.
    positions, noise : (places,)
        Where the noise of power `upper` is, and with which probabilities, rounded to doubles.
    proof : CertifiedInterval
        Its `write` makes the file that `dalenius verify` proves.
    """

    lower: float
    upper: float
    positions: Floats
    noise: Floats
    proof: CertifiedInterval


@dataclass(frozen=True)
class _Lattice:
    """Noise at -reach .. reach and inputs at -most .. most steps, which are symmetric without loss, as the program is convex."""

    information: float
    most: int
    reach: int
    step: float
    power: float | None

    @property
    def places(self) -> np.ndarray:
        """Of the noise."""
        return np.arange(-self.reach, self.reach + 1)

    @property
    def inputs(self) -> np.ndarray:
        return np.arange(self.most + 1)

    @property
    def outputs(self) -> np.ndarray:
        """Of each input (inputs, places), without the sign."""
        return np.abs(self.places[None] + self.inputs[:, None])

    def masses(self, reach: int) -> Floats:
        """Multiplicity of each |place|."""
        return np.concatenate([[1.0], np.full(reach, 2.0)])

    def squares(self) -> Floats:
        """z^2 of each |place|."""
        return np.asarray((np.arange(self.reach + 1) * self.step) ** 2)

    def gaussian(self, variance: float, reach: int) -> Floats:
        """Discrete Gaussian noise, by |place|."""
        law = np.exp(-((np.arange(reach + 1) * self.step) ** 2) / (2.0 * variance))
        return law / (self.masses(reach) @ law)

    def told(self, p: Floats, q: Floats) -> Floats:
        """The summands of the divergences, with a little room."""
        above, below = p[np.abs(self.places)][None], q[self.outputs]
        return above * np.log(above / below) + 0.5 * SPARE / self.places.size

    # ------------------------------------------------------------ points that are feasible

    def near(self, p: Floats) -> Floats:
        """A feasible point of the model near noise that a solver found: mixed with as little as needed of noise with more power."""
        p = np.maximum(p, TINY) / (self.masses(self.reach) @ np.maximum(p, TINY))
        wide = self.gaussian((1.0 + WIDER) * float(self.masses(self.reach) * self.squares() @ p), self.reach)

        def point(share: float) -> tuple[float, Floats]:
            mixed = (1.0 - share) * p + share * wide
            law = capacity(self._rows(mixed), gap=1e-15)
            both = 0.5 * (law.output_law + law.output_law[::-1])[self.reach + self.most :]
            q = both / (self.masses(len(both) - 1) @ both)
            told = self.told(mixed, q)
            return float(told.sum(axis=1).max()), np.concatenate([mixed, q, told.reshape(-1)])

        return self._first(point, 0.0, 1.0)

    def saddle(self) -> Floats:
        """A feasible point of the model with a limit of power, near the saddle point of Theorem 3: both laws are Gaussian."""
        assert self.power is not None
        power = self.power

        def point(scale: float) -> tuple[float, Floats]:
            variance = scale * power / math.expm1(2.0 * self.information)
            p, q = self.gaussian(variance, self.reach), self.gaussian(variance + power, self.reach + self.most)
            told, lam = self.told(p, q), 0.5 / (variance + power)
            t = float(np.max(told.sum(axis=1) - lam * (self.inputs * self.step) ** 2)) + 0.1 * SPARE
            return t + lam * power, np.concatenate([p, q, told.reshape(-1), [lam, t]])

        return self._first(point, 0.5, 2.0)

    def _rows(self, p: Floats) -> Floats:
        """The channel from the inputs, on both sides, to the outputs."""
        both = p[np.abs(self.places)]
        return np.stack([np.pad(both, (self.most + x, self.most - x)) for x in range(-self.most, self.most + 1)])

    def _first(self, point: Callable[[float], tuple[float, Floats]], low: float, high: float) -> Floats:
        """The point of the least number that reveals no more than is allowed, by bisection."""
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if point(middle)[0] <= self.information - 0.1 * SPARE else (middle, high)
        return point(high)[1]


def least_power(
    information: float, *, most: int, reach: int, step: float = 1.0, power: float | None = None
) -> LeastPower:
    """The least E Z^2 of noise Z with which inputs reveal at most so much: max over X of I(X; X + Z) <= information.

    Inputs X and the noise are multiples of `step`, at most `most` and `reach` of them from 0. With `power` only inputs with
    E X^2 <= power count; without, all. By the minimax theorem what they reveal is at most `information` exactly if for some law q and
    some lam >= 0, D( p(. - x) || q ) <= information - lam (power - x^2) for every x, which is convex in p, q and lam.

    Parameters
    ----------
    information : float
        Above 0, in nats.
    most, reach : int
        At least 1. Noise that may reach farther needs no more power; inputs that may need no less.
    step : float
        Above 0.
    power : float, optional
        Above 0.

    Returns
    -------
    LeastPower
        Both ends are proved by the independent checker (docs/own-models.md); of this lattice, not of the real line.

    Raises
    ------
    InputError
        If an argument is out of range, or the lattice has more than 20,000 pairs of an input and a place of the noise.
    DaleniusError
        If nothing was proved: the noise does not reach far enough for so little information.

    Notes
    -----
    Source: Ngo et al., Theorem 3, whose saddle value (1/2) log(1 + power/E Z^2) it comes to; without a limit of the power Gaussian
    noise is not the best.

    >>> found = least_power(0.1, most=1, reach=12)
    >>> found.lower <= 4.50712137 <= found.upper < shaped_power("gaussian", 0.1, most=1, reach=12)
    True
    """
    _check(information, most, reach, step, power)
    lattice = _Lattice(information, most, reach, step, power)
    model = lattice_noise(information, most, reach, step, power)
    first = certify(model, solver=SOLVER)
    if first.multipliers is None or not math.isfinite(first.lower):
        raise DaleniusError(
            f"nothing was proved about noise within {reach} steps that lets through {information:g} nats; let it reach farther"
        )
    start = next(np.asarray(a.point["x"]) for a in first.attempts if "x" in a.point)[: reach + 1]
    point = lattice.near(start) if power is None else lattice.saddle()
    proof = certify(model, solver=SOLVER, x=point, z=first.multipliers)
    proof = proof if proof.upper < first.upper else first
    if not math.isfinite(proof.upper):
        raise DaleniusError(
            f"no noise within {reach} steps was proved to let through {information:g} nats only; let it reach farther"
        )
    noise = np.asarray(proof.values["p"])[np.abs(lattice.places)]
    return LeastPower(proof.lower, proof.upper, lattice.places * step, noise, proof)


def shaped_power(shape: str, information: float, *, most: int, reach: int) -> float:
    """E Z^2 of discrete noise of a shape, cut off at `reach`, with which inputs -most .. most reveal so much; in doubles, no bound.

    Parameters
    ----------
    shape : str
        "gaussian", exp(-z^2 / 2 s^2), or "laplace", exp(-|z| / s), on the integers.
    information : float
        Above 0, in nats.
    most, reach : int
        At least 1.

    Raises
    ------
    InputError
        If an argument is out of range.

    >>> round(shaped_power("laplace", 0.1, most=1, reach=12), 6)
    7.062116
    """
    _check(information, most, reach, 1.0, None)
    if shape not in ("gaussian", "laplace"):
        raise InputError(f'shape: expected "gaussian" or "laplace", got {shape!r}')
    low, high = 0.0, 2.0 * reach
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _of_shape(shape, middle, most, reach)[1] > information else (low, middle)
    return _of_shape(shape, high, most, reach)[0]


def _of_shape(shape: str, scale: float, most: int, reach: int) -> tuple[float, float]:
    """Power, and capacity."""
    z = np.arange(-reach, reach + 1)
    with np.errstate(divide="ignore", under="ignore", over="ignore"):
        law = np.exp(-(z**2) / (2.0 * scale**2) if shape == "gaussian" else -np.abs(z) / scale)
    law = np.maximum(law / law.sum(), TINY)
    rows = np.stack([np.pad(law, (most + x, most - x), constant_values=TINY) for x in range(-most, most + 1)])
    return float(law @ z**2), capacity(rows / rows.sum(axis=1, keepdims=True), gap=1e-12).upper


def _check(information: float, most: int, reach: int, step: float, power: float | None) -> None:
    numbers = {"information": information, "step": step} | ({} if power is None else {"power": power})
    for name, value in numbers.items():
        if not (math.isfinite(value) and value > 0.0):
            raise InputError(f"{name}: expected a finite number above 0, got {value!r}")
    for name, count in (("most", most), ("reach", reach)):
        if count != int(count) or count < 1:
            raise InputError(f"{name}: expected a whole number of steps, at least 1, got {count!r}")
    if (most + 1) * (2 * reach + 1) > MOST_CONES:
        raise InputError(f"most, reach: expected at most {MOST_CONES} pairs of an input and a place of the noise")
