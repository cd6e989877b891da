"""A model of one's own as a conic instance with names, for other people's solvers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import cvxpy as cp

from dalenius.programs.own.derive import Derived, derived, unused
from dalenius.programs.own.instance import as_float
from dalenius.programs.standard_form import Columns, Rows, StandardForm

__all__ = ["Model", "conic_form"]

Model = cp.Problem
STRANGE = re.compile(r"[^A-Za-z0-9_]", re.ASCII)


def conic_form(problem: Model, *, name: str = "own") -> StandardForm:
    """The conic form of a model of one's own, its numbers rounded to the nearest doubles.

    Columns and rows stand as in the proofs of `certify`: the model's variables first, each row by row, then those that only the conic
    form has. Of a symmetric variable the entries on and above the diagonal are kept. Letters, digits and _ are left of names.

    Raises
    ------
    InputError
        As `certify`, of the problem.

    >>> x = cp.Variable(2, nonneg=True, name="share")
    >>> form = conic_form(cp.Problem(cp.Maximize(cp.sum(cp.entr(x))), [cp.sum(x) == 1, cp.norm(x) <= 0.8]))
    >>> [(part.name, part.shape) for part in form.columns], form.sizes
    ([('share', (2,)), ('auxiliary_1', (2,)), ('auxiliary_2', ())], {'zero': 1, 'nonnegative': 3, 'second-order': 3, 'exponential': 6})
    """
    model = derived(problem)
    instance = model.instance
    c, A, b = instance.doubles
    sign = -1.0 if model.maximises else 1.0
    return StandardForm(
        program=name,
        maximises=model.maximises,
        c=sign * c + 0.0,  # no negative zeros
        offset=sign * as_float(instance.offset) + 0.0,
        A=A,
        b=b,
        columns=tuple(_columns(model)),
        rows=tuple(_rows(model)),
    )


def _columns(model: Derived) -> Iterator[Columns]:
    taken = set[str]()
    for block in model.blocks:
        if block.own is None:
            name = _numbered("auxiliary", taken)
        else:
            plain = STRANGE.sub("_", block.own.name())[:90]
            name = unused(plain if plain[:1].isalpha() else f"x{plain}", taken)
        taken.add(name)
        yield Columns(name, tuple(block.variable.shape), auxiliary=block.own is None)


def _numbered(name: str, taken: set[str]) -> str:
    return next(text for text in (f"{name}_{k}" for k in range(1, len(taken) + 2)) if text not in taken)


def _rows(model: Derived) -> Iterator[Rows]:
    """A block a cone, but one for all exponential ones."""
    cones, count = model.instance.cones, 0
    for kind in dict.fromkeys(cone.kind for cone in cones):
        sizes = [cone.size for cone in cones if cone.kind == kind]
        if kind == "exponential":
            yield Rows(kind, kind, (len(sizes),), auxiliary=True)
            continue
        for size in sizes:
            count += 1
            yield Rows(f"{kind.replace('-', '_')}_{count}", kind, (size,), auxiliary=True)
