"""What an audit is about, and how a certificate about it is checked: one record's channel, or what a lemma knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .adversaries import ADVERSARIES
from .certificate import Lines
from .channel import build
from .matrix import Channel
from .model import Model
from .noise import noise_of
from .numbers import MAX_ENTRIES, ends_words
from .proof import Proof, Words
from .registry import lemma

_RECORDS = "worst-case leakage about one record, I(X_i; Y) over the records and the adversary's priors below"


class Subject(NamedTuple):
    """What a certificate is about: what checks its lines, and where what it says of the outputs comes from, if not from a channel."""

    proof: Callable[[Lines, Any], Proof]  # of a channel, where the source is one
    most: int  # letters, or values of a secret
    source: str = ""
    about: str = _RECORDS


def subject(model: Model) -> Subject:
    """That of a model; refused where it is not known."""
    name = _lemma(model)
    if name:
        found: Subject = lemma(name).subject(model)
        return found
    return Subject(lambda lines, channel: ADVERSARIES[model.adversary](lines, model, channel), model.most())


def _lemma(model: Model) -> str:
    """The name of the lemma that a model asks for; none for single records whose channel is known."""
    kind = model.mechanism.get("kind", "")
    if model.query["kind"] == "histogram":
        return "histograms"
    if model.adversary == "independent_blocks" and not model.design:
        return {"randomized_histogram": "randomized", "several_releases": "releases"}.get(kind, "households")
    if model.adversary in _CHAINS:
        return _CHAINS[model.adversary]
    if _is_wide(model):
        return "wide" if model.adversary == "entropy_at_least" else "households"
    return "secrets" if model.secrets else ""


_CHAINS = {"markov_chain": "chains", "finite_chain": "letter_chains"}


def _is_wide(model: Model) -> bool:
    """Whether a model's channel would have more entries than others may have, and this is known all the same."""
    n = len(model.alphabets)
    ends = model.mechanism.get("range")
    inside = ends is None or (ends[0] <= 0 and n <= ends[1])
    known = model.query["kind"] == "count" and noise_of(model.mechanism).epsilon is not None and inside
    held = model.problem == "maximal_leakage" and model.adversary in ("product_priors", "entropy_at_least")
    outputs = n + 1 if ends is None else ends[1] - ends[0] + 1
    return known and held and len(set(model.alphabets)) == 1 and (n + 1) * outputs > MAX_ENTRIES


def audit(lines: Lines, model: Model, known: Subject, channel: Channel | None, claim: dict[str, Any]) -> Words:
    """A certificate of worst-case leakage, or about secrets: the statement, and the numbers of leaves by kind."""
    source = known.source
    if not source:
        channel = channel or build(model, claim["resolved"])
        assert channel is not None
        source = "exact rationals" if channel.exact else "enclosed by balls"
        source = "TAKEN FROM THE CERTIFICATE (resolved matrix)" if model.foreign else source
    evidence, tally = known.proof(lines, channel).check(claim)
    ends = ends_words(claim["lower"], claim["upper"], "L", known.most)
    about = ", OF THE MATRIX IN THE CERTIFICATE ONLY, not of the model's mechanism"
    return [
        f"resolved: {ends}{about}" if model.foreign else f"proved: {ends}",
        f"L: {known.about}",
        f"channel: {source}",
        *evidence,
    ], tally
