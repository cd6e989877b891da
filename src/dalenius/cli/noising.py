"""The command noise: how much noise is enough."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dalenius as dl
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.folders import need_own
from dalenius.cli.gates import Budget
from dalenius.cli.people import asked_about, people_of, warn_of_sizes
from dalenius.cli.shared import STANDARD_STREAM, drawn, homes_of, need_none, out, print_table, read_problem, status_line
from dalenius.errors import InputError
from dalenius.exact import fraction_text
from dalenius.files import need_folder, write_all
from dalenius.intervals import gap_text, text_above, text_below
from dalenius.model.elsewhere import People
from dalenius.model.in_words import split_kind
from dalenius.model.mechanisms import ScaledNoise
from dalenius.model.mechanisms.base import Part
from dalenius.model.mechanisms.real_noise import MOST
from dalenius.model.problems import Mean
from dalenius.report import noise_picture, noise_table
from dalenius.report.audit import question_of
from dalenius.report.decision import epsilon_of_one, moved_by
from dalenius.results import against_text, budget_text
from dalenius.studies.least_noise import NOISES, LeastNoise, asks_the_same
from dalenius.units import is_at_least_log

KINDS = ", ".join(NOISES)
ENDS = "within", "above"  # in names of files: enough noise, and not enough


def noise(
    at_most: str,
    model: str | None = None,
    by_name: str | None = None,
    people: int | None = None,
    blocks: int | None = None,
    query: str | None = None,
    alphabet: int | None = None,
    values: str | None = None,
    table: Path | None = None,
    answer: str | None = None,
    household: str | None = None,
    letters: str | None = None,
    sensitivity: int | None = None,
    output: Path | None = None,
    gap: float = 1e-3,
    time_limit: float = 60.0,
    as_json: bool = False,
    force: bool = False,
) -> None:
    """Find the least noise for a leakage budget: a scale that is proved to be enough, and a smaller one that is proved not to be.

    MODEL may be about records or about secrets, its own scale is not used; of several releases all scales grow together.
    Beside them stands what theorems ask for.

    Parameters
    ----------
    at_most : --at-most BUDGET
        The leakage allowed: '0.1 bits', '0.1 nats'.
    model : [MODEL]
        A model file, or a name from `dalenius list`, whose mechanism is noise with a scale.
    by_name : --noise, --mechanism KIND
        In the place of MODEL: {KINDS}; its own epsilon and one person's are printed.
    people : --people 1..
        With --noise: how many people; left out, one person is asked about.
    query
        What is released: by default count; 'threshold 3', histogram, mean with --values.
    sensitivity : --sensitivity, --range 1..
        Instead of --people: how far one person moves the number.
    output : -o, --output FOLDER
        Folder for NAME.within.toml and .cert, NAME.above.toml and .cert, NAME.noise.csv and NAME.noise.png.
    gap
        How far the scale that is enough may be above one that is not, in shares.
    time_limit
        Seconds for everything, the proofs included; inf for no limit.
    force
        Replace the models and certificates of another question.
    """
    Budget.of(at_most)
    given = {
        "--noise": by_name,
        "--people": people,
        "--blocks": blocks,
        "--query": query,
        "--alphabet": alphabet,
        "--sensitivity": sensitivity,
    }
    columns = {"--answer": answer, "--household": household, "--letters": letters}
    listed = people_of(table, given, columns, values)
    stem, problem, mean = _asked(model, given, values, listed)
    if output is not None:
        need_folder(output, make=True)
        for end in ENDS:
            need_own(output / f"{stem}.{end}.toml", lambda there: asks_the_same(there, problem), force=force)
    with status_line("noise") as progress:
        found = dl.least_noise(
            problem, at_most, gap=gap, time_limit=None if math.isinf(time_limit) else time_limit, progress=progress
        )
    files = {} if output is None else _write(found, output, stem)
    warn_of_sizes(table, [path for path in files.values() if path.endswith(".toml")])
    if as_json:
        write_answer("noise", _told(found, mean) | {"files": files}, _bounds(found))
        return
    _print(found, mean)
    for path in files.values():
        out.print(f"wrote {path}")
    if files and model is None:
        kept, homes = files[f"{ENDS[0]}.toml"], [] if household is None else ["--household", household]
        drawing = shlex.join(
            ["dalenius", "release", kept, "--table", str(table or "FILE"), *homes, "--at-most", at_most]
        )
        sampled = f"; {drawing} draws the output" if found.within.problem.mechanism.sampler is not None else ""
        out.print(f"next: {shlex.join(['dalenius', 'audit', kept, '-o', 'page.md'])} writes the page about it{sampled}")


def _asked(
    model: str | None, given: dict[str, Any], values: str | None, listed: People | None
) -> tuple[str, dl.WorstCaseLeakage | dl.SecretLeakage, Mean | None]:
    """The stem of the files' names, the question, and the mean whose sum it is about."""
    kind, people, sensitivity = (given[name] for name in ("--noise", "--people", "--sensitivity"))
    if (model is None) == (kind is None):
        why = f"KIND is one of {KINDS}" if kind is None else "not both"
        raise InputError(
            f"expected a MODEL whose mechanism is noise, or --noise KIND with --people, --table or --sensitivity; {why}"
        )
    if kind is None:
        need_none({**given, "--values": values, "--table": listed}, f"{model} says so already")
        _, stem, problem = read_problem(model or STANDARD_STREAM)
        if not isinstance(problem, dl.WorstCaseLeakage | dl.SecretLeakage):
            raise InputError(
                f"{model}: expected a worst_case_leakage or secret_leakage model, whose mechanism is noise; this is {problem.kind}"
            )
        return stem, problem, None
    noise = _noise(kind)
    crowd = [name for name in ("--blocks", "--query", "--alphabet") if given[name] is not None]
    if people is None and listed is None and not crowd:
        alone = dl.IndependentBlocks(1) if noise.tail else dl.ProductPriors()
        return kind, question_of(noise, 1, dl.Sum([0, sensitivity or 1]), alone), None
    if (people is None and listed is None) or sensitivity is not None:
        raise InputError(
            f"--noise {kind}: expected --people N, perhaps with --blocks, --query, --alphabet; or --table; or --sensitivity alone"
        )
    records, query, mean = asked_about(given, values, listed)
    homes = None if listed else homes_of(given["--blocks"], people)
    return kind, question_of(noise, records, query, homes, mean.title if mean else ""), mean


def _noise(kind: str) -> ScaledNoise:
    """The noise that is named, of some scale."""
    if kind not in NOISES:
        alone, amount = split_kind(kind)
        named = f"{alone} alone: how much of it is what is looked for" if alone in NOISES and amount else None
        raise InputError(f"--noise: expected {named or f'one of {KINDS}'}; got {kind}")
    noise = NOISES[kind]
    # with scale 1, values that are more than 64 apart are refused
    return noise.spreading(MOST) if noise.on_a_line else noise


def _write(found: LeastNoise, folder: Path, stem: str) -> dict[str, str]:
    """Models, certificates and the table, whole or not at all; then the picture. What was written, by what it is."""
    contents, files = dict[Path, str | bytes](), dict[str, str]()
    for name, level in zip(ENDS, (found.within, found.above), strict=True):
        if level is not None:
            for ending, text in ((".toml", dl.dumps(level.problem)), (".cert", level.result.certificate.text)):
                path = folder / f"{stem}.{name}{ending}"
                contents[path], files[f"{name}{ending}"] = text, str(path)
    table = folder / f"{stem}.noise.csv"
    names = {name: Path(files[f"{name}.cert"]).name for name in ENDS if f"{name}.cert" in files}
    contents[table], files["table"] = noise_table(found, certificates=names), str(table)
    write_all(contents, folder)
    for picture in drawn(lambda: noise_picture(found), folder / f"{stem}.noise.png"):
        files["picture"] = picture
    return files


def _bounds(found: LeastNoise) -> Iterator[Ends]:
    """Proved bounds of the scale that is enough, and of the one that is not."""
    for name, level in (("scale that is enough", found.within), ("scale that is not enough", found.above)):
        if level is not None:
            shown = level.result.to(found.units)
            yield Ends(f"{name}: {fraction_text(level.scale)}", shown.lower, shown.upper, found.units)


def _told(found: LeastNoise, mean: Mean | None) -> dict[str, Any]:
    """As JSON data."""
    levels = [
        {"scale": fraction_text(level.scale), **dict(zip(("lower", "upper"), level.result.to(found.units).ends, strict=True))}
        for level in found.levels
    ]  # fmt: skip
    releases = [
        {
            "mechanism": noise.kind,
            "query": part.on,
            "times": part.times,
            "scale": fraction_text(noise.spread),
            "epsilon_per_step": noise.epsilon_per_step,
            "mean_error": noise.mean_error,
        }
        for noise, part in found.within.releases
    ]
    first = releases[0]
    return {
        "mechanism": first["mechanism"],
        "adversary": against_text(found.within.problem),
        "at_most": fraction_text(found.at_most),
        "units": found.units,
        "enough": fraction_text(found.within.scale),
        "epsilon_per_step": first["epsilon_per_step"],
        "mean_error": first["mean_error"],
        "releases": releases,
        "epsilon_of_one_person": epsilon_of_one(found.within.problem),
        "of_mean": None if mean is None else _of_mean(found, mean),
        "not_enough": None if found.above is None else fraction_text(found.above.scale),
        "larger_is_enough": found.falling,
        "levels": levels,
        "formulas": found.formulas,
    }


def _of_mean(found: LeastNoise, mean: Mean) -> dict[str, Any]:
    """The same noise as that of a mean, in the unit of its values."""
    ((noise, _),) = found.within.releases
    steps = (mean.high - mean.low) / mean.step
    return {
        "scale": fraction_text(found.within.scale * mean.unit),
        "epsilon": None if noise.epsilon_per_step is None else noise.epsilon_per_step * steps,
        "mean_error": noise.mean_error * float(mean.unit),
    }


def _print(found: LeastNoise, mean: Mean | None) -> None:
    within, above, asked = found.within, found.above, found.within.problem
    possible = within.result.values
    if possible is not None and is_at_least_log(found.at_most, found.units, possible):
        out.print(
            f"no noise is needed for {budget_text(found.at_most, found.units, possible)}: that is all there is to know"
        )
        return
    words = " and ".join(_words(noise, part) for noise, part in within.releases)
    allowed = budget_text(found.at_most, found.units, within.result.values)
    upper = f"{within.result.to('bits').ends[1]} bits"
    out.print(f"{words} {'is' if len(within.releases) == 1 else 'are'} enough for {allowed}: at most {upper}, proved")
    if len(asked.records) > 1:
        out.print(f"to {against_text(asked)}")
    errors = ", ".join(text_above(noise.mean_error, 4) for noise, _ in within.releases)
    out.print(f"each number that is released is wrong by {errors} on average")
    if mean is not None:
        told = _of_mean(found, mean)
        epsilon = "" if told["epsilon"] is None else f" and one person's epsilon {text_below(told['epsilon'])}"
        out.print(
            f"that is the sum in steps; of the mean the noise has scale {told['scale']}{epsilon}, and the mean is wrong by "
            f"{text_above(told['mean_error'], 4)} on average"
        )
    elif (alone := epsilon_of_one(asked)) is not None and alone != asked.mechanism.epsilon_per_step:
        out.print(f"one person moves {moved_by(asked)}, so that one person's epsilon is {text_above(alone)}")
    if above is None:
        out.print("no smaller scale that was tried is proved not to be enough")
    else:
        lower = f"{above.result.to('bits').ends[0]} bits"
        out.print(
            f"scale {fraction_text(above.scale)} is not: at least {lower}, proved; {gap_text(found.gap)} apart",
        )
    if not found.falling:
        kinds = ", ".join(dict.fromkeys(noise.words for noise, _ in within.releases if not noise.falls))
        out.print(f"larger scales are not known to reveal less, of {kinds}: ask about the one you take")
    if found.formulas:
        out.print(f"\nby theorems, where {found.formulas[0].condition}:")
        least = float(within.scale)
        rows = ((text_above(one.scale, 6), f"{one.scale / least:.3f}", one.name) for one in found.formulas)
        print_table(("scale", "times the least", "theorem"), rows)


def _words(noise: ScaledNoise, part: Part) -> str:
    """A release in words; an epsilon is to be typed, so rounded to more noise, which reveals less wherever there is one."""
    kind, epsilon = noise.kind.replace("_", " "), noise.epsilon_per_step
    whose = f" on query {part.on}" if part.on else ""
    often = f"{part.times} times " if part.times > 1 else ""
    shown = "" if epsilon is None else f" (epsilon = {text_below(epsilon)} where a person moves one number by 1)"
    return f"{often}{kind} noise of scale {fraction_text(noise.spread)}{whose}{shown}"
