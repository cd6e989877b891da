"""Privacy as constraints: ratios of entries, of averages, or of what a secret makes likely stay within e^epsilon, all or some."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, TypeAlias

from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_integer, as_list
from dalenius.exact import Rows as WrittenRows
from dalenius.model.constraints.base import (
    Entry,
    MechanismSpace,
    RowConstraint,
    Rows,
    Terms,
    WrittenEntries,
    as_entry,
)
from dalenius.model.constraints.secret import (
    AboutSecret,
    JointLaw,
    Priors,
    PriorsOrNone,
    Private,
    Secret,
    SecretOrNone,
    as_private,
    as_secret,
    check_secret,
    laws_of,
    ratio_rows,
)
from dalenius.model.fields import Exact, Given, declared, flag, keep, normal_epsilon, number
from dalenius.model.privacy import LocalDP, PointwiseMaximalLeakage, as_priors

ONE = Fraction(1)
Compared: TypeAlias = tuple[list[dict[int, Fraction]], dict[int, Fraction] | None]


class RatioLimit(RowConstraint):
    """f(y) <= e^epsilon g(y) for sums f, g of a column and every output y: what is compared with an average, or with each other."""

    epsilon: Private
    sides: ClassVar[int] = 2

    @abstractmethod
    def compared(self, space: MechanismSpace) -> Iterator[Compared]:
        """Sums of a column and their average, as factors of inputs; None where they are compared with each other.

        For each sum, or pair of them, there is a row for every output, and with two sides one for the other way round behind it.
        """

    def rows(self, space: MechanismSpace) -> Rows:
        pairs = []
        for sums, average in self.compared(space):
            for one, other in combinations(sums, 2) if average is None else ((each, average) for each in sums):
                for y in range(space.outputs):
                    pairs += [(one, other, y), (other, one, y)][: self.sides]
        return ratio_rows(pairs, self.epsilon)


class MaybeOfSecret(RatioLimit):
    """A privacy notion that may be about a secret; one about the inputs does not name it."""

    secret: SecretOrNone

    def normal_table(self) -> dict[str, Any]:
        table = super().normal_table()
        return table if self.secret is not None else {key: x for key, x in table.items() if key != "secret"}


def _as_pairs(value: WrittenEntries, what: str) -> tuple[tuple[int, int], ...]:
    pairs = list[tuple[int, int]]()
    for given in as_list(value, what):
        pair = [as_integer(x, what, at_least=0) for x in as_list(given, what)]
        if len(pair) != 2 or pair[0] == pair[1]:
            raise InputError(f"{what}: expected pairs of two different inputs, got {brief(given)}")
        pairs.append((pair[0], pair[1]))
    if not pairs:
        raise InputError(f"{what} must list at least one pair; leave it out for all pairs")
    return tuple(pairs)


@declared
class LocalDPBetween(MaybeOfSecret):
    """Q(x,y) <= e^epsilon Q(x',y) and Q(x',y) <= e^epsilon Q(x,y) for all outputs y and the listed pairs of inputs x, x'.

    With the query `Identity` and neighbours as pairs this is differential privacy; with all pairs `LocalDP`, which may stand in its
    place.

    Parameters
    ----------
    epsilon : number or str
        As of `LocalDP`: nats, or ``"1 bits"``, or ``"log 3"``, for which e^epsilon is exactly 3; at least 0.
    pairs : list of (input, input), optional
        At least one. Left out: all pairs of inputs that datasets have.
    secret : joint law P(s,x), or list of them, optional
        Then it is about the letters of a secret on a chain S - X - Y instead, all pairs of them: W(s,y) <= e^epsilon W(s',y).

    Raises
    ------
    InputError
        If epsilon cannot be read or is negative, there is no pair, or one is of an input with itself; a design raises it where it
        has no such input.

    >>> LocalDPBetween("log 3", pairs=[(0, 1), (1, 2)]).pairs
    ((0, 1), (1, 2))
    """

    kind: ClassVar[str] = "local_dp"
    epsilon: Private = Given(as_private, normal=normal_epsilon)
    pairs: Given[WrittenEntries | None, tuple[tuple[int, int], ...] | None] = Given(_as_pairs, default=None)
    secret: SecretOrNone = Given(as_secret, default=None)

    def __post_init__(self) -> None:
        if self.pairs is not None and self.secret is not None:
            raise InputError(f"constraints: {self.kind}: expected pairs of inputs or a secret, got both")

    def check_parts(self, space: MechanismSpace) -> None:
        check_secret(self.secret, None, space, f"constraints: {self.kind}")
        for pair in self.pairs or ():
            for x in pair:
                space.check_entry(x, 0, f"constraints: {self.kind}: pairs")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        if self.secret is not None:
            counts = [len(law.letters) * (len(law.letters) - 1) * space.outputs for law in self._laws(space)]
            terms = (2 * len(law.support) * k for law, k in zip(self._laws(space), counts, strict=True))
            return sum(counts), sum(terms)
        inputs = len(space.possible)
        pairs = inputs * (inputs - 1) // 2 if self.pairs is None else len(self.pairs)
        return 2 * pairs * space.outputs, 4 * pairs * space.outputs

    def _laws(self, space: MechanismSpace) -> list[JointLaw]:
        return laws_of(self.secret, None, space)

    def compared(self, space: MechanismSpace) -> Iterator[Compared]:
        if self.secret is not None:
            yield from (([law.given(s) for s in law.letters], None) for law in self._laws(space))
        elif self.pairs is None:
            yield [{x: ONE} for x in space.possible], None
        else:
            yield from (([{a: ONE}], {b: ONE}) for a, b in self.pairs)


def _as_priors(value: WrittenRows, what: str) -> Priors | None:
    return PointwiseMaximalLeakage(0, value).priors


@declared
class PointwiseLeakageLimit(MaybeOfSecret):
    """Q(x,y) <= e^epsilon sum_x' P(x') Q(x',y) for all outputs y, every prior P and all inputs x with P(x) > 0.

    Parameters
    ----------
    epsilon : number or str
        As of `PointwiseMaximalLeakage`, which may stand in its place; at least 0.
    priors : matrix of numbers, optional
        Laws on the mechanism's inputs; left out: the law of the inputs under the model's law of the data.
    secret : joint law P(s,x), or list of them, optional
        Then it is about a secret on a chain S - X - Y instead: W(s,y) <= e^epsilon r(y) for all its letters and all outputs.

    Raises
    ------
    InputError
        If epsilon cannot be read or is negative, or a prior is no law; a design raises it where one does not fit.

    >>> PointwiseLeakageLimit("log 2").epsilon
    'log 2'
    """

    kind: ClassVar[str] = "pointwise_maximal_leakage"
    epsilon: Private = Given(as_private, normal=normal_epsilon)
    priors: PriorsOrNone = Given(_as_priors, default=None)
    secret: SecretOrNone = Given(as_secret, default=None)
    sides: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.priors is not None and self.secret is not None:
            raise InputError(f"constraints: {self.kind}: expected priors or a secret, got both")

    @property
    def _notion(self) -> PointwiseMaximalLeakage:
        return PointwiseMaximalLeakage(self.epsilon, self.priors)

    def check_parts(self, space: MechanismSpace) -> None:
        self._notion.check(space.possible, space.inputs)
        check_secret(self.secret, None, space, f"constraints: {self.kind}")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        if self.secret is not None:
            laws = laws_of(self.secret, None, space)
            count = sum(len(law.letters) for law in laws) * space.outputs
            return count, sum(2 * len(law.support) * len(law.letters) for law in laws) * space.outputs
        supports = [len(reference.inputs) for reference in self._notion.references(space.possible, space.law)]
        rows = sum(supports) * space.outputs
        return rows, rows + sum(k * k for k in supports) * space.outputs

    def compared(self, space: MechanismSpace) -> Iterator[Compared]:
        if self.secret is not None:
            yield from (([law.given(s) for s in law.letters], law.support) for law in laws_of(self.secret, None, space))
            return
        for reference in self._notion.references(space.possible, space.law):
            assert reference.law is not None
            yield [{x: ONE} for x in reference.inputs], dict(zip(reference.inputs, reference.law, strict=True))


def as_limit(notion: object) -> RatioLimit | None:
    """The constraint that says the same as a privacy notion; None where there is none."""
    match notion:
        case LocalDP(epsilon=epsilon):
            return LocalDPBetween(epsilon)
        case PointwiseMaximalLeakage(epsilon=epsilon, priors=priors):
            return PointwiseLeakageLimit(epsilon, priors)
    return None


@declared
class SecretRatios(AboutSecret, RowConstraint):
    """Base of both kinds: an epsilon, and a secret."""

    epsilon: Private = Given(as_private, normal=normal_epsilon)
    secret: SecretOrNone = Given(as_secret, default=None)
    priors: PriorsOrNone = Given(as_priors, default=None)

    def check_parts(self, space: MechanismSpace) -> None:
        check_secret(self.secret, self.priors, space, f"constraints: {self.kind}")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        laws = self.laws(space)
        rows = [2 * len(law.letters) * space.outputs for law in laws]
        return sum(rows), sum(2 * len(law.support) * count for law, count in zip(laws, rows, strict=True))


MAX_SUBSETS = 12  # letters of a secret for whose sets outputs are copied


def _as_exempt(value: WrittenEntries, what: str) -> tuple[Entry, ...]:
    pairs = tuple(as_entry(pair, what) for pair in as_list(value, what))
    if not pairs or len(set(pairs)) != len(pairs):
        raise InputError(f"{what} must list at least one pair [letter, output], no two alike; leave it out for none")
    return pairs


@declared
class InformationPrivacy(SecretRatios):
    """The same, except for what has probability delta: P( |log W(S,Y)/r(Y)| > epsilon ) <= delta, or, if strong, that of any s.

    For delta > 0 the mechanisms that meet this are no convex set. What is met here is a convex part of it: the listed pairs of a
    letter and an output need not keep the ratio, and their probability is at most delta. A mechanism whose outputs have copies loses
    nothing by that: twice each output for the strong form, the copy exempt for all letters (`InformationPrivacy.flagged`, so that the
    release says when it is one of those); a copy for every set of exempt letters otherwise (`InformationPrivacy.subsets`).

    Parameters
    ----------
    epsilon : number or str
        At least 0.
    delta : number
        From 0 to 1.
    strong : bool
    exempt : list of (letter, output), optional
        Left out: none, so that delta plays no part.
    secret, priors : optional
        As of `LocalInformationPrivacy`.

    Raises
    ------
    InputError
        As `LocalInformationPrivacy`; and if delta is none, pairs are alike, or name a letter or an output that there is not.

    Notes
    -----
    Source: Z. Wang, W. P. Tay, "Inference privacy by f-divergences"; copies of outputs: docs/limits.md. Neither form survives
    post-processing, merging outputs included (docs/errors-in-the-papers.md).

    >>> InformationPrivacy("log 2", 0.05, strong=True, exempt=[(0, 1), (1, 1)]).delta
    Fraction(1, 20)
    """

    kind: ClassVar[str] = "information_privacy"
    delta: Exact = Given(number(at_least=0, at_most=1), default=0)
    strong: Given[bool, bool] = Given(flag, default=False)
    exempt: Given[WrittenEntries | None, tuple[Entry, ...] | None] = Given(_as_exempt, default=None)

    def __init__(
        self,
        epsilon: Number,
        delta: Number = 0,
        strong: bool = False,
        exempt: WrittenEntries | None = None,
        secret: Secret | None = None,
        priors: WrittenRows | None = None,
    ) -> None:
        keep(self, epsilon=epsilon, secret=secret, priors=priors, delta=delta, strong=strong, exempt=exempt)
        self.__post_init__()

    def check_parts(self, space: MechanismSpace) -> None:
        super().check_parts(space)
        letters = min(len(law.pi) for law in self.laws(space))
        for s, y in self.exempt or ():
            if s >= letters or y >= space.outputs:
                raise InputError(
                    f"constraints: {self.kind}: exempt has letter {s} and output {y}; there are letters 0 to {letters - 1} and "
                    f"outputs 0 to {space.outputs - 1}"
                )

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        exempt, rows, terms = set(self.exempt or ()), 0, 0
        for law in self.laws(space):
            own = 2 * sum((s, y) not in exempt for s in law.letters for y in range(space.outputs))
            rows, terms = rows + own + bool(exempt), terms + len(law.support) * (2 * own + len(exempt))
        return rows, terms

    def rows(self, space: MechanismSpace) -> Rows:
        exempt, parts = set(self.exempt or ()), []
        for law in self.laws(space):
            pairs = []
            for s in law.letters:
                given = law.given(s)
                for y in range(space.outputs):
                    if (s, y) not in exempt:
                        pairs += [(given, law.support, y), (law.support, given, y)]
            rows = ratio_rows(pairs, self.epsilon)
            parts.append((rows.ends, rows.terms, rows.scaled))
            if exempt:
                parts.append(((self.delta,), (self._freed(law),), ((),)))
        ends, terms, scaled = (tuple(x for part in column for x in part) for column in zip(*parts, strict=True))
        return Rows(ends, False, terms, scaled, LocalDP(self.epsilon).factor())

    def _freed(self, law: JointLaw) -> Terms:
        """The probability of what is exempt: of the pairs, or of the outputs in them."""
        assert self.exempt is not None
        if self.strong:
            return tuple((x, y, p) for y in sorted({y for _, y in self.exempt}) for x, p in law.support.items())
        return tuple((x, y, p) for s, y in self.exempt for x, p in enumerate(law.masses[s]) if p)

    @staticmethod
    def flagged(letters: int, outputs: int) -> list[Entry]:
        """`exempt` for outputs 0 to 2 m - 1 of which m, m + 1, ... are flagged copies of 0, 1, ...: all letters at these.

        >>> InformationPrivacy.flagged(2, 1)
        [(0, 1), (1, 1)]
        """
        letters, outputs = _counts("flagged", letters, outputs)
        return [(s, outputs + y) for y in range(outputs) for s in range(letters)]

    @staticmethod
    def subsets(letters: int, outputs: int) -> list[Entry]:
        """`exempt` for m 2^letters outputs, copy k (from 0) of output y, at k m + y, exempt for the letters in the binary digits of k.

        >>> InformationPrivacy.subsets(2, 1)
        [(0, 1), (1, 2), (0, 3), (1, 3)]
        """
        letters, outputs = _counts("subsets", letters, outputs)
        if letters > MAX_SUBSETS:
            raise InputError(f"subsets: 2^{letters} copies of each output; there are at most {MAX_SUBSETS} letters")
        return [
            (s, k * outputs + y)
            for k in range(2**letters)
            for y in range(outputs)
            for s in range(letters)
            if k >> s & 1
        ]


def _counts(what: str, letters: object, outputs: object) -> tuple[int, int]:
    """Numbers of letters and outputs, at least one of each."""
    return as_integer(letters, f"{what}: letters", at_least=1), as_integer(outputs, f"{what}: outputs", at_least=1)


class LocalInformationPrivacy(RatioLimit, SecretRatios):
    """e^-epsilon r(y) <= W(s,y) <= e^epsilon r(y) for every letter s of the secret and every output y.

    W(s,.) is the output's law given the secret's letter s, and r its own; so no output changes the probability of any letter by more
    than a factor e^epsilon either way.

    Parameters
    ----------
    epsilon : number or str
        As of `LocalDP`: nats, or ``"1 bits"``, or ``"log 3"``; at least 0.
    secret : joint law P(s,x), or list of them, optional
        A row for each letter of the secret, a column for each of the mechanism's inputs, with sum 1. Every one of them must be met.
    priors : list of laws of the inputs, optional
        The secret is then the input itself. Left out, as `secret` is: it has the law of the inputs under the model's law of the data.

    Raises
    ------
    InputError
        If epsilon cannot be read or is negative, a law is none, or both are given; a design raises it where a law does not fit.

    Notes
    -----
    Source: Z. Wang, W. P. Tay, "Inference privacy by f-divergences" (the definition of information privacy with delta = 0).

    >>> LocalInformationPrivacy("log 2", secret=[[0.5, 0.25], [0, 0.25]]).epsilon
    'log 2'
    """

    kind: ClassVar[str] = "local_information_privacy"

    def compared(self, space: MechanismSpace) -> Iterator[Compared]:
        yield from (([law.given(s) for s in law.letters], law.support) for law in self.laws(space))
