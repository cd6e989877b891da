"""Output of -o: its folder, tried before the work, in which nothing stale stays; and how much of a confidential table it reveals."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import dalenius as dl
from dalenius.cli.shared import drawn, err, law_of
from dalenius.errors import InputError, naming
from dalenius.evidence import Header
from dalenius.files import alone, make_folder, need_folder, need_places, packed, write_together
from dalenius.intervals import text_above
from dalenius.model import DesignProblem, Problem
from dalenius.results import DesignResult, Result, SecretResult

CERTIFICATE, COMPRESSED = ".cert", ".gz"
ENDINGS = (
    CERTIFICATE,
    CERTIFICATE + COMPRESSED,
    ".mechanism.json",
    ".mechanism.toml",
    ".mechanism.cert",
    ".mechanism.cert.gz",
    ".design.toml",
    ".trace.csv",
    ".trace.png",
)
LOOSER = ".looser"  # after the name of what does not replace a tighter certificate
WAIT = 60.0  # seconds for other processes, which are alone in a folder only while they write


def of_one_run(name: str) -> list[str]:
    """The names of all files that a run may have written for a point of this name, its model among them."""
    return [name + looser + ending for looser in ("", LOOSER) for ending in (*ENDINGS, ".toml")]


def sibling(certificate: Path, ending: str) -> Path:
    """Path of another file of the same run.

    >>> sibling(Path("out/model.cert.gz"), ".design.toml").as_posix()
    'out/model.design.toml'
    """
    return (certificate.with_suffix("") if certificate.suffix == COMPRESSED else certificate).with_suffix(ending)


def need_own(model: Path, asks: Callable[[Problem], bool], *, force: bool) -> None:
    """The place of a model: `InputError` if another question's stands there, or no model, unless it may be replaced."""
    if force or not model.exists():
        return
    with suppress(InputError):
        if asks(dl.load(model)):
            return
    raise InputError(
        f"{model}: stands there, and is not the model of this question; write under another name, or give --force to replace it"
    )


class Output:
    """The folder of -o.

    Parameters
    ----------
    names : iterable of str
        Of the files that the work may write or remove there: it is tried now whether that can be done.
    compress : bool
        Whether certificates are written compressed.

    Attributes
    ----------
    trouble : InputError or None
        What could not be written. The answer is printed all the same; then `settle` raises it.

    Raises
    ------
    InputError
        If nothing can be written there, or not one of the files.
    """

    def __init__(self, folder: Path, names: Iterable[str], *, force: bool = False, compress: bool = False) -> None:
        need_folder(folder, make=True)
        need_places(folder / name for name in names)
        self.folder, self.force, self.compress = folder, force, compress
        self.trouble: InputError | None = None

    def keep(
        self,
        name: str,
        problem: Problem,
        files: Mapping[str, str],
        *,
        beside: Callable[[str], Mapping[str, str]] = lambda certificate: {},
    ) -> Path | None:
        """Write a certificate and what belongs to it, and remove what an earlier run wrote under this name and this one did not.

        A certificate of the same model with a narrower interval stays if the checker proves it, and so do its files; the new ones
        then go to NAME.looser.

        Parameters
        ----------
        name : str
            Of the files, without endings.
        problem : Problem
            What the certificate is about.
        files : mapping of ending -> text
            ``".cert"`` among them.
        beside : callable, optional
            More files, by name, made from the certificate's name; written last.

        Returns
        -------
        Path or None
            The certificate; None in case of trouble.
        """
        with self.working():
            there = None if self.force else self._narrower(name, problem, dl.Certificate(files[CERTIFICATE]).header)
            stem = name if there is None else name + LOOSER
            contents = dict(self._file(f"{stem}{ending}", text) for ending, text in files.items())
            certificate = self._file(f"{stem}{CERTIFICATE}", "")[0]
            stale = [f"{stem}{ending}" for ending in ENDINGS]
            if there is None:
                stale += [f"{name}{LOOSER}{ending}" for ending in ENDINGS]
            self._replace(contents | dict(beside(certificate)), stale)
            if there is not None:
                err.print(
                    f"{there} stays: it proves a narrower interval; the new one went to {certificate} (--force replaces it)",
                )
            return self.folder / certificate
        return None

    def write(self, files: Mapping[str, str], *, without: Sequence[str] = ()) -> list[str]:
        """Write other files, by name, and remove some; the paths of those written."""
        with self.working():
            self._replace(files, without)
            return [str(self.folder / name) for name in files]
        return []

    def draw(self, draw: Callable[[], object], name: str) -> list[str]:
        """The picture that is drawn, unless there was trouble or matplotlib is not there."""
        with self.working():
            return drawn(draw, self.folder / name) if self.trouble is None else []
        return []

    def settle(self) -> None:
        """Raise what could not be written."""
        if self.trouble is not None:
            raise self.trouble

    @contextmanager
    def working(self) -> Iterator[None]:
        """Alone in the folder; an `InputError` is kept for later."""
        try:
            make_folder(self.folder)
            with alone(self.folder, wait=WAIT):
                yield
        except InputError as error:
            self.trouble = error

    def _file(self, name: str, text: str) -> tuple[str, str | bytes]:
        """The name and content of a file: those of a certificate as they are, or compressed."""
        if self.compress and name.endswith(CERTIFICATE):
            return name + COMPRESSED, packed(text)
        return name, text

    def _replace(self, files: Mapping[str, str | bytes], stale: Iterable[str]) -> None:
        write_together(
            {self.folder / name: text for name, text in files.items()},
            without=[self.folder / name for name in stale if name not in files],
        )

    def _narrower(self, name: str, problem: Problem, new: Header) -> Path | None:
        """The certificate that is there, if it is of the same model, narrower, and proved."""
        places = (self.folder / f"{name}{CERTIFICATE}{packing}" for packing in ("", COMPRESSED))
        path = next((place for place in places if place.exists()), None)
        if path is None:
            return None
        try:
            there = dl.Certificate.read(path)
            old, claim = there.header.claim, new.claim
            if there.header.model != new.model or old is None or new.lower is None:
                return None
            narrower = claim is None or old[1] - old[0] < claim[1] - claim[0]
            return path if narrower and dl.verify(problem, there).proved else None
        except InputError:
            return None


OPTION = "--public-law"


def published(problem: Problem, public: str | None, written: Path | None) -> Problem:
    """The problem with the public law, if one is given; else a warning if what is written reveals the shares of a table.

    Parameters
    ----------
    public : str or None
        ``uniform``, or the probabilities of a record's letters with commas.
    written : path or None
        Where the answer goes; None where nothing is written.

    Raises
    ------
    InputError
        If it is no law for these records, the problem is no design, or its privacy is defined by its own law.
    """
    if public is not None:
        return _with_law(problem, public)
    if written is not None and problem.written is None:  # MODEL only says which table the law is in
        err.print(
            f"WARNING: the law is taken from a table, and what is written to {written} tells the exact share of each letter in it; "
            f"{OPTION} of solve and frontier designs for a law that may be known (docs/release.md)",
        )
    return problem


def tell_private_distortion(problem: Problem, public: str | None, result: Result | DesignResult | SecretResult) -> None:
    """Under a public law: what the mechanism distorts under the model's own, on standard error and nowhere else."""
    if public is None or not isinstance(problem, DesignProblem) or not isinstance(result, DesignResult):
        return
    if result.mechanism is not None:
        expected = problem.expected_distortion(result.mechanism.rows)
        err.print(
            f"under MODEL's own law the mechanism distorts at most {text_above(expected)}: about the data, and written nowhere"
        )


def _with_law(problem: Problem, public: str) -> DesignProblem:
    if not isinstance(problem, DesignProblem):
        has = "is about its law itself" if hasattr(problem, "law") else "has no law of the data"
        raise InputError(f"{OPTION}: {problem.in_models} {has}; leave it out")
    if getattr(problem.privacy, "priors", ()) is None:
        raise InputError(
            f"{OPTION}: this privacy is about the law itself; list [privacy] priors in the model, or state the law"
        )
    for j, limit in enumerate(problem.own_constraints):
        if getattr(limit, "about_the_law", False):
            raise InputError(
                f"{OPTION}: constraints[{j}] ({limit.kind}) is about the law itself; list its secret or priors in the model, or state "
                "the law"
            )
    with naming(OPTION):
        return dataclasses.replace(problem, law=law_of(public, OPTION))
