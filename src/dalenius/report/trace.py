"""How the bounds of an audit or a design moved with time, and what was proved in the end, as a table and as a picture."""

from __future__ import annotations

import math
from pathlib import Path

from dalenius.errors import InputError
from dalenius.intervals import ends_text
from dalenius.report.picture import canvas, label, written
from dalenius.results import DesignResult, Result

__all__ = ["trace_picture", "trace_table"]

PROVED = "proved"  # the stage of the last row, which no search has


def trace_table(result: Result | DesignResult) -> str:
    """The moments of a trace as CSV text: seconds, what was at work, about which record or in which round, both bounds, evidence.

    Bounds are in the result's units; ``result.to("bits")`` has others. They are the search's own, which need not have been proved; the
    last row, at work ``proved``, is the interval that was, if there is one, and its evidence the lines of the certificate.
    """
    rows = [f"seconds,stage,record,round,lower_{result.units},upper_{result.units},evidence"]
    for moment in result.trace:
        lower, upper = ends_text(moment.lower, moment.upper)
        record = "" if moment.record is None else moment.record
        rows.append(
            f"{moment.seconds:.3f},{moment.stage},{record},{moment.rounds or ''},{lower},{upper},{moment.evidence}"
        )
    if not math.isinf(result.upper):
        rows.append(f"{result.seconds:.3f},{PROVED},,,{','.join(result.ends)},{result.certificate.lines}")
    return "\n".join(rows) + "\n"


def trace_picture(result: Result | DesignResult, path: str | Path, *, title: str = "") -> Path:
    """Draw the search's bounds against time, the band between them shaded, and the interval that was proved in the end.

    The picture is written as PNG, SVG or PDF by the ending.

    Raises
    ------
    InputError
        If nothing is feasible, matplotlib is not installed, or the file cannot be written.

    >>> import dalenius as dl
    >>> from dalenius.report import trace_table
    >>> problem = dl.MaximalLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("1.5 bits"))
    >>> table = trace_table(dl.solve(problem)).splitlines()
    >>> table[0], table[-1].split(",")[1]
    ('seconds,stage,record,round,lower_nats,upper_nats,evidence', 'proved')
    """
    if math.isinf(result.upper):
        raise InputError("trace: no mechanism meets the budget, so there is no interval to draw")
    figure, axes = canvas()
    seconds = [moment.seconds for moment in result.trace]
    lower, upper = [moment.lower for moment in result.trace], [moment.upper for moment in result.trace]
    axes.plot(
        seconds, upper, drawstyle="steps-post", color="black", linestyle="--", label="bound of the search, from above"
    )
    axes.plot(seconds, lower, drawstyle="steps-post", color="black", label="bound of the search, from below")
    axes.fill_between(seconds, lower, upper, step="post", alpha=0.2, color="grey", linewidth=0)
    proved = [result.lower, result.upper]
    axes.plot([result.seconds] * 2, proved, color="black", marker="_", linewidth=2, label="proved in the end")
    axes.set_xlabel("seconds")
    axes.set_ylabel(label(result.units))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    if title:
        axes.set_title(title)
    return written(figure, path)
