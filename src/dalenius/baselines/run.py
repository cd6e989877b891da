"""What a baseline hands back: a point, how it got there, and why it stopped. No bound, no proof: that is the difference."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from dalenius.errors import InputError
from dalenius.exact import is_number
from dalenius.information.arrays import Floats
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
    """Where a method for Problem 1 came to rest.

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
    """Where a method for Problem 2 or 3 came to rest.

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
