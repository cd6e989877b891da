"""Information privacy about a secret, on the data and locally: ratios of its output laws stay within e^epsilon."""

from __future__ import annotations

from typing import ClassVar

from dalenius.errors import InputError
from dalenius.exact import Number, as_integer, as_list
from dalenius.exact import Rows as WrittenRows
from dalenius.model.constraints.base import Entry, MechanismSpace, RowConstraint, Rows, Terms, WrittenEntries, as_entry
from dalenius.model.constraints.secret import (
    JointLaw,
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
from dalenius.model.epsilons import normal_epsilon
from dalenius.model.fields import Exact, Given, declared, flag, keep, number
from dalenius.model.privacy import LocalDP, as_priors


@declared
class SecretRatios(RowConstraint):
    """What both kinds share: an epsilon, and a secret."""

    epsilon: Private = Given(as_private, normal=normal_epsilon)
    secret: SecretOrNone = Given(as_secret, default=None)
    priors: PriorsOrNone = Given(as_priors, default=None)

    def __post_init__(self) -> None:
        if self.secret is not None and self.priors is not None:
            raise InputError(f"constraints: {self.kind}: expected secret or priors, got both")

    def check_parts(self, space: MechanismSpace) -> None:
        check_secret(self.secret, self.priors, space, f"constraints: {self.kind}")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        laws = laws_of(self.secret, self.priors, space)
        rows = [2 * len(law.letters) * space.outputs for law in laws]
        return sum(rows), sum(2 * len(law.support) * count for law, count in zip(laws, rows, strict=True))

    @property
    def about_the_law(self) -> bool:
        """Whether the secret is the input itself, under the model's own law."""
        return self.secret is None and self.priors is None

    def laws(self, space: MechanismSpace) -> list[JointLaw]:
        """The laws that it is about."""
        return laws_of(self.secret, self.priors, space)


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
    """How many letters and outputs there are, at least one of each."""
    return as_integer(letters, f"{what}: letters", at_least=1), as_integer(outputs, f"{what}: outputs", at_least=1)


class LocalInformationPrivacy(SecretRatios):
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

    def rows(self, space: MechanismSpace) -> Rows:
        pairs = []
        for law in self.laws(space):
            for s in law.letters:
                given = law.given(s)
                for y in range(space.outputs):
                    pairs += [(given, law.support, y), (law.support, given, y)]
        return ratio_rows(pairs, self.epsilon)
