"""How the bounds of an audit or a design moved with time, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dalenius.errors import InputError
from dalenius.intervals import ends_text
from dalenius.report.picture import canvas, label, written
from dalenius.search.clock import Progress

__all__ = ["trace_picture", "trace_table"]


def trace_table(trace: Sequence[Progress]) -> str:
    """The moments of a trace as CSV text: seconds, what was at work, about which record or in which round, both bounds, evidence.

    Bounds are in the trace's own units; ``result.to("bits").trace`` has others.
    """
    units = trace[0].units if trace else "nats"
    rows = [f"seconds,stage,record,round,lower_{units},upper_{units},evidence"]
    for moment in trace:
        lower, upper = ends_text(moment.lower, moment.upper)
        record = "" if moment.record is None else moment.record
        rows.append(
            f"{moment.seconds:.3f},{moment.stage},{record},{moment.rounds or ''},{lower},{upper},{moment.evidence}"
        )
    return "\n".join(rows) + "\n"


def trace_picture(trace: Sequence[Progress], path: str | Path, *, title: str = "") -> Path:
    """Draw both bounds against time, the band between them shaded, and write the picture (PNG, SVG or PDF by the ending).

    Raises
    ------
    InputError
        If the trace is empty, matplotlib is not installed, or the file cannot be written.

    >>> import dalenius as dl
    >>> from dalenius.report import trace_table
    >>> problem = dl.MaximalLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("1.5 bits"))
    >>> print(trace_table(dl.solve(problem).trace).splitlines()[0])
    seconds,stage,record,round,lower_nats,upper_nats,evidence
    """
    if not trace:
        raise InputError("trace: expected at least one moment, as in the trace of a result")
    figure, axes = canvas()
    seconds = [moment.seconds for moment in trace]
    lower, upper = [moment.lower for moment in trace], [moment.upper for moment in trace]
    axes.plot(seconds, upper, drawstyle="steps-post", color="black", linestyle="--", label="proved upper bound")
    axes.plot(seconds, lower, drawstyle="steps-post", color="black", label="best adversary found")
    axes.fill_between(seconds, lower, upper, step="post", alpha=0.2, color="grey", linewidth=0)
    axes.set_xlabel("seconds")
    axes.set_ylabel(label(trace[0].units))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    if title:
        axes.set_title(title)
    return written(figure, path)
