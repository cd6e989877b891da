"""Leakage against entropy, as a picture with its certified band and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dalenius.report.picture import canvas, label, written
from dalenius.studies.sweep import CurvePoint

__all__ = ["curve_picture", "curve_table"]


def curve_table(points: Sequence[CurvePoint], *, units: str = "nats") -> str:
    """The points as CSV text: share of the largest entropy, bounds rounded outward, relative gap, record, why it stopped."""
    rows = [f"share_of_max_entropy,lower_{units},upper_{units},relative_gap,record,termination"]
    for point in points:
        result = point.result.to(units)
        rows.append(
            f"{float(point.share):.6g},{result.lower!r},{result.upper!r},"
            f"{result.gap:.3g},{'' if result.record is None else result.record},{result.termination.value}"
        )
    return "\n".join(rows) + "\n"


def curve_picture(
    curves: dict[str, Sequence[CurvePoint]], path: str | Path, *, title: str = "", units: str = "nats"
) -> Path:
    """Draw leakage against entropy, one certified band a curve, and write the picture (PNG, SVG or PDF by the ending).

    The band between two points is drawn where monotonicity puts the true curve: not above the upper end on the left, not below the
    lower end on the right.

    Raises
    ------
    InputError
        If matplotlib is not installed, or the file cannot be written.
    """
    figure, axes = canvas()
    for name, points in curves.items():
        x = [float(point.share) for point in points]
        results = [point.result.to(units) for point in points]
        lower, upper = [result.lower for result in results], [result.upper for result in results]
        (line,) = axes.plot(x, lower, "o", markersize=4, label=name)
        axes.plot(x, upper, "_", markersize=9, color=line.get_color())
        axes.fill_between(
            x, [*lower[1:], lower[-1]], upper, step="post", alpha=0.25, color=line.get_color(), linewidth=0
        )
    axes.set_xlabel("what the adversary does not know: entropy of the prior, share of the maximum")
    axes.set_ylabel(label(units))
    axes.set_ylim(bottom=0.0)
    axes.set_xlim(0.0, 1.0)
    axes.grid(alpha=0.3)
    axes.legend(title="witness (dot) to proved bound (dash)", frameon=False)
    if title:
        axes.set_title(title)
    return written(figure, path)
