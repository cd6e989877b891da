"""Arguments of atoms: numbers and parameters, checked, and affine expressions of variables."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import TypeAlias

import cvxpy as cp
import numpy as np
from numpy.typing import ArrayLike

from cvxcertify.errors import brief
from dalenius.errors import InputError
from dalenius.information.arrays import Floats

Data: TypeAlias = ArrayLike | cp.Expression
SUM = 1e-9  # how far a law may be from summing to 1


def derived(
    function: Callable[..., ArrayLike], shape: tuple[int, ...], *given: cp.Expression, nonneg: bool = False
) -> cp.Expression:
    """A function of data: a constant, or a parameter that is computed from parameters, whatever their curvature would say."""

    def value() -> ArrayLike | None:
        values = [item.value for item in given]
        return None if any(v is None for v in values) else function(*values)

    parameters = {parameter.name(): parameter for item in given for parameter in item.parameters()}
    if parameters:
        return cp.CallbackParam(value, shape, nonneg=nonneg, name=", ".join(parameters))
    return cp.Constant(value())


def known(expression: cp.Expression) -> Floats:
    """The numbers of what has neither variables nor parameters."""
    return np.asarray(expression.value, dtype=float)


def affine(name: str, value: Data) -> cp.Expression:
    """An affine expression of any shape; numbers are finite."""
    given = value if isinstance(value, cp.Expression) else cp.Constant(numbers(name, value))
    if not given.is_affine():
        raise InputError(f"{name}: expected an affine expression, got one that cvxpy calls {given.curvature.lower()}")
    if given.is_constant() and not given.parameters() and not np.isfinite(known(given)).all():
        raise InputError(f"{name}: expected finite numbers")
    return given


def matrix(name: str, expression: Data) -> cp.Expression:
    result = affine(name, expression)
    if result.ndim != 2:
        raise InputError(f"{name}: expected a matrix, got shape {result.shape}")
    return result


def vector(name: str, expression: Data, size: int | None) -> cp.Expression:
    result = affine(name, expression)
    if result.ndim != 1 or size not in (None, result.size):
        raise InputError(f"{name}: expected a vector{f' of {size}' if size else ''}, got shape {result.shape}")
    return result


def number(name: str, value: object) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise InputError(f"{name}: expected a finite number, got {brief(value)}")
    return float(value)


def factor(epsilon: Data) -> cp.Expression:
    """e^epsilon, of a number or a parameter of nats."""
    given = data("epsilon", epsilon, ())
    return derived(np.exp, (), given, nonneg=True)


def masses_of(prior: Data, inputs: int) -> cp.Expression:
    """Masses (letters, inputs); of a law of the inputs these are the letters."""
    given = data("prior", prior, (inputs,) if np.ndim(prior) == 1 else (None, inputs), law=True)
    return occurring(cp.diag(given) if given.ndim == 1 else given)


def occurring(masses: cp.Expression) -> cp.Expression:
    """Its rows that have mass, where that is known: cones of rows without are degenerate."""
    if masses.parameters():
        return masses
    value = known(masses)
    return cp.Constant(value[value.sum(axis=1) > 0.0])


def repeated(law: cp.Expression, count: int) -> cp.Expression:
    """A vector as each of so many rows."""
    return np.ones((count, 1)) @ cp.reshape(law, (1, law.size), order="C")


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
        _check_numbers(name, known(given), law=law, rows=rows)
    return given


def _check_numbers(name: str, values: Floats, *, law: bool, rows: bool) -> None:
    if not np.isfinite(values).all():
        raise InputError(f"{name}: expected finite numbers")
    if (law or rows) and ((values < 0.0).any() or abs(values.sum(axis=1 if rows else None) - 1.0).max() > SUM):
        raise InputError(f"{name}: expected nonnegative numbers{' whose rows each' if rows else ' that'} sum to 1")
