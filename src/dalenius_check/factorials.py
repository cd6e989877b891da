"""Logarithms of factorials, by Stirling's series."""

from __future__ import annotations

from math import comb, factorial

from .arithmetic import arb, chosen, fmpq
from .real_noise import arctangent

_EXACT = 1024


class Factorials:
    """Balls around log x!, at the precision that they were begun at."""

    def __init__(self) -> None:
        # log(2 pi) / 2, and of x^-(2 j + 1)
        self._half = (8 * arctangent(arb(1))).log() / 2
        self._terms = list[fmpq]()
        bernoulli = [fmpq(1)]
        tiny = fmpq(1, 1 << chosen().precision())
        while not self._terms or abs(self._terms[-1]) > tiny * _EXACT ** (2 * len(self._terms) - 1):
            m = len(bernoulli)
            bernoulli.append(-sum((comb(m + 1, k) * b for k, b in enumerate(bernoulli)), fmpq(0)) / (m + 1))
            if m % 2 == 0:
                self._terms.append(bernoulli[m] / (m * (m - 1)))

    def log(self, x: int) -> arb:
        """log x!.

        Bound because the series envelops: what is left out is between 0 and the first term that is.
        """
        if x < _EXACT:
            return arb(factorial(x)).log()
        *terms, last = self._terms
        one = arb(x)
        power = arb(1) / x
        square, result = power * power, (one + arb(1) / 2) * one.log() - one + self._half
        for term in terms:
            result += arb(term) * power
            power = power * square
        return result + arb(0).union(arb(last) * power)
