"""The command sanitize: learned sanitizers, audited on held-out data beside what is proved that none exceeds."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from typer import Argument

from dalenius.cli.answers import write_answer
from dalenius.cli.shared import drawn, listed, out, print_table, status_line
from dalenius.errors import InputError
from dalenius.files import write_whole
from dalenius.intervals import text_above, text_below
from dalenius.sanitizers import Run, Settings, Trained, bounds
from dalenius.sanitizers import sanitize as learned
from dalenius.sanitizers.settings import DIGIT_STEPS, STEPS
from dalenius.search import Clock, stopped_by_interrupt


class Experiment(StrEnum):
    """The data that are released."""

    INDEPENDENT = "independent"
    CORRELATED = "correlated"
    DIGITS = "digits"


def sanitize(
    experiment: Annotated[
        Experiment, Argument(help="Two Gaussians, with secret and label independent or correlated; or digits.")
    ],
    output: Path,
    budgets: str = "0.05,0.1,0.2,0.4,0.8",
    weights: str = "2",
    methods: str = "chi2",
    seeds: int = 1,
    steps: int | None = None,
    starts: int = 1,
    time_limit: float = float("inf"),
    converse: bool = False,
    as_json: bool = False,
) -> None:
    """Learn the chi-square sanitizer (W. Wang, W. P. Tay, Algorithm 1), attack it afresh, and say what no sanitizer can do better.

    Nothing that is learned is proved: accuracies are of held-out data. What no sanitizer exceeds is proved, and written with its
    certificate.
    FOLDER goes on where it was stopped.

    Parameters
    ----------
    output : -o, --output FOLDER
        Folder for records, proofs, table and picture.
    budgets
        Roots of the chi-square divergence allowed, with commas.
    weights
        What an excess costs (lambda), with commas.
    methods
        chi2; for digits also gap, vae; with commas.
    seeds : --seeds 1..
        Data and starts, numbered from 0.
    steps : --steps 1..
        Steps of each sanitizer; if not given {STEPS}, for digits {DIGIT_STEPS}.
    starts : --starts 1..
        Begun for each, of which the best goes on after a quarter of the steps.
    time_limit
        Seconds; what is at work then is not kept.
    converse
        Only what is proved: nothing is learned, torch is not needed.
    """
    taken = steps or (DIGIT_STEPS if experiment is Experiment.DIGITS else STEPS)
    runs = [
        Run(
            experiment.value, Settings(root_budget=budget, weight=weight, seed=seed, steps=taken, starts=starts), method
        )
        for method in listed(methods, "--methods")
        for budget in _numbers(budgets, "--budgets")
        for weight in _numbers(weights, "--weights")
        for seed in range(seeds)
    ]
    if converse:
        with status_line("sanitizing") as show:
            at_most = bounds(runs, output, progress=show)
        _say_converse({run.converse_name: (run, bound) for run, bound in at_most.items()}, output, as_json)
        return
    clock = Clock(time_limit)
    trained: list[Trained] = []
    with stopped_by_interrupt(clock), status_line("sanitizing") as show:
        trained.extend(learned(runs, output, progress=show, stop=lambda: clock.expired))
    written = _written(trained, output, experiment.value) if trained else []
    if as_json:
        write_answer("sanitize", {"asked": len(runs), "done": [_answer(one) for one in trained], "files": written})
        return
    _print(trained)
    if len(trained) < len(runs):
        out.print(f"{len(trained)} of {len(runs)} are done; the same command goes on.")
    for file in written:
        out.print(file)


def _say_converse(found: dict[str, tuple[Run, Fraction]], folder: Path, as_json: bool) -> None:
    """Print the proved bound on every sanitizer, a line a budget."""
    lines = {name: (run.settings.root_budget, text_above(bound, 12)) for name, (run, bound) in found.items()}
    if as_json:
        proved = [
            {"root_budget": root, "accuracy_at_most": most, "certificate": f"{folder / name}.cert"}
            for name, (root, most) in lines.items()
        ]
        write_answer("sanitize", {"converse": proved})
        return
    for name, (root, most) in lines.items():
        out.print(
            f"root chi-square at most {root:g}: label guessed with accuracy at most {most} (proof: {folder / name}.cert)",
        )


def _numbers(text: str, option: str) -> list[float]:
    try:
        return [float(part) for part in listed(text, option)]
    except ValueError:
        raise InputError(f"{option}: expected numbers with commas between them, got {text!r}") from None


def _written(trained: list[Trained], folder: Path, name: str) -> list[str]:
    from dalenius.report import sanitizer_picture, sanitizer_table

    table = write_whole(folder / f"{name}.csv", sanitizer_table(trained))
    title = f"{name}: learned (marks), proved (line)"
    return [str(table), *drawn(lambda: sanitizer_picture(trained, title=title), folder / f"{name}.png")]


def _answer(one: Trained) -> dict[str, object]:
    return {
        **one.run.members(),
        "outcome": one.outcome,
        "breaks_budget": one.breaks_budget,
        "broken_by": one.broken_by,
        "accuracy_at_most": text_above(one.accuracy_at_most, 12),
    }


HEADS = (
    *("method", "root budget", "weight", "seed", "attack", "label"),
    *("at most (proved)", "root chi2 at least", "budget broken by"),
)


def _print(trained: list[Trained]) -> None:
    rows = [
        (
            one.run.method,
            f"{one.run.settings.root_budget:g}",
            f"{one.run.settings.weight:g}",
            str(one.run.settings.seed),
            f"{one.outcome.attack.accuracy:.4f}",
            f"{one.outcome.utility.accuracy:.4f}",
            text_above(one.accuracy_at_most, 5),
            text_below(one.outcome.root_chi_square_at_least, 3),
            one.broken_by or "",
        )
        for one in trained
    ]
    print_table(HEADS, rows, right=True)
    out.print(
        "Accuracies are of held-out data, not proved; `at most` is proved of every sanitizer that keeps the budget."
    )
