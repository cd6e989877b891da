"""Files that other solvers read, every double to its last bit: MPS and LP of linear instances, Clarabel's own, MOSEK's."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from dalenius.errors import InputError, brief
from dalenius.export.cbf import cbf_text
from dalenius.export.standard import json_text, need_cones
from dalenius.files import write_whole
from dalenius.programs import Model, Program, StandardForm, conic_form
from dalenius.programs.standard_form import Columns, Rows
from dalenius.programs.written import Written
from dalenius.strict_json import object_text

# MPS and LP files of linear instances, every double to its last bit.


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
    need_cones(form, what, SIGNS)
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


# Clarabel's own file: minimise q x with A x + s = b, s in the cones; what its `load_from_file` reads.


KINDS = {
    "zero": "ZeroConeT",
    "nonnegative": "NonnegativeConeT",
    "second-order": "SecondOrderConeT",
    "exponential": "ExponentialConeT",
}


def clarabel_text(form: StandardForm) -> str:
    """The file. It has no room for an offset or a maximum: the value is offset + q x, or offset - q x for a maximum.

    Raises
    ------
    InputError
        If the instance has a semidefinite cone: its rows there are scaled by the root of 2, which is no double.

    >>> import numpy as np
    >>> from dalenius.programs import MarginalUpdate
    >>> import json
    >>> file = json.loads(clarabel_text(MarginalUpdate(np.eye(2), np.zeros(2), 0.5).standard_form()))
    >>> sorted(file), file["cones"][:2], file["cones"][-1]
    (['A', 'P', 'b', 'cones', 'q'], [{'ZeroConeT': 1}, {'NonnegativeConeT': 2}], {'ExponentialConeT': []})
    """
    need_cones(form, "clarabel", KINDS)
    width = form.c.size
    cost = -form.c + 0.0 if form.maximises else form.c
    parts: dict[str, Any] = {
        "P": _sparse(csc_array((width, width))),
        "q": cost.tolist(),
        "A": _sparse(csc_array(-form.A)),
        "b": form.b.tolist(),
        "cones": [cone for part in form.rows for cone in _cones(part)],
    }
    return object_text(parts) + "\n"


def _sparse(matrix: csc_array) -> dict[str, Any]:
    matrix.sort_indices()
    height, width = matrix.shape
    places = {"colptr": matrix.indptr.tolist(), "rowval": matrix.indices.tolist()}
    return {"m": height, "n": width, **places, "nzval": [float(x) for x in matrix.data.tolist()]}


def _cones(part: Rows) -> list[dict[str, Any]]:
    if part.cone == "exponential":
        return [{"ExponentialConeT": []}] * (part.size // 3)
    return [{KINDS[part.cone]: part.size}] if part.size else []


# SDPA's sparse format: minimise c x with x_1 F_1 + ... + x_m F_m - F_0 semidefinite, in blocks, a negative size being a diagonal one.


def sdpa_text(form: StandardForm) -> str:
    """The instance as a .dat-s file: what is 0 is at least and at most 0; of a second-order cone |u| <= t the matrix [t u'; u tI].

    A maximum is the minimum of -c x, and the file has no room for an offset: its first line says both.

    Raises
    ------
    InputError
        If there are exponential cones.
    """
    need_cones(form, "sdpa", ("zero", "nonnegative", "second-order", "semidefinite"))
    A, start, sizes, entries = form.A.tocsr(), 0, list[int](), list[tuple[int, int, int, int, float]]()
    for part in (part for part in form.rows if part.size):
        size, places = _matrix(part)
        sizes.append(size)
        for row, i, j, sign in places:
            line = [(0, -form.b[start + row]), *zip(A[[start + row]].indices + 1, A[[start + row]].data, strict=True)]
            entries += [(int(k), len(sizes), i, j, sign * float(x)) for k, x in line if x]
        start += part.size
    costs = " ".join(repr(x) for x in (-form.c + 0.0 if form.maximises else form.c).tolist())
    about = f"{'minus the maximum' if form.maximises else 'minimum'}, without the offset {form.offset!r}"
    head = [f'"{form.program}: {about}"', str(form.c.size), str(len(sizes)), " ".join(map(str, sizes)), costs]
    return "\n".join([*head, *(f"{k} {block} {i} {j} {x!r}" for k, block, i, j, x in sorted(entries))]) + "\n"


def _matrix(part: Rows) -> tuple[int, list[tuple[int, int, int, float]]]:
    """Size of a cone's block, and where (row of the cone, i, j, sign) its rows stand in the upper triangle."""
    if part.cone == "semidefinite":
        size = (math.isqrt(8 * part.size + 1) - 1) // 2
        upper = [(i, j) for i in range(1, size + 1) for j in range(i, size + 1)]
        return size, [(k, i, j, 1.0) for k, (i, j) in enumerate(upper)]
    whole = range(part.size)
    if part.cone == "second-order":
        return part.size, [(0, k + 1, k + 1, 1.0) for k in whole] + [(k, 1, k + 1, 1.0) for k in whole[1:]]
    signs = (1.0, -1.0) if part.cone == "zero" else (1.0,)
    places = [(k, 1 + s * part.size + k, 1 + s * part.size + k, sign) for s, sign in enumerate(signs) for k in whole]
    return -len(places), places


# MOSEK's own files, where MOSEK is installed: affine conic constraints with names; building and writing takes no licence.


DOMAINS = {"zero": "appendrzerodomain", "nonnegative": "appendrplusdomain", "second-order": "appendquadraticconedomain"}
ENDINGS = (".task", ".task.gz", ".task.zst", ".ptf", ".ptf.gz", ".jtask")


def write_mosek(form: StandardForm, path: str | Path) -> Path:
    """Write a task; the ending says in which of MOSEK's formats.

    Raises
    ------
    InputError
        If the instance has a semidefinite cone, MOSEK cannot be imported, the ending is none of .task, .task.gz, .task.zst, .ptf,
        .ptf.gz and .jtask, or the file cannot be written.
    """
    path = Path(path)
    ending = next((ending for ending in sorted(ENDINGS, key=len, reverse=True) if path.name.endswith(ending)), None)
    if ending is None:
        raise InputError(
            f"{path}: expected one of the endings {', '.join(ENDINGS)}, which say MOSEK in what form to write"
        )
    need_cones(form, "mosek", (*DOMAINS, "exponential"))
    try:
        import mosek
    except (ImportError, OSError):
        raise InputError("mosek: not installed here (pip install 'dalenius[mosek]'); cbf needs nothing") from None
    try:
        with tempfile.TemporaryDirectory() as folder:
            temporary = Path(folder, f"task{ending}")
            with mosek.Task() as task:
                _fill(task, form, mosek)
                task.writedata(str(temporary))
            return write_whole(path, temporary.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    except mosek.Error as error:
        raise InputError(f"{path}: MOSEK does not write it: {error}") from None


def _fill(task: Any, form: StandardForm, mosek: Any) -> None:
    width, height = form.c.size, form.b.size
    order = form.exponential_reversed()
    A = form.A[order].tocoo()
    task.puttaskname(form.program)
    task.appendvars(width)
    for j, name in enumerate(f"{part.name}_{k}" for part in form.columns for k in range(part.size)):
        task.putvarname(j, name)
    task.putvarboundsliceconst(0, width, mosek.boundkey.fr, 0.0, 0.0)
    task.putclist(list(range(width)), form.c.tolist())
    task.putcfix(form.offset)
    task.putobjsense(mosek.objsense.maximize if form.maximises else mosek.objsense.minimize)
    task.appendafes(height)
    task.putafefentrylist(A.row.tolist(), A.col.tolist(), A.data.tolist())
    task.putafegslice(0, height, form.b[order].tolist())
    start = 0
    for part in form.rows:
        _append(task, part, start)
        start += part.size


def _append(task: Any, part: Rows, start: int) -> None:
    exponential = part.cone == "exponential"
    size = 3 if exponential else part.size
    domain = task.appendprimalexpconedomain() if exponential else getattr(task, DOMAINS[part.cone])(size)
    for k in range(part.size // size if size else 0):
        members = range(start + k * size, start + (k + 1) * size)
        task.appendacc(domain, list(members), None)
        task.putaccname(task.getnumacc() - 1, f"{part.name}_{k}" if exponential else part.name)


# Every format, by name.


TEXTS: dict[str, Callable[[StandardForm], str]] = {
    "json": json_text,
    "cbf": cbf_text,
    "clarabel": clarabel_text,
    "mps": mps_text,
    "lp": lp_text,
    "sdpa": sdpa_text,
}
NL = "nl"
FORMATS = (*TEXTS, NL, "mosek")


def format_of(path: str | Path) -> str:
    """The format that a file's ending says; the ending itself where it says none.

    >>> format_of("a.mps"), format_of("a.dat-s"), format_of("a.task.gz"), format_of("a.txt")
    ('mps', 'sdpa', 'mosek', 'txt')
    """
    ending = "mosek" if str(path).endswith(ENDINGS) else Path(path).suffix.removeprefix(".")
    return "sdpa" if ending == "dat-s" else ending


def export(program: Program | StandardForm | Model | Written, path: str | Path, *, format: str | None = None) -> Path:
    """Write a program's instance, with the data that it has now, that of a model of one's own, or a program as it is written.

    Parameters
    ----------
    program : Program, StandardForm, cvxpy.Problem or Written
        Of a problem, the conic form that `dalenius.programs.certify` derives (`dalenius.programs.conic_form`).
    format : {"json", "cbf", "clarabel", "mps", "lp", "sdpa", "nl", "mosek"}, optional
        By default the ending of the path says it: .json, .cbf, .mps, .lp, .dat-s, .nl, or one of MOSEK's. ``"mps"`` and ``"lp"`` are
        for linear instances only, ``"nl"`` is for what `dalenius.export.written` lists; for ``"mosek"`` the ending says which of
        MOSEK's formats.

    Raises
    ------
    InputError
        If it is no program, the format is unknown or does not fit the instance, MOSEK is wanted and not installed, or the file cannot
        be written; of a problem also as `certify`.

    >>> import tempfile
    >>> import numpy as np
    >>> from dalenius.programs import MarginalUpdate
    >>> program = MarginalUpdate(np.array([[0.9, 0.1], [0.2, 0.8]]), np.zeros(2), 0.5)
    >>> from dalenius.export import read_cbf
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     form = read_cbf(export(program, Path(folder, "marginal.cbf")))
    >>> form.maximises, form.sizes
    (True, {'zero': 1, 'nonnegative': 3, 'exponential': 12})
    """
    if format is None:
        format = format_of(path)
    if format not in FORMATS:
        proof = "; a certificate is written as a theorem by rocq_text of dalenius.export.rocq, or `dalenius export --format rocq`"
        raise InputError(
            f"format: expected one of {', '.join(FORMATS)}; got {format!r}{proof if format == 'rocq' else ''}"
        )
    if isinstance(program, Written) != (format == NL):
        told = (
            "a convex program, for json, cbf and so on"
            if format == NL
            else "as it is written, for nl and no other format"
        )
        raise InputError(f"format: nl is for nonlinear programs, as models are written; this one is {told}")
    if isinstance(program, Written):
        return write_whole(path, program.nl())
    if not isinstance(program, Program | StandardForm | Model):
        raise InputError(
            f"export: expected a program, a StandardForm or a cvxpy.Problem, got {brief(program)}; of a model take a program that it "
            'offers, as dl.subproblem(model, "master") of a design'
        )
    if isinstance(program, StandardForm):
        form = program
    else:
        form = program.standard_form() if isinstance(program, Program) else conic_form(program)
    return write_mosek(form, path) if format == "mosek" else write_whole(path, TEXTS[format](form))
