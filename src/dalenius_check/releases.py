"""Channels of several answers: randomized bits that are counted, and releases that are made together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import comb, prod
from typing import Any

from .allowance import BALL, NUMBER, PAIR, Allowance
from .arithmetic import arb, fmpq, is_rational
from .noise import power
from .numbers import height, need, powers
from .sizes import MAX_ENTRIES, take_entries

Rows = list[
    list[Any]
]  # exact rationals, or balls; equal entries are one object where they are made from the same numbers


def counted(mechanism: dict[str, Any], inputs: list[int], allowance: Allowance) -> Rows:
    """How many ones are left of a count of bits each of which is turned round at random."""
    n, flip = inputs[-1], mechanism["flip"]
    need(
        n >= 1 and inputs == list(range(n + 1)), "mechanism: randomized_count needs the values 0, 1, ..., n of a count"
    )
    decay = power(mechanism["epsilon"]) if flip is None else None
    turned, kept = (flip, 1 - flip) if decay is None else (decay / (1 + decay), 1 / (1 + decay))
    size = NUMBER + n * height(flip) if decay is None else BALL
    take_entries(n + 1, n + 1, allowance, size)
    pairs = zip(reversed(powers(kept, n)), powers(turned, n), strict=True)
    shares = [one * other for one, other in pairs]  # of n bits, of which d are turned round
    rows = Rows()
    for v in range(n + 1):
        allowance.look()
        if 2 * v > n:
            rows.append(rows[n - v][::-1])
            continue
        rows.append(
            [
                _sum(
                    comb(v, j) * comb(n - v, y - j) * shares[v + y - 2 * j]
                    for j in range(max(0, y - n + v), min(v, y) + 1)
                )
                for y in range(n + 1)
            ]
        )
        if 2 * v == n:
            rows[v][n // 2 + 1 :] = rows[v][: (n + 1) // 2][::-1]
    return rows


def _sum(terms: Iterator[Any]) -> Any:
    first = next(terms)
    return sum(terms, first)


def together(parts: Sequence[tuple[Rows, int]], inputs: int, allowance: Allowance) -> Rows:
    """The outputs of all parts, each of which is released so many times: of each which of its outputs came how often.

    Bound because sequences of one type have equal probabilities, so that their columns are proportional, and merging them leaves
    every information as it is.
    """
    many = [_many(times, len(rows[0])) for rows, times in parts]
    exact = all(is_rational(rows[0][0]) for rows, _ in parts)
    most = sum(times for _, times in parts)
    values = {id(x): x for rows, _ in parts for row in rows for x in row}
    bits = most * max(height(x) if exact else 1 for x in values.values()) + sum(
        times * len(rows[0]).bit_length() for rows, times in parts
    )
    take_entries(inputs, prod(many), allowance, BALL + PAIR + bits // 2)
    allowance.room(sum(many) * 16 * PAIR + len(values) * (most + 1) * (BALL + (bits // 4 if exact else 0)))
    number: Callable[[Any], Any] = fmpq if exact else arb
    raised = {place: powers(number(x), most) for place, x in values.items()}
    types = [list(_types(times, len(rows[0]))) for rows, times in parts]
    ways = [[_sequences(times, counts) for counts in listed] for (_, times), listed in zip(parts, types, strict=True)]
    found = Rows()
    known = dict[Any, Any]()
    for v in range(inputs):
        found.append([])
        for chosen in product(*(zip(*pair, strict=True) for pair in zip(types, ways, strict=True))):
            allowance.look()
            often = dict[int, int]()
            sequences = 1
            for (rows, _), (counts, some) in zip(parts, chosen, strict=True):
                sequences *= some
                for y, count in counts:
                    place = id(rows[v][y])
                    often[place] = often.get(place, 0) + count
            key = sequences, frozenset(often.items())
            if key not in known:
                known[key] = prod((raised[place][count] for place, count in often.items()), start=number(sequences))
            found[-1].append(known[key])
    return found


def _many(times: int, outputs: int) -> int:
    """How many types there are; beyond what a channel may have, any number that is."""
    found = 1
    for j in range(1, outputs):
        found = found * (times + j) // j
        if found > MAX_ENTRIES:
            break
    return found


def _types(times: int, outputs: int, first: int = 0) -> Iterator[tuple[tuple[int, int], ...]]:
    """Which outputs came, and how often; in reverse lexicographic order of all counts."""
    if times == 0:
        yield ()
    for y in range(first, outputs if times else 0):
        for count in range(times, 0, -1) if y < outputs - 1 else (times,):
            for rest in _types(times - count, outputs, y + 1):
                yield (y, count), *rest


def _sequences(times: int, counts: Sequence[tuple[int, int]]) -> int:
    """How many sequences have this type."""
    ways = 1
    for _, count in counts:
        ways *= comb(times, count)
        times -= count
    return ways
