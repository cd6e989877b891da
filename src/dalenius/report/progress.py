"""Bounds against time, of one search, and of rivals beside the certified band; learned sanitizers beside what none exceeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dalenius.alternation import Alternation
from dalenius.errors import InputError
from dalenius.intervals import ends_text, interval_text, text_above, text_below
from dalenius.report.picture import COLOURS, INK, MARKERS, Style, axes_of, finished, label, telling
from dalenius.results import DesignResult, Result, SecretResult
from dalenius.units import Quantity, lower_in, upper_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dalenius.sanitizers import Trained
    from dalenius.studies.compare import Comparison
    from dalenius.studies.contest import MethodOutcome


# How the bounds of an audit or a design moved with time, and what was proved in the end, as a table and as a picture.


PROVED = "proved"  # the stage of the last row, which no search has


def trace_table(result: Result | DesignResult | SecretResult) -> str:
    """The moments of a trace as CSV text: seconds, what was at work, about which record or in which round, both bounds, evidence.

    Bounds are in the result's units; ``result.to("bits")`` has others. They are the search's own, which need not have been proved; the
    last row, at work ``proved``, is the interval that was, if there is one, and its evidence the lines of the certificate.
    """
    rows = [f"seconds,stage,record,round,lower_{result.units},upper_{result.units},evidence"]
    for moment in result.trace:
        lower, upper = ends_text(moment.lower, moment.upper)
        record = "" if moment.record is None else moment.record
        rows.append(
            f"{moment.seconds:.3f},{moment.stage},{record},{moment.rounds or ''},{lower},{upper},{moment.evidence}"
        )
    if not math.isinf(result.upper):
        rows.append(f"{result.seconds:.3f},{PROVED},,,{','.join(result.ends)},{result.certificate.lines}")
    return "\n".join(rows) + "\n"


def trace_picture(
    result: Result | DesignResult | SecretResult, *, ax: Axes | None = None, title: str = "", partial: str = ""
) -> Axes:
    """Draw the search's bounds against time, the band between them shaded, and the interval that was proved in the end.

    Parameters
    ----------
    result : Result, DesignResult or SecretResult
        In its own units; ``result.to("bits")`` has others.
    ax, title, partial
        As in `curve_picture`.

    Raises
    ------
    InputError
        If no mechanism is known, or matplotlib is not installed.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("1.5 bits"))
    >>> result = dl.solve(problem)
    >>> table = trace_table(result).splitlines()
    >>> table[0], table[-1].split(",")[1]
    ('seconds,stage,record,round,lower_nats,upper_nats,evidence', 'proved')
    >>> trace_picture(result).get_xlabel()
    'seconds'
    """
    if math.isinf(result.upper):
        raise InputError(f"trace: {result}; there is no interval to draw")
    ax = axes_of(ax)
    seconds = [moment.seconds for moment in result.trace]
    lower, upper = [moment.lower for moment in result.trace], [moment.upper for moment in result.trace]
    style: Style = {"drawstyle": "steps-post", "color": COLOURS[0]}
    ax.plot(seconds, upper, linestyle="--", label="bound of the search, from above", **style)
    ax.plot(seconds, lower, label="bound of the search, from below", **style)
    ax.fill_between(seconds, lower, upper, step="post", alpha=0.2, color=COLOURS[0], linewidth=0)
    ends = f"proved after {result.seconds:.3g} s: {interval_text(result.lower, result.upper)} {result.units}"
    proved: Style = {"color": COLOURS[1], "marker": "_", "markersize": 9, "linewidth": 2}
    ax.plot([result.seconds] * 2, [result.lower, result.upper], label="proved in the end", gid=telling(ends), **proved)
    ax.set(xlabel="seconds", ylabel=label(result.units, largest=_largest(result)))
    ax.legend(frameon=False)
    return finished(ax, title=title, partial=partial)


def _largest(result: Result | DesignResult | SecretResult) -> bool:
    return isinstance(result, DesignResult) and result.largest


def alternation_picture(one: Alternation, *, ax: Axes | None = None, title: str = "", partial: str = "") -> Axes:
    """Draw what each block's turns proved of its subproblem against the sweeps, and the value between them.

    Only of blocks whose interval is in the value's own units. Crosses are what the source paper's penalty step reaches instead.

    Parameters
    ----------
    one : Alternation
        Of ``result.alternating``.
    ax, title, partial
        As in `curve_picture`.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    ax, turns = axes_of(ax), [turn for turn in one.certificates if turn.units == one.units]
    ax.plot([sweep.number for sweep in one.trace], [sweep.value for sweep in one.trace], color=INK, label="value")
    names = list(dict.fromkeys(turn.block for turn in turns))
    for j, name in enumerate(names):
        colour, mine = COLOURS[j % len(COLOURS)], [turn for turn in turns if turn.block == name]
        for k, turn in enumerate(mine):
            at, text = turn.sweep + 0.5 * (j + 1) / len(names) - 0.5, " .. ".join(ends_text(turn.lower, turn.upper))
            style: Style = {"color": colour, "marker": "_", "gid": telling(f"{name}, sweep {turn.sweep}: {text}")}
            ax.plot([at, at], [turn.lower, turn.upper], label="" if k else f"{name}, proved", **style)
            if turn.paper is not None:
                ax.plot([at], [turn.paper], "x", color=colour, label="" if k else f"{name}, the paper's penalty step")
    ax.set(xlabel="sweep", ylabel=label(one.units))
    ax.legend(frameon=False, fontsize="small")
    return finished(ax, title=title, partial=partial)


# A comparison of methods, as a table and as a picture of value against time with the certified band.


STYLES = ("-", "--", ":", "-.")  # where there are more methods than colours
SHORTEST = 1e-3  # seconds, on a logarithmic axis
HEADS = (
    "method,starts,value,first_start,claimed,claimed_bound,certified_lower,certified_upper,shortfall,shortfall_at_most,violation,"
    "iterations,evaluations,seconds,seconds_to_gap,unit,violation_unit"
)


def comparison_table(comparison: Comparison) -> str:
    """The entries as CSV text; values in the comparison's own unit (nats, or the distortion's)."""
    rows, (lower, upper) = [HEADS], ends_text(comparison.lower, comparison.upper)
    for entry in comparison.entries:
        value, first = comparison.value_text(entry.value), comparison.value_text(entry.first)
        reached = "" if entry.reached is None else f"{entry.reached:.3f}"
        bound = "" if entry.bound is None else comparison.bound_text(entry.bound)
        rows.append(
            f"{entry.method},{entry.seeds},{value},{first},{entry.claimed!r},{bound},{lower},{upper},"
            f"{text_below(entry.shortfall, 3)},{text_above(entry.shortfall_at_most, 3)},{entry.violation:.3g},"
            f"{entry.iterations},{entry.evaluations},"
            f"{entry.seconds:.3f},{reached},{comparison.units},{comparison.violation_units}"
        )
    return "\n".join(rows) + "\n"


def comparison_picture(
    comparison: Comparison, *, ax: Axes | None = None, title: str = "", units: str = "nats", partial: str = ""
) -> Axes:
    """Draw the best value so far against time, one line a method, over the certified band.

    For designs the lines of the rivals are what they believe (their own search for the adversary), a cross at the end what the house
    certifies of their mechanism.

    Parameters
    ----------
    comparison : Comparison
        Of `dalenius.compare`.
    ax, title, units, partial
        As in `curve_picture`.

    Raises
    ------
    InputError
        If matplotlib is not installed.

    >>> import dalenius as dl
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(2, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("1.5 bits"))
    >>> found = dl.compare(problem, methods=["paper-full"], seeds=1)
    >>> comparison_table(found).splitlines()[0][:20]
    'method,starts,value,'
    >>> comparison_picture(found).get_xscale()
    'log'
    """

    def scaled(value: float) -> float:
        return lower_in(value, units) if comparison.quantity is Quantity.LEAKAGE else value

    ax = axes_of(ax)
    low, high = comparison.lower, comparison.upper
    if comparison.quantity is Quantity.LEAKAGE:
        low, high = lower_in(low, units), upper_in(high, units)
    shown = comparison.quantity.shown_in(units)
    ax.axhspan(low, high, color="0.6", alpha=0.5, lw=0)
    ax.axhline(
        high,
        color="0.25",
        lw=1.0,
        label="certified interval",
        gid=telling(f"certified: {interval_text(low, high)} {shown}"),
    )
    for j, entry in enumerate(comparison.entries):
        end = max(entry.seconds, SHORTEST)
        values = [scaled(value) for _, value in entry.trace]
        values.append(values[-1] if values else scaled(entry.claimed))
        style: Style = {"color": COLOURS[j % len(COLOURS)], "linestyle": STYLES[j // len(COLOURS) % len(STYLES)]}
        seconds = [max(at, SHORTEST) for at, _ in entry.trace] + [end]
        ax.plot(seconds, values, drawstyle="steps-post", label=_label(comparison, entry), **style)
        text = f"{entry.method}: {comparison.value_text(entry.value)} {comparison.units} after {entry.seconds:.3g} s"
        ax.plot([end], [scaled(entry.value)], marker="x", gid=telling(text), color=style["color"])
    ax.set_xscale("log")
    ax.set_xlim(right=1.2 * max([entry.seconds for entry in comparison.entries] + [10 * SHORTEST]))
    ax.set(xlabel="seconds, all starts one after the other", ylabel=label(shown, largest=_largest(comparison.result)))
    ax.legend(frameon=False, fontsize="small")
    return finished(ax, title=title, partial=partial)


def _label(comparison: Comparison, entry: MethodOutcome) -> str:
    """The method; what a rival's design is worth is only believed until it is audited."""
    believed = not comparison.maximises and entry.method != "certified"
    return f"{entry.method}, as it believes" if believed else entry.method


SANITIZER_HEADS = (
    "experiment", "method", "root_budget", "weight", "seed", "attack_accuracy", "attack_loss", "attack_at_least", "utility_accuracy",
    "utility_loss", "critic", "root_chi_square_at_least", "breaks_budget", "mean_squared_error", "utility_at_most_proved",
)  # fmt: skip


def sanitizer_table(trained: Sequence[Trained]) -> str:
    """As CSV text. All is statistical but the last column: what no sanitizer that keeps the budget exceeds, proved, rounded up."""
    rows = [",".join(SANITIZER_HEADS)]
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
            fill = "full" if filled else "none"
            style: Style = {"marker": marker, "color": colour, "linestyle": "none", "fillstyle": fill}
            ax.plot([], [], label=f"{what} ({method})", **style)
            for one in own:
                found = one.outcome.utility if filled else one.outcome.attack
                text = telling(
                    f"{one.run.name}: {what} {found.accuracy:.4f}, held out"
                    + (", breaks its budget" if one.breaks_budget else "")
                )
                ax.plot([one.run.settings.root_budget], [found.accuracy], gid=text, markersize=5, **style)
    ax.set(xlabel="budget: root of the chi-square divergence", ylabel="accuracy, held-out data")
    ax.legend(frameon=False, fontsize="small")
    return finished(ax, title=title)
