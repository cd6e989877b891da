"""Which sums letters of several records can have, without their numbers."""

from __future__ import annotations

from itertools import pairwise
from math import gcd

from .allowance import Allowance, limit
from .counts import Groups

_MAX_SPAN = 1 << 22


def reached(parts: Groups, modulus: int, allowance: Allowance) -> list[int]:
    """The sums that some letters reach, ascending; modulo the modulus, unless it is 0."""
    low = sum(min(c) * times for c, times in parts.items())
    step = 1 if modulus else gcd(*(x - c[0] for c in parts for x in c)) or 1
    span = sum((max(c) - min(c)) // step * times for c, times in parts.items())
    width = modulus or span + 1
    limit(width <= _MAX_SPAN, f"sums that span more than {_MAX_SPAN} values")
    allowance.room(width)
    found = 1  # bit j stands for low + step j
    for c, times in parts.items():
        shifts = sorted({(x - min(c)) // step % width for x in c})
        found = _added(found, shifts, times, width, allowance)
    sums = (low + step * j for j, bit in enumerate(reversed(bin(found))) if bit == "1")
    return sorted(x % modulus for x in sums) if modulus else list(sums)


def _added(found: int, shifts: list[int], times: int, width: int, allowance: Allowance) -> int:
    """The same after so many more parts, each of which adds one of these."""
    whole = (1 << width) - 1
    for left in range(times, 0, -1):
        allowance.look()
        if not found & (found + 1) and all(b - a <= found.bit_length() for a, b in pairwise(shifts)):
            return whole >> max(width - found.bit_length() - left * shifts[-1], 0)  # intervals stay intervals
        more = 0
        for shift in shifts:
            more |= found << shift
        more = (more | more >> width) & whole
        if more == found:
            return found  # none of what is left adds any
        found = more
    return found
