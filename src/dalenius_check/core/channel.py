"""A mechanism as a matrix: the rows of a channel, what leaves need of them in balls, and how a model's are made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Protocol

from .allowance import NUMBER, Allowance, lemma
from .arithmetic import arb, arb_mat, arb_vec, fmpq, is_rational
from .classes import CLASSES
from .counts import values
from .model import Model
from .noise import NOISES, REAL, Noise, diagonal, noise_of, power
from .numbers import BLOCK, enclosure, grouped, kept_size, largest, need, negentropies, normalised, once, take_entries
from .tables import PROTOCOLS

_FEW = 1024  # rows that are few enough to be taken all
_RANGED = 1 << 14  # ranges of columns that are kept, or those of the last inputs
_WIDTH = 256  # columns that are taken together


class ClosedForm(Protocol):
    """Divergences of rows that need not be written out."""

    allowance: Allowance
    inputs: int

    def divergences(self, law: Sequence[fmpq], how: Any, above: bool) -> list[arb]:
        """Balls around D(R(k,.) || the outputs' law under this one of the inputs), for every input k."""


class Channel:
    """Rows R(k, y) on `values`, the query's or whole datasets: exact rationals, or balls of positive numbers.

    Entries that are one object are worked out once.
    """

    held = 0  # bytes of rows that were made later
    protocol: ClosedForm | None = None  # of a mechanism that has one; if it has many outputs there are no rows

    def __init__(
        self,
        rows: list[list[Any]],
        values: list[int],
        allowance: Allowance,
        dataset: bool = False,
        diagonal: Any = None,
    ) -> None:
        self.rows = rows
        self.values = values
        self.dataset = dataset
        self.allowance = allowance
        self.lost = arb(0)  # what is revealed of a record beyond these outputs, at most
        self.diagonal: tuple[Any, Any] | None = diagonal  # entries where input and output are the same, and elsewhere
        self._ranged = dict[tuple[int, ...], list[tuple[fmpq, fmpq]]]()
        self.exact, self.outputs = (is_rational(rows[0][0]), len(rows[0])) if rows else (False, 0)
        self._together = max(1, BLOCK // max(self.outputs, 1))  # inputs of a block

    @property
    def blocks(self) -> Iterable[tuple[range, arb_mat]]:
        """The rows as matrices of balls, some inputs at a time; kept where they are not large."""
        return self._kept if kept_size(len(self.rows) * self.outputs, self.allowance) else self._made()

    @cached_property
    def _kept(self) -> list[tuple[range, arb_mat]]:
        return list(self._made())

    def _made(self) -> Iterator[tuple[range, arb_mat]]:
        for inputs in self._parts():
            yield inputs, self._matrix(inputs)

    def _parts(self) -> Iterator[range]:
        for start in range(0, len(self.rows), self._together):
            yield range(start, min(start + self._together, len(self.rows)))

    def grouped(self, rows: list[list[Any]], negentropies: list[arb]) -> Channel:
        """The channel that tells only groups of outputs, with these rows."""
        found = Channel(rows, self.values, self.allowance, self.dataset)
        found.negentropies = negentropies
        return found

    def turned(self, slopes: arb_vec) -> arb_vec:
        """The sums of every row with these slopes of the outputs."""
        found = list[arb_vec]()
        for _, block in self.blocks:
            self.allowance.look()
            found.append(slopes.through(block))
        return found[0] if len(found) == 1 else arb_vec(chain(*(part.entries() for part in found)))

    def _matrix(self, inputs: Sequence[int]) -> arb_mat:
        self.allowance.look()
        return arb_mat(len(inputs), self.outputs, once((x for k in inputs for x in self.rows[k]), arb))

    def mixed(self, masses: Sequence[dict[int, arb]]) -> list[list[arb]]:
        """For each choice of masses on the inputs the mixture of their rows."""
        result = list[list[arb]]()
        zero = arb(0)
        for some in (masses[start : start + _WIDTH] for start in range(0, len(masses), _WIDTH)):
            mixture = arb_mat(len(some), self.outputs)
            used = set(chain(*some))
            for inputs, block in self.blocks:
                self.allowance.look()
                if not used.isdisjoint(inputs):
                    dense = [row.get(k, zero) for row in some for k in inputs]
                    mixture += arb_mat(len(some), len(inputs), dense) * block
            cells = mixture.entries()
            result += [cells[j * self.outputs : (j + 1) * self.outputs] for j in range(len(some))]
        return result

    @cached_property
    def constant(self) -> bool:
        """True if all rows are equal exactly."""
        return self.exact and all(row == self.rows[0] for row in self.rows)

    @cached_property
    def negentropies(self) -> list[arb]:
        """The sum of R log R of each row."""
        return negentropies(self.rows, self.allowance)

    @cached_property
    def classes(self) -> list[int]:
        """For each input the first one with the same row: exactly the same numbers, or, for balls, the same input."""
        first: dict[Any, int] = {}
        rows = self.rows or [[k] for k in range(len(self.values))]
        return [first.setdefault(tuple(row) if self.exact else k, k) for k, row in enumerate(rows)]

    def vanishes(self, y: int, inputs: Iterable[int]) -> bool:
        """True if output y is exactly impossible on all these inputs: a ball that is 0 has no radius."""
        return all(arb(self.rows[k][y]).is_zero() for k in inputs)

    def ranges(self, inputs: list[int]) -> list[tuple[fmpq, fmpq]]:
        """Outward rational enclosures of the smallest and largest entry of each column over these inputs; the last are kept."""
        key = tuple(inputs)
        if key not in self._ranged:
            if (len(self._ranged) + 1) * self.outputs > _RANGED:
                self._ranged.clear()
            self._ranged[key] = self._ranges(inputs)
        return self._ranged[key]

    def _ranges(self, inputs: list[int]) -> list[tuple[fmpq, fmpq]]:
        columns = [[x for x, _ in grouped(column)] for column in zip(*(self.rows[k] for k in inputs), strict=True)]
        if self.exact:
            return [(min(column), max(column)) for column in columns]
        return [enclosure(-largest([-x for x in column]), largest(column)) for column in columns]

    def divergences(self, law: list[fmpq], inputs: Iterable[int]) -> dict[int, arb]:
        """D(R(k, .) || law) by these inputs, whose rows vanish where the law does."""
        column = arb_mat(self.outputs, 1, log_weights(law))
        used = set(inputs)
        costs: dict[int, arb] = {}
        few = len(used) * 8 < len(self.rows) > _FEW  # then one by one
        for listed, block in (([k], self._matrix([k])) for k in used) if few else self.blocks:
            costs |= zip(listed, (block * column).entries(), strict=True)
        same = {k for k in used if self.exact and self.rows[k] == law}
        return {k: arb(0) if k in same else self.negentropies[k] - costs[k] for k in used}


def log_weights(law: list[fmpq]) -> list[arb]:
    """The logarithms of a law, zero where it vanishes: there the channel vanishes too."""
    return once(law, lambda q: arb(q).log() if q else arb(0))


_LEMMAS = {
    **dict.fromkeys(REAL, "real_noise"),
    **dict.fromkeys(PROTOCOLS, "protocols"),
    **dict.fromkeys(("randomized_count", "randomized_histogram"), "randomized"),
    "several_releases": "releases",
    "adaptive": "adaptive",
}


def build(model: Model, resolved: dict[str, Any] | None = None) -> Channel | None:
    """The model's channel, or the resolved matrix; None for an unknown kind without one."""
    mechanism = resolved or model.mechanism
    allowance = model.allowance
    kind = mechanism["kind"]
    inputs = values(model)
    named = (
        kind in ("several_releases", "adaptive", "symmetric", "randomized_response", "randomized_histogram")
        or mechanism.get("inputs") == "query"
    )
    need(
        model.query["kind"] != "joint" or named,
        "a joint query needs several_releases, adaptive, a matrix, symmetric or randomized_response",
    )
    if kind == "matrix":
        return _matrix(model, mechanism, inputs)
    if kind in ("symmetric", "randomized_response"):
        rows = diagonal(mechanism, len(inputs), allowance)
        return Channel(rows, inputs, allowance, diagonal=(rows[0][0], rows[0][1]))
    if kind == "laplace_threshold":
        need(inputs == [0, 1], "laplace_threshold needs a query with the values 0, 1")
        flip = power(mechanism["epsilon"] / 2) / 2
        keep = 1 - flip
        return Channel([[keep, flip], [flip, keep]], inputs, allowance)
    if kind in _LEMMAS:
        channel: Channel = lemma(_LEMMAS[kind]).channel(model, mechanism, inputs)
        return channel
    return _noisy(model, noise_of(mechanism), inputs, resolved is None) if kind in NOISES else None


def _noisy(model: Model, noise: Noise, inputs: list[int], own: bool) -> Channel:
    """Noise within a range, or, of a mechanism by itself, clamped far beyond the values."""
    known = model.adversary in ("entropy_at_least", "product_priors", "prior_set", *CLASSES)
    if not (noise.endless and noise.shifts and own and known and not model.secrets):
        return Channel(noise.rows(inputs, model.allowance), inputs, model.allowance)
    channel = Channel(noise_of(noise.alone(inputs)).rows(inputs, model.allowance), inputs, model.allowance)
    channel.lost = noise.lost(max(model.alphabets))
    return channel


def _matrix(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    rows = mechanism["rows"]
    dataset = mechanism["inputs"] == "dataset"
    wanted = model.states() if dataset else len(inputs)
    need(wanted >= 0, "a matrix on datasets needs at most 65536 datasets")
    need(len(rows) == wanted, f"{len(rows)} rows where {wanted} are needed")
    take_entries(len(rows), len(rows[0]), model.allowance, NUMBER)
    exact = [normalised(row, "a row", model.allowance) for row in rows]
    return Channel(exact, list(range(wanted)) if dataset else inputs, model.allowance, dataset)
