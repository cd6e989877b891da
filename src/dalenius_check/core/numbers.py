"""Exact numbers from text, the few ball operations every bound is made of, and how a check ends without a proof."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from itertools import islice
from math import lcm
from operator import ge, gt, le, lt
from typing import Any, TypeVar

from .allowance import BALL, CELL, Allowance, LimitError
from .arithmetic import arb, chosen, fmpq, is_rational

T = TypeVar("T")
R = TypeVar("R")
_NUMBER = re.compile(r"(-?[0-9]+)(?:/([0-9]+)|(?:\.([0-9]+))?(?:e(-?[0-9]+))?)")
_MAX_CHARS = 400
_MAX_EXPONENT = 400
_MAX_HEIGHT = 1 << 16
_LOOK = 16  # rationals that are added between two looks at their sum


class RefusedError(Exception):
    """The file at hand (the model or the certificate) is outside the rules or proves less than it claims."""


class OpenError(Exception):
    """A comparison stayed open at this precision."""


def need(condition: bool, reason: str) -> None:
    """Refuse the file at hand unless the condition holds."""
    if not condition:
        raise RefusedError(reason)


def rounded(value: fmpq, rounding: str, digits: int = 15) -> str:
    """A decimal of so many digits."""
    return str(
        Context(prec=digits, rounding=rounding).divide(Decimal(int(value.numerator)), Decimal(int(value.denominator)))
    )


def ends_words(low: fmpq, high: fmpq, of: str, most: int) -> str:
    """An interval in nats, and in bits beside all there is to know about one of so many values, log2 of them; rounded outward.

    An upper end that is no less says nothing else, and is written as that.
    """
    unit, whole = arb(2).log(), arb(most).log()
    log = fmpq(most.bit_length() - 1) if most & (most - 1) == 0 else (whole / unit).upper().fmpq()
    everything = (arb(high) < whole) is not True
    low_bits, high_bits = (arb(low) / unit).lower().fmpq(), log if everything else (arb(high) / unit).upper().fmpq()
    nats, bits = (
        f"{rounded(a, ROUND_FLOOR)} <= {of} <= {rounded(b, ROUND_CEILING)}"
        for a, b in ((low, high), (low_bits, high_bits))
    )
    told = f"{nats} nats, in bits {bits} of {rounded(log, ROUND_CEILING, 4)} possible"
    return f"{told}: all there is to know" if everything else told


def at_most(small: arb, large: arb, what: str) -> None:
    """Return only if small <= large is certain; NaN and overlap are open, never accepted."""
    if (small <= large) is True:
        return
    if (small > large) is True:
        raise RefusedError(f"{what} fails: {small.str(25, radius=False)} > {large.str(25, radius=False)}")
    raise OpenError(f"{what} is open: {small.str(25)} and {large.str(25)}")


def need_certain(holds: Callable[[fmpq], bool], hard: fmpq, easy: fmpq, what: str) -> None:
    """Return only if a condition on e^epsilon holds at the end of its range where that is hardest."""
    if not holds(hard):
        need(holds(easy), f"{what} fails")
        raise OpenError(f"{what} is open")


def need_above(low: fmpq | None, bound: Callable[[bool], Any], what: str) -> None:
    """Return only if a bound is certainly at least `low`; positive, if that is None.

    `bound(True)` has every e^epsilon at the end where it proves least, `bound(False)` at the other, where it may prove too much.
    """
    kept, lost = (gt, le) if low is None else (ge, lt)
    least = bound(True)
    end: Any = fmpq(0) if low is None else low
    end = end if is_rational(least) else arb(end)
    if kept(least, end) is True:
        return
    most = bound(False)
    need(lost(most, end) is not True, f"{what} fails: it is {arb(most).str(25, radius=False)}")
    raise OpenError(f"{what} is open: it is {arb(least).str(25)}")


def in_nats(amount: fmpq, unit: str) -> arb:
    """A ball around so many nats or bits."""
    return arb(amount) * (arb(2).log() if unit == "bits" else 1)


def exponential(amount: fmpq, unit: str) -> tuple[fmpq, fmpq]:
    """Rationals c- <= e^epsilon <= c+ for an epsilon >= 0, both exact where e^epsilon is rational.

    Bound because e^epsilon >= 1, and the ends of a ball are rounded outward; that of e^0 is exact.
    """
    if unit == "log":
        return amount, amount
    if unit == "bits" and amount.denominator == 1:
        return (fmpq(2) ** int(amount.numerator),) * 2
    ball = in_nats(amount, unit).exp()
    return max(fmpq(1), ball.lower().fmpq()), ball.upper().fmpq()


def rational(text: str, what: str = "") -> fmpq:
    """The exact value of a decimal or fraction; any other text is refused, with what it should be the number of."""
    match = _NUMBER.fullmatch(text) if len(text) <= _MAX_CHARS else None
    if match is None:
        raise RefusedError(
            f"{what}{what and ': '}not a number of at most {_MAX_CHARS} characters: {text[:40]!a}; "
            "expected a decimal or a fraction like 1/3, with a unit or log only where the format has one"
        )
    whole, denominator, fraction, exponent = match.groups("")
    if not denominator and not exponent:
        return fmpq(int(whole + fraction), 10 ** len(fraction))
    divisor, shift = int(denominator or 1), int(exponent or 0)
    need(divisor != 0, "a denominator is zero")
    need(abs(shift) <= _MAX_EXPONENT, "an exponent is beyond 400")
    shift = shift - len(fraction)
    value = int(whole + fraction)
    return fmpq(value, divisor * 10**-shift) if shift < 0 else fmpq(value * 10**shift, divisor)


def once(values: Iterable[T], work: Callable[[T], R]) -> list[R]:
    """Apply `work` to each value, once to each object: numbers that are written alike are one."""
    listed = list(values)
    made = {place: work(value) for place, value in {id(value): value for value in listed}.items()}
    return [made[id(value)] for value in listed]


class Kept:
    """Results of a function, worked out once of each object; all are forgotten where there are too many."""

    def __init__(self, work: Callable[[Any], Any], most: int) -> None:
        self._work = work
        self._most = most
        self._known = dict[int, tuple[Any, Any]]()  # an object that is held keeps its identity

    def __call__(self, value: Any) -> Any:
        found = self._known.get(id(value))
        if found is None:
            if len(self._known) == self._most:
                self._known.clear()
            found = self._known[id(value)] = value, self._work(value)
        return found[1]


def grouped(values: Sequence[T]) -> list[tuple[T, int]]:
    """The distinct objects with how often each is there."""
    objects = {id(value): value for value in values}
    if len(objects) == len(values):
        return [(value, 1) for value in values]
    return [(objects[place], times) for place, times in Counter(map(id, values)).items()]


def height(value: fmpq) -> int:
    """The bits of the larger one of numerator and denominator."""
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def total(values: Iterable[fmpq]) -> fmpq:
    """The exact sum, refused when its size explodes (many unlike denominators)."""
    result = fmpq(0)
    addends = iter(values)
    while some := tuple(islice(addends, _LOOK)):
        result = sum(some, result)
        if height(result) > _MAX_HEIGHT:
            raise LimitError(f"a sum of rationals needs more than {_MAX_HEIGHT} bits")
    return result


def over_one(values: Sequence[fmpq]) -> tuple[list[int], int]:
    """Numerators over one denominator, and this; refused when its size explodes (many unlike denominators)."""
    parts = [(int(x.numerator), int(x.denominator)) for x in values]
    one = 1
    for denominator in {q for _, q in parts}:
        one = lcm(one, denominator)
        if one.bit_length() > _MAX_HEIGHT:
            raise LimitError(f"a sum of rationals needs more than {_MAX_HEIGHT} bits")
    return [p * (one // q) for p, q in parts], one


def normalised(weights: Sequence[fmpq], what: str, allowance: Allowance) -> list[fmpq]:
    """Nonnegative weights divided by their exact sum; equal objects stay one."""
    counted = grouped(weights)
    whole = total(times * x for x, times in counted)
    need(whole > 0, f"{what} has total weight zero")
    if whole == 1:
        return list(weights)
    allowance.room(len(counted) * height(whole) / 4)
    return once(weights, lambda x: x / whole)


def summed(values: Iterable[arb]) -> arb:
    """The sum of balls."""
    return arb(chosen().vector.summed(values))


def raised(base: T, times: int, one: T, product: Callable[[T, T], T]) -> T:
    """A power, by squares."""
    result = one
    for bit in bin(times)[2:]:
        result = product(result, result)
        if bit == "1":
            result = product(result, base)
    return result


def powers(x: Any, most: int) -> list[Any]:
    """The powers of a number, up to this one; x^0 = 1."""
    found: list[Any] = [fmpq(1)]
    for _ in range(most):
        found.append(found[-1] * x)
    return found


def largest(values: Iterable[arb]) -> arb:
    """A ball around the maximum (NaN if any is not finite)."""
    held = list(values)
    return arb(chosen().vector.largest(held) if all(value.is_finite() for value in held) else "nan")


def xlogx(value: arb) -> arb:
    """x log x for a number x >= 0 in the ball, 0 log 0 = 0.

    Bound because x log x is decreasing on [0, 1/e]: a ball that touches zero is mapped to [m log m, 0].
    """
    if value.is_zero():
        return value
    if value.is_finite() and not (value > 0):
        top = value.upper()
        if (top < arb(1) / 4) is True and (top > 0) is True:
            return (top * top.log()).union(arb(0))
    return value * value.log()


def negentropies(rows: Iterable[Sequence[Any]], allowance: Allowance) -> list[arb]:
    """The sum of x log x of each row."""
    value = Kept(lambda x: xlogx(arb(x)), 1 << 14)
    found = list[arb]()
    for row in rows:
        allowance.look()
        found.append(summed(times * value(x) for x, times in grouped(row)))
    return found


def divergence(one: Iterable[fmpq], other: Iterable[fmpq]) -> arb:
    """The sum of a log(a/b), b positive where a is; exactly 0 of equal numbers."""
    return summed(arb(a) * arb(a / b).log() for a, b in zip(one, other, strict=True) if a and a != b)


def bit_entropy(p: arb) -> arb:
    """h(p)."""
    return -xlogx(p) - xlogx(1 - p)


def root(x: arb) -> arb:
    """The square root of a number >= 0."""
    return (x.log() / 2).exp() if not x.is_zero() else x


def units(low: arb, high: arb) -> tuple[int | None, int | None, int]:
    """As many whole units as are not above the one number, and not below the other, if they are known; how many units 1 has.

    Bound because the ends of the balls are rounded outward.
    """
    scale = 1 << chosen().precision()
    return (low.lower() * scale).floor().unique_fmpz(), (high.upper() * scale).ceil().unique_fmpz(), scale


def enclosure(low: arb, high: arb) -> tuple[fmpq, fmpq]:
    """Rationals l <= low and h >= high for numbers in [0, 1]: 0 or 1 for an end that is not known."""
    below, above, scale = units(low, high)
    return (
        fmpq(0) if below is None else max(fmpq(0), fmpq(below, scale)),
        fmpq(1) if above is None else min(fmpq(1), fmpq(above, scale)),
    )


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
