"""The command noise: how much noise is enough."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from rich.table import Table
from typer import Option

import dalenius as dl
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.shared import (
    STANDARD_STREAM,
    JsonOption,
    drawn,
    homes_of,
    models_in,
    out,
    output_to,
    read_problem,
    status_line,
)
from dalenius.errors import InputError
from dalenius.exact import fraction_text, need_unit
from dalenius.files import make_folder, need_folder, need_places, write_together
from dalenius.intervals import gap_text, text_above, text_below
from dalenius.model.mechanisms.real_noise import MOST
from dalenius.report import noise_picture, noise_table, save_picture
from dalenius.report.audit import question_of
from dalenius.results import budget_text
from dalenius.studies.least_noise import NOISES, LeastNoise, noise_of


def noise(
    at_most: Annotated[str, Option("--at-most", metavar="BUDGET", help="The leakage allowed: '0.1 bits', '0.1 nats'.")],
    model: Annotated[
        str | None,
        models_in("[MODEL]", "A model file, or a name from `dalenius list`, whose mechanism is noise with a scale."),
    ] = None,
    by_name: Annotated[
        str | None,
        Option("--noise", "--mechanism", metavar="KIND", help=f"In the place of MODEL: {', '.join(NOISES)}."),
    ] = None,
    people: Annotated[
        int | None,
        Option("--people", min=1, help="With --noise: how many people; left out, one person is asked about."),
    ] = None,
    blocks: Annotated[
        int | None,
        Option("--blocks", min=1, help="Answers are correlated in households of at most so many people; by default 1."),
    ] = None,
    query: Annotated[
        str | None, Option("--query", help="What is released: by default count; 'threshold 3', histogram.")
    ] = None,
    alphabet: Annotated[
        int, Option("--alphabet", min=2, help="How many answers a person can give: 2, no and yes, or more.")
    ] = 2,
    sensitivity: Annotated[
        int | None,
        Option("--sensitivity", "--range", min=1, help="Instead of --people: how far one person moves the number."),
    ] = None,
    output: Annotated[
        Path | None,
        output_to(
            "FOLDER",
            "Folder for NAME.within.toml and .cert, NAME.above.toml and .cert, NAME.noise.csv and NAME.noise.png.",
        ),
    ] = None,
    gap: Annotated[
        float, Option("--gap", help="How far the scale that is enough may be above one that is not, in shares.")
    ] = 1e-3,
    time_limit: Annotated[
        float, Option("--time-limit", help="Seconds for everything, the proofs included; inf for no limit.")
    ] = 60.0,
    as_json: JsonOption = False,
) -> None:
    """Find the least noise for a leakage budget: a scale that is proved to be enough, and a smaller one that is proved not to be.

    MODEL's own scale is not used. Beside them stands what theorems ask for.
    """
    need_unit(at_most, "--at-most")
    stem, problem = _asked(model, by_name, sensitivity, people, blocks, query, alphabet)
    if output is not None:
        need_folder(output, make=True)
    with status_line("noise") as progress:
        found = dl.least_noise(
            problem, at_most, gap=gap, time_limit=None if math.isinf(time_limit) else time_limit, progress=progress
        )
    files = {} if output is None else _write(found, output, stem)
    if as_json:
        write_answer("noise", _told(found) | {"files": files}, _bounds(found))
        return
    _print(found)
    for path in files.values():
        out.print(f"wrote {path}")


def _asked(
    model: str | None,
    by_name: str | None,
    sensitivity: int | None,
    people: int | None,
    blocks: int | None,
    query: str | None,
    alphabet: int,
) -> tuple[str, dl.WorstCaseLeakage]:
    """The stem of the files' names, and the question."""
    crowd = [
        name for name, said in (("--blocks", blocks), ("--query", query), ("--alphabet", alphabet > 2 or None)) if said
    ]
    if (model is None) == (by_name is None):
        raise InputError(
            "expected a MODEL whose mechanism is noise, or --noise KIND with --people or --sensitivity; not both"
        )
    if by_name is None and (people or sensitivity or crowd):
        raise InputError(
            f"{', '.join(['--people'] * bool(people) + crowd) or '--sensitivity'}: {model} says so already"
        )
    if by_name is not None:
        if by_name not in NOISES:
            raise InputError(f"--noise: expected one of {', '.join(NOISES)}; got {by_name}")
        noise = NOISES[by_name]
        if noise.on_a_line:  # with scale 1, values that are more than 64 apart are refused
            noise = noise.spreading(MOST)
        if people is None and not crowd:
            alone = dl.IndependentBlocks(1) if noise.tail else dl.ProductPriors()
            return by_name, question_of(noise, 1, dl.Sum([0, sensitivity or 1]), alone)
        if people is None or sensitivity is not None:
            raise InputError(
                f"--noise {by_name}: expected --people N, perhaps with --blocks, --query, --alphabet; or --sensitivity alone"
            )
        return by_name, question_of(noise, dl.Records(people, alphabet=alphabet), query, homes_of(blocks, people))
    _, stem, problem = read_problem(model or STANDARD_STREAM)
    if not isinstance(problem, dl.WorstCaseLeakage):
        raise InputError(
            f"{model}: expected a worst_case_leakage model, whose mechanism is noise; this is {problem.kind}"
        )
    return stem, problem


def _write(found: LeastNoise, folder: Path, stem: str) -> dict[str, str]:
    """Models, certificates and the table, whole or not at all; then the picture. What was written, by what it is."""
    contents, files = dict[Path, str | bytes](), dict[str, str]()
    ends = {"within": found.within, "above": found.above}
    for name, level in ends.items():
        if level is not None:
            for ending, text in ((".toml", dl.dumps(level.problem)), (".cert", level.result.certificate.text)):
                path = folder / f"{stem}.{name}{ending}"
                contents[path], files[f"{name}{ending}"] = text, str(path)
    table = folder / f"{stem}.noise.csv"
    names = {name: Path(files[f"{name}.cert"]).name for name in ends if f"{name}.cert" in files}
    contents[table], files["table"] = noise_table(found, certificates=names), str(table)
    need_places(contents)
    make_folder(folder)
    write_together(contents)
    for picture in drawn(lambda: save_picture(noise_picture(found), folder / f"{stem}.noise.png")):
        files["picture"] = picture
    return files


def _bounds(found: LeastNoise) -> Iterator[Ends]:
    """Proved bounds of the scale that is enough, and of the one that is not."""
    for name, level in (("scale that is enough", found.within), ("scale that is not enough", found.above)):
        if level is not None:
            shown = level.result.to(found.units)
            yield Ends(f"{name}: {fraction_text(level.scale)}", shown.lower, shown.upper, found.units)


def _told(found: LeastNoise) -> dict[str, Any]:
    """As JSON data."""
    noise = noise_of(found.within.problem.mechanism)
    levels = [
        {"scale": fraction_text(level.scale), **dict(zip(("lower", "upper"), level.result.to(found.units).ends, strict=True))}
        for level in found.levels
    ]  # fmt: skip
    return {
        "mechanism": noise.kind,
        "at_most": fraction_text(found.at_most),
        "units": found.units,
        "enough": fraction_text(found.within.scale),
        "epsilon_per_step": noise.epsilon_per_step,
        "mean_error": noise.mean_error,
        "not_enough": None if found.above is None else fraction_text(found.above.scale),
        "larger_is_enough": found.falling,
        "levels": levels,
        "formulas": found.formulas,
    }


def _print(found: LeastNoise) -> None:
    within, above = found.within, found.above
    mechanism = noise_of(within.problem.mechanism)
    kind = mechanism.kind.replace("_", " ")
    epsilon = mechanism.epsilon_per_step
    as_epsilon = (  # to be typed, so rounded to more noise, which reveals less wherever there is an epsilon
        "" if epsilon is None else f" (epsilon = {text_below(epsilon)} where a person moves one number by 1)"
    )
    allowed = budget_text(found.at_most, found.units, within.result.values)
    upper = f"{within.result.to('bits').ends[1]} bits"
    out.print(
        f"{kind} noise of scale {fraction_text(within.scale)}{as_epsilon} is enough for {allowed}: at "
        f"most {upper}, proved",
    )
    out.print(f"each number that is released is wrong by {text_above(mechanism.mean_error, 4)} on average")
    if above is None:
        out.print("no smaller scale that was tried is proved not to be enough")
    else:
        lower = f"{above.result.to('bits').ends[0]} bits"
        out.print(
            f"scale {fraction_text(above.scale)} is not: at least {lower}, proved; {gap_text(found.gap)} apart",
        )
    if not found.falling:
        out.print(f"larger scales are not known to reveal less, of {mechanism.words}: ask about the one you take")
    if found.formulas:
        out.print(f"\nby theorems, where {found.formulas[0].condition}:")
        table = Table("scale", "times the least", "theorem", box=None, pad_edge=False)
        for formula in found.formulas:
            times = formula.scale / float(within.scale)
            table.add_row(text_above(formula.scale, 6), f"{times:.3f}", formula.name)
        out.print(table)
