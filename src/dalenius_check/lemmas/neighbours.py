"""Theorem D7: the posteriors at neighbouring groups of outputs narrow each other.

If least(a) <= R(k,z)/R(k,y) <= most(a) for all inputs k of each letter a, then the odds of phi(a|z) are at most
most(a) / min over the other letters of least, and at least least(a) / max over the other letters of most, times those of phi(a|y).

Hypotheses, each a line that refuses: all R(k,y) are positive, and what is divided by is; conversely, the odds of phi(a|y) are at
most those of phi(a|z) by the latter factor, and at least those by the former.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..core.allowance import rests_on
from ..core.arithmetic import arb, fmpq
from ..core.bounds import Ranges, Record
from ..core.numbers import largest

_BITS = 256  # odds, shares, and what odds are multiplied by, are whole numbers of 2^-256; odds of 1 are None
_ONE = 1 << _BITS
Odds = tuple[list[int | None], list[int | None]]  # of the ends of ranges, rounded outward


class Neighbours:
    """Factors of the odds of phi(a|g+1), at most and at least those of phi(a|g) times them, and back; 0 where nothing is known."""

    def __init__(self, record: Record) -> None:
        rests_on(record.channel.allowance, "D7")
        outputs = record.channel.outputs
        forth = [(g, g + 1, a, up, down) for g in range(outputs - 1) for a, up, down in _factors(record, g)]
        back = [(there, g, a, _inverse(down), _inverse(up)) for g, there, a, up, down in reversed(forth)]
        self._steps = [(*places, _above(up), _below(down)) for *places, up, down in (*forth, *back)]
        self._last: list[tuple[Ranges | None, Odds]] = [(None, ([], []))] * outputs
        self._made: list[tuple[Odds | None, Ranges]] = [(None, Ranges((), ()))] * outputs

    def narrowed(self, families: Iterable[Ranges]) -> list[Ranges]:
        """The ranges of phi(.|g) for each g, from others that have ends; some have none if no prior is in the box.

        Bound because the theorem holds of any ranges, those that it narrowed included, and all is rounded outward.
        """
        odds = [self._odds(g, ranges) for g, ranges in enumerate(families)]
        los, his = [low.copy() for low, _ in odds], [high.copy() for _, high in odds]
        for here, there, a, up, down in self._steps:
            lo, hi = los[here][a], his[here][a]
            old_lo, old_hi = los[there][a], his[there][a]
            if up and hi is not None:
                moved = -(-hi * up >> _BITS)
                his[there][a] = moved if old_hi is None else min(moved, old_hi)
            if down and old_lo is not None:
                los[there][a] = None if lo is None else max(lo * down >> _BITS, old_lo)
        return [self._tightened(g, odds) for g, odds in enumerate(zip(los, his, strict=True))]

    def _tightened(self, g: int, odds: Odds) -> Ranges:
        """The ranges with these odds at a group, and what was worked out from them, kept while these are the same."""
        last, ranges = self._made[g]
        if odds != last:
            self._made[g] = odds, (ranges := _Narrowed(*odds))
        return ranges

    def _odds(self, g: int, ranges: Ranges) -> Odds:
        """Those of the ends at a group, kept while these are the same."""
        last, odds = self._last[g]
        if ranges is not last:
            los = [_below(lo / (1 - lo)) if lo < 1 else None for lo, _ in ranges.ends]
            his = [_above(hi / (1 - hi)) if hi < 1 else None for _, hi in ranges.ends]
            self._last[g] = ranges, (odds := (los, his))
        return odds


class _Narrowed(Ranges):
    """Ranges of shares with these odds, tightened in whole numbers."""

    def __init__(self, los: list[int | None], his: list[int | None]) -> None:
        super().__init__((), ())
        low = [_ONE if odds is None else (odds << _BITS) // (_ONE + odds) for odds in los]
        high = [_ONE if odds is None else -((-odds << _BITS) // (_ONE + odds)) for odds in his]
        least, most = _ONE - sum(high), _ONE - sum(low)
        pairs = [(max(lo, least + hi), min(hi, most + lo)) for lo, hi in zip(low, high, strict=True)]
        unit = arb(1) / _ONE
        self.ends = [(lo * unit, hi * unit) for lo, hi in pairs] if all(lo <= hi for lo, hi in pairs) else []


def _factors(record: Record, g: int) -> Iterator[tuple[int, fmpq, fmpq]]:
    """For each letter, the most and the least; none at all unless all its inputs have something at g, for every letter."""
    record.channel.allowance.look()
    rows = [[record.channel.rows[k] for k in inputs] for inputs in record.inputs]
    if len(rows) < 2 or not all(some and all(arb(row[g]) > 0 for row in some) for some in rows):
        return
    ratios = [[arb(row[g + 1]) / arb(row[g]) for row in some] for some in rows]
    least = [max(fmpq(0), -largest([-x for x in some]).upper().fmpq()) for some in ratios]
    most = [largest(some).upper().fmpq() for some in ratios]
    for a in range(len(rows)):
        low, high = min(least[:a] + least[a + 1 :]), max(most[:a] + most[a + 1 :])
        yield a, most[a] / low if low else low, least[a] / high if high else high


def _inverse(factor: fmpq) -> fmpq:
    return 1 / factor if factor else factor


def _below(x: fmpq) -> int:
    """The largest whole number of 2^-256 that is not above."""
    return int((x.numerator << _BITS) // x.denominator)


def _above(x: fmpq) -> int:
    return -_below(-x)
