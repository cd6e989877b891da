"""One output for real data, and what it can teach about one record: the steps of `dalenius release`, in their order."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from dalenius.errors import InputError
from dalenius.evidence import Certificate, exact_fraction_above
from dalenius.exact import as_list, as_nonnegative, brief, fraction_text
from dalenius.model import DesignProblem, MaximalLeakage, MinDistortion, MinLeakage, Problem, Records
from dalenius.model.files import csv_column
from dalenius.model.mechanisms import DesignedMechanism
from dalenius.units import upper_in

__all__ = [
    "Bound",
    "above",
    "audit_of_release",
    "bound_of",
    "expected",
    "fits_design",
    "letter_texts",
    "read_letters",
    "true_input",
]

CEILING = 10**300


@dataclass(frozen=True)
class Bound:
    """What one release leaks at most about one record: in nats and in bits, both rounded upward; and whether the budget is met.

    `met` is None where the model has no budget of leakage, and False where that it is met is not proved.
    """

    nats: float
    bits: float
    met: bool | None = None


def audit_of_release(problem: Problem, mechanism: DesignedMechanism) -> MaximalLeakage:
    """The audit that a release by this mechanism calls for: what it leaks to the model's adversary.

    Raises
    ------
    InputError
        If the mechanism is none for the model's query, or not of a design model's class.

    >>> import dalenius as dl
    >>> model = dl.MinLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(), distortion=dl.Hamming(), max_distortion=0.2,
    ...     adversary=dl.EntropyAtLeast(1))
    >>> audit_of_release(model, model.designed([[0.8, 0.2], [0.2, 0.8]])).channel.tolist()
    [[0.8, 0.2], [0.2, 0.8]]
    """
    if isinstance(problem, DesignProblem):
        problem.check_designed(mechanism)
        return problem.release(mechanism.rows)
    assert isinstance(problem, MaximalLeakage)
    return dataclasses.replace(problem, mechanism=mechanism)


def fits_design(certificate: Certificate, problem: Problem) -> bool:
    """Whether this is a certificate of the design model, and not of an audit, going by its first line."""
    return isinstance(problem, DesignProblem) and _header(certificate).get("problem") == problem.kind


def bound_of(problem: Problem, mechanism: DesignedMechanism, upper: Fraction | None, certificate: Certificate) -> Bound:
    """What a certificate that the checker has proved says about the mechanism.

    *Bound because*: an audit's claim is about its one mechanism. A design's certificate carries a mechanism that leaks at most `upper`
    (`MinLeakage`) or at most the budget (`MinDistortion`), docs/certificate-format.md; it counts only if it is this very one.

    Parameters
    ----------
    upper : Fraction or None
        The upper claim that was proved; None where it was that no mechanism meets the budget.

    Raises
    ------
    InputError
        If it is about another mechanism.
    """
    if not fits_design(certificate, problem):
        assert upper is not None
        return _bound(problem, upper)
    assert isinstance(problem, DesignProblem)
    if _rows(_header(certificate).get("mechanism"), problem) != list(mechanism.rows):
        raise InputError("the certificate of the design is about another mechanism than this one")
    if isinstance(problem, MinDistortion):
        return _budget(problem)
    assert upper is not None
    return _bound(problem, upper)


def expected(problem: Problem, mechanism: DesignedMechanism) -> dict[str, str | bool | None]:
    """The expected distortion in a design model, rounded upward to six digits, and whether exactly it is within the budget, if any."""
    if not isinstance(problem, DesignProblem):
        return {"distortion": None, "max_distortion": None, "distortion_within_budget": None}
    distortion = problem.expected_distortion(mechanism.rows)
    budget = problem.budget if isinstance(problem, MinLeakage) else None
    return {
        "distortion": above(distortion),
        "max_distortion": None if budget is None else fraction_text(budget),
        "distortion_within_budget": None if budget is None else distortion <= budget,
    }


def letter_texts(records: Records, texts: Sequence[str] | None = None) -> list[str]:
    """The texts that stand for letter 0, 1, ...; `InputError` unless there is one for each letter of the largest alphabet.

    >>> letter_texts(Records(2, alphabet=3))
    ['0', '1', '2']
    """
    largest = max(records.alphabets)
    texts = list(map(str, range(largest))) if texts is None else as_list(texts, "letters")
    if len(texts) != largest or len(set(texts)) < largest:
        raise InputError(
            f"letters: expected {largest} different texts, for the letters 0 to {largest - 1}, got {brief(texts)}"
        )
    return texts


def read_letters(
    path: str | Path, records: Records, column: str | None = None, texts: Sequence[str] | None = None
) -> list[int]:
    """The letters of the records, from a csv file with names in its first line and one record in each line below.

    Parameters
    ----------
    column : str, optional
        A name in the first line; left out: the only column.
    texts : sequence of str, optional
        The texts that stand for letter 0, 1, ...; left out: the numbers themselves.

    Raises
    ------
    InputError
        If the texts do not fit the alphabets, the file cannot be read, or there are not as many records. Errors name the line; what
        stands in it is nobody's business.
    """
    texts, largest = letter_texts(records, texts), max(records.alphabets)
    letter_of = {text: letter for letter, text in enumerate(texts)}
    letters: list[int] = []
    for line, text in csv_column(path, column, gaps=False):
        record = len(letters)
        if record == len(records):
            raise InputError(f"{path}: line {line}: one record too many; the model has {len(records)}")
        letter = letter_of.get(text, largest)
        if letter >= records.alphabets[record]:
            known = brief(texts[: records.alphabets[record]])
            raise InputError(
                f"{path}: line {line}: the entry (not shown) is none of record {record}'s letters, {known}"
            )
        letters.append(letter)
    if len(letters) < len(records):
        raise InputError(f"{path}: ends after {len(letters)} records; the model has {len(records)}, one a line")
    return letters


def true_input(problem: Problem, mechanism: DesignedMechanism, letters: Sequence[int]) -> int:
    """What the mechanism is told: the query's value, or the dataset's index. Not to be shown to anybody.

    >>> import dalenius as dl
    >>> model = dl.MaximalLeakage(records=dl.Records(3, alphabet=2), query=dl.Count(), mechanism=dl.geometric(3),
    ...     adversary=dl.AnyPrior())
    >>> true_input(model, dl.DesignedMechanism([[1]] * 4), [1, 0, 1])
    2
    """
    if mechanism.inputs == "dataset":
        return problem.records.index(letters)
    return problem.query.value(problem.records, letters)


def above(x: float | Fraction, digits: int = 6) -> str:
    """A number of at least 0 to so many digits, rounded upward: the text is no smaller than the number.

    >>> above(0.1234561), above(Fraction(1, 10)), above(0.0)
    ('0.123457', '0.1', '0')
    """
    context, exact = Context(prec=digits, rounding=ROUND_CEILING), Fraction(x)
    if exact.numerator.bit_length() + exact.denominator.bit_length() < 10_000:
        return _plain(context.divide(Decimal(exact.numerator), Decimal(exact.denominator)))
    return _plain(context.create_decimal(Decimal(exact_fraction_above(exact) if exact <= CEILING else math.inf)))


def _plain(x: Decimal) -> str:
    """A decimal without trailing zeros, and without an exponent where it has a handy size."""
    x = x.normalize()
    return format(x, "f") if Decimal("1e-6") <= x < Decimal("1e15") or not x else str(x).lower()


def _bound(problem: Problem, upper: Fraction) -> Bound:
    """An upper claim in nats."""
    nats = exact_fraction_above(upper)
    bits = upper_in(nats, "bits")
    if not isinstance(problem, MinDistortion):
        return Bound(nats, bits)
    return Bound(nats, bits, Fraction(bits if problem.budget_units == "bits" else nats) <= problem.budget)


def _budget(problem: MinDistortion) -> Bound:
    """The budget of leakage itself."""
    amount = exact_fraction_above(min(problem.budget, Fraction(CEILING)))
    if problem.budget_units == "nats":
        return Bound(amount, upper_in(amount, "bits"), True)
    nats = amount * math.log(2.0)
    for _ in range(3):  # log 2 and the product are each off by at most one part in 2^53
        nats = math.nextafter(nats, math.inf)
    return Bound(nats if amount else 0.0, amount, True)


def _header(certificate: Certificate) -> dict[str, Any]:
    """The first line, or nothing where it is none: that is for the checker to say."""
    try:
        header = json.loads(certificate.text.split("\n", 1)[0])
    except (ValueError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


def _rows(weights: Any, problem: DesignProblem) -> list[tuple[Fraction, ...]]:
    """The rows of a mechanism in a proved certificate: weights divided by their exact sums; all rows of the class."""
    if weights is None:
        return []
    rows = [as_nonnegative(row, "certificate: mechanism") for row in weights]
    return problem.expand([[weight / sum(row) for weight in row] for row in rows])
