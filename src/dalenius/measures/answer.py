"""Answers of `measure`: named intervals, each with its units and a line that says what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import fmpq

from cvxcertify.intervals import interval_text
from dalenius._prove import Proved, prove
from dalenius.errors import InputError, hint
from dalenius.evidence import Certificate, Lower, Upper
from dalenius.evidence.lower import DualLine
from dalenius.exact import WRITABLE_BITS, fraction_text
from dalenius.information import measures as formulas
from dalenius.information.balls import fraction
from dalenius.information.measures.numbers import Numbers, largest
from dalenius.model import MinDistortion, Records
from dalenius.model.distortions import DistortionMatrix
from dalenius.model.privacy import LocalDP, PointwiseMaximalLeakage, Privacy
from dalenius.model.queries import Identity
from dalenius.notebook import aligned, grid, in_brief
from dalenius.results import possible_text
from dalenius.units import UNITS, is_at_least_log

# Claims of privacy that the independent checker proves: a rational mechanism is locally differentially private, or leaks so little.
#
# A claim is a design model whose every mechanism costs nothing, under the notion: its certificate carries the mechanism, and the
# checker proves, in rationals, that this one is private. Whoever gets both files needs nothing of this package to see that.


CLAIMED = ("local_dp", "pointwise_maximal_leakage")
SHORT = 1000  # bits of a rational that is claimed as it is
ROUNDED = 2**100  # the denominator of one that is rounded upward

Rows = Sequence[Sequence[Fraction]]


@dataclass(frozen=True)
class PrivacyClaim:
    """A claim about a mechanism that the checker has proved.

    Attributes
    ----------
    problem : MinDistortion
        Least distortion under the notion, with a distortion that is 0 everywhere.
    certificate : Certificate
        It carries the mechanism. `dalenius.verify(problem, certificate)` checks it again.
    """

    __repr__ = in_brief

    problem: MinDistortion
    certificate: Certificate

    @property
    def epsilon(self) -> str:
        """The epsilon that is proved, as the model has it: ``"log 7"``."""
        assert self.problem.privacy is not None
        return str(self.problem.privacy.epsilon)


def claim(name: str, channel: Numbers, priors: Sequence[Numbers]) -> PrivacyClaim | None:
    """The claim of a measure of `CLAIMED`, proved; None where the measure is infinite.

    Parameters
    ----------
    channel, priors : arrays of rationals
        A channel, and one prior or several.

    Raises
    ------
    InputError
        If an entry cannot be written.
    DaleniusError
        If the checker does not prove it: the mechanism is beyond its limits.
    """
    if name == "local_dp":
        ratio = formulas.exp_local_dp(channel).item()
    else:
        ratio = max(largest(formulas.exp_pointwise_maximal_leakage(channel, prior)).item() for prior in priors)
    if not isinstance(ratio, fmpq):
        return None
    epsilon, rows = f"log {fraction_text(_rounded(fraction(ratio)))}", [[fraction(x) for x in row] for row in channel]
    if max(_bits(entry) for row in rows for entry in row) > WRITABLE_BITS:
        raise InputError(
            "claims: an entry of the matrix is too long for a certificate; round the matrix, or leave the claims out"
        )
    inputs, outputs = channel.shape
    notion: Privacy = LocalDP(epsilon)
    if name != "local_dp":
        notion = PointwiseMaximalLeakage(epsilon, [[fraction(x) for x in prior] for prior in priors])
    problem = MinDistortion(
        records=Records(1, alphabet=inputs),
        query=Identity(),
        distortion=DistortionMatrix([[0] * outputs] * inputs),
        privacy=notion,
        title=f"{name} of a mechanism that its certificate carries",
    )
    return PrivacyClaim(problem, prove(problem, _Given(rows)))


@dataclass(frozen=True)
class _Given:
    """A mechanism that was not searched for, as a proposer: its distortion is 0."""

    rows: Rows

    def run(self) -> None:
        """There is nothing to do."""

    def lowers(self) -> Iterator[Lower]:
        yield Lower(value=Fraction(0), lines=(DualLine(None),))

    def uppers(self) -> Iterator[Upper]:
        rows = tuple(tuple(fraction_text(entry) for entry in row) for row in self.rows)
        yield Upper(value=Fraction(0), lines=(), mechanism=rows)

    def result(self, proved: Proved[Lower, Upper]) -> Certificate:
        return proved.certificate


def _rounded(x: Fraction) -> Fraction:
    """x, or a shorter number above it."""
    if _bits(x) <= SHORT:
        return x
    return Fraction(-(-x.numerator * ROUNDED // x.denominator), ROUNDED)


def _bits(x: Fraction) -> int:
    return x.numerator.bit_length() + x.denominator.bit_length()


LOG_RATIOS = (  # are read as natural logarithms, as every epsilon is
    "local_dp",
    "local_information_privacy",
    "information_privacy",
    "differential_privacy",
    "free_lunch_privacy",
    "bayesian_dp",
    "renyi_dp",
    "local_renyi_dp",
    "pufferfish_privacy",
)
BELOW_LOG = (  # are at most the logarithm of the number of values of the secret
    "mutual_information",
    "conditional_mutual_information",
    "mutual_information_without_own_answer",
    "shannon_capacity",
    "maximal_leakage",
    "min_entropy_leakage",
)
PLACES = 6  # after the point, in the table
MOST_TEXT = 12  # characters of an exact value in the table


def stem(name: str) -> str:
    """The name of a measure without its arguments."""
    return name.partition("[")[0].partition("(")[0]


def units_of(name: str, units: str | None) -> str:
    """The units of a leakage; None is what people read: bits, but epsilons and ratios as natural logarithms.

    >>> units_of("mutual_information", None), units_of("local_dp", None), units_of("local_dp_epsilon(0.1)", None)
    ('bits', 'nats', 'nats')
    """
    if units is not None:
        return units
    return "nats" if stem(name) in LOG_RATIOS or stem(name).endswith("_epsilon") else "bits"


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

    __repr__ = in_brief

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

    def is_all(self, values: int | None) -> bool:
        """True if it says no more than how much there is to know about one of so many values."""
        known = values is not None and self.units in UNITS and stem(self.name) in BELOW_LOG
        return known and is_at_least_log(self.upper, self.units, values or 1)


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
    values : int or None
        How many values the record, the input or the secret has that most can be revealed about.
    """

    __repr__ = in_brief

    about: str
    rows: tuple[Measure, ...]
    refused: Mapping[str, str] = field(default_factory=dict)
    values: int | None = None

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
        return [(row.name, _value(row), row.units, self._what(row)) for row in self.rows]

    @property
    def heading(self) -> str:
        """Heading of the table: the subject, and how much there is to know about it, in the units of the rows."""
        units = next((row.units for row in self.rows if stem(row.name) in BELOW_LOG), None)
        if self.values is None or units is None:
            return self.about
        return f"{self.about}; {possible_text(self.values, units).removeprefix('of ')}"

    def _what(self, row: Measure) -> str:
        return f"all there is to know; {row.what}" if row.is_all(self.values) else row.what

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
        return grid(self.heading, ("measure", "value", "units", "what it is"), self.table())

    def __str__(self) -> str:
        table = aligned([("measure", "value", "units", "what it is"), *self.table()])
        return "\n".join([self.heading, "", table, *(["", *self.refusals()] if self.refused else [])])


def _value(row: Measure) -> str:
    """The value itself where it is rational and short, else its interval."""
    interval = interval_text(row.lower, row.upper, places=PLACES)
    if row.exact is None or len(row.exact) > MOST_TEXT:
        return interval
    return f"{row.exact} = {interval}" if row.exact.startswith("log") else row.exact
