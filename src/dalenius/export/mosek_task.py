"""MOSEK's own files, where MOSEK is installed: affine conic constraints with names; building and writing takes no licence."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from dalenius.errors import InputError
from dalenius.export.strict import need_cones
from dalenius.files import write_whole
from dalenius.programs import StandardForm
from dalenius.programs.standard_form import Rows

__all__ = ["ENDINGS", "write_mosek"]

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
