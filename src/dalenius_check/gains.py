"""What an information is at least, whatever the mechanism: a matrix of gains, by a posterior that is a hint."""

from __future__ import annotations

from typing import Any

from .allowance import BALL, limit
from .arithmetic import arb, arb_mat
from .channel import Channel, log_weights
from .numbers import need
from .proof import Masses
from .read import entries, law_of

_MAX_CELLS = 1 << 23


def gains(channel: Channel, masses: Masses, hint: Any) -> arb_mat:
    """g(x, y) of a prior and posterior phi: the sum over a of p(a, x) log(phi(a|y) / pi_a).

    Bound because I(X_i; Y) = sum Q g + sum r D(posterior || phi) >= sum Q g, whatever Q.
    """
    letters = len(masses)
    size = len(channel.rows)
    outputs = channel.outputs
    limit(letters * size <= _MAX_CELLS, "too many letters and inputs")
    channel.allowance.room((letters * (size + outputs) + size * outputs) * BALL)
    rows = [entries(row, "a letter's phi", outputs) for row in entries(hint, "phi", letters)]
    columns = [law_of(list(column), letters, "phi", channel.allowance) for column in zip(*rows, strict=True)]
    dense = [arb(0)] * (size * letters)
    logs_of = list[arb]()
    for a, (row, *logs) in enumerate(zip(masses, *map(log_weights, columns), strict=True)):
        held = [x for _, x in row if x]
        need(not held or all(column[a] for column in columns), f"phi is zero for letter {a}, which has mass")
        own = sum(map(arb, held), arb(0)).log() if held else arb(0)
        logs_of += [log - own if held else arb(0) for log in logs]
        for k, x in row:
            dense[k * letters + a] = arb(x)
    return arb_mat(size, letters, dense) * arb_mat(letters, outputs, logs_of)
