"""Leakage about one secret under a class of laws of the data.

*Where the secret and what is given determine the channel input* I(g; Y | w) is concave in the law: one convex program, both ends of
which are proved. *Elsewhere* it is neither concave nor convex. From above: for output laws r_c it is at most the sum over cells of
m D( u/m || r_c ), which is convex in the law, hence largest at a vertex of a polytope, and at most sum_x P(x) D(W_x || r_c), which is
linear, hence bounded over every class. From below: an ascent. The interval may stay open.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from dalenius.audits.law_classes import exact_weights, largest_mean, multiplier_text
from dalenius.evidence import vector_text
from dalenius.evidence.lower import InputLaw, SparseLaw
from dalenius.evidence.upper import LawOfSelections, MeanLine, ProofLine, SecretSection
from dalenius.exact import WRITABLE_BITS, fraction_text
from dalenius.information import relative_entropy
from dalenius.information.arrays import Floats
from dalenius.information.balls import fraction
from dalenius.information.capacity import capacities
from dalenius.information.law_classes import GivenChannel, best_given_mixture, shares_of, worst_law
from dalenius.information.measures import AllPriors, EntropyFloor, PriorClass, PriorPolytope
from dalenius.information.measures.numbers import Numbers, doubles, rationals
from dalenius.information.measures.prior_balls import Ball
from dalenius.reduction import SecretCells, distinct_rows
from dalenius.search import Clock

MOST_ENTRIES, USUAL = (
    2**16,
    1e-9,
)  # of rows whose capacities are worth computing before anything is known, to so many nats
DECIMALS, LEAST = 18, 1e-20  # of an output law's weights
UNIFORM_RATE = "1e14"  # a multiplier of the entropy at which nothing but the mean is left, to 1e-14 nats
CLIMBS, SHORTEST, STALLED = 100, 2.0**-30, 1e-7  # steps of an ascent, the shortest, and the least relative gain of one

Lines = Iterator[SecretSection | MeanLine | ProofLine]


@dataclass
class SecretLaws:
    """One secret against a class of laws; `lower` and `upper` are in nats.

    Attributes
    ----------
    cells : SecretCells
    rows : (inputs, outputs)
    priors : PriorClass
        Of laws on the datasets.
    law : (datasets,) or None
        The best law found, of the class, exactly.
    prior : how a certificate writes it
    """

    cells: SecretCells
    rows: Floats
    priors: PriorClass
    lower: float = 0.0
    upper: float = np.inf
    law: Numbers | None = None
    prior: InputLaw | None = None
    _outputs: Floats = field(init=False)
    _point: Numbers | None = None
    _multipliers: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        inputs = [tuple(sorted({k for cell in family for k in cell})) for family in self.cells.families]
        known = _usual_laws(self.rows, set(inputs))
        usual = np.array([known[listed] for listed in inputs])
        self.channel = GivenChannel(self.rows, self.cells.inputs, self.cells.given, usual)
        self._bound(self.channel.usual)

    @property
    def polytope(self) -> bool:
        """True if the class is one of mixtures of listed laws, which a witness weighs."""
        return isinstance(self.priors, PriorPolytope)

    @property
    def concave(self) -> bool:
        """True if both ends are those of a convex program."""
        return self.cells.determined

    def run(self, gap: float, clock: Clock) -> None:
        """The best output laws, and the best law found."""
        if self.polytope:
            self._mixture()
        else:
            found = worst_law(self.channel, self.priors, gap=gap, clock=clock)
            self._bound(found.outputs)
            self._attain(found.law)
        if not self.concave:
            for start in self._starts():
                if clock.expired:
                    break
                self._climb(start, clock)

    # ------------------------------------------------------------ from above

    def _bound(self, laws: Floats) -> None:
        """Keep these output laws, one for each value of what is given, where they prove more."""
        rounded = np.maximum(laws.round(DECIMALS), LEAST)
        shares = rounded / rounded.sum(axis=1, keepdims=True)
        if self.polytope:
            upper, multipliers = max(self._above(shares, doubles(law)) for law in self._vertices), None
        else:
            divergences = self.channel.divergences(shares)
            upper, multipliers = largest_mean(self.priors, divergences), multiplier_text(self.priors, divergences)
            if isinstance(self.priors, EntropyFloor) and self.priors.above == 0:  # the uniform law alone
                multipliers = (UNIFORM_RATE,)
        if upper < self.upper:
            self.upper, self._outputs, self._multipliers = max(upper, 0.0), rounded, multipliers

    def _above(self, laws: Floats, law: Floats) -> float:
        """Under this law the sum over cells of m D( u/m || r_given ).

        *Bound because* I(g; Y | w) is this less the divergences of the outputs' own laws, given w, from r.
        """
        joint = self.cells.joint(law, self.rows)
        masses = joint.sum(axis=1)
        told = masses > 0.0
        conditional = joint[told] / masses[told, None]
        return float(masses[told] @ relative_entropy(conditional, laws[self.cells.given_of_cell[told]]))

    def _mixture(self) -> None:
        """Of a polytope: the least over output laws of the largest at a vertex, which some mixture of the vertices attains."""
        vertices = [doubles(law) for law in self._vertices]
        joints = [self.cells.joint(law, self.rows) for law in vertices]
        negentropy = []
        for joint in joints:
            masses = joint.sum(axis=1, keepdims=True)
            parts = np.where(masses > 0.0, joint / np.where(masses > 0.0, masses, 1.0), 1.0 / joint.shape[1])
            negentropy.append(float(masses[:, 0] @ np.sum(parts * np.log(np.where(parts > 0.0, parts, 1.0)), axis=1)))
        mixed = np.array([self.channel.outputs(law) for law in vertices])
        weights = best_given_mixture(mixed, np.array(negentropy))
        self._bound(self.channel.output_laws(np.tensordot(weights, mixed, axes=1)))
        for shares in (weights, *np.eye(len(vertices))):
            self._attain(shares_of(shares))

    # ------------------------------------------------------------ from below

    def found(self) -> tuple[Floats, InputLaw] | None:
        """The best law found that can be written, and how a certificate does."""
        return None if self.law is None or self.prior is None else (doubles(self.law), self.prior)

    @property
    def _vertices(self) -> Numbers:
        assert isinstance(self.priors, PriorPolytope)
        return np.asarray(self.priors.vertices, dtype=object)

    def _law(self, point: Numbers) -> Numbers:
        """The law that a witness states: as it is, or the weights of a polytope's vertices."""
        return point @ self._vertices if self.polytope else point

    def _attain(self, point: Numbers) -> None:
        """Keep a law of the class that is told more, as far as it can be written."""
        law = self._law(point)
        told = self.cells.information(doubles(law), self.rows)
        if told > self.lower and (prior := exact_weights(point) if self.polytope else _sparse(law)) is not None:
            self.lower, self.law, self.prior, self._point = told, law, prior, point

    def _starts(self) -> Iterator[Numbers]:
        """Starting points of ascents: the law that is known, and the one that learns most under the usual output laws."""
        if self._point is not None:
            yield self._point
        yield self._towards(self.channel.divergences(self.channel.usual))
        if self.polytope:
            yield shares_of(np.ones(len(self._vertices)))

    def _towards(self, slope: Floats) -> Numbers:
        """The law of the class, or the vertex, with the largest mean."""
        if not self.polytope:
            return self.priors.exact_law(rationals(-slope))
        return shares_of(np.eye(len(self._vertices))[int(np.argmax(doubles(self._vertices @ rationals(slope))))])

    def _climb(self, start: Numbers, clock: Clock) -> None:
        """Steps of Frank and Wolfe towards the law of the class with the largest slope, as long as more is revealed.

        The law is a mixture of laws of the class, so that it is one, exactly, whatever doubles made of the weights.
        """
        parts, weights, law = [start], np.ones(1), doubles(self._law(start))
        told = self.cells.information(law, self.rows)
        for _ in range(CLIMBS):
            target = self._towards(self.cells.slope(law, self.rows))
            towards, share, better = doubles(self._law(target)) - law, 2.0, told
            while share >= SHORTEST and better <= told:
                share /= 2.0
                better = self.cells.information(law + share * towards, self.rows)
            if better <= told * (1.0 + STALLED) or clock.expired:
                break
            parts, weights = [*parts, target], np.append((1.0 - share) * weights, share)
            law, told = law + share * towards, better
        if told > self.lower:
            self._attain(np.asarray(shares_of(weights) @ np.array(parts, dtype=object)))

    # ------------------------------------------------------------ as lines

    def lines(self) -> Lines:
        """The section that proves `upper`."""
        yield SecretSection(self.cells.secret)
        laws, of = distinct_rows(self._outputs)
        for j, law in enumerate(laws):
            yield LawOfSelections(tuple(np.flatnonzero(of == j).tolist()), vector_text(law))
        yield MeanLine(self._multipliers)

    @property
    def leaves(self) -> int:
        """Output laws in these lines."""
        return len(distinct_rows(self._outputs)[0])


def _usual_laws(rows: Floats, listed: set[tuple[int, ...]]) -> dict[tuple[int, ...], Floats]:
    """For each list of inputs an output law that is near to their rows; the nearest where the lists are short."""
    found = {inputs: rows[list(inputs)].mean(axis=0) for inputs in listed}
    for size in {len(inputs) for inputs in listed}:
        alike = [inputs for inputs in listed if len(inputs) == size]
        if size * len(alike) * rows.shape[1] <= MOST_ENTRIES:
            answers = capacities(rows[np.array(alike)], gap=USUAL)
            found |= {inputs: answer.output_law for inputs, answer in zip(alike, answers, strict=True)}
    return found


def plain_bound(cells: SecretCells, rows: Floats, priors: PriorClass) -> tuple[float, Lines]:
    """A bound by one output law for everything, which needs no search, and its lines."""
    law = np.maximum(rows[np.unique(cells.inputs)].mean(axis=0).round(DECIMALS), LEAST)
    divergences = np.maximum(relative_entropy(rows, law / law.sum()), 0.0)[cells.inputs]
    known = priors.support(len(divergences))
    bounded = isinstance(priors, AllPriors | Ball)
    upper = float(divergences[known].max()) if bounded else largest_mean(priors, divergences)
    if isinstance(priors, Ball) and not isinstance(priors, EntropyFloor) and priors.radius == 0:
        upper = largest_mean(priors, divergences)
    given = tuple(range(int(cells.given.max()) + 1))
    return upper, iter((SecretSection(cells.secret), LawOfSelections(given, vector_text(law)), MeanLine(None)))


def _sparse(law: Numbers) -> SparseLaw | None:
    """The datasets with a probability, each with it; None if the numbers would be too long."""
    listed = [(x, fraction(p)) for x, p in enumerate(law) if p > 0]
    if any(p.numerator.bit_length() + p.denominator.bit_length() > WRITABLE_BITS for _, p in listed):
        return None
    return tuple((x, fraction_text(p)) for x, p in listed)
