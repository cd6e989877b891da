"""How an amount of information is told to people: in units, and beside all there is to know, the logarithm of the number of values."""

from __future__ import annotations

from fractions import Fraction

from dalenius.evidence import exact_fraction_above
from dalenius.exact import fraction_text
from dalenius.intervals import ends_text, text_above, text_below
from dalenius.model import Problem, Records, SecretLeakage
from dalenius.model.adversaries import EntropyAtLeast, LawClass
from dalenius.units import amount_text, is_at_least_log, log_above, lower_in, upper_in

__all__ = [
    "DIGITS",
    "against_text",
    "at_most_text",
    "budget_text",
    "is_all",
    "most_of",
    "nats_and_bits",
    "possible_text",
    "told_text",
]

DIGITS = 4  # of what is possible, and of the one number that people take away
ALL = ": all there is to know"

Number = float | Fraction


def most_of(values: int, units: str) -> float:
    """All there is to know about one of so many values, in `units`, rounded upward; exact where it is a whole number of bits.

    >>> most_of(2, "bits"), most_of(1, "nats"), 1.58496 < most_of(3, "bits") < 1.58497
    (1.0, 0.0, True)
    """
    whole = values.bit_length() - 1
    return float(whole) if units == "bits" and values == 1 << whole else upper_in(log_above(Fraction(values)), units)


def is_all(upper: Number, units: str, values: int) -> bool:
    """Whether an upper bound says no more than that there is nothing else to know: that it is at least the logarithm of the values.

    >>> is_all(1.0, "bits", 2), is_all(0.6931471805599454, "nats", 2), is_all(0.6931471805599453, "nats", 2)
    (True, True, False)
    """
    return is_at_least_log(upper, units, values)


def possible_text(values: int, units: str) -> str:
    """All there is to know, in words.

    >>> possible_text(2, "bits"), possible_text(3, "bits"), possible_text(2, "nats")
    ('of 1 bit possible', 'of 1.585 bits possible', 'of 0.6932 nats possible')
    """
    return f"of {amount_text(text_above(most_of(values, units), DIGITS), units)} possible"


def told_text(lower: Number, upper: Number, units: str, values: int | None, *, places: int | None = None) -> str:
    """An interval for people: ends as in `ends_text`, the unit, and what is possible; a bound that is all there is says so.

    Of what is no information about one of some values (`values` is None) the interval and its unit.

    >>> told_text(0.459, 0.5, "bits", 2), told_text(0.5, 0.75, "distortion", None)
    ('0.459 .. 0.5 bits of 1 bit possible', '0.5 .. 0.75 distortion')
    >>> told_text(0.0, 0.7, "nats", 2)
    '0 .. 0.6932 nats of 0.6932 nats possible: all there is to know'
    """
    if values is None:
        return f"{' .. '.join(ends_text(lower, upper, places=places))} {units}"
    low, high = ends_text(lower, upper, places=places)
    whole = is_all(upper, units, values)
    high = text_above(most_of(values, units), DIGITS) if whole else high
    return f"{low} .. {high} {units} {possible_text(values, units)}{ALL if whole else ''}"


def at_most_text(upper: Number, units: str, values: int | None, digits: int = DIGITS) -> str:
    """An upper end for people, rounded upward, with its unit and what is possible.

    >>> at_most_text(0.25, "bits", 2), at_most_text(0.7, "nats", 2)
    ('0.25 bits of 1 bit possible', '0.6932 nats of 0.6932 nats possible: all there is to know')
    """
    if values is None:
        return amount_text(text_above(upper, digits), units)
    if is_all(upper, units, values):
        return f"{amount_text(text_above(most_of(values, units), DIGITS), units)} {possible_text(values, units)}{ALL}"
    return f"{amount_text(text_above(upper, digits), units)} {possible_text(values, units)}"


def nats_and_bits(upper: float, values: int | None, digits: int = DIGITS) -> str:
    """An upper end in nats as people take it away: rounded upward, in both units, beside what is possible.

    >>> nats_and_bits(0.25, 2), nats_and_bits(0.7, 2)
    ('0.3607 bits (0.25 nats) of 1 bit possible', '1 bit (0.6932 nats) of 1 bit possible: all there is to know')
    """
    told = at_most_text(upper_in(upper, "bits"), "bits", values, digits)
    number, unit, rest = (*told.split(" ", 2), "")[:3]
    nats = at_most_text(upper, "nats", values, digits).partition(" of ")[0]
    return f"{number} {unit} ({nats}) {rest}".rstrip()


def budget_text(amount: Fraction, units: str, values: int | None) -> str:
    """A limit on a leakage as it is written, and what it is in bits, rounded upward, of what is possible.

    >>> budget_text(Fraction(3, 10), "nats", 2), budget_text(Fraction(1, 10), "bits", 2), budget_text(Fraction(1), "nats", None)
    ('0.3 nats = 0.4329 bits of 1 bit possible', '0.1 bits of 1 bit possible', '1 nat = 1.443 bits')
    """
    told = amount_text(fraction_text(amount), units)
    if units == "nats":
        told += f" = {amount_text(text_above(upper_in(exact_fraction_above(amount), 'bits'), DIGITS), 'bits')}"
    return told if values is None else f"{told} {possible_text(values, 'bits')}"


def against_text(problem: Problem) -> str:
    """A problem's adversary in words, an entropy in bits beside the largest one there is.

    >>> import dalenius as dl
    >>> against_text(dl.WorstCaseLeakage(records=dl.Records(8, alphabet=2), query=dl.Count(), mechanism=dl.geometric(1),
    ...     adversary=dl.EntropyAtLeast(5)))
    'any adversary whose prior on the datasets has an entropy of at least 5 nats = 7.213 bits of 8'
    """
    adversary = problem.adversary
    if adversary is None:
        return "no adversary in particular"
    if isinstance(problem, SecretLeakage) and isinstance(adversary, LawClass):
        return f"any adversary {adversary.of_dataset_in_words()}"
    told = f"any adversary {adversary.in_words()}"
    if not isinstance(adversary, EntropyAtLeast) or not adversary.amount:
        return told
    if adversary.units == "max":
        told += f" = {amount_text(text_below(_least_entropy(adversary, problem.records), DIGITS), 'bits')}"
    return f"{told} of {text_above(_largest_entropy(problem.records), DIGITS)}"


def _largest_entropy(records: Records) -> float:
    """log |X| in bits, rounded upward; exact where every alphabet is a power of two."""
    return exact_fraction_above(
        sum((times * Fraction(most_of(size, "bits")) for size, times in records.runs), Fraction(0))
    )


def _least_entropy(bound: EntropyAtLeast, records: Records) -> Number:
    """A share of log |X| in bits, rounded downward; exact where every alphabet is a power of two."""
    if all(size & (size - 1) == 0 for size, _ in records.runs):
        return bound.amount * Fraction(_largest_entropy(records))
    return lower_in(-exact_fraction_above(-bound.enclosure(records)[0]), "bits")
