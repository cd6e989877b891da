"""Models of one's own, which `cvxcertify` certifies (docs/own-models.md), with our errors, files and signals; and as conic instances
with names, for other people's solvers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import cvxpy as cp

import cvxcertify
from cvxcertify.derive import Derived, derived, unused
from cvxcertify.instance import as_float
from dalenius.errors import InputError
from dalenius.files import write_whole
from dalenius.outcome import Termination
from dalenius.programs.standard_form import Columns, Rows, StandardForm
from dalenius.search import stop_requested

Model = cp.Problem
STRANGE = re.compile(r"[^A-Za-z0-9_]", re.ASCII)


@contextmanager
def as_ours() -> Iterator[None]:
    """Raise the certifier's refusals in its words, by an error of our family."""
    try:
        yield
    except cvxcertify.InputError as error:
        raise InputError(str(error)) from None


@dataclass(frozen=True, eq=False)
class CertifiedInterval(cvxcertify.CertifiedInterval):
    __doc__ = cvxcertify.CertifiedInterval.__doc__
    termination: Termination  # type: ignore[assignment]  # of the same names

    def write(self, path: str | Path) -> Path:
        """Write the proof; ``python -m cvxcertify.check PATH`` checks it with nothing of this package.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        return write_whole(path, self.proof)


@wraps(cvxcertify.certify)
def certify(problem: Model, **options: Any) -> CertifiedInterval:
    with as_ours():
        found = cvxcertify.certify(problem, **{"stop": stop_requested} | options)
    return CertifiedInterval(**vars(found) | {"termination": Termination(found.termination.value)})


@as_ours()
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
