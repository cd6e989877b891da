"""The best chain of rules from one guarantee to another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial

from flint import arb

from dalenius.conversions.numbers import ZERO, Epsilon
from dalenius.conversions.rule import EPSILON, EXAMPLES, MEANINGS, NOTIONS, ORDER, About, Facts, Given, Rule
from dalenius.conversions.rules import RULES

LONGEST = 6  # rules in a chain
ON_THE_WAY = tuple(Fraction(2) ** k for k in range(-4, 3))  # epsilons that a chain may pass
LITTLE = arb(2) ** -60  # less than the last bit of a double
TWO = Epsilon(Fraction(2))  # an order: chi-square is of it
NEARER = tuple(1 + Fraction(1, 2**k) for k in range(1, 7))  # factors by which a better one is then sought


@dataclass(frozen=True)
class Place:
    """A notion with its epsilon (or order, or level), of one release or of all of them."""

    notion: str
    epsilon: Epsilon | None = None
    together: bool = False

    @property
    def kind(self) -> str:
        """Kind of what stands in its parentheses."""
        return NOTIONS[self.notion].parameter

    @property
    def name(self) -> str:
        """As `measure` writes it."""
        return self.notion if self.epsilon is None else f"{self.notion}({self.epsilon})"


@dataclass(frozen=True)
class Taken:
    """A rule at work: where it starts, where it ends, and the number there, an exact one on the safe side."""

    rule: Rule
    start: Place
    end: Place
    value: arb


@dataclass(frozen=True)
class Found:
    """A guarantee, and the rules that lead to it."""

    value: arb
    chain: tuple[Taken, ...] = ()


def best_chain(
    given: Mapping[Place, arb], end: Place, facts: Facts, *, sharp: bool, among: Collection[str] | None = None
) -> Found | None:
    """The best guarantee at `end` that chains of rules give, or `among` these, from any that is given; None if none does.

    The epsilons on the way are those of both ends, half of the last, 0, and some between; where one of these serves, a better one is
    sought near it. Orders and levels are those of both ends, and the order 2.
    """
    rules = [rule for rule in usable(facts, sharp=sharp) if among is None or rule.name in among]
    starts = {place: Found(value) for place, value in given.items()}
    half = (end.epsilon.times(Fraction(1, 2)),) if end.epsilon is not None and end.kind == EPSILON else ()
    more = {EPSILON: (*half, ZERO), ORDER: (TWO,)}
    own = {
        kind: [*(at.epsilon for at in (end, *given) if at.epsilon is not None and at.kind == kind), *more.get(kind, ())]
        for kind in EXAMPLES
    }
    way = _Way(starts, end, facts, {kind: list(dict.fromkeys(each)) for kind, each in own.items()})
    found = way.best(rules, map(Epsilon, ON_THE_WAY))
    once = facts.releases == 1 and end.kind == EPSILON  # else another route is not worth as much work again
    if found is None or not found.chain or not once or way.between(found):
        return way.nearer(found)
    last = found.chain[-1].rule  # another one may be better, once its epsilons are sought
    other = way.best([rule for rule in rules if rule is not last], map(Epsilon, ON_THE_WAY))
    if other is None or not way.between(other):
        return found
    nearer = way.nearer(other)
    return nearer if nearer is not None and is_better(end.notion, nearer.value, found.value) else found


@dataclass(frozen=True)
class _Way:
    """From guarantees to a place, past what stands in the parentheses of both: `own`, by its kind, without repetition."""

    starts: Mapping[Place, Found]
    end: Place
    facts: Facts
    own: Mapping[str, list[Epsilon]]

    def between(self, found: Found) -> list[Epsilon]:
        """The epsilons that a chain passes, but for these."""
        passed = dict.fromkeys(taken.end.epsilon for taken in found.chain if taken.end.kind == EPSILON)
        return [epsilon for epsilon in passed if epsilon is not None and epsilon not in self.own[EPSILON]]

    def nearer(self, found: Found | None) -> Found | None:
        """The same rules past better epsilons, each sought near the last."""
        for factor in NEARER:
            others = [] if found is None else self.between(found)
            if found is None or not others:
                break
            near = [epsilon.times(share) for epsilon in others for share in (1, factor, 1 / factor)]
            found = self.best(dict.fromkeys(taken.rule for taken in found.chain), near, found)
        return found

    def best(self, rules: Iterable[Rule], past: Iterable[Epsilon], known: Found | None = None) -> Found | None:
        """The best chain of these rules past these epsilons, or the one that is known.

        Every rule is monotone, so that the best guarantee at each place is enough to go on from; places are visited in rounds, a rule
        longer each time.
        """
        shelf = _leading_to(self.end.notion, list(rules))
        parameters = {**self.own, EPSILON: list(dict.fromkeys((*self.own[EPSILON], *past)))}
        if self.end.notion not in shelf and self.end.epsilon is not None:  # no rule goes on from there
            parameters[self.end.notion] = [self.end.epsilon]
        best = {**self.starts} | ({} if known is None else {self.end: known})
        new = list(self.starts)
        for _ in range(LONGEST):
            # in the order in which they were reached, so that the chain is the same every time
            improved = dict[Place, None]()
            for place in new:
                for taken in _next(place, best, shelf.get(place.notion, ()), parameters, self.facts):
                    best[taken.end] = Found(taken.value, (*best[place].chain, taken))
                    improved[taken.end] = None
            new = list(improved)
            if not new:
                break
        return best.get(self.end)


def usable(facts: Facts, *, sharp: bool) -> list[Rule]:
    """The rules whose facts are known."""
    known = facts.known()
    return [
        rule
        for rule in RULES
        if known.issuperset(rule.needs) and (sharp or not rule.ours) and (facts.releases > 1 or not rule.releases)
    ]


def fewest_missing(
    source: str, target: str, facts: Facts, *, sharp: bool, instead: str | None = None
) -> tuple[str, ...] | None:
    """The fewest facts that are not known and without which no chain leads there; None if none does with all of them.

    One more may be taken for known, by its name: `instead`.
    """
    found = _missing_from(source, facts.known() | {instead}, facts.releases > 1, sharp).get((target, True))
    return None if found is None else tuple(sorted(found))


@lru_cache(maxsize=64)  # tables of what follows ask of every target, for each fact that may be missing
def _missing_from(
    source: str, known: frozenset[str | None], several: bool, sharp: bool
) -> Mapping[tuple[str, bool], frozenset[str]]:
    """The facts that are missing on the way to each notion, of one release or (True) of all of them."""
    reached = {(source, not several): frozenset[str]()}
    for _ in range(LONGEST):
        for rule in RULES:
            if (rule.ours and not sharp) or (rule.releases and not several):
                continue
            for together in (False, True):
                here = reached.get((rule.source, together))
                if here is None or (rule.releases and together):
                    continue
                there = (rule.target, together or rule.releases)
                missing = here | (frozenset(rule.needs) - known)
                if there not in reached or len(missing) < len(reached[there]):
                    reached[there] = missing
    return reached


def _next(
    place: Place, best: dict[Place, Found], rules: Iterable[Rule], parameters: Mapping[str, list[Epsilon]], facts: Facts
) -> Iterator[Taken]:
    """Places that follow from a place by one rule and are better than what is known."""
    value = best[place].value
    for rule in rules:
        if rule.releases and place.together:
            continue
        target = rule.ends[1]
        for after in parameters.get(rule.target, parameters.get(target.parameter, (None,))):
            end = Place(rule.target, after, place.together or rule.releases)
            if end == place:
                continue
            given, known = Given(value, facts, place.epsilon, after), best.get(end)
            if rule.least is not None and known is not None:
                least = rule.least(given)
                if least is not None and not is_better(rule.target, least, known.value):
                    continue
            found = rule.value(given)
            if found is not None and found.is_finite():
                safe = _safe(rule.target, found)
                if known is None or is_better(rule.target, safe, known.value):
                    yield Taken(rule, place, end, safe)


def _leading_to(target: str, rules: list[Rule]) -> dict[str, list[Rule]]:
    """The rules from which the target can be reached at all, by the notion that they start from."""
    leading, size = {target}, 0
    while size < len(leading):
        size = len(leading)
        leading |= {rule.source for rule in rules if rule.target in leading}
    shelf: dict[str, list[Rule]] = {}
    for rule in rules:
        if rule.target in leading:
            shelf.setdefault(rule.source, []).append(rule)
    return shelf


def _safe(notion: str, value: arb) -> arb:
    """The end of the ball that is certain, as an exact number within what the notion can be."""
    kind = NOTIONS[notion]
    if kind.at_least:
        return value.lower().max(arb(0))
    end = value.upper().max(arb(0))
    return end if kind.most is None else end.min(arb(kind.most))


def is_better(notion: str, first: arb, second: arb) -> bool:
    """True if the first number is certainly the better guarantee in this notion, by more than how a longer chain is rounded."""
    return bool((first - second if NOTIONS[notion].at_least else second - first) > second * LITTLE)


# Why no rule leads from one notion to another, in one line.


EVERY_OUTPUT = {About.CHANNEL, About.PRIOR}
EVERY_RATIO = {"differential_privacy", "free_lunch_privacy", "bayesian_dp"}
# Infinite where an output is possible for one input and impossible for another.
FINITE = {"renyi_dp", "local_renyi_dp", "pairwise_divergence", "strong_kl", "strong_chi_square"}
ENDLESS = FINITE | {"local_zcdp", "local_gdp"}
NORMAL = {"zcdp", "local_zcdp"}


def _given(fact: str) -> str:
    """A fact with its meaning, and the option that says it."""
    return f"{fact} ({MEANINGS[fact]}; --{fact.replace('_', '-')})"


def why_not(source: str, target: str, facts: Facts, *, sharp: bool) -> str:
    """One line: the facts that are missing, or what a mechanism with the guarantee may still do.

    >>> why_not("mutual_information", "local_dp", Facts(), sharp=True)
    'none exists: an output of small probability may reveal everything, whatever a mean or likely outputs say'
    """
    missing = fewest_missing(source, target, facts, sharp=sharp)
    if missing:
        needed = [" and ".join(map(_given, missing))]
        others = (name for name in MEANINGS if len(missing) == 1 and name not in missing)
        enough = partial(fewest_missing, source, target, facts, sharp=sharp)
        return "needs " + ", or ".join(needed + [_given(name) for name in others if enough(instead=name) == ()])
    if missing is not None:
        return "the conditions of the rules do not hold for these numbers"
    if not sharp and fewest_missing(source, target, facts, sharp=True) is not None:
        return "none in the papers: rules of ours lead there, which were left out"
    first, second = NOTIONS[source].about, NOTIONS[target].about
    if facts.releases > 1 and fewest_missing(source, target, Facts(), sharp=sharp) is not None:
        return "no rule of composition is known on the way: each release alone has the guarantee, all of them together may reveal more"
    if source == "posterior_min_entropy":
        return "none exists: what can be guessed of one attribute says nothing about the rest of the mechanism"
    if second is About.DATASETS and first is not About.DATASETS:
        return "none exists: what is known of one secret's channel says nothing about other datasets"
    if second in EVERY_OUTPUT or target in (*EVERY_RATIO, "posterior_min_entropy"):
        return (
            "none exists: an output of small probability may reveal everything, whatever a mean or likely outputs say"
        )
    if source in NORMAL:
        return "none is known: what normal laws bound so has a constant that is not on the shelf"
    if first is About.INFERENCE and target not in ENDLESS:
        return "none is known: no rule here bounds this by what can be guessed, estimated or tested of the secret"
    if source in FINITE:
        return "none exists: an unlikely output may be so much unlikelier for one input that powers of ratios have any mean"
    return "none exists: an output of small probability may be impossible for one input, which makes the divergence infinite"
