"""The notions that guarantees are given in: names as in `dalenius measure`, units, direction, and what each bounds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dalenius.errors import InputError, hint


class About(Enum):
    """What a notion bounds; why there is no rule between two of them rests on it."""

    DATASETS = "every output, between datasets"
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
    at_least : bool
        Whether a larger number is more privacy.
    has_epsilon : bool
        Whether the number belongs to an epsilon: ``local_dp_delta(0.5)``.
    most : int, optional
        What the number never exceeds.
    """

    name: str
    about: About
    units: str
    what: str
    at_least: bool = False
    has_epsilon: bool = False
    most: int | None = None

    @property
    def sign(self) -> str:
        """Between the name and its number."""
        return ">=" if self.at_least else "<="


LEAKAGE, PROBABILITY, NUMBER = "leakage", "probability", "number"
NOTIONS: dict[str, Notion] = {
    notion.name: notion
    for notion in (
        Notion(
            "differential_privacy", About.DATASETS, LEAKAGE, "log of the largest ratio between neighbouring datasets"
        ),
        Notion("free_lunch_privacy", About.DATASETS, LEAKAGE, "log of the largest ratio between any two datasets"),
        Notion("local_dp", About.CHANNEL, LEAKAGE, "log of the largest ratio in a column; the leakage capacity"),
        Notion("pointwise_maximal_leakage", About.PRIOR, LEAKAGE, "log max d, d = W(x,y)/q(y)"),
        Notion(
            "information_privacy", About.PRIOR, LEAKAGE, "max |log d|; local information privacy is the same number"
        ),
        Notion("local_dp_delta", About.LIKELY, PROBABILITY, "delta of (epsilon, delta)-LDP", has_epsilon=True, most=1),
        Notion(
            "local_information_privacy_delta",
            About.LIKELY,
            PROBABILITY,
            "delta of (epsilon, delta)-LIP: between rows and q, both ways",
            has_epsilon=True,
            most=1,
        ),
        Notion(
            "information_privacy_delta", About.LIKELY, PROBABILITY, "P(|log d| > epsilon)", has_epsilon=True, most=1
        ),
        Notion(
            "strong_information_privacy_delta",
            About.LIKELY,
            PROBABILITY,
            "the probability of outputs with |log d| > epsilon for any x",
            has_epsilon=True,
            most=1,
        ),
        Notion(
            "shannon_capacity", About.MEAN_CHANNEL, LEAKAGE, "the largest mutual information over all priors (CI-LMIP)"
        ),
        Notion("maximal_leakage", About.MEAN_CHANNEL, LEAKAGE, "log sum_y max_x W(x,y)"),
        Notion("pairwise_divergence", About.MEAN_CHANNEL, LEAKAGE, "the largest D(W_x || W_x')"),
        Notion("mutual_information", About.MEAN, LEAKAGE, "I(X;Y) under the prior (CD-LMIP)"),
        Notion("largest_divergence", About.MEAN, LEAKAGE, "max_x D(W_x || q)"),
        Notion("strong_kl", About.MEAN, LEAKAGE, "max_x D(q || W_x)"),
        Notion("total_variation", About.MEAN, NUMBER, "sum P(x) |W - q|, from 0 to 2", most=2),
        Notion(
            "strong_total_variation", About.MEAN, NUMBER, "the largest over x of sum |W_x - q|, from 0 to 2", most=2
        ),
        Notion("chi_square", About.MEAN, NUMBER, "sum P(x) (W - q)^2 / q"),
        Notion("strong_chi_square", About.MEAN, NUMBER, "max_x sum q^2/W_x - 1"),
        Notion("maximal_correlation", About.MEAN, NUMBER, "the second singular value", most=1),
        Notion(
            "bayes_advantage",
            About.INFERENCE,
            PROBABILITY,
            "the best guess's success with the output, less that without",
            most=1,
        ),
        Notion(
            "guessing_success",
            About.INFERENCE,
            PROBABILITY,
            "the probability that the best guess of the secret is right",
            most=1,
        ),
        Notion(
            "posterior_min_entropy",
            About.INFERENCE,
            LEAKAGE,
            "min-entropy of an attribute after any output, -log of its best guess",
            at_least=True,
        ),
        Notion(
            "estimation_error",
            About.INFERENCE,
            NUMBER,
            "least mean squared error of a number S that is the secret, as a share of its variance",
            at_least=True,
            most=1,
        ),
    )
}


def notion_of(name: str) -> Notion:
    """The notion of this name.

    Raises
    ------
    InputError
        If there is none.

    >>> notion_of("local_dp").sign
    '<='
    """
    aliases = {"leakage_capacity": "local_dp", "local_information_privacy": "information_privacy"}
    found = NOTIONS.get(aliases.get(name, name))
    if found is None:
        raise InputError(f"no notion is called {name!r}{hint(name, NOTIONS)}; there are {', '.join(NOTIONS)}")
    return found
