"""Two certificates of one model make one, with the better of their lower and the better of their upper ends."""

from __future__ import annotations

import dataclasses

from dalenius.errors import InputError
from dalenius.evidence.certificate import Certificate

__all__ = ["join"]


def join(first: Certificate, second: Certificate) -> Certificate:
    """The better lower end and the better upper end of two proved certificates of one model.

    The lower end brings its witness, or its dual, priors and ratios; the upper end its sections and, in a design, its mechanism. No
    line of the one refers to a line of the other, so the parts prove together what they proved apart.

    Raises
    ------
    InputError
        If they are of different models.
    """
    if first.header.model != second.header.model:
        raise InputError("expected two certificates of one model; their headers name different digests")
    claim, other = first.header.claim, second.header.claim
    if claim is None or other is None:
        return first
    below = second if other[0] > claim[0] else first
    above = second if other[1] < claim[1] else first
    header = dataclasses.replace(above.header, lower=below.header.lower)
    return Certificate.of(header, below.lower_lines(), above.upper_lines())
