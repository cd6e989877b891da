"""Leakage against entropy, as a picture with its certified band and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dalenius.exact import fraction_text
from dalenius.intervals import gap_text
from dalenius.report.picture import canvas, label, written
from dalenius.studies.sweep import CurvePoint

__all__ = ["curve_picture", "curve_table"]


def curve_table(points: Sequence[CurvePoint], *, units: str = "nats", certificates: Sequence[str] = ()) -> str:
    """The points as CSV text: each share of the largest entropy, exactly, and what is proved there.

    The columns are the share (a decimal or a fraction p/q), the bounds, rounded outward, the relative gap, rounded upward, the record,
    why it stopped, and the file of the certificate.

    Parameters
    ----------
    units : str
        Of the bounds.
    certificates : sequence of str
        The file names of the points' certificates, in the same order, as far as they are written.
    """
    rows = [f"share_of_max_entropy,lower_{units},upper_{units},relative_gap,record,termination,certificate"]
    for point, certificate in zip(points, [*certificates, *[""] * len(points)], strict=False):
        result = point.result.to(units)
        lower, upper = result.ends
        rows.append(
            f"{fraction_text(point.share)},{lower},{upper},{gap_text(result.gap)},"
            f"{'' if result.record is None else result.record},{result.termination.value},{certificate}"
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
