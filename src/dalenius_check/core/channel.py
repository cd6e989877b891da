"""The mechanism as a row-stochastic matrix: exact rationals, or balls where an epsilon enters."""

from __future__ import annotations

from typing import Any

from .allowance import NUMBER
from .classes import CLASSES
from .counts import values
from .kinds import PROTOCOLS
from .matrix import Channel, log_weights
from .model import Model
from .noise import NOISES, REAL, Noise, diagonal, noise_of, power
from .numbers import need, normalised, take_entries
from .registry import lemma

__all__ = ["Channel", "build", "log_weights"]

_LEMMAS = {
    **dict.fromkeys(REAL, "real_noise"),
    **dict.fromkeys(PROTOCOLS, "protocols"),
    **dict.fromkeys(("randomized_count", "randomized_histogram"), "randomized"),
    "several_releases": "releases",
    "adaptive": "adaptive",
}


def build(model: Model, resolved: dict[str, Any] | None = None) -> Channel | None:
    """The model's channel, or the resolved matrix; None for an unknown kind without one."""
    mechanism = resolved or model.mechanism
    allowance = model.allowance
    kind = mechanism["kind"]
    inputs = values(model)
    named = (
        kind in ("several_releases", "adaptive", "symmetric", "randomized_response", "randomized_histogram")
        or mechanism.get("inputs") == "query"
    )
    need(
        model.query["kind"] != "joint" or named,
        "a joint query needs several_releases, adaptive, a matrix, symmetric or randomized_response",
    )
    if kind == "matrix":
        return _matrix(model, mechanism, inputs)
    if kind in ("symmetric", "randomized_response"):
        rows = diagonal(mechanism, len(inputs), allowance)
        return Channel(rows, inputs, allowance, diagonal=(rows[0][0], rows[0][1]))
    if kind == "laplace_threshold":
        need(inputs == [0, 1], "laplace_threshold needs a query with the values 0, 1")
        flip = power(mechanism["epsilon"] / 2) / 2
        keep = 1 - flip
        return Channel([[keep, flip], [flip, keep]], inputs, allowance)
    if kind in _LEMMAS:
        channel: Channel = lemma(_LEMMAS[kind]).channel(model, mechanism, inputs)
        return channel
    return _noisy(model, noise_of(mechanism), inputs, resolved is None) if kind in NOISES else None


def _noisy(model: Model, noise: Noise, inputs: list[int], own: bool) -> Channel:
    """Noise within a range, or, of a mechanism by itself, clamped far beyond the values."""
    known = model.adversary in ("entropy_at_least", "product_priors", "prior_set", *CLASSES)
    if not (noise.endless and noise.shifts and own and known and not model.secrets):
        return Channel(noise.rows(inputs, model.allowance), inputs, model.allowance)
    channel = Channel(noise_of(noise.alone(inputs)).rows(inputs, model.allowance), inputs, model.allowance)
    channel.lost = noise.lost(max(model.alphabets))
    return channel


def _matrix(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    rows = mechanism["rows"]
    dataset = mechanism["inputs"] == "dataset"
    wanted = model.states() if dataset else len(inputs)
    need(wanted >= 0, "a matrix on datasets needs at most 65536 datasets")
    need(len(rows) == wanted, f"{len(rows)} rows where {wanted} are needed")
    take_entries(len(rows), len(rows[0]), model.allowance, NUMBER)
    exact = [normalised(row, "a row", model.allowance) for row in rows]
    return Channel(exact, list(range(wanted)) if dataset else inputs, model.allowance, dataset)
