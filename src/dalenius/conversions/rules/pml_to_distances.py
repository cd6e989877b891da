"""What pointwise maximal leakage leaves of distances from independence: lifts are at most e^epsilon, and have mean 1."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.balls import entropy_term, positive
from dalenius.conversions.rule import OURS, Given, Rule, any_alphabets
from dalenius.conversions.rules.pml_to_lifts import least_lift

__all__ = ["RULES"]


def _band(given: Given) -> tuple[arb, arb]:
    """The least and the largest lift; 0 where no prior is known."""
    low = arb(0) if given.facts.p_min is None else positive(least_lift(given))
    return low, given.value.exp()


def information(given: Given) -> arb:
    """((u-1) l log l + (1-l) u log u)/(u-l), l and u the ends of the band; epsilon if l = 0."""
    low, high = _band(given)
    if given.value == 0:
        return arb(0)
    if low == 0:
        return given.value
    found = ((1 - low) * high * given.value - (high - 1) * entropy_term(low)) / (high - low)
    return found.min(given.value) if found.is_finite() else given.value


def total_variation(given: Given) -> arb:
    """2 (1-l)(u-1)/(u-l)."""
    low, high = _band(given)
    if given.value == 0:
        return arb(0)
    found = 2 * (1 - low) * (high - 1) / (high - low)
    return found if found.is_finite() else 2 * (1 - (-given.value).exp())


def chi_square(given: Given) -> arb:
    """(u-1)(1-l)."""
    low, high = _band(given)
    return (high - 1) * (1 - low)


def advantage(given: Given) -> arb:
    """(e^epsilon - 1) p_max."""
    return (given.value.exp() - 1) * given.p_max


def enough(given: Given) -> bool:
    """Whether as many equally likely letters, and outputs, are possible as the leakage asks for."""
    size, outputs = given.facts.letters, given.facts.outputs
    if size is None:
        return outputs is None
    return bool(given.value.exp() <= size) and (outputs is None or outputs >= size)


VALUES = {
    "mutual_information": (information, "e", "with p_min ((u-1) l log l + (1-l) u log u)/(u-l)"),
    "total_variation": (total_variation, "2 (1 - exp(-e))", "with p_min 2 (1-l)(u-1)/(u-l)"),
    "chi_square": (chi_square, "exp e - 1", "with p_min (u-1)(1-l)"),
}
RULES = (
    *(
        Rule(
            f"CONV-6 ({target})",
            "pointwise_maximal_leakage",
            target,
            f"{formula}; {sharper}, u = exp e, l = (1 - u(1-p))/p",
            f"{OURS}: a convex function of lifts between l and u with mean 1 is largest on both ends",
            value,
            attained="X uniform on a ring, the output X + noise that is uniform on its share exp(-e)",
            meets=any_alphabets,
            ours=True,
        )
        for target, (value, formula, sharper) in VALUES.items()
    ),
    Rule(
        "leakage-and-guess",
        "pointwise_maximal_leakage",
        "bayes_advantage",
        "(exp e - 1) p_max",
        f"{OURS}: no posterior probability is above exp(e) p_max",
        advantage,
        needs=("p_max",),
        ours=True,
    ),
    Rule(
        "mean-of-pointwise",
        "pointwise_maximal_leakage",
        "maximal_leakage",
        "e",
        "the maximal leakage is log of the mean of exp l(Y)",
        lambda given: given.value,
        attained="randomised response under a uniform prior on letters enough",
        meets=enough,
    ),
)
