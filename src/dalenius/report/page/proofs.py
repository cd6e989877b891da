"""Certificates of a page, each with its model, all proved again."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from dalenius._load import load_file
from dalenius._verify import need_proved
from dalenius.catalogue.models import library, model_path
from dalenius.errors import DaleniusError, InputError, brief, naming
from dalenius.evidence import ENDINGS, Certificate, exact_fraction_above
from dalenius.intervals import interval_text, text_above
from dalenius.measures import Measure, Measures
from dalenius.measures.door import measure
from dalenius.measures.witness import witness_of
from dalenius.model import DesignProblem, Problem, WorstCaseLeakage, audited, digest
from dalenius.model.adversaries.independent_blocks import as_blocks
from dalenius.model.mechanisms import DesignedMechanism
from dalenius.outcome import Scope, Termination
from dalenius.report.decision import advantage_at_most, epsilon_of_one
from dalenius.report.words import belief, ends_shown, factor, rare, refusal
from dalenius.results import DesignResult, Result
from dalenius.studies.release import rows_in
from dalenius.units import lower_in, nats_above, upper_in

LOOSER = ".looser"
PLAN = "sweep.json"
MOST_FILES = 100_000  # that a folder is searched for certificates among
INSTALLED = ("site-packages", "node_modules", "__pycache__")


@dataclass(frozen=True)
class Proof:
    """A problem, and a certificate that the checker proves.

    Attributes
    ----------
    name, model : str
        The files of the certificate and of the model; empty where there are none.
    rules : tuple of str
        What the checker's verdict rests on: its core, and lemmas with their theorems.
    """

    problem: Problem
    certificate: Certificate
    name: str = ""
    model: str = ""
    rules: tuple[str, ...] = ()

    @property
    def ends(self) -> tuple[float, float]:
        """The claim in its own unit, as of a `Header`."""
        return self.certificate.header.doubles

    @property
    def mechanism(self) -> DesignedMechanism | None:
        """Of a design the mechanism in the certificate, exactly."""
        if not isinstance(self.problem, DesignProblem) or not (exact := rows_in(self.certificate.header, self.problem)):
            return None
        values = None if self.problem.inputs == "dataset" else self.problem.query.values(self.problem.records)
        return DesignedMechanism(exact, self.problem.inputs, values)

    @property
    def design(self) -> DesignResult:
        """The certificate of a design as a result; why the work stopped is not known any more."""
        lower, upper = self.ends
        return DesignResult(
            lower=lower,
            upper=upper,
            mechanism=self.mechanism,
            audit=None,
            distortion=None,
            termination=Termination.INFEASIBLE if math.isinf(lower) else Termination.STALLED,
            scope=Scope.GLOBAL,
            certificate=self.certificate,
            seconds=0.0,
            units=self.problem.quantity.units,
            values=self.problem.most_values,
        )


Source: TypeAlias = str | Path | Proof | tuple[Problem, Result | DesignResult | Certificate]


@dataclass(frozen=True)
class Collected:
    """All proofs, in the order of their files; `missing` says what of a sweep is not done yet."""

    proofs: tuple[Proof, ...]
    missing: str = ""


def collect(sources: Sequence[Source], *, tell: Callable[[str], None] = lambda text: None) -> Collected:
    """Read folders, certificates and models, find the model of every certificate by its digest, and have every one proved.

    Raises
    ------
    InputError
        If a file cannot be read, there is no certificate, or the model of one is not among these nor, under its name, in the library.
    NotProvedError
        If the checker does not prove a certificate.
    """
    proofs, missing = list[Proof](), list[str]()
    paths = [Path(source) for source in sources if isinstance(source, str | Path)]
    models = dict(_models(paths))
    for source in sources:
        if isinstance(source, str | Path):
            path = Path(source)
            missing += _missing(path) if path.is_dir() else []
            proofs += [_read(file, models, tell) for file in _certificates(path)]
        else:
            proofs.append(source if isinstance(source, Proof) else _given(source))
    if not proofs:  # models alone, each with the certificate beside it: so the library has them
        beside = (
            model_path(str(path)).with_suffix(ending) for path in paths if not path.is_dir() for ending in ENDINGS
        )
        proofs += [_read(file, models, tell) for file in beside if file.exists()]
    if not proofs:
        raise InputError(
            f"{', '.join(map(str, paths)) or 'report'}: no certificate (.cert or .cert.gz) is there; "
            "make some with `dalenius solve MODEL -o DIR` or `dalenius sweep MODEL -o DIR`"
        )
    return Collected(tuple(proofs), "; ".join(missing))


def _given(source: object) -> Proof:
    """From a problem and its result, which is proved, or its certificate, which is proved now."""
    if not isinstance(source, tuple) or len(source) != 2 or not isinstance(source[0], Problem):
        raise InputError(f"report: expected a path, or a pair of a problem and its result, got {brief(source)}")
    problem, proof = source
    certificate = proof.certificate if isinstance(proof, Result | DesignResult) else proof
    if not isinstance(certificate, Certificate) or certificate.header.model != digest(problem):
        raise InputError("report: expected each problem with its own result or certificate, got another model's")
    rules = _need_proved(problem, certificate, "report") if certificate is proof else ()
    return Proof(problem, certificate, rules=rules)


def _certificates(path: Path) -> list[Path]:
    """The certificates that a path stands for; none for a model."""
    if path.is_dir():
        return [file for file in _files(path, ENDINGS) if LOOSER not in file.name]
    return [path] if path.name.endswith(ENDINGS) else []


def _files(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    """The files in a folder and those below it whose names end so; hidden folders, and those of packages, are somebody else's.

    Raises
    ------
    InputError
        If there are very many files of any name.
    """
    found, seen = list[Path](), 0
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not (name.startswith(".") or _of_packages(Path(place, name)))]
        seen += len(names)
        if seen > MOST_FILES:
            raise InputError(f"{folder}: more than {MOST_FILES} files; name the folder that has the certificates")
        found += [Path(place, name) for name in names if name.endswith(endings)]
    return sorted(file for file in found if file.is_file())


def _of_packages(folder: Path) -> bool:
    """True if programs keep what they have installed, or compiled, in it."""
    return folder.name in INSTALLED or (folder / "pyvenv.cfg").exists()


def _models(paths: Iterable[Path]) -> Iterator[tuple[str, tuple[Problem, str]]]:
    """Model files that were named, and those beside the certificates, by digest; what is no model there is passed over."""
    beside = {folder for path in paths for folder in ([path] if path.is_dir() else [path.parent])}
    for path in paths:
        if not path.is_dir() and not path.name.endswith(ENDINGS):
            file = model_path(str(path))
            yield digest(problem := load_file(file)), (problem, str(path))
    for folder in sorted(beside):
        for file in _files(folder, (".toml",)) if folder in paths else sorted(folder.glob("*.toml")):
            try:
                problem = load_file(file)
            except InputError:
                continue
            yield digest(problem), (problem, str(file))


def _read(file: Path, models: dict[str, tuple[Problem, str]], tell: Callable[[str], None]) -> Proof:
    certificate = Certificate.read(file)
    with naming(file):
        wanted = certificate.header.model
    if wanted not in models:
        stem = file.name.split(".")[0]
        for model in library():
            if model.path.stem == stem and digest(problem := model.load()) == wanted:
                models[wanted] = problem, model.name
    if wanted not in models:
        raise InputError(f"{file}: none of the models is the one that it is about; name the model's file as well")
    problem, name = models[wanted]
    tell(file.name)
    return proved(problem, certificate, str(file), name)


def files_to_check(certificate: Certificate, model: str, name: str) -> str:
    """Arguments of a checker, for a shell; of a mechanism of one's own it is asked about the matrix in the certificate."""
    files = f"{shlex.quote(model)} {shlex.quote(name)}"
    return files if certificate.header.resolved is None else f"{files} --resolved"


def proved(problem: Problem, certificate: Certificate, name: str, model: str) -> Proof:
    """A certificate that is proved now; the files that are named need not be there.

    Raises
    ------
    NotProvedError
        If the checker does not prove it.
    """
    return Proof(problem, certificate, name, model, _need_proved(problem, certificate, name))


def _need_proved(problem: Problem, certificate: Certificate, what: str) -> tuple[str, ...]:
    """Rules by which the checker proves it."""
    told = f"{what}: not proved, so that nothing of it is reported"
    return need_proved(problem, certificate, lambda verdict: f"{told}: {verdict.reason}").rules


def _missing(folder: Path) -> list[str]:
    """Missing part of a sweep in this folder; its plan says how many points there are."""
    try:
        points = json.loads((folder / PLAN).read_text(encoding="utf-8"))["points"]
    except (OSError, ValueError, LookupError, TypeError):
        return []
    done = len(list(folder.glob("*.record.json")))
    return [f"{done} of {points} points"] if isinstance(points, int) and done < points else []


def audit_of(design: Proof, proofs: Sequence[Proof]) -> Proof | None:
    """The audit of a design's own mechanism, if it is among these."""
    mechanism = design.mechanism
    if mechanism is None or design.problem.adversary is None:
        return None
    for proof in proofs:
        problem = proof.problem
        if isinstance(problem, WorstCaseLeakage) and getattr(problem.mechanism, "rows", None) == mechanism.rows:
            return proof
    return None


# What a page tells about an audit besides its interval: guesses, single outputs, and what the others give away, at the same prior.


AVERAGE, WITHOUT = "mutual_information", "mutual_information_without_own_answer"
SHARPEST = "pointwise_maximal_leakage"
TOLD = (AVERAGE, WITHOUT, "bayes_advantage", SHARPEST)
SOON = 2.0  # seconds for what is no part of the certified answer


@dataclass(frozen=True)
class Shown:
    """A leakage as texts in both units, rounded outward."""

    bits: str
    nats: str


@dataclass(frozen=True)
class Facts:
    """Facts besides an audit's interval, as texts rounded outward.

    Attributes
    ----------
    guess : str
        The Bayes advantage of the worst adversary: at least what the exhibited prior has, at most what the upper bound leaves.
    guess_at_prior, sharpest : str and Shown or None
        Bayes advantage and pointwise maximal leakage at the exhibited prior; None where none is exhibited.
    average : Shown or None
        The mutual information at that prior.
    factor : str
        By what factor the likeliest guess is up at most, for the worst single output of that prior; empty where nothing bounds it.
    rare : str
        What becomes of an answer that some adversary held for very unlikely, in a sentence.
    without : Shown or None
        What the release reveals by the same prior without the record's own answer, over all letters that may stand in for it.
    belief : list of str
        That prior, in sentences.
    why_not : str
        Why there is no such prior to show.
    """

    guess: str
    guess_at_prior: str = ""
    sharpest: Shown | None = None
    average: Shown | None = None
    factor: str = ""
    rare: str = ""
    without: Shown | None = None
    belief: tuple[str, ...] = ()
    why_not: str = ""


def leakage_shown(lower: float, upper: float) -> Shown:
    """An interval in nats, in both units."""
    return Shown(ends_shown(lower_in(lower, "bits"), upper_in(upper, "bits")), ends_shown(lower, upper))


def _shown(row: Measure) -> Shown:
    """The same of a measure in bits."""
    nats = -nats_above(-row.lower, row.units), nats_above(row.upper, row.units)
    return Shown(ends_shown(row.lower, row.upper), ends_shown(*nats))


def facts_of(proof: Proof) -> Facts:
    """Facts about an audit, as far as its certificate exhibits a prior whose channel is small enough."""
    problem = audited(proof.problem)
    most, unlikely = advantage_at_most(problem, proof.ends[1]), rare(*to_any(problem))
    try:
        witness = witness_of(problem, proof.certificate)
        found = measure(problem, prior=proof.certificate, only=TOLD, units="bits")
    except InputError as error:
        return Facts(guess=f"at most {text_above(most, 4)}", why_not=refusal(str(error)), rare=unlikely)
    gained, sharpest = found["bayes_advantage"], found[SHARPEST]
    without = without_own_answer(found)
    return Facts(
        guess=interval_text(min(gained.lower, most), most, places=4),
        guess_at_prior=ends_shown(gained.lower, gained.upper),
        sharpest=_shown(sharpest),
        average=_shown(found[AVERAGE]),
        factor=factor(sharpest) if math.isfinite(sharpest.upper) else "",
        rare=unlikely,
        without=_shown(without),
        belief=tuple(belief(witness, problem.records)),
    )


def to_any(problem: WorstCaseLeakage, seconds: float = SOON) -> tuple[Measure | None, str]:
    """The pointwise maximal leakage to any adversary of the question, in bits, where there is a bound in time; else why not.

    *Bound because*: of a household whose laws mix its datasets no ratio of likelihoods is larger than between two of these.
    """
    try:
        found = measure(problem, only=(SHARPEST,), units="bits", time_limit=min(seconds, SOON))
        row, why = next(iter(found), None), next(iter(found.refused.values()), "")
    except DaleniusError as error:
        row, why = None, str(error)
    name, blocks, epsilon = f"{SHARPEST}_to_any", as_blocks(problem.adversary), epsilon_of_one(problem)
    if row is not None:
        return replace(row, name=name), ""
    if blocks is None or epsilon is None:
        return None, why.removeprefix("no value: ")
    size = blocks.largest_of(problem.records)
    most = upper_in(exact_fraction_above(size * epsilon), "bits")
    return Measure(
        name, 0.0, most, "bits", "at most, by group privacy: how much likelier any output makes the right guess"
    ), ""


def without_own_answer(found: Measures) -> Measure:
    """Leakage of the others about a record, from the least to the largest over the letters in its place."""
    rows = [row for row in found if row.name.startswith(WITHOUT)]
    lower, upper = min(row.lower for row in rows), max(row.upper for row in rows)
    return Measure(WITHOUT, lower, upper, rows[0].units, "what the others give away about the person")
