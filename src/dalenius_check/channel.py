"""The mechanism as a row-stochastic matrix: exact rationals, or balls where an epsilon enters."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .adaptive import Tree
from .allowance import NUMBER, POINTER
from .channel_matrix import Channel, log_weights
from .classes import CLASSES
from .counts import places, values
from .model import Model
from .noise import NOISES, Noise, diagonal, noise_of, power
from .numbers import need, normalised
from .protocols import PROTOCOLS, Protocol
from .randomized import randomized
from .read import normal
from .real_noise import KNOWN, REAL, real_noise
from .releases import counted, together
from .sizes import take_entries

__all__ = ["Channel", "build", "log_weights"]

_MAX_WRITTEN = 1 << 20


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
    if kind in REAL:
        return _real(model, mechanism, inputs)
    if kind == "randomized_count":
        return Channel(counted(mechanism, inputs, allowance), inputs, allowance)
    if kind == "several_releases":
        return Channel(together(list(_parts(model, mechanism, inputs)), len(inputs), allowance), inputs, allowance)
    if kind == "randomized_histogram":
        sizes = len(model.alphabets), model.alphabets[0]
        return Channel(randomized(mechanism, *sizes, len(inputs), allowance), inputs, allowance)
    if kind == "adaptive":
        return Channel(_tree(model, mechanism, inputs), inputs, allowance)
    if kind in PROTOCOLS:
        return _protocol(model, PROTOCOLS[kind](mechanism, len(inputs), allowance), inputs)
    return _noisy(model, noise_of(mechanism), inputs, resolved is None) if kind in NOISES else None


def _real(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    """A channel without rows, whose outputs are real numbers."""
    free = model.adversary == "entropy_at_least" and model.entropy == 0
    known = free or model.adversary == "product_priors" or model.adversary in CLASSES
    need(known and not model.secrets, KNOWN)
    channel = Channel([], inputs, model.allowance)
    channel.protocol = real_noise(mechanism, inputs, model.allowance)
    return channel


def _noisy(model: Model, noise: Noise, inputs: list[int], own: bool) -> Channel:
    """Noise within a range, or, of a mechanism by itself, clamped far beyond the values."""
    known = model.adversary in ("entropy_at_least", "product_priors", "prior_set", *CLASSES)
    if not (noise.endless and noise.shifts and own and known and not model.secrets):
        return Channel(noise.rows(inputs, model.allowance), inputs, model.allowance)
    channel = Channel(noise_of(noise.alone(inputs)).rows(inputs, model.allowance), inputs, model.allowance)
    channel.lost = noise.lost(max(model.alphabets))
    return channel


def _parts(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Iterator[tuple[list[list[Any]], int]]:
    """The channels of what is released together, and how often each is."""
    where = places(model, inputs)
    for part in mechanism["parts"]:
        yield _part(model, part, part.get("on", 0), where), part["times"]


def _part(model: Model, part: dict[str, Any], on: int, where: list[list[int]]) -> list[list[Any]]:
    """The rows of one mechanism, about one of the queries, for all inputs."""
    queries = model.query.get("queries", [model.query])
    need(on < len(queries), f"mechanism: a part is on query {on}, of {len(queries)}")
    channel = build(replace(model, query=queries[on]), part)
    assert channel is not None
    model.allowance.take(len(where[on]) * POINTER)
    return [channel.rows[k] for k in where[on]]


def _tree(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> list[list[Any]]:
    """A tree of releases: mechanisms that are written alike, about one query, are one."""
    where = places(model, inputs)
    parts = list[list[list[Any]]]()
    known = dict[tuple[str, int], int]()

    def number(stage: dict[str, Any]) -> tuple[int, int]:
        key = json.dumps(normal(stage["mechanism"]), sort_keys=True), stage["on"]
        if key not in known:
            known[key] = len(parts)
            parts.append(_part(model, stage["mechanism"], stage["on"], where))
        return known[key], len(parts[known[key]][0])

    tree = Tree(mechanism, number, model.allowance)
    return tree.rows(parts, len(inputs))


def _matrix(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    rows = mechanism["rows"]
    dataset = mechanism["inputs"] == "dataset"
    wanted = model.states() if dataset else len(inputs)
    need(wanted >= 0, "a matrix on datasets needs at most 65536 datasets")
    need(len(rows) == wanted, f"{len(rows)} rows where {wanted} are needed")
    take_entries(len(rows), len(rows[0]), model.allowance, NUMBER)
    exact = [normalised(row, "a row", model.allowance) for row in rows]
    return Channel(exact, list(range(wanted)) if dataset else inputs, model.allowance, dataset)


def _protocol(model: Model, protocol: Protocol, inputs: list[int]) -> Channel:
    """A channel that has rows if they are few enough to be written out."""
    written = len(inputs) * protocol.outputs() <= _MAX_WRITTEN
    known = not model.secrets and (model.adversary == "product_priors" or model.adversary in CLASSES)
    need(written or known, f"the channel has more than {_MAX_WRITTEN} entries, and no closed form for this adversary")
    if written:
        take_entries(len(inputs), protocol.outputs(), model.allowance, POINTER)
    channel = Channel(protocol.rows() if written else [], inputs, model.allowance)
    channel.protocol = protocol
    return channel
