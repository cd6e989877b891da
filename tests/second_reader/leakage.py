"""Information by definition, and the search for the law that makes it largest.

A *question* is I(g(X); Y | w(X)) for the laws of an adversary: g is a record's letter or what a secret tells, w what is given.
Laws are products over *blocks* of records, each block with a set of laws of its own; listed; or chains.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from second_reader.exact import dec, law, read
from second_reader.laws import Box, Laws, laws_of
from second_reader.model import Model
from second_reader.queries import Data, told

Array = np.ndarray
Prior = list[Fraction]


def information(prior: Sequence[Any], rows: Array, g: Sequence[Any], w: Sequence[Any]) -> Decimal:
    """I(g; Y | w) = sum u log(u m(w) / (m(g,w) r(w))), with 200 digits."""
    u: dict[Any, Any] = {}
    m: dict[Any, Decimal] = {}
    for x, probability in enumerate(prior):
        if probability:
            p, cell = dec(probability), (g[x], w[x])
            u[cell] = u.get(cell, 0) + p * rows[x]
            m[cell] = m.get(cell, Decimal(0)) + p
    found = Decimal(0)
    for given in {c for _, c in u}:
        cells = [cell for cell in u if cell[1] == given]
        r, mass = sum(u[cell] for cell in cells), sum(m[cell] for cell in cells)
        if len(cells) > 1:
            found += sum(
                (p * (p * mass / (m[cell] * q)).ln() for cell in cells for p, q in zip(u[cell], r, strict=True) if p),
                Decimal(0),
            )
    return found


def information_in_doubles(prior: Array, rows: Array, cells: Array, given: Array) -> tuple[float, Array]:
    """The same in doubles, and its derivative for each probability; cells are numbered, given[cell] is the number of what is given.

    The sum is of numbers that are not negative, m r ((1 + t) log(1 + t) - t), so that little information has its leading digits, too.
    """
    weighted = prior[:, None] * rows
    u = np.zeros((len(given), rows.shape[1]))
    np.add.at(u, cells, weighted)
    m = u.sum(axis=1)
    r, mass = np.zeros((given.max() + 1, rows.shape[1])), np.zeros(given.max() + 1)
    np.add.at(r, given, u)
    np.add.at(mass, given, m)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        even = m[:, None] * r[given] / mass[given][:, None]
        t = np.where(even > 0, (u - even) / even, 0.0)
        part = np.where(
            np.abs(t) < 1e-4, t**2 / 2 - t**3 / 6, np.where(t > -1, (1 + t) * np.log1p(np.maximum(t, -1)) - t, 1.0)
        )
        total = float((even * part)[even > 0].sum())
        ratio = np.where(u > 0, np.log1p(t), np.where(r[given] > 0, -700.0, 0.0))
        slope = ratio[cells]
        if not m.all():
            alone = np.log(rows * mass[given[cells]][:, None] / r[given[cells]])
            slope = np.where((m > 0)[cells][:, None], slope, np.nan_to_num(alone, nan=0.0, posinf=700.0, neginf=0.0))
    return total, (rows * np.clip(slope, -700, 700)).sum(axis=1)


@dataclass
class Question:
    """I(g; Y | w), over products of laws of blocks: of each its state in every dataset, and its set of laws."""

    name: str
    rows: Array
    g: list[Any]
    w: list[Any]
    blocks: list[tuple[Array, Laws]] = field(default_factory=list)
    listed: list[Prior] = field(default_factory=list)
    chain: Chain | None = None
    approximate: bool = False

    @cached_property
    def doubles(self) -> tuple[Array, Array, Array]:
        pairs = list(zip(self.g, self.w, strict=True))
        cells = sorted({*pairs}, key=pairs.index)
        given = sorted({*self.w}, key=self.w.index)
        return (
            self.rows.astype(float),
            np.array([cells.index(pair) for pair in pairs]),
            np.array([given.index(c) for _, c in cells]),
        )

    def value(self, prior: Sequence[Any]) -> Decimal:
        """The information under a law, as exactly as the rows allow."""
        if self.approximate:
            return Decimal(information_in_doubles(np.array([float(p) for p in prior]), *self.doubles)[0])
        return information(prior, self.rows, self.g, self.w)

    def prior(self, laws: list[Array], without: int | None = None) -> Array:
        """The law of the datasets; without a block that of the others."""
        found = np.ones(len(self.g))
        for f, (c, (state, one)) in enumerate(zip(laws, self.blocks, strict=True)):
            if f != without:
                found *= (c if one.basis is None else c @ np.array(one.basis, dtype=float))[state]
        return found

    def exactly(self, laws: list[Array]) -> Prior:
        own = [one.probabilities(one.exactly(c)) for c, (_, one) in zip(laws, self.blocks, strict=True)]
        states = [state for state, _ in self.blocks]
        return [
            math.prod((p[s[x]] for p, s in zip(own, states, strict=True)), start=Fraction(1))
            for x in range(len(self.g))
        ]

    def climb(self, laws: list[Array], sweeps: int) -> tuple[float, list[Array]]:
        """Ascend, one block after another: towards the best law for the derivative, or proportionally to its exponential."""
        best, slope = information_in_doubles(self.prior(laws), *self.doubles)
        for _ in range(sweeps):
            before = best
            for f, (state, one) in enumerate(self.blocks):
                others = self.prior(laws, without=f)
                gains = np.bincount(state, weights=others * slope, minlength=int(state.max()) + 1)
                if one.basis is not None:
                    gains = np.array(one.basis, dtype=float) @ gains
                target, own = one.best(gains), laws[f]
                steps = [(1 - t) * own + t * target for t in (1.0, 0.5, 0.2, 0.05, 0.01, 0.001)]
                if one.free:
                    steps += [tilted_up(own, gains, strength) for strength in (1.0, 5.0)]
                tried = [[*laws[:f], step, *laws[f + 1 :]] for step in steps]
                found = [information_in_doubles(self.prior(each), *self.doubles) for each in tried]
                top = max(range(len(found)), key=lambda k: found[k][0])
                if found[top][0] > best:
                    (best, slope), laws = found[top], tried[top]
            if best <= before * (1 + 1e-7):
                break
        return best, laws

    def ceiling(self) -> float | None:
        """A number that no law passes, in doubles; None where none is known without a search.

        Of a record that is independent of the others: they are known, one way or another, and of a concave function's derivative the
        best law of the set bounds what is left.
        """
        if self.listed:
            return max(float(self.value(prior)) for prior in self.listed)
        if all((row == self.rows[0]).all() for row in self.rows):
            return 0.0
        own = [
            f for f, (state, _) in enumerate(self.blocks) if len({*zip(state, self.g, strict=True)}) == len({*self.g})
        ]
        own = [f for f in own if len({*self.blocks[f][0]}) == len({*self.g})]
        if len(own) != 1 or len({*self.w}) > 1:
            return None
        (f,), most = own, 0.0
        state, laws = self.blocks[f]
        rest = [tuple(other[x] for k, (other, _) in enumerate(self.blocks) if k != f) for x in range(len(self.g))]
        for others in {*rest}:
            here = np.array([x for x in range(len(self.g)) if rest[x] == others])
            size = len(here)
            alone = Question(self.name, self.rows[here], list(state[here]), [0] * size, [(state[here], laws)])
            _, found = alone.climb([np.array(laws.inside, dtype=float)], 200)
            prior = alone.prior(found)
            value, slope = information_in_doubles(prior, *alone.doubles)
            gains = np.bincount(state[here], weights=slope)
            basis = np.eye(size) if laws.basis is None else np.array(laws.basis, dtype=float)
            best = float(laws.best(basis @ gains) @ basis @ gains)
            most = max(most, value + max(best - float(prior @ slope), 0.0))
        return most

    def candidates(self, rng: np.random.Generator, starts: int, sweeps: int) -> Iterator[Sequence[Any]]:
        """Laws of the adversary's, exactly: the best that was found by climbing, and a drawn one."""
        if self.chain is not None:
            yield from self.chain.candidates(
                rng, starts, sweeps, lambda prior: information_in_doubles(prior, *self.doubles)[0]
            )
            return
        yield from self.listed
        if self.blocks:
            drawn = [[one.drawn(rng) for _, one in self.blocks] for _ in range(starts)]
            found = sorted((self.climb(laws, sweeps) for laws in drawn), key=lambda each: -each[0])
            yield self.exactly(found[0][1])
            yield self.exactly(drawn[0])


def tilted_up(p: Array, gains: Array, strength: float) -> Array:
    raised = p * np.exp(np.clip(strength * (gains - gains.max()), -700, 0))
    return raised / raised.sum()


@dataclass
class Chain:
    """Markov chains: a range for each transition, and for the first record's law, or a stationary one."""

    data: list[Data]
    rows: list[Box]
    start: Box | None

    @classmethod
    def of(cls, adversary: dict[str, Any], data: list[Data]) -> Chain:
        def box(entries: list[Any]) -> Box:
            pairs = [one if isinstance(one, list) else [one, one] for one in entries]
            return Box([read(low) for low, _ in pairs], [read(high) for _, high in pairs])

        if adversary["kind"] == "markov_chain":
            (a, b), (c, d) = ([read(end) for end in adversary[way]] for way in ("to_one", "to_zero"))
            rows = [box([[1 - b, 1 - a], [a, b]]), box([[c, d], [1 - d, 1 - c]])]
        else:
            rows = [box(row) for row in adversary["transitions"]]
        start = adversary.get("start", "stationary")
        whole = [[Fraction(0), Fraction(1)]] * len(rows)
        return cls(data, rows, None if start == "stationary" else box(whole if start == "any" else start))

    def prior(self, laws: list[Any]) -> Any:
        """The law of the datasets; the last of the laws is the first record's, where it is free."""
        first = stationary(laws) if self.start is None else laws[-1]
        return [
            first[x[0]] * math.prod(laws[a][b] for a, b in itertools.pairwise(x)) if first is not None else 0
            for x in self.data
        ]

    def candidates(
        self, rng: np.random.Generator, starts: int, sweeps: int, value: Callable[[Array], float]
    ) -> Iterator[Sequence[Any]]:
        boxes = [*self.rows, *([self.start] if self.start else [])]
        found = []
        for _ in range(starts):
            laws = [box.drawn(rng) for box in boxes]
            best = value(np.array(self.prior(laws), dtype=float))
            for _ in range(8 * sweeps):
                f = int(rng.integers(len(boxes)))
                target, t = boxes[f].best(rng.normal(size=boxes[f].size)), rng.choice([1.0, 0.5, 0.1, 0.02])
                tried = [*laws[:f], (1 - t) * laws[f] + t * target, *laws[f + 1 :]]
                got = value(np.array(self.prior(tried), dtype=float))
                if got > best:
                    best, laws = got, tried
            found.append((best, laws))
        found.sort(key=lambda each: -each[0])
        prior = self.prior([box.exactly(own) for box, own in zip(boxes, found[0][1], strict=True)])
        if any(prior):
            yield prior


def stationary(rows: Sequence[Sequence[Any]]) -> list[Any] | None:
    """The only stationary law of a chain, by elimination of one letter after the other; None if there are several."""
    size = len(rows)
    left = [[rows[a][b] - (a == b) for a in range(size)] for b in range(size)]
    left[-1] = [1 + 0 * rows[0][0]] * size
    right = [0 * rows[0][0]] * (size - 1) + [1 + 0 * rows[0][0]]
    for k in range(size):
        pivot = max(range(k, size), key=lambda j: abs(left[j][k]))
        if left[pivot][k] == 0 or (isinstance(left[pivot][k], float) and abs(left[pivot][k]) < 1e-13):
            return None
        left[k], left[pivot], right[k], right[pivot] = left[pivot], left[k], right[pivot], right[k]
        for j in range(size):
            if j != k:
                factor = left[j][k] / left[k][k]
                left[j] = [p - factor * q for p, q in zip(left[j], left[k], strict=True)]
                right[j] -= factor * right[k]
    return [right[k] / left[k][k] for k in range(size)]


def blocks_of(adversary: dict[str, Any], records: int) -> list[list[int]]:
    """Which records are independent of which: those of one block are not."""
    kind = adversary.get("kind", "entropy_at_least")
    if kind == "entropy_at_least":
        return [[*range(records)]]
    if kind != "independent_blocks":
        return [[i] for i in range(records)]
    size = adversary.get("size")
    sizes = adversary.get("sizes") or [min(size, records - start) for start in range(0, records, size)]
    starts = itertools.accumulate(sizes, initial=0)
    return [[*range(start, start + size)] for start, size in zip(starts, sizes, strict=False)]


def states(model: Model, block: Sequence[int]) -> Array:
    """The number of what the records of a block have, in every dataset."""
    parts = [tuple(x[i] for i in block) for x in model.data]
    listed = sorted({*parts})
    return np.array([listed.index(part) for part in parts])


def about_record(model: Model, adversary: dict[str, Any], rows: Array, i: int) -> Question:
    """I(X_i; Y) against an adversary."""
    kind, count = adversary.get("kind", "entropy_at_least"), len(model.data)
    question = Question(f"record {i}", rows, [x[i] for x in model.data], [0] * count)
    if kind == "prior_set":
        question.listed = [law(prior) for prior in adversary["priors"]]
    elif kind in ("markov_chain", "finite_chain"):
        question.chain = Chain.of(adversary, model.data)
    else:
        for block in blocks_of(adversary, len(model.alphabets)):
            state = states(model, block)
            size = int(state.max()) + 1
            question.blocks.append((state, laws_of(adversary, size) if i in block else Laws(size)))
    return question


def about_secret(model: Model, adversary: dict[str, Any], rows: Array, secret: dict[str, Any], name: str) -> Question:
    """I(of; Y | given) against an adversary."""

    def tells(tables: Any) -> list[Any]:
        listed = tables if isinstance(tables, list) else [tables]
        return [tuple(told(table, x, model.alphabets) for table in listed) for x in model.data]

    count = len(model.data)
    question = Question(name, rows, tells(secret["of"]), tells(secret.get("given", [])))
    kind = adversary.get("kind", "entropy_at_least")
    if kind == "prior_set":
        question.listed = [law(prior) for prior in adversary["priors"]]
    elif kind == "product_priors":
        question.blocks = [(states(model, [i]), Laws(size)) for i, size in enumerate(model.alphabets)]
    else:
        question.blocks = [(np.arange(count), laws_of(adversary, count))]
    return question


def questions(model: Model, adversary: dict[str, Any], rows: Array) -> list[Question]:
    """One for each record that is asked about, or for each secret."""
    if model.problem == "secret_leakage":
        found = [
            about_secret(model, adversary, rows, secret, f"secret {s}")
            for s, secret in enumerate(model.table["secrets"])
        ]
    else:
        asked = [adversary["record"]] if adversary.get("record") is not None else range(len(model.alphabets))
        found = [about_record(model, adversary, rows, i) for i in asked]
    for question in found:
        question.approximate = model.problem in ("maximal_leakage", "secret_leakage") and model.approximate
    return found
