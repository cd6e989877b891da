"""How much noise is enough, as a picture and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dalenius.exact import fraction_text
from dalenius.intervals import interval_text, text_above
from dalenius.report.picture import COLOURS, axes_of, finished, label, telling
from dalenius.studies.least_noise import LeastNoise, NoiseLevel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["noise_picture", "noise_table"]

HEADS = ("scale", "what", "lower", "upper", "unit", "within_budget", "condition", "certificate")


def noise_table(found: LeastNoise, *, certificates: dict[str, str] | None = None) -> str:
    """The scales that were tried, with what is proved at each, and those that theorems ask for, as CSV text.

    Parameters
    ----------
    certificates : mapping of "within" and "above" to file names, optional
        As far as they are written.
    """
    rows = [",".join(HEADS)]
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
    ax.axvline(
        float(found.within.scale), color=COLOURS[0], lw=1.4, label=f"enough, proved: {text_above(found.within.scale)}"
    )
    for j, formula in enumerate(found.formulas):
        colour = COLOURS[1 + j % (len(COLOURS) - 1)]
        ax.axvline(formula.scale, color=colour, lw=1.2, ls=":", label=f"{formula.name}: {text_above(formula.scale, 4)}")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel(f"scale of {found.within.problem.mechanism.kind.replace('_', ' ')} noise")
    ax.set_ylabel(label(found.units))
    ax.legend(framealpha=1.0, edgecolor="none", fontsize="small")  # above the lines, which cross the whole picture
    return finished(ax, title=title)


def _within(found: LeastNoise, level: NoiseLevel) -> bool | None:
    """Whether the leakage is proved to be within the budget; None where it is not known."""
    result = level.result.to(found.units)
    return True if result.upper <= found.at_most else False if result.lower > found.at_most else None
