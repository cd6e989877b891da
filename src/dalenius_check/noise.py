"""The rows of mechanisms that tell a value with noise: exact rationals, or balls where an epsilon enters."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from .allowance import NUMBER, POINTER, Allowance
from .arithmetic import arb, fmpq
from .numbers import need
from .sizes import take_entries


def power(exponent: fmpq) -> Any:
    """exp(-exponent): the rational 1 at zero, else a ball."""
    return fmpq(1) if exponent == 0 else arb(-exponent).exp()


def noise_of(mechanism: dict[str, Any]) -> fmpq:
    """The epsilon of discrete Laplace or geometric noise, by its scale if that is what is stated."""
    scale: fmpq | None = mechanism.get("scale")
    return mechanism["epsilon"] if scale is None else 1 / scale


def diagonal(mechanism: dict[str, Any], size: int, allowance: Allowance) -> list[list[Any]]:
    """Those that keep the value, or change it to any other alike."""
    need(size >= 2 and mechanism["k"] in (None, size), f"mechanism.k must be {size}, one for each value, and >= 2")
    take_entries(size, size, allowance, POINTER)
    if mechanism["kind"] == "symmetric":
        keep, other = 1 - mechanism["flip"], mechanism["flip"] / (size - 1)
    else:
        decay = power(mechanism["epsilon"])
        keep, other = 1 / (1 + (size - 1) * decay), decay / (1 + (size - 1) * decay)
    return [[other] * v + [keep] + [other] * (size - v - 1) for v in range(size)]


def decaying(mechanism: dict[str, Any], inputs: list[int], allowance: Allowance) -> list[list[Any]]:
    """Those that fall with the distance from the value."""
    low, high = mechanism["range"] or (inputs[0], inputs[-1])
    need(low < high, "mechanism.range needs two outputs: the query has one value only")
    need(low <= inputs[0] and inputs[-1] <= high, "mechanism.range must contain every value of the query")
    geometric = mechanism["kind"] == "geometric"
    take_entries(len(inputs), high - low + 1, allowance, POINTER if geometric else NUMBER)
    rate = mechanism["epsilon"] if geometric else mechanism["epsilon"] / (2 * mechanism["sensitivity"])
    decay = [power(rate * d) for d in range(high - low + 1)]
    if geometric:
        ends = [x / (1 + decay[1]) for x in decay]
        inside = [-x * arb(-rate).expm1() for x in ends]
        return [[(ends if y in (low, high) else inside)[abs(y - v)] for y in range(low, high + 1)] for v in inputs]
    tails = list(accumulate(decay))
    rows = []
    shares = dict[int, list[Any]]()
    for v in inputs:
        allowance.look()
        near, far = sorted((v - low, high - v))
        if near not in shares:  # of two mirrored inputs only one is worked out
            weight = tails[near] + tails[far] - decay[0]
            shares[near] = [x / weight for x in decay[: far + 1]]
        rows.append([shares[near][abs(y - v)] for y in range(low, high + 1)])
    return rows


def two_sided(mechanism: dict[str, Any], inputs: list[int], allowance: Allowance) -> list[list[Any]]:
    """Discrete Laplace noise as the geometric mechanism between the least and the largest value.

    Bound because the outputs beyond them have proportional columns, and merging such columns leaves every information as it is.
    """
    alike = {"kind": "geometric", "epsilon": noise_of(mechanism), "range": None}
    return decaying(alike, inputs, allowance) if len(inputs) > 1 else [[fmpq(1)]]
