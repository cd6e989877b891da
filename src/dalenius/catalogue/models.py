"""The model library: declarative problems in named sets, each with its certificate beside it, and whether that is proved."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import tomllib
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from dalenius._load import load_file
from dalenius._verify import verify
from dalenius.errors import InputError, brief, naming
from dalenius.evidence import ENDINGS, Certificate, certificate_beside
from dalenius.files import read_bytes, read_text
from dalenius.intervals import ends_text, gap_text
from dalenius.model import Problem, digest, normal_form
from dalenius.results import relative_gap

# Whether what a certificate claims is proved: by the run that wrote the index, as two digests say, or by the checker, now.


INDEX = "index.csv"
COLUMNS = "name", "digest", "certificate_digest"


@dataclass(frozen=True)
class Digests:
    """Digests of a proof: of a model's normal form, and of the text of a certificate, both as SHA-256."""

    model: str
    certificate: str


@dataclass(frozen=True)
class Standing:
    """Standing of a claim: proved, and where (in the index, or by the checker just now), or why it is not."""

    proved: bool
    reason: str


def certificate_digest(certificate: Certificate) -> str:
    """SHA-256 of its text, as which a compressed file counts, too: compressors differ.

    >>> certificate_digest(Certificate(""))[:8]
    'e3b0c442'
    """
    return hashlib.sha256(certificate.text.encode("utf-8", "surrogatepass")).hexdigest()


def recorded(folder: Path) -> dict[str, Digests]:
    """Digests in the index of a library, by name; `dalenius library index` proves every line of it.

    Nothing where there is no index, or one of another form: then everything is proved anew.
    """
    try:
        rows = list(csv.DictReader(io.StringIO(read_text(folder / INDEX, "an index"), newline=""), strict=True))
    except (InputError, csv.Error):
        return {}
    return {row[COLUMNS[0]]: Digests(row[COLUMNS[1]], row[COLUMNS[2]]) for row in rows if {*COLUMNS} <= row.keys()}


def standing(path: Path, problem: Problem, certificate: Certificate, known: Digests | None) -> Standing:
    """Of a model file's certificate, with the problem that the file states, and the two digests in the index, if it is there.

    *True because* the checker proves every certificate in the run that writes the index: what has both digests is what was proved.
    """
    if known is not None and known == Digests(digest(problem), certificate_digest(certificate)):
        return Standing(True, "when the index was written")
    verdict = verify(path, certificate)
    return Standing(verdict.proved, "just now" if verdict.proved else f"{verdict.status.value}: {verdict.reason}")


INSTALLED = Path(__file__).parents[1] / "models"
CHECKOUT = Path(__file__).parents[3] / "models"
SETS = ("minimal", "fast", "various")
CLOSED = 1e-6  # the relative gap of a closed interval


@dataclass(frozen=True)
class LibraryModel:
    """One model of the library.

    Attributes
    ----------
    name : str
        ``topic/name``.
    path : Path
        The model file; the certificate is beside it.
    set : str
        The smallest named set that has it: ``minimal``, ``fast`` or ``various``.
    formula : str
        The exact value in words, where it is known; else empty.
    known : Digests or None
        What the library's index was proved about, so that it need not be proved again.
    """

    name: str
    path: Path
    set: str = SETS[-1]
    formula: str = ""
    known: Digests | None = field(default=None, repr=False)

    @property
    def certificate_places(self) -> tuple[Path, Path]:
        """Places of the certificate, if there is one: as text, or compressed."""
        text, compressed = map(self.path.with_suffix, ENDINGS)
        return text, compressed

    @property
    def certificate_path(self) -> Path | None:
        """The certificate's file, or None if there is none yet."""
        return certificate_beside(self.path)

    def load(self) -> Problem:
        """The problem."""
        return load_file(self.path)

    def certificate(self) -> Certificate | None:
        """The certificate, or None if there is none yet; `InputError`, which names the file, if it is none."""
        path = self.certificate_path
        if path is None:
            return None
        certificate = Certificate.read(path)
        with naming(path):
            _ = certificate.header.claim
        return certificate

    @cached_property
    def _stored(self) -> Certificate | None:
        """The certificate as it was when it was first looked at: one and the same for all that is said."""
        return self.certificate()

    @cached_property
    def problem(self) -> Problem:
        """The problem as it was when it was first looked at."""
        return self.load()

    @property
    def claim(self) -> tuple[Fraction, Fraction] | None:
        """Interval that the certificate's first line *claims*, no more: see `interval`. None if infeasible, or without one."""
        return None if self._stored is None else self._stored.header.claim

    @cached_property
    def standing(self) -> Standing:
        """Standing of the claim: proved by the run that wrote the index, if the digests are the same, else by the checker now."""
        if self._stored is None:
            return Standing(False, "there is no certificate")
        return standing(self.path, self.problem, self._stored, self.known)

    @property
    def interval(self) -> tuple[Fraction, Fraction] | None:
        """The proved interval, exactly; None if it is proved that nothing is feasible, or nothing is proved (`standing`).

        >>> lower, upper = library_model("identity/z-channel").interval
        >>> lower <= Fraction("0.22314355131421") <= upper
        True
        """
        return self.claim if self.standing.proved else None

    @property
    def gap(self) -> float | None:
        """(upper - lower) / upper of the proved interval."""
        return None if self.interval is None else relative_gap(*self.interval)

    @property
    def tightness(self) -> str:
        """``exact`` (with a formula), ``closed`` (a relative gap of at most `CLOSED`), ``bracket`` or ``infeasible``, all proved.

        Else ``unsolved``, without a certificate, or ``unproved``.
        """
        if self._stored is None:
            return "unsolved"
        if not self.standing.proved:
            return "unproved"
        if self.gap is None:
            return "infeasible"
        return "exact" if self.formula else "closed" if self.gap <= CLOSED else "bracket"

    def row(self) -> IndexRow:
        """Row of the index; no interval where none is proved."""
        problem = self.problem
        inputs, outputs = problem.shape
        form = normal_form(problem)
        mechanism = form.get("mechanism", {"class": "oblivious"})  # of the most information there is no other class
        path = self.certificate_path
        lower, upper = ("", "") if self.interval is None else ends_text(*self.interval)
        return IndexRow(
            name=self.name,
            set=self.set,
            problem=problem.kind,
            query=problem.query.kind,
            mechanism=mechanism.get("kind") or mechanism["class"],
            adversary=_against(form),
            datasets=" * ".join(f"{size}^{times}" if times > 1 else f"{size}" for size, times in problem.records.runs),
            inputs=inputs,
            outputs=outputs,
            lower=lower,
            upper=upper,
            unit=problem.quantity.units,
            gap="" if self.gap is None else gap_text(self.gap),
            tightness=self.tightness,
            formula=self.formula,
            certificate_bytes=0 if path is None else path.stat().st_size,
            digest=digest(problem),
            certificate_digest="" if self._stored is None else certificate_digest(self._stored),
            title=problem.title,
            source=problem.source,
        )


def _against(form: dict[str, Any]) -> str:
    """Whom the mechanism is to be safe from, in a normal form: an adversary, a privacy notion, or limits alone."""
    adversary, privacy = form.get("adversary", {}), form.get("privacy", {})
    if entropy := adversary.get("entropy_at_least"):
        return f"H >= {entropy}"
    if privacy:
        return f"{privacy['kind']} {privacy['epsilon']}"
    return str(adversary.get("kind") or " and ".join(table["kind"] for table in form["constraints"]))


@dataclass(frozen=True)
class IndexRow:
    """A row of the index. `lower` and `upper` are decimals rounded outward; they are empty where nothing is feasible, or proved.

    `certificate_bytes` are those of the file, compressed or not; `certificate_digest` is that of the text.
    """

    name: str
    set: str
    problem: str
    query: str
    mechanism: str
    adversary: str
    datasets: str
    inputs: int
    outputs: int
    lower: str
    upper: str
    unit: str
    gap: str
    tightness: str
    formula: str
    certificate_bytes: int
    digest: str
    certificate_digest: str
    title: str
    source: str

    @classmethod
    def keys(cls) -> list[str]:
        """The columns."""
        return [field.name for field in fields(cls)]


def library_folder() -> Path:
    """Folder of the library: in the installed package, or in the checkout that this is."""
    return INSTALLED if INSTALLED.is_dir() else CHECKOUT


def library(set: str = SETS[-1], folder: str | Path | None = None) -> list[LibraryModel]:
    """The models of a named set, by name. Each set contains the ones before it.

    Parameters
    ----------
    set : {"minimal", "fast", "various"}
        A small model of every kind; all that close within seconds; all.
    folder : path, optional
        Another library's folder: model files, and a file ``sets.toml`` that puts each into a set.

    Raises
    ------
    InputError
        If there is no such set, or the folder is no library.

    >>> "parity/laplace-n4" in [model.name for model in library("minimal")]
    True
    """
    if set not in SETS:
        raise InputError(f"set: expected one of {', '.join(SETS)}; got {brief(set)}")
    folder = library_folder() if folder is None else Path(folder)
    sets, formulas = _manifest(folder / "sets.toml")
    known = recorded(folder)
    found = []
    for path in sorted(folder.rglob("*/*.toml")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name not in sets:
            raise InputError(f"{folder / 'sets.toml'}: {name} is in no set; put it into {', '.join(SETS)}")
        found.append(LibraryModel(name, path, sets[name], formulas.get(name, ""), known.get(name)))
    missing = sorted({*sets, *formulas} - {model.name for model in found})
    if missing:
        raise InputError(f"{folder / 'sets.toml'}: there is no model file for {', '.join(missing)}")
    return [model for model in found if SETS.index(model.set) <= SETS.index(set)]


def library_model(name: str, folder: str | Path | None = None) -> LibraryModel:
    """The model of this name.

    Raises
    ------
    InputError
        If there is none; the message has names that are near.
    """
    models = {model.name: model for model in library(folder=folder)}
    if name in models:
        return models[name]
    near = get_close_matches(name, models, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`dalenius list` shows what there is"
    raise InputError(f"no model file and no model named {brief(name)} in the library; {hint}")


def model_path(model: str | Path) -> Path:
    """The file of a model, given as a path or by its name in the library. An existing file comes first.

    Raises
    ------
    InputError
        If it is no path, or a text without the ending .toml that names neither a file nor a model.
    """
    if not isinstance(model, str | os.PathLike):
        raise InputError(f"model: expected the path of a file, or a name from the library, got {brief(model)}")
    path = Path(model)
    if not isinstance(model, str) or path.suffix == ".toml" or os.path.exists(path):  # no error for what is too long
        return path
    return library_model(model).path


def load(model: str | Path) -> Problem:
    """Read a problem from a model file, or from the library by its name.

    Raises
    ------
    InputError
        If there is no such file or model, the file cannot be read, is no TOML, or states no valid problem; the message names the file.

    >>> load("parity/laplace-n4").mechanism.epsilon
    Fraction(1, 1)
    """
    return load_file(model_path(model))


def _manifest(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The set and the formula of each name."""
    try:
        manifest = tomllib.loads(read_bytes(path, "the list of sets").decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: not a TOML 1.0 file in UTF-8: {error}") from None
    formulas = manifest.pop("formulas", {})
    lists = all(isinstance(x, list) and all(isinstance(name, str) for name in x) for x in manifest.values())
    names = [name for members in manifest.values() for name in members] if lists else []
    if not (lists and {*manifest} <= {*SETS} and len(names) == len({*names}) and isinstance(formulas, dict)):
        raise InputError(f"{path}: expected lists {', '.join(SETS)} with each name once, and a table formulas")
    return {name: set for set, members in manifest.items() for name in members}, formulas
