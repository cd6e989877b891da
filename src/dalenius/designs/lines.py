"""The lines of a bound on the best design: one writer for whatever multipliers it has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from dalenius.evidence.lower import (
    AlsoLine,
    ConeLine,
    DualLine,
    LowerLine,
    MultiplierLine,
    PriorLine,
    RatioLine,
    TermLine,
    WeightLine,
)

NOTHING = (DualLine(None),)  # proves that the optimum is at least 0


def dual_lines(
    *,
    budget: str = "0",
    priors: Iterable[PriorLine] = (),
    ratios: Iterable[RatioLine] = (),
    weights: Iterable[WeightLine] = (),
    terms: Iterable[TermLine] = (),
    prices: Mapping[int, Mapping[int, str]] | None = None,
    cones: Mapping[int, Sequence[str]] | None = None,
    tangents: Iterable[LowerLine] = (),
    also: Iterable[AlsoLine] = (),
) -> tuple[LowerLine, ...]:
    """In the order of docs/certificate-format.md.

    Parameters
    ----------
    prices : mapping of constraint -> mapping of row -> multiplier
    cones : mapping of constraint -> (t, u...)
    """
    return (
        DualLine(budget),
        *priors,
        *ratios,
        *weights,
        *terms,
        *(MultiplierLine(j, tuple(sorted(rows.items()))) for j, rows in sorted((prices or {}).items())),
        *(ConeLine(j, t, tuple(u)) for j, (t, *u) in sorted((cones or {}).items())),
        *tangents,
        *also,
    )
