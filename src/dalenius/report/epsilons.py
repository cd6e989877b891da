"""The table for whoever chooses an epsilon: what it comes to by size of household, proved, beside group privacy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from dalenius._solve import solve
from dalenius.errors import InputError
from dalenius.exact import Integer, Number, as_integer, as_list, fraction_text
from dalenius.intervals import text_above, text_below
from dalenius.model import IndependentBlocks, Records, WorstCaseLeakage
from dalenius.model.fields import number
from dalenius.model.in_words import as_part
from dalenius.model.mechanisms import DiscreteLaplace
from dalenius.model.mechanisms.base import MAX_EPSILON
from dalenius.model.problems.mean import Mean
from dalenius.model.queries import Query
from dalenius.notebook import in_brief
from dalenius.report.decision import GAP, cases, implied_bits, percent_above, step_of
from dalenius.report.picture import COLOURS, axes_of, telling
from dalenius.report.words import text_table
from dalenius.results import Result, most_of
from dalenius.search import Clock, Limits, stopped_by_interrupt
from dalenius.search.clock import ProgressCallback
from dalenius.units import lower_in, nats_above, upper_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EPSILONS, SIZES = ("0.1", "0.2", "0.5", "1", "2"), (1, 2, 4)
HEADS = ("epsilon", "household", "most bits", "share", "best guess", "group epsilon", "group bits")
CELLS = (
    *("{epsilon}", "{household}", "{bits_upper}", "{percent} %"),
    *("{guess_after} ({guess_before})", "{group_epsilon}", "{group_bits}"),
)
GROUP, MARK = "\n\n(g) by group privacy, a theorem: the certificate proves nothing less.", " (g)"
_EPSILON = number(above=0, at_most=MAX_EPSILON)


@dataclass(frozen=True)
class EpsilonRow:
    """One person's epsilon and a size of household, with the question, what is proved of it, and group privacy.

    Attributes
    ----------
    epsilon : Fraction
        Of one person: the noise's own, where one person moves what is released by 1.
    size : int
        Of the household.
    implied : float
        Bits that `size` times `epsilon` implies by itself, rounded upward.
    """

    epsilon: Fraction
    size: int
    problem: WorstCaseLeakage
    result: Result
    implied: float

    @property
    def by_group(self) -> bool:
        """True if group privacy implies less than the certificate proves: then that is what the row says."""
        return self.implied < (1.0 - GAP) * upper_in(self.result.upper, "bits")

    @property
    def upper(self) -> float:
        """Nats about one member, at most."""
        return nats_above(self.implied, "bits") if self.by_group else self.result.upper

    @property
    def bits(self) -> tuple[float, float]:
        """Ends of what is known about one member, rounded outward."""
        most = self.implied if self.by_group else most_of(self.problem.most_values, "bits")
        return lower_in(self.result.lower, "bits"), min(upper_in(self.result.upper, "bits"), most)

    def told(self, digits: int = 12) -> dict[str, str]:
        """The row as texts: percent of all there is to know; of how many cases of 100 a guess is right before, and at most after."""
        before, after = cases(self.problem, self.upper)
        return {
            "epsilon": fraction_text(self.epsilon),
            "household": str(self.size),
            "bits_lower": text_below(self.bits[0], digits),
            "bits_upper": text_above(self.bits[1], digits),
            "percent": percent_above(self.upper, max(self.problem.records.alphabets)),
            "guess_before": before,
            "guess_after": after,
            "group_epsilon": fraction_text(self.size * self.epsilon),
            "group_bits": text_above(self.implied, digits),
            "upper_by": "group privacy" if self.by_group else "certificate",
        }


@dataclass(frozen=True)
class EpsilonTable:
    """Rows of what each epsilon comes to; as a text it is the table in Markdown."""

    __repr__ = in_brief

    rows: tuple[EpsilonRow, ...]

    def __str__(self) -> str:
        cells = CELLS, (*CELLS[:2], CELLS[2] + MARK, *CELLS[3:])
        told = [tuple(text.format(**row.told(4)) for text in cells[row.by_group]) for row in self.rows]
        return text_table([HEADS, *told]) + (GROUP if any(row.by_group for row in self.rows) else "")

    def csv(self) -> str:
        """The same as CSV text, with both ends of what is proved."""
        told = [row.told() for row in self.rows]
        lines = [",".join(told[0]), *(",".join(row.values()) for row in told)] if told else []
        return "\n".join([*lines, ""])


def epsilon_table(
    query: Query | Mean | str,
    records: Records | Integer | None = None,
    *,
    epsilons: Sequence[Number] = EPSILONS,
    sizes: Sequence[Integer] = SIZES,
    gap: float = 1e-2,
    time_limit: float | None = 60.0,
    progress: ProgressCallback | None = None,
) -> EpsilonTable:
    """Tell what discrete Laplace noise reveals about one person, by epsilon and by size of household; every number proved.

    Parameters
    ----------
    query : Query, Mean or str
        What is released: a count, a sum, a histogram, a `Mean`.
    records : Records or int
        The people; a number of them answers yes or no. Left out beside a `Mean`, which has them.
    epsilons : sequence of numbers
        Of one person: whatever one answer is, no output becomes likelier by more than a factor of e^epsilon.
    sizes : sequence of int
        Of households, inside which answers may be correlated in any way.
    gap, time_limit, progress
        As in `solve`; the time is for all rows together, and at Ctrl-C those that are there are returned.

    Raises
    ------
    InputError
        If an epsilon is not above 0 and at most 1000, a size is beyond the people, or what is released is no such query.

    >>> import dalenius as dl
    >>> print(epsilon_table("count", 1000, epsilons=["1/2"], sizes=[1, 4]))
    | epsilon | household | most bits | share | best guess | group epsilon | group bits |
    |---------|-----------|-----------|-------|------------|---------------|------------|
    | 0.5     | 1         | 0.04372   | 4.4 % | 63 (50)    | 0.5           | 0.04372    |
    | 0.5     | 4         | 0.3668    | 37 %  | 82 (50)    | 2             | 0.473      |
    """
    asked = query.query if isinstance(query, Mean) else as_part(Query, query, "query")
    people = query.records if isinstance(query, Mean) else records
    people = people if isinstance(people, Records) else Records(people, alphabet=2)
    alone = [_EPSILON(value, "epsilons") for value in as_list(epsilons, "epsilons")]
    homes = [as_integer(size, "sizes", at_least=1, at_most=len(people)) for size in as_list(sizes, "sizes")]
    clock, rows = Clock(Limits(time_limit=time_limit).seconds), list[EpsilonRow]()
    one = WorstCaseLeakage(records=people, query=asked, mechanism=DiscreteLaplace(1), adversary=IndependentBlocks(1))
    if not (one.query.sums and (one.query.sums.hidden_by == "shifts" or one.query.sums.by_cell)):
        raise InputError(f"query: expected a count, a sum, a mean or a histogram, got {asked.kind}")
    pairs = [(epsilon, size) for epsilon in alone for size in homes]
    with stopped_by_interrupt(clock):
        for done, (epsilon, size) in enumerate(pairs):
            noise = DiscreteLaplace(epsilon / step_of(one))
            problem = replace(one, mechanism=noise, adversary=IndependentBlocks(size))
            if clock.interrupted:
                break
            share = max(clock.remaining, 0.0) / (len(pairs) - done)
            result = solve(problem, gap=gap, time_limit=max(share, 1e-3), progress=progress)
            rows.append(EpsilonRow(epsilon, size, problem, result, implied_bits(problem, size * epsilon)))
    return EpsilonTable(tuple(rows))


def epsilon_picture(found: EpsilonTable, *, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw the bits that are proved by epsilon, a line for each size of household, and dashed what group privacy implies.

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
    for k, size in enumerate(dict.fromkeys(row.size for row in found.rows)):
        rows, colour = [row for row in found.rows if row.size == size], COLOURS[k % len(COLOURS)]
        places = [float(row.epsilon) for row in rows]
        (line,) = ax.plot(
            places, [row.bits[1] for row in rows], "o-", color=colour, markersize=4, label=f"household of {size}"
        )
        line.set_gid(telling(f"household of {size}, proved"))
        ax.plot(places, [row.implied for row in rows], "--", color=colour, lw=1.0)
    ax.set_xscale("log")
    ax.set_xlabel("epsilon of one person")
    ax.set_ylabel("bits about one person, at most (dashed: by group privacy)")
    ax.set_title(title)
    ax.legend()
    return ax
