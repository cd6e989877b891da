"""Affine expressions of the modelling language in exact numbers, entry by entry.

The language itself multiplies and adds coefficients in doubles, and rounds. Here a double is the binary number that it is, and sums
and products are exact, so that what is proved of the result is proved of what the expression says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.affine_atom import AffAtom
from cvxpy.atoms.affine.binary_operators import DivExpression, MulExpression, multiply
from cvxpy.atoms.affine.cumsum import cumsum
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.sum import Sum
from cvxpy.atoms.affine.trace import Trace
from cvxpy.atoms.affine.unary_operators import NegExpression
from cvxpy.atoms.affine.wraps import Wrap
from cvxpy.reductions.dcp2cone.cone_matrix_stuffing import ConeMatrixStuffing
from flint import fmpq
from numpy.typing import NDArray
from scipy.sparse import issparse

from cvxcertify.errors import InputError
from cvxcertify.instance import Terms, exactly

CONSTANT = -1  # the column of an affine form's constant
MOST = 20_000_000  # entries of an intermediate array
ZERO = fmpq(0)
Entries: TypeAlias = NDArray[Any]  # of dictionaries: columns and their coefficients
MOVES = {  # atoms that only move entries, and fill up with zeros: what they do to an array of numbers, they do to one of anything
    "Concatenate", "Hstack", "Vstack", "broadcast_to", "diag_mat", "diag_vec", "index", "reshape", "special_index", "transpose",
    "upper_tri",
}  # fmt: skip


class Exactly:
    """Reads affine expressions whose variables are known columns, the entries of each row by row.

    Attributes
    ----------
    rounded : set of str
        Atoms whose coefficients were taken as the modelling language computes them in doubles.
    """

    def __init__(self, starts: Mapping[int, int]) -> None:
        self.starts, self.rounded = starts, set[str]()
        self._known: dict[int, tuple[cp.Expression, Entries]] = {}

    def forms(self, expression: cp.Expression) -> list[Terms]:
        """The entries in column-major order, each as columns and coefficients; the constant's column is -1."""
        return list(self._entries(expression).reshape(-1, order="F"))

    def _entries(self, expression: cp.Expression) -> Entries:
        if id(expression) not in self._known:  # the expression is kept, so that no other gets its number
            self._known[id(expression)] = expression, self._made(expression)
        return self._known[id(expression)][1]

    def _made(self, expression: cp.Expression) -> Entries:
        if expression.size > MOST:
            raise InputError(f"certify: an expression of {expression.size} entries is too large; at most {MOST}")
        if isinstance(expression, cp.Variable):
            start = self.starts[expression.id]
            return _filled(expression.shape, ({start + j: fmpq(1)} for j in range(expression.size)))
        if not expression.args or (expression.is_constant() and not isinstance(expression, AffAtom)):
            if expression.args:
                self.rounded.add(type(expression).__name__)
            return _constants(expression)
        known = RULES.get(type(expression))
        parts = [self._entries(part) for part in expression.args]
        if known is not None:
            return known(expression, parts)
        if isinstance(expression, Wrap):
            return parts[0]
        if type(expression).__name__ in MOVES:
            return _moved(expression, parts)
        return self._as_stored(expression)

    def _as_stored(self, expression: cp.Expression) -> Entries:
        """Coefficients as the modelling language computes them."""
        self.rounded.add(type(expression).__name__)
        if expression.is_constant():
            return _constants(expression)
        program, _ = ConeMatrixStuffing().apply(cp.Problem(cp.Minimize(0), [expression == 0]))
        _, _, A, b = program.apply_parameters()
        columns = {
            program.var_id_to_col[variable.id] + k: self.starts[variable.id] + int(j)
            for variable in program.variables
            for k, j in enumerate(np.arange(variable.size).reshape(variable.shape).reshape(-1, order="F"))
        }
        forms = [{CONSTANT: exactly(x)} if x else {} for x in np.asarray(b).reshape(-1).tolist()]
        entries = A.tocoo()
        for i, j, x in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True):
            _add(forms[i], {columns[j]: exactly(x)})
        return _filled(expression.shape, forms, order="F")


def _filled(shape: tuple[int, ...], entries: Iterable[Terms], order: str = "C") -> Entries:
    listed = list(entries)
    found = np.empty(len(listed), dtype=object)
    for k, entry in enumerate(listed):  # numpy would take apart what has a length
        found[k] = entry
    return found.reshape(shape, order=order)  # type: ignore[call-overload]


def _constants(expression: cp.Expression) -> Entries:
    value = expression.value
    if value is None:
        raise InputError(
            f"certify: parameter {', '.join(p.name() for p in expression.parameters())} has no value; set it"
        )
    dense = np.asarray(value.toarray() if issparse(value) else value, dtype=float).reshape(expression.shape)
    if not np.all(np.isfinite(dense)):
        raise InputError("certify: expected finite numbers in the model, got infinite ones or NaN")
    return _filled(expression.shape, ({CONSTANT: exactly(x)} if x else {} for x in dense.reshape(-1).tolist()))


def _add(into: Terms, form: Terms) -> None:
    for j, x in form.items():
        if total := into.get(j, ZERO) + x:
            into[j] = total
        else:
            into.pop(j, None)


def _total(forms: Iterable[Terms]) -> Terms:
    found: Terms = {}
    for form in forms:
        _add(found, form)
    return found


def _times(left: Terms, right: Terms) -> Terms:
    """Of two forms one of which is a constant."""
    number, form = (left, right) if not left or {*left} == {CONSTANT} else (right, left)
    factor = number.get(CONSTANT, ZERO)
    return {j: factor * x for j, x in form.items()} if factor else {}


def _elementwise(left: Entries, right: Entries) -> Entries:
    left, right = np.broadcast_arrays(left, right)
    return _filled(left.shape, (_times(p, q) for p, q in zip(left.flat, right.flat, strict=True)))


def _sums(_: Any, parts: Sequence[Entries]) -> Entries:
    first, *others = np.broadcast_arrays(*parts)
    return _filled(
        first.shape, (_total(entries) for entries in zip(first.flat, *(x.flat for x in others), strict=True))
    )


def _quotient(_: Any, parts: Sequence[Entries]) -> Entries:
    if not all(parts[1].flat):
        raise InputError("certify: the model divides by 0")
    inverses = _filled(parts[1].shape, ({CONSTANT: 1 / form[CONSTANT]} for form in parts[1].flat))
    return _elementwise(parts[0], inverses)


def _matrix_product(expression: cp.Expression, parts: Sequence[Entries]) -> Entries:
    left, right = parts
    if left.ndim == 0 or right.ndim == 0:
        return _elementwise(left, right)
    if max(left.ndim, right.ndim) > 2:
        left, right = np.broadcast_arrays(left[..., None], right[..., None, :, :])
        return _along(_elementwise(left, right), (left.ndim - 2,)).reshape(expression.shape)
    rows, columns = left.reshape(-1, left.shape[-1]), right.reshape(right.shape[0], -1)
    kept = [[(k, form) for k, form in enumerate(row) if form] for row in rows]
    found = [_total(_times(form, column[k]) for k, form in row if column[k]) for row in kept for column in columns.T]
    return _filled(expression.shape, found)


def _along(entries: Entries, axes: tuple[int, ...]) -> Entries:
    """Sums over these axes."""
    rest = [k for k in range(entries.ndim) if k not in axes]
    moved = np.transpose(entries, [*rest, *axes])
    shape = moved.shape[: len(rest)]
    flat = moved.reshape(int(np.prod(shape)), -1)
    return _filled(shape, (_total(row) for row in flat))


def _sum(expression: cp.Expression, parts: Sequence[Entries]) -> Entries:
    axis = expression.axis
    axes = range(parts[0].ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    return _along(parts[0], tuple(k % max(parts[0].ndim, 1) for k in axes)).reshape(expression.shape)


def _running(expression: cp.Expression, parts: Sequence[Entries]) -> Entries:
    entries = parts[0].reshape(-1) if expression.axis is None else parts[0]
    moved = np.moveaxis(entries, expression.axis or 0, 0).copy()
    for k in range(1, len(moved)):
        moved[k] = _sums(None, [moved[k - 1], moved[k]])
    return np.moveaxis(moved, 0, expression.axis or 0)


def _moved(expression: cp.Expression, parts: Sequence[Entries]) -> Entries:
    """The atom tells, of entries that are only numbered from 1 on, which goes where."""
    listed = [Terms(), *(form for part in parts for form in part.flat)]
    ends = np.cumsum([1, *(part.size for part in parts)])
    numbers = [
        np.arange(end - part.size, end, dtype=float).reshape(part.shape)
        for part, end in zip(parts, ends[1:], strict=True)
    ]
    places = np.asarray(expression.numeric(numbers)).reshape(-1)
    return _filled(expression.shape, (listed[int(k)] for k in places))


def _trace(expression: cp.Expression, parts: Sequence[Entries]) -> Entries:
    return _along(np.diagonal(parts[0], axis1=-2, axis2=-1), (parts[0].ndim - 2,)).reshape(expression.shape)


RULES: dict[type, Callable[[Any, Sequence[Entries]], Entries]] = {
    AddExpression: _sums,
    NegExpression: lambda _, parts: _filled(parts[0].shape, ({j: -x for j, x in f.items()} for f in parts[0].flat)),
    multiply: lambda _, parts: _elementwise(*parts),
    MulExpression: _matrix_product,
    DivExpression: _quotient,
    Sum: _sum,
    cumsum: _running,
    Promote: lambda expression, parts: np.broadcast_to(parts[0], expression.shape),
    Trace: _trace,
}
