"""Errors and warnings that are raised on purpose, and values in messages."""

from __future__ import annotations

from fractions import Fraction


class InputError(ValueError):
    """Input that cannot be used; the message says what was expected, what came, and what to do."""


class ProofRefusedWarning(UserWarning):
    """The checker refused a proof, and rounding does not explain it; the interval that is returned is proved, but wider."""


def brief(value: object) -> str:
    """`repr`, cut to a length fit for a message; for any object at all."""
    try:
        text = str(value) if isinstance(value, Fraction) else repr(value)
    except ValueError:  # an integer beyond Python's limit of printed digits
        text = f"a {type(value).__name__} of thousands of digits"
    if len(text) <= 60:
        return text
    quote = text[0] if text[0] in "'\"" else ""  # a text that is cut has its second quote all the same
    return text[: 57 - len(quote)] + "..." + quote
