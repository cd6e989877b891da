"""Learned sanitizers as a table, and as a picture beside what no sanitizer exceeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dalenius.errors import InputError
from dalenius.intervals import text_above, text_below
from dalenius.report.picture import COLOURS, INK, MARKERS, Style, axes_of, finished, telling

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dalenius.sanitizers import Trained


HEADS = (
    "experiment", "method", "root_budget", "weight", "seed", "attack_accuracy", "attack_loss", "attack_at_least", "utility_accuracy",
    "utility_loss", "critic", "root_chi_square_at_least", "breaks_budget", "mean_squared_error", "utility_at_most_proved",
)  # fmt: skip


def sanitizer_table(trained: Sequence[Trained]) -> str:
    """As CSV text. All is statistical but the last column: what no sanitizer that keeps the budget exceeds, proved, rounded up."""
    rows = [",".join(HEADS)]
    for one in trained:
        settings, outcome = one.run.settings, one.outcome
        cells = [
            one.run.experiment,
            one.run.method,
            f"{settings.root_budget:g}",
            f"{settings.weight:g}",
            str(settings.seed),
            *(f"{x:.4f}" for x in (outcome.attack.accuracy, outcome.attack.loss)),
            text_below(outcome.attack.at_least, 4),
            *(f"{x:.4f}" for x in (outcome.utility.accuracy, outcome.utility.loss, outcome.critic)),
            text_below(outcome.root_chi_square_at_least, 4),
            "yes" if one.breaks_budget else "no",
            "" if outcome.error is None else f"{outcome.error:.5f}",
            text_above(one.accuracy_at_most),
        ]
        rows.append(",".join(cells))
    return "\n".join(rows) + "\n"


def sanitizer_picture(trained: Sequence[Trained], *, ax: Axes | None = None, title: str = "") -> Axes:
    """Attack and utility accuracy against the budget, and the proved converse of the utility, of one experiment.

    Parameters
    ----------
    trained : sequence of Trained
        At least one; all of one experiment.
    ax, title
        As in `curve_picture`.

    Raises
    ------
    InputError
        If there is none, they are of several experiments, or matplotlib is not installed.
    """
    if len({one.run.experiment for one in trained}) != 1:
        raise InputError("sanitizers: expected at least one to draw, all of one experiment")
    ax = axes_of(ax)
    bound = sorted({(one.run.settings.root_budget, one.accuracy_at_most) for one in trained})
    ax.plot(
        *zip(*((x, float(y)) for x, y in bound), strict=True),
        color=INK,
        linewidth=1.2,
        drawstyle="steps-pre",  # between two budgets what the larger one allows is proved, and no straight line
        marker="_",
        label="label: no sanitizer exceeds this (proved)",
    )
    for method, colour in zip(dict.fromkeys(one.run.method for one in trained), COLOURS[::2], strict=False):
        own = [one for one in trained if one.run.method == method]
        for what, marker, filled in (("label", MARKERS[0], True), ("secret, fresh attack", MARKERS[1], False)):
            ax.plot(
                [],
                [],
                marker=marker,
                color=colour,
                linestyle="none",
                fillstyle="full" if filled else "none",
                label=f"{what} ({method})",
            )
            for one in own:
                found = one.outcome.utility if filled else one.outcome.attack
                text = telling(
                    f"{one.run.name}: {what} {found.accuracy:.4f}, held out"
                    + (", breaks its budget" if one.breaks_budget else "")
                )
                style: Style = {
                    "marker": marker,
                    "color": colour,
                    "linestyle": "none",
                    "fillstyle": "full" if filled else "none",
                }
                ax.plot([one.run.settings.root_budget], [found.accuracy], gid=text, markersize=5, **style)
    ax.set(xlabel="budget: root of the chi-square divergence", ylabel="accuracy, held-out data")
    ax.legend(frameon=False, fontsize="small")
    return finished(ax, title=title)
