"""How the bounds of an audit or a design moved with time, as a table and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dalenius.errors import InputError
from dalenius.report.picture import canvas, written
from dalenius.search.clock import Progress
from dalenius.units import lower_in, upper_in

__all__ = ["trace_picture", "trace_table"]


def trace_table(trace: Sequence[Progress], *, units: str = "nats") -> str:
    """The moments of a trace as CSV text: seconds, what was at work, for which record, both bounds, leaves.

    Of a design: the round for the record, and priors for leaves; `units` is ``"distortion"`` where that is what is minimised.
    """
    rows = [f"seconds,stage,record,lower_{units},upper_{units},leaves"]
    for moment, (lower, upper) in zip(trace, _bounds(trace, units), strict=True):
        rows.append(f"{moment.seconds:.3f},{moment.stage},{moment.record},{lower!r},{upper!r},{moment.nodes}")
    return "\n".join(rows) + "\n"


def _bounds(trace: Sequence[Progress], units: str) -> list[tuple[float, float]]:
    if units == "distortion":
        return [(moment.lower, moment.upper) for moment in trace]
    return [(lower_in(moment.lower, units), upper_in(moment.upper, units)) for moment in trace]


def trace_picture(trace: Sequence[Progress], path: str | Path, *, title: str = "", units: str = "nats") -> Path:
    """Draw both bounds against time, the band between them shaded, and write the picture (PNG, SVG or PDF by the ending).

    Raises
    ------
    InputError
        If the trace is empty, matplotlib is not installed, or the file cannot be written.

    >>> import dalenius as dl
    >>> from dalenius.report import trace_table
    >>> problem = dl.MaximalLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(2, 0.1), adversary=dl.EntropyAtLeast("1.5 bits"))
    >>> print(trace_table(dl.solve(problem).trace).splitlines()[0])
    seconds,stage,record,lower_nats,upper_nats,leaves
    """
    if not trace:
        raise InputError("trace: expected at least one moment, as in the trace of a result")
    figure, axes = canvas()
    seconds = [moment.seconds for moment in trace]
    lower, upper = zip(*_bounds(trace, units), strict=True)
    axes.plot(seconds, upper, drawstyle="steps-post", color="black", linestyle="--", label="proved upper bound")
    axes.plot(seconds, lower, drawstyle="steps-post", color="black", label="best adversary found")
    axes.fill_between(seconds, lower, upper, step="post", alpha=0.2, color="grey", linewidth=0)
    axes.set_xlabel("seconds")
    axes.set_ylabel("expected distortion" if units == "distortion" else f"leakage about one record [{units}]")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    if title:
        axes.set_title(title)
    return written(figure, path)
