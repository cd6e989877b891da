"""A release in pictures: its mechanism as a heat map, and the worst-case prior of its audit."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dalenius.errors import InputError, brief
from dalenius.evidence import Certificate
from dalenius.information.arrays import Floats
from dalenius.intervals import percent_text
from dalenius.measures.witness import witness_of
from dalenius.model import DesignProblem, WorstCaseLeakage
from dalenius.model.mechanisms import DesignedMechanism
from dalenius.report.picture import COLOURS, INK, axes_of, finished, telling
from dalenius.report.words import belief, person, value_names, values_called
from dalenius.results import DesignResult, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# A mechanism as a heat map: how likely each output is on each input.


MOST_WRITTEN = 12  # inputs and outputs of which each cell has its number
MOST_TOLD = 400  # cells with a value to point at
MOST_TICKS = 16
MOST_CELLS = 2**20
COLOUR_MAP = "cividis"  # Nunez, Anderton and Renslow 2018; even in lightness, the same to the colour-blind


def mechanism_picture(
    of: WorstCaseLeakage | DesignResult | DesignedMechanism,
    *,
    ax: Axes | None = None,
    title: str = "",
    partial: str = "",
) -> Axes:
    """Draw a mechanism as a heat map: P(output | input), an input a row; small ones with the numbers, rounded.

    Parameters
    ----------
    of : WorstCaseLeakage, DesignResult or DesignedMechanism
        The mechanism of a release, or one that was designed.
    ax, title, partial
        As in `curve_picture`.

    Raises
    ------
    InputError
        If it is none of these, no mechanism meets the budget, there is no matrix (a histogram's cells), it has more than 2^20 entries,
        or matplotlib is not installed.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(3, alphabet=2), query=dl.Count(), mechanism=dl.geometric(1),
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
    image = ax.imshow(rows, cmap=COLOUR_MAP, vmin=0.0, vmax=float(rows.max()), aspect="auto", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="probability of the output")
    _cells(ax, rows, inputs, outputs)
    for axis, names in ((ax.xaxis, outputs), (ax.yaxis, inputs)):
        step = -(-len(names) // MOST_TICKS)
        axis.set_ticks(range(0, len(names), step), names[::step])
    ax.set(xlabel="output", ylabel=what)
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
            raise InputError(f"mechanism: {of}; there is none to draw")
        of = of.mechanism
    if isinstance(of, DesignedMechanism):
        rows = np.array([[float(p) for p in row] for row in of.rows])
        named = [str(name) for name in of.output_labels(np.arange(len(rows)))]
        return rows, [str(value) for value in of.values], named, _what(of.inputs)
    if isinstance(of, WorstCaseLeakage):
        if of.route.tables is not None:
            raise InputError("mechanism: noise on every cell of a histogram has no matrix; draw the count of one cell")
        of.query_of_inputs.check_values(of.records)  # of blocks, chains and wide counts nothing was listed
        values = of.query_of_inputs.values(of.records)
        names = [str(value) for value in values.tolist()]
        return of.channel, names, of.mechanism.output_labels(values), _what(of.inputs)
    asks = "; hand in the result of solving it" if isinstance(of, DesignProblem) else ""
    raise InputError(
        f"mechanism: expected a WorstCaseLeakage, a DesignResult or a DesignedMechanism, got {brief(of)}{asks}"
    )


def _what(inputs: str) -> str:
    return "true value of the query" if inputs == "query" else "dataset, by its number"


# The worst-case prior of an audit: what the adversary believes.


MOST_LETTERS = len(COLOURS)
HATCHES = ("", "//", "..", "xx", "--", "oo")


def prior_picture(
    problem: WorstCaseLeakage,
    proof: Result | Certificate,
    *,
    ax: Axes | None = None,
    title: str | None = None,
) -> Axes:
    """Draw the prior that an answer's lower end rests on: how likely each value of the query is, by the letter of the record.

    Parameters
    ----------
    problem : WorstCaseLeakage
    proof : Result or Certificate
        Of this problem.
    ax : matplotlib Axes, optional
    title : str, optional
        Left out, it says in words what the adversary believes.

    Raises
    ------
    InputError
        If the certificate is of another problem, shows no prior (what is proved from below is 0), or is too large; or matplotlib is
        not installed.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.AnyPrior())
    >>> prior_picture(problem, dl.solve(problem)).get_title()
    'The adversary believes that the answer of record 0 is 0 (... %) or 1 (... %).\\nIf it is 0, then the true total ...'
    """
    certificate = proof.certificate if isinstance(proof, Result) else proof
    witness = witness_of(problem, certificate)
    if len(witness.masses) > MOST_LETTERS:
        raise InputError(f"prior: at most {MOST_LETTERS} letters are drawn, got {len(witness.masses)}")
    ax = axes_of(ax)
    names = value_names(witness.problem)
    called = values_called(witness, problem.records)
    bottoms = [Fraction(0)] * len(names)
    for letter, masses in enumerate(witness.masses):
        bars = ax.bar(
            range(len(names)),
            [float(mass) for mass in masses],
            bottom=[float(bottom) for bottom in bottoms],
            color=COLOURS[letter],
            hatch=HATCHES[letter],
            edgecolor="white",
            linewidth=0.5,
            label=f"it is {called[letter]}",
        )
        for name, bar, mass in zip(names, bars if len(names) <= MOST_TOLD else [], masses, strict=False):
            bar.set_gid(telling(f"the answer is {called[letter]} and the value {name}: {percent_text(mass, mass)}"))
        bottoms = [bottom + mass for bottom, mass in zip(bottoms, masses, strict=True)]
    ax.set_ylim(0.0, 1.08 * float(max(bottoms)))
    step = -(-len(names) // MOST_TICKS)
    ax.set_xticks(range(0, len(names), step), names[::step])
    of_block = "" if witness.piece is None else ", of the record's own block"
    ax.set_xlabel(f"true value of the query{of_block}" if problem.inputs == "query" else "dataset")
    ax.set_ylabel("probability in the worst-case prior")
    ax.legend(title=f"the answer of {person(witness)}", frameon=False)
    return finished(ax, title="\n".join(belief(witness, problem.records)) if title is None else title)
