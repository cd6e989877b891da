"""Constraints on mechanisms: as a rule rows, linear inequalities or equations of their entries; constraints of one's own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

from dalenius.errors import InputError, brief, naming
from dalenius.exact import Integer, Number, as_fraction, as_integer, as_list
from dalenius.model.adversaries import Adversary
from dalenius.model.distortions import Distortion, ExpectedDistortion
from dalenius.model.fields import Exact, ExactOrNone, Given, declared, number
from dalenius.model.records import Records
from dalenius.model.shelf import Shelved, check_keys

MAX_ROWS, MAX_TERMS = 2**20, 2**22

Entry: TypeAlias = tuple[int, int]  # an input and an output
Term: TypeAlias = tuple[int, int, Fraction]  # an input, an output, and the factor of the mechanism's entry there
Terms: TypeAlias = tuple[Term, ...]
WrittenEntries: TypeAlias = Sequence[tuple[Integer, Integer]] | Sequence[Sequence[Any]]
WrittenTerms: TypeAlias = Sequence[tuple[Integer, Integer, Number]] | Sequence[Sequence[Any]]


@dataclass(frozen=True, eq=False)
class MechanismSpace:
    """The mechanisms that constraints are about: what their inputs and outputs stand for.

    Attributes
    ----------
    records : Records
    values : (inputs,)
        v(x), the query's value of every input.
    possible : tuple of int
        X, the inputs that some dataset has, ascending.
    law : (inputs,)
        p(x).
    outputs : int
    numbers : (outputs,) or None
        o_y, what the outputs stand for.
    costs : callable
        The exact matrix d(x,y) by inputs of a distortion on the query's values, as `ExpectedDistortion`.
    distortion : Distortion
        The model's own.
    """

    records: Records
    values: tuple[int, ...]
    possible: tuple[int, ...]
    law: tuple[Fraction, ...]
    outputs: int
    numbers: tuple[Fraction, ...] | None
    costs: Callable[[Distortion], ExpectedDistortion]
    distortion: Distortion

    @property
    def inputs(self) -> int:
        return len(self.values)

    def check_entry(self, x: int, y: int, what: str) -> None:
        """Raise `InputError` unless the mechanisms have this input and this output."""
        for index, size, noun in ((x, self.inputs, "input"), (y, self.outputs, "output")):
            if index >= size:
                raise InputError(f"{what}: there is no {noun} {index}; the mechanism's {noun}s are 0 to {size - 1}")

    def need_numbers(self, what: str) -> tuple[Fraction, ...]:
        """Numbers of the outputs; `InputError` where they have none."""
        if self.numbers is None:
            raise InputError(
                f"{what} is about outputs that stand for numbers, and those of a distortion matrix do not; give it outputs=[...], one "
                f"number for each of the {self.outputs} outputs"
            )
        return self.numbers

    def check_distortion(self, distortion: Distortion, what: str) -> None:
        """Raise `InputError` unless the distortion is about these values and has as many outputs as the model's own."""
        with naming(what):
            found = len(self.costs(distortion).whole[0])
        if found != self.outputs:
            raise InputError(f"{what}: its distortion has {found} outputs, the model's own has {self.outputs}")


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows sum_xy G(x,y) Q(x,y) <= h, or = h, with G = `terms` + e^epsilon `scaled`.

    Attributes
    ----------
    ends : (rows,)
        h, exactly.
    equal : bool
        Whether they are equations.
    terms, scaled : for every row its terms; one entry may come again
        A constraint without epsilon has no scaled ones.
    factor : (c-, c+)
        Rationals c- <= e^epsilon <= c+.
    """

    ends: tuple[Fraction, ...]
    equal: bool
    terms: tuple[Terms, ...]
    scaled: tuple[Terms, ...] = ()
    factor: tuple[Fraction, Fraction] = (Fraction(1), Fraction(1))

    def __len__(self) -> int:
        return len(self.ends)

    @cached_property
    def below(self) -> tuple[dict[Entry, Fraction], ...]:
        """G with c- in the place of e^epsilon: what a mechanism is shown to meet (c- asks for more, because entries are >= 0)."""
        return self._with(self.factor[0])

    @cached_property
    def above(self) -> tuple[dict[Entry, Fraction], ...]:
        """G with c+ in the place of e^epsilon: what bounds may use."""
        return self.below if self.factor[0] == self.factor[1] else self._with(self.factor[1])

    def _with(self, factor: Fraction) -> tuple[dict[Entry, Fraction], ...]:
        found = []
        for r, terms in enumerate(self.terms):
            row = dict[Entry, Fraction]()
            scaled = [(x, y, c * factor) for x, y, c in self.scaled[r]] if self.scaled else []
            for x, y, c in (*terms, *scaled):
                row[x, y] = row[x, y] + c if (x, y) in row else c
            found.append(row)
        return tuple(found)


class Constraint(Shelved):
    """A requirement on every mechanism of a design, besides its budget. Inputs and outputs are meant by index, from 0.

    Attributes
    ----------
    per : str
        What a unit of its right-hand sides is, in the unit of its price.
    """

    per: ClassVar[str] = "unit"
    room: ClassVar[str] = "constraints: {0.kind}"
    shelf: ClassVar[dict[str, type[Any]]] = {}

    @property
    def leaks_to(self) -> Adversary | None:
        """The adversary whom it is about."""
        return None

    @abstractmethod
    def check(self, space: MechanismSpace) -> None:
        """Raise `InputError` if the constraint does not fit these mechanisms."""


class Limit(Constraint):
    """A constraint with a number that is not to be passed."""

    at_most: Any

    @property
    def limit(self) -> tuple[Fraction, str]:
        """That number, and its unit: nats or bits, or none."""
        return self.at_most, ""


class RowConstraint(Constraint):
    """A constraint that is short for linear rows."""

    def check(self, space: MechanismSpace) -> None:
        self.check_parts(space)
        rows, terms = self.size(space)
        if rows > MAX_ROWS or terms > MAX_TERMS:
            raise InputError(
                f"constraints: {self.kind} makes {rows} rows of {terms} terms here; at most {MAX_ROWS} and {MAX_TERMS} can be handled"
            )

    def check_parts(self, space: MechanismSpace) -> None:
        """Raise `InputError` if something in it does not fit these mechanisms; by default everything does."""

    @abstractmethod
    def size(self, space: MechanismSpace) -> tuple[int, int]:
        """Number of rows, and of terms in all of them, without making any."""

    @abstractmethod
    def rows(self, space: MechanismSpace) -> Rows:
        """The rows, in the order of docs/model-format.md."""


# ---------------------------------------------------------------- parts that constraints are written with


def as_entry(value: Any, what: str) -> Entry:
    """An input and an output."""
    members = as_list(value, what)
    if len(members) != 2:
        raise InputError(f"{what}: expected [input, output], got {brief(value)}")
    return as_integer(members[0], what, at_least=0), as_integer(members[1], what, at_least=0)


def as_terms(value: WrittenTerms, what: str) -> Terms:
    """Terms [input, output, factor].

    >>> as_terms([[0, 1, 0.5]], "terms")
    ((0, 1, Fraction(1, 2)),)
    """
    found = []
    for j, term in enumerate(as_list(value, what)):
        members, where = as_list(term, f"{what}[{j}]"), f"{what}[{j}]"
        if len(members) != 3:
            raise InputError(f"{where}: expected [input, output, factor], got {brief(term)}")
        found.append((*as_entry(members[:2], where), as_fraction(members[2], where)))
    return tuple(found)


@declared
class Linear(RowConstraint):
    """sum of c Q(x,y) over the terms [x, y, c] is at most, or equals, a number.

    Parameters
    ----------
    terms : list of (input, output, factor)
        At least one; factors are exact and of any sign. Where an entry comes again its factors are added.
    at_most, equals : number
        One of them: the right-hand side.

    Raises
    ------
    InputError
        If there is no term, a number cannot be read, or not exactly one of `at_most` and `equals` is given; a design raises it
        where it has no such input or output.

    Of three values the first is to be told from the second at least as often as the third is from it:

    >>> Linear([(1, 0, 1), (1, 2, -1)], at_most=0).terms[1]
    (1, 2, Fraction(-1, 1))
    """

    kind: ClassVar[str] = "linear"
    terms: Given[WrittenTerms, Terms] = Given(as_terms)
    at_most: ExactOrNone = Given(number(), default=None)
    equals: ExactOrNone = Given(number(), default=None)

    def __post_init__(self) -> None:
        what = f"constraints: {self.kind}"
        if not self.terms:
            raise InputError(f"{what}: expected at least one term [input, output, factor], got none")
        if (self.at_most is None) == (self.equals is None):
            got = "neither" if self.at_most is None else "both"
            raise InputError(f"{what}: expected one of at_most and equals, got {got}")

    def check_parts(self, space: MechanismSpace) -> None:
        for x, y, _ in self.terms:
            space.check_entry(x, y, f"constraints: {self.kind}: terms")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        return 1, len(self.terms)

    def rows(self, space: MechanismSpace) -> Rows:
        end = self.equals if self.at_most is None else self.at_most
        assert isinstance(end, Fraction)
        return Rows((end,), self.at_most is None, (self.terms,))


@declared
class Affine:
    """F Q + f: the sum of c Q(x,y) over terms [x, y, c], and a constant.

    >>> Affine([(0, 1, 2)], constant=-1)
    Affine(terms=((0, 1, Fraction(2, 1)),), constant=Fraction(-1, 1))
    """

    room: ClassVar[str] = "constraints: cone"
    terms: Given[WrittenTerms, Terms] = Given(as_terms)
    constant: Exact = Given(number(), default=0)

    @property
    def summed(self) -> dict[Entry, Fraction]:
        """The factor of every entry, where one comes again the sum."""
        found = dict[Entry, Fraction]()
        for x, y, c in self.terms:
            found[x, y] = found.get((x, y), Fraction(0)) + c
        return found

    def to_model(self) -> dict[str, Any]:
        """The table of a model file."""
        return {"terms": self.terms, "constant": self.constant}

    normal_form = to_model


def _as_norm(value: Sequence[Affine], what: str) -> tuple[Affine, ...]:
    members = tuple(as_list(value, what))
    if not members or not all(isinstance(member, Affine) for member in members):
        raise InputError(f"{what}: expected a list of at least one Affine, got {brief(value)}")
    return members


def _norm_of_tables(value: Any, where: str) -> list[Affine]:
    members = []
    for k, member in enumerate(as_list(value, where)):
        if not isinstance(member, Mapping) or "terms" not in member:
            raise InputError(f"{where}[{k}]: expected a table with terms, and perhaps a constant; got {brief(member)}")
        check_keys(member, ("terms", "constant"), f"{where}[{k}]")
        members.append(Affine(**member))
    return members


@declared
class SecondOrderCone(Constraint):
    """The Euclidean norm of numbers F_k Q + f_k is at most F Q + f.

    Parameters
    ----------
    norm : list of Affine
        At least one.
    terms, constant : the bound F Q + f
        By default no terms, and 0.

    Raises
    ------
    InputError
        If `norm` is empty or a number cannot be read; a design raises it where it has no such input or output.

    The probabilities of two errors lie in a disc around (0, 0):

    >>> SecondOrderCone([Affine([(0, 1, 1)]), Affine([(1, 0, 1)])], constant=0.2).norm[1].terms
    ((1, 0, Fraction(1, 1)),)
    """

    kind: ClassVar[str] = "cone"
    norm: Given[Sequence[Affine], tuple[Affine, ...]] = Given(_as_norm, tables=_norm_of_tables)
    terms: Given[WrittenTerms, Terms] = Given(as_terms, default=())
    constant: Exact = Given(number(), default=0)

    @property
    def bound(self) -> Affine:
        """F Q + f."""
        return Affine(self.terms, self.constant)

    def check(self, space: MechanismSpace) -> None:
        for x, y, _ in (*self.terms, *(term for member in self.norm for term in member.terms)):
            space.check_entry(x, y, f"constraints: {self.kind}: terms")
