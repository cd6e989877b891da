"""The command compare: the certified solver beside its rivals."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import dalenius as dl
from dalenius.catalogue.models import model_path
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.folders import CERTIFICATE, Output, of_one_run
from dalenius.cli.shared import listed, out, print_table, status_line
from dalenius.errors import InputError
from dalenius.model import digest
from dalenius.results import DesignResult
from dalenius.search import Clock, stopped_by_interrupt
from dalenius.studies.compare import Comparison
from dalenius.studies.contest import Contested, settings_from_text
from dalenius.studies.keeping import mechanism_files


def compare(
    model: str,
    methods: str | None = None,
    seeds: int = 5,
    budget: float = 10.0,
    time_limit: float = math.inf,
    settings: list[str] | None = None,
    gap: float = 1e-3,
    as_json: bool = False,
    output: Path | None = None,
    force: bool = False,
    solver: str = "auto",
) -> None:
    """The certified solver beside the source paper's algorithms and other rivals on MODEL; with -o value against time as a picture.

    Everybody is measured against the proved interval. A rival's better point is proved and becomes its end; with -o the certificate
    is written, too. Settings have the names that `dalenius.baselines` documents, for instance paper-full.conditional.step=0.1.
    Interrupted, it shows the methods that are done, the certified interval among them.

    Parameters
    ----------
    methods
        Names with commas; all that fit by default.
    budget
        Seconds for each method.
    settings : --set METHOD.NAME=VALUE
        A setting of a rival's; may be given several times.
    output : -o, --output FOLDER
        Folder for the table, the picture and the certificate.
    solver
        Who solves the certified solver's own programs, of a design: auto, own, clarabel, mosek, scs.
    """
    path = model_path(model)
    problem = dl.load(path)
    chosen = None if methods is None else listed(methods, "--methods")
    if not isinstance(problem, Contested):
        raise InputError(
            f"{path}: the rivals know worst_case_leakage, min_leakage, min_distortion and max_information; got {problem.kind}"
        )
    chosen_settings = settings_from_text(problem, settings or [])
    name = f"{path.stem}.compare"
    folder = None if output is None else Output(output, [f"{name}.csv", f"{name}.png", *of_one_run(name)], force=force)
    with stopped_by_interrupt(Clock()):  # from here on there is an answer to write and to print
        with status_line("comparing") as show:
            comparison = dl.compare(
                problem,
                methods=chosen,
                seeds=seeds,
                budget=budget,
                time_limit=None if math.isinf(time_limit) else time_limit,
                gap=gap,
                settings=chosen_settings,
                solver=solver,
                progress=show,
            )
        written = [] if folder is None else _write_comparison(comparison, folder, name)
        if as_json:
            whole = Ends("optimum", comparison.lower, comparison.upper, comparison.units)
            write_answer("compare", _comparison_answer(comparison, path, written), [whole])
        else:
            _print_comparison(comparison)
            for file in written:
                out.print(file)
        if folder is not None:
            folder.settle()


def _write_comparison(comparison: Comparison, folder: Output, name: str) -> list[str]:
    """The certificate and what belongs to it, the table, and the picture where matplotlib is installed."""
    from dalenius.report import comparison_picture, comparison_table

    picture, title = f"{name}.png", comparison.problem.title or Path(name).stem
    files = {CERTIFICATE: comparison.result.certificate.text}
    if isinstance(comparison.result, DesignResult):
        files |= mechanism_files(comparison.problem, comparison.result)
    kept = folder.keep(name, comparison.problem, files)
    written = folder.write({f"{name}.csv": comparison_table(comparison)}, without=[picture])
    drawn = folder.draw(lambda: comparison_picture(comparison, title=title), picture)
    return [*([] if kept is None else [str(kept)]), *written, *drawn]


def _comparison_answer(comparison: Comparison, path: Path, written: list[str]) -> dict[str, Any]:
    entries = [
        {
            "method": entry.method,
            "starts": entry.seeds,
            "value": entry.value,
            "first_start": entry.first,
            "claimed": entry.claimed,
            "claimed_bound": entry.bound,
            "shortfall": entry.shortfall,
            "shortfall_at_most": entry.shortfall_at_most,
            "violation": entry.violation,
            "violation_at_most": entry.violation if entry.violation_at_most is None else entry.violation_at_most,
            "iterations": entry.iterations,
            "evaluations": entry.evaluations,
            "seconds": round(entry.seconds, 3),
            "seconds_to_gap": None if entry.reached is None else round(entry.reached, 3),
        }
        for entry in comparison.entries
    ]
    return {
        "model": str(path),
        "digest": digest(comparison.problem),
        "lower": comparison.lower,
        "upper": comparison.upper,
        "units": comparison.units,
        "gap": comparison.gap,
        "best": comparison.best,
        "termination": comparison.termination.value,
        "methods": entries,
        "unfinished": list(comparison.unfinished),
        "left_out": dict(comparison.left_out),
        "cut_off": dict(comparison.cut_off),
        "files": written,
    }


def _print_comparison(comparison: Comparison) -> None:
    if rows := [comparison.cells(entry) for entry in comparison.entries]:
        print_table(rows[0], (row.values() for row in rows), width=200, kept=1)
    for note in comparison.notes:
        out.print(note)
