"""Epsilons as people write them: nats, bits, or the logarithm of a rational number."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_fraction, as_quantity, fraction_text
from dalenius.units import UNITS

LARGEST = 1000  # of epsilon in nats or bits


def read_epsilon(epsilon: Any, what: str) -> tuple[Fraction, str]:
    """The number that is written, and its unit: nats, bits or log.

    Raises
    ------
    InputError
        If it cannot be read, or is above 1000 nats or bits; `what` is what the message calls it.

    >>> read_epsilon("log 3", "epsilon"), read_epsilon(0.5, "epsilon")
    ((Fraction(3, 1), 'log'), (Fraction(1, 2), 'nats'))
    """
    if isinstance(epsilon, str) and epsilon.startswith("log "):
        amount = as_fraction(epsilon.removeprefix("log "), what)
        if amount <= 0:
            raise InputError(f'{what} = "log q" needs a number q above 0, got {brief(epsilon)}')
        return amount, "log"
    amount, unit = as_quantity(epsilon, what, known=UNITS)
    if amount > LARGEST:
        raise InputError(
            f'{what} is at most {LARGEST} {unit}, got {brief(epsilon)}; for a larger one write "log q" with q = e^epsilon'
        )
    return amount, unit


def epsilon_text(epsilon: Number, what: str) -> str:
    """The same in a model file.

    >>> epsilon_text(0.5, "epsilon"), epsilon_text("log 3/2", "epsilon")
    ('0.5 nats', 'log 1.5')
    """
    amount, unit = read_epsilon(epsilon, what)
    text = fraction_text(amount)
    return f"log {text}" if unit == "log" else f"{text} {unit}"


def normal_epsilon(epsilon: Any, what: str) -> str:
    """The same in the normal form (docs/model-format.md).

    >>> normal_epsilon(0.5, "epsilon"), normal_epsilon("log 1.5", "epsilon")
    ('1/2 nats', 'log 3/2')
    """
    amount, unit = read_epsilon(epsilon, what)
    return f"log {amount}" if unit == "log" else f"{amount} {unit}"
