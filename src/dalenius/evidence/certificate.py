"""A certificate: evidence for an interval, as JSON lines that `dalenius_check` proves (docs/certificate-format.md)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Self, get_args

from dalenius.errors import InputError, brief, counted
from dalenius.evidence.ends import CurveClaim, double_above, double_below
from dalenius.evidence.lower import UNIFORM, LowerLine, Matrix, Vector
from dalenius.evidence.upper import (
    AdversaryLine,
    CellSection,
    Line,
    MeanLine,
    PieceSection,
    PotentialLine,
    ProofLine,
    RecordLine,
    SecretSection,
    TermSection,
    UpperLine,
)
from dalenius.exact import as_fraction, fraction_text
from dalenius.files import MAX_PROOF, packed, read_text, write_whole

# The one place that knows how typed evidence is written into a certificate, and read from one.


Read = object  # what a line of JSON may hold: texts, whole numbers, null, and lists of them


def encode(line: Line) -> str:
    """A line of a certificate.

    >>> from dalenius.evidence.upper import Split, VerticesLeaf
    >>> encode(Split(1, 0, "0.25")), encode(VerticesLeaf())
    ('["split",1,0,"0.25"]', '["vertices"]')
    """
    return json.dumps([line.word, *(getattr(line, field.name) for field in fields(line))], separators=(",", ":"))


def decode(text: str) -> Line:
    """The line that a text states; `InputError` if it is none of the format's lines.

    >>> decode('["split",1,0,"0.25"]')
    Split(letter=1, output=0, threshold='0.25')
    """
    try:
        word, *entries = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        word, entries = None, []
    kind = _KINDS.get((word, len(entries))) if isinstance(word, str) else None
    values = [_frozen(entry) for entry in entries]
    if kind is None or not all(
        _SHAPES[str(field.type)](value) for field, value in zip(fields(kind), values, strict=True)
    ):
        raise InputError(f"not a line of a certificate: {brief(text)} (docs/certificate-format.md)")
    make: Callable[..., Line] = kind
    return make(*values)


def _frozen(value: Read) -> Read:
    return tuple(_frozen(entry) for entry in value) if isinstance(value, list) else value


def _index(value: Read) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _number(value: Read) -> bool:
    return isinstance(value, str)


def _many(member: Callable[[Read], bool]) -> Callable[[Read], bool]:
    return lambda value: isinstance(value, tuple) and all(map(member, value))


def _or_none(member: Callable[[Read], bool]) -> Callable[[Read], bool]:
    return lambda value: value is None or member(value)


def _input_law(value: Read) -> bool:
    of_selection = isinstance(value, tuple) and 2 <= len(value) <= 3 and _index(value[0]) and _many(_number)(value[1])
    of_selection = of_selection and (not isinstance(value, tuple) or len(value) == 2 or _how(value[2]))
    of_block = isinstance(value, tuple) and len(value) == 2 and _number(value[0]) and _of_piece(value[1])
    of_places = _many(_priced)(value)
    of_records = (
        isinstance(value, tuple) and value[:1] == ("product",) and len(value) == 2 and _many(_is_vector)(value[1])
    )
    return (
        of_selection
        or of_block
        or of_records
        or of_places
        or _index(value)
        or _priced(value)
        or _is_vector(value)
        or _of_piece(value)
    )


def _is_vector(value: Read) -> bool:
    return _many(_number)(value) or _many(_index)(value)


def _of_piece(value: Read) -> bool:
    return value == UNIFORM or _many(_many(_number))(value)


def _how(value: Read) -> bool:
    return value is None or _many(lambda member: _index(member) or (member is not None and _how(member)))(value)


def _priced(value: Read) -> bool:
    return _many(lambda pair: isinstance(pair, tuple) and len(pair) == 2 and _index(pair[0]) and _number(pair[1]))(
        value
    )


def _stretches(value: Read) -> bool:
    return _many(
        lambda pair: isinstance(pair, tuple) and len(pair) == 2 and _number(pair[0]) and _many(_number)(pair[1])
    )(value)


def _chosen(value: Read) -> bool:
    """A value of a secret, an input, and a weight."""
    return isinstance(value, tuple) and len(value) == 3 and all(map(_index, value[:2])) and _number(value[2])


def _weighed(value: Read) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and _many(_index)(value[0]) and _number(value[1])


_SHAPES: dict[str, Callable[[Read], bool]] = {  # by the types of the fields, as lines.py spells them
    "Index": _index,
    "Index | None": _or_none(_index),
    "Indices": _many(_index),
    "Number": _number,
    "Number | None": _or_none(_number),
    "Vector": _many(_number),
    "Vector | None": _or_none(_many(_number)),
    "Matrix": _many(_many(_number)),
    "Slopes": _many(_or_none(_many(_number))),
    "Slopes | None": _or_none(_many(_or_none(_many(_number)))),
    "Patterns": _many(_weighed),
    "Stretches": _stretches,
    "Partition": _many(_many(_index)),
    "InputLaw": _input_law,
    "InputLaw | None": _or_none(_input_law),
    "Priced": _priced,
    "How": _how,
    "Selection": _many(_chosen),
    "Side": lambda value: value in ("above", "below"),
    "Moves": _many(_many(_many(_index))),
    "About": lambda value: _or_none(_index)(value) or _many(_number)(value) or _many(_or_none(_index))(value),
    "Hint": lambda value: _many(_number)(value) or _many(_many(_number))(value),
    "WeightsOf": lambda value: _index(value) or _many(_number)(value),
}
_KINDS: dict[tuple[str, int], type[Line]] = {(kind.word, len(fields(kind))): kind for kind in get_args(Line)}


FORMAT = "dalenius-certificate/2"
OBJECTIVE = "objective"  # the unit of a design with one

Claim = tuple[Fraction, Fraction]
Sections = dict[int, tuple[ProofLine, ...]]


@dataclass(frozen=True)
class Header:
    """The first line: of which model, and what is claimed; both ends are None where it is that nothing is feasible.

    The upper end alone is None, as the mechanism is, where nothing is said from above.

    Attributes
    ----------
    problem, model : the kind of problem and the model's digest
    lower, upper : the claims as they are written
    unit : of the claims
    producer : free text
    mechanism : of a design: rows of whole weights; None where there is none
    terms : of a design with an objective of several terms: what each comes to at most; None where there is nothing
    resolved : the channel where the checker does not know the mechanism's kind: what its rows belong to, and the rows
    curve : what is claimed at other entropy bounds than the model's, if anything is
    """

    problem: str
    model: str
    lower: str | None
    upper: str | None
    unit: str = "nats"
    producer: str = ""
    mechanism: Matrix | None = None
    terms: Vector | None = None
    resolved: tuple[str, Matrix] | None = None
    curve: CurveClaim | None = None

    @property
    def claim(self) -> Claim | None:
        """The interval, exactly; None if the claim is none of both ends (`claim_below`); `InputError` if an end is no number.

        >>> Header("maximal_leakage", "", "0.25", "1/3").claim
        (Fraction(1, 4), Fraction(1, 3))
        """
        if self.lower is None or self.upper is None:
            return None
        return as_fraction(self.lower, "lower"), as_fraction(self.upper, "upper")

    @property
    def claim_below(self) -> Fraction | None:
        """The lower end, exactly; None if the claim is that nothing is feasible."""
        return None if self.lower is None else as_fraction(self.lower, "lower")

    @property
    def doubles(self) -> tuple[float, float]:
        """The ends of the claim, rounded outward to doubles; infinite where there is none.

        >>> Header("maximal_leakage", "", "0.25", "1/4").doubles, Header("min_distortion", "", "0.25", None).doubles
        ((0.25, 0.25), (0.25, inf))
        """
        lower, upper = self.claim_below, None if self.claim is None else self.claim[1]
        return math.inf if lower is None else double_below(lower), math.inf if upper is None else double_above(upper)

    @property
    def about_a_design(self) -> bool:
        return self.problem not in ("maximal_leakage", "secret_leakage")

    def encode(self) -> str:
        """The line of the file."""
        header: dict[str, object] = {
            "format": FORMAT,
            "problem": self.problem,
            "model": self.model,
            "lower": self.lower,
            "upper": self.upper,
            "unit": self.unit,
            "producer": self.producer,
        }
        if self.about_a_design:
            header["mechanism"] = self.mechanism
        if self.unit == OBJECTIVE:
            header["terms"] = self.terms
        if self.resolved is not None:
            header["resolved"] = {"inputs": self.resolved[0], "rows": self.resolved[1]}
        if self.curve is not None:
            header["curve"] = self.curve.encode()
        return json.dumps(header, separators=(",", ":"))

    @classmethod
    def decode(cls, text: str) -> Self:
        """What the first line of a file says; `InputError` if it is no object with a model and an interval."""
        try:
            header = json.loads(text)
        except (ValueError, RecursionError):
            header = None
        if not isinstance(header, dict) or not {"model", "lower", "upper"} <= header.keys():
            raise InputError(
                "not a certificate: expected a first line with the keys model, lower and upper (docs/certificate-format.md)"
            )
        texts = {name: header.get(name, "") for name in ("problem", "model", "unit", "producer")}
        ends = {name: header[name] for name in ("lower", "upper")}
        wrong = not all(isinstance(text, str) for text in texts.values())
        if wrong or not all(end is None or isinstance(end, str) for end in ends.values()):
            raise InputError(
                "not a certificate: problem, model, lower, upper, unit and producer must be texts (docs/certificate-format.md)"
            )
        resolved = header.get("resolved")
        return cls(
            **texts,
            **ends,
            mechanism=_matrix(header.get("mechanism")),
            terms=_vector(header.get("terms")),
            resolved=(str(resolved.get("inputs")), _matrix(resolved.get("rows")) or ())
            if isinstance(resolved, dict)
            else None,
            curve=CurveClaim.decode(header["curve"]) if "curve" in header else None,
        )


def _matrix(rows: object) -> Matrix | None:
    """Rows of texts; `InputError` if they are something else."""
    if rows is None:
        return None
    if not isinstance(rows, list) or not all(
        isinstance(row, list) and all(isinstance(x, str) for x in row) for row in rows
    ):
        raise InputError(
            "not a certificate: the rows of a mechanism must be lists of texts (docs/certificate-format.md)"
        )
    return tuple(map(tuple, rows))


def _vector(values: object) -> Vector | None:
    """A list of texts; `InputError` if it is something else."""
    return None if values is None else (_matrix([values]) or ((),))[0]


@dataclass(frozen=True)
class Certificate:
    """The text of a certificate file. Its truth is the checker's business: see `dalenius.verify`."""

    text: str

    @property
    def header(self) -> Header:
        """The first line; `InputError` if it is none of a certificate."""
        return Header.decode(self.text.split("\n", 1)[0])

    def body(self) -> Iterator[Line]:
        """The lines after the first one; `InputError` at one that the format does not have."""
        return map(decode, self.text.removesuffix("\n").split("\n")[1:])  # not splitlines: a carriage return is a blank

    def lower_lines(self) -> tuple[LowerLine, ...]:
        """The lines that prove the lower end: the witness, or a design's dual with its priors or ratios.

        Not the witnesses at other entropy bounds, which are claims of their own (`Header.curve`).
        """
        lines = tuple(line for line in self.body() if isinstance(line, LowerLine))
        return lines if self.header.curve is None else lines[:1]

    def upper_lines(self) -> tuple[UpperLine, ...]:
        """The lines that prove the upper end: what each kind of record leaks at most."""
        return tuple(line for line in self.body() if not isinstance(line, LowerLine))

    def sections(self) -> Sections:
        """The proofs of the upper end, by record; not those about adversaries of a design's further limits and terms, or blocks."""
        sections: dict[int, list[ProofLine]] = {}
        for line in self.upper_lines():
            if isinstance(
                line,
                AdversaryLine | TermSection | PieceSection | PotentialLine | CellSection | SecretSection | MeanLine,
            ):
                break
            if isinstance(line, RecordLine):
                current = sections.setdefault(line.record, [])
            else:
                current.append(line)
        return {record: tuple(proof) for record, proof in sections.items()}

    @property
    def lines(self) -> int:
        return self.text.count("\n")

    def write(self, path: str | Path) -> Path:
        """Write the file, whole or not at all; compressed by gzip where its name ends in ``.gz``."""
        return write_whole(path, packed(self.text) if Path(path).suffix == ".gz" else self.text)

    @classmethod
    def read(cls, path: str | Path) -> Certificate:
        """Read a certificate file, compressed or not; `InputError` if there is none, or it is no ASCII text."""
        return cls(read_text(path, "a certificate", at_most=MAX_PROOF, encoding="ascii", maybe_packed=True))

    @classmethod
    def of(cls, header: Header, lower: Iterable[LowerLine], upper: Iterable[UpperLine]) -> Certificate:
        """A claim with the evidence for its two ends. No line of the one refers to a line of the other."""
        return cls("".join(f"{line}\n" for line in (header.encode(), *map(encode, lower), *map(encode, upper))))

    def __repr__(self) -> str:
        return f"<Certificate of {counted(self.lines, 'line')}, {len(self.text)} bytes>"


def claim_text(end: float | Fraction) -> str:
    """The end of a claim, exactly."""
    return fraction_text(Fraction(end))
