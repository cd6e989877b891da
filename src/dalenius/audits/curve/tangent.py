"""Which slope all leaves of a proof are to have, so that it bounds the whole curve by one line (docs/theory.md, "The whole curve").

With a multiplier m that is the same in every leaf a proof bounds I + m (H(p) - b) over all priors, whatever entropy they have. That is
L(b) at best: where the curve lies below its tangent at b, with -m the tangent's slope, which is the witness's own multiplier.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalenius.audits.ascent import Candidate, priced
from dalenius.reduction import RecordChannel
from dalenius.search import Clock
from dalenius.search.decimals import short

__all__ = ["tangent_slope"]

DIGITS = 6
LEVEL = 1e-6  # of the leakage: a line that falls by no more up to log |X| is level


def tangent_slope(
    known: Sequence[tuple[RecordChannel, Candidate]], target: float, *, rng: np.random.Generator, clock: Clock
) -> float | None:
    """The multiplier of the record that is told most about, if no prior is found that keeps the bounds above the target with it.

    None, too, where the entropy bound costs that record nothing: the curve is level there.

    Parameters
    ----------
    known : sequence of pairs
        Each kind of record, and its witness.
    target : float
        What the bounds are to come down to, in nats.
    """
    channel, best = max(known, key=lambda pair: pair[1].leakage)
    if best.mu * channel.max_knowledge <= LEVEL * best.leakage:
        return None
    slope = float(short(best.mu, DIGITS))
    found = (priced(channel, slope, rng=rng, clock=clock, warm=[witness.p]) for channel, witness in known)
    return slope if all(value <= target for value in found) else None
