"""The mechanism as a row-stochastic matrix: exact rationals, or balls where an epsilon enters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from .allowance import NUMBER, POINTER, Allowance
from .arithmetic import arb, arb_mat, fmpq, is_rational
from .classes import CLASSES
from .counts import values
from .gaussian import clamped
from .model import Model
from .noise import decaying, diagonal, power, two_sided
from .numbers import enclosure, grouped, largest, need, normalised, once, xlogx
from .protocols import PROTOCOLS, Protocol
from .real_noise import KNOWN, REAL, RealNoise, real_noise
from .releases import counted, together
from .sizes import BLOCK, kept_size, take_entries

_MAX_WRITTEN = 1 << 20
_FEW = 1024  # rows that are few enough to be taken all
_WIDTH = 256  # columns that are taken together


class Channel:
    """Rows R(k, y) on `values`, the query's or whole datasets: exact rationals, or balls of positive numbers.

    Entries that are one object are worked out once.
    """

    protocol: Protocol | RealNoise | None = (
        None  # which has closed forms of its own; if it has many outputs there are no rows
    )

    def __init__(
        self,
        rows: list[list[Any]],
        values: list[int],
        allowance: Allowance,
        dataset: bool = False,
        diagonal: Any = None,
    ) -> None:
        self.rows, self.values, self.dataset, self.allowance = rows, values, dataset, allowance
        self.diagonal: tuple[Any, Any] | None = diagonal  # entries where input and output are the same, and elsewhere
        self._ranged: tuple[list[int], list[tuple[fmpq, fmpq]]] = [], []
        self.exact, self.outputs = (is_rational(rows[0][0]), len(rows[0])) if rows else (False, 0)

    @property
    def blocks(self) -> Iterable[tuple[range, arb_mat]]:
        """The rows as matrices of balls, some inputs at a time; kept where they are not large."""
        return self._kept if kept_size(len(self.rows) * self.outputs, self.allowance) else self._made()

    @cached_property
    def _kept(self) -> list[tuple[range, arb_mat]]:
        return list(self._made())

    def _made(self) -> Iterator[tuple[range, arb_mat]]:
        size = max(1, BLOCK // self.outputs)
        for start in range(0, len(self.rows), size):
            inputs = range(start, min(start + size, len(self.rows)))
            yield inputs, self._matrix(inputs)

    def _matrix(self, inputs: Sequence[int]) -> arb_mat:
        self.allowance.look()
        return arb_mat(len(inputs), self.outputs, once((x for k in inputs for x in self.rows[k]), arb))

    def times(self, cells: list[arb], width: int) -> list[list[arb]]:
        """The sums of every row with each column of a matrix, which is listed by output, so wide."""
        if width > _WIDTH:
            half, places = width // 2, range(0, len(cells), width)
            left = [cell for place in places for cell in cells[place : place + half]]
            right = [cell for place in places for cell in cells[place + half : place + width]]
            return self.times(left, half) + self.times(right, width - half)
        matrix, sums = arb_mat(self.outputs, width, cells), list[arb]()
        for _, block in self.blocks:
            self.allowance.look()
            sums += (block * matrix).entries()
        return [sums[column::width] for column in range(width)]

    def mixed(self, masses: Sequence[dict[int, arb]]) -> list[list[arb]]:
        """For each choice of masses on the inputs the mixture of their rows."""
        result, zero = list[list[arb]](), arb(0)
        for some in (masses[start : start + _WIDTH] for start in range(0, len(masses), _WIDTH)):
            mixture, used = arb_mat(len(some), self.outputs), set(chain(*some))
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
        """Whether all rows are equal exactly."""
        return self.exact and all(row == self.rows[0] for row in self.rows)

    @cached_property
    def negentropies(self) -> list[arb]:
        """The sum of R log R of each row."""
        return [self._negentropy(row) for row in self.rows]

    def _negentropy(self, row: list[Any]) -> arb:
        self.allowance.look()
        return sum((times * xlogx(arb(x)) for x, times in grouped(row)), arb(0))

    @cached_property
    def classes(self) -> list[int]:
        """For each input the first one with the same row: exactly the same numbers, or, for balls, the same input."""
        first: dict[Any, int] = {}
        rows = self.rows or [[k] for k in range(len(self.values))]
        return [first.setdefault(tuple(row) if self.exact else k, k) for k, row in enumerate(rows)]

    def vanishes(self, y: int, inputs: Iterable[int]) -> bool:
        """Whether output y is exactly impossible on all these inputs (an epsilon mechanism has no zeros)."""
        return all(self.exact and self.rows[k][y] == 0 for k in inputs)

    def ranges(self, inputs: list[int]) -> list[tuple[fmpq, fmpq]]:
        """Outward rational enclosures of the smallest and largest entry of each column over these inputs; the last are kept."""
        if self._ranged[0] != inputs:
            self._ranged = inputs, self._ranges(inputs)
        return self._ranged[1]

    def _ranges(self, inputs: list[int]) -> list[tuple[fmpq, fmpq]]:
        columns = [[x for x, _ in grouped(column)] for column in zip(*(self.rows[k] for k in inputs), strict=True)]
        if self.exact:
            return [(min(column), max(column)) for column in columns]
        return [enclosure(-largest([-x for x in column]), largest(column)) for column in columns]

    def divergences(self, law: list[fmpq], inputs: Iterable[int]) -> dict[int, arb]:
        """D(R(k, .) || law) by these inputs, whose rows vanish where the law does."""
        column, used = arb_mat(self.outputs, 1, log_weights(law)), set(inputs)
        costs: dict[int, arb] = {}
        few = len(used) * 8 < len(self.rows) > _FEW  # then one by one
        for listed, block in (([k], self._matrix([k])) for k in used) if few else self.blocks:
            costs |= zip(listed, (block * column).entries(), strict=True)
        same = {k for k in used if self.exact and self.rows[k] == law}
        return {k: arb(0) if k in same else self.negentropies[k] - costs[k] for k in used}


def log_weights(law: list[fmpq]) -> list[arb]:
    """The logarithms of a law, zero where it vanishes: there the channel vanishes too."""
    return once(law, lambda q: arb(q).log() if q else arb(0))


def build(model: Model, resolved: dict[str, Any] | None = None) -> Channel | None:
    """The model's channel, or the resolved matrix; None for an unknown kind without one."""
    mechanism, allowance = resolved or model.mechanism, model.allowance
    kind, inputs = mechanism["kind"], values(model)
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
    if kind == "discrete_gaussian":
        return Channel(clamped(mechanism, inputs, allowance), inputs, allowance)
    if kind in REAL:
        return _real(model, mechanism, inputs)
    if kind == "randomized_count":
        return Channel(counted(mechanism, inputs, allowance), inputs, allowance)
    if kind == "several_releases":
        return Channel(together(list(_parts(model, mechanism)), len(inputs), allowance), inputs, allowance)
    if kind == "discrete_laplace":
        return Channel(two_sided(mechanism, inputs, allowance), inputs, allowance)
    if kind in PROTOCOLS:
        return _protocol(model, PROTOCOLS[kind](mechanism, len(inputs), allowance), inputs)
    decays = kind in ("geometric", "exponential")
    return Channel(decaying(mechanism, inputs, allowance), inputs, allowance) if decays else None


def _real(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    """A channel without rows, whose outputs are real numbers."""
    free = model.adversary == "entropy_at_least" and model.entropy == 0
    known = free or model.adversary == "product_priors" or model.adversary in CLASSES
    need(known and not model.secrets, KNOWN)
    channel = Channel([], inputs, model.allowance)
    channel.protocol = real_noise(mechanism, inputs, model.allowance)
    return channel


def _parts(model: Model, mechanism: dict[str, Any]) -> Iterator[tuple[list[list[Any]], int]]:
    """The channels of what is released together, and how often each is."""
    for part in mechanism["parts"]:
        channel = build(model, part)
        assert channel is not None
        yield channel.rows, part["times"]


def _matrix(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    rows, dataset = mechanism["rows"], mechanism["inputs"] == "dataset"
    wanted = model.states() if dataset else len(inputs)
    need(wanted >= 0, "a matrix on datasets needs at most 65536 datasets")
    need(len(rows) == wanted, f"{len(rows)} rows where {wanted} are needed")
    take_entries(len(rows), len(rows[0]), model.allowance, NUMBER)
    exact = [normalised(row, "a row", model.allowance) for row in rows]
    return Channel(exact, list(range(wanted)) if dataset else inputs, model.allowance, dataset)


def _protocol(model: Model, protocol: Protocol, inputs: list[int]) -> Channel:
    """A channel that has rows if they are few enough to be written out."""
    written = len(inputs) * protocol.outputs() <= _MAX_WRITTEN
    known = not model.secrets and (model.adversary == "product_priors" or model.adversary in CLASSES)
    need(written or known, f"the channel has more than {_MAX_WRITTEN} entries, and no closed form for this adversary")
    if written:
        take_entries(len(inputs), protocol.outputs(), model.allowance, POINTER)
    channel = Channel(protocol.rows() if written else [], inputs, model.allowance)
    channel.protocol = protocol
    return channel
