"""The frontier of a design, as a picture with its certified band and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from dalenius.exact import fraction_text
from dalenius.intervals import ends_text, gap_text, text_above
from dalenius.model import MinDistortion
from dalenius.report.picture import canvas, label, written
from dalenius.studies.frontier import Band, FrontierPoint
from dalenius.units import Quantity, lower_in, upper_in

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
    curves: dict[str, Sequence[FrontierPoint]],
    path: str | Path,
    *,
    title: str = "",
    units: str = "nats",
    others: dict[str, Sequence[tuple[float, float]]] | None = None,
) -> Path:
    """Draw the frontier, one certified band a curve, and write the picture (PNG, SVG or PDF by the ending).

    Parameters
    ----------
    curves : dict
        Points by name.
    others : dict, optional
        More mechanisms to compare with, by name: (budget, value) pairs in the units of the axes.

    Raises
    ------
    InputError
        If matplotlib is not installed, or the file cannot be written.
    """
    figure, axes = canvas()
    shown = {name: sorted(points, key=lambda point: point.budget) for name, points in curves.items()}
    shown = {name: [point for point in points if point.result.feasible] for name, points in shown.items()}
    for name, points in shown.items():
        if points:
            _draw(axes, name, points, units)
    for name, pairs in (others or {}).items():
        axes.plot(*zip(*pairs, strict=True), "x--", markersize=4, linewidth=0.8, label=name)
    problem = next(iter(next(iter(curves.values())))).problem
    axes.set_xlabel(label(problem.budget_units if isinstance(problem, MinDistortion) else Quantity.DISTORTION.units))
    axes.set_ylabel(label(problem.quantity.shown_in(units)))
    axes.set_ylim(bottom=0.0)
    axes.grid(alpha=0.3)
    place = "lower left" if others else "best"
    what = "proved bound (dash), mechanism (dot)"
    if axes.get_legend_handles_labels()[0]:
        axes.legend(title=what, frameon=False, loc=place, fontsize="small", title_fontsize="small")
    if title:
        axes.set_title(title)
    return written(figure, path)


def _draw(axes: Any, name: str, points: Sequence[FrontierPoint], units: str) -> None:
    band, low, high = Band(points), points[0].budget, points[-1].budget
    grid = sorted(
        {*(low + (high - low) * Fraction(j, BAND_STEPS) for j in range(BAND_STEPS + 1)), *(p.budget for p in points)}
    )
    ends = [_ends(points[0], band.lower(x), band.upper(x), units) for x in grid]
    at = [_ends(point, point.result.lower, point.result.upper, units) for point in points]
    x = [float(point.budget) for point in points]
    (line,) = axes.plot(x, [upper for _, upper in at], "o", markersize=4, label=name)
    axes.plot(x, [lower for lower, _ in at], "_", markersize=9, color=line.get_color())
    lower, upper = zip(*ends, strict=True)
    axes.fill_between([float(x) for x in grid], lower, upper, alpha=0.35, color=line.get_color(), linewidth=0.5)


def _ends(point: FrontierPoint, lower: float, upper: float, units: str) -> tuple[float, float]:
    """Bounds on what the points bound, in `units` if it is a leakage."""
    if point.result.quantity is not Quantity.LEAKAGE:
        return lower, upper
    return lower_in(lower, units), upper_in(upper, units)
