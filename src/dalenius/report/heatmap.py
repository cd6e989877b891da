"""A mechanism as a heat map: how likely each output is on each input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.information.arrays import Floats
from dalenius.model import DesignProblem, MaximalLeakage
from dalenius.model.mechanisms import DesignedMechanism
from dalenius.report.picture import INK, axes_of, finished, telling
from dalenius.results import DesignResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["mechanism_picture"]

MOST_WRITTEN = 12  # inputs and outputs of which each cell has its number
MOST_TOLD = 400  # cells with a value to point at
MOST_TICKS = 16
MOST_CELLS = 2**20
COLOURS = "cividis"  # Nunez, Anderton and Renslow 2018; even in lightness, the same to the colour-blind


def mechanism_picture(
    of: MaximalLeakage | DesignResult | DesignedMechanism, *, ax: Axes | None = None, title: str = "", partial: str = ""
) -> Axes:
    """Draw a mechanism as a heat map: P(output | input), an input a row; small ones with the numbers, rounded.

    Parameters
    ----------
    of : MaximalLeakage, DesignResult or DesignedMechanism
        The mechanism of a release, or one that was designed.
    ax, title, partial
        As in `curve_picture`.

    Raises
    ------
    InputError
        If it is none of these, no mechanism meets the budget, there are more than 2^20 entries, or matplotlib is not installed.

    >>> import dalenius as dl
    >>> problem = dl.MaximalLeakage(records=dl.Records(3, alphabet=2), query=dl.Count(), mechanism=dl.geometric(1),
    ...     adversary=dl.AnyPrior())
    >>> ax = mechanism_picture(problem)
    >>> ax.get_ylabel(), ax.get_xlabel(), [text.get_text() for text in ax.get_yticklabels()]
    ('true value of the query', 'output', ['0', '1', '2', '3'])
    """
    rows, inputs, outputs, what = _parts(of)
    if rows.size > MOST_CELLS:
        raise InputError(
            f"mechanism: at most {MOST_CELLS} probabilities are drawn, got {rows.shape[0]} x {rows.shape[1]}"
        )
    ax = axes_of(ax)
    image = ax.imshow(rows, cmap=COLOURS, vmin=0.0, vmax=float(rows.max()), aspect="auto", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="probability of the output")
    _cells(ax, rows, inputs, outputs)
    for axis, names in ((ax.xaxis, outputs), (ax.yaxis, inputs)):
        step = -(-len(names) // MOST_TICKS)
        axis.set_ticks(range(0, len(names), step), names[::step])
    ax.set_xlabel("output")
    ax.set_ylabel(what)
    return finished(ax, title=title, partial=partial, grid=False)


def _cells(ax: Axes, rows: Floats, inputs: list[str], outputs: list[str]) -> None:
    """The numbers, where there is room, and what to say where one points at a cell."""
    from matplotlib.patches import Rectangle

    if rows.size <= MOST_TOLD:
        for (v, y), p in np.ndenumerate(rows):
            cell = Rectangle((y - 0.5, v - 0.5), 1.0, 1.0, alpha=0.0, linewidth=0)
            cell.set_gid(telling(f"input {inputs[v]}, output {outputs[y]}: about {p:.4g}"))
            ax.add_patch(cell)
    if max(rows.shape) <= MOST_WRITTEN:
        middle = 0.55 * float(rows.max())
        for (v, y), p in np.ndenumerate(rows):
            colour = INK if p > middle else "white"
            ax.text(y, v, _short(p), ha="center", va="center", fontsize=7, color=colour)


def _short(p: float) -> str:
    """Two digits of a probability; a small one is not 0."""
    if p == 0.0:
        return "0"
    return "<.01" if p < 0.005 else f"{p:.2f}".removeprefix("0")


def _parts(of: object) -> tuple[Floats, list[str], list[str], str]:
    """The matrix, what inputs and outputs are called, and what an input is."""
    if isinstance(of, DesignResult):
        if of.mechanism is None:
            raise InputError("mechanism: no mechanism meets the budget, so there is none to draw")
        of = of.mechanism
    if isinstance(of, DesignedMechanism):
        rows = np.array([[float(p) for p in row] for row in of.rows])
        named = [str(name) for name in of.output_labels(np.arange(len(rows)))]
        return rows, [str(value) for value in of.values], named, _what(of.inputs)
    if isinstance(of, MaximalLeakage):
        values = of.query_of_inputs.values(of.records)
        names = [str(value) for value in values.tolist()]
        return of.channel, names, of.mechanism.output_labels(values), _what(of.inputs)
    asks = "; hand in the result of solving it" if isinstance(of, DesignProblem) else ""
    raise InputError(
        f"mechanism: expected a MaximalLeakage, a DesignResult or a DesignedMechanism, got {brief(of)}{asks}"
    )


def _what(inputs: str) -> str:
    return "true value of the query" if inputs == "query" else "dataset, by its number"
