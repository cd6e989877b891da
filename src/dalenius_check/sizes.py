"""How many entries a channel may have, and what they are counted as."""

from __future__ import annotations

from .allowance import BALL, CELL, Allowance
from .numbers import need

MAX_ENTRIES = 1 << 24
_MAX_KEPT = 1 << 22  # entries up to which the matrix of balls is kept
BLOCK = 1 << 16  # entries of the rows that are taken together


def take_entries(inputs: int, outputs: int, allowance: Allowance, size: int) -> None:
    """Count the rows, of entries of so many bytes, and the matrices that are kept or made one after the other."""
    need(inputs * outputs <= MAX_ENTRIES, f"the channel has more than {MAX_ENTRIES} entries")
    entries = inputs * outputs
    allowance.take(entries * size + kept_size(entries, allowance) + 3 * min(entries, BLOCK) * BALL)


def kept_size(entries: int, allowance: Allowance) -> int:
    """The bytes of the matrices of balls that are kept: none, where they are large for what is allowed."""
    return entries * CELL if entries <= _MAX_KEPT and 4 * entries * CELL <= allowance.memory * 2**20 else 0
