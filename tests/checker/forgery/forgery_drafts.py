"""A certificate being forged, and what kinds of forgery share: where its numbers stand, how they are spelled, how it is a file."""

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from forgery_subjects import Certificate, Subject, claimed

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?|-?[0-9]+/[0-9]+")


@dataclass
class Draft:
    """A certificate being forged."""

    rng: random.Random
    subject: Subject
    lines: Certificate
    others: list[Subject]
    step: Fraction | None = (
        None  # how far evidence was moved, relatively: a claim as far off may look as if it were proved
    )
    claim: dict[str, Any] = field(default_factory=dict)  # ends that a kind aims at; they are false, or the mechanism is
    beside: bool = False  # whether it is a line behind what proves the ends that is false, which must stay

    @property
    def header(self) -> dict[str, Any]:
        """The first line."""
        found = self.lines[0]
        assert isinstance(found, dict)
        return found

    def state(self) -> tuple[Any, ...]:
        """What kinds change, to go back to."""
        return json.dumps(self.lines), self.step, dict(self.claim), self.beside

    def restore(self, state: tuple[Any, ...]) -> None:
        """Go back to what it was."""
        lines, self.step, claim, self.beside = state
        self.lines, self.claim = json.loads(lines), dict(claim)

    def small(self) -> Fraction:
        """A small number of any size."""
        return Fraction(self.rng.randint(1, 9), 10 ** self.rng.randint(1, self.rng.choice([4, 16, 45])))

    def pick(self, *tags: str) -> int | None:
        """The place of a line with one of these tags."""
        places = [at for at, line in enumerate(self.lines) if at and tag(line) in tags]
        return self.rng.choice(places) if places else None

    def law(self, length: int) -> list[str]:
        """Some law."""
        return [self.rng.choice(["1", "1", "0", "1e-9", str(self.rng.randint(1, 99))]) for _ in range(length)]

    @property
    def outputs(self) -> int:
        """How many outputs there are."""
        for line in self.lines[1:]:
            if tag(line) in ("joint", "law") and isinstance(line[-1], list):
                return len(line[-1])
        return 2

    @property
    def letters(self) -> int:
        """The letters of some record."""
        return self.rng.choice(self.subject.question.alphabets)


Kind = Callable[[Draft], bool | None]


def tag(line: Any) -> Any:
    """What a line is."""
    return line[0] if isinstance(line, list) and line and isinstance(line[0], str) else None


def clone(value: Any) -> Any:
    """A deep copy of a JSON value."""
    if isinstance(value, list):
        return [clone(item) for item in value]
    return {key: clone(item) for key, item in value.items()} if isinstance(value, dict) else value


def places(value: Any, want: Callable[[Any], bool]) -> Iterator[tuple[Any, Any]]:
    """Where in a JSON value something is: its container, and its index or key."""
    items = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for key, item in list(items):
        if want(item):
            yield value, key
        yield from places(item, want)


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number of the format."""
    return isinstance(value, str) and NUMBER.fullmatch(value) is not None


def value_of(text: str) -> Fraction | None:
    """The number that a text of the format means."""
    if not NUMBER.fullmatch(text) or len(text) > 400 or ("e" in text and abs(int(text.split("e")[1])) > 400):
        return None
    return None if re.search(r"/0+$", text) else Fraction(text)


def spelled(rng: random.Random, value: Fraction) -> str:
    """A number as a fraction or at many digits."""
    fraction = str(value)
    if len(fraction) <= 200 and rng.random() < 0.5:
        return fraction
    return claimed(value, "floor") if abs(value) < 10**60 else fraction[:300]


def evidence(draft: Draft) -> list[Any]:
    """What a kind that edits numbers looks at: one line more often than all."""
    roots = [*draft.lines[1:], *(draft.header[key] for key in ("mechanism", "curve", "terms") if draft.header.get(key))]
    if not roots:
        return []
    return [draft.rng.choice(roots)] if draft.rng.random() < 0.7 else roots


def spots(draft: Draft, want: Callable[[Any], bool]) -> list[tuple[Any, Any]]:
    """Places in the evidence."""
    return [spot for root in evidence(draft) for spot in places(root, want)]


def numbers_of(weights: Any, letters: int, inputs: int) -> list[list[Fraction]] | None:
    """Masses as numbers."""
    if (
        not isinstance(weights, list)
        or len(weights) != letters
        or not all(isinstance(ws, list) and len(ws) == inputs for ws in weights)
    ):
        return None
    found = [[value_of(w) if isinstance(w, str) else None for w in ws] for ws in weights]
    known = [[v for v in vs if v is not None] for vs in found]
    return known if all(len(vs) == inputs for vs in known) else None


# Certificates as files, and spelled as no honest program would.


def text_of(lines: Certificate) -> bytes:
    """A certificate as a file."""
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def odd_text(rng: random.Random, text: bytes, draft: Draft) -> bytes:
    """The same file, spelled as no honest program would."""
    lines = text.split(b"\n")
    at = rng.randrange(len(lines))
    honest = draft.subject.parents[0][0]
    ends = b'"lower":%s,"upper":%s,' % tuple(json.dumps(honest.get(key)).encode() for key in ("lower", "upper"))
    number = rng.choice(re.findall(rb'"[0-9][0-9.]*"', text) or [b'"0"'])
    changes: list[Callable[[], bytes]] = [
        lambda: text.replace(b"{", b"{" + ends, 1),
        lambda: text.replace(b"}\n", b"," + ends[:-1] + b"}\n", 1),
        lambda: b"\n".join([*lines[:at], b"", *lines[at:]]),
        lambda: b"\n".join(
            [
                *lines[:at],
                rng.choice([b" ", b"null", b"[]", b"{}", b"#", b'["record",0]', b"\xff", b"\x00"]),
                *lines[at:],
            ]
        ),
        lambda: text.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\x0b", b"\x85", b"\xe2\x80\xa8"])),
        lambda: b"\xef\xbb\xbf" + text,
        lambda: text.replace(number, number.strip(b'"')),
        lambda: text.replace(
            number, rng.choice([b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-0", b"0.0", b"true"]), 1
        ),
        lambda: text.replace(number, b'"' + b"".join(b"\\u%04x" % c for c in number.strip(b'"')) + b'"'),
        lambda: text.replace(number, b'"' + number.strip(b'"').translate(bytes.maketrans(b"", b"")) + b'\\u0000"'),
        lambda: text.replace(number, b'"\\u066' + number[1:2] + b'"', 1),
        lambda: text + text,
        lambda: text.rstrip(b"\n"),
        lambda: text[: rng.randrange(len(text))],
        lambda: text.replace(b'["', b'[ "').replace(b",", b" ,\t"),
    ]
    return rng.choice(changes)()
