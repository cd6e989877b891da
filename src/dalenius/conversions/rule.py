"""A rule: from a guarantee in one notion to one in another, with the theorem that says so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from flint import arb

from dalenius.conversions.epsilon import Epsilon
from dalenius.conversions.facts import Facts
from dalenius.conversions.notions import NOTIONS, Notion
from dalenius.information.balls import ball

__all__ = [
    "DRV",
    "FDIV",
    "KOV",
    "LMIP",
    "OURS",
    "PUFFERFISH",
    "SAEIDIAN",
    "Given",
    "Rule",
    "Value",
    "any_alphabets",
    "rare_values",
]

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
