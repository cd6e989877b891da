"""The frontier of a design, as a picture with its certified band and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction, fraction_text
from dalenius.intervals import ends_text, gap_text, interval_text, text_above
from dalenius.model import MinDistortion
from dalenius.report.picture import COLOURS, MARKERS, Style, axes_of, draw_band, finished, label, telling
from dalenius.results import Result
from dalenius.studies.frontier import Band, FrontierPoint
from dalenius.units import Quantity, lower_in, upper_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["frontier_picture", "frontier_table"]

BAND_STEPS = 200
HEADS = (
    "budget", "lower", "upper", "unit", "band_lower", "band_upper", "relative_gap", "distortion", "leakage_lower", "leakage_upper",
    "termination", "certificate",
)  # fmt: skip


def frontier_table(points: Sequence[FrontierPoint], *, units: str = "nats", certificates: Sequence[str] = ()) -> str:
    """The points as CSV text: each budget's own interval, what all points prove there, and the mechanism.

    Budgets are exact (a decimal or a fraction p/q), in the unit of the problem's own budget; bounds are rounded outward, leakages in
    `units`; the gap and the mechanism's distortion are rounded upward. A budget that no mechanism meets has ``inf``.

    Parameters
    ----------
    certificates : sequence of str
        The file names of the points' certificates, in the same order, as far as they are written.
    """
    rows = [",".join(HEADS)]
    band = Band(points)
    for point, certificate in zip(points, [*certificates, *[""] * len(points)], strict=False):
        result = point.result.with_leakages_in(units)
        shared = result.ends
        if result.feasible:
            shared = ends_text(*_ends(point, band.lower(point.budget), band.upper(point.budget), units))
        cells = [
            fraction_text(point.budget),
            *result.ends,
            result.units,
            *shared,
            gap_text(result.gap),
            "" if result.distortion is None else text_above(result.distortion, 17),
            *(("", "") if result.leakage is None else ends_text(*result.leakage)),
            result.termination.value,
            certificate,
        ]
        rows.append(",".join(cells))
    return "\n".join(rows) + "\n"


def frontier_picture(
    curves: Mapping[str, Sequence[FrontierPoint]],
    *,
    ax: Axes | None = None,
    title: str = "",
    units: str = "nats",
    others: Mapping[str, Sequence[tuple[Number, Result]]] | None = None,
    partial: str = "",
) -> Axes:
    """Draw the frontier of a design, one certified band a curve, and other mechanisms beside it.

    Parameters
    ----------
    curves : mapping of name -> points
        As `dalenius.frontier` gives them; at least one.
    others : mapping of name -> (distortion, Result) pairs, optional
        Mechanisms to compare with, classical ones for instance: what each distorts, and the audit that says what it leaks. For curves
        of `MinLeakage`.
    ax, title, units, partial
        As in `curve_picture`.

    Raises
    ------
    InputError
        If there is no point, or matplotlib is not installed.
    """
    points = [point for curve in curves.values() for point in curve]
    if not points:
        raise InputError("frontier: expected at least one point to draw, got none")
    ax = axes_of(ax)
    for j, (name, curve) in enumerate(curves.items()):
        feasible = sorted((point for point in curve if point.result.feasible), key=lambda point: point.budget)
        if feasible:
            _draw(ax, name, feasible, units, COLOURS[j % len(COLOURS)])
    for j, (name, audits) in enumerate((others or {}).items()):
        _beside(ax, name, audits, units, COLOURS[(j + len(curves)) % len(COLOURS)], MARKERS[1 + j % (len(MARKERS) - 1)])
    problem = points[0].problem
    costs = "expected distortion allowed [units of its costs]"
    ax.set_xlabel(f"leakage allowed [{problem.budget_units}]" if isinstance(problem, MinDistortion) else costs)
    ax.set_ylabel(label(problem.quantity.shown_in(units)))
    ax.set_ylim(bottom=0.0)
    if ax.get_legend_handles_labels()[0]:
        what = "mechanism (mark), no better one (dash)"
        ax.legend(title=what, frameon=False, fontsize="small", title_fontsize="small")
    return finished(ax, title=title, partial=partial)


def _draw(ax: Axes, name: str, points: Sequence[FrontierPoint], units: str, colour: str) -> None:
    """The band between the first and the last budget, and the bounds at each of them."""
    band, low, high = Band(points), points[0].budget, points[-1].budget
    even = {low + (high - low) * Fraction(j, BAND_STEPS) for j in range(BAND_STEPS + 1)}
    grid = sorted(even | {point.budget for point in points})
    ends = [(float(x), *_ends(points[0], band.lower(x), band.upper(x), units)) for x in grid]
    draw_band(ax, [(x, lower) for x, lower, _ in ends], [(x, upper) for x, _, upper in ends], colour)
    shown = points[0].result.quantity.shown_in(units)
    for point in points:
        x, (lower, upper) = float(point.budget), _ends(point, point.result.lower, point.result.upper, units)
        text = telling(f"{name}, budget {fraction_text(point.budget)}: {interval_text(lower, upper)} {shown}")
        style: Style = {"color": colour, "linestyle": "none", "zorder": 3, "clip_on": False}
        ax.plot([x], [lower], marker="_", markersize=9, **style)
        ax.plot([x], [upper], marker=MARKERS[0], markersize=4.5, gid=text, **style)
    ax.plot([], [], marker=MARKERS[0], markersize=4.5, color=colour, linewidth=6, alpha=0.6, label=name)


def _beside(ax: Axes, name: str, audits: Sequence[tuple[Number, Result]], units: str, colour: str, marker: str) -> None:
    """Other mechanisms: a mark at what a witness is told, a line up to what nobody is told more than."""
    for distortion, result in audits:
        x, shown = float(as_fraction(distortion, "distortion")), result.to(units)
        text = telling(f"{name}, distortion {x:.4g}: {interval_text(shown.lower, shown.upper)} {units}")
        ax.plot([x] * 2, [shown.lower, shown.upper], color=colour, linewidth=1.2, zorder=3)
        ax.plot([x], [shown.upper], marker=marker, markersize=5, color=colour, linestyle="none", gid=text, zorder=3)
    ax.plot([], [], marker=marker, markersize=5, color=colour, linestyle="none", label=name)


def _ends(point: FrontierPoint, lower: float, upper: float, units: str) -> tuple[float, float]:
    """Bounds on what the points bound, in `units` if it is a leakage."""
    if point.result.quantity is not Quantity.LEAKAGE:
        return lower, upper
    return lower_in(lower, units), upper_in(upper, units)
