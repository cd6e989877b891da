"""The numbers that proofs are made of: rationals, balls, matrices of balls, and polynomials to count with.

Two arithmetics stand behind the same names: python-flint, and the checker's own, in the standard library alone. A check chooses one
for its whole run, as a block of `decimal` chooses its context; the rest of the checker does not know which one it has. What types
say of these names is said of the checker's own, which has what the checker needs, and no more.

The choice, and the precision of the checker's own balls, hold for the thread that made them. FLINT has one precision for all
threads: checks in two of them at once may be coarser or finer than they say, and are as certain.
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
from .matrices import Matrix, Polynomial
from .vectors import Listed, Vector

NAMES = ("auto", "flint", "python")


@dataclass(frozen=True)
class Arithmetic:
    """An arithmetic: makers of numbers, the block that sets the bits of balls, their types, and its name."""

    words: str
    ball: Callable[..., Any]
    matrix: Callable[..., Any]
    rational: type
    polynomial: Callable[..., Any]
    vector: Any
    workprec: Callable[[int], AbstractContextManager[Any]]
    precision: Callable[[], int]


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
                    f"arithmetic: flint is not there ({error}); install python-flint, or use python"
                ) from None
            words += ", because python-flint is not installed"
    return Arithmetic(words, Ball, Matrix, Fraction, Polynomial, Vector, balls.workprec, balls.precision)


@cache
def _flint() -> Arithmetic:
    import flint  # only where it is chosen: a proof without it is one without its code in the process

    context = flint.ctx
    words = f"python-flint {flint.__version__}"
    makers = flint.arb, flint.arb_mat, flint.fmpq, flint.fmpz_poly, Listed
    return Arithmetic(words, *makers, context.workprec, lambda: int(context.prec))


_CHOSEN: ContextVar[Arithmetic | None] = ContextVar("arithmetic", default=None)


@contextmanager
def using(arithmetic: Arithmetic) -> Iterator[None]:
    """A block in which numbers are made by this arithmetic."""
    token = _CHOSEN.set(arithmetic)
    try:
        yield
    finally:
        _CHOSEN.reset(token)


def chosen() -> Arithmetic:
    """The arithmetic of this block; outside of all blocks that for `auto`."""
    return _CHOSEN.get() or choose("auto")


def is_rational(value: object) -> bool:
    """True if this is one of the arithmetic's rationals."""
    return isinstance(value, chosen().rational)


if TYPE_CHECKING:
    arb: TypeAlias = Ball
    arb_mat: TypeAlias = Matrix
    fmpq: TypeAlias = Fraction
    fmpz_poly: TypeAlias = Polynomial
    arb_vec: TypeAlias = Any
else:

    def arb(value=0):
        """A ball around a number."""
        return chosen().ball(value)

    def arb_mat(*shape):
        """A matrix of balls: from lists of rows, or from its height, its width and its entries, row by row."""
        return chosen().matrix(*shape)

    def fmpq(*parts):
        """A rational: p, or p/q."""
        return chosen().rational(*parts)

    def fmpz_poly(coefficients):
        """A polynomial by its coefficients, in ascending order."""
        return chosen().polynomial(coefficients)

    def arb_vec(balls):
        """A vector of balls."""
        return chosen().vector.of(balls)
