"""Answers as JSON knows them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

from dalenius.exact import fraction_text
from dalenius.intervals import plain_above, plain_below


def plain(answer: object) -> Any:
    """Plain JSON data: null for numbers that are not finite, text for exact ones and paths, an enumeration's word.

    >>> plain((Fraction(1, 3), math.inf, Path("a")))
    ['1/3', None, 'a']
    """
    match answer:
        case Enum():
            return answer.value
        case float():
            return answer if math.isfinite(answer) else None
        case Fraction():
            return fraction_text(answer)
        case Path():
            return str(answer)
        case Mapping():
            return {key: plain(_outward(key, value)) for key, value in answer.items()}
        case list() | tuple():
            return [plain(value) for value in answer]
    if is_dataclass(answer) and not isinstance(answer, type):
        return plain({part.name: getattr(answer, part.name) for part in fields(answer)})
    return answer


def _outward(key: object, value: object) -> object:
    """An end of an interval as a double whose decimal, too, is on the right side of it."""
    if not isinstance(value, float) or math.isnan(value):
        return value
    return plain_below(value) if key == "lower" else plain_above(value) if key == "upper" else value
