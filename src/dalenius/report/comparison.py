"""A comparison of methods, as a table and as a picture of value against time with the certified band."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dalenius.intervals import ends_text, interval_text, text_above, text_below
from dalenius.report.picture import COLOURS, Style, axes_of, finished, label, telling
from dalenius.studies.compare import Comparison, MethodOutcome
from dalenius.units import Quantity, lower_in, upper_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["comparison_picture", "comparison_table"]

STYLES = ("-", "--", ":", "-.")  # where there are more methods than colours
SHORTEST = 1e-3  # seconds, on a logarithmic axis
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


def comparison_picture(
    comparison: Comparison, *, ax: Axes | None = None, title: str = "", units: str = "nats", partial: str = ""
) -> Axes:
    """Draw the best value so far against time, one line a method, over the certified band.

    For designs the lines of the rivals are what they believe (their own search for the adversary), a cross at the end what the house
    certifies of their mechanism.

    Parameters
    ----------
    comparison : Comparison
        Of `dalenius.compare`.
    ax, title, units, partial
        As in `curve_picture`.

    Raises
    ------
    InputError
        If matplotlib is not installed.

    >>> import dalenius as dl
    >>> problem = dl.MaximalLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("1.5 bits"))
    >>> found = dl.compare(problem, methods=["paper-full"], seeds=1)
    >>> comparison_table(found).splitlines()[0][:20]
    'method,starts,value,'
    >>> comparison_picture(found).get_xscale()
    'log'
    """

    def scaled(value: float) -> float:
        return lower_in(value, units) if comparison.quantity is Quantity.LEAKAGE else value

    ax = axes_of(ax)
    low, high = comparison.lower, comparison.upper
    if comparison.quantity is Quantity.LEAKAGE:
        low, high = lower_in(low, units), upper_in(high, units)
    shown = comparison.quantity.shown_in(units)
    ax.axhspan(low, high, color="0.6", alpha=0.5, lw=0)
    ax.axhline(
        high,
        color="0.25",
        lw=1.0,
        label="certified interval",
        gid=telling(f"certified: {interval_text(low, high)} {shown}"),
    )
    for j, entry in enumerate(comparison.entries):
        end = max(entry.seconds, SHORTEST)
        values = [scaled(value) for _, value in entry.trace]
        values.append(values[-1] if values else scaled(entry.claimed))
        style: Style = {"color": COLOURS[j % len(COLOURS)], "linestyle": STYLES[j // len(COLOURS) % len(STYLES)]}
        seconds = [max(at, SHORTEST) for at, _ in entry.trace] + [end]
        ax.plot(seconds, values, drawstyle="steps-post", label=_label(comparison, entry), **style)
        text = f"{entry.method}: {comparison.value_text(entry.value)} {comparison.units} after {entry.seconds:.3g} s"
        ax.plot([end], [scaled(entry.value)], marker="x", gid=telling(text), color=style["color"])
    ax.set_xscale("log")
    ax.set_xlim(right=1.2 * max([entry.seconds for entry in comparison.entries] + [10 * SHORTEST]))
    ax.set_xlabel("seconds, all starts one after the other")
    ax.set_ylabel(label(shown))
    ax.legend(frameon=False, fontsize="small")
    return finished(ax, title=title, partial=partial)


def _label(comparison: Comparison, entry: MethodOutcome) -> str:
    """The method; what a rival's design is worth is only believed until it is audited."""
    believed = not comparison.maximises and entry.method != "certified"
    return f"{entry.method}, as it believes" if believed else entry.method
