"""Numbers that were computed elsewhere, compared to the digits that are given."""

import math

import numpy as np

import dalenius as dl


def same(value: object, *digits: str) -> None:
    """The values are these decimals, to their last digit."""
    found = np.ravel(np.asarray(value, dtype=float))
    assert found.size == len(digits)
    for x, text in zip(found, digits, strict=True):
        if text == "inf":
            assert x == math.inf
        else:
            places = len(text.partition("e")[0].partition(".")[2]) - int(text.partition("e")[2] or 0)
            assert abs(x - float(text)) <= 0.6 * 10.0**-places + 1e-15, (x, text)


def inside(found: dl.answers.Measure, digits: str, width: float = 1e-11) -> None:
    """The interval holds the decimal, but for its last digit, and is narrow."""
    if digits == "inf":
        assert found.lower == found.upper == math.inf
        return
    off = 0.6 * 10.0 ** -len(digits.partition(".")[2])
    assert found.lower - off <= float(digits) <= found.upper + off, (found, digits)
    assert found.upper - found.lower <= width
