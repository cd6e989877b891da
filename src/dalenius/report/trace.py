"""How the bounds of an audit or a design moved with time, and what was proved in the end, as a table and as a picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dalenius.errors import InputError
from dalenius.intervals import ends_text, interval_text
from dalenius.report.picture import COLOURS, Style, axes_of, finished, label, telling
from dalenius.results import DesignResult, Result, SecretResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["trace_picture", "trace_table"]

PROVED = "proved"  # the stage of the last row, which no search has


def trace_table(result: Result | DesignResult | SecretResult) -> str:
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


def trace_picture(
    result: Result | DesignResult | SecretResult, *, ax: Axes | None = None, title: str = "", partial: str = ""
) -> Axes:
    """Draw the search's bounds against time, the band between them shaded, and the interval that was proved in the end.

    Parameters
    ----------
    result : Result, DesignResult or SecretResult
        In its own units; ``result.to("bits")`` has others.
    ax, title, partial
        As in `curve_picture`.

    Raises
    ------
    InputError
        If nothing is feasible, or matplotlib is not installed.

    >>> import dalenius as dl
    >>> problem = dl.MaximalLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("1.5 bits"))
    >>> result = dl.solve(problem)
    >>> table = trace_table(result).splitlines()
    >>> table[0], table[-1].split(",")[1]
    ('seconds,stage,record,round,lower_nats,upper_nats,evidence', 'proved')
    >>> trace_picture(result).get_xlabel()
    'seconds'
    """
    if math.isinf(result.upper):
        raise InputError("trace: no mechanism meets the budget, so there is no interval to draw")
    ax = axes_of(ax)
    seconds = [moment.seconds for moment in result.trace]
    lower, upper = [moment.lower for moment in result.trace], [moment.upper for moment in result.trace]
    style: Style = {"drawstyle": "steps-post", "color": COLOURS[0]}
    ax.plot(seconds, upper, linestyle="--", label="bound of the search, from above", **style)
    ax.plot(seconds, lower, label="bound of the search, from below", **style)
    ax.fill_between(seconds, lower, upper, step="post", alpha=0.2, color=COLOURS[0], linewidth=0)
    ends = f"proved after {result.seconds:.3g} s: {interval_text(result.lower, result.upper)} {result.units}"
    proved: Style = {"color": COLOURS[1], "marker": "_", "markersize": 9, "linewidth": 2}
    ax.plot([result.seconds] * 2, [result.lower, result.upper], label="proved in the end", gid=telling(ends), **proved)
    ax.set_xlabel("seconds")
    ax.set_ylabel(label(result.units))
    ax.legend(frameon=False)
    return finished(ax, title=title, partial=partial)
