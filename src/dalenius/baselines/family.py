"""Arguments and results of baselines: a family of laws seen from one record after the other; no bound, no proof."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property

import numpy as np

from dalenius.baselines.gradients import Selected, on_entropy_boundary
from dalenius.errors import InputError
from dalenius.exact import is_number
from dalenius.information import entropy, log_sum_exp, mutual_information, x_log_x
from dalenius.information.arrays import Floats, Integers
from dalenius.model import DesignProblem, WorstCaseLeakage
from dalenius.reduction import record_channels, record_completions
from dalenius.search import Clock


class Rest(Enum):
    """Why a baseline stopped; it never knows whether it is near the optimum."""

    TOLERANCE = "tolerance"
    REJECTED = "rejected"
    ITERATIONS = "iterations"
    TIME = "time"


@dataclass(frozen=True)
class Moment:
    """The value after an iteration, `seconds` after the start."""

    iteration: int
    seconds: float
    value: float


@dataclass(frozen=True)
class Turn:
    """The mechanism, before any repair, where Algorithm 7 or 10 came to rest with a multiplier, or where the adversary answers it.

    Attributes
    ----------
    multiplier : float
        Of the penalty; 0 where the adversary answers, at the beginning of a round.
    distortion, leakage : float
        Expected distortion, and leakage in nats to the prior at hand.
    """

    multiplier: float
    distortion: float
    leakage: float


@dataclass
class Log:
    """Counts evaluations and keeps the trace of one run."""

    clock: Clock
    evaluations: int = 0
    moments: list[Moment] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)

    def note(self, iteration: int, value: float) -> None:
        """Add a moment."""
        self.moments.append(Moment(iteration, self.clock.seconds, value))


@dataclass(frozen=True)
class LeakageRun:
    """Result of a method for Problem 1.

    Attributes
    ----------
    method : str
    value : float
        max_i I(X_i; Y) in nats of the repaired prior, by the house's own evaluation: what one adversary is told.
    record : int
        Whose leakage it is.
    prior : (size of the family,)
        The law of the family after the repair: masses of datasets, or of the classes of each kind of record.
    masses : (letters, inputs)
        The same as P(letter, row of the channel) of that record.
    violation : float
        By how many nats the entropy of the prior is below the bound after the repair; 0, or rounding.
    iterations, evaluations : int
        Of the outer loop; of the leakage.
    trace : tuple of Moment
    termination : Rest
    claimed : float or None
        The value that the method itself reports, before the repair; None where that is no other.
    bound : float or None
        What a global solver claims that no prior passes; None of the others.
    """

    method: str
    value: float
    record: int
    prior: Floats = field(repr=False)
    masses: Floats = field(repr=False)
    violation: float
    iterations: int
    evaluations: int
    trace: tuple[Moment, ...] = field(repr=False)
    termination: Rest
    claimed: float | None = None
    bound: float | None = None


@dataclass(frozen=True)
class DesignRun:
    """Result of a method for Problem 2 or 3.

    Attributes
    ----------
    method : str
    value : float
        What the method believes to have reached: the largest leakage to the priors that its own Algorithm 1 has found (Problem 2; the
        true one is larger wherever those ascents stopped short), or the expected distortion (Problem 3).
    rows : (inputs, outputs)
        The mechanism after the repair.
    leakage, distortion : float
        Of that mechanism, the leakage to those priors.
    violation : float
        By how much the budget is broken after the repair, as far as the method sees.
    iterations, evaluations : int
        Of the outer loop; of leakages, all inner loops together.
    trace : tuple of Moment
        The value of each round's mechanism after the repair, to that round's prior.
    turns : tuple of Turn
        The way of the mechanism between, multiplier after multiplier.
    termination : Rest
    shown : tuple of (seconds, rows)
        Mechanisms on the way.
    """

    method: str
    value: float
    rows: Floats = field(repr=False)
    leakage: float
    distortion: float
    violation: float
    iterations: int
    evaluations: int
    trace: tuple[Moment, ...] = field(repr=False)
    turns: tuple[Turn, ...] = field(repr=False)
    termination: Rest
    shown: tuple[tuple[float, Floats], ...] = field(default=(), repr=False)


def need_positive(settings: object, *names: str) -> None:
    """`InputError` unless these settings are numbers above 0."""
    for name in names:
        value = getattr(settings, name)
        if not is_number(value) or not 0 < value < float("inf"):
            raise InputError(f"{name}: expected a number above 0, got {value!r}")


def need_share(settings: object, *names: str) -> None:
    """`InputError` unless these settings lie strictly between 0 and 1."""
    need_positive(settings, *names)
    for name in names:
        if getattr(settings, name) >= 1:
            raise InputError(f"{name}: expected a number between 0 and 1, got {getattr(settings, name)!r}")


def need_one_of(settings: object, name: str, *allowed: str) -> None:
    """`InputError` unless a setting is one of these words."""
    value = getattr(settings, name)
    if value not in allowed:
        raise InputError(f"{name}: expected {' or '.join(allowed)}, got {value!r}")


MOST_CELLS = 2**25  # of all records together, 16 bytes each: half a gigabyte


@dataclass(frozen=True)
class View:
    """One record of a family.

    Attributes
    ----------
    record : int
    cells : tuple of (cells of letter a,)
        Where in the law the cells of each letter are.
    log_uniform : tuple of (cells of letter a,)
        log(N(a,k) / |X|).
    inputs : tuple of (cells of letter a,)
        The row of the channel that each cell selects.
    """

    record: int
    cells: tuple[Integers, ...]
    log_uniform: tuple[Floats, ...]
    inputs: tuple[Integers, ...]

    @property
    def letters(self) -> int:
        return len(self.cells)

    def split(self, law: Floats) -> tuple[Floats, list[Floats]]:
        """The marginal pi (letters,), and the conditionals w_a, a row of its own length for each letter; uniform where pi_a = 0."""
        parts = [law[cells] for cells in self.cells]
        pi = np.array([part.sum() for part in parts])
        rows = [
            part / mass if mass > 0.0 else np.exp(logs - log_sum_exp(logs))
            for part, mass, logs in zip(parts, pi, self.log_uniform, strict=True)
        ]
        return pi / pi.sum(), rows

    def spread(self, a: int, row: Floats) -> float:
        """H(w_a) - log |X| = sum_k w log(N/(|X| w)) of a conditional."""
        return float(row @ self.log_uniform[a] - x_log_x(row).sum())

    def entropy(self, pi: Floats, rows: Sequence[Floats]) -> float:
        """H(p) - log |X| = H(pi) + sum_a pi_a (H(w_a) - log |X|), the chain rule."""
        spread = np.array([self.spread(a, row) for a, row in enumerate(rows)])
        return float(entropy(pi) + pi @ spread)

    def masses(self, law: Floats, inputs: int) -> Floats:
        """P(letter, channel input), (letters, inputs): all that the leakage depends on."""
        return np.stack(
            [
                np.bincount(x, weights=law[cells], minlength=inputs)
                for cells, x in zip(self.cells, self.inputs, strict=True)
            ]
        )


@dataclass(frozen=True)
class Family:
    """All laws of an adversary against one channel.

    Attributes
    ----------
    name : str
        ``"full joint"`` or ``"aggregated"``.
    views : tuple of View
    channel : (inputs, outputs)
    max_knowledge : float
        log |X| - b in nats.
    size : int
        Length of a law.
    shared : bool
        Whether all records see the same law, or each kind of record a part of its own.
    """

    name: str
    views: tuple[View, ...]
    channel: Floats
    max_knowledge: float
    size: int
    shared: bool

    @cached_property
    def given(self) -> tuple[tuple[Selected, ...], ...]:
        """Q(y|a,k), a row of the channel a cell, for each record and letter."""
        return tuple(tuple(Selected.of(self.channel, inputs) for inputs in view.inputs) for view in self.views)

    @cached_property
    def uniform(self) -> Floats:
        """The uniform law: the source paper's start."""
        law = np.zeros(self.size)
        for view in self.views:
            for cells, logs in zip(view.cells, view.log_uniform, strict=True):
                law[cells] = np.exp(logs)
        return law

    def random(self, rng: np.random.Generator) -> Floats:
        """A Dirichlet law with a random concentration; where its entropy is below the bound, the power of it that just meets it."""
        law = np.zeros(self.size)
        for view in self.views[:1] if self.shared else self.views:
            cells, logs = np.concatenate(view.cells), np.concatenate(view.log_uniform)
            part = rng.dirichlet(np.full(cells.size, 10.0 ** rng.uniform(-1.0, 0.0)))
            if float(part @ logs - x_log_x(part).sum()) < -self.max_knowledge:
                part = on_entropy_boundary(part, logs, -self.max_knowledge)
            law[cells] = part
        return self.repaired(law)

    def repaired(self, law: Floats, slack: float = 0.0) -> Floats:
        """The law mixed with just enough of the uniform one that H - log |X| >= slack - max_knowledge, for every record's part.

        *Feasible because* entropy is concave: H((1-t) p + t u) >= (1-t) H(p) + t log |X|. Only uniform is left where nothing else is
        allowed.
        """
        law = law.copy()
        for view in self.views[:1] if self.shared else self.views:
            cells = np.concatenate(view.cells)
            part = np.maximum(law[cells], 0.0)
            part /= part.sum()
            room = max(float(x_log_x(part).sum() - part @ np.concatenate(view.log_uniform)), 0.0)
            missing = room + slack - self.max_knowledge
            if missing > 0.0:
                share = min(missing / room, 1.0) if room > 0.0 else 1.0
                part = (1.0 - share) * part + share * self.uniform[cells]
            law[cells] = part
        return law

    def shortfall(self, law: Floats) -> float:
        """By how many nats the entropy of a law is below the bound; 0 where it is not."""
        return max(max(-self.max_knowledge - view.entropy(*view.split(law)) for view in self.views), 0.0)

    def leakage(self, j: int, law: Floats) -> float:
        """I(X_i; Y) for the record of a view, in nats."""
        return float(mutual_information(self.views[j].masses(law, len(self.channel)) @ self.channel))

    def leakages(self, law: Floats) -> Floats:
        """I(X_i; Y) for every view."""
        return np.array([self.leakage(j, law) for j in range(len(self.views))])

    def judged(self, law: Floats) -> tuple[float, int]:
        """The largest I(X_i; Y) of a law, and the view it belongs to."""
        found = self.leakages(law)
        best = int(np.argmax(found))
        return float(found[best]), best


def full_joint(problem: WorstCaseLeakage | DesignProblem) -> Family:
    """The laws of the whole dataset, a mass for each of the |X| datasets: the source paper's setting.

    Raises
    ------
    InputError
        If there are more than 2^25 cells, those of all records together (twenty bits have 20 * 2^20), or the adversary has no entropy
        bound.

    >>> import dalenius as dl
    >>> family = full_joint(dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("1.0 nats")))
    >>> family.size, len(family.views), family.shared
    (16, 4, True)
    """
    records, max_knowledge = problem.records, problem.max_knowledge
    _check_size("the full joint law", math.log(len(records)) + records.log_datasets, "use the aggregated problem")
    inputs = problem.query_of_inputs.index_of_dataset(records)
    logs = np.full(records.datasets, -records.log_datasets)
    views = []
    for record, letters in enumerate(records.alphabets):
        if letters > 1:
            cells = tuple(records.datasets_by_letter(record))
            views.append(View(record, cells, tuple(logs[: len(c)] for c in cells), tuple(inputs[c] for c in cells)))
    return Family("full joint", _some(views), _channel(problem), max_knowledge, records.datasets, shared=True)


def aggregated(problem: WorstCaseLeakage | DesignProblem) -> Family:
    """The laws of (letter, class of equal rows), a part for each kind of record; for designs a class is an input of the mechanism.

    Raises
    ------
    InputError
        If it is too large, or the adversary has no entropy bound.

    >>> import dalenius as dl
    >>> family = aggregated(dl.WorstCaseLeakage(records=dl.Records(1000, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.symmetric(0.1, k=2), adversary=dl.EntropyAtLeast("0.5 max")))
    >>> family.size, len(family.views), family.shared
    (4, 1, False)
    """
    if isinstance(problem, WorstCaseLeakage):
        channels = record_channels(problem)
        tables = [(part.record, part.log_uniform) for part in channels]
        channel = channels[0].rows if channels else problem.channel
    else:
        tables = [(part.record, part.log_uniform) for part in record_completions(problem)]
        channel = _channel(problem)
    _check_size("the aggregated problem", math.log(max(sum(table.size for _, table in tables), 1)), "use fewer records")
    views, start = [], 0
    for record, table in tables:
        kept = [np.flatnonzero(np.isfinite(logs)) for logs in table]
        stops = start + np.cumsum([len(classes) for classes in kept])
        cells = tuple(np.arange(stop - len(k), stop) for stop, k in zip(stops, kept, strict=True))
        views.append(View(record, cells, tuple(logs[k] for logs, k in zip(table, kept, strict=True)), tuple(kept)))
        start = int(stops[-1])
    return Family("aggregated", _some(views), channel, problem.max_knowledge, start, shared=False)


def _channel(problem: WorstCaseLeakage | DesignProblem) -> Floats:
    """The problem's channel; of a design problem one that reveals nothing, as a place to put others."""
    if isinstance(problem, WorstCaseLeakage):
        return problem.channel
    return np.full((problem.input_count, problem.output_count), 1.0 / problem.output_count)


def _check_size(what: str, log_cells: float, advice: str) -> None:
    if log_cells > math.log(MOST_CELLS):
        raise InputError(
            f"baselines: {what} has exp({log_cells:.1f}) cells, those of all records together; at most {MOST_CELLS} are computed "
            f"with; {advice}"
        )


def _some(views: list[View]) -> tuple[View, ...]:
    if not views:
        raise InputError(
            "baselines: expected a record with more than one letter, nobody else can be told anything about"
        )
    return tuple(views)
