"""`convert`: from a guarantee in one notion to one in another."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Unpack

from flint import arb, ctx

from dalenius.conversions.numbers import BITS, Epsilon
from dalenius.conversions.rule import (
    ALIASES,
    EPSILON,
    LEVEL,
    NOTIONS,
    About,
    Facts,
    Given,
    GivenFacts,
    Notion,
    notion_of,
)
from dalenius.conversions.search import Place, Taken, best_chain, is_better, why_not
from dalenius.errors import InputError, brief
from dalenius.exact import Number, as_bounded, as_fraction, fraction_text
from dalenius.information.balls import ball, exactly
from dalenius.intervals import text_above, text_below
from dalenius.measures.answer import units_of
from dalenius.measures.evaluation import Ends, doubles_around, in_bits
from dalenius.model.fields import LARGEST, epsilon_text
from dalenius.notebook import grid, in_brief
from dalenius.results import budget_text
from dalenius.units import UNITS, unit_size

# What converting answers: a number on the safe side, the rules that give it, and whether anything better is possible.


@dataclass(frozen=True)
class Step:
    """One rule of a chain.

    Attributes
    ----------
    rule, theorem, formula, conditions : str
    source, target : str
        Names, with the epsilon where the notion has one.
    value : float
        What follows, rounded to the safe side, in `units`.
    units : str
    attained : str
        The mechanism with which no smaller number would be true; empty if none is known.
    """

    rule: str
    theorem: str
    formula: str
    conditions: str
    source: str
    target: str
    value: float
    units: str
    attained: str

    def __str__(self) -> str:
        return f"{_said(self.target, _directed(self.target, self.value, self.units))}  [{self.rule}: {self.formula}]"


@dataclass(frozen=True)
class Conversion:
    """Answer of `convert`: a guarantee in another notion.

    Attributes
    ----------
    source : str
        The guarantee, as it was given: ``"local_dp: epsilon <= 1"``.
    target : str
        The notion that was asked for.
    value : float or None
        The number: an upper bound, or a lower one for notions of which more is more privacy; rounded to the safe side. None if nothing
        follows.
    units : str
        ``"nats"``, ``"bits"``, ``"probability"`` or ``"number"``.
    steps : tuple of Step
        The chain of rules; empty if `value` holds of every mechanism, or is None.
    better : str
        Whether anything better is possible, or why there is no rule.
    """

    __repr__ = in_brief

    source: str
    target: str
    value: float | None
    units: str
    steps: tuple[Step, ...]
    better: str

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions of all rules, without repetition."""
        return tuple(dict.fromkeys(step.conditions for step in self.steps if step.conditions))

    @property
    def amount(self) -> str:
        """The number with its direction and units, with six digits, rounded to the safe side."""
        return "nothing follows" if self.value is None else _directed(self.target, self.value, self.units)

    @property
    def said(self) -> str:
        """The notion and what is known of it.

        >>> convert("mutual_information", 1, to="local_dp").said, convert("local_dp", 1, to="local_dp").said
        ('local_dp: nothing follows', 'local_dp: epsilon <= 1')
        """
        return _said(self.target, self.amount)

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows = [
            (step.rule, step.target, _directed(step.target, step.value, step.units), step.theorem)
            for step in self.steps
        ]
        return grid(f"{self.source}: {self.said}", ("rule", "gives", "number", "theorem"), rows)

    def __str__(self) -> str:
        lines = [f"{self.source}  =>  {self.said}"]
        for step in self.steps:
            lines += [f"  {step}", f"    {step.theorem}"]
            lines += [f"    if {step.conditions}"] * bool(step.conditions)
        return "\n".join([*lines, f"  {self.better}"])


def _directed(target: str, value: float, units: str) -> str:
    notion = notion_of(target)
    text = text_below(value) if notion.at_least else text_above(value)
    return notion.bounded_by(f"{text} {units}" if units in UNITS else text)


def _said(name: str, directed: str) -> str:
    """A notion with what stands in parentheses, and what is known of it."""
    return f"{name}{'' if directed.startswith(('<', '>')) else ':'} {directed}"


# What holds of every mechanism, without a guarantee: limits by the sizes of alphabets and the least probability.


def holds_always(notion: str, facts: Facts) -> tuple[arb, str] | None:
    """A guarantee in this notion that every mechanism has, and why; None if there is none.

    >>> holds_always("local_dp", Facts()) is None, holds_always("total_variation", Facts())[1]
    (True, 'it is never more than 2')
    """
    size = min((x for x in (facts.letters, facts.outputs) if x is not None), default=None)
    if notion == "pointwise_maximal_leakage" and facts.p_min is not None:
        return -ball(facts.p_min).log(), "no posterior probability is above 1: log 1/p_min"
    if notion in ("mutual_information", "shannon_capacity", "maximal_leakage") and size is not None:
        return arb(size).log(), f"the logarithm of {size}, the smaller alphabet"
    if notion == "chi_square" and size is not None:
        return arb(size - 1), f"{size} - 1, of the smaller alphabet"
    if NOTIONS[notion].at_least:
        return arb(0), "it is never less than 0"
    most = NOTIONS[notion].most
    return None if most is None else (arb(most), f"it is never more than {most}")


MOST_NUMBER = 10**9  # of a distance that is given
AT_DELTA = re.compile(r"\s*(\w+)_epsilon\((.+)\)\s*")
DIGITS = 7  # of the least epsilon, which stands in the steps
NEXT = Fraction(1, 10**DIGITS)
FAR = 8  # an epsilon of more is divided by this first
NEAREST = arb(2) ** -1100  # to 0 that anything is told apart from it
MOST_SAID = 3  # guarantees that an answer repeats


def convert(
    notion: str | Mapping[str, Number],
    value: Number | None = None,
    to: str = "",
    *,
    sharp: bool = True,
    units: str = "nats",
    **facts: Unpack[GivenFacts],
) -> Conversion:
    """The best guarantee in the notion `to` that follows from ``notion <= value`` by the rules of the shelf.

    Parameters
    ----------
    notion, to : str
        Names as in `measure`, those with a delta with their epsilon: ``"local_dp"``, ``"local_dp_delta(0.5)"``; a Renyi divergence
        with its order, ``"renyi_dp(8)"``, a true positive rate with that of false positives, 0.01 or 1%
        (`dalenius.conversions.NOTIONS`). The most true positives less false ones, ``"attack_advantage"``, is ``"local_dp_delta(0)"``.
        ``"differential_privacy_epsilon(1e-5)"`` and the like are epsilons of this delta: as `to`, the least that follows.
        `notion` may be several guarantees of one mechanism, a number each, such as a curve: ``{"renyi_dp(2)": 0.1, ...}``.
    value : Number
        The guarantee: leakages in nats, ``"1 bits"`` or ``"log 3"``, others a number. It is taken exactly.
    p_min, p_max : Number, optional
        Every value of the secret has probability `p_min` at least, and `p_max` at most, under the prior (of the adversary, for
        ``posterior_min_entropy`` from ``local_dp``).
    letters, outputs, records : int, optional
        How many values the secret and the output have at most; how many records there are.
    independent : bool
        Whether the records are independent.
    group : int, optional
        How many records depend on each other at most, in groups that are independent.
    transition_ratio : Number, optional
        The largest transition probability over the least, where the records are a Markov chain.
    attribute_max : Number, optional
        The largest probability of a value of the attribute that is to be guessed.
    prior_ratio : Number, optional
        (min r/p)/(max r/p), where the adversary's prior is r instead of p.
    releases : int
        So many releases of the same secret, each with the guarantee.
    sharp : bool
        Whether rules of ours take part that are sharper than the papers'.
    units : {"nats", "bits"}
        Of leakages in the answer.

    Returns
    -------
    Conversion
        The number is evaluated in balls and rounded to the safe side; whether the rules are attained is said, not computed.

    Raises
    ------
    InputError
        If a notion is unknown, a number cannot be read or is out of range, or facts contradict each other.

    Notes
    -----
    Rules, theorems and conditions: docs/conversions.md.

    >>> import dalenius as dl
    >>> found = dl.convert("local_dp", 1, to="mutual_information")
    >>> print(found)
    local_dp: epsilon <= 1  =>  mutual_information <= 0.123302 nats
      shannon_capacity <= 0.123302 nats  [local-dp-information: c - 1 - log c, c = e/(1 - exp(-e))]
        ours; sharpens the first implication of Theorem 1 of Nuradha, Goldfeld, Pufferfish privacy four times where e is small
      mutual_information <= 0.123302 nats  [any-prior: mu]
        Ngo, Ostman, Graell i Amat, local mutual-information privacy, Definitions 2, 3
      nothing better is possible: attained by subset selection, in the limit of many letters
    >>> dl.convert("local_dp", 1, to="mutual_information", sharp=False).value
    0.5
    """
    given = notion if isinstance(notion, Mapping) else {notion: value}
    if (given is notion) == (value is not None):
        raise InputError("expected a notion with its number, or several as a mapping from notions to numbers")
    return convert_with(given, to=to, facts=Facts.of(**facts), sharp=sharp, units=units)


def convert_with(
    given: Mapping[str, Any],
    *,
    to: str,
    facts: Facts,
    sharp: bool = True,
    units: str | None = "nats",
    among: Collection[str] | None = None,
) -> Conversion:
    """As `convert`, with facts that were read before; units that are None are those that people read; `among` these rules alone."""
    unit_size(units or "nats")
    if asked := AT_DELTA.fullmatch(str(to)):
        return _least_epsilon(given, *asked.groups(), facts=facts, sharp=sharp, units=units)
    given = dict(_by_epsilon(notion, value) for notion, value in given.items())
    several = facts.releases > 1
    if not given:
        raise InputError("expected at least one guarantee")
    with ctx.workprec(BITS):
        places = [_place(notion, together=not several) for notion in given]
        read = [_amount(NOTIONS[at.notion], value) for at, value in zip(places, given.values(), strict=True)]
        end = _place(to, together=True)
        pairs = zip(places, read, strict=True)
        said = [_said(at.name, NOTIONS[at.notion].bounded_by(text)) for at, (_, text) in pairs]
        source = " and ".join(said if len(said) <= MOST_SAID else [said[0], f"{len(said) - 1} more"])
        source += f", {facts.releases} times" if several else ""
        amounts = {at: amount for at, (amount, _) in zip(places, read, strict=True)}
        found = best_chain(amounts, end, facts, sharp=sharp, among=among)
        limit, target = holds_always(end.notion, facts), NOTIONS[end.notion]
        shown, reason = _units(target, units), "" if found else _why_not(places, end, facts, sharp=sharp)
        if limit is not None and (found is None or not is_better(end.notion, found.value, limit[0])):
            follows = "no more follows by the rules here" if found else f"nothing follows: {reason}"
            why = f"so it is for every mechanism, {limit[1]}; from the guarantee {follows}"
            return Conversion(source, end.name, _rounded(target, limit[0], units), shown, (), why)
        if found is None:
            return Conversion(source, end.name, None, shown, (), f"no rule: {reason}")
        steps, value = tuple(_step(taken, units) for taken in found.chain), _rounded(target, found.value, units)
        return Conversion(source, end.name, value, shown, steps, _better(found.chain, amounts, facts))


def _by_epsilon(notion: str, value: Any) -> tuple[str, Any]:
    """A guarantee's name and number; of an epsilon with its delta, as the delta that it has there."""
    known = AT_DELTA.fullmatch(str(notion))
    return (notion, value) if known is None else (f"{known[1]}_delta({value})", known[2])


def _least_epsilon(given: Mapping[str, Any], name: str, delta: str, *, units: str | None, **asked: Any) -> Conversion:
    """The conversion to the least epsilon of which the delta, which does not rise with it, is at most this.

    It is sought by the rules of one chain, which costs little; then just below by all, whose chain is the next if they reach there.
    """
    most, shown = as_bounded(delta, f"{name}_epsilon", at_least=0, at_most=1), NOTIONS["local_dp"]

    def at(epsilon: Fraction, among: Collection[str] | None = None) -> Conversion:
        return convert_with(given, to=f"{name}_delta({fraction_text(epsilon)})", units=units, among=among, **asked)

    def keeps(found: Conversion) -> bool:
        return found.value is not None and found.value <= most

    enough, target, unit = Fraction(LARGEST), f"{name}_epsilon({delta})", _units(shown, units)
    lower = at(enough)
    if not keeps(lower):
        told = at(enough / 2)  # further out all rules say the same
        why = f"no epsilon up to {LARGEST} nats has this delta: {told.better}"
        return Conversion(told.source, target, None, unit, (), why)
    while keeps(lower):
        short, chain = -NEXT, {step.rule for step in lower.steps}
        while enough - short > NEXT:
            middle = round(enough / FAR if short < 0 and enough > FAR else (short + enough) / 2, DIGITS)
            short, enough = (short, middle) if keeps(at(middle, chain)) else (middle, enough)
        least = enough
        if not least:
            break
        enough -= NEXT
        lower = at(enough)
    return replace(at(least), target=target, value=_rounded(shown, ball(least), units), units=unit)


def _why_not(places: list[Place], end: Place, facts: Facts, *, sharp: bool) -> str:
    """Why none of the guarantees leads there, once for all that have one reason."""
    reasons = dict[str, list[str]]()
    for place in places:
        reasons.setdefault(why_not(place.notion, end.notion, facts, sharp=sharp), []).append(place.name)
    if len(reasons) == 1:
        return next(iter(reasons))
    return "; ".join(f"from {', '.join(names)}: {reason}" for reason, names in reasons.items())


def _place(written: str, *, together: bool) -> Place:
    """A notion's name, with its epsilon in parentheses where it has one."""
    if not isinstance(written, str):
        raise InputError(f"expected the name of a notion, such as 'local_dp', got {brief(written)}")
    name, bracket, rest = ALIASES.get(written.strip(), written.strip()).partition("(")
    notion = notion_of(name.strip())
    if bool(notion.parameter) != bool(bracket) or (bracket and not rest.endswith(")")):
        raise InputError(f"{notion.name}: expected {notion.example}, got {written!r}")
    return Place(notion.name, _parameter(notion, rest[:-1].strip()) if bracket else None, together)


def _parameter(notion: Notion, written: str) -> Epsilon:
    """The number that stands in parentheses."""
    if notion.parameter == EPSILON:
        return Epsilon.read(written, notion.name)
    if notion.parameter == LEVEL:
        number = as_fraction(written.removesuffix("%"), notion.name) / 100 if written.endswith("%") else written
        return Epsilon(as_bounded(number, notion.name, at_least=0, at_most=1))
    order = as_fraction(written, notion.name)
    if order <= 1:
        raise InputError(
            f"{notion.name}: expected an order above 1, got {written}; of order 1 it is pairwise_divergence"
        )
    return Epsilon(order)


def _amount(notion: Notion, value: Number) -> tuple[arb, str]:
    """The number of a guarantee as a ball, and as text."""
    if notion.units == "leakage":
        epsilon, text = Epsilon.read(value, notion.name), epsilon_text(value, notion.name)
        if text.endswith(" nats") and units_of(notion.name, None) == "bits":
            text = budget_text(Fraction(text.removesuffix(" nats")), "nats", None)
        return epsilon.ball(), text
    most = MOST_NUMBER if notion.most is None else notion.most
    number = as_bounded(value, notion.name, at_least=0, at_most=most)
    return ball(number), fraction_text(number)


def _units(notion: Notion, units: str | None) -> str:
    return units_of(notion.name, units) if notion.units == "leakage" else notion.units


def _rounded(notion: Notion, value: arb, units: str | None) -> float:
    """A double on the safe side; exponents far from those of doubles are never written out."""
    low, high = value.lower().min(1 / NEAREST), value.upper()
    most = math.inf if high > 1 / NEAREST else exactly(high.max(NEAREST)) if high > 0 else Fraction(0)
    ends = Ends(exactly(low) if low > NEAREST else Fraction(0), most)
    if _units(notion, units) == "bits":
        ends = in_bits(ends)
    lower, upper = doubles_around(ends)
    return lower if notion.at_least else upper


def _step(taken: Taken, units: str | None) -> Step:
    notion, rule = taken.rule.ends[1], taken.rule
    return Step(
        rule.name,
        rule.theorem,
        rule.formula,
        rule.conditions,
        taken.start.name,
        taken.end.name,
        _rounded(notion, taken.value, units),
        _units(notion, units),
        rule.attained,
    )


def _better(chain: tuple[Taken, ...], amounts: Mapping[Place, arb], facts: Facts) -> str:
    """True if anything better is possible."""
    own, open_ones = [], []
    if len(amounts) > 1:
        open_ones.append(
            f"the other {'guarantee' if len(amounts) == 2 else 'guarantees'} may say more together with it"
        )
    first = () if not chain else (amounts[chain[0].start],)
    for taken, value in zip(chain, (*first, *(taken.value for taken in chain)), strict=False):
        rule = taken.rule
        # what attains a later rule has its own number, of which the guarantee before may say less: of another prior, say
        if not rule.keeps or (taken is not chain[-1] and rule.ends[0].about is not About.DATASETS):
            own.append(rule)
            if not rule.attained:
                open_ones.append(f"{rule.name} is not known to be attained")
            elif not rule.meets(Given(value, facts, taken.start.epsilon, taken.end.epsilon)):
                open_ones.append(
                    f"{rule.name} is attained by {rule.attained}, which these facts or this number do not allow"
                )
    if open_ones:
        return f"something better may be possible: {'; '.join(open_ones)}"
    if not own:
        return "nothing better is possible: " + (
            "attained by " + chain[0].rule.attained if chain else "it is the guarantee itself"
        )
    if len(own) > 1:
        return "something better may be possible: each rule is attained, but perhaps not all by one mechanism"
    return f"nothing better is possible: attained by {own[0].attained}"
