"""The commands export and import-solution: programs as instances for other solvers, and their solutions back; theorems.

Parameters
----------
certificate
    Take the witness, or the priors, from this certificate of MODEL.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import dalenius as dl
from dalenius.catalogue.models import model_path
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.folders import published
from dalenius.cli.shared import err, out
from dalenius.errors import InputError, brief, naming
from dalenius.evidence import ENDINGS, certificate_beside
from dalenius.files import need_folder, need_places, write_whole
from dalenius.intervals import gap_text, interval_text
from dalenius.results import relative_gap

ROCQ = "rocq"


def export_program(
    model: str,
    program: str | None = None,
    format: str | None = None,
    output: Path | None = None,
    certificate: Path | None = None,
    as_json: bool = False,
) -> None:
    """Write a convex program of MODEL as a conic instance for other solvers (docs/export.md).

    With --format rocq: write what MODEL's certificate proves as a theorem for Coq (docs/formal.md); MODEL may then be the certificate.

    Parameters
    ----------
    program
        A program that MODEL offers; 'list' shows them.
    format
        json, cbf, clarabel, mps, lp, sdpa or mosek; nl: MODEL as it is written; rocq: the certificate as a theorem. By default the
        file's ending says it.
    output : -o, --output FILE
        The file.
    """
    from dalenius.export import digest as instance_digest
    from dalenius.export import export, offers, subproblem, written
    from dalenius.export.writers import format_of

    if format == ROCQ:
        if program is not None:
            raise InputError("--program: a certificate is written as a theorem whole; leave the program out")
        _export_theorem(model, certificate, output, as_json)
        return
    if program is None:
        raise InputError("--program: name one that MODEL offers; 'list' shows them")
    problem = dl.load(model_path(model))
    proof = None if certificate is None else dl.Certificate.read(certificate)
    if program == "list":
        known = [(offer.name, offer.what, False) for offer in offers(problem, proof)]
        known += [(offer.name, offer.what, True) for offer in written(problem)]
        if as_json:
            listed = [{"program": name, "what": what, "nonlinear": bent} for name, what, bent in known]
            write_answer("export", {"programs": listed})
            return
        for name, what, bent in known:
            out.print(f"{name:<14} {what}{' (--format nl)' if bent else ''}")
        if not known:
            err.print(f"none: {problem.no_program}")
        return
    if output is None:
        raise InputError("-o: name the file to write")
    need_folder(output.parent)
    need_places([output])
    published(problem, None, output)
    bare, about = {offer.name: offer for offer in written(problem)}, dict[str, Any]()
    if format is None:
        format = format_of(output) or ("nl" if program in bare else "json")
    if program not in bare and (conic := [offer.name for offer in offers(problem, proof)]) and program not in conic:
        raise InputError(f"--program: expected one of {', '.join([*conic, *bare])}; got {brief(program)}")
    if program in bare:
        file = export(bare[program].make(), output, format=format)
    else:
        form = subproblem(problem, program, proof).standard_form()
        file = export(form, output, format=format)
        about = {
            "columns": form.c.size,
            "rows": dict(form.sizes),
            "entries": form.A.nnz,
            "digest": instance_digest(form),
        }
    if as_json:
        write_answer("export", {"file": str(file), "program": program, "format": format, **about})
        return
    out.print(str(file))
    if about:
        rows = ", ".join(f"{size} {cone}" for cone, size in about["rows"].items())
        err.print(f"{about['columns']} columns; rows: {rows}; {about['entries']} entries; {about['digest']}")


def _export_theorem(model: str, certificate: Path | None, output: Path | None, as_json: bool) -> None:
    """Write a certificate, given or beside its model, as a theorem; without a file to standard output."""
    from dalenius.export.rocq import rocq_text

    given = Path(model)
    if certificate is None and given.name.endswith(ENDINGS):
        certificate, path = given, given.with_name(given.name.removesuffix(".gz")).with_suffix(".toml")
    else:
        path = model_path(model)
    certificate = certificate or certificate_beside(path)
    if certificate is None:
        raise InputError(f"--certificate: there is none beside {path}; name one")
    text = rocq_text(dl.load(path), dl.Certificate.read(certificate))
    if output is None:
        out.print(text, end="")
        return
    need_folder(output.parent)
    need_places([output])
    written = write_whole(output, text)
    if as_json:
        write_answer("export", {"file": str(written), "format": ROCQ})
    else:
        out.print(str(written))


def import_solution(
    model: str,
    program: str,
    solution: Path,
    certificate: Path | None = None,
    as_json: bool = False,
) -> None:
    """Certify a solution of an exported instance: the interval that its point and its multipliers prove, in closed form.

    Parameters
    ----------
    program : PROGRAM
        The program, as `dalenius export` calls it.
    solution : FILE
        A solution file (docs/export.md).
    """
    from dalenius.export import certify, read_solution, subproblem

    found = read_solution(solution)
    if found.program == program:
        found = replace(found, program=None)  # the command's name of it, beside the instance's
    proof = None if certificate is None else dl.Certificate.read(certificate)
    problem = dl.load(model_path(model))
    chosen, units = subproblem(problem, program, proof), problem.quantity.units
    with naming(solution):
        answer = certify(chosen, found)
    gap = relative_gap(answer.lower, answer.upper)
    if as_json:
        ends = Ends(program, answer.lower, answer.upper, units)
        write_answer("import-solution", {"lower": answer.lower, "upper": answer.upper, "gap": gap}, [ends])
    else:
        value = "greatest" if chosen.maximises else "least"
        out.print(f"{value} value       {interval_text(answer.lower, answer.upper)} {units}")
        out.print(f"relative gap         {gap_text(gap)}")
