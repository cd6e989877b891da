"""Leakage against entropy, as a picture with its certified band and as tables."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from dalenius.exact import fraction_text
from dalenius.intervals import ends_text, gap_text
from dalenius.report.picture import canvas, label, written
from dalenius.studies.curve import CurvePoint, curve_of

__all__ = ["band_table", "curve_picture", "curve_table"]

PLACES = 400  # that a band is drawn with
ROWS = 100  # that a table of it has, beside those of the points


def curve_table(points: Sequence[CurvePoint], *, units: str = "nats", certificates: Sequence[str] = ()) -> str:
    """The points as CSV text, by their shares of the largest entropy, which are exact: what is proved there.

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
    named = zip(points, [*certificates, *[""] * len(points)], strict=False)
    for point, certificate in sorted(named, key=lambda pair: pair[0].share):
        result = point.result.to(units)
        lower, upper = result.ends
        rows.append(
            f"{fraction_text(point.share)},{lower},{upper},{gap_text(result.gap)},"
            f"{'' if result.record is None else result.record},{result.termination.value},{certificate}"
        )
    return "\n".join(rows) + "\n"


def band_table(points: Sequence[CurvePoint], *, units: str = "nats", certificates: Sequence[str] = ()) -> str:
    """What the points' certificates leave of the whole curve, as CSV text: at 101 even shares of the largest entropy, and theirs.

    The columns are the share, the bounds, rounded outward, and the files of the certificates that prove the lower and the upper one
    (`dalenius.LeakageCurve`).
    """
    curve = curve_of(points).to(units)
    names = {id(point.result.certificate): name for point, name in zip(points, certificates, strict=False)}
    rows = [f"share_of_max_entropy,lower_{units},upper_{units},lower_certificate,upper_certificate"]
    for share in sorted({*(Fraction(j, ROWS) for j in range(ROWS + 1)), *(point.share for point in points)}):
        entropy = f"{share} max"
        by = ",".join(names.get(id(certificate), "") for certificate in curve.proved_by(entropy))
        rows.append(f"{fraction_text(share)},{','.join(ends_text(*curve.at(entropy)))},{by}")
    return "\n".join(rows) + "\n"


def curve_picture(
    curves: dict[str, Sequence[CurvePoint]], path: str | Path, *, title: str = "", units: str = "nats"
) -> Path:
    """Draw leakage against entropy, one certified band a curve, and write the picture (PNG, SVG or PDF by the ending).

    The band is what the points' certificates leave together (`dalenius.LeakageCurve`). It is drawn in narrow steps, from the upper end
    on the left of each to the lower end on its right, between which the curve lies because it falls.

    Raises
    ------
    InputError
        If matplotlib is not installed, or the file cannot be written.
    """
    figure, axes = canvas()
    for name, points in curves.items():
        x = [float(point.share) for point in points]
        results = [point.result.to(units) for point in points]
        (line,) = axes.plot(x, [result.lower for result in results], "o", markersize=4, label=name)
        axes.plot(x, [result.upper for result in results], "_", markersize=9, color=line.get_color())
        if points:
            curve, first, last = curve_of(points).to(units), min(x), max(x)
            shares = sorted({*(Fraction(j, PLACES) for j in range(PLACES + 1)), *(point.share for point in points)})
            shares = [share for share in shares if first <= share <= last]
            lower, upper = zip(*(curve.at(f"{share} max") for share in shares), strict=True)
            axes.fill_between(
                [float(share) for share in shares],
                [*lower[1:], lower[-1]],
                upper,
                step="post",
                alpha=0.25,
                color=line.get_color(),
                linewidth=0,
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
