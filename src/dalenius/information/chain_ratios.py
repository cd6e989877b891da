"""The largest log-ratio of a stationary binary chain's count with two-sided geometric or Laplace noise, in closed form, in balls."""

from __future__ import annotations

from fractions import Fraction

from flint import arb, ctx

from dalenius.information.balls import ball

__all__ = ["least_scale", "probabilities_of_ends"]

Moves = tuple[Fraction, Fraction]
_Matrix = tuple[arb, arb, arb, arb]
BITS = 128  # of a search for a scale
DIGITS = 40  # binary ones of a scale that is proved


def probabilities_of_ends(count: int, record: int, moves: Moves, epsilon: Fraction) -> list[list[arb]]:
    """P(Y <= 0 | X_i = x), P(Y >= n | X_i = x) and what is left, a row for x = 0 and one for x = 1: balls of the set precision.

    X is a stationary chain of n = `count` records with P(0 -> 1) and P(1 -> 0) = `moves`, S its ones, and Y = S + noise with
    P(noise = k) proportional to q^|k|, q = e^-epsilon. So

        P(Y <= 0 | x) = E[q^S | x] / (1 + q),    P(Y >= n | x) = E[q^(n-S) | x] / (1 + q),

    and E[w^S | X_i = x] = w^x F_i(x) F_{n-1-i}(x) with F_k = (T diag(1, w))^k (1, 1), T the matrix of the moves: what comes before a
    record of a stationary chain of two states has the law of what follows it.

    Where the moves add up to at most 1, no output tells X_i = 0 and X_i = 1 better apart than these two, and no chain with larger
    moves has a larger ratio there (docs/theory.md, Markov chains).

    >>> rows = probabilities_of_ends(3, 1, (Fraction(1, 2), Fraction(1, 2)), Fraction(1))
    >>> [round(float((rows[x][1] / rows[1 - x][1]).log()), 9) for x in (0, 1)]  # fair independent bits
    [-1.0, 1.0]
    """
    q, steps = (-ball(epsilon)).exp(), (record, count - 1 - record)
    rows = list[list[arb]]()
    for letter in (0, 1):
        ends = list[arb]()
        for known, (up, down) in ((letter, moves), (1 - letter, moves[::-1])):
            weight = q**known / (1 + q)
            for k in steps:
                weight *= _sums(ball(up), ball(down), q, k)[known]
            ends.append(weight)
        rows.append([*ends, 1 - ends[0] - ends[1]])
    return rows


def least_scale(count: int, record: int, moves: Moves, budget: Fraction) -> Fraction:
    """A scale 1/epsilon of discrete or continuous Laplace noise on the number of ones that keeps every log-ratio within the budget.

    It is less than 1e-9 of itself above the least one: proved in balls, found by bisection, because the largest log-ratio

        epsilon + log R_i + log R_{n-1-i},    R_k = F_k(1) / F_k(0) at w = e^epsilon,

    or the same with the two moves exchanged, grows with epsilon. Of all chains whose moves are at least these (and sum to at most 1)
    this one needs the largest scale.

    Parameters
    ----------
    count, record : int
    moves : pair of Fraction
        P(0 -> 1) and P(1 -> 0), above 0, with a sum of at most 1.
    budget : Fraction
        In nats, above 0.

    >>> float(least_scale(100_000, 50_000, (Fraction(1, 100), Fraction(1, 100)), Fraction(1, 2))) < 204
    True
    """
    with ctx.workprec(BITS):
        low, high = Fraction(0), budget  # epsilons: the largest log-ratio is at least epsilon
        for _ in range(DIGITS + count.bit_length()):
            middle = (low + high) / 2
            if _kept(count, record, moves, budget, middle):
                low = middle
            else:
                high = middle
            if low and high - low <= low / 2**DIGITS:
                break
    return 1 / low


def _kept(count: int, record: int, moves: Moves, budget: Fraction, epsilon: Fraction) -> bool:
    """Whether it is proved that no log-ratio exceeds the budget."""
    rows = probabilities_of_ends(count, record, moves, epsilon)
    return all(bool((one[k] / other[k]).log() <= ball(budget)) for one, other in (rows, rows[::-1]) for k in (0, 1))


def _sums(up: arb, down: arb, weight: arb, times: int) -> tuple[arb, arb]:
    """(T diag(1, w))^k (1, 1): sums of products of positive numbers, so that balls stay narrow."""
    step = (1 - up, up * weight, down, (1 - down) * weight)
    power: _Matrix = (arb(1), arb(0), arb(0), arb(1))
    for bit in bin(times)[2:]:
        power = _product(power, power)
        if bit == "1":
            power = _product(power, step)
    a, b, c, d = power
    return a + b, c + d


def _product(left: _Matrix, right: _Matrix) -> _Matrix:
    (a, b, c, d), (e, f, g, h) = left, right
    return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h
