"""A certificate: evidence for an interval, as JSON lines that `dalenius_check` proves (docs/certificate-format.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from dalenius.errors import InputError
from dalenius.evidence.numbers import exact_text
from dalenius.exact import fraction_text
from dalenius.files import MAX_PROOF, read_text, write_whole

__all__ = ["Certificate", "build"]

FORMAT = "dalenius-certificate/2"


@dataclass(frozen=True)
class Certificate:
    """The text of a certificate file. Its truth is the checker's business: see `dalenius.verify`."""

    text: str

    @property
    def header(self) -> dict[str, Any]:
        """The first line: format, problem, model digest, claims; `InputError` if it is no object with a model and an interval."""
        try:
            header = json.loads(self.text.split("\n", 1)[0])
        except (ValueError, RecursionError):
            header = None
        if not isinstance(header, dict) or not {"model", "lower", "upper"} <= header.keys():
            raise InputError(
                "not a certificate: expected a first line with the keys model, lower and upper (docs/certificate-format.md)"
            )
        return header

    def proof(self) -> list[list[Any]]:
        """The lines of all sections, in their order, of a certificate of an audit."""
        return [json.loads(text) for text in self.text.splitlines()[2:]]

    def sections(self) -> dict[int, list[list[Any]]]:
        """The lines that prove the upper claim, by record."""
        sections: dict[int, list[list[Any]]] = {}
        for line in self.proof():
            if line[0] == "record":
                current = sections.setdefault(line[1], [])
            else:
                current.append(line)
        return sections

    def dual(self) -> list[list[Any]]:
        """The line ``dual`` and the lines ``prior`` of a certificate of a design; none where it is infeasible."""
        return [json.loads(text) for text in self.text.splitlines()[1:] if text.startswith(('["dual"', '["prior"'))]

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    def write(self, path: str | Path) -> Path:
        """Write the file, whole or not at all."""
        return write_whole(path, self.text)

    @classmethod
    def read(cls, path: str | Path) -> Certificate:
        """Read a certificate file; `InputError` if there is none, or it is no ASCII text."""
        return cls(read_text(path, "a certificate", at_most=MAX_PROOF, encoding="ascii"))

    def __repr__(self) -> str:
        return f"<Certificate of {self.lines} lines, {len(self.text)} bytes>"


def build(
    *,
    problem: str,
    digest: str,
    lower: float | Fraction | None,
    upper: float | Fraction | None,
    producer: str,
    body: Iterable[list[Any]],
    unit: str = "nats",
    **more: Any,
) -> Certificate:
    """Assemble a certificate.

    Parameters
    ----------
    lower, upper : float, Fraction or None
        The claims, written exactly.
    body : iterable of lines
        The evidence.
    unit : str
        Of the claims.
    more
        Further keys of the header: ``resolved`` where the checker does not know the mechanism's kind, ``mechanism`` of a design.
    """
    header: dict[str, Any] = {
        "format": FORMAT,
        "problem": problem,
        "model": digest,
        "lower": _claim(lower),
        "upper": _claim(upper),
        "unit": unit,
        "producer": producer,
        **more,
    }
    lines = [json.dumps(line, separators=(",", ":")) for line in (header, *body)]
    return Certificate("\n".join(lines) + "\n")


def _claim(value: float | Fraction | None) -> str | None:
    if isinstance(value, Fraction):
        return fraction_text(value)
    return None if value is None else exact_text(value)
