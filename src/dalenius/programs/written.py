"""Nonlinear programs as they are written, which no disciplined model states: sums of v log v of linear v, as AMPL's .nl text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dalenius.information import entropy
from dalenius.information.arrays import Floats, Integers
from dalenius.information.measures import PriorClass

OPERATORS = {"log": "o2\nv{0}\no43\nv{0}", "square": "o5\nv{0}\nn2"}  # v log v, v^2
DIGITS = 14  # in which the columns of outputs that say the same are alike
MOST = 1.0  # all numbers here are shares of a probability


@dataclass(frozen=True, eq=False)
class Term:
    """w_1 f(v_1) + w_2 f(v_2) + ..., f(v) = v log v or v^2, where v = `of` x; x itself where that is None."""

    weights: Floats
    of: Floats | None = None
    function: Literal["log", "square"] = "log"


@dataclass(frozen=True, eq=False)
class Limit:
    """linear x + a term is at most so much."""

    term: Term
    linear: Floats
    at_most: float


@dataclass(frozen=True, eq=False)
class Written:
    """Maximise constant + the sum of terms over least <= x <= 1 with low <= A x <= high, within limits; 0 log 0 counts as 0.

    Attributes
    ----------
    name : str
    start : (free,)
        An x.
    terms : sequence of Term
        None of x itself.
    rows : (A, low, high)
    limits : sequence of Limit
    """

    name: str
    start: Floats
    terms: Sequence[Term]
    rows: tuple[Floats, Floats, Floats]
    limits: Sequence[Limit] = ()
    constant: float = 0.0
    least: float = 0.0

    def nl(self) -> str:
        """The text, every double to its last bit (D. M. Gay, "Writing .nl files", 2005).

        What a function is taken of is a variable of its own, beside an equation, unless it is x. The format wants those of limits
        first, then those of the objective; all that is linear comes last.

        >>> simplex = np.ones((1, 2)), np.ones(1), np.ones(1)
        >>> text = Written("entropy", np.full(2, 0.5), [Term(-np.ones(2), np.eye(2))], simplex).nl()
        >>> text.splitlines()[:3]
        ['g3 1 1 0 # entropy', ' 4 3 1 0 3', ' 0 1']
        """
        free, own = len(self.start), any(limit.term.of is None for limit in self.limits)
        bent = [limit.term for limit in self.limits if limit.term.of is not None]
        places, width = dict[int, int](), free if own else 0
        for term in (*bent, *self.terms):
            places[id(term)] = width
            width += len(term.weights)
        inside, objective = width - sum(len(term.weights) for term in self.terms), width
        x = 0 if own else width
        width += 0 if own else free
        rows = [*self._limited(places, x), *self._named((*bent, *self.terms), places, x), *self._linear(x)]
        lower, start = np.full(width, self.least), np.zeros(width)
        start[x : x + free] = self.start
        for term in (*bent, *self.terms):
            at = slice(places[id(term)], places[id(term)] + len(term.weights))
            assert term.of is not None
            lower[at], start[at] = self.least * term.of.sum(axis=1), term.of @ self.start
        entries, equations = sum(len(row.entries) for row in rows), sum(row.low == row.high for row in rows)
        ranges = sum(-np.inf < row.low < row.high < np.inf for row in rows)
        counts = np.bincount([j for row in rows for j in row.entries], minlength=width).cumsum()
        lines = [
            f"g3 1 1 0 # {self.name}",
            f" {width} {len(rows)} 1 {ranges} {equations}",
            f" {len(self.limits)} 1",
            " 0 0",
            f" {inside} {objective} 0",
            " 0 0 0 1",
            " 0 0 0 0 0",
            f" {entries} {objective - inside}",
            " 0 0",
            " 0 0 0 0 0",
        ]
        for i, row in enumerate(rows):
            lines += [f"C{i}", row.nonlinear]
        lines += ["O0 1", _summed([_spelt(term, places[id(term)]) for term in self.terms], self.constant)]
        lines += [f"x{width}", *(f"{j} {value!r}" for j, value in enumerate(start.tolist()))]
        lines += ["r", *(_range(row.low, row.high) for row in rows)]
        lines += ["b", *(_range(low, MOST) for low in lower.tolist())]
        lines += [f"k{width - 1}", *map(str, counts[:-1].tolist())]
        for i, row in enumerate(rows):
            lines += [f"J{i} {len(row.entries)}", *(f"{j} {c!r}" for j, c in sorted(row.entries.items()))]
        lines += [f"G0 {objective - inside}", *(f"{j} 0" for j in range(inside, objective))]
        return "\n".join(lines) + "\n"

    def _limited(self, places: dict[int, int], x: int) -> Iterator[Row]:
        for limit in self.limits:
            at = places.get(id(limit.term), x)
            entries = dict.fromkeys(range(at, at + len(limit.term.weights)), 0.0)
            for j, c in enumerate(limit.linear.tolist()):
                if c:
                    entries[x + j] = c
            yield Row(entries, -np.inf, limit.at_most, _summed([_spelt(limit.term, at)]))

    def _named(self, terms: Sequence[Term], places: dict[int, int], x: int) -> Iterator[Row]:
        """v - `of` x = 0."""
        for term in terms:
            assert term.of is not None
            for k, listed in enumerate(term.of.tolist()):
                yield Row({x + j: c for j, c in enumerate(listed) if c} | {places[id(term)] + k: -1.0}, 0.0, 0.0)

    def _linear(self, x: int) -> Iterator[Row]:
        for listed, low, high in zip(*(part.tolist() for part in self.rows), strict=True):
            yield Row({x + j: c for j, c in enumerate(listed) if c}, low, high)


@dataclass(frozen=True)
class Row:
    """low <= entries + nonlinear <= high."""

    entries: dict[int, float]
    low: float
    high: float
    nonlinear: str = "n0"


def _spelt(term: Term, at: int) -> list[str]:
    return [f"o2\nn{w!r}\n{OPERATORS[term.function].format(at + k)}" for k, w in enumerate(term.weights.tolist()) if w]


def _summed(parts: Sequence[list[str]], constant: float = 0.0) -> str:
    listed = [*(text for part in parts for text in part), *([f"n{constant!r}"] if constant else [])]
    head = [] if len(listed) == 1 else ["o0"] if len(listed) == 2 else [f"o54\n{len(listed)}"]
    return "\n".join([*head, *listed])


def _range(least: float, most: float) -> str:
    if least == most:
        return f"4 {least!r}"
    if least == -np.inf:
        return f"1 {most!r}"
    return f"2 {least!r}" if most == np.inf else f"0 {least!r} {most!r}"


def information(cells: Integers, rows: Floats, given: Integers, more: int = 0) -> list[Term]:
    """Terms of I(cell; output | given) under a law x of atoms, in nats: H(cell | given) + H(output | given) - H(both | given).

    Parameters
    ----------
    cells : (atoms,)
    rows : (atoms, outputs)
        The law of the output for each atom.
    given : (cells,)
        What else is known in a cell.
    more : int
        Free variables besides the law.
    """

    def summed(groups: Integers, weights: Floats | None = None) -> Floats:
        listed = (groups == np.arange(int(groups.max()) + 1)[:, None]).astype(float)
        if weights is not None:
            listed = (listed[:, None] * weights.T).reshape(-1, len(groups))
        return np.pad(listed[listed.any(axis=1)], ((0, 0), (0, more)))

    rows = rows[:, rows.any(axis=0)]
    alike = np.unique((rows / rows.sum(axis=0)).round(DIGITS), axis=1, return_inverse=True)[1].reshape(-1)
    rows = rows @ (alike[:, None] == np.arange(alike.max() + 1)).astype(float)  # outputs that say the same are one
    known = given[cells]
    signed = [(1.0, summed(cells, rows)), (-1.0, summed(cells)), (-1.0, summed(known, rows)), (1.0, summed(known))]
    return [Term(np.full(len(of), sign), of) for sign, of in signed if len(of) > 1]


def of_record(
    parts: Sequence[Floats], log_uniform: Floats, max_knowledge: float, start: Floats, least: float = 0.0
) -> Written:
    """Problem 1 for one record: the most that an output reveals of its letter under priors with enough entropy.

    Parameters
    ----------
    parts : sequence of (cells of a letter, outputs)
        Q(y|a,k).
    log_uniform : (cells,)
        log(N(a,k)/|X|), letter after letter.
    max_knowledge : float
        log |X| - b.
    start : (cells,)
    least : float
        Of a mass.
    """
    letters, ones = np.repeat(np.arange(len(parts)), [len(part) for part in parts]), np.ones(len(start))
    terms = information(letters, np.concatenate(parts), np.zeros(len(parts), dtype=np.int64))
    limit = Limit(Term(ones), -log_uniform, max_knowledge)
    return Written("problem", start, terms, (ones[None], np.ones(1), np.ones(1)), [limit], least=least)


def of_class(cells: Integers, rows: Floats, given: Integers, priors: PriorClass) -> Written:
    """The most that an output reveals of the cell of an atom, given something, under a class of laws of the atoms."""
    stated = priors.stated(len(cells))
    more = len(stated.start) - len(cells)
    total = np.append(np.ones(len(cells)), np.zeros(more))
    limits = [] if stated.limit is None else [Limit(Term(stated.limit[1], None, stated.limit[0]), *stated.limit[2:])]
    lines = np.vstack([total, stated.rows]), np.append(1.0, stated.low), np.append(1.0, stated.high)
    return Written("problem", stated.start, information(cells, rows, given, more), lines, limits)


def of_release(useful: Floats, secret: Floats, at_most: float, *, guessed: bool) -> Written:
    """The most that a release reveals of a variable, and at most so much of a secret, with one output more than inputs.

    Parameters
    ----------
    useful, secret : (letters, inputs)
        P(u,x) and P(s,x), each letter with mass.
    at_most : float
        In nats; where `guessed`, by how much the best guess of the secret may be right more often.
    """
    inputs = useful.shape[1]
    each, outputs = np.eye(inputs + 1), inputs + 1
    rows: Floats = np.asarray(np.kron(np.eye(inputs), np.ones(outputs)), dtype=float)
    low: Floats = np.ones(inputs)
    high: Floats = np.ones(inputs)
    start, limits, more = 0.9 * np.eye(inputs, outputs) + 0.1 / outputs, list[Limit](), 0
    told, released = np.kron(secret, each), np.kron(useful.sum(axis=0), each)
    if guessed:  # a number for each output is at least P(s,y) for every s
        more, best = outputs, at_most + float(secret.sum(axis=1).max())
        most = np.hstack([told, -np.tile(each, (len(secret), 1))])
        last = np.append(np.zeros(start.size), np.ones(outputs))
        rows = np.vstack([np.pad(rows, ((0, 0), (0, more))), most, last])
        low = np.append(low, np.full(len(most) + 1, -np.inf))
        high = np.append(np.append(high, np.zeros(len(most))), best)
    else:
        signs = np.repeat([1.0, -1.0], [len(told), outputs])
        limit = at_most - float(entropy(secret.sum(axis=1)))
        limits = [Limit(Term(signs, np.vstack([told, released])), np.zeros(start.size), limit)]
    gains = [(1.0, np.kron(useful, each)), (-1.0, released)]
    terms = [Term(np.full(len(of), sign), np.pad(of, ((0, 0), (0, more)))) for sign, of in gains]
    point = np.append(start / start.sum(axis=1, keepdims=True), np.ones(more))
    return Written("problem", point, terms, (rows, low, high), limits, float(entropy(useful.sum(axis=1))))
