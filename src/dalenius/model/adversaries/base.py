"""What an adversary is: the set of priors on datasets that it may hold."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError, brief
from dalenius.exact import Numbers, as_law
from dalenius.information.balls import rational
from dalenius.information.measures import AllPriors, ChiSquareBall, KLBall, PriorBall, PriorClass
from dalenius.information.measures.numbers import rationals
from dalenius.model.fields import Exact, Given, declared, number
from dalenius.model.records import Records
from dalenius.model.shelf import Shelved


class Adversary(Shelved):
    """A set of priors on datasets; the leakage is the largest over them."""

    room: ClassVar[str] = "adversary"
    audit: ClassVar[
        str
    ]  # which one answers, where nothing else about the question asks for another one; its kind, unless said

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls) and not hasattr(cls, "audit"):
            cls.audit = cls.kind

    @property
    def unlimited(self) -> bool:
        """Whether every prior is in the set."""
        return False

    @property
    def record_laws(self) -> PriorClass | None:
        """The laws that a record may have, where the others are independent of it and any; None where the set is no such one."""
        return None

    @property
    def listed(self) -> tuple[tuple[Fraction, ...], ...]:
        """The priors, where they are listed: each has weights in lexicographic order of the datasets; none of another set."""
        return ()

    def laws(self, records: Records) -> PriorClass:
        """The laws that datasets may have, in exact numbers, for few datasets; all, where those of the set are no class."""
        return AllPriors()

    @abstractmethod
    def check(self, records: Records) -> None:
        """Raise `InputError` if the set does not fit these records."""

    def check_design(self, records: Records) -> None:
        """The same, where a mechanism is to be designed against it; `InputError` where no design knows it, too."""
        self.check(records)

    def check_further(self, records: Records) -> None:
        """The same, where it is named by a limit or a term of a design, besides the design's own adversary."""
        self.check_design(records)

    def in_words(self) -> str:
        """Who this is, as the end of the sentence "the leakage to any adversary ..."."""
        return f"in the set {self.kind}"


class LawClass(Adversary):
    """Every prior under which the records are independent and the one that is asked about has a law of a closed convex class.

    Of one record these are the laws of the class. I(X_i; Y) is concave in that law and convex in the laws of the others, so that the
    worst others are known, and what is left is one concave maximisation for each selection of rows (docs/theory.md).
    """

    audit: ClassVar[str] = "law_class"

    @property
    def record_laws(self) -> PriorClass:
        return self.priors

    def laws(self, records: Records) -> PriorClass:
        return self.priors

    @property
    @abstractmethod
    def letters(self) -> int | None:
        """How many letters its laws have; None for any number."""

    @property
    @abstractmethod
    def priors(self) -> PriorClass:
        """The same class in exact numbers (`fmpq`), as `dalenius.information.measures` has it."""

    def fits(self, letters: int) -> bool:
        """Whether it has laws on so many letters."""
        return self.letters in (None, letters)

    def check(self, records: Records) -> None:
        if self.letters is not None and any(size != self.letters for size, _ in records.runs):
            raise InputError(
                f"adversary: {self.kind} has laws on {self.letters} letters, and every record needs as many; got the alphabets "
                f"{brief(list(records.alphabets))}"
            )

    def in_words(self) -> str:
        return f"who holds any law of {self._words} for the record, the others being independent of it"

    def of_dataset_in_words(self) -> str:
        """The same where its laws are those of the whole dataset."""
        return f"who holds any law of {self._words} for the dataset"

    _words: ClassVar[str] = "a class"


@declared
class BallPriors(LawClass):
    """Laws near one, the center."""

    center: Given[Numbers, tuple[Fraction, ...]] = Given(as_law)
    radius: Exact = Given(number(at_least=0))
    ball: ClassVar[type[PriorBall | KLBall | ChiSquareBall]]

    @property
    def letters(self) -> int:
        return len(self.center)

    @cached_property
    def priors(self) -> PriorClass:
        return self.ball(divided(self.center), rational(self.radius))


def divided(law: Sequence[Fraction]) -> NDArray[Any]:
    """A law, divided by its exact sum.

    >>> divided([Fraction(1), Fraction(3)]).tolist()
    [1/4, 3/4]
    """
    weights = rationals(law)
    return np.asarray(weights / weights.sum())
