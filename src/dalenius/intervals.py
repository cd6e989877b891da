"""Ends of intervals as text for people: by the functions of `cvxcertify.intervals`, which all packages share."""

from cvxcertify.intervals import (
    ends_text,
    gap_text,
    interval_text,
    percent_text,
    plain_above,
    plain_below,
    text_above,
    text_below,
)

__all__ = [
    "ends_text",
    "gap_text",
    "interval_text",
    "percent_text",
    "plain_above",
    "plain_below",
    "text_above",
    "text_below",
]
