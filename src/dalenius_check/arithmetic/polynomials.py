"""Polynomials with coefficients >= 0, of any size, as far as counting needs them."""

from __future__ import annotations

from collections.abc import Sequence


class Polynomial:
    """A polynomial by its coefficients in ascending order; the names are those of python-flint's `fmpz_poly`."""

    def __init__(self, coefficients: Sequence[int]) -> None:
        length = max((j + 1 for j, c in enumerate(coefficients) if c), default=0)
        self._coefficients = list(coefficients[:length])

    def coeffs(self) -> list[int]:
        """The coefficients up to the last that is not 0."""
        return list(self._coefficients)

    def length(self) -> int:
        """Their number."""
        return len(self._coefficients)

    def degree(self) -> int:
        """The largest power; -1 of zero."""
        return len(self._coefficients) - 1

    def __mul__(self, other: Polynomial) -> Polynomial:
        """Both are evaluated at a power of 2 so large that the product's coefficients can be read off its value."""
        a, b = self._coefficients, other._coefficients
        if not a or not b:
            return Polynomial([])
        width = (max(a).bit_length() + max(b).bit_length() + len(a).bit_length()) // 8 + 1
        left = _packed(a, width)
        value = left * (left if a is b else _packed(b, width))
        text = value.to_bytes(width * (len(a) + len(b)), "little")
        return Polynomial([int.from_bytes(text[k : k + width], "little") for k in range(0, len(text), width)])

    def __mod__(self, cycle: Polynomial) -> Polynomial:
        """The remainder by x^n - 1, which makes x^n one."""
        size = cycle.degree()
        return Polynomial([sum(self._coefficients[k::size]) for k in range(size)])

    def __pow__(self, times: int) -> Polynomial:
        """Coefficient by coefficient: for the power q of p, p_0 != 0, k p_0 q_k = sum_i>0 (i (times + 1) - k) p_i q_(k-i).

        Exact because this compares the coefficients of x^k in p x q' = times x p' q.
        """
        low = next(j for j, c in enumerate(self._coefficients) if c)  # p = x^low times what has p_0 != 0
        first, *others = self._coefficients[low:]
        steps = [(i, c) for i, c in enumerate(others, 1) if c]
        power = [first**times]
        for k in range(1, len(others) * times + 1):
            power.append(sum((i * (times + 1) - k) * c * power[k - i] for i, c in steps if i <= k) // (k * first))
        return Polynomial([0] * (low * times) + power)


def _packed(coefficients: Sequence[int], width: int) -> int:
    return int.from_bytes(b"".join(c.to_bytes(width, "little") for c in coefficients), "little")
