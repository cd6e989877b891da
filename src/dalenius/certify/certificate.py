"""A certificate: evidence for an interval, as JSON lines that `dalenius_check` proves (docs/certificate-format.md)."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dalenius.certify.numbers import exact_text, short_text
from dalenius.errors import InputError

__all__ = ["Certificate", "build"]

FORMAT = "dalenius-certificate/2"
MAX_BYTES = 256 * 2**20


@dataclass(frozen=True)
class Certificate:
    """The text of a certificate file. Its truth is the checker's business: see `dalenius.verify`."""

    text: str

    @property
    def header(self) -> dict[str, Any]:
        """The first line: format, problem, model digest, claims."""
        header: dict[str, Any] = json.loads(self.text.split("\n", 1)[0])
        return header

    def sections(self) -> dict[int, list[list[Any]]]:
        """The lines that prove the upper claim, by record."""
        sections: dict[int, list[list[Any]]] = {}
        for text in self.text.splitlines()[2:]:
            line = json.loads(text)
            if line[0] == "record":
                current = sections.setdefault(line[1], [])
            else:
                current.append(line)
        return sections

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    def write(self, path: str | Path) -> Path:
        """Write the file, whole or not at all."""
        return write_whole(path, self.text)

    @classmethod
    def read(cls, path: str | Path) -> Certificate:
        """Read a certificate file; `InputError` if there is none, or it is no ASCII text."""
        path = Path(path)
        try:
            with path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise InputError(f"{path}: a certificate has at most {MAX_BYTES} bytes")
            return cls(data.decode("ascii"))
        except UnicodeDecodeError:
            raise InputError(f"{path}: not a certificate (it is not ASCII text)") from None
        except InputError:
            raise
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None

    def __repr__(self) -> str:
        return f"<Certificate of {self.lines} lines, {len(self.text)} bytes>"


def build(
    *,
    problem: str,
    digest: str,
    lower: float,
    upper: float,
    producer: str,
    body: Iterable[list[Any]],
    resolved: tuple[str, list[list[float]]] | None = None,
) -> Certificate:
    """Assemble a certificate.

    Parameters
    ----------
    lower, upper : float
        The claims in nats, written with all their digits.
    body : iterable of lines
        The witness, then the sections of the records.
    resolved : (inputs, rows), optional
        The channel's matrix, for a mechanism kind that the checker does not know.
    """
    header: dict[str, Any] = {
        "format": FORMAT,
        "problem": problem,
        "model": digest,
        "lower": exact_text(lower),
        "upper": exact_text(upper),
        "unit": "nats",
        "producer": producer,
    }
    if resolved is not None:
        inputs, rows = resolved
        header["resolved"] = {"inputs": inputs, "rows": [[short_text(w) for w in row] for row in rows]}
    lines = [json.dumps(line, separators=(",", ":")) for line in (header, *body)]
    return Certificate("\n".join(lines) + "\n")


def write_whole(path: str | Path, text: str) -> Path:
    """Write a text file so that nobody ever sees half of it."""
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path
