"""Whether what a certificate claims is proved: by the run that wrote the index, as two digests say, or by the checker, now."""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

from dalenius._verify import verify
from dalenius.errors import InputError
from dalenius.evidence import Certificate
from dalenius.files import read_text
from dalenius.model import Problem, digest

__all__ = ["Digests", "Standing", "certificate_digest", "recorded", "standing"]

INDEX = "index.csv"
COLUMNS = "name", "digest", "certificate_digest"


@dataclass(frozen=True)
class Digests:
    """What a proof is about: a model's normal form, and the text of a certificate, both as SHA-256."""

    model: str
    certificate: str


@dataclass(frozen=True)
class Standing:
    """Whether a claim is proved, and where: in the index, or by the checker just now; or why it is not."""

    proved: bool
    reason: str


def certificate_digest(certificate: Certificate) -> str:
    """SHA-256 of its text, as which a compressed file counts, too: compressors differ.

    >>> certificate_digest(Certificate(""))[:8]
    'e3b0c442'
    """
    return hashlib.sha256(certificate.text.encode("utf-8", "surrogatepass")).hexdigest()


def recorded(folder: Path) -> dict[str, Digests]:
    """What the index of a library was written about, by name; `dalenius library index` proves every line of it.

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
