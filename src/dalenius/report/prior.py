"""The worst-case prior of an audit: what the adversary believes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from dalenius.errors import InputError
from dalenius.evidence import Certificate
from dalenius.intervals import percent_text
from dalenius.measures.witness import witness_of
from dalenius.model import MaximalLeakage
from dalenius.report.picture import COLOURS, axes_of, finished, telling
from dalenius.report.words import belief, value_names
from dalenius.results import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["prior_picture"]

MOST_LETTERS = len(COLOURS)
MOST_TICKS = 16
MOST_TOLD = 400
HATCHES = ("", "//", "..", "xx", "--", "oo")


def prior_picture(
    problem: MaximalLeakage, proof: Result | Certificate, *, ax: Axes | None = None, title: str | None = None
) -> Axes:
    """Draw the prior that an answer's lower end rests on: how likely each value of the query is, by the letter of the record.

    Parameters
    ----------
    problem : MaximalLeakage
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
    >>> problem = dl.MaximalLeakage(records=dl.Records(3, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.AnyPrior())
    >>> prior_picture(problem, dl.solve(problem)).get_title()
    'The adversary believes that record 0 is 0 (... %) or 1 (... %).\\nIf it is 0, then the true total is most likely ...'
    """
    certificate = proof.certificate if isinstance(proof, Result) else proof
    witness = witness_of(problem, certificate)
    if len(witness.masses) > MOST_LETTERS:
        raise InputError(f"prior: at most {MOST_LETTERS} letters are drawn, got {len(witness.masses)}")
    ax = axes_of(ax)
    names = value_names(witness.problem)
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
            label=f"it is {letter}",
        )
        for name, bar, mass in zip(names, bars if len(names) <= MOST_TOLD else [], masses, strict=False):
            bar.set_gid(
                telling(f"record {witness.record} is {letter} and the value {name}: {percent_text(mass, mass)}")
            )
        bottoms = [bottom + mass for bottom, mass in zip(bottoms, masses, strict=True)]
    ax.set_ylim(0.0, 1.08 * float(max(bottoms)))
    step = -(-len(names) // MOST_TICKS)
    ax.set_xticks(range(0, len(names), step), names[::step])
    of_block = "" if witness.piece is None else ", of the record's own block"
    ax.set_xlabel(f"true value of the query{of_block}" if problem.inputs == "query" else "dataset")
    ax.set_ylabel("probability in the worst-case prior")
    ax.legend(title=f"record {witness.record}", frameon=False)
    return finished(ax, title="\n".join(belief(witness)) if title is None else title)
