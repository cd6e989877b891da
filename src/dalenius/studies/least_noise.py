"""Least noise: the least scale that keeps a leakage within a budget, with certificates on both sides of it.

What is revealed of a record, or of a secret, falls as the scale grows, as noise of a larger scale is noise of a smaller one to which
more is added (docs/theory.md). Of discrete Gaussian noise this is not so: there, what is proved is that one scale is enough and
another is not. The noises of several releases grow together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from dalenius._solve import solve
from dalenius.errors import DaleniusError, InputError, brief
from dalenius.exact import Number, as_quantity
from dalenius.information.noise_formulas import scale_by_ratios
from dalenius.model import Problem, SecretLeakage, WorstCaseLeakage, audited, digest
from dalenius.model.mechanisms import MECHANISMS, Mechanism, ScaledNoise
from dalenius.model.mechanisms.base import Part
from dalenius.notebook import in_brief
from dalenius.outcome import Termination
from dalenius.results import Result, SecretResult
from dalenius.search import Clock, Limits, Progress, stopped_by_interrupt
from dalenius.units import UNITS, unit_size

NOISES = {kind: noise.of_scale(1) for kind, noise in MECHANISMS.items() if issubclass(noise, ScaledNoise)}
CLOSE = 0.1  # share of the gap that an interval of the leakage may have
APART = 0.35  # share of the gap that the next scale is away from where the budget seems to be met
STEPS = 60
PLENTY = Fraction(200)  # nats or bits, for formulas: what is enough for so many is so for more
WAITING = 3  # steps in which the bracket has to shrink to its square root
SHARE = 0.5  # of the time that is left, for one scale
LATE = 1 / 32  # share of the time limit that is not worth another scale
SHORTEST = 1e-3  # seconds: what can be proved in so little is proved
NEAR = Fraction(21, 20)  # of scales, beside one at which nothing was proved
BESIDE = 8  # scales that are tried beside one whose interval is around the budget


@dataclass(frozen=True)
class NoiseLevel:
    """A scale of the noise, and what is proved of the leakage there; of several releases the scale of the first one's noise."""

    scale: Fraction
    problem: WorstCaseLeakage | SecretLeakage
    result: Result | SecretResult

    @property
    def releases(self) -> tuple[tuple[ScaledNoise, Part], ...]:
        """The noise of each release, whose `mean_error` is the accuracy; how many there are of it, and of which query."""
        return tuple((noise_of(part.mechanism), part) for part in _parts(self.problem.mechanism))


@dataclass(frozen=True)
class NoiseFormula:
    """A scale that is enough by a theorem, in doubles: its name and source, and what it is for."""

    scale: float
    name: str
    condition: str


@dataclass(frozen=True)
class LeastNoise:
    """Scales between which the leakage of some noise meets a budget.

    Attributes
    ----------
    at_most : Fraction
        The budget, in `units`.
    units : {"nats", "bits"}
    within : NoiseLevel
        A scale at which the leakage is proved to be at most the budget.
    above : NoiseLevel or None
        A smaller one at which it is proved to be larger; None where the least scale that the mechanism may have is enough.
    levels : tuple of NoiseLevel
        All scales that were tried, ascending.
    formulas : tuple of NoiseFormula
        What theorems ask for, the least first.
    falling : bool
        Whether the leakage is known to fall as the scale grows, so that `within.scale` is the least one, up to the gap, and every
        larger one is enough.
    """

    __repr__ = in_brief

    at_most: Fraction
    units: str
    within: NoiseLevel
    above: NoiseLevel | None
    levels: tuple[NoiseLevel, ...]
    formulas: tuple[NoiseFormula, ...]
    falling: bool

    @property
    def gap(self) -> float:
        """Distance of the two scales, as a share of the larger one; 1 where there is one only."""
        return 1.0 if self.above is None else float(1 - self.above.scale / self.within.scale)


def least_noise(
    problem: WorstCaseLeakage | SecretLeakage,
    at_most: Number,
    *,
    gap: float = 1e-3,
    time_limit: float | None = 60.0,
    progress: Callable[[Progress], None] | None = None,
) -> LeastNoise:
    """The least scale of the problem's noise at which no more than a budget is revealed of any record or secret.

    Parameters
    ----------
    problem : WorstCaseLeakage or SecretLeakage
        Its mechanism is `gaussian`, `laplace`, `discrete_laplace`, `geometric` (of scale 1/epsilon) or `discrete_gaussian`, whose own
        scale is not used; or `several_releases` of such, whose own scales only say how they are to each other.
    at_most : number or str
        The budget: nats, or a text such as ``"0.1 bits"``; above 0.
    gap : float
        How far, in shares, the scale that is enough may be above one that is not.
    time_limit : float or None
        Seconds for everything, None for no limit. At least one scale is tried; each may take half of what is left.
    progress : callable, optional
        As in `solve`, for each scale that is tried.

    Returns
    -------
    LeastNoise
        Both ends have certificates: `within.result` proves a leakage of at most the budget, `above.result` one of more.
        Where rounding leaves intervals around the budget, at the time limit and after Ctrl-C they are farther apart than `gap`.

    Raises
    ------
    InputError
        If the mechanism has no scale, the budget is not above 0, `gap` is not between 0 and 1, or the largest scale there may be
        reveals more than the budget.
    DaleniusError
        If no scale was proved to be enough within the time limit.
    KeyboardInterrupt
        If it is interrupted before that.

    >>> import dalenius as dl
    >>> question = dl.WorstCaseLeakage(
    ...     records=dl.Records(1000, alphabet=2), query=dl.Count(), mechanism=dl.laplace(1), adversary=dl.IndependentBlocks(1))
    >>> found = dl.least_noise(question, 0.1)
    >>> found.above.scale < 0.92798985892 < found.within.scale, found.gap <= 1e-3
    (True, True)
    """
    problem = problem if isinstance(problem, SecretLeakage) else audited(problem)
    family = _Family.of(problem)
    amount, units = budget_of(at_most)
    if not 0.0 < gap < 1.0:
        raise InputError(f"gap: expected a number between 0 and 1, got {brief(gap)}")
    stated = family.formulas(float(min(amount, PLENTY)) * unit_size(units))
    formulas = tuple(sorted(stated, key=lambda formula: formula.scale))
    clock = Clock(Limits(time_limit=time_limit).seconds)
    search = _Search(family, amount, units, gap, clock, progress)
    least, most = family.spreads
    with stopped_by_interrupt(clock):
        search.run(formulas[0].scale if formulas else max(*family.known, 1), least, most)
    if search.within is None:
        if clock.stopped:
            raise KeyboardInterrupt
        if not search.levels:
            assert search.failure is not None
            raise search.failure
        level = search.levels[-1]
        if level.scale >= most and search.is_above(level):
            raise InputError(
                f"at_most: the largest scale there is, {brief(float(most))}, reveals more than the budget; allow more"
            )
        raise DaleniusError(
            f"no scale was proved to be enough; the last one that was tried, {brief(float(level.scale))}, reveals "
            f"{level.result.to(units)}; raise time_limit"
        )
    levels = tuple(sorted(search.levels, key=lambda level: level.scale))
    return LeastNoise(amount, units, search.within, search.above, levels, formulas, family.falls)


def _parts(mechanism: Mechanism) -> tuple[Part, ...]:
    """Its releases; itself, where there is one."""
    return mechanism.independent or (Part(mechanism, 1),)


def noise_of(mechanism: Mechanism) -> ScaledNoise:
    """The same; `InputError` where it is no noise with a scale.

    >>> from dalenius.model.mechanisms import geometric
    >>> noise_of(geometric("1/2")).spread
    Fraction(2, 1)
    """
    if isinstance(mechanism, ScaledNoise):
        return mechanism
    raise InputError(f"mechanism: expected noise with a scale: {', '.join(NOISES)}; got {mechanism.kind}")


def asks_the_same(there: Problem, problem: WorstCaseLeakage | SecretLeakage) -> bool:
    """True if two questions differ in nothing but how much noise there is.

    >>> import dalenius as dl
    >>> count = dl.WorstCaseLeakage(
    ...     records=dl.Records(9, alphabet=2), query=dl.Count(), mechanism=dl.laplace(1), adversary=dl.ProductPriors())
    >>> [asks_the_same(replace(count, mechanism=noise), count) for noise in (dl.laplace("1/3"), dl.geometric(1))]
    [True, False]
    """
    if not isinstance(there, type(problem)):
        return False
    return digest(_Family.of(problem).at(_Family.of(there).first.spread)) == digest(there)


@dataclass(frozen=True)
class _Family:
    """The problem's question about releases that differ in how much noise there is, by the scale of the first one's.

    Attributes
    ----------
    problem : WorstCaseLeakage or SecretLeakage
    parts : tuple of (noise, part)
        The releases, with the problem's own scales.
    known, values : list of int
        From the least to the greatest value of each query, where what is known is known, and at all.
    """

    problem: WorstCaseLeakage | SecretLeakage
    parts: tuple[tuple[ScaledNoise, Part], ...]
    known: list[int]
    values: list[int]

    @classmethod
    def of(cls, problem: WorstCaseLeakage | SecretLeakage) -> _Family:
        """`InputError` where a release is no noise with a scale."""
        parts = tuple((noise_of(part.mechanism), part) for part in _parts(problem.mechanism))
        return cls(problem, parts, problem.spans(known=True), problem.spans(known=False))

    def at(self, scale: Fraction) -> WorstCaseLeakage | SecretLeakage:
        """The problem with so much noise."""
        more = scale / self.first.spread
        return replace(
            self.problem,
            mechanism=self.problem.mechanism.of_each(lambda one: noise_of(one).spreading(more * noise_of(one).spread)),
        )

    @property
    def first(self) -> ScaledNoise:
        return self.parts[0][0]

    @property
    def falls(self) -> bool:
        """True if what is revealed is known to fall with the scale."""
        return all(noise.falls for noise, _ in self.parts)

    @property
    def spreads(self) -> tuple[Fraction, Fraction]:
        """The least and the largest scale that all of the releases may have."""
        ends = [
            [end * self.first.spread / noise.spread for end in noise.spreads(self.values[part.on])]
            for noise, part in self.parts
        ]
        return max(least for least, _ in ends), min(most for _, most in ends)

    def formulas(self, nats: float) -> Iterator[NoiseFormula]:
        """Scales that theorems ask for; of several releases the ratios of all of their likelihoods together."""
        spans = [self.known[part.on] for _, part in self.parts]
        condition = f"what is known leaves the query in an interval of length {max(spans)}"
        stated = self.first.enough(nats, max(spans)) if any(spans) else []
        if self.problem.mechanism.independent:
            pairs = zip(self.parts, spans, strict=True)
            moved = sum(part.times * span * self.first.spread / noise.spread for (noise, part), span in pairs)
            ratios = moved and all(noise.epsilon_per_step for noise, _ in self.parts)
            stated = [(scale_by_ratios(nats, float(moved)), "likelihood ratios alone")] if ratios else []
            condition = f"what is known leaves the queries in intervals of lengths {', '.join(map(str, self.known))}"
        return (NoiseFormula(*each, condition) for each in stated if math.isfinite(each[0]))


@dataclass
class _Search:
    """Scales on both sides of where the budget is met, ever closer."""

    family: _Family
    amount: Fraction
    units: str
    gap: float
    clock: Clock
    progress: Callable[[Progress], None] | None
    levels: list[NoiseLevel] = field(default_factory=list)
    within: NoiseLevel | None = None
    above: NoiseLevel | None = None
    failure: DaleniusError | None = None

    def run(self, guess: float, least: Fraction, most: Fraction) -> None:
        """Until the two are close, or as close as intervals around the budget let them, or there is nothing more to try."""
        scale, beside, unproved = min(max(self._rounded(guess), least), most), 0, Fraction(0)
        for step in range(STEPS):
            unproved = unproved if self._try(scale) else scale
            if self.clock.expired or self.clock.remaining < LATE * self.clock.time_limit:
                return
            if self.within is not None and self.above is not None:
                if unproved > self.above.scale or self.above.scale >= self.within.scale * Fraction(1.0 - self.gap):
                    return
                sides = self.above, self.within
                untold = sorted(one.scale for one in self.levels if sides[0].scale < one.scale < sides[1].scale)
                if beside == BESIDE:
                    return
                beside += 1 if untold else 0
                scale = self._beside(*sides, untold) if untold else self._between(*sides, step)
            elif self.within is not None:
                tried = min(level.scale for level in self.levels)
                if tried <= max(least, NEAR * unproved):
                    return
                scale = max(self._rounded(max(0.5 * float(tried), math.sqrt(tried * unproved))), least)
            else:
                if scale >= most:
                    return
                scale = min(self._rounded(2.0 * float(scale)), most)

    def _try(self, scale: Fraction) -> bool:
        """On which side of the budget this scale is, unless a time limit or rounding leaves its interval around it.

        False if nothing could be proved there in its share of the time, and `failure` says why.
        """
        problem = self.family.at(scale)
        seconds = max(SHARE * self.clock.remaining, SHORTEST)
        limit = None if math.isinf(seconds) else seconds
        try:
            result = solve(problem, gap=CLOSE * self.gap, time_limit=limit, progress=self.progress)
        except InputError:
            raise
        except DaleniusError as error:
            self.failure = error
            return False
        level, shown = NoiseLevel(scale, problem, result), result.to(self.units)
        self.levels.append(level)
        if result.termination is Termination.INTERRUPTED:
            self.clock.stop()
        if Fraction(shown.upper) <= self.amount:
            self.within = level
        elif self.is_above(level):
            self.above = level
        return True

    def is_above(self, level: NoiseLevel) -> bool:
        """True if it is proved to reveal more than the budget."""
        return Fraction(level.result.to(self.units).lower) > self.amount

    def _between(self, above: NoiseLevel, within: NoiseLevel, step: int) -> Fraction:
        """A scale between the two: beside the place where a line through both, in logarithms, meets the budget; or their middle."""
        low, high = math.log(above.scale), math.log(within.scale)
        y = [math.log(max(level.result.to(self.units).lower, 1e-300)) for level in (above, within)]
        slope = y[1] - y[0]
        share = (math.log(self.amount) - y[0]) / slope if slope < 0.0 else 0.5
        place, away = low + share * (high - low), APART * self.gap
        place += away if high - place > place - low else -away
        if step % (WAITING + 1) == WAITING or not low < place < high:
            place = 0.5 * (low + high)
        return self._inside(place, above.scale, within.scale)

    def _beside(self, above: NoiseLevel, within: NoiseLevel, untold: list[Fraction]) -> Fraction:
        """A scale on the longer side of those that cannot be told: close to the only one, by half the digits, else half-way."""
        low, high = math.log(above.scale), math.log(within.scale)
        left, right = math.log(untold[0]) - low, high - math.log(untold[-1])
        side = max(left, right)
        away = math.sqrt(side * min(0.5 * self.gap, side)) if len(untold) == 1 else 0.5 * side
        if left > right:
            return self._inside(math.log(untold[0]) - away, above.scale, untold[0])
        return self._inside(math.log(untold[-1]) + away, untold[-1], within.scale)

    def _inside(self, place: float, low: Fraction, high: Fraction) -> Fraction:
        """A scale near this logarithm, or the middle where rounding leads out of these ends."""
        found = self._rounded(math.exp(place))
        return found if low < found < high else (low + high) / 2

    def _rounded(self, scale: float) -> Fraction:
        """With as many digits as the gap needs."""
        digits = max(2 - math.floor(math.log10(self.gap)), 3)
        return Fraction(f"{scale:.{digits}g}")


def budget_of(at_most: Number) -> tuple[Fraction, str]:
    """The amount and its units."""
    amount, units = as_quantity(at_most, "at_most", known=UNITS)
    if amount <= 0:
        raise InputError(f"at_most: expected a leakage above 0, which no noise brings it down to, got {brief(at_most)}")
    return amount, units
