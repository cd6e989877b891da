"""Leakage against entropy, as a picture with its certified band and as tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from dalenius.exact import fraction_text
from dalenius.intervals import ends_text, gap_text, interval_text
from dalenius.report.picture import COLOURS, MARKERS, Style, axes_of, draw_band, finished, label, telling, with_bits
from dalenius.studies.curve import CurvePoint, curve_of
from dalenius.studies.leakage_curve import LeakageCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["band_table", "curve_picture", "curve_table"]

Band: TypeAlias = LeakageCurve | Sequence[CurvePoint]
PLACES = 256  # at which the upper edge of a band is drawn
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
    curves: Mapping[str, Band],
    *,
    ax: Axes | None = None,
    title: str = "",
    units: str = "nats",
    partial: str = "",
) -> Axes:
    """Draw leakage against what the adversary does not know: one certified band a curve.

    The band is what the proofs leave together (`dalenius.LeakageCurve`); its edges are smooth and nowhere inside of what is proved.
    A dot is a witness, a dash above it the proved bound.

    Parameters
    ----------
    curves : mapping of name -> points or LeakageCurve
        As `dalenius.entropy_curve` gives them.
    ax : matplotlib Axes, optional
        Where to draw; a figure of its own if left out.
    title : str
    units : {"nats", "bits"}
        Of the leakage; entropies are shares of the largest, with bits beside them.
    partial : str
        What is missing, to be written on the picture: "4 of 11 points".

    Returns
    -------
    matplotlib Axes
        `save_picture` writes them.

    Raises
    ------
    InputError
        If matplotlib is not installed.

    >>> import dalenius as dl
    >>> problem = dl.MaximalLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast(0))
    >>> ax = curve_picture({"parity": list(dl.entropy_curve(problem, [0, 0.5, 1]))}, units="bits")
    >>> ax.get_ylabel()
    'worst-case leakage about one record [bits]'
    """
    ax = axes_of(ax)
    bands = {
        name: (band if isinstance(band, LeakageCurve) else curve_of(band)).to(units) for name, band in curves.items()
    }
    for j, (name, curve) in enumerate(bands.items()):
        _draw(ax, name, curve, COLOURS[j % len(COLOURS)], MARKERS[j % len(MARKERS)])
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel("what the adversary does not know: entropy of the prior, share of the largest")
    ax.set_ylabel(label(units))
    with_bits(ax, (curve.proofs[0][0].records.log_datasets / math.log(2.0) for curve in bands.values()))
    ax.legend(title="witness (mark) to proved bound (dash)", frameon=False, loc="best")
    return finished(ax, title=title, partial=partial)


def _draw(ax: Axes, name: str, curve: LeakageCurve, colour: str, marker: str) -> None:
    """The band, from the first to the last entropy bound that has a proof, and the bounds there."""
    known = sorted({curve.share_of(problem) for problem, _ in curve.proofs})
    first, last = known[0], known[-1]
    even = {Fraction(j, PLACES) for j in range(PLACES + 1)}
    dense, steps = (
        sorted(share for share in shares if first <= share <= last) for shares in (even | {*known}, curve.shares)
    )
    kept = {*steps[:: 1 + len(steps) // PLACES], *known, last}
    lower = [(float(share), curve.lower(f"{share} max")) for share in sorted(kept)]
    upper = [(float(share), curve.upper(f"{share} max")) for share in dense]
    if first < last:
        draw_band(ax, lower, upper, colour)
    for share in known:
        low, high = curve.at(f"{share} max")
        text = telling(
            f"{name}, {fraction_text(share)} of the largest entropy: {interval_text(low, high)} {curve.units}"
        )
        style: Style = {"color": colour, "linestyle": "none", "zorder": 3, "clip_on": False}
        ax.plot([float(share)], [high], marker="_", markersize=9, **style)
        ax.plot([float(share)], [low], marker=marker, markersize=4.5, gid=text, **style)
    ax.plot([], [], marker=marker, markersize=4.5, color=colour, linewidth=6, alpha=0.6, label=name)
