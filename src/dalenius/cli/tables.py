"""The table of a sweep or a frontier, and the files that it lists: written point by point, each time as a whole."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import dalenius as dl
from dalenius.cli.folders import Output, of_one_run
from dalenius.files import alone, make_folder, read_text
from dalenius.model import digest

__all__ = ["Table", "table_in"]

POINT = re.compile(r"([^/\\]+-\d{3,})(?:\.looser)?\.cert")


@contextmanager
def table_in(
    output: Output, name: str, problems: Mapping[str, dl.Problem | None], beside: Sequence[str] = ()
) -> Iterator[Table]:
    """The table, with nobody else making one in this folder meanwhile.

    Parameters
    ----------
    name : str
        Of the table and its picture, without endings.
    problems : mapping of name -> Problem or None
        The points to come, by the names of their files without endings; None where it is not known yet what it will be about.
    beside : sequence of str
        Files that are made of the table, besides its picture.

    Raises
    ------
    InputError
        If another process makes a table there.
    """
    make_folder(output.folder)
    with alone(output.folder, "table", wait=0.0):
        known = {point: digest(problem) for point, problem in problems.items() if problem is not None}
        yield Table(output, name, known, beside)


class Table:
    """A table that a rerun replaces row by row.

    Rows of an earlier run stay while their certificates are of the points to come. All other files that the earlier table lists are
    removed with the first point, and so is its picture, and what else is made of it.
    """

    def __init__(self, output: Output, name: str, points: Mapping[str, str], beside: Sequence[str] = ()) -> None:
        self.name, self.picture = f"{name}.csv", f"{name}.png"
        self._output, self._certificates = output, list[str]()
        self._head, self._rows = _listed(output, self.name)
        self._stale = [self.picture, *beside]
        for point, (certificate, _) in list(self._rows.items()):
            if points.get(point) != _model(output, certificate):
                del self._rows[point]
                self._stale += of_one_run(point) if point not in points else []

    def add(
        self, point: str, problem: dl.Problem, files: Mapping[str, str], text: Callable[[list[str]], str]
    ) -> str | None:
        """Write a point's files, and the table as `text` makes it from the certificates' names; the name of the point's.

        None in case of trouble.
        """
        self._rows.pop(point, None)

        def beside(certificate: str) -> dict[str, str]:
            return {self.name: self._with_earlier(text([*self._certificates, certificate]))}

        written = self._output.keep(point, problem, files, beside=beside, without=self._stale)
        if written is None:
            return None
        self._certificates.append(written.name)
        self._stale = []
        return written.name

    def _with_earlier(self, text: str) -> str:
        if text.split("\n", 1)[0] != self._head:
            return text
        return text + "".join(f"{row}\n" for _, row in self._rows.values())


def _listed(output: Output, name: str) -> tuple[str, dict[str, tuple[str, str]]]:
    """The first line of the table that is there, and by the name of the point each certificate and its row."""
    try:
        head, *rows = read_text(output.folder / name, "a table").splitlines()
        found = dict[str, tuple[str, str]]()
        for row, cells in zip(rows, csv.DictReader([head, *rows]), strict=True):
            point = POINT.fullmatch(cells.get("certificate") or "")
            if point:
                found[point[1]] = point[0], row
    except (dl.InputError, ValueError, csv.Error):  # none is there, or none of ours
        return "", {}
    return head, found


def _model(output: Output, certificate: str) -> str:
    """The digest that a certificate names; empty if it is none."""
    try:
        return dl.Certificate.read(output.folder / certificate).header.model
    except dl.InputError:
        return ""
