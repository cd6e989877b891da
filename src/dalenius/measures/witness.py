"""One record under the prior that a certificate shows: what the release reveals, and what it would tell without its own answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from flint import arb, ctx, fmpq

from dalenius.errors import InputError
from dalenius.evidence import Certificate
from dalenius.evidence.lower import UNIFORM, InputLaw, PieceOfWitness, WitnessLine
from dalenius.exact import as_fraction, divided
from dalenius.information.arrays import Floats, Integers
from dalenius.information.measures.numbers import Numbers as Array
from dalenius.information.measures.numbers import rationals
from dalenius.measures.subjects import NO_MATRIX, Measured, Subject, need_size
from dalenius.model import WorstCaseLeakage, digest
from dalenius.model.adversaries import (
    EntropyAtLeast,
    IndependentBlocks,
    LawClass,
    PolytopePriors,
    PriorSet,
    ProductPriors,
)
from dalenius.model.fields import keep
from dalenius.model.laws import Uniform
from dalenius.model.mechanisms import Mechanism
from dalenius.model.mechanisms.base import ExactEntries
from dalenius.model.mechanisms.real_noise import RealNoise
from dalenius.model.problems.pieces import Piece
from dalenius.reduction import Settings, selections, settings_of_others

MOST_CELLS, MOST_ENTRIES = 2**10, 2**15
PRECISION = 128


@dataclass(frozen=True)
class RoundedNoise(Mechanism):
    """A release with Gaussian or Laplace noise that is rounded: which of many short intervals it lies in, exactly.

    Rounding is post-processing, so that nothing here reveals more than the release itself; `above` reveals no less. No model file
    knows this kind.

    Parameters
    ----------
    noise : RealNoise

    >>> import numpy as np
    >>> from dalenius.model.mechanisms import gaussian
    >>> RoundedNoise(gaussian(1)).channel(np.arange(2)).sum(axis=1).round(12).tolist()
    [1.0, 1.0]
    """

    kind: ClassVar[str] = "rounded_noise"
    noise: RealNoise

    def edges(self, values: Integers) -> list[Fraction]:
        """Between the intervals, ascending, the values among them; beyond the outermost where densities are no multiples."""
        cells, reach = min(MOST_CELLS, MOST_ENTRIES // values.size), self.noise.reach * self.noise.scale
        low, high = values[0].item() - reach, values[-1].item() + reach
        grid = (low + (high - low) * k / (cells - 2) for k in range(cells - 1))
        return sorted({*grid, *map(Fraction, values.tolist())})

    def channel(self, values: Integers) -> Floats:
        with ctx.workprec(PRECISION):
            matrix: Floats = np.array(self.exact_channel(values), dtype=float)
        return matrix

    def exact_entries(self, values: Integers) -> ExactEntries:
        edges = self.edges(values)
        numbers = [number for value in values.tolist() for number in self._cells(edges, value)]
        return ExactEntries(numbers, np.arange(len(numbers)).reshape(values.size, -1))

    def _cells(self, edges: list[Fraction], value: int) -> list[arb]:
        """Probability of each interval, for one value: the smaller tails, so that nothing cancels."""
        above = [self.noise.above((edge - value) / self.noise.scale) for edge in edges]
        below = [self.noise.above((value - edge) / self.noise.scale) for edge in edges]
        inside = [
            below[k + 1] - below[k] if edge < value else above[k] - above[k + 1] for k, edge in enumerate(edges[:-1])
        ]
        return [below[0], *inside, above[-1]]

    def above(self, values: Integers) -> Array:
        """Channel that reveals no less than the noise: an edge of the cell that its output lies in, or the value itself.

        With g_v the density at v, on a cell [a, b] g_v(y) >= alpha(y) g_v(a) + beta(y) g_v(b), for the alpha and beta, at least 0, for
        which both sides are equal for the least and the greatest v; what is left on the left is given away with v. *Bound because* for
        Laplace noise they are equal, between values next to one another; and for Gaussian noise h_v = g_v / (g_least g_greatest)^(1/2)
        has h_v'' <= d^2 h_v, of which the right side is the equation, with the same ends. Beyond the outermost edge e the least of
        g_v(y) / g_v(e) is that of the value farthest away.
        """
        edges = self.edges(values)
        density = np.array(
            [[self.noise.density((edge - value) / self.noise.scale) for edge in edges] for value in values.tolist()]
        )
        near, far = density[[0, -1]]
        least, greatest = (self._cells(edges, values[place].item()) for place in (0, -1))
        weights = [greatest[0] / far[0]]
        for k, (p, q) in enumerate(zip(least[1:-1], greatest[1:-1], strict=True)):
            both = near[k] * far[k + 1] - near[k + 1] * far[k]
            weights[k] += (p * far[k + 1] - q * near[k + 1]) / both
            weights.append((q * near[k] - p * far[k]) / both)
        weights[-1] += least[-1] / near[-1]
        found = density * np.array(weights)
        return revealing(found) if self.noise.reach else np.asarray(found)


def revealing(common: Array) -> Array:
    """Channel that gives away its input where one with these likelihoods, which need not sum to 1, does not say what comes out.

    Probabilities of the inputs given away are rational, rounded upward, so that ratios of them are exact.
    """
    sums = common.sum(axis=1)
    told = [arb(1 - total).upper().fmpq() for total in sums]
    kept = common * np.array([(1 - more) / total for more, total in zip(told, sums, strict=True)])[:, None]
    return np.concatenate([kept, np.diag(np.array(told, dtype=object))], axis=1)


Masses = tuple[tuple[Fraction, ...], ...]  # by letter, then by channel input
KNOWN = (EntropyAtLeast, IndependentBlocks, ProductPriors, PriorSet, LawClass)
NOT_CLOSED = "information_privacy_delta", "strong_information_privacy_delta", "pointwise_maximal_leakage_delta"
CUT = "no value: of a release that is rounded, or clamped, to be evaluated, it may be more or less than of the release itself"
NONE = "certificate: it shows no prior that is told anything"


@dataclass(frozen=True)
class OfWitness(Subject):
    """A record under the witness of a certificate; `witness_of` makes one.

    Attributes
    ----------
    problem : WorstCaseLeakage
        Against independent blocks the question about one block, which is what theirs comes down to: everybody else is known.
    record : int
        Among all records.
    moved : tuple of Masses
        The joint masses of the record's letter and the channel's input, exactly: first as they are, then for each letter c those of
        the release in which the record answers c, whatever its letter is, and the others answer as they do.
    piece : Piece or None
        Which block.
    cut, reveals : bool
        Whether the problem's channel is of a release that is rounded, or clamped, and reveals less than the one that is asked about;
        and whether a channel that reveals no less stands in its place.
    """

    problem: WorstCaseLeakage
    record: int
    moved: tuple[Masses, ...]
    piece: Piece | None = None
    cut: bool = False
    reveals: bool = False
    against = "the prior that the certificate shows"

    def __post_init__(self) -> None:
        letters, outputs = len(self.masses), self.problem.channel.shape[1]
        about = f"record {self.record}, under the prior that the certificate shows; "
        about += "between releases that reveal no more, and no less" if self.cut else f"{outputs} outputs"
        if self.piece is not None:
            about += f"; a block of {len(self.problem.records)}, all others being known"
        mechanism = self.problem.route.mechanism
        labels = () if isinstance(mechanism, RoundedNoise) else tuple(mechanism.output_labels(self._values))
        keep(self, about=about, outputs=labels, shape=(letters, outputs))

    @property
    def masses(self) -> Masses:
        """P(X_record = letter, input), exactly."""
        return self.moved[0]

    @property
    def _values(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return self.problem.query_of_inputs.values(self.problem.records)

    @cached_property
    def above(self) -> OfWitness | None:
        return replace(self, cut=False, reveals=True) if self.cut else None

    @property
    def refused(self) -> Mapping[str, str]:
        return dict.fromkeys(NOT_CLOSED, CUT) if self.cut else {}

    @property
    def _channel(self) -> Array:
        mechanism, channel = self.problem.mechanism, self.problem.exact_channel
        if not self.reveals:
            return channel
        if isinstance(mechanism, RoundedNoise):
            return mechanism.above(self._values)
        channel[:, [0, -1]] = fmpq(0)  # all that is clamped
        return revealing(channel)

    @cached_property
    def without_own_answer(self) -> tuple[WithoutOwnAnswer, ...]:
        """The same record and prior where the release does not see its letter, by the letter that stands in for it."""
        return tuple(WithoutOwnAnswer(self, letter) for letter in range(len(self.moved) - 1))

    def made(self) -> list[Measured]:
        return [self.measured(self.masses)]

    def measured(self, masses: Masses) -> Measured:
        """Letter and output where the inputs have these masses; letters of no mass are left out."""
        channel = self._channel
        rows, prior = list[Array](), list[fmpq]()
        for row in masses:
            weights = rationals(row)
            if total := weights.sum():
                inputs = np.flatnonzero(weights != 0)
                rows.append((weights[inputs, None] * channel[inputs]).sum(axis=0) / total)
                prior.append(total)
        return Measured(np.array(rows, dtype=object), np.array(prior, dtype=object))


@dataclass(frozen=True)
class WithoutOwnAnswer(Subject):
    """A record under a witness, where a fixed letter is released in its place: what is revealed about it then the others reveal."""

    witness: OfWitness
    letter: int

    def __post_init__(self) -> None:
        about = f"{self.witness.about}; letter {self.letter} released in its place"
        keep(self, about=about, against=self.witness.against, outputs=self.witness.outputs, shape=self.witness.shape)

    @cached_property
    def above(self) -> WithoutOwnAnswer | None:
        return None if self.witness.above is None else replace(self, witness=self.witness.above)

    def made(self) -> list[Measured]:
        masses = self.witness.moved[1 + self.letter]
        totals = [(row, total) for row in masses if (total := sum(row))]
        first, whole = totals[0]
        if all(x * whole == y * total for row, total in totals for x, y in zip(row, first, strict=True)):
            # the others have nothing to do with the record, which balls cannot tell from next to nothing
            return [Measured(np.array([[fmpq(1)]], dtype=object), np.array([fmpq(1)], dtype=object))]
        return [self.witness.measured(masses)]


def witness_of(problem: WorstCaseLeakage, certificate: Certificate) -> OfWitness:
    """The record and the prior that a certificate's lower end rests on, exactly.

    Raises
    ------
    InputError
        If the certificate is about another model, shows no prior, is about a channel in closed form (a local protocol), whose inputs
        are not listed, a histogram, or the channel is too large to be evaluated exactly.
    """
    if not isinstance(problem, WorstCaseLeakage) or certificate.header.model != digest(problem):
        raise InputError("certificate: expected an audit with the certificate of its own model, got another model's")
    if not isinstance(problem.adversary, KNOWN):
        raise InputError(
            f"certificate: its prior is not read for the adversary {problem.adversary.kind}; measure the problem instead"
        )
    if problem.route.tables is not None:
        raise InputError(NO_MATRIX)
    if problem.route.wide is not None:
        raise InputError(
            "certificate: the matrix of a count of so many people is never written out; measure a count of at most 4,095 people, or "
            "against independent_blocks"
        )
    lines, noise = certificate.lower_lines(), problem.mechanism
    cut = noise.on_a_line or noise.clamped(np.array([0, 1])) is not noise
    line = next((line for line in lines if isinstance(line, WitnessLine)), None)
    if line is None or line.record is None or line.prior is None:
        raise InputError(f"{NONE}: what is proved from below is 0")
    if problem.route.pieces is not None:
        piece, about = _piece_of(problem, next(line for line in lines if isinstance(line, PieceOfWitness)))
        found = _in_problem(about, line.record, line.prior)
        return replace(found, record=piece.first + found.record, piece=piece, cut=cut)
    return replace(_in_problem(problem, line.record, line.prior), cut=cut)


def _piece_of(problem: WorstCaseLeakage, place: PieceOfWitness) -> tuple[Piece, WorstCaseLeakage]:
    """The block by itself that a witness is about, with the total of the others' contributions."""
    asked = place.block, place.total
    found = next(((piece, one) for piece, one in problem.pieces if (piece.block, piece.written) == asked), None)
    if found is None:
        raise InputError("certificate: its witness is about none of the blocks that this model comes down to")
    return found


def _in_problem(problem: WorstCaseLeakage, record: int, prior: InputLaw) -> OfWitness:
    """From a witness line of an audit in which every record is there."""
    if isinstance(prior, tuple) and len(prior) == 3 and isinstance(prior[0], int):
        weights = prior[1]
        if problem.mechanism.on_a_line and isinstance(weights, tuple):
            return _in_problem(problem, record, (prior[0], weights))
        raise InputError("certificate: a local protocol's channel is kept in closed form; measure the problem instead")
    if isinstance(problem.mechanism, RealNoise):
        problem = replace(problem, mechanism=RoundedNoise(problem.mechanism))
    need_size(*problem.channel.shape)
    if problem.adversary.listed:
        assert isinstance(prior, int)
        return OfWitness(problem, record, _of_listed(problem, record, problem.adversary.listed[prior]))
    kinds = settings_of_others(problem.query_of_inputs, problem.records, Uniform())
    like = next((kind for kind in kinds if kind.record == record), None)
    if like is None:
        raise InputError(
            f"certificate: record {record} is like an earlier one; expected a witness on the first of its kind"
        )
    return OfWitness(problem, record, _of_settings(problem, like, prior))


def _of_settings(problem: WorstCaseLeakage, kind: Settings, prior: InputLaw) -> tuple[Masses, ...]:
    """From masses on (letter, input), spread evenly over the datasets of each pair: these are what others can be, by their weights."""
    letters, inputs = kind.inputs.shape[1], problem.query_of_inputs.values(problem.records).size
    counts = [[0] * inputs for _ in range(letters)]
    for selected, weight in zip(kind.inputs.tolist(), kind.weights, strict=True):
        for letter, at in enumerate(selected):
            counts[letter][at] += weight
    masses = _exactly(problem, kind, prior, counts)
    moved = [[[Fraction(0)] * inputs for _ in range(letters)] for _ in range(letters)]
    for selected, weight in zip(kind.inputs.tolist(), kind.weights, strict=True):
        for letter, at in enumerate(selected):
            if masses[letter][at]:
                for instead, there in enumerate(selected):
                    moved[instead][letter][there] += masses[letter][at] * weight / counts[letter][at]
    return (masses, *(tuple(map(tuple, one)) for one in moved))


def _exactly(problem: WorstCaseLeakage, kind: Settings, prior: InputLaw, counts: Sequence[Sequence[int]]) -> Masses:
    """The masses on (letter, input) that a witness line says."""
    if prior == UNIFORM:
        weights = [[Fraction(count) for count in row] for row in counts]
    elif isinstance(prior, tuple) and isinstance(prior[0], int):
        assert isinstance(prior[1], tuple)
        chosen = selections(problem.query_of_inputs, problem.records)
        inputs = next(one for one in chosen if one.record == kind.record).inputs[prior[0]].tolist()
        weights = [[Fraction(0)] * len(row) for row in counts]
        for letter, (at, weight) in enumerate(zip(inputs, letter_law(problem, prior[1]), strict=True)):
            weights[letter][at] = weight
    else:
        assert isinstance(prior, tuple)
        width = len(counts[0])
        weights = [_dense(row, width) for row in prior]  # type: ignore[arg-type]
    total = sum((sum(row) for row in weights), Fraction(0))
    return tuple(tuple(weight / total for weight in row) for row in weights)


def _dense(row: Sequence[Any], width: int) -> list[Fraction]:
    """A letter's weights, or its one weight behind the input that has it."""
    if isinstance(row[0], int):
        return [as_fraction(row[1], "witness") if at == row[0] else Fraction(0) for at in range(width)]
    return [as_fraction(weight, "witness") for weight in row]


def letter_law(problem: WorstCaseLeakage, weights: Sequence[str]) -> list[Fraction]:
    """The weights of the letters on a selection; of a polytope those of its vertices mix them."""
    exact = [as_fraction(weight, "witness") for weight in weights]
    if not isinstance(problem.adversary, PolytopePriors):
        return exact
    vertices = [divided(vertex, "witness") for vertex in problem.adversary.vertices]
    return [
        sum((w * p for w, p in zip(exact, column, strict=True)), Fraction(0)) for column in zip(*vertices, strict=True)
    ]


def _of_listed(problem: WorstCaseLeakage, record: int, prior: Sequence[Fraction]) -> tuple[Masses, ...]:
    """From a prior on the datasets."""
    query, records = problem.query_of_inputs, problem.records
    index, datasets, total = query.index_of_dataset(records), records.datasets_by_letter(record), sum(prior)
    letters, inputs = datasets.shape[0], query.values(records).size
    tables = [[[Fraction(0)] * inputs for _ in range(letters)] for _ in range(1 + letters)]
    for letter in range(letters):
        for at, dataset in enumerate(datasets[letter].tolist()):
            mass = prior[dataset] / total
            tables[0][letter][index[dataset]] += mass
            for instead in range(letters):
                tables[1 + instead][letter][index[datasets[instead, at]]] += mass
    return tuple(tuple(map(tuple, table)) for table in tables)
