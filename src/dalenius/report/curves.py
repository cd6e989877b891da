"""Curves with their certified bands, in pictures and tables: leakage against entropy, frontiers of designs, leakage against noise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from dalenius.errors import InputError
from dalenius.exact import Number, as_fraction, fraction_text
from dalenius.intervals import ends_text, gap_text, interval_text, text_above
from dalenius.report.picture import COLOURS, MARKERS, Style, axes_of, draw_band, finished, label, telling, with_bits
from dalenius.results import Result
from dalenius.studies.curves import Band, CurvePoint, FrontierPoint, curve_of
from dalenius.studies.leakage_curve import LeakageCurve
from dalenius.studies.least_noise import LeastNoise, NoiseLevel
from dalenius.units import Quantity, lower_in, upper_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Leakage against entropy, as a picture with its certified band and as tables.


Curve: TypeAlias = LeakageCurve | Sequence[CurvePoint]
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
    """Band of the whole curve from the points' certificates, as CSV text: at 101 even shares of the largest entropy, and theirs.

    The columns are the share, the bounds, rounded outward, and the files of the certificates that prove the lower and the upper one
    (`dalenius.answers.LeakageCurve`).
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
    curves: Mapping[str, Curve], *, ax: Axes | None = None, title: str = "", units: str = "nats", partial: str = ""
) -> Axes:
    """Draw leakage against what the adversary does not know: one certified band a curve.

    The band is what the proofs leave together (`LeakageCurve`); its edges are smooth and nowhere inside of what is proved.
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
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(),
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
    ax.set(xlabel="what the adversary does not know: entropy of the prior, share of the largest", ylabel=label(units))
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
        _marked(ax, float(share), low, high, colour, marker, text)
    _named(ax, name, colour, marker)


def _marked(ax: Axes, x: float, attained: float, bound: float, colour: str, marker: str, text: str) -> None:
    """Draw attained values that can be pointed at, each with a dash at its bound."""
    style: Style = {"color": colour, "linestyle": "none", "zorder": 3, "clip_on": False}
    ax.plot([x], [bound], marker="_", markersize=9, **style)
    ax.plot([x], [attained], marker=marker, markersize=4.5, gid=text, **style)


def _named(ax: Axes, name: str, colour: str, marker: str) -> None:
    """The entry of a curve and its band in the legend."""
    ax.plot([], [], marker=marker, markersize=4.5, color=colour, linewidth=6, alpha=0.6, label=name)


# The frontier of a design, as a picture with its certified band and as a table.


BAND_STEPS = 200
FRONTIER_HEADS = (
    "budget", "budget_unit", "lower", "upper", "unit", "band_lower", "band_upper", "relative_gap", "distortion",
    "leakage_lower", "leakage_upper", "leakage_unit", "termination", "certificate",
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
    rows = [",".join(FRONTIER_HEADS)]
    band = Band(points)
    for point, certificate in zip(points, [*certificates, *[""] * len(points)], strict=False):
        result = point.result.with_leakages_in(units)
        shared = result.ends
        if result.feasible:
            shared = ends_text(*_ends(point, band.lower(point.budget), band.upper(point.budget), units))
        cells = [
            fraction_text(point.budget),
            point.problem.budget_units,
            *result.ends,
            result.units,
            *shared,
            gap_text(result.gap),
            "" if result.distortion is None else text_above(result.distortion, 17),
            *(("", "", "") if result.leakage is None else (*ends_text(*result.leakage), units)),
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
            _draw_frontier(ax, name, feasible, units, COLOURS[j % len(COLOURS)])
    for j, (name, audits) in enumerate((others or {}).items()):
        _beside(ax, name, audits, units, COLOURS[(j + len(curves)) % len(COLOURS)], MARKERS[1 + j % (len(MARKERS) - 1)])
    problem = points[0].problem
    costs = "expected distortion allowed [units of its costs]"
    ax.set_xlabel(costs if problem.leakage_budget is None else f"leakage allowed [{problem.budget_units}]")
    ax.set_ylabel(label(problem.quantity.shown_in(units)))
    ax.set_ylim(bottom=0.0)
    if ax.get_legend_handles_labels()[0]:
        what = "mechanism (mark), no better one (dash)"
        ax.legend(title=what, frameon=False, fontsize="small", title_fontsize="small")
    return finished(ax, title=title, partial=partial)


def _draw_frontier(ax: Axes, name: str, points: Sequence[FrontierPoint], units: str, colour: str) -> None:
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
        _marked(ax, x, upper, lower, colour, MARKERS[0], text)
    _named(ax, name, colour, MARKERS[0])


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


# How much noise is enough, as a picture and as a table.


NOISE_HEADS = ("scale", "what", "lower", "upper", "unit", "within_budget", "condition", "certificate")


def noise_table(found: LeastNoise, *, certificates: dict[str, str] | None = None) -> str:
    """The scales that were tried, with what is proved at each, and those that theorems ask for, as CSV text.

    Parameters
    ----------
    certificates : mapping of "within" and "above" to file names, optional
        As far as they are written.
    """
    rows = [",".join(NOISE_HEADS)]
    for level in found.levels:
        name = "within" if level is found.within else "above" if level is found.above else ""
        ends = level.result.to(found.units).ends
        kept = {True: "yes", False: "no", None: ""}[_within(found, level)]
        cells = [
            fraction_text(level.scale), "proved", *ends, found.units, kept, "", (certificates or {}).get(name, "")
        ]  # fmt: skip
        rows.append(",".join(cells))
    for formula in found.formulas:
        cells = [text_above(formula.scale, 12), f'"{formula.name}"', "", "", "", "yes", f'"{formula.condition}"', ""]
        rows.append(",".join(cells))
    return "\n".join(rows) + "\n"


def noise_picture(found: LeastNoise, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw what was proved at the scales that were tried, the budget, the least scale, and the scales that theorems ask for.

    Parameters
    ----------
    ax, title
        As in `curve_picture`.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    ax = axes_of(ax)
    shown = [(level, level.result.to(found.units)) for level in found.levels]
    for level, result in shown:
        (mark,) = ax.plot(
            [float(level.scale)] * 2, [result.lower, result.upper], "o-", color=COLOURS[0], markersize=4, zorder=3
        )
        mark.set_gid(
            telling(f"scale {fraction_text(level.scale)}: {interval_text(result.lower, result.upper)} {found.units}")
        )
    ax.plot([float(level.scale) for level, _ in shown], [result.upper for _, result in shown], color=COLOURS[0], lw=1.0)
    budget = f"budget, {fraction_text(found.at_most)} {found.units}"
    ax.axhline(float(found.at_most), color="#666666", lw=1.0, ls="--", label=budget)
    enough = found.within.scale
    ax.axvline(float(enough), color=COLOURS[0], lw=1.4, label=f"enough, proved: {fraction_text(enough)}")
    for j, formula in enumerate(found.formulas):
        colour = COLOURS[1 + j % (len(COLOURS) - 1)]
        ax.axvline(formula.scale, color=colour, lw=1.2, ls=":", label=f"{formula.name}: {text_above(formula.scale, 4)}")
    ax.set_xscale("log")
    ax.set_yscale("log")
    noise, _ = found.within.releases[0]
    ax.set(xlabel=f"scale of {noise.kind.replace('_', ' ')} noise", ylabel=label(found.units))
    ax.legend(framealpha=1.0, edgecolor="none", fontsize="small")  # above the lines, which cross the whole picture
    return finished(ax, title=title)


def _within(found: LeastNoise, level: NoiseLevel) -> bool | None:
    """True if the leakage is proved to be within the budget; None where it is not known."""
    result = level.result.to(found.units)
    return True if result.upper <= found.at_most else False if result.lower > found.at_most else None
