"""A certificate being forged, and what kinds of forgery share: where its numbers stand, and how they are spelled."""

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

    @property
    def header(self) -> dict[str, Any]:
        """The first line."""
        found = self.lines[0]
        assert isinstance(found, dict)
        return found

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
    roots = [*draft.lines[1:], draft.header["mechanism"]] if draft.header.get("mechanism") else draft.lines[1:]
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
