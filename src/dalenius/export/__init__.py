"""Every program as a conic instance for other people's solvers, in several formats, and the way back (docs/export.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dalenius.errors import InputError
from dalenius.export.accounting import to_dp_accounting
from dalenius.export.cbf import cbf_text, parse_cbf, read_cbf
from dalenius.export.offer import Offer, offered, offers
from dalenius.export.solution import Solution, certify, parse_solution, read_solution, write_solution
from dalenius.export.standard import digest, json_text, parse_json, read_json
from dalenius.export.writers import clarabel_text, lp_text, mps_text, write_mosek
from dalenius.files import write_whole
from dalenius.programs import Model, Program, StandardForm, conic_form

__all__ = [
    "FORMATS",
    "Offer",
    "Solution",
    "certify",
    "digest",
    "export",
    "offered",
    "offers",
    "parse_cbf",
    "parse_json",
    "parse_solution",
    "read_cbf",
    "read_json",
    "read_solution",
    "to_dp_accounting",
    "write_solution",
]

TEXTS: dict[str, Callable[[StandardForm], str]] = {
    "json": json_text,
    "cbf": cbf_text,
    "clarabel": clarabel_text,
    "mps": mps_text,
    "lp": lp_text,
}
FORMATS = (*TEXTS, "mosek")


def export(program: Program | StandardForm | Model, path: str | Path, *, format: str) -> Path:
    """Write a program's instance, with the data that it has now, or that of a model of one's own.

    Parameters
    ----------
    program : Program, StandardForm or cvxpy.Problem
        Of a problem, the conic form that `dalenius.programs.certify` derives (`dalenius.programs.conic_form`).
    format : {"json", "cbf", "clarabel", "mps", "lp", "mosek"}
        ``"mps"`` and ``"lp"`` are for linear instances only; for ``"mosek"`` the ending of the path says which of MOSEK's formats.

    Raises
    ------
    InputError
        If the format is unknown or does not fit the instance, MOSEK is wanted and not installed, or the file cannot be written; of a
        problem also as `certify`.

    >>> import tempfile
    >>> import numpy as np
    >>> from dalenius.programs import MarginalUpdate
    >>> program = MarginalUpdate(np.array([[0.9, 0.1], [0.2, 0.8]]), np.zeros(2), 0.5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     form = read_cbf(export(program, Path(folder, "marginal.cbf"), format="cbf"))
    >>> form.maximises, form.sizes
    (True, {'zero': 1, 'nonnegative': 3, 'exponential': 12})
    """
    if format not in FORMATS:
        raise InputError(f"format: expected one of {', '.join(FORMATS)}; got {format!r}")
    if isinstance(program, StandardForm):
        form = program
    else:
        form = program.standard_form() if isinstance(program, Program) else conic_form(program)
    return write_mosek(form, path) if format == "mosek" else write_whole(path, TEXTS[format](form))
