"""The source paper's Algorithm 1: alternate between the marginal and the conditional laws, record after record."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from dalenius.baselines.family import Family, LeakageRun, Log, Rest, need_positive
from dalenius.baselines.gradients import through
from dalenius.baselines.laws import ConditionalSettings, MarginalSettings, blahut_arimoto, coordinate_ascent
from dalenius.information.arrays import Floats
from dalenius.search import Clock

UPDATE_SLACK = 1e-10  # entropy in nats by which an update may miss the bound; the repair at the end makes up for it
REPAIR_MARGIN = 1e-13  # entropy in nats, relative to 1 + the bound's distance from log |X|, beyond the bound


@dataclass(frozen=True)
class LeakageSettings:
    """Of Algorithm 1, with those of Algorithms 2 and 3. The paper's tolerance is lost; ours is small.

    Attributes
    ----------
    tolerance : float
        Stop when an iteration changes the leakage by less than this, in nats.
    iterations : int
        An iteration visits every record.
    marginal : MarginalSettings
    conditional : ConditionalSettings
    """

    tolerance: float = 1e-8
    iterations: int = 200
    marginal: MarginalSettings = field(default_factory=MarginalSettings)
    conditional: ConditionalSettings = field(default_factory=ConditionalSettings)

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "iterations")


def starts(family: Family, rng: np.random.Generator) -> Iterator[Floats]:
    """The paper's uniform start, then random ones without end (the paper recommends several)."""
    yield family.uniform
    while True:
        yield family.random(rng)


def alternate(
    family: Family, law: Floats, settings: LeakageSettings, log: Log, rng: np.random.Generator | None = None
) -> tuple[Floats, int, Rest]:
    """Algorithm 1 from one start: the law where it comes to rest, the number of iterations, and why it stopped.

    An update of record i, Algorithm 2 then Algorithm 3 on (pi, w) of that record, is rejected unless I(X_i; Y) gains and
    max_j I(X_j; Y) does not fall. So the largest leakage never falls, which is what the paper's Theorem 4.1 says.
    """
    values = family.leakages(law)
    bound = -family.max_knowledge
    for iteration in range(1, int(settings.iterations) + 1):
        gained = 0.0
        for j, view in enumerate(family.views):
            if log.clock.expired:
                return law, iteration - 1, Rest.TIME
            pi, rows = view.split(law)
            spread = np.array([view.spread(a, row) for a, row in enumerate(rows)])
            pi = blahut_arimoto(pi, through(rows, family.given[j]), spread, bound, settings.marginal, log)
            rows = coordinate_ascent(view, family.given[j], pi, rows, bound, settings.conditional, log, rng)
            changed = law.copy()
            for cells, mass, row in zip(view.cells, pi, rows, strict=True):
                changed[cells] = mass * row
            found = family.leakages(changed) if family.shared else _with(values, j, family.leakage(j, changed))
            log.evaluations += len(values) if family.shared else 1
            allowed = view.entropy(pi, rows) >= bound - UPDATE_SLACK
            if allowed and found[j] > values[j] and found.max() >= values.max():
                gained = max(gained, float(found[j] - values[j]))
                law, values = changed, found
                log.note(iteration, float(values.max()))
        if gained == 0.0:
            return law, iteration, Rest.REJECTED
        if gained < settings.tolerance:
            return law, iteration, Rest.TOLERANCE
    return law, int(settings.iterations), Rest.ITERATIONS


def _with(values: Floats, j: int, value: float) -> Floats:
    values = values.copy()
    values[j] = value
    return values


def leakage_run(
    family: Family,
    start: Floats | None = None,
    *,
    settings: LeakageSettings | None = None,
    clock: Clock | None = None,
    rng: np.random.Generator | None = None,
) -> LeakageRun:
    """Algorithm 1 on a family of laws, and its prior repaired and judged.

    Parameters
    ----------
    family : Family
        `full_joint(problem)` or `aggregated(problem)`.
    start : (size of the family,), optional
        The first law; the uniform one, as in the paper, unless given. It is repaired if it breaks the entropy bound.
    settings : LeakageSettings, optional
    clock : Clock, optional
        When to stop; the law reached by then is returned.
    rng : numpy.random.Generator, optional
        Of Algorithm 3's rows, where they begin randomly (`ConditionalSettings.rows`). Left out, every start has a generator of its
        own; without a start rows begin uniformly.

    >>> import dalenius as dl
    >>> from dalenius.baselines import full_joint
    >>> problem = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Parity(),
    ...     mechanism=dl.laplace_threshold(1.0), adversary=dl.EntropyAtLeast(1.0))
    >>> run = leakage_run(full_joint(problem))
    >>> round(run.value, 6), run.violation
    (0.079542, 0.0)
    """
    clock = Clock() if clock is None else clock
    log = Log(clock)
    law = family.uniform if start is None else family.repaired(start)
    if rng is None and start is not None:
        rng = np.random.default_rng(zlib.crc32(law.tobytes()))
    log.note(0, float(family.leakages(law).max()))
    law, iterations, rest = alternate(family, law, settings or LeakageSettings(), log, rng)
    return concluded("alternating", family, law, iterations, rest, log)


def concluded(method: str, family: Family, law: Floats, iterations: int, rest: Rest, log: Log) -> LeakageRun:
    """What a rival came to: its last law repaired and judged."""
    law = family.repaired(law, REPAIR_MARGIN * (1.0 + family.max_knowledge))
    value, best = family.judged(law)
    log.note(iterations, value)
    return LeakageRun(
        method=f"{method}, {family.name}",
        value=value,
        record=family.views[best].record,
        prior=law,
        masses=family.views[best].masses(law, len(family.channel)),
        violation=family.shortfall(law),
        iterations=iterations,
        evaluations=log.evaluations,
        trace=tuple(log.moments),
        termination=rest,
    )
