"""Why no rule leads from one notion to another, in one line."""

from __future__ import annotations

from dalenius.conversions.facts import MEANINGS, Facts
from dalenius.conversions.notions import NOTIONS, About
from dalenius.conversions.search import fewest_missing

__all__ = ["why_not"]

EVERY_OUTPUT = {About.DATASETS, About.CHANNEL, About.PRIOR}
MEANS = {About.MEAN, About.MEAN_CHANNEL}
OF_EVERY_INPUT = {"largest_divergence", "strong_kl", "strong_total_variation", "strong_chi_square"}


def why_not(source: str, target: str, facts: Facts, *, sharp: bool) -> str:
    """One line: the facts that are missing, or what a mechanism with the guarantee may still do.

    >>> why_not("mutual_information", "local_dp", Facts(), sharp=True)
    'none exists: an output of small probability may tell everything, whatever a mean or likely outputs say'
    """
    missing = fewest_missing(source, target, facts, sharp=sharp)
    if missing:
        return "needs " + " and ".join(f"{name} ({MEANINGS[name]})" for name in missing)
    first, second = NOTIONS[source].about, NOTIONS[target].about
    if missing is not None:
        return "the conditions of the rules do not hold for these numbers"
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
    if first in (About.MEAN, About.PRIOR) and second is About.MEAN_CHANNEL and facts.p_min is None:
        return "none exists: under one prior a rare input may be told, and another prior makes it likely"
    if first in (About.MEAN, About.LIKELY) and target in OF_EVERY_INPUT:
        return "none on the shelf: a mean over the inputs bounds no single one, and an unlikely output may be impossible for one input"
    if target == "pairwise_divergence":
        return "none exists: an output of small probability may be impossible for one input, which makes the divergence infinite"
    if source in ("local_dp_delta", "local_information_privacy_delta") and second in MEANS:
        return "none on the shelf: with probability delta anything may be told"
    if target == "estimation_error":
        return "none on the shelf: an estimate's error needs lifts of all values that are bounded from below"
    if second is About.LIKELY:
        return "none on the shelf: the guarantee bounds no probability of large lifts under this prior"
    return "none on the shelf"
