"""The folder of -o: tried before the work; files that belong together are written together, and nothing stale stays beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from typer import Option

import dalenius as dl
from dalenius.cli.shared import drawn, err
from dalenius.errors import InputError
from dalenius.evidence import Header
from dalenius.files import alone, make_folder, need_folder, need_places, packed, write_together
from dalenius.model import Problem

ForceOption = Annotated[bool, Option("--force", help="Replace a certificate of the same model even by a looser one.")]
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
    """Where another file of the same run is.

    >>> sibling(Path("out/model.cert.gz"), ".design.toml").as_posix()
    'out/model.design.toml'
    """
    return (certificate.with_suffix("") if certificate.suffix == COMPRESSED else certificate).with_suffix(ending)


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
        without: Sequence[str] = (),
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
        without : sequence of str
            Names of other files to remove.

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
            self._replace(contents | dict(beside(certificate)), [*stale, *without])
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

    def draw(self, draw: Callable[[], Path]) -> list[str]:
        """The picture that is drawn, unless there was trouble or matplotlib is not there."""
        with self.working():
            return drawn(draw) if self.trouble is None else []
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
