"""What a sanitizer is learned with and from, and what held-out data say of it: estimates and confidence bounds, never a proof."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError

STEPS, DIGIT_STEPS = 900, 3000  # of a sanitizer: images come back worse after fewer


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How Algorithm 1 is run. The paper says samples, batch and depth; all else it leaves open, and the defaults are ours.

    Attributes
    ----------
    root_budget : float
        sqrt(eta), what the root of the chi-square divergence may be.
    weight : float
        lambda, what an excess costs.
    ridge : float
        lambda_m, added to E_q g^2 in the critic's value, eq. (21).
    width, depth : int
        Of every network.
    noise : int
        Dimension of the sanitizer's noise N.
    samples, batch : int
        Draws to learn from, and how many of them a step sees.
    steps, inner_steps, warm_up : int
        Steps of the sanitizer (`DIGIT_STEPS`, 3000, are what images want); of critic and classifier for each of them; of the
        critic before the first.
    starts : int
        Sanitizers that are begun: the best after a quarter of the steps goes on.
    rate : float
        Adam's step size; that of the sanitizer falls linearly to 0 (without that the last steps oscillate about the budget).
    tests : int
        Draws held out: as many again teach a fresh attack.
    confidence : float
        Of every bound from held-out samples.
    seed : int
        Of everything random.

    Raises
    ------
    InputError
        If a number is out of range.
    """

    root_budget: float
    weight: float = 2.0
    ridge: float = 1e-3
    width: int = 64
    depth: int = 5
    noise: int = 5
    samples: int = 4000
    batch: int = 500
    steps: int = STEPS
    inner_steps: int = 5
    warm_up: int = 300
    starts: int = 1
    rate: float = 1e-3
    tests: int = 20_000
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        for one in dataclasses.fields(self):
            value, least = getattr(self, one.name), 0 if one.name in ("seed", "warm_up", "ridge", "weight") else None
            whole = one.type == "int"
            if (
                isinstance(value, bool)
                or not isinstance(value, int if whole else int | float)
                or not math.isfinite(value)
            ):
                raise InputError(f"{one.name}: expected {'an integer' if whole else 'a number'}, got {value!r}")
            if value < 0 or (value == 0 and least is None):
                raise InputError(
                    f"{one.name}: expected a {'nonnegative' if least == 0 else 'positive'} number, got {value!r}"
                )
        if not self.confidence < 1:
            raise InputError(f"confidence: expected a number between 0 and 1, got {self.confidence!r}")
        if self.batch > self.samples:
            raise InputError(f"batch: expected at most the {self.samples} samples, got {self.batch}")


@dataclass(frozen=True)
class Samples:
    """Draws of the data, and of what is secret and what is useful about each.

    Attributes
    ----------
    data : array of doubles, m x d
    secret, label : arrays of m integers
        From 0 on.
    """

    data: NDArray[np.float64]
    secret: NDArray[np.int64]
    label: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.data)

    def take(self, rows: NDArray[np.int64] | slice) -> Samples:
        """Some of them."""
        return Samples(self.data[rows], self.secret[rows], self.label[rows])


@dataclass(frozen=True)
class Attack:
    """How well a fresh network guesses.

    Attributes
    ----------
    accuracy, loss : float
        On held-out draws: the share of right guesses, and the mean cross-entropy in nats.
    at_least : float
        A lower confidence bound of the accuracy.
    """

    accuracy: float
    loss: float
    at_least: float


@dataclass(frozen=True)
class Outcome:
    """A sanitizer, audited.

    Attributes
    ----------
    attack, utility : Attack
        Networks that learned S, and U, from releases, after the sanitizer was done.
    critic : float
        A fresh critic's estimate of sqrt chi2(S; Y), from below but for chance.
    root_chi_square_at_least : float
        A lower confidence bound of sqrt chi2(S; Y), from attack and critic, whichever is larger (each with its own confidence).
    error : float or None
        The mean squared error of what an autoencoder makes of its releases.
    """

    attack: Attack
    utility: Attack
    critic: float
    root_chi_square_at_least: float
    error: float | None = None
