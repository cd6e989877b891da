"""Exact samplers: uniform integers, and noise with exactly the probabilities of its formula (Canonne, Kamath and Steinke 2020).

No double is involved: every choice is an integer drawn below another one.
"""

from __future__ import annotations

import math
import random
import secrets
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from dalenius.errors import InputError, brief

Random: TypeAlias = random.Random | np.random.Generator


def need_random(rng: Random | None) -> None:
    """Raise `InputError` for what is no generator; None is the operating system's entropy."""
    if rng is not None and not isinstance(rng, random.Random | np.random.Generator):
        raise InputError(f"rng: expected a random.Random, a numpy Generator or None, got {brief(rng)}")


def drawn_below(below: int, rng: Random | None) -> int:
    """A uniform integer from 0, ..., below - 1: bits, as many as below - 1 has, drawn again until they are no larger than it."""
    if rng is None:
        return secrets.randbelow(below)
    bits = (below - 1).bit_length()
    while (drawn := _bits(bits, rng)) >= below:
        pass
    return drawn


def _bits(bits: int, rng: Random) -> int:
    if isinstance(rng, random.Random):
        return rng.getrandbits(bits)
    return int.from_bytes(rng.bytes(-(-bits // 8)), "little") & ((1 << bits) - 1)


def _is(chance: Fraction, rng: Random | None) -> bool:
    """True with this probability."""
    return drawn_below(chance.denominator, rng) < chance.numerator


def _is_exp(rate: Fraction, rng: Random | None) -> bool:
    """True with probability e^-rate, for a rate of at least 0: e^-1 for each whole one, then the alternating series of the rest."""
    while rate > 1:
        if not _is_exp(Fraction(1), rng):
            return False
        rate -= 1
    terms = 1
    while _is(rate / terms, rng):
        terms += 1
    return terms % 2 == 1


def discrete_laplace_noise(scale: Fraction, rng: Random | None = None) -> int:
    """An integer k with probability a^|k| (1-a)/(1+a), a = e^(-1/scale).

    >>> [discrete_laplace_noise(Fraction(2), random.Random(seed)) for seed in range(8)]
    [1, 0, 1, 0, 0, 0, -1, 0]
    """
    steps, per = scale.numerator, scale.denominator
    while True:
        rest = drawn_below(steps, rng)
        if not _is_exp(Fraction(rest, steps), rng):
            continue
        whole = 0
        while _is_exp(Fraction(1), rng):
            whole += 1
        size, is_negative = (rest + steps * whole) // per, _is(Fraction(1, 2), rng)
        if size or not is_negative:  # 0 has one sign
            return -size if is_negative else size


def discrete_gaussian_noise(scale: Fraction, rng: Random | None = None) -> int:
    """An integer k with probability e^(-k^2/(2 scale^2)) / Z: discrete Laplace noise of a scale beside it, taken or drawn again.

    >>> [discrete_gaussian_noise(Fraction(2), random.Random(seed)) for seed in range(8)]
    [-2, -2, 0, 0, -1, 1, 1, 2]
    """
    beside, variance = Fraction(math.floor(scale) + 1), scale**2
    while True:
        drawn = discrete_laplace_noise(beside, rng)
        if _is_exp((abs(drawn) - variance / beside) ** 2 / (2 * variance), rng):
            return drawn
