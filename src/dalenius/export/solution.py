"""The way back: a solution of an exported instance, from whatever tool, as an interval that our closed forms certify."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dalenius.errors import InputError, brief, naming
from dalenius.export.standard import digest, numbers_of, object_of, read_file, text_of
from dalenius.files import write_whole
from dalenius.information.arrays import Floats
from dalenius.programs import BlockSolution, Program, StandardForm
from dalenius.strict_json import object_text

FORMAT = "dalenius-solution/1"
ORDERS = ("xyz", "zyx")


@dataclass(frozen=True)
class Solution:
    """Solution of another tool. Nothing in it is trusted.

    Attributes
    ----------
    x : array, or mapping of name -> array
        All columns of the instance in their order; or the program's own variables by name, as many as there are.
    z : array, mapping of name -> array, or None
        All rows' multipliers, in the dual cones whatever the sense; or those of the program's own constraints by name. None: the
        bound of the interval is then what the program knows without a solver.
    exponential_order : {"xyz", "zyx"}
        How the three members of an exponential cone stand in a vector z: as in our files and Clarabel's, or as in CBF and MOSEK.
    program, instance : str, optional
        Which program, and the digest of which instance, this claims to be about.
    """

    x: Floats | Mapping[str, Floats]
    z: Floats | Mapping[str, Floats] | None = None
    exponential_order: str = "xyz"
    program: str | None = None
    instance: str | None = None


def certify(program: Program, solution: Solution, *, gap: float = 1e-8) -> BlockSolution:
    """The interval that a solution proves: its point repaired, its multipliers projected, both ends in closed form.

    Raises
    ------
    InputError
        If the solution has another size, or says that it is about another program or instance.

    >>> from dalenius.programs import MarginalUpdate
    >>> program = MarginalUpdate(np.array([[0.9, 0.1], [0.2, 0.8]]), np.zeros(2), 0.5)
    >>> answer = certify(program, Solution({"pi": np.array([0.518, 0.481])}, {"entropy": np.array(0.0)}))
    >>> round(answer.lower, 5), round(answer.upper, 5)
    (0.2757, 0.2767)
    """
    form = program.standard_form()
    if solution.program is not None and solution.program != program.name:
        raise InputError(f"solution: it is about {brief(solution.program)}, and this is {program.name}")
    if solution.instance is not None and solution.instance != digest(form):
        raise InputError(
            'solution: it is about another instance (the digests differ); leave out "instance" to have it certified for this one'
        )
    point = _by_name(solution.x, {part.name: part.shape for part in form.columns if not part.auxiliary}, "variables")
    if point is None:
        point = form.variables(np.asarray(solution.x, dtype=float))
    return program.certify(point, _duals(form, solution), gap=gap)


def _duals(form: StandardForm, solution: Solution) -> dict[str, Floats]:
    if solution.z is None:
        return {}
    shapes = {x.name: (3, *x.shape) if x.cone == "exponential" else x.shape for x in form.rows if not x.auxiliary}
    if (duals := _by_name(solution.z, shapes, "duals")) is not None:
        return duals
    z = np.asarray(solution.z, dtype=float)
    if z.shape == form.b.shape and solution.exponential_order == "zyx":
        z = z[form.exponential_reversed()]
    return form.duals(z)


def _by_name(given: Any, shapes: Mapping[str, tuple[int, ...]], what: str) -> dict[str, Floats] | None:
    """Named arrays of the right shapes; None if these are a vector."""
    if not isinstance(given, Mapping):
        return None
    found = {}
    for name, value in given.items():
        if name not in shapes:
            raise InputError(f"{what}: unknown name {brief(name)}; expected {', '.join(shapes)}")
        found[name] = np.asarray(value, dtype=float)
        if found[name].shape != shapes[name]:
            raise InputError(f"{what}.{name}: expected shape {shapes[name]}, got {found[name].shape}")
    return found


def read_solution(path: str | Path) -> Solution:
    """Read a solution file (docs/export.md).

    Raises
    ------
    InputError
        If it cannot be read, or anything in it is not as the documentation says; the message names the place.
    """
    text = read_file(path, "a solution")
    with naming(path):
        return parse_solution(text)


def parse_solution(text: str) -> Solution:
    """The solution in a text; `InputError` if there is none.

    >>> parse_solution('{"format": "dalenius-solution/1", "variables": {"pi": [0.5, 0.5]}}').x["pi"].tolist()
    [0.5, 0.5]
    """
    optional = ("x", "variables", "z", "duals", "exponential_order", "program", "instance", "solver")
    found = object_of(text, "solution", FORMAT, ("format",), optional)
    if ("x" in found) == ("variables" in found):
        raise InputError('solution: expected either "x" or "variables"')
    if "z" in found and "duals" in found:
        raise InputError('solution: expected at most one of "z" and "duals"')
    texts = {key: text_of(found[key], key) for key in ("program", "instance", "solver") if key in found}
    order = found.get("exponential_order", "xyz")
    if order not in ORDERS:
        raise InputError(f"exponential_order: expected one of {', '.join(ORDERS)}; got {brief(order)}")
    x, z = (_vector_or_named(found, *keys) for keys in (("x", "variables"), ("z", "duals")))
    assert x is not None
    return Solution(x, z, order, texts.get("program"), texts.get("instance"))


def _vector_or_named(found: Mapping[str, Any], vector: str, named: str) -> Floats | dict[str, Floats] | None:
    if vector in found:
        return numbers_of(found[vector], vector)
    if named not in found:
        return None
    if not isinstance(found[named], dict):
        raise InputError(f"{named}: expected an object of names and arrays, got {brief(found[named])}")
    return {name: _array(value, f"{named}.{name}") for name, value in found[named].items()}


def _array(value: Any, what: str, depth: int = 4) -> Floats:
    """A number, or nested lists of numbers of equal lengths."""
    if not isinstance(value, list):
        return numbers_of([value], what)[0]
    if depth == 0:
        raise InputError(f"{what}: expected at most 4 nested lists")
    if not any(isinstance(entry, list) for entry in value):
        return numbers_of(value, what)
    parts = [_array(entry, f"{what}[{j}]", depth - 1) for j, entry in enumerate(value)]
    if len({np.shape(part) for part in parts}) > 1:
        raise InputError(f"{what}: expected lists of equal lengths")
    return np.stack(parts)


def write_solution(
    path: str | Path, form: StandardForm, x: Floats, z: Floats | None = None, *, solver: str = ""
) -> Path:
    """Write a solution of an instance, vectors in the order of its columns and rows; exponential cones as (x, y, z).

    Raises
    ------
    InputError
        If a vector has another length or is not finite, or the file cannot be written.
    """
    vectors = {"x": (x, form.c.size)} | ({} if z is None else {"z": (z, form.b.size)})
    found: dict[str, Any] = {"format": FORMAT, "program": form.program, "instance": digest(form), "solver": solver}
    for name, (vector, size) in vectors.items():
        vector = np.asarray(vector, dtype=float)
        if vector.shape != (size,) or not np.all(np.isfinite(vector)):
            raise InputError(f"{name}: expected {size} finite numbers")
        found[name] = vector.tolist()
    return write_whole(path, object_text(found) + "\n")
