"""The conic standard form of a program, with names, in an order that does not depend on the modelling language's."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_array

from cvxcertify.instance import CONES
from dalenius.errors import DaleniusError, InputError, brief
from dalenius.information.arrays import Floats, Integers

USUAL = ("zero", "nonnegative", "exponential")  # those of the package's own programs
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}", re.ASCII)


@dataclass(frozen=True)
class Columns:
    """Consecutive columns that make up one variable, row-major; `auxiliary` where only the cone form has it."""

    name: str
    shape: tuple[int, ...]
    auxiliary: bool = False

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Rows:
    """Consecutive rows that make up one constraint, row-major; `auxiliary` where only the cone form has it.

    An exponential cone takes three rows (x, y, z), y > 0 and y exp(x/y) <= z, or x <= 0 = y <= z; `shape` counts cones. A second-order
    cone (t, u), t >= |u|, and a semidefinite one, the entries on and above the diagonal of a matrix, row by row, are a block each.
    """

    name: str
    cone: str
    shape: tuple[int, ...]
    auxiliary: bool = False

    @property
    def size(self) -> int:
        return math.prod(self.shape) * (3 if self.cone == "exponential" else 1)


@dataclass(frozen=True, eq=False)
class StandardForm:
    """Minimise or maximise c x + offset over all x with A x + b in a product of cones.

    Attributes
    ----------
    program : str
        Its name.
    maximises : bool
    c, offset, A, b
        Doubles; A is (rows, columns) in CSR form with sorted indices, without zeros and duplicates.
    columns, rows : tuple of Columns, of Rows
        What they are, in their order: first the program's own variables, and all the zero cones, then the nonnegative, second-order,
        semidefinite and exponential ones.

    Raises
    ------
    InputError
        If sizes do not fit, a number is not finite, a cone is unknown or out of order, or two blocks have one name or a strange one.

    Notes
    -----
    A dual z is in the dual cones with c = A' z for a minimum and c = -A' z for a maximum, so that offset - b z, or offset + b z,
    bounds the value.

    >>> A = csr_array(np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]))
    >>> rows = (Rows("total", "zero", ()), Rows("signs", "nonnegative", (2,)))
    >>> form = StandardForm("cheapest", False, np.array([1.0, 2.0]), 0.0, A, np.array([-1.0, 0.0, 0.0]), (Columns("p", (2,)),), rows)
    >>> form.linear, form.value(np.array([1.0, 0.0])), form.variables(np.array([1.0, 0.0]))["p"].tolist()
    (True, 1.0, [1.0, 0.0])
    """

    program: str
    maximises: bool
    c: Floats
    offset: float
    A: csr_array
    b: Floats
    columns: tuple[Columns, ...]
    rows: tuple[Rows, ...]

    def __post_init__(self) -> None:
        if self.A.shape != (self.b.size, self.c.size) or self.c.ndim != 1 or self.b.ndim != 1:
            raise InputError(f"standard form: A is {self.A.shape}, for {self.b.size} rows and {self.c.size} columns")
        if not all(np.all(np.isfinite(part)) for part in (self.c, self.b, self.A.data, self.offset)):
            raise InputError("standard form: expected finite numbers")
        wanted = [CONES.index(part.cone) if part.cone in CONES else -1 for part in self.rows]
        if -1 in wanted or wanted != sorted(wanted):
            raise InputError(f"standard form: expected cones in the order {', '.join(CONES)}")
        blocks: tuple[tuple[str, tuple[Columns, ...] | tuple[Rows, ...], int], ...] = (
            ("columns", self.columns, self.c.size),
            ("rows", self.rows, self.b.size),
        )
        for what, parts, size in blocks:
            if sum(part.size for part in parts) != size:
                raise InputError(f"standard form: the blocks of {what} do not make up {size}")
            if len({part.name for part in parts}) != len(parts):
                raise InputError(f"standard form: two blocks of {what} have one name")
            for name in (self.program, *(part.name for part in parts)):
                if not _NAME.fullmatch(name):
                    raise InputError(f"standard form: expected letters, digits and _ for a name, got {brief(name)}")

    @property
    def linear(self) -> bool:
        """True if there are zero and nonnegative cones only."""
        return all(part.cone in CONES[:2] for part in self.rows)

    @property
    def sizes(self) -> dict[str, int]:
        """Number of rows of each kind of cone; second-order and semidefinite ones where there are any."""
        found = {cone: sum(part.size for part in self.rows if part.cone == cone) for cone in CONES}
        return {cone: size for cone, size in found.items() if size or cone in USUAL}

    def value(self, x: Floats) -> float:
        """The objective."""
        return float(self.c @ x) + self.offset

    def variables(self, x: Floats) -> dict[str, Floats]:
        """The program's own variables in a vector of all columns."""
        parts = zip(self.columns, _split(x, self.columns, "x"), strict=True)
        return {part.name: piece.reshape(part.shape) for part, piece in parts if not part.auxiliary}

    def duals(self, z: Floats) -> dict[str, Floats]:
        """The multipliers of the program's own constraints in a vector of all rows; those of cones as (3, ...)."""
        parts = zip(self.rows, _split(z, self.rows, "z"), strict=True)
        return {part.name: _of_rows(part, piece) for part, piece in parts if not part.auxiliary}

    def exponential_reversed(self) -> Integers:
        """The order of the rows in which every exponential cone reads (z, y, x); its own inverse.

        CBF and MOSEK have this order.
        """
        order = np.arange(self.b.size)
        start = self.b.size - self.sizes["exponential"]
        order[start:] = order[start:].reshape(-1, 3)[:, ::-1].reshape(-1)
        return order


def _split(x: Floats, parts: tuple[Columns, ...] | tuple[Rows, ...], what: str) -> list[Floats]:
    x = np.asarray(x, dtype=float)
    size = sum(part.size for part in parts)
    if x.shape != (size,):
        raise InputError(f"{what}: expected {size} numbers, got shape {x.shape}")
    return np.split(x, np.cumsum([part.size for part in parts])[:-1])


def _of_rows(part: Rows, piece: Floats) -> Floats:
    if part.cone != "exponential":
        return piece.reshape(part.shape)
    return np.moveaxis(piece.reshape(*part.shape, 3), -1, 0)


def standard_form(
    name: str, problem: cp.Problem, variables: Mapping[str, cp.Variable], constraints: Mapping[str, cp.Constraint]
) -> StandardForm:
    """The conic form that the modelling language makes of a problem, in our order and with our names.

    Raises
    ------
    DaleniusError
        If it makes anything else of it than a linear objective over these cones.
    """
    data, _, inverse = problem.get_problem_data(cp.CLARABEL)
    stuffed = data["param_prob"]
    if any(data.get(key) is not None for key in ("P", "lower_bounds", "upper_bounds")):
        raise DaleniusError(f"{name}: not a linear objective over cones")
    flip = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    columns, column_order = _columns(stuffed.variables, stuffed.var_id_to_col, variables)
    rows, row_order = _rows(name, stuffed.constraints, constraints)
    A = csr_array(-data["A"])[row_order][:, column_order]
    A.sum_duplicates()
    A.eliminate_zeros()
    A.sort_indices()
    return StandardForm(
        program=name,
        maximises=flip < 0.0,
        c=flip * data["c"][column_order] + 0.0,  # no negative zeros
        offset=flip * float(inverse[-1]["offset"]) + 0.0,
        A=A,
        b=np.asarray(data["b"], dtype=float)[row_order] + 0.0,
        columns=columns,
        rows=rows,
    )


def _row_major(shape: tuple[int, ...]) -> Integers:
    """Row-major places of the entries of a column-major vector."""
    return np.arange(math.prod(shape)).reshape(shape, order="F").reshape(-1)


def _columns(
    stuffed: list[cp.Variable], starts: Mapping[int, int], variables: Mapping[str, cp.Variable]
) -> tuple[tuple[Columns, ...], Integers]:
    """The blocks, and for each of our columns its number in the modelling language's."""
    own = {variable.name(): key for key, variable in variables.items()}
    keys = {own.get(variable.name(), ""): variable for variable in stuffed}
    if not set(variables) <= set(keys):
        raise DaleniusError(f"variables {set(variables) - set(keys)} are missing in the conic form")
    rest = [variable for variable in stuffed if variable.name() not in own]
    named = [(key, keys[key], False) for key in variables]
    named += [(f"auxiliary_{j}", variable, True) for j, variable in enumerate(rest, start=1)]
    blocks = tuple(Columns(key, tuple(variable.shape), auxiliary) for key, variable, auxiliary in named)
    order = [starts[variable.id] + _row_major(variable.shape) for _, variable, _ in named]
    return blocks, np.concatenate(order)


def _rows(name: str, stuffed: list[Any], constraints: Mapping[str, cp.Constraint]) -> tuple[tuple[Rows, ...], Integers]:
    """The blocks, and for each of our rows its number in the modelling language's."""
    kinds = {cp.constraints.Zero: "zero", cp.constraints.NonNeg: "nonnegative", cp.ExpCone: "exponential"}
    own = {constraint.id: key for key, constraint in constraints.items()}
    numbers = count(1)
    blocks, order, start = [], [], 0
    for constraint in stuffed:
        if isinstance(constraint, cp.SOC):  # its multipliers are those of the equations of its parts
            for size in constraint.cone_sizes():
                blocks.append(Rows(f"auxiliary_{next(numbers)}", "second-order", (int(size),), auxiliary=True))
                order.append(start + np.arange(int(size)))
                start += int(size)
            continue
        if type(constraint) not in kinds:
            raise DaleniusError(f"{name}: unexpected cone {brief(type(constraint).__name__)}")
        key, cone = own.get(constraint.id), kinds[type(constraint)]
        shape = tuple(constraints[key].shape) if key is not None else (constraint.size,)
        if cone == "exponential":
            shape = shape[1:] if key is not None else (constraint.size // 3,)
        block = Rows(key or f"auxiliary_{next(numbers)}", cone, shape, auxiliary=key is None)
        order.append(start + _in_block(block))
        blocks.append(block)
        start += block.size
    return tuple(blocks), np.concatenate(order)


def _in_block(block: Rows) -> Integers:
    entries = _row_major(block.shape)
    return (3 * entries[:, None] + np.arange(3)).reshape(-1) if block.cone == "exponential" else entries
