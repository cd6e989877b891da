"""What audits are about besides single records whose channel is known, and how a certificate about any of them is checked."""

from __future__ import annotations

from typing import Any

from .adversaries import ADVERSARIES
from .blocks import Blocks
from .certificate import Lines
from .chain_lines import Chains
from .chains import Chain
from .channel import Channel, build
from .design import Words
from .drifting import Drifting, drifts
from .histogram import Cells, Histogram
from .households import Households
from .informed import ABOUT, Informed
from .letter_chains import LetterChain
from .letter_lines import LetterChains
from .model import Model
from .numbers import ends_words
from .randomized_blocks import Randomized, RandomizedHouseholds
from .released_blocks import Releases
from .told import Told
from .wide import Wide, is_wide

_RECORDS = "worst-case leakage about one record, I(X_i; Y) over the records and the adversary's priors below"

Subject = Cells | Blocks | Chain | LetterChain | Told | Wide


def subject(model: Model) -> Subject | None:
    """What a model is about, if it is none of the usual audits; refused where that is not known."""
    if model.query["kind"] == "histogram":
        return Cells(model)
    if model.adversary == "independent_blocks" and not model.design:
        several = model.mechanism["kind"] == "several_releases"
        if model.mechanism["kind"] == "randomized_histogram":
            return Randomized(model)
        return Releases(model) if several else Drifting(model) if drifts(model) else Blocks(model)
    if model.adversary == "markov_chain":
        return Chain(model)
    if model.adversary == "finite_chain":
        return LetterChain(model)
    if is_wide(model):
        one = {"kind": "independent_blocks", "size": 1, "sizes": None, "entropy_at_least": None}
        return Wide(model) if model.adversary == "entropy_at_least" else Blocks(model.against(one))
    return Told(model) if model.secrets else None


def audit(
    lines: Lines,
    model: Model,
    known: Subject | None,
    channel: Channel | None,
    claim: dict[str, Any],
) -> Words:
    """A certificate of worst-case leakage, or about secrets: the statement, and the numbers of leaves by kind."""
    if isinstance(known, Cells):
        source = "of every histogram of a block"
        proof = Histogram(lines, known).check(claim)
    elif isinstance(known, Chain):
        source = "of every number of ones"
        proof = Chains(lines, known).check(claim)
    elif isinstance(known, LetterChain):
        source = "of every total"
        proof = LetterChains(lines, known).check(claim)
    elif isinstance(known, Wide):
        source = "of counts that are too many to be written out"
        proof = known.check(lines, claim)
    elif isinstance(known, Blocks):
        kind = RandomizedHouseholds if isinstance(known, Randomized) else Households
        source = "of every block where the other records are known"
        proof = kind(lines, known).check(claim)
    else:
        channel = channel or build(model, claim["resolved"])
        assert channel is not None
        source = "exact rationals" if channel.exact else "enclosed by balls"
        source = "TAKEN FROM THE CERTIFICATE (resolved matrix)" if model.foreign else source
        subject = Informed(lines, known, channel) if known else ADVERSARIES[model.adversary](lines, model, channel)
        proof = subject.check(claim)
    evidence, tally = proof
    most = known.most() if isinstance(known, Told) else model.most()
    ends = ends_words(claim["lower"], claim["upper"], "L", most)
    about = ", OF THE MATRIX IN THE CERTIFICATE ONLY, not of the model's mechanism"
    return [
        f"resolved: {ends}{about}" if model.foreign else f"proved: {ends}",
        f"L: {ABOUT if model.secrets else _RECORDS}",
        f"channel: {source}",
        *evidence,
    ], tally
