"""A proof whose leaves all have one slope bounds the whole curve by one line; which slope to ask of it (docs/theory.md, "The whole curve").

With a multiplier m that is the same in every leaf a proof bounds I + m (H(p) - b) over all priors, whatever entropy they have. That is
L(b) at best: where the curve lies below its tangent at b, with -m the tangent's slope, which is the witness's own multiplier.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalenius.audits.ascent import priced
from dalenius.audits.record_audit import RecordAudit
from dalenius.search import Clock
from dalenius.search.decimals import short

__all__ = ["tangent_slope"]

DIGITS = 6


def tangent_slope(
    records: Sequence[RecordAudit], target: float, *, rng: np.random.Generator, clock: Clock
) -> float | None:
    """The multiplier of the record that is told most about, if no prior is found that keeps the bounds above the target with it.

    None, too, where the entropy bound costs that record nothing: the curve is level there.
    """
    exposed = max(records, key=lambda record: record.candidate.leakage, default=None)
    if exposed is None or exposed.channel.max_knowledge == 0.0 or not exposed.candidate.mu > 0.0:
        return None
    slope = float(short(exposed.candidate.mu, DIGITS))
    found = (priced(r.channel, slope, rng=rng, clock=clock, warm=[r.candidate.p]) for r in records)
    return slope if all(value <= target for value in found) else None
