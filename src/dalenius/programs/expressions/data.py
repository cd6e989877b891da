"""What an expression is given, checked: affine expressions, and data, which are numbers or parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

from dalenius.errors import InputError
from dalenius.exact import brief
from dalenius.information.arrays import Floats

__all__ = ["SUM", "Data", "data", "derived", "matrix", "numbers", "vector"]

Data: TypeAlias = ArrayLike | cp.Expression
SUM = 1e-9  # how far a law may be from summing to 1


def derived(function: Callable[..., ArrayLike], shape: tuple[int, ...], *given: cp.Expression) -> cp.Expression:
    """A function of data: a constant, or a parameter that is computed from parameters, whatever their curvature would say."""

    def value() -> ArrayLike | None:
        values = [item.value for item in given]
        return None if any(v is None for v in values) else function(*values)

    if any(item.parameters() for item in given):
        return cp.CallbackParam(value, shape)
    return cp.Constant(value())


def matrix(name: str, expression: cp.Expression) -> cp.Expression:
    result = cp.Expression.cast_to_const(expression)
    if result.ndim != 2:
        raise InputError(f"{name}: expected a matrix, got shape {result.shape}")
    return result


def vector(name: str, expression: cp.Expression, size: int | None) -> cp.Expression:
    result = cp.Expression.cast_to_const(expression)
    if result.ndim != 1 or size not in (None, result.size):
        raise InputError(f"{name}: expected a vector{f' of {size}' if size else ''}, got shape {result.shape}")
    return result


def numbers(name: str, value: ArrayLike) -> Floats:
    try:
        if not np.iscomplexobj(value):
            return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        pass
    raise InputError(f"{name}: expected real numbers, got {brief(value)}")


def data(
    name: str, value: Data, shape: tuple[int | None, ...], *, law: bool = False, rows: bool = False
) -> cp.Expression:
    """Data as an expression without variables; numbers are checked, parameters have none yet."""
    given = value if isinstance(value, cp.Expression) else cp.Constant(numbers(name, value))
    if given.variables():
        raise InputError(f"{name}: expected numbers or parameters, got an expression in variables")
    if len(shape) != given.ndim or any(want not in (None, have) for want, have in zip(shape, given.shape, strict=True)):
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise InputError(f"{name}: expected shape ({wanted}), got {given.shape}")
    if not given.parameters():
        _check_numbers(name, np.asarray(given.value), law=law, rows=rows)
    return given


def _check_numbers(name: str, values: Floats, *, law: bool, rows: bool) -> None:
    if not np.isfinite(values).all():
        raise InputError(f"{name}: expected finite numbers")
    if (law or rows) and ((values < 0.0).any() or abs(values.sum(axis=1 if rows else None) - 1.0).max() > SUM):
        raise InputError(f"{name}: expected nonnegative numbers{' whose rows each' if rows else ' that'} sum to 1")
