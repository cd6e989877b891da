"""Parts of a class of laws in which many letters have one probability: what a closed form with few groups can be evaluated for."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from dalenius.information.arrays import Integers
from dalenius.information.measures import (
    AllPriors,
    ChiSquareBall,
    KLBall,
    PriorBall,
    PriorBox,
    PriorClass,
    PriorFloor,
)
from dalenius.information.measures.numbers import Numbers, as_numbers, doubles

__all__ = ["coarser"]

ROUNDING = Fraction(1, 10**12)  # of logarithms in doubles, with room
DIGITS = 10**15


def coarser(priors: PriorClass, groups: int) -> PriorClass | None:
    """A class inside this one whose laws have one probability for each of so many groups of letters; None where none is known.

    *Inside because*, c being constant on groups, sum |p - q| <= sum |p - c| + sum |c - q|; D(p || q) = D(p || c) + sum p log(c/q),
    where the second sum is at most the largest mean of log(c/q) over a group if p is constant on groups, too; and likewise
    sum p^2/q <= (1 + chi-square(p || c)) times the largest mean of c/q. What is claimed rests on none of this: a checker decides
    whether a law is in the class.

    >>> near = coarser(PriorBall(np.array([fmpq(3, 10), fmpq(2, 10), fmpq(5, 10)]), fmpq(1, 4)), 2)
    >>> near.center.tolist(), near.radius
    ([1/4, 1/4, 1/2], 3/20)
    """
    match priors:
        case AllPriors() | PriorFloor():
            return priors
        case PriorBox(low=low, high=high):
            lows, highs = as_numbers(low), as_numbers(high)
            of = _groups(doubles(lows + highs), groups)
            return PriorBox(_each(of, lows, max), _each(of, highs, min))
        case PriorBall(center=center, radius=radius) | KLBall(center=center, radius=radius):
            q = as_numbers(center)
            of = _groups(doubles(q), groups)
            c = _each(of, q, lambda part: sum(part, fmpq(0)) / len(part))
            if isinstance(priors, PriorBall):
                return _ball(PriorBall, c, radius - sum((abs(x - y) for x, y in zip(c, q, strict=True)), fmpq(0)))
            if not all(x > 0 for x in q):
                return None
            c = _each(of, q, lambda part: _rational(math.exp(np.mean([math.log(float(x)) for x in part]))))
            c = c / c.sum()
            lost = max(
                np.mean([math.log(float(c[a])) - math.log(float(q[a])) for a in np.flatnonzero(of == g)])
                for g in set(of)
            )
            return _ball(KLBall, c, radius - _rational(lost) - _exact(ROUNDING))
        case ChiSquareBall(center=center, radius=radius):
            q = as_numbers(center)
            if not all(x > 0 for x in q):
                return None
            of = _groups(doubles(q), groups)
            c = _each(of, q, lambda part: len(part) / sum((1 / x for x in part), fmpq(0)))
            c = c / c.sum()
            most = max(
                sum((c[a] / q[a] for a in np.flatnonzero(of == g)), fmpq(0)) / int((of == g).sum()) for g in set(of)
            )
            return _ball(ChiSquareBall, c, (1 + radius) / most - 1)
    return None


def _ball(kind: type[Any], center: Numbers, radius: Any) -> PriorClass | None:
    made: PriorClass | None = kind(center, radius) if radius > 0 else None
    return made


def _groups(values: Any, groups: int) -> Integers:
    """The group of each letter: as many values as there are steps between the least and the largest one, of equal width."""
    low, high = float(np.min(values)), float(np.max(values))
    steps = np.floor((values - low) / max(high - low, 1e-300) * groups)
    return np.asarray(np.minimum(steps, groups - 1), dtype=np.int64)


def _each(of: Integers, values: Numbers, told: Any) -> Numbers:
    """For every letter what its group's values come to."""
    found = np.empty(len(values), dtype=object)
    for g in set(of.tolist()):
        members = np.flatnonzero(of == g)
        found[members] = told([values[a] for a in members])
    return found


def _rational(x: float | np.floating[Any]) -> fmpq:
    return fmpq(math.ceil(float(x) * DIGITS), DIGITS)


def _exact(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)
