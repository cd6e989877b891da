"""Sanitizers learned one after another, each with a record in a folder that goes on where it was stopped."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dalenius.errors import InputError
from dalenius.files import alone, make_folder, read_text, write_whole
from dalenius.model import dumps
from dalenius.sanitizers.converse_bound import Converse
from dalenius.sanitizers.settings import Attack, Outcome, Settings
from dalenius.sanitizers.two_gaussians import TwoGaussians
from dalenius.strict_json import object_text, parse_object

EXPERIMENTS = ("independent", "correlated", "digits")
METHODS = ("chi2", "gap", "vae")  # the last two of digits only
FORMAT = "dalenius-sanitizer/1"
NEEDS = {"torch": "torch", "sklearn": "scikit-learn"}


@dataclass(frozen=True)
class Run:
    """One sanitizer to learn.

    Attributes
    ----------
    experiment : str
        "independent" and "correlated" are `TwoGaussians`; "digits" are images.
    method : str
        "chi2" is the paper's; "gap" (an adversary's cross-entropy is the charge) and "vae" (no charge) are beside it for digits.
    settings : Settings

    Raises
    ------
    InputError
        If there is no such experiment, or the method is not one of it.
    """

    experiment: str
    settings: Settings
    method: str = "chi2"

    def __post_init__(self) -> None:
        if self.experiment not in EXPERIMENTS:
            raise InputError(f"experiment: expected one of {', '.join(EXPERIMENTS)}, got {self.experiment!r}")
        known = METHODS if self.experiment == "digits" else METHODS[:1]
        if self.method not in known:
            raise InputError(f"method: {self.experiment} knows {', '.join(known)}, got {self.method!r}")

        if self.settings.starts > 1 and self.experiment == "digits":
            raise InputError(f"starts: images are learned from one start, got {self.settings.starts}")

    @property
    def name(self) -> str:
        """Name of its record."""
        s = self.settings
        starts = "" if s.starts == 1 else f"-starts{s.starts}"
        return f"{self.experiment}-{self.method}-{s.root_budget:g}-weight{s.weight:g}{starts}-seed{s.seed}"

    @property
    def converse_name(self) -> str:
        """Name of the files of its converse."""
        of = f"-seed{self.settings.seed}" if self.experiment == "digits" else ""
        return f"{self.experiment}-converse-{self.settings.root_budget:g}{of}"

    @property
    def budget(self) -> Fraction:
        """eta, exactly."""
        return Fraction(str(self.settings.root_budget)) ** 2

    def members(self) -> dict[str, Any]:
        """As in a record."""
        return {"experiment": self.experiment, "method": self.method, "settings": dataclasses.asdict(self.settings)}


@dataclass(frozen=True)
class Trained:
    """A sanitizer, audited on held-out data, beside what no sanitizer exceeds.

    Attributes
    ----------
    run : Run
    outcome : Outcome
        Estimates and confidence bounds: statistical, never proved.
    accuracy_at_most : Fraction
        The converse at the budget, proved: no sanitizer that keeps the budget guesses the label more often. Of digits it is about
        the law of the held-out images.
    """

    run: Run
    outcome: Outcome
    accuracy_at_most: Fraction

    @property
    def broken_by(self) -> str | None:
        """The measure that shows, with the confidence of its settings, a leakage above its budget; None if none does.

        "secret": an attack or a critic sees it; "label": the label is guessed more often than of any sanitizer that keeps the budget.
        """
        if self.outcome.root_chi_square_at_least > self.run.settings.root_budget:
            return "secret"
        return "label" if self.outcome.utility.at_least > self.accuracy_at_most else None

    @property
    def breaks_budget(self) -> bool:
        """True if anything shows it."""
        return self.broken_by is not None


def bounds(
    runs: Sequence[Run], folder: str | Path, *, points: int = 24, progress: Callable[[str], None] = lambda line: None
) -> dict[Run, Fraction]:
    """Upper bounds for every sanitizer within a run's budget: the accuracy about the label, proved, for each run.

    Each budget leaves the convex problem as a model file and its certificate, which `dalenius verify` proves again. Nothing is
    learned.

    Parameters
    ----------
    points : int
        Of `TwoGaussians.converse`: more make it tighter.

    Raises
    ------
    InputError
        If scikit-learn is missing (of digits), or the folder cannot be made.
    """
    place = Path(folder)
    make_folder(place)
    found: dict[str, Fraction] = {}
    for run in runs:
        if run.converse_name not in found:
            _need("sklearn", run)
            progress(f"the converse {run.converse_name}")
            found[run.converse_name] = _bound(run, place, points)
    return {run: found[run.converse_name] for run in runs}


def sanitize(
    runs: Sequence[Run],
    folder: str | Path,
    *,
    points: int = 24,
    progress: Callable[[str], None] = lambda line: None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Trained]:
    """Learn and audit one sanitizer after another; what the folder holds already is read, not learned again.

    Each run leaves its record NAME.json, beside what `bounds` leaves.

    Parameters
    ----------
    points : int
        As of `bounds`.
    progress : callable
        Told what is at work, a line at a time.
    stop : callable
        Asked between steps; once it answers True the sanitizer at work is thrown away, and nothing more is begun.

    Raises
    ------
    InputError
        If torch (of digits: scikit-learn) is missing, the folder holds something else under a run's name, or somebody else is at
        work in it.
    """
    place = Path(folder)
    for run in runs:
        _need("torch", run)
    make_folder(place)
    with alone(place):
        kept = {run: _read(path, run) for run in runs if (path := place / f"{run.name}.json").exists()}
        at_most = bounds(runs, place, points=points, progress=progress)
        for run in runs:
            outcome = kept.get(run) or _learned(run, progress, stop)
            if outcome is None:
                return
            record = {"format": FORMAT, **run.members(), "outcome": dataclasses.asdict(outcome)}
            write_whole(place / f"{run.name}.json", object_text(record) + "\n")
            yield Trained(run, outcome, at_most[run])


def _need(module: str, run: Run) -> None:
    """Raise `InputError` if a module that a run needs is not installed."""
    if (module == "torch" or run.experiment == "digits") and find_spec(module) is None:
        raise InputError(f"this needs {NEEDS[module]}, which is not installed: pip install 'dalenius[torch]'")


def _bound(run: Run, place: Path, points: int) -> Fraction:
    """The converse's upper end; its model and certificate are written."""
    bound = converse_of(run, points)
    if bound.certificate is not None:
        write_whole(place / f"{run.converse_name}.toml", dumps(bound.problem))
        write_whole(place / f"{run.converse_name}.cert", bound.certificate.text)
    return bound.upper


def converse_of(run: Run, points: int) -> Converse:
    """Upper bound for every sanitizer within the run's budget."""
    if run.experiment == "digits":
        from dalenius.sanitizers.digits import DigitImages

        return DigitImages.drawn(run.settings.seed).converse(run.budget)
    return _gaussians(run).converse(run.budget, points=points)


def _gaussians(run: Run) -> TwoGaussians:
    return (TwoGaussians.independent if run.experiment == "independent" else TwoGaussians.correlated)(run.settings.seed)


def _learned(run: Run, progress: Callable[[str], None], stop: Callable[[], bool]) -> Outcome | None:
    """The outcome, or None if it was stopped."""
    from dalenius.sanitizers.training import deterministic, held, train

    def tell(done: int, steps: int) -> bool:
        if done % 10 == 0:
            progress(f"{run.name}: step {done} of {steps}")
        return not stop()

    settings = run.settings
    with deterministic(settings.seed):
        if run.experiment == "digits":
            from dalenius.sanitizers.digits import DigitImages

            images = DigitImages.drawn(settings.seed)
            model, steps = images.train(run.method, settings, tell)
            return None if steps < settings.steps else images.held(model, settings)
        experiment = _gaussians(run)
        sanitizer, steps = train(experiment.sample(settings.samples, settings.seed), settings, tell)
        return None if steps < settings.steps else held(experiment, sanitizer, settings)


def _read(path: Path, run: Run) -> Outcome:
    """The outcome in a record, if it is of this run."""
    try:
        found = parse_object(read_text(path, "a sanitizer's record"), number=float)
        if {k: found.get(k) for k in ("format", *run.members())} != {"format": FORMAT, **run.members()}:
            raise InputError("it is of other settings; give another folder")
        outcome = found["outcome"]
        attack, utility = (Attack(**outcome.pop(which)) for which in ("attack", "utility"))
        return Outcome(attack=attack, utility=utility, **outcome)
    except (InputError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: no record of this run: {error}") from None
