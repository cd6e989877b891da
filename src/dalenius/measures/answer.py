"""What measuring answers: named intervals, each with its units and a line that says what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dalenius.errors import InputError, hint
from dalenius.intervals import interval_text
from dalenius.measures.claims import PrivacyClaim
from dalenius.notebook import grid

__all__ = ["Measure", "Measures"]

PLACES = 6  # after the point, in the table
MOST_TEXT = 12  # characters of an exact value in the table


@dataclass(frozen=True)
class Measure:
    """One measure: lower <= value <= upper.

    Attributes
    ----------
    name : str
        As the function of `dalenius.information.measures` that it is, with its arguments where it has any.
    lower, upper : float
        Rounded outward from exact numbers or from balls around them; both infinite where the measure is.
    units : str
        ``"nats"``, ``"bits"``, ``"probability"`` or ``"number"``.
    what : str
        What it means, in one line.
    exact : str or None
        The value itself, where it is rational, or the logarithm of a rational number, and can be written: ``"2/5"``, ``"log 7"``.
    claim : PrivacyClaim or None
        With `claims=True` the proof of the independent checker that it is at most this, where the measure is a notion of privacy.
    against : str
        The adversary, or the prior, that it holds for, in words.
    """

    name: str
    lower: float
    upper: float
    units: str
    what: str
    exact: str | None = None
    claim: PrivacyClaim | None = field(default=None, compare=False, repr=False)
    against: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.name} {interval_text(self.lower, self.upper)} {self.units}"


@dataclass(frozen=True)
class Measures:
    """All measures of one mechanism, in order; `measures["local_dp"]` is the one of this name.

    Attributes
    ----------
    about : str
        What was measured: whose secret, under which prior.
    rows : tuple of Measure
    refused : mapping of names to texts
        Measures that have no bound against the adversary: why, and what to do. Asking for one raises `InputError` with the text.
    """

    about: str
    rows: tuple[Measure, ...]
    refused: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Measure]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, name: str) -> Measure:
        for row in self.rows:
            if row.name == name:
                return row
        if name in self.refused:
            raise InputError(f"measures: {name} has {self.refused[name]}")
        names = [row.name for row in self.rows]
        raise InputError(f"measures: none is named {name!r}{hint(name, names)}; there are {', '.join(names)}")

    def __contains__(self, name: object) -> bool:
        return any(name in (row, row.name) for row in self.rows)

    def table(self) -> list[tuple[str, str, str, str]]:
        """Name, value, units and meaning of every row, as texts; six places after the point, rounded outward."""
        return [(row.name, _value(row), row.units, row.what) for row in self.rows]

    def refusals(self) -> list[str]:
        """A line for each reason, after the names of the measures that are refused for it.

        >>> import dalenius as dl
        >>> dl.measure([[0.9, 0.1], [0.1, 0.9]], prior=[0.2, 0.8]).refusals()
        []
        """
        names: dict[str, list[str]] = {}
        for name, reason in self.refused.items():
            names.setdefault(reason, []).append(name)
        return [f"{', '.join(each)}: {reason}" for reason, each in names.items()]

    def _repr_html_(self) -> str:
        """For notebooks."""
        return grid(self.about, ("measure", "value", "units", "what it is"), self.table())

    def __str__(self) -> str:
        cells = [("measure", "value", "units", "what it is"), *self.table()]
        wide = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(cell.ljust(size) for cell, size in zip(line, wide, strict=True)).rstrip() for line in cells]
        return "\n".join([self.about, "", *lines, *(["", *self.refusals()] if self.refused else [])])


def _value(row: Measure) -> str:
    """The value itself where it is rational and short, else its interval."""
    interval = interval_text(row.lower, row.upper, places=PLACES)
    if row.exact is None or len(row.exact) > MOST_TEXT:
        return interval
    return f"{row.exact} = {interval}" if row.exact.startswith("log") else row.exact
