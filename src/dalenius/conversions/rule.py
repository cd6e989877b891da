"""A rule: from a guarantee in one notion to one in another, with the theorem that says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction

from flint import arb

from dalenius.conversions.notions import NOTIONS, Notion
from dalenius.conversions.numbers import Epsilon
from dalenius.errors import InputError
from dalenius.exact import Integer, Number, as_fraction, as_integer, fraction_text
from dalenius.information.balls import ball

# What is known besides a guarantee: about the prior, the sizes of alphabets, the number of records and releases.


MOST_RELEASES = 10_000
MEANINGS = {
    "p_min": "every value of the secret has at least this probability",
    "p_max": "no value of the secret has more than this probability",
    "letters": "the secret has at most so many values",
    "outputs": "the release has at most so many values",
    "records": "a dataset has so many records",
    "independent": "the records are independent under the prior",
    "attribute_max": "no value of the attribute has more than this probability before the release",
    "prior_ratio": "(min r/p)/(max r/p) for the prior r of the adversary and the prior p of the guarantee",
    "releases": "so many releases of the same secret, each with the guarantee",
}


@dataclass(frozen=True)
class Facts:
    """Facts that rules may need; what is None is not known.

    Parameters
    ----------
    p_min, p_max : Fraction, optional
        Bounds of the probabilities of the secret's values.
    letters, outputs, records : int, optional
    independent : bool
        Whether the records are independent under the prior.
    attribute_max : Fraction, optional
        The largest probability of a value of the attribute that is to be guessed.
    prior_ratio : Fraction, optional
    releases : int
    """

    p_min: Fraction | None = None
    p_max: Fraction | None = None
    letters: int | None = None
    outputs: int | None = None
    records: int | None = None
    independent: bool = False
    attribute_max: Fraction | None = None
    prior_ratio: Fraction | None = None
    releases: int = 1

    @classmethod
    def of(
        cls,
        *,
        p_min: Number | None = None,
        p_max: Number | None = None,
        letters: Integer | None = None,
        outputs: Integer | None = None,
        records: Integer | None = None,
        independent: bool = False,
        attribute_max: Number | None = None,
        prior_ratio: Number | None = None,
        releases: Integer = 1,
    ) -> Facts:
        """Facts as people write them, and what follows from them: a least probability bounds the number of letters.

        Raises
        ------
        InputError
            If a number cannot be read, is out of range, or two contradict each other.

        >>> Facts.of(p_min="0.3").letters
        3
        """
        least, most = _share(p_min, "p_min"), _share(p_max, "p_max")
        size = None if letters is None else as_integer(letters, "letters", at_least=2)
        if least is not None:
            if least > Fraction(1, 2) or (size is not None and least * size > 1):
                raise InputError(
                    f"p_min: {size or 2} values cannot each have probability {fraction_text(least)}; expected at most 1/{size or 2}"
                )
            size = size or int(1 / least)
            most = min(most or Fraction(1), 1 - least)
        if most is not None and (most < (least or 0) or (size is not None and most * size < 1)):
            raise InputError(
                f"p_max: {fraction_text(most)} is too small for {size} values that are at least as probable as p_min"
            )
        return cls(
            p_min=least,
            p_max=most,
            letters=size,
            outputs=None if outputs is None else as_integer(outputs, "outputs", at_least=1),
            records=None if records is None else as_integer(records, "records", at_least=1),
            independent=independent,
            attribute_max=_share(attribute_max, "attribute_max"),
            prior_ratio=_share(prior_ratio, "prior_ratio"),
            releases=as_integer(releases, "releases", at_least=1, at_most=MOST_RELEASES),
        )

    def known(self) -> frozenset[str]:
        """The names of what is known.

        >>> sorted(Facts.of(p_min=0.5).known())
        ['letters', 'p_max', 'p_min']
        """
        given = (field.name for field in fields(self))
        return frozenset(name for name in given if getattr(self, name) not in (None, False) and name != "releases")


def _share(value: Number | None, what: str) -> Fraction | None:
    if value is None:
        return None
    share = as_fraction(value, what)
    if not 0 < share <= 1:
        raise InputError(f"{what}: expected a number above 0 and at most 1, got {fraction_text(share)}")
    return share


PUFFERFISH = "Nuradha, Goldfeld, Pufferfish privacy"
LMIP = "Ngo, Ostman, Graell i Amat, local mutual-information privacy"
SAEIDIAN = "Saeidian et al., inferential privacy"
FDIV = "Wang, Tay, f-divergences and probabilistic information privacy"
KOV = "Kairouz, Oh, Viswanath, the composition theorem"
DRV = "Dwork, Roth, the algorithmic foundations"
OURS = "ours"


@dataclass(frozen=True)
class Given:
    """What a rule starts from.

    Attributes
    ----------
    value : arb
        The number of the guarantee: leakages in nats.
    facts : Facts
    before, after : Epsilon, optional
        The epsilons of both notions, where they have one.
    """

    value: arb
    facts: Facts
    before: Epsilon | None = None
    after: Epsilon | None = None

    @property
    def epsilon_before(self) -> arb:
        """A ball around the epsilon of the guarantee."""
        assert self.before is not None
        return self.before.ball()

    @property
    def epsilon_after(self) -> arb:
        """A ball around the epsilon that is asked for."""
        assert self.after is not None
        return self.after.ball()

    def reaches(self, times: int = 1) -> bool:
        """Whether the epsilon that is asked for is certainly at least so many times that of the guarantee."""
        assert self.before is not None
        assert self.after is not None
        return self.after.at_least(self.before.times(times))

    @property
    def p_min(self) -> arb:
        """The least probability of a value of the secret."""
        assert self.facts.p_min is not None
        return ball(self.facts.p_min)

    @property
    def p_max(self) -> arb:
        """The largest probability of a value of the secret."""
        assert self.facts.p_max is not None
        return ball(self.facts.p_max)

    @property
    def letters(self) -> int:
        """How many values the secret has at most."""
        assert self.facts.letters is not None
        return self.facts.letters


Value = Callable[[Given], "arb | None"]
Condition = Callable[[Given], bool]


def same(given: Given) -> arb:
    """The number itself."""
    return given.value


def always(given: Given) -> bool:
    """Whatever is given."""
    return True


def any_alphabets(given: Given) -> bool:
    """Where no sizes of alphabets are known, and so no p_min either: for mechanisms with many letters and outputs."""
    return given.facts.letters is None and given.facts.outputs is None


def rare_values(given: Given) -> bool:
    """Where values of the secret may be as rare as one likes."""
    return given.facts.p_min is None


@dataclass(frozen=True)
class Rule:
    """A rule of the shelf.

    Attributes
    ----------
    name : str
        A short name; those of the catalogue's table are numbered CONV-1 to CONV-17.
    source, target : str
        Names of notions.
    formula : str
    theorem : str
        The paper, and where in it.
    value : callable
        The number of the guarantee that follows, monotone in the one that is given, as a ball; None where the conditions do not hold.
        What is certain is the end of the ball on the safe side.
    needs : tuple of str
        The facts without which the rule says nothing.
    conditions : str
    attained : str
        The mechanism with which no smaller number would be true; empty if the rule is one-sided.
    meets : callable
        Whether such a mechanism has this number and these facts; where not, the rule is not known to be attained.
    keeps : bool
        Whether a mechanism that attains the bound before it attains this one, too.
    ours : bool
        Whether the rule is sharper than what the papers say: left out with ``sharp=False``.
    releases : bool
        Whether it goes from one release to several.
    least : callable, optional
        A number that `value` never falls below, in less time: where it is no better than what is known, the search leaves `value` out.
    """

    name: str
    source: str
    target: str
    formula: str
    theorem: str
    value: Value
    needs: tuple[str, ...] = ()
    conditions: str = ""
    attained: str = ""
    meets: Condition = always
    keeps: bool = False
    ours: bool = False
    releases: bool = False
    least: Value | None = None

    @property
    def ends(self) -> tuple[Notion, Notion]:
        """Both notions."""
        return NOTIONS[self.source], NOTIONS[self.target]

    def between(self, source: str, target: str, value: Value | None = None) -> Rule:
        """The same rule between two other notions."""
        return replace(self, source=source, target=target, value=value or self.value)
