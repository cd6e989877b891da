"""A comparison of methods, as a table and as a picture of value against time with the certified band."""

from __future__ import annotations

from pathlib import Path

from dalenius.intervals import ends_text, text_above, text_below
from dalenius.report.picture import canvas, label, written
from dalenius.studies.compare import Comparison, MethodOutcome
from dalenius.units import Quantity, lower_in

__all__ = ["comparison_picture", "comparison_table"]

STYLES = ("-", "--", ":", "-.")
HEADS = (
    "method,starts,value,first_start,claimed,claimed_bound,certified_lower,certified_upper,shortfall,shortfall_at_most,violation,"
    "iterations,evaluations,seconds,seconds_to_gap,unit"
)


def comparison_table(comparison: Comparison) -> str:
    """The entries as CSV text; values in the comparison's own unit (nats, or the distortion's)."""
    rows, (lower, upper) = [HEADS], ends_text(comparison.lower, comparison.upper)
    for entry in comparison.entries:
        value, first = comparison.value_text(entry.value), comparison.value_text(entry.first)
        reached = "" if entry.reached is None else f"{entry.reached:.3f}"
        bound = "" if entry.bound is None else comparison.bound_text(entry.bound)
        rows.append(
            f"{entry.method},{entry.seeds},{value},{first},{entry.claimed!r},{bound},{lower},{upper},"
            f"{text_below(entry.shortfall, 3)},{text_above(entry.shortfall_at_most, 3)},{entry.violation:.3g},"
            f"{entry.iterations},{entry.evaluations},"
            f"{entry.seconds:.3f},{reached},{comparison.units}"
        )
    return "\n".join(rows) + "\n"


def comparison_picture(comparison: Comparison, path: str | Path, *, title: str = "", units: str = "nats") -> Path:
    """Draw the best value so far against time, one line a method, over the certified band, and write the picture.

    For designs the lines of the rivals are what they believe (their own search for the adversary), a cross at the end what the house
    certifies of their mechanism.

    Raises
    ------
    InputError
        If matplotlib is not installed, or the file cannot be written.

    >>> import dalenius as dl
    >>> problem = dl.MaximalLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("1.5 bits"))
    >>> comparison_table(dl.compare(problem, methods=["paper-full"], seeds=1)).splitlines()[0][:20]
    'method,starts,value,'
    """

    def scaled(value: float) -> float:
        return lower_in(value, units) if comparison.quantity is Quantity.LEAKAGE else value

    figure, axes = canvas()
    end = max([entry.seconds for entry in comparison.entries] + [1e-2])
    axes.axhspan(scaled(comparison.lower), scaled(comparison.upper), color="0.6", alpha=0.5, lw=0)
    axes.axhline(scaled(comparison.upper), color="black", lw=0.8, label="certified interval")
    for j, entry in enumerate(comparison.entries):
        seconds = [at for at, _ in entry.trace] + [max(entry.seconds, 1e-3)]
        values = [scaled(value) for _, value in entry.trace]
        values.append(values[-1] if values else scaled(entry.claimed))
        (line,) = axes.plot(
            seconds, values, STYLES[j % len(STYLES)], drawstyle="steps-post", label=_label(comparison, entry)
        )
        axes.plot(max(entry.seconds, 1e-3), scaled(entry.value), "x", color=line.get_color())
    axes.set_xscale("log")
    axes.set_xlim(right=1.2 * end)
    axes.set_xlabel("seconds, all starts one after the other")
    axes.set_ylabel(label(comparison.quantity.shown_in(units)))
    axes.set_title(title)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    return written(figure, path)


def _label(comparison: Comparison, entry: MethodOutcome) -> str:
    """The method; what a rival's design is worth is only believed until it is audited."""
    believed = not comparison.maximises and entry.method != "certified"
    return f"{entry.method}, as it believes" if believed else entry.method
