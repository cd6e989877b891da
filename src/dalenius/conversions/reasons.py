"""Why no rule leads from one notion to another, in one line."""

from __future__ import annotations

from dalenius.conversions.facts import MEANINGS, Facts
from dalenius.conversions.notions import NOTIONS, About
from dalenius.conversions.search import fewest_missing

__all__ = ["why_not"]

EVERY_OUTPUT = {About.DATASETS, About.CHANNEL, About.PRIOR}
BELOW = {"strong_kl", "strong_chi_square"}  # that are infinite where an output is impossible for one input


def why_not(source: str, target: str, facts: Facts, *, sharp: bool) -> str:
    """One line: the facts that are missing, or what a mechanism with the guarantee may still do.

    >>> why_not("mutual_information", "local_dp", Facts(), sharp=True)
    'none exists: an output of small probability may tell everything, whatever a mean or likely outputs say'
    """
    missing = fewest_missing(source, target, facts, sharp=sharp)
    if missing:
        return "needs " + " and ".join(f"{name} ({MEANINGS[name]})" for name in missing)
    if missing is not None:
        return "the conditions of the rules do not hold for these numbers"
    if not sharp and fewest_missing(source, target, facts, sharp=True) is not None:
        return "none in the papers: rules of ours lead there, which were left out"
    first, second = NOTIONS[source].about, NOTIONS[target].about
    if facts.releases > 1 and fewest_missing(source, target, Facts(), sharp=sharp) is not None:
        return "no rule of composition is known on the way: each release alone has the guarantee, all of them together may tell more"
    if first is About.INFERENCE:
        return (
            "none exists: what can be guessed or estimated of one secret says nothing about the rest of the mechanism"
        )
    if second is About.DATASETS:
        return "none exists: what is known of one secret's channel says nothing about other datasets"
    if second in EVERY_OUTPUT or target == "posterior_min_entropy":
        return "none exists: an output of small probability may tell everything, whatever a mean or likely outputs say"
    if target == "pairwise_divergence":
        return "none exists: an output of small probability may be impossible for one input, which makes the divergence infinite"
    assert target in BELOW, (source, target)
    if target == "strong_chi_square" and source in ("strong_kl", "pairwise_divergence"):
        return "none exists: an unlikely output may be so much unlikelier for one input that squares of ratios have any mean"
    return "none exists: an unlikely output may be impossible for one input, which makes it infinite"
