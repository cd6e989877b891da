"""The numbers that proofs are made of: rationals, balls, matrices of balls, and polynomials to count with.

There are two arithmetics behind the same names: python-flint, and one of our own in the standard library alone. A check chooses
one for its whole run, as a block of `decimal` chooses its context, and the rest of the checker does not know which it has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from . import balls
from .balls import Ball
from .matrices import Matrix
from .polynomials import Polynomial

NAMES = ("auto", "flint", "python")


@dataclass(frozen=True)
class Arithmetic:
    """What makes its numbers, the block that sets the precision of balls in bits, and what to call it."""

    words: str
    ball: Callable[..., Any]
    matrix: Callable[..., Any]
    rational: type
    polynomial: Callable[..., Any]
    workprec: Callable[[int], AbstractContextManager[Any]]
    precision: Callable[[], int]


@cache
def choose(name: str) -> Arithmetic:
    """The arithmetic `flint` or `python`; for `auto` the former, where it is installed. ValueError if there is none."""
    if name not in NAMES:
        raise ValueError(f"arithmetic: expected one of {', '.join(NAMES)}, got {name!a}")
    words = "the checker's own, in the standard library alone"
    if name != "python":
        try:
            return _flint()
        except ImportError as error:
            if name == "flint":
                raise ValueError(
                    f"arithmetic: flint needs python-flint, which cannot be imported ({error}); python needs nothing"
                ) from None
            words += ", because python-flint is not installed"
    return Arithmetic(words, Ball, Matrix, Fraction, Polynomial, balls.workprec, balls.precision)


def _flint() -> Arithmetic:
    import flint

    context = flint.ctx
    return Arithmetic(
        f"python-flint {flint.__version__}",
        flint.arb,
        flint.arb_mat,
        flint.fmpq,
        flint.fmpz_poly,
        context.workprec,
        lambda: int(context.prec),
    )


_CHOSEN: ContextVar[Arithmetic | None] = ContextVar("arithmetic", default=None)


def _chosen() -> Arithmetic:
    return _CHOSEN.get() or choose("auto")


@contextmanager
def using(arithmetic: Arithmetic) -> Iterator[None]:
    """A block, of this thread alone, in which numbers are made by this arithmetic."""
    token = _CHOSEN.set(arithmetic)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def workprec(bits: int) -> AbstractContextManager[Any]:
    """A block in which balls have so many bits."""
    return _chosen().workprec(bits)


def precision() -> int:
    """The bits that balls have in this block."""
    return _chosen().precision()


def in_words() -> str:
    """What this block computes with."""
    return _chosen().words


def is_rational(value: object) -> bool:
    """Whether this is one of the arithmetic's rationals."""
    return isinstance(value, _chosen().rational)


if TYPE_CHECKING:
    arb: TypeAlias = Ball
    arb_mat: TypeAlias = Matrix
    fmpq: TypeAlias = Fraction
    fmpz_poly: TypeAlias = Polynomial
else:

    def arb(value=0):
        """A ball around a number."""
        return _chosen().ball(value)

    def arb_mat(*shape):
        """A matrix of balls: lists of rows, or its height, its width and its entries, row by row."""
        return _chosen().matrix(*shape)

    def fmpq(*parts):
        """A rational: p, or p/q."""
        return _chosen().rational(*parts)

    def fmpz_poly(coefficients):
        """A polynomial by its coefficients, in ascending order."""
        return _chosen().polynomial(coefficients)
