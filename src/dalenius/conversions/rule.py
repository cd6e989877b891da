"""The notions that guarantees are given in, and a rule: from a guarantee in one to one in another, with the theorem that says so."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, TypedDict, TypeVar, Unpack

from flint import arb

from dalenius.errors import InputError, hint
from dalenius.exact import Integer, Number, as_bounded, as_integer, fraction_text
from dalenius.information.balls import ball


class About(Enum):
    """Subject of a notion; why there is no rule between two of them rests on it."""

    DATASETS = "between datasets"
    CHANNEL = "every output, between all inputs"
    PRIOR = "every output, under one prior"
    LIKELY = "likely outputs"
    MEAN_CHANNEL = "a mean over the outputs, for all priors"
    MEAN = "a mean over the outputs, under one prior"
    INFERENCE = "what an adversary infers"


@dataclass(frozen=True)
class Notion:
    """A notion of privacy, whose number is a bound from above, or from below if `at_least`.

    Attributes
    ----------
    name : str
    about : About
    units : {"leakage", "probability", "number"}
        Leakages are in nats or bits.
    what : str
    parameter : {"", "epsilon", "order", "level"}
        The kind of what stands in parentheses, to which the number belongs: ``local_dp_delta(0.5)``.
    largest : int, optional
        What a number that is no probability never exceeds.
    at_least : bool
        Whether a larger number is more privacy.
    """

    name: str
    about: About
    units: str
    what: str
    parameter: str = ""
    largest: int | None = None
    at_least: bool = False

    @property
    def most(self) -> int | None:
        """A bound that the number never exceeds."""
        return 1 if self.units == PROBABILITY else self.largest

    def bounded_by(self, text: str) -> str:
        """The number's direction, and the number as a text; an epsilon by this name, without its unit.

        >>> NOTIONS["local_dp"].bounded_by("2 nats"), NOTIONS["mutual_information"].bounded_by("2 nats")
        ('epsilon <= 2', '<= 2 nats')
        """
        if self.units == LEAKAGE and self.name.endswith(("_dp", "_privacy")):  # people say no unit
            return f"epsilon <= {text.removesuffix(' nats')}"
        return f"{'>=' if self.at_least else '<='} {text}"

    @property
    def example(self) -> str:
        """The name, with an example in parentheses where something stands there."""
        return self.at(EXAMPLES)

    def at(self, parameters: Mapping[str, object]) -> str:
        """The name with what stands in parentheses, by its kind."""
        return f"{self.name}({parameters[self.parameter]})" if self.parameter else self.name


LEAKAGE, PROBABILITY, NUMBER = "leakage", "probability", "number"
EPSILON, ORDER, LEVEL = "epsilon", "order", "level"
EXAMPLES = {EPSILON: "0.5", ORDER: "2", LEVEL: "0.01"}  # of what stands in parentheses
SUBJECTS: dict[About, dict[str, tuple[Any, ...]]] = {
    About.DATASETS: {
        "differential_privacy": (LEAKAGE, "log of the largest ratio between neighbouring datasets"),
        "free_lunch_privacy": (LEAKAGE, "log of the largest ratio between any two datasets"),
        "bayesian_dp": (
            LEAKAGE,
            "log of the largest ratio between two values of a record, whichever others are known, under the prior",
        ),
        "differential_privacy_delta": (PROBABILITY, "delta of (epsilon, delta)-DP", EPSILON),
        "renyi_dp": (LEAKAGE, "Renyi divergence of neighbouring datasets, RDP", ORDER),
        "zcdp": (NUMBER, "rho of zero-concentrated DP: a rho bounds Renyi's of every order a > 1"),
        "gdp": (NUMBER, "mu of Gaussian DP: no easier to tell apart than normal laws mu apart"),
    },
    About.CHANNEL: {
        "local_dp": (LEAKAGE, "log of the largest ratio in a column; the leakage capacity"),
    },
    About.PRIOR: {
        "pointwise_maximal_leakage": (LEAKAGE, "log max d, d = W(x,y)/q(y)"),
        "information_privacy": (LEAKAGE, "max |log d|; local information privacy is the same number"),
    },
    About.LIKELY: {
        "local_dp_delta": (PROBABILITY, "delta of (epsilon, delta)-LDP", EPSILON),
        "local_information_privacy_delta": (
            PROBABILITY,
            "delta of (epsilon, delta)-LIP: between rows and q, both ways",
            EPSILON,
        ),
        "information_privacy_delta": (PROBABILITY, "P(|log d| > epsilon)", EPSILON),
        "strong_information_privacy_delta": (
            PROBABILITY,
            "the probability of outputs with |log d| > epsilon for any x",
            EPSILON,
        ),
    },
    About.MEAN_CHANNEL: {
        "shannon_capacity": (LEAKAGE, "the largest mutual information over all priors (CI-LMIP)"),
        "maximal_leakage": (LEAKAGE, "log sum_y max_x W(x,y)"),
        "pairwise_divergence": (LEAKAGE, "the largest D(W_x || W_x')"),
        "local_renyi_dp": (LEAKAGE, "the largest Renyi divergence of two rows", ORDER),
        "local_zcdp": (NUMBER, "rho of zero-concentrated DP, of any two rows"),
        "local_gdp": (NUMBER, "mu of Gaussian DP, of any two rows"),
    },
    About.MEAN: {
        "mutual_information": (LEAKAGE, "I(X;Y) under the prior (CD-LMIP)"),
        "largest_divergence": (LEAKAGE, "max_x D(W_x || q)"),
        "strong_kl": (LEAKAGE, "max_x D(q || W_x)"),
        "total_variation": (NUMBER, "sum P(x) |W - q|, from 0 to 2", "", 2),
        "strong_total_variation": (NUMBER, "the largest over x of sum |W_x - q|, from 0 to 2", "", 2),
        "chi_square": (NUMBER, "sum P(x) (W - q)^2 / q"),
        "strong_chi_square": (NUMBER, "max_x sum q^2/W_x - 1"),
        "maximal_correlation": (NUMBER, "the second singular value", "", 1),
    },
    About.INFERENCE: {
        "bayes_advantage": (PROBABILITY, "the best guess's success with the output, less that without"),
        "guessing_success": (PROBABILITY, "the probability that the best guess of the secret is right"),
        "true_positive_rate": (
            PROBABILITY,
            "of the best test between two values, at this rate of false positives",
            LEVEL,
        ),
        "posterior_min_entropy": (
            LEAKAGE,
            "min-entropy of an attribute after any output, -log of its best guess",
            "",
            None,
            True,
        ),
        "estimation_error": (
            NUMBER,
            "least mean squared error of a number S that is the secret, as a share of its variance",
            "",
            1,
            True,
        ),
    },
}
NOTIONS = {name: Notion(name, about, *row) for about, rows in SUBJECTS.items() for name, row in rows.items()}


ALIASES = {  # what people call them
    "leakage_capacity": "local_dp",
    "local_information_privacy": "information_privacy",
    **dict.fromkeys(("rdp", "renyi"), "renyi_dp"),
    "cdp": "zcdp",
    "mu_gdp": "gdp",
    "attack_advantage": "local_dp_delta(0)",
}
# what people call a guarantee of which they have epsilon or delta
EPSILONS = ("epsilon", "eps", "dp", "ldp", "delta", "adp")


def notion_of(name: str) -> Notion:
    """The notion of this name, whatever stands in parentheses after it; of an epsilon with its delta, that of the delta.

    Raises
    ------
    InputError
        If there is none.

    >>> notion_of("local_dp_epsilon(1e-5)").name
    'local_dp_delta'
    """
    name = name.partition("(")[0].strip()
    name = f"{name.removesuffix('_epsilon')}_delta" if name.endswith("_epsilon") else name
    found = NOTIONS.get(ALIASES.get(name, name).partition("(")[0])
    if found is None:
        both = (
            "did you mean 'local_dp' or 'differential_privacy', or with a delta 'differential_privacy_epsilon(1e-5)=1'?"
        )
        meant = f" ({both})" if name in EPSILONS else hint(name, [*NOTIONS, *ALIASES])
        raise InputError(f"no notion is called {name!r}{meant}; `dalenius convert` alone lists them")
    return found


def by_subject() -> str:
    """The names of the notions, as examples, a line a subject.

    >>> print(by_subject().splitlines()[1])
      every output, between all inputs: local_dp
    """
    named = ((about, [notion.example for notion in NOTIONS.values() if notion.about is about]) for about in About)
    return "\n".join(f"  {about.value}: {', '.join(names)}" for about, names in named)


# What is known besides a guarantee: about the prior, the sizes of alphabets, the number of records and releases.


MOST_RELEASES = 10_000
MEANINGS = {
    "p_min": "every value of the secret has at least this probability",
    "p_max": "no value of the secret has more than this probability",
    "letters": "the secret has at most so many values",
    "outputs": "the release has at most so many values",
    "records": "a dataset has so many records",
    "independent": "the records are independent under the prior",
    "group": "a record depends on so many at most, itself among them: of a household, say",
    "transition_ratio": "the records are a Markov chain, its largest transition probability so many times the least",
    "attribute_max": "no value of the attribute has more than this probability before the release",
    "prior_ratio": "(min r/p)/(max r/p) for the prior r of the adversary and the prior p of the guarantee",
    "releases": "so many releases of the same secret, each with the guarantee",
}


class GivenFacts(TypedDict, total=False):
    """Facts as people write them, by the names that `Facts` has."""

    p_min: Number | None
    p_max: Number | None
    letters: Integer | None
    outputs: Integer | None
    records: Integer | None
    independent: bool
    group: Integer | None
    transition_ratio: Number | None
    attribute_max: Number | None
    prior_ratio: Number | None
    releases: Integer


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
    group : int, optional
        How many records depend on each other at most, by blocks that are independent.
    transition_ratio : Fraction, optional
        Of a Markov chain.
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
    group: int | None = None
    transition_ratio: Fraction | None = None
    attribute_max: Fraction | None = None
    prior_ratio: Fraction | None = None
    releases: int = 1

    @classmethod
    def of(cls, **given: Unpack[GivenFacts]) -> Facts:
        """Facts as people write them, and what follows from them: a least probability bounds the number of letters.

        Raises
        ------
        InputError
            If a number cannot be read, is out of range, or two contradict each other.

        >>> Facts.of(p_min="0.3").letters
        3
        """
        shares = {name: _share(given.get(name), name) for name in ("p_min", "p_max", "attribute_max", "prior_ratio")}
        least, most, size = shares["p_min"], shares["p_max"], _size(given.get("letters"), "letters", 2)
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
        records, ratio = _size(given.get("records"), "records"), given.get("transition_ratio")
        read: dict[str, Any] = {
            **given,  # what is no fact is refused
            **shares,
            "p_max": most,
            "letters": size,
            "outputs": _size(given.get("outputs"), "outputs"),
            "records": records,
            "group": 1 if given.get("independent") else _size(given.get("group"), "group") or records,
            "transition_ratio": None if ratio is None else as_bounded(ratio, "transition_ratio", at_least=1),
            "releases": as_integer(given.get("releases", 1), "releases", at_least=1, at_most=MOST_RELEASES),
        }
        return cls(**read)

    def known(self) -> frozenset[str]:
        """The names of what is known.

        >>> sorted(Facts.of(p_min=0.5).known())
        ['letters', 'p_max', 'p_min']
        """
        given = (field.name for field in fields(self))
        return frozenset(name for name in given if getattr(self, name) not in (None, False) and name != "releases")


def _size(value: Integer | None, what: str, least: int = 1) -> int | None:
    return None if value is None else as_integer(value, what, at_least=least)


def _share(value: Any, what: str) -> Fraction | None:
    return None if value is None else as_bounded(value, what, above=0, at_most=1)


PAPERS = {  # as theorems name them
    "PUFFERFISH": "Nuradha, Goldfeld, Pufferfish privacy",
    "LMIP": "Ngo, Ostman, Graell i Amat, local mutual-information privacy",
    "SAEIDIAN": "Saeidian et al., inferential privacy",
    "FDIV": "Wang, Tay, f-divergences and probabilistic information privacy",
    "DONG": "Dong, Roth, Su, Gaussian differential privacy",
    "BUN": "Bun, Steinke, concentrated differential privacy",
    "MIRONOV": "Mironov, Renyi differential privacy",
    "CKS": "Canonne, Kamath, Steinke, the discrete Gaussian",
    "LANGE": "Lange et al., a study of Bayesian differential privacy",
    "KOV": "Kairouz, Oh, Viswanath, the composition theorem",
    "DRV": "Dwork, Roth, the algorithmic foundations",
}
PAPER = re.compile(rf"\b({'|'.join(PAPERS)})\b")
OURS = "ours"


def _needed(name: str) -> Any:
    """A fact that a rule needs: a share as a ball, a count as it is."""

    def fact(given: Given) -> Any:
        known = getattr(given.facts, name)
        assert known is not None
        return ball(known) if isinstance(known, Fraction) else known

    return property(fact)


@dataclass(frozen=True)
class Given:
    """Premises of a rule.

    Attributes
    ----------
    value : arb
        The number of the guarantee: leakages in nats.
    facts : Facts
    before, after : Epsilon, optional
        The epsilons of both notions, or what else stands in their parentheses: an order, a level.
    """

    value: arb
    facts: Facts
    before: Any = None
    after: Any = None

    @property
    def epsilon_before(self) -> arb:
        """A ball around the epsilon of the guarantee."""
        return self.before.ball()

    @property
    def epsilon_after(self) -> arb:
        """A ball around the epsilon that is asked for."""
        return self.after.ball()

    def reaches(self, times: int = 1) -> bool:
        """True if the epsilon that is asked for is certainly at least so many times that of the guarantee."""
        return self.after.at_least(self.before.times(times))

    p_min, p_max, attribute_max = _needed("p_min"), _needed("p_max"), _needed("attribute_max")
    prior_ratio, transition_ratio = _needed("prior_ratio"), _needed("transition_ratio")
    records, group, letters = _needed("records"), _needed("group"), _needed("letters")


Value = Callable[[Given], "arb | None"]
Condition = Callable[[Given], bool]
V = TypeVar("V", bound=Callable[[Given], Any])
SAID = {"Source": "theorem", "If": "conditions", "Attained by": "attained"}
PART = re.compile(rf"^({'|'.join(SAID)}): (.*(?:\n +.*)*)", re.MULTILINE)


def same(given: Given) -> arb:
    """The number itself."""
    return given.value


def always(given: Given) -> bool:
    """True whatever is given."""
    return True


def any_alphabets(given: Given) -> bool:
    """True if no sizes of alphabets are known, and so no p_min either: for mechanisms with many letters and outputs."""
    return given.facts.letters is None and given.facts.outputs is None


def rare_values(given: Given) -> bool:
    """True if values of the secret may be as rare as one likes."""
    return given.facts.p_min is None


@dataclass(frozen=True)
class Rule:
    """A rule of the shelf.

    Attributes
    ----------
    name : str
        A short name; those of the catalogue's table are numbered CONV-1 to CONV-17.
    way : str
        Between the names of two notions: ``"local_dp -> mutual_information"``.
    formula : str
    theorem : str
        The paper, by its name in `PAPERS`, and where in it.
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
    way: str
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "theorem", PAPER.sub(lambda found: PAPERS[found[0]], self.theorem))

    @cached_property
    def source(self) -> str:
        """The notion of what is given, by its name."""
        return self.way.partition(" -> ")[0]

    @cached_property
    def target(self) -> str:
        """The notion of what follows."""
        return self.way.partition(" -> ")[2]

    @property
    def ends(self) -> tuple[Notion, Notion]:
        """Both notions."""
        return NOTIONS[self.source], NOTIONS[self.target]


class Rules(list[Rule]):
    """Rules in their order: functions whose docstrings say the formula, and by name the theorem, conditions, and what attains it.

    Where docstrings are left out (python -OO) the numbers are the same, and these words are missing.

    >>> shelf = Rules()
    >>> @shelf("twice", "zcdp -> zcdp", releases=True)
    ... def twice(given):
    ...     '''2 rho
    ...
    ...     Source: BUN, Lemma 1.7
    ...     '''
    ...     return 2 * given.value
    >>> shelf[0].formula, shelf[0].theorem
    ('2 rho', 'Bun, Steinke, concentrated differential privacy, Lemma 1.7')
    """

    def __call__(self, name: str, way: str, *, needs: str = "", **more: Any) -> Callable[[V], V]:
        """A function as a rule, after those that are there; what it needs is listed with blanks."""

        def added(value: V) -> V:
            formula, *parts = inspect.cleandoc(value.__doc__ or "").split("\n\n")
            texts = {"formula": formula, "theorem": ""} | {
                SAID[word]: text for part in parts for word, text in PART.findall(part)
            }
            texts = {field: " ".join(text.split()) for field, text in texts.items()}
            self.append(Rule(**{"name": name, "way": way, "value": value, "needs": (*needs.split(),), **texts, **more}))
            return value

        return added


Sharper = partial(Rule, ours=True)
Composed = partial(Rule, releases=True)
