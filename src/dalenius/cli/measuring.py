"""The commands measure and audit-samples: every measure of what a mechanism reveals; what runs of a black box say, never a proof."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import numpy as np

import dalenius as dl
from dalenius.catalogue.models import model_path
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.gates import Budget, at_most_met, require_at_most
from dalenius.cli.shared import (
    UNIFORM,
    err,
    homes_of,
    law_of,
    listed,
    need_none,
    out,
    print_table,
    status_line,
    units_shown,
    words_of,
)
from dalenius.errors import InputError, brief
from dalenius.exact import as_fraction, as_law, need_unit
from dalenius.files import csv_column, need_folder, write_all
from dalenius.information.arrays import Integers
from dalenius.information.measures import AllPriors, ChiSquareBall, KLBall, PriorBall, PriorBox, PriorClass, PriorFloor
from dalenius.intervals import text_below
from dalenius.measures import Measure, Measures
from dalenius.measures.answer import units_of
from dalenius.measures.table import read_table
from dalenius.model import Problem
from dalenius.model.in_words import as_part
from dalenius.model.mechanisms import Mechanism
from dalenius.model.queries import Query
from dalenius.units import UNITS

BALLS: dict[str, type[PriorBall | KLBall | ChiSquareBall]] = {"l1": PriorBall, "kl": KLBall, "chi2": ChiSquareBall}
WIDTH = 160  # of a table where the terminal is narrower
FEW = 8  # values in a message


def measure(
    model: str,
    units: str | None = None,
    as_json: bool = False,
    prior: str | None = None,
    within: str | None = None,
    law: str | None = None,
    mechanism: Path | None = None,
    epsilon: str = "",
    delta: str = "",
    order: str = "",
    level: str = "",
    gains: str | None = None,
    output: Path | None = None,
    outputs: bool = False,
    supersamples: bool = False,
    time_limit: float = 60.0,
    at_most: str | None = None,
) -> None:
    """Show every leakage measure of MODEL's mechanism: intervals that hold, rounded outward.

    Of a model it is about one record, against the model's own adversary; of a mechanism's file or a channel, about the input.

    Parameters
    ----------
    model : MODEL
        A model file, a name from `dalenius list`, a mechanism's file (.json), or a channel (.csv): outputs' names in line 1, an input
        a line, its probability in a column named prior.
    units
        nats or bits; left out, bits for information, natural logarithms for ratios.
    prior
        The law of a mechanism's or channel's inputs, with commas, or uniform; of several, with semicolons between, each measure is the
        largest. Left out: any prior.
    within
        The largest over all priors near that one: 'l1 0.2', 'kl 0.02', 'chi2 0.04', 'box 0.1'; or 'floor 0.05', 'entropy 0.9 max',
        'all'.
    law
        Measure a model's records under this law, independent of one another, instead of its adversary: uniform, or a probability a
        letter, with commas.
    mechanism
        The mechanism's file, where MODEL is a design.
    epsilon
        Add the deltas for each of these, with commas: 0.5, 1 bits, log 3.
    delta
        Add the least epsilons for each of these, with commas.
    order
        Add Sibson's information and Renyi's divergence (RDP) of each of these, with commas.
    level
        Add the true positive rate of the best attack at each of these false positive rates.
    gains
        Add g-leakage: what each guess is worth by input, with commas, a semicolon between guesses.
    output : -o, --output FOLDER
        Folder for proofs by the independent checker, of local differential privacy and pointwise maximal leakage of a rational
        mechanism: NAME.local_dp.toml and .cert, and so on.
    outputs
        Add the pointwise maximal leakage and the probability of each output.
    supersamples
        Add what is revealed about which of two candidates each record of a small model is (CMI).
    time_limit
        Seconds for the audits and searches against a model's adversary.
    at_most : --at-most [MEASURE=]BUDGET
        Exit with status 6 if the upper end of a measure, by default mutual_information, is larger: '0.3 bits', bayes_advantage=0.1.
    """
    name, budget = _asked(at_most)
    subject = _subject(model)
    if output is not None:
        need_folder(output, make=True)
    with status_line("measure") as progress:
        found = dl.measure(
            subject,
            prior=_priors(subject, prior, within),
            law=None if law is None else law_of(law, "--law"),
            mechanism=None if mechanism is None else dl.DesignedMechanism.load(mechanism),
            epsilon=words_of(epsilon, "--epsilon"),
            delta=words_of(delta, "--delta"),
            order=words_of(order, "--order"),
            level=words_of(level, "--level"),
            gains=None if gains is None else [listed(row.strip(), "--gains") for row in gains.split(";")],
            outputs=outputs,
            claims=output is not None,
            units=units or ("nats" if as_json else None),
            time_limit=time_limit,
            progress=progress,
        )
    if supersamples:
        row = _membership(subject, units_shown(units, as_data=as_json))
        found = dataclasses.replace(found, rows=(*found.rows, row))
    known = _compared(found, name, budget)
    written = {} if output is None else _write(found, output, Path(model).stem)
    if as_json:
        for line in found.refusals():
            err.print(line)
        rows = [_told(row) | written.get(row.name, {}) for row in found]
        bounds = [Ends(row.name, row.lower, row.upper, row.units) for row in found]
        write_answer("measure", {"measures": rows} | at_most_met(budget, known), bounds)
    else:
        _print(found, output, written)
    require_at_most(budget, known)


def _asked(at_most: str | None) -> tuple[str, Budget | None]:
    """The measure that --at-most is about, and its budget."""
    name, named_one, amount = (at_most or "").rpartition("=")
    if named_one and not name.strip():
        raise InputError(f"--at-most: expected MEASURE=BUDGET or a budget alone, got {at_most}")
    budget = Budget.of(None if at_most is None else amount, of_information=False)
    return name.strip() or "mutual_information", budget


def _compared(found: Measures, name: str, budget: Budget | None) -> list[Ends]:
    """Ends of the measure that --at-most is about; `InputError` where there is no such one, or an information lacks its unit."""
    if budget is not None:
        if name not in [*(row.name for row in found), *found.refused]:
            raise InputError(f"--at-most: expected one of {', '.join(row.name for row in found)}; got {name}")
        if units_of(name, None) == "bits" and any(row.units in UNITS for row in found if row.name == name):
            budget.with_unit()
    return [_ends(row) for row in found if row.name == name] or [Ends(name, None, None, "nats")]


def _ends(row: Measure) -> Ends:
    """The number that --at-most compares: the value itself where it is a rational number, which doubles would be around."""
    try:
        exact = as_fraction(row.exact, row.name)
    except InputError:  # a logarithm, or an interval alone
        return Ends(row.name, row.lower, row.upper, row.units)
    return Ends(row.name, exact, exact, row.units)


def _print(found: Measures, output: Path | None, written: Mapping[str, Mapping[str, str]]) -> None:
    out.print(found.heading)
    out.print()
    print_table(("measure", "value", "units", "what it is"), found.table(), width=WIDTH, kept=3)
    for line in found.refusals():
        out.print()
        out.print(line)
    if output is not None and not written:
        err.print("no claim was written: they are about the input of a rational mechanism, and finite")
    for name, files in written.items():
        out.print(f"proved: {name} is at most {files['claimed']}; {files['certificate']}")


def _membership(subject: Problem | Mechanism | Path, units: str) -> Measure:
    if not isinstance(subject, dl.WorstCaseLeakage):
        raise InputError("--supersamples: expected a model of an audit, whose records there are two candidates for")
    return dl.supersample_cmi(subject, units=units)


def _told(row: Measure) -> dict[str, Any]:
    return {name: value for name, value in vars(row).items() if name != "claim"}


def _write(found: Measures, folder: Path, stem: str) -> dict[str, dict[str, str]]:
    """The model and the certificate of every claim, whole or not at all; what was written, by measure."""
    contents, written = dict[Path, str | bytes](), {}
    for row in found:
        if row.claim is not None:
            model, proof = (folder / f"{stem}.{row.name}{ending}" for ending in (".toml", ".cert"))
            contents |= {model: dl.dumps(row.claim.problem), proof: row.claim.certificate.text}
            written[row.name] = {"claimed": row.claim.epsilon, "model": str(model), "certificate": str(proof)}
    write_all(contents, folder)
    return written


def _priors(
    subject: Problem | Mechanism | Path, text: str | None, within: str | None
) -> list[str] | PriorClass | dl.PriorSet | dl.EntropyAtLeast | Literal["uniform"] | None:
    """The prior or priors, or the class that --within names; its middle is --prior, or the table's own column."""
    if text is not None and text.strip() == UNIFORM and within is None:
        return "uniform"
    laws = None if text is None else [listed(law.strip(), "--prior") for law in text.split(";")]
    if laws is not None and len(laws) > 1:
        if within is not None:
            raise InputError(f"--within {within}: expected one --prior in the middle, got {len(laws)}")
        return dl.PriorSet(laws)
    prior = None if laws is None else laws[0]
    if within is None:
        return prior
    if isinstance(subject, Problem):
        raise InputError(
            f"--within {within}: a class of priors is about the input of a channel; give a csv or a mechanism's file"
        )
    name, _, size = within.strip().partition(" ")
    if prior is not None and name in ("all", "floor", "entropy"):
        raise InputError(
            f"--within {within}: these priors have no middle; leave --prior out, or ask for l1, kl, chi2 or box"
        )
    if (name, size) == ("all", ""):
        return AllPriors()
    if not size.strip() or name not in ("box", "floor", "entropy", *BALLS):
        raise InputError(
            f"--within: expected l1, kl, chi2, box, floor or entropy with a number, or all, got {within!r}"
        )
    if name == "entropy":
        return dl.EntropyAtLeast(need_unit(size.strip(), "--within entropy"))
    number = as_fraction(size.strip(), "--within")
    if name == "floor":
        return PriorFloor(number)
    middle: list[str] | list[Fraction] | None = prior
    if prior is None and isinstance(subject, Path):
        middle = read_table(subject)[2]
    if middle is None:
        raise InputError(f"--within {within}: give the prior in the middle with --prior")
    law = as_law(middle, "--prior")
    if name == "box":
        return PriorBox([max(p - number, Fraction(0)) for p in law], [min(p + number, Fraction(1)) for p in law])
    return BALLS[name](law, number)


def _subject(model: str) -> Problem | Mechanism | Path:
    """The subject that MODEL names, by its ending."""
    suffix = Path(model).suffix.lower()
    if suffix == ".csv":
        return Path(model)
    return dl.DesignedMechanism.load(model) if suffix == ".json" else dl.load(model_path(model))


# What runs of a black box say.


def audit_samples(
    runs: Path,
    records: str,
    outputs: str,
    confidence: float = 0.95,
    words: bool = False,
    outcomes: str | None = None,
    people: int | None = None,
    alphabet: int | None = None,
    query: str | None = None,
    blocks: int | None = None,
    adversary: str | None = None,
    time_limit: float = 60.0,
    given_others: bool = False,
    critic: str = "bins",
    seed: int = 0,
    units: str = "bits",
    at_most: str | None = None,
    as_json: bool = False,
) -> None:
    """A confidence interval for the leakage of a black box, from samples: statistical, never a proof, and never a certificate.

    Every run needs new noise, and new, independent data unless --words plans the inputs. Of data in numbers it is a lower end only.

    Parameters
    ----------
    runs : RUNS
        A csv file with names in its first line, and a run of the black box a line.
    records
        The columns with the data that the run was given, a record each, with commas.
    outputs
        The columns with what came out, with commas.
    confidence
        Of the answer, for all records together.
    words
        Count: one column of inputs and one of outputs, as words; few of each, runs planned an input.
    outcomes
        Of --words: all that can come out, with commas; by default what came.
    people : --people 1..
        Of --words: the inputs are a query's values, of so many people; ask about one.
    query
        Of --people: 'sum', 'threshold 3', 'modular_sum 4'; by default count.
    adversary
        Of --people: another adversary, as for init.
    given_others
        What an adversary learns who knows all other records.
    critic
        bins or neurons.
    units
        nats or bits.
    """
    from dalenius.statistics.counts import LABEL

    if words:
        ignored = {"--given-others": given_others, "--critic": critic != "bins", "--seed": seed != 0}
        need_none(ignored, "counting words (--words) has no use for them; leave them out")
    if people is None:
        about = {"--alphabet": alphabet, "--query": query, "--blocks": blocks, "--adversary": adversary}
        need_none(about, "expected with --people, whose answers are counted or summed")
    if not words:
        counted = {"--people": people, "--outcomes": outcomes, "--at-most": at_most}
        need_none(counted, "expected with --words, one column of inputs and one of outputs")
    if blocks is not None and adversary is not None:
        raise InputError("--blocks, --adversary: expected one of them; blocks are an adversary")
    budget = Budget.of(at_most)
    came_in, came_out = (
        _columns(runs, text, option) for text, option in ((records, "--records"), (outputs, "--outputs"))
    )
    with status_line("audit-samples"):
        if words:
            given = None if people is None else dl.Records(people, alphabet=alphabet or 2)
            value: Query | None = None if given is None else as_part(Query, query or "count", "--query")
            values = None if given is None or value is None else list(map(str, value.values(given).tolist()))
            known = None if outcomes is None else words_of(outcomes, "--outcomes")
            found = dl.audit_counts(
                _counted(came_in, came_out, known, values),
                confidence=confidence,
                units=units,
                records=given,
                query=value,
                adversary=homes_of(blocks, people) or adversary,
                time_limit=time_limit,
            )
        else:
            data, released = (
                np.array([_numbers(runs, column) for column in side.values()]).T for side in (came_in, came_out)
            )
            found = dl.audit_samples(
                data, released, confidence=confidence, given_others=given_others, critic=critic, seed=seed, units=units
            )
            column = [*came_in][found.record or 0]
            found = dataclasses.replace(found, about=found.about.replace(f"record {found.record}", column))
    ends = [Ends("leakage", found.lower, found.upper, found.units)]
    if as_json:
        write_answer("audit-samples", vars(found) | {"label": LABEL} | at_most_met(budget, ends))
    else:
        _print_samples(found, people, next(iter(came_out.values())) if words and outcomes is None else [])
    require_at_most(budget, ends, f"is what these samples say with a confidence of {100 * confidence:.6g} %")


def _print_samples(found: dl.answers.SampledLeakage, people: int | None, came: list[str]) -> None:
    """The interval, whether what came are words that differ too often, and an epsilon."""
    out.print(str(found))
    if 2 * len(set(came)) > len(came):
        err.print(
            f"{len(set(came))} of {len(came)} outputs differ, and counts of words that come once say next to nothing: round the "
            "outputs, or write the bin that each falls in. The answer is then about the rounded output"
        )
    if found.epsilon is not None:
        apart = "" if people is None else f", which may be up to {people} {'person' if people == 1 else 'people'} apart"
        out.print(
            f"differential privacy between these inputs{apart}: epsilon >= {text_below(found.epsilon, 4)}, jointly"
        )


def _columns(runs: Path, text: str, option: str) -> dict[str, list[str]]:
    """The columns that an option names, each once."""
    names = words_of(text, option)
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{option}: expected each column once, got {', '.join(map(brief, twice))} more than once")
    return {name: [entry.strip() for _, entry in csv_column(runs, name)] for name in names}


def _numbers(runs: Path, column: list[str]) -> list[float]:
    """Numbers of a column; no message repeats it, as it may be data about people."""
    try:
        return [float(as_fraction(text, "entry")) for text in column]
    except (InputError, OverflowError):
        strange = [text for text in column if not _is_float(text)]
        what = "numbers in these columns; --words counts words" if strange else "finite numbers that doubles can hold"
        raise InputError(f"{runs}: expected {what}") from None


def _is_float(text: str) -> bool:
    """True if it is a number to Python, though it may be infinite or none at all (nan)."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _counted(
    inputs: dict[str, list[str]], outputs: dict[str, list[str]], outcomes: list[str] | None, values: list[str] | None
) -> Integers:
    """Counts of each output on each input, of one column of each; rows in the order of the values that there are."""
    from dalenius.statistics.counts import MOST

    if len(inputs) != 1 or len(outputs) != 1:
        raise InputError(
            f"--words: expected one column of inputs and one of outputs, got {len(inputs)} and {len(outputs)}"
        )
    ((told, went_in),), ((name, came_out),) = inputs.items(), outputs.items()
    given, came = values or sorted(set(went_in)), outcomes or sorted(set(came_out))
    if len(given) * len(came) > MOST:
        raise InputError(
            f"--words: expected at most {MOST} pairs of an input and an output, got {len(given)} inputs and {len(came)} "
            "outputs; leave --words out where the columns are numbers"
        )
    for known, column, option, what in (
        (given, went_in, "--people, --alphabet, --query", f"{told} are none of the query's values"),
        (came, came_out, "--outcomes", f"{name} are none of"),
    ):
        if strange := len(column) - sum(map(set(known).__contains__, column)):
            shown = ", ".join(known[:FEW]) + ", ..." * (len(known) > FEW)
            raise InputError(f"{option}: {strange} of {len(column)} entries in the column {what} {shown}")
    row, place = ({entry: k for k, entry in enumerate(known)} for known in (given, came))
    counts = np.zeros((len(given), len(came)), dtype=np.int64)
    np.add.at(counts, ([row[entry] for entry in went_in], [place[entry] for entry in came_out]), 1)
    return counts
