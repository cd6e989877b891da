"""Symmetries of a design problem, found among likely ones and checked on the instance, and the smaller problem that they leave.

A symmetry moves inputs, outputs, letters and records so that costs, and the numbers of datasets with a letter and an input, stay as
they are. Leakage is convex, so averaging a mechanism over the symmetries costs nothing: the best one may be taken symmetric. Two uses:

* inputs that symmetries without effect on outputs exchange get one row: the master and the search work on their *orbits*;
* with a prior its images are as good, and join the master at once.

No proof rests on either: certificates list priors on the problem's own inputs, images included, and the checker judges each by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from dalenius.errors import counted
from dalenius.information import log_sum_exp
from dalenius.information.arrays import Floats, Integers
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.reduction.counting import Completions
from dalenius.reduction.record_channel import record_completions
from dalenius.reduction.record_symmetry import found_again, orbits_of

Placed = tuple[int, Floats, Floats]  # a record, masses (letters, inputs), and what else is known of (letters, outputs)
MOST = 1000  # images of a prior
DIGITS = 12


@dataclass(frozen=True)
class Symmetry:
    """Images of inputs and outputs, and of each record with its letters."""

    inputs: Integers
    outputs: Integers
    records: dict[int, tuple[int, Integers]]

    def moved(self, placed: Placed) -> Placed:
        record, letters = self.records[placed[0]]
        masses, phi = np.empty_like(placed[1]), np.empty_like(placed[2])
        masses[np.ix_(letters, self.inputs)], phi[np.ix_(letters, self.outputs)] = placed[1:]
        return record, masses, phi


@dataclass(frozen=True)
class Orbits:
    """A design problem on the orbits of its inputs.

    Attributes
    ----------
    orbit : (inputs,)
        The orbit of every input; as many orbits as inputs where there is no symmetry.
    cost : (orbits, outputs)
        sum over the orbit of p(x) d(x,y).
    completions : tuple of Completions
        The records whose numbers of completions to orbits differ.
    on_inputs : dict of record -> Completions
        Every kind of record on the problem's own inputs.
    alike : dict of record -> record
        The first record with the same numbers on orbits.
    fixing_outputs : tuple of Symmetry
        Symmetries of the problem that leave outputs where they are: they make the orbits.
    moving_outputs : tuple of Symmetry
        Symmetries of what is left, which move outputs too: they make the images of priors.
    """

    orbit: Integers
    cost: Floats
    completions: tuple[Completions, ...]
    on_inputs: dict[int, Completions]
    alike: dict[int, int]
    fixing_outputs: tuple[Symmetry, ...]
    moving_outputs: tuple[Symmetry, ...]

    @classmethod
    def of(cls, problem: DesignProblem, keeps: Callable[[Integers, Integers], bool] | None = None) -> Orbits:
        """Of the symmetries that are found; against adversaries without an entropy bound none are looked for.

        `keeps` says which moves of inputs and outputs leave alone what this module does not know of: a design's constraints.
        """
        weighted, outputs = problem.input_law[:, None] * problem.cost, np.arange(problem.output_count)
        on_inputs = {part.record: part for part in record_completions(problem)}
        likely = list(_likely(problem)) if problem.adversary and problem.adversary.bound else []
        likely = [moves for moves in likely if keeps is None or keeps(*moves)]
        still = [moves for moves in likely if np.array_equal(moves[1], outputs)]
        moving = [moves for moves in likely if not np.array_equal(moves[1], outputs)]
        fixing = tuple(found for moves in still if (found := _completed(on_inputs, weighted, *moves)))
        orbit = orbits_of(problem.input_count, [symmetry.inputs for symmetry in fixing])
        cost = _summed(weighted, orbit)
        folded, alike = _on_orbits(on_inputs, orbit, len(cost))
        induced = ((_induced(inputs, orbit), moved) for inputs, moved in moving)
        both = tuple(
            found
            for inputs, moved in induced
            if inputs is not None and (found := _completed(folded, cost, inputs, moved))
        )
        return cls(orbit, cost, tuple(folded.values()), on_inputs, alike, fixing, both)

    def apply(self, record: int, masses: Floats) -> tuple[int, Floats]:
        """A prior on inputs as one on orbits, of the first record with the same numbers."""
        sums = np.zeros((len(masses), len(self.cost)))
        np.add.at(sums.T, self.orbit, masses.T)
        return self.alike[record], sums

    def images(self, record: int, masses: Floats) -> list[tuple[int, Floats]]:
        """A prior on orbits with its images, itself first."""
        nothing = np.zeros((len(masses), self.cost.shape[1]))
        return [(i, p) for i, p, _ in _closure((record, masses, nothing), self.moving_outputs)]

    def lift(self, record: int, masses: Floats, phi: Floats) -> list[Placed]:
        """A prior on orbits, with posteriors (letters, outputs), as priors on inputs that together treat all inputs of an orbit alike.

        Mass is spread evenly over the datasets of a letter and an orbit, which leaves leakage and entropy as they are.
        """
        if not self.fixing_outputs or record not in self.on_inputs:
            return [(record, masses, phi)]
        full = self.on_inputs[record].log_uniform
        mine = next(part.log_uniform for part in self.completions if part.record == record)
        base = np.where(np.isfinite(mine), mine, 0.0)[:, self.orbit]
        return _closure((record, masses[:, self.orbit] * np.exp(full - base), phi), self.fixing_outputs)

    def summed(self, matrix: Floats) -> Floats:
        """A matrix (inputs, outputs) as sums over orbits: what multiplies a mechanism that treats an orbit alike."""
        return _summed(matrix, self.orbit)

    def apply_mechanism(self, Q: Floats) -> Floats:
        """A mechanism on inputs as one on orbits: the mean of an orbit's rows, which leaks no more because leakage is convex."""
        return self.summed(Q) / np.bincount(self.orbit)[:, None]

    def lift_mechanism(self, Q: Floats) -> Floats:
        """A mechanism on orbits as one on inputs."""
        return Q[self.orbit]

    def explain(self) -> list[str]:
        """Explain the symmetries that were used."""
        lines, exchanges, maps = [], len(self.fixing_outputs), len(self.moving_outputs)
        if exchanges:
            lines.append(
                f"under {counted(exchanges, 'exchange')} of records or letters the query, the distortion and the law stay as they "
                f"are: the {len(self.orbit)} inputs fall into {counted(len(self.cost), 'orbit')}, and a mechanism that treats an "
                "orbit alike loses nothing (leakage is convex, so averaging over the exchanges never raises it)"
            )
        if maps:
            lines.append(
                f"under {counted(maps, 'map')} of inputs and outputs (shifts, mirror images) the distortion and the law stay as they "
                "are: with every prior found its images join the master program"
            )
        return lines or ["no symmetry was found among those that are looked for"]


def _summed(matrix: Floats, orbit: Integers) -> Floats:
    """Sums of rows over orbits."""
    sums = np.zeros((int(orbit.max()) + 1, matrix.shape[1]))
    np.add.at(sums, orbit, matrix)
    return sums


def _closure(placed: Placed, generators: Sequence[Symmetry]) -> list[Placed]:
    """A prior and its images under everything that the symmetries generate."""
    found = {_key(placed): placed}
    queue = [placed]
    while queue and len(found) < MOST:
        image = queue.pop()
        for made in (symmetry.moved(image) for symmetry in generators):
            if found.setdefault(_key(made), made) is made:
                queue.append(made)
    return list(found.values())


def _key(placed: Placed) -> tuple[int, bytes]:
    return placed[0], (np.round(placed[1], DIGITS) + 0.0).tobytes()


def _likely(problem: DesignProblem) -> Iterator[tuple[Integers, Integers]]:
    """Moves of inputs and outputs that queries often allow: turned round, or shifted by one; for datasets, what records allow."""
    inputs, outputs = np.arange(problem.input_count), np.arange(problem.output_count)
    if problem.inputs == "query":
        yield inputs[::-1], outputs[::-1]
        if inputs.size == outputs.size > 2:
            yield np.roll(inputs, 1), np.roll(outputs, 1)
            yield (-inputs) % inputs.size, (-outputs) % outputs.size
        return
    grid = inputs.reshape(problem.records.alphabets)
    for i, j in combinations(range(grid.ndim), 2):
        if grid.shape[i] == grid.shape[j]:
            yield np.swapaxes(grid, i, j).reshape(-1), outputs
    for i, size in enumerate(grid.shape):
        for a, b in combinations(range(size), 2):
            letters = np.arange(size)
            letters[[a, b]] = b, a
            yield np.take(grid, letters, axis=i).reshape(-1), outputs
        yield np.roll(grid, -1, axis=i).reshape(-1), np.roll(outputs, 1)
    yield inputs[::-1], outputs[::-1]


def _on_orbits(
    on_inputs: Mapping[int, Completions], orbit: Integers, orbits: int
) -> tuple[dict[int, Completions], dict[int, int]]:
    """The completions to orbits, once for records with the same numbers; and for every record the first one with its numbers."""
    kept: dict[tuple[bytes, int], Completions] = {}
    alike: dict[int, int] = {}
    for part in on_inputs.values():
        table = np.stack([log_sum_exp(part.log_uniform[:, orbit == k]) for k in range(orbits)], axis=1)
        key = np.round(np.exp(table), DIGITS).tobytes(), len(table)
        alike[part.record] = kept.setdefault(key, replace(part, log_uniform=table)).record
    return {part.record: part for part in kept.values()}, alike


def _induced(inputs: Integers, orbit: Integers) -> Integers | None:
    """Images of the inputs' orbits under a move; None if it tears one apart."""
    induced = np.empty(int(orbit.max()) + 1, dtype=np.int64)
    induced[orbit] = orbit[inputs]
    return induced if np.array_equal(induced[orbit], orbit[inputs]) else None


def _completed(
    parts: Mapping[int, Completions], weighted: Floats, inputs: Integers, outputs: Integers
) -> Symmetry | None:
    """The symmetry with these moves, if there is one: records and letters follow from the numbers of datasets."""
    if not np.allclose(weighted[np.ix_(inputs, outputs)], weighted, rtol=1e-12, atol=0.0):
        return None
    shares = {i: np.asarray(np.round(part.uniform, DIGITS), dtype=float) for i, part in parts.items()}
    records: dict[int, tuple[int, Integers]] = {}
    for i, table in shares.items():
        moved = np.empty_like(table)
        moved[:, inputs] = table
        matches = ((j, letters) for j, other in shares.items() if (letters := found_again(moved, other)) is not None)
        match = next((match for match in matches if match[0] not in [j for j, _ in records.values()]), None)
        if match is None:
            return None
        records[i] = match
    return Symmetry(inputs, outputs, records)
