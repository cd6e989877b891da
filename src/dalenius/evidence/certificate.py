"""A certificate: evidence for an interval, as JSON lines that `dalenius_check` proves (docs/certificate-format.md)."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, Self, Union, get_args, get_origin

from dalenius.errors import InputError, brief, counted
from dalenius.evidence.ends import Pair, double_above, double_below
from dalenius.evidence.lower import How, Index, LowerLine, Matrix, Vector
from dalenius.evidence.upper import (
    AdversaryLine,
    CellSection,
    EnvelopeLine,
    Line,
    MeanLine,
    OpenLine,
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


Read = Any  # what a line of JSON may hold: texts, whole numbers, null, and lists of them


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
    kind, shapes = _KINDS.get((word, len(entries)), (None, ())) if isinstance(word, str) else (None, ())
    values = _frozen(entries)
    if kind is None or not _is_each(shapes, values):
        raise InputError(f"not a line of a certificate: {brief(text)} (docs/certificate-format.md)")
    make: Callable[..., Line] = kind
    return make(*values)


def _frozen(value: Read) -> Read:
    return tuple(_frozen(entry) for entry in value) if isinstance(value, list) else value


@cache
def _fits(kind: Any) -> Callable[[Read], bool]:
    """Return the test for a type: a whole number of at least 0, a text, null, a tuple of such, one of several of them."""
    parts = get_args(kind)
    if kind is int:
        return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if get_origin(kind) is Literal:
        return lambda value: value in parts
    if kind == How:  # which is in itself
        return _is_how
    if get_origin(kind) is not tuple:
        return (lambda value: isinstance(value, kind)) if not parts else partial(_is_one_of, tuple(map(_fits, parts)))
    if parts[-1] is not Ellipsis:
        return partial(_is_each, tuple(map(_fits, parts)))
    member = _fits(parts[0])
    return lambda value: isinstance(value, tuple) and all(map(member, value))


def _is_one_of(ways: tuple[Callable[[Read], bool], ...], value: Read) -> bool:
    return any(fits(value) for fits in ways)


def _is_each(members: tuple[Callable[[Read], bool], ...], value: Read) -> bool:
    if not isinstance(value, tuple) or len(value) != len(members):
        return False
    return all(fits(entry) for fits, entry in zip(members, value, strict=True))


def _is_how(value: Read) -> bool:
    if value is None or not isinstance(value, tuple):
        return value is None
    return all(_fits(Index)(member) or (member is not None and _is_how(member)) for member in value)


def _shapes(kind: type[Line]) -> tuple[Callable[[Read], bool], ...]:
    """Types of the entries of a line, as the class spells them."""
    names = vars(sys.modules[kind.__module__])
    return tuple(_fits(Union[tuple(map(names.get, str(field.type).split(" | ")))]) for field in fields(kind))  # noqa: UP007


_KINDS = {(kind.word, len(fields(kind))): (kind, _shapes(kind)) for kind in get_args(Line)}


FORMAT = "dalenius-certificate/2"
OBJECTIVE = "objective"  # the unit of a design with one
ENDINGS = (".cert", ".cert.gz")  # of the names of files: as text, or compressed

Claim = tuple[Fraction, Fraction]
Pairs = tuple[Pair, ...]
Sections = dict[int, tuple[ProofLine, ...]]


@dataclass(frozen=True)
class CurveClaim:
    """With L(b) the leakage to adversaries of entropy at least b nats: L(b) <= max_j c_j - m_j b, and L(b) >= low for b <= entropy.

    Attributes
    ----------
    above : tuple of pairs
        (c, m) of each line, as numbers are written.
    below : tuple of pairs
        (entropy, low): an entropy bound in the normal form of `entropy_at_least`, and nats.
    """

    above: Pairs
    below: Pairs = ()

    def encode(self) -> dict[str, Pairs]:
        """As the header has it."""
        return {"above": self.above, "below": self.below}

    @classmethod
    def decode(cls, value: Any) -> Self:
        """Read a header; `InputError` if it is something else.

        >>> CurveClaim.decode({"above": [["0.5", "0.1"]], "below": [["4/5 max", "0.2"]]}).above
        (('0.5', '0.1'),)
        """
        must = "curve must hold two lists of pairs of texts, above and below"
        there = isinstance(value, dict) and value.keys() == {"above", "below"} and value["above"]
        above, below = _told(tuple[Pairs, Pairs], [value["above"], value["below"]] if there else None, must)
        return cls(above, below)


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
    def shares(self) -> list[list[Fraction]]:
        """The rows of the mechanism, each weight divided by their exact sum; none where there is no mechanism.

        >>> Header("min_leakage", "", "0", "1", mechanism=(("3", "1"),)).shares
        [[Fraction(3, 4), Fraction(1, 4)]]
        """
        rows = ([as_fraction(weight, "certificate: mechanism") for weight in row] for row in self.mechanism or ())
        return [[weight / total for weight in row] for row in rows for total in [sum(row) or 1]]

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
        if self.problem not in ("maximal_leakage", "secret_leakage"):  # a design's
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
        """Read the first line of a file; `InputError` if it is no object with a model and an interval."""
        try:
            header = json.loads(text)
        except (ValueError, RecursionError):
            header = None
        if not isinstance(header, dict) or not {"model", "lower", "upper"} <= header.keys():
            raise InputError(
                "not a certificate: expected a first line with the keys model, lower and upper (docs/certificate-format.md)"
            )
        must = "problem, model, lower, upper, unit and producer must be texts"
        texts = {name: _told(str, header.get(name, ""), must) for name in ("problem", "model", "unit", "producer")}
        ends = {name: _told(str | None, header[name], must) for name in ("lower", "upper")}
        must, resolved = "the rows of a mechanism must be lists of texts", header.get("resolved")
        if isinstance(resolved, dict):
            resolved = str(resolved.get("inputs")), _told(Matrix | None, resolved.get("rows"), must) or ()
        else:
            resolved = None
        return cls(
            **texts,
            **ends,
            mechanism=_told(Matrix | None, header.get("mechanism"), must),
            terms=_told(Vector | None, header.get("terms"), must),
            resolved=resolved,
            curve=CurveClaim.decode(header["curve"]) if "curve" in header else None,
        )


def _told(kind: Any, value: Read, what: str) -> Any:
    """Fields of the first line, lists as tuples; `InputError` if it is of another type."""
    found = _frozen(value)
    if not _fits(kind)(found):
        raise InputError(f"not a certificate: {what} (docs/certificate-format.md)")
    return found


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
                AdversaryLine
                | TermSection
                | PieceSection
                | PotentialLine
                | EnvelopeLine
                | CellSection
                | SecretSection
                | MeanLine,
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


ALONE = '["row",', '["joint","0",'  # how leaves of one line begin, which take long
PARTED, PASSED = ('["cut",', '["split",', '["orbit'), ('["group",', '["chamber",')  # what has two parts, and one
LITTLE = 1 << 16  # bytes of leaves that nobody else is called for


def drafts(lines: Sequence[str], known: set[int], count: int) -> Iterator[str]:
    """Drafts of a proof, so many at most, with a share each of those leaves of one line whose hashes are not known, but then are."""
    new = [n for n, line in enumerate(lines) if line.startswith(ALONE) and hash(line) not in known]
    if sum(len(lines[n]) for n in new) <= LITTLE:
        return
    known.update(hash(lines[n]) for n in new)
    none, size = encode(OpenLine()), -(-len(new) // count)
    for first in range(0, len(new), size):
        own, kept = set(new[first : first + size]), list[str]()
        for n, line in reversed(list(enumerate(lines))):
            both = line.startswith(PARTED) and kept[-2:] == [none, none]
            if both or (line.startswith(PASSED) and kept[-1:] == [none]):
                del kept[len(kept) - both :]  # nothing is there below it
            else:
                kept.append(none if line.startswith(ALONE) and n not in own else line)
        yield "".join(f"{line}\n" for line in reversed(kept))


def certificate_beside(path: Path) -> Path | None:
    """The file of the certificate beside a model or a mechanism, which has its name; None if there is none."""
    return next((place for ending in ENDINGS if (place := path.with_suffix(ending)).exists()), None)


def claim_text(end: float | Fraction) -> str:
    """The end of a claim, exactly."""
    return fraction_text(Fraction(end))
