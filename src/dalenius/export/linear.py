"""MPS and LP files of linear instances, every double to its last bit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.sparse import csc_array

from dalenius.errors import InputError
from dalenius.programs import StandardForm
from dalenius.programs.standard_form import Columns, Rows

__all__ = ["lp_text", "mps_text"]

WIDTH = 200  # of a line of an LP file: some readers cut off after 255 characters
SIGNS = {"zero": "=", "nonnegative": ">="}
DROPPED, REFUSED = 1e-9, 1e15  # entries of A that HiGHS leaves out, that it refuses
INFINITE = 1e20  # a cost or a side that it takes for infinite


def mps_text(form: StandardForm) -> str:
    """The instance as a free MPS file, OBJSENSE and the objective's constant (a right-hand side with its sign turned) included.

    Raises
    ------
    InputError
        If the instance has other cones than zero and nonnegative ones, or numbers that readers would change.
    """
    names, rows = _names(form.columns), _names(form.rows)
    _need_readable(form, "mps")
    kinds = [kind for part in form.rows for kind in ["E" if part.cone == "zero" else "G"] * part.size]
    lines = [f"NAME {form.program}", "OBJSENSE", f"    {'MAX' if form.maximises else 'MIN'}", "ROWS", " N objective"]
    lines += [f" {kind} {row}" for kind, row in zip(kinds, rows, strict=True)]
    lines += ["COLUMNS", *_entries(form, names, rows), "RHS"]
    lines += [f" RHS objective {-form.offset!r}"] if form.offset else []
    lines += [f" RHS {row} {-x!r}" for row, x in zip(rows, form.b.tolist(), strict=True) if x]
    lines += ["BOUNDS", *(f" FR BOUND {name}" for name in names), "ENDATA"]
    return "\n".join(lines) + "\n"


def lp_text(form: StandardForm) -> str:
    """The instance as an LP file, as CPLEX has it; columns and rows stand in our order.

    Raises
    ------
    InputError
        If the instance has other cones than zero and nonnegative ones, or numbers that readers would change.
    """
    names, rows = _names(form.columns), _names(form.rows)
    _need_readable(form, "lp")
    objective = zip(form.c.tolist(), names, strict=True)  # all of them: readers number columns as they come
    constant = [f" {_signed(form.offset)}"] if form.offset else []
    lines = ["Maximize" if form.maximises else "Minimize", *_wrapped("objective", [*_terms(objective), *constant])]
    lines.append("Subject To")
    signs = [sign for part in form.rows for sign in [SIGNS[part.cone]] * part.size]
    ends = zip(rows, signs, form.b.tolist(), form.A.indptr[:-1].tolist(), form.A.indptr[1:].tolist(), strict=True)
    for row, sign, b, start, end in ends:
        members = zip(form.A.data[start:end].tolist(), form.A.indices[start:end].tolist(), strict=True)
        terms = [(x, names[j]) for x, j in members] or [(0.0, names[0])]
        lines += _wrapped(row, [*_terms(terms), f" {sign} {-b + 0.0!r}"])
    lines += ["Bounds", *(f" {name} free" for name in names), "End"]
    return "\n".join(lines) + "\n"


def _need_readable(form: StandardForm, what: str) -> None:
    """Linear, and every number such that it is read back as it is."""
    if not form.linear:
        other = " and ".join(cone for cone, size in form.sizes.items() if size and cone not in SIGNS)
        raise InputError(
            f"{what}: {form.program} has {other} cones, and this format is for linear programs; use cbf, clarabel, mosek or json"
        )
    others = np.concatenate([form.c, form.b, [form.offset]])
    entries, sizes = form.A.data, abs(form.A.data)
    changed = [*entries[(sizes <= DROPPED) | (sizes >= REFUSED)], *others[abs(others) >= INFINITE]]
    if changed:
        raise InputError(
            f"{what}: readers of this format would change the number {changed[0]:.6g}: they want entries of A between {DROPPED:g} and "
            f"{REFUSED:g}, and others below {INFINITE:g}; use cbf, clarabel, mosek or json"
        )


def _names(parts: tuple[Columns, ...] | tuple[Rows, ...]) -> list[str]:
    return [f"{part.name}_{j}" for part in parts for j in range(part.size)]


def _entries(form: StandardForm, names: list[str], rows: list[str]) -> Iterator[str]:
    A = csc_array(form.A)
    for j, name in enumerate(names):
        yield f" {name} objective {form.c[j].item()!r}"
        for k in range(A.indptr[j], A.indptr[j + 1]):
            yield f" {name} {rows[A.indices[k]]} {A.data[k].item()!r}"


def _signed(x: float) -> str:
    return f"{'-' if x < 0.0 else '+'} {abs(x)!r}"


def _terms(terms: Iterable[tuple[float, str]]) -> Iterator[str]:
    for x, name in terms:
        yield f" {_signed(x)} {name}"


def _wrapped(name: str, pieces: list[str]) -> list[str]:
    lines = [f" {name}:"]
    for piece in pieces:
        if len(lines[-1]) + len(piece) > WIDTH:
            lines.append(" ")
        lines[-1] += piece
    return lines
