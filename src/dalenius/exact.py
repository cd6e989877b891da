"""Exact numbers at the door: what the user writes is a rational, and that rational is what gets proved."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError, brief

# What people write: numbers of Python or NumPy, exact ones also as texts; lists of them, or arrays.
Integer: TypeAlias = int | np.integer[Any]
Number: TypeAlias = int | float | str | Fraction | Decimal | np.integer[Any] | np.floating[Any]
Numbers: TypeAlias = Sequence[Number] | NDArray[Any]
Rows: TypeAlias = Sequence[Numbers] | NDArray[Any]

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?|-?[0-9]+/[0-9]+", re.ASCII)
_QUANTITY = re.compile(r"(\S+) (\S+)", re.ASCII)
_ALMOST = re.compile(r"\s*(\S*[0-9.])\s*([^\W\d]+|%)\s*")
MAX_CHARACTERS = 400
MAX_EXPONENT = 400
MAX_INTEGER = 10**MAX_CHARACTERS
WRITABLE_BITS = 1200  # that 400 characters can always write, as p/q
MAX_SUM_BITS = 65_536
LAW_SUM = Fraction(1, 10**9)


@dataclass(frozen=True)
class Numeral:
    """A number with a point or an exponent as a file has it. Whoever reads its key says what it is, or that it is none."""

    text: str

    def __repr__(self) -> str:
        return self.text


def as_fraction(value: Any, what: str) -> Fraction:
    """The exact rational that `value` states.

    A float of any width means the decimal that is printed for it (0.2 is 1/5, as in a model file, and so is ``np.float32(0.2)``),
    never the binary number beside it.

    Parameters
    ----------
    value : Number
        The number, of Python or of NumPy. Strings are decimals (``"0.25"``, ``"1e-3"``) or fractions (``"1/3"``).
    what : str
        What the number is, for the error message.

    Raises
    ------
    InputError
        If `value` is not a finite number in one of these forms, or cannot be written with 400 characters.

    >>> as_fraction(0.2, "flip"), as_fraction(np.float32(0.2), "flip"), as_fraction("1/3", "flip")
    (Fraction(1, 5), Fraction(1, 5), Fraction(1, 3))
    """
    if type(value) is Fraction and _short(value):  # designs read their own rows again and again
        return value
    if type(value) is str:
        return _parse(value, what)
    value = _scalar(value)
    if isinstance(value, Numeral):
        return _parse(value.text.replace("_", "").lower().removeprefix("+").replace("e+", "e"), what)
    if isinstance(value, str):
        return _parse(value, what)
    if isinstance(value, float | Decimal) and not math.isfinite(value):
        raise InputError(f"{what}: expected a finite number, got {value}")
    if isinstance(value, float | Decimal):
        return _parse(str(value).lower().replace("e+", "e"), what)
    if isinstance(value, bool) or not isinstance(value, int | Fraction):
        raise InputError(f"{what}: expected a number, got {brief(value)}")
    fraction = Fraction(value)
    if isinstance(value, int) and abs(value) >= MAX_INTEGER:
        raise InputError(f"{what}: expected an integer of at most {MAX_CHARACTERS} digits, got {brief(value)}")
    if _short(fraction):
        return fraction
    if max(fraction.numerator.bit_length(), fraction.denominator.bit_length()) > 10_000 or not _spellings(fraction):
        raise InputError(f"{what}: expected a number that {MAX_CHARACTERS} characters can write, got {brief(value)}")
    return fraction


def as_bounded(
    value: Any, what: str, *, above: Any = None, at_least: Any = None, below: Any = None, at_most: Any = None
) -> Fraction:
    """An exact number within limits; `InputError` says what they are.

    >>> as_bounded("0.3", "p", above=0, below=1)
    Fraction(3, 10)
    """
    found = as_fraction(value, what)
    low = (above is None or found > above) and (at_least is None or found >= at_least)
    if not low or not ((below is None or found < below) and (at_most is None or found <= at_most)):
        raise InputError(
            f"{what}: expected a number {limits_text(above, at_least, below, at_most)}, got {brief(value)}"
        )
    return found


def limits_text(above: Any, at_least: Any, below: Any = None, at_most: Any = None, of: str = "of ") -> str:
    """Limits in words, some of which are None.

    >>> limits_text(0, None, 1), limits_text(None, 0, None, 1), limits_text(None, 1)
    ('above 0 and below 1', 'from 0 to 1', 'of at least 1')
    """
    if at_least is not None and at_most is not None:
        return f"from {at_least} to {at_most}"
    told = {f"{of}at least": at_least, "above": above, "below": below, "at most": at_most}
    return " and ".join(f"{words} {limit}" for words, limit in told.items() if limit is not None)


def _short(value: Fraction) -> bool:
    """True if any of its spellings is short enough to be written."""
    return value.numerator.bit_length() + value.denominator.bit_length() <= WRITABLE_BITS


def is_number(value: object) -> TypeGuard[float]:
    """True if this is a real number that says how much, of Python or of NumPy: no truth value, and no text.

    >>> is_number(np.float32(0.5)), is_number(np.int64(3)), is_number(np.bool_(True)), is_number("1")
    (True, True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def as_quantity(value: Any, what: str, *, known: Sequence[str], units: str = "nats") -> tuple[Fraction, str]:
    """A number and its unit: a text of both with one blank between them, or a bare number in `units`; of no unit only 0 may be bare.

    Raises
    ------
    InputError
        If the number cannot be read or the unit is not among the `known` ones.

    >>> as_quantity("0.05 bits", "max_leakage", known=["nats", "bits"])
    (Fraction(1, 20), 'bits')
    """
    number, named = value, [unit for unit in known if unit]
    if isinstance(value, str) and (words := _QUANTITY.fullmatch(value)):
        number, units = words[1], words[2]
    if isinstance(value, str) and (meant := _meant(value, known)) and meant != value:
        raise InputError(
            f"{what}: expected a number, or a text of a number, one blank and a unit ({', '.join(named)}), got {brief(value)}; write "
            f'"{meant}"'
        )
    if isinstance(value, str) and value.endswith("%"):
        raise InputError(f"{what}: {brief(value)} of what? expected an amount of information, such as '0.1 bits'")
    if units == "" and "" not in known:
        need_unit(fraction_text(as_fraction(number, what)), what, named)
        units = named[0]
    if units not in known:
        raise InputError(f"{what}: the unit must be {', '.join(named[:-1])} or {named[-1]}, got {brief(units)}")
    return as_fraction(number, what), units


def need_unit(text: str, what: str, known: Sequence[str] = ()) -> str:
    """The same text, unless it is a number other than 0 whose unit nobody said: it would be nats, and be taken for bits.

    >>> need_unit("2 bits", "--at-most"), need_unit("0", "--at-most")
    ('2 bits', '0')
    """
    if NUMBER.fullmatch(text) and (amount := as_fraction(text, what)):
        share = f", or '{text} max', a share of all" if "max" in known and amount <= 1 else ""
        raise InputError(f"{what}: {brief(text)} of what? expected '{text} bits' or '{text} nats'{share}")
    return text


def as_fractions(value: Numbers, what: str) -> tuple[Fraction, ...]:
    """The members of a list of exact numbers.

    >>> as_fractions([-1, 0.5], "values")
    (Fraction(-1, 1), Fraction(1, 2))
    """
    return tuple(as_fraction(entry, f"{what}[{j}]") for j, entry in enumerate(as_list(value, what)))


def as_nonnegative(value: Numbers, what: str, *, noun: str = "a number") -> tuple[Fraction, ...]:
    """The members of a list of exact numbers, none of them negative.

    >>> as_nonnegative([0, 0.5], "rows[0]")
    (Fraction(0, 1), Fraction(1, 2))
    """
    entries = as_fractions(value, what)
    for j, entry in enumerate(entries):
        if entry.numerator < 0:
            raise InputError(f"{what}[{j}] is {noun} and must not be negative, got {_shown(entry)}")
    return entries


def as_law(value: Numbers, what: str) -> tuple[Fraction, ...]:
    """The members of a list of probabilities as written; their sum may differ from 1 by at most 1e-9.

    Raises
    ------
    InputError
        If an entry is negative or no number, or the sum is not 1 or takes more than 65,536 bits.

    >>> as_law([0.25, "3/4"], "probabilities")
    (Fraction(1, 4), Fraction(3, 4))
    """
    weights = as_nonnegative(value, what, noun="a probability")
    if not weights:
        raise InputError(f"{what} is empty, but must sum to 1")
    total = exact_sum(weights, what)
    if abs(total - 1) > LAW_SUM:
        raise InputError(f"{what} must sum to 1 (within 1e-9), got {_shown(total)}; divide it by its sum")
    return weights


def as_laws(value: Rows, what: str) -> tuple[tuple[Fraction, ...], ...]:
    """The members of a list of laws.

    >>> as_laws([[0.25, "3/4"], [1]], "rows")
    ((Fraction(1, 4), Fraction(3, 4)), (Fraction(1, 1),))
    """
    return tuple(as_law(law, f"{what}[{j}]") for j, law in enumerate(as_list(value, what)))


def exact_sum(weights: Sequence[Fraction], what: str) -> Fraction:
    """The sum; `InputError` where it would take more than 65,536 bits.

    >>> exact_sum([Fraction(1, 2), Fraction(1, 3)], "weights")
    Fraction(5, 6)
    """
    numerators, common = over_common_denominator(weights, what, most_bits=MAX_SUM_BITS)
    return Fraction(sum(numerators), common)


def divided(weights: Sequence[Fraction], what: str) -> tuple[Fraction, ...]:
    """The weights of a law divided by their exact sum.

    >>> divided([Fraction(1, 2), Fraction(1, 3)], "weights")
    (Fraction(3, 5), Fraction(2, 5))
    """
    total = exact_sum(weights, what)
    return tuple(weights) if total == 1 else tuple(weight / total for weight in weights)


def sum_of_ratios(ratios: Iterable[tuple[int, int]]) -> Fraction:
    """The sum of ratios p/q: those of one denominator are summed as integers, so that few fractions are left.

    >>> sum_of_ratios([(1, 2), (3, 2), (1, 3)])
    Fraction(7, 3)
    """
    sums = defaultdict[int, int](int)
    for p, q in ratios:
        sums[q] += p
    return sum((Fraction(p, q) for q, p in sums.items()), Fraction(0))


def over_common_denominator(weights: Sequence[Fraction], what: str, *, most_bits: int) -> tuple[list[int], int]:
    """The numerators over the least common denominator, and that; `InputError` where it has more than `most_bits` bits.

    >>> over_common_denominator([Fraction(1, 2), Fraction(1, 3)], "weights", most_bits=64)
    ([3, 2], 6)
    """
    common = 1
    for denominator in {weight.denominator for weight in weights}:
        common = math.lcm(common, denominator)
        if common.bit_length() > most_bits:
            raise InputError(
                f"{what}: as fractions, the sum or common denominator of these numbers has more than {most_bits} bits; "
                "round them"
            )
    return [weight.numerator * (common // weight.denominator) for weight in weights], common


def as_integer(value: Any, what: str, *, at_least: int | None = None, at_most: int | None = None) -> int:
    """An integer within limits; booleans and floats are refused.

    >>> as_integer(3, "count", at_least=1)
    3
    """
    given, value = value, _scalar(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{what}: expected an integer, got {brief(given)}")
    if at_least is not None and value < at_least:
        raise InputError(f"{what}: expected an integer of at least {at_least}, got {brief(value)}")
    if at_most is not None and value > at_most:
        raise InputError(f"{what}: expected an integer of at most {at_most}, got {brief(value)}")
    return value


def as_list(value: Any, what: str) -> list[Any]:
    """The members of a list, tuple, array or other collection; text and scalars are refused.

    >>> as_list((1, 2), "letters")
    [1, 2]
    """
    if isinstance(value, str | bytes | dict) or getattr(value, "ndim", 1) == 0:
        raise InputError(f"{what}: expected a list, got {brief(value)}")
    try:
        return list(value)
    except TypeError:
        raise InputError(f"{what}: expected a list, got {brief(value)}") from None


def fraction_text(value: Fraction) -> str:
    """An exact spelling that `as_fraction` reads: a decimal where there is one, else ``p/q``.

    >>> fraction_text(Fraction(1, 5)), fraction_text(Fraction(1, 3)), fraction_text(Fraction(2))
    ('0.2', '1/3', '2')
    """
    return _spellings(value)[0]


def is_writable(value: Fraction) -> bool:
    """True if `fraction_text` can spell this number, with 400 characters.

    >>> is_writable(Fraction(1, 10**390)), is_writable(Fraction(1, 3**900))
    (True, False)
    """
    return _short(value) or bool(_spellings(value))


def few_digits(value: Fraction, digits: int = 17) -> Fraction:
    """The number rounded to so many significant decimals, however small it is.

    >>> few_digits(Fraction(1, 3), 5), float(few_digits(Fraction(1, 3 * 10**300), 2))
    (Fraction(33333, 100000), 3.3e-301)
    """
    context = Context(prec=digits, Emin=-MAX_CHARACTERS, Emax=MAX_CHARACTERS)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def magnitude(value: Fraction) -> int:
    """A power n with 2^(n-1) < value < 2^(n+1), of a positive number.

    >>> magnitude(Fraction(1)), magnitude(Fraction(3, 8)), magnitude(Fraction(10) ** 400)
    (0, -2, 1328)
    """
    return value.numerator.bit_length() - value.denominator.bit_length()


def between(low: Fraction, high: Fraction) -> Fraction:
    """The middle of two numbers, or one beside it with few digits where the middle has many.

    >>> between(Fraction(1, 4), Fraction(3, 4)), between(Fraction(1, 10**400), Fraction(1))
    (Fraction(1, 2), Fraction(1, 2))
    """
    middle = (low + high) / 2
    short = middle if middle.denominator.bit_length() <= WRITABLE_BITS // 4 else few_digits(middle)
    return short if low < short < high else middle


def _shown(value: Fraction) -> str:
    """Twelve digits where a double can hold the number, else the beginning of its exact text."""
    try:
        return f"{float(value):.12g}"
    except OverflowError:
        return brief(value)


def _scalar(value: Any) -> Any:
    """A NumPy scalar, or an array of no axes, as what Python has for it; of floats of another width the decimal that NumPy prints."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, np.floating) and not isinstance(value, float):
        return Decimal(str(value))
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", None) == 0 else value


def _meant(text: str, known: Sequence[str]) -> str | None:
    """The spelling of a quantity that is written almost as it should be, if one can be told."""
    words = _ALMOST.fullmatch(text) if len(text) <= MAX_CHARACTERS else None
    if words is None or NUMBER.fullmatch(words[1]) is None:
        return None
    if words[2] == "%":
        return f"{fraction_text(as_fraction(words[1], 'share') / 100)} max" if "max" in known else None
    units = [unit for unit in known if unit[:3] == words[2][:3].lower() and len(words[2]) > 2]
    return f"{words[1]} {units[0]}" if units else None


def _parse(text: str, what: str) -> Fraction:
    match = NUMBER.fullmatch(text) if len(text) <= MAX_CHARACTERS else None
    if match is None:
        percent = text.removesuffix("%").rstrip()
        advice = "; write a share, 80% is 0.8" if percent != text and NUMBER.fullmatch(percent) else ""
        if text.startswith("log "):
            advice = (
                "; a logarithm, which is no rational number, is read of guarantees (convert, privacy) and of local protocols only, "
                "such as subset_selection, which with size 1 is randomised response: write a decimal"
            )
        raise InputError(
            f'{what}: expected a number of at most {MAX_CHARACTERS} characters such as 0.25 or "1/3", got {brief(text)}{advice}'
        )
    numerator, slash, denominator = text.partition("/")
    if slash and int(denominator) == 0:
        raise InputError(f"{what}: the denominator of {brief(text)} is zero")
    if match[2] and abs(int(match[2][1:])) > MAX_EXPONENT:
        raise InputError(f"{what}: the exponent of {brief(text)} is beyond {MAX_EXPONENT}")
    return Fraction(int(numerator), int(denominator)) if slash else Fraction(text)


def _spellings(value: Fraction) -> list[str]:
    """Texts of this value that the rules allow, the nicest first."""
    twos = (value.denominator & -value.denominator).bit_length() - 1
    rest, fives = value.denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    texts = [f"{value.numerator}/{value.denominator}"]
    if value.denominator == 1:
        digits = str(value.numerator)
        zeros = min(len(digits) - len(digits.rstrip("0")), MAX_EXPONENT)
        texts = [digits, f"{digits[: len(digits) - zeros]}e{zeros}"] if value else ["0"]
    elif rest == 1:
        places = max(twos, fives)
        scaled = value.numerator * 10**places // value.denominator
        scale = min(places, MAX_EXPONENT)
        texts = [_pointed(scaled, places), f"{_pointed(scaled, places - scale)}e-{scale}", *texts]
    return [text for text in texts if len(text) <= MAX_CHARACTERS]


def _pointed(digits: int, places: int) -> str:
    """The decimal digits * 10^-places."""
    text = str(abs(digits)).rjust(places + 1, "0")
    sign = "-" if digits < 0 else ""
    return f"{sign}{text[:-places]}.{text[-places:]}" if places else sign + text
