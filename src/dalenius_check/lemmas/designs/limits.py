"""Limits about a secret that are no rows: what a mechanism must meet exactly, and tangents, which no such mechanism is above."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import permutations
from typing import Any

from ...core.allowance import BALL, NUMBER, PAIR, rests_on
from ...core.arithmetic import arb, fmpq
from ...core.numbers import exponential, height, need, need_certain, summed, total
from ...core.read import Reader, decimal, entries, integer
from .ground import BEHIND, Inputs, Part, Term
from .secret import Laws, Secret, Told, secrets_of

Form = tuple[dict[int, list[fmpq]], list[fmpq], fmpq]  # A(s, y), B(y), h: sum Q (sum_s A P(s, x) + B P(x)) <= h
Tangent = Callable[[fmpq], Form]  # with a number in the place of e^epsilon


class SecretLimit:
    """For every law numbers that are at most `most`; they rise where the number in the place of e^epsilon falls."""

    def __init__(self, table: dict[str, Any], ground: Inputs, what: str) -> None:
        self.what = what
        self.allowance = ground.allowance
        rests_on(self.allowance, "G4")
        self.outputs = ground.outputs
        self.laws = secrets_of(table, ground, what)
        self.strong = bool(table.get("strong"))
        self.ends = exponential(*table["epsilon"]) if "epsilon" in table else (fmpq(1), fmpq(1))
        self.most = self.least_upper(table)

    def least_upper(self, table: dict[str, Any]) -> fmpq:
        """The number that is not to be passed."""
        return fmpq(table["at_most"])

    def need_met(self, laws: Laws) -> None:
        """Refuse a mechanism that is not within the limit."""
        for law in self.laws:
            with self.allowance.holding():
                self.need_within(Told(law, laws, self.allowance))

    def need_within(self, told: Told) -> None:
        """The same for one law."""
        need_certain(
            lambda c: all(x <= self.most for x in self.values(told, c)), *self.ends, f"the limit of {self.what}"
        )

    def values(self, told: Told, c: fmpq) -> Iterable[fmpq]:
        """The numbers, with c in the place of e^epsilon."""
        raise NotImplementedError

    def tangent(self, law: Secret, about: Any, hint: Any) -> Tangent:
        """Matrix of a line whose sum over Q is at most h for every mechanism within the limit."""
        raise NotImplementedError

    def part(self, law: Secret, weight: fmpq, about: Any, hint: Any) -> Part:
        """The same, so many times."""
        tangent = self.tangent(law, about, hint)

        def part(hard: bool) -> Iterator[Term]:
            letters, mean, most = tangent(self.ends[hard])
            yield BEHIND, 0, weight * most
            columns = {x: [(mean, p)] for x, p in law.inputs}
            for s, factors in letters.items():
                for x, p in law.rows[s]:
                    columns[x].append((factors, p))
            for x, held in columns.items():
                for y in range(self.outputs):
                    yield x, y, weight * total(factors[y] * p for factors, p in held)

        return part

    def numbers(self, value: Any, what: str, size: int, reader: Reader = decimal) -> list[fmpq]:
        """So many numbers of a line."""
        found = [reader(x, what) for x in entries(value, what, size)]
        self.allowance.take(sum(PAIR + NUMBER + height(x) // 4 for x in found))
        return found

    def table(self, law: Secret, about: Any, value: Any, reader: Reader = decimal) -> list[list[fmpq]]:
        """Numbers over letters and outputs; then a line is about nothing else."""
        need(about is None, "the line is about the whole law: null is expected")
        rows = entries(value, "the hint", len(law.prior))
        return [self.numbers(row, "the hint", self.outputs, reader) for row in rows]

    def letter(self, law: Secret, value: Any) -> int:
        """A letter that exists."""
        s = integer(value, "the letter", 0, len(law.prior) - 1)
        need(law.prior[s] > 0, f"letter {s} has probability zero")
        return s

    def share(self, law: Secret, s: int, factors: Sequence[fmpq], c: fmpq | int = 1) -> list[fmpq]:
        """A(s, y) by which P(s, x) becomes c P(s, x) / pi(s) times these factors."""
        return [c * x / law.prior[s] for x in factors]


class TotalVariation(SecretLimit):
    """Bound because |a| >= c a for |c| <= 1."""

    def values(self, told: Told, c: fmpq) -> Iterable[fmpq]:
        far = {s: total(abs(w - r) for w, r in zip(row, told.mean, strict=True)) for s, row in told.given.items()}
        return far.values() if self.strong else [total(told.secret.prior[s] * x for s, x in far.items())]

    def tangent(self, law: Secret, about: Any, hint: Any) -> Tangent:
        if self.strong:
            s = self.letter(law, about)
            factors = self.numbers(hint, "the hint", self.outputs, _signed)
            return lambda c: ({s: self.share(law, s, factors)}, [-x for x in factors], self.most)
        rows = self.table(law, about, hint, _signed)
        columns = zip(*rows, strict=True)
        behind = [-total(p * x for p, x in zip(law.prior, column, strict=True)) for column in columns]
        return lambda c: (dict(enumerate(rows)), behind, self.most)


class ChiSquare(SecretLimit):
    """Bound because a^2 / b >= 2 t a - t^2 b for b >= 0, where b = 0 only with a = 0, or the left side is infinite."""

    def values(self, told: Told, c: fmpq) -> Iterable[fmpq]:
        if self.strong:
            return [self._ratio(told.mean, row) - 1 for row in told.given.values()]
        return [total(told.secret.prior[s] * self._ratio(row, told.mean) for s, row in told.given.items()) - 1]

    def _ratio(self, above: Sequence[fmpq], below: Sequence[fmpq]) -> fmpq:
        pairs = list(zip(above, below, strict=True))
        need(all(b or not a for a, b in pairs), f"the limit of {self.what} fails: it is infinite")
        return total(a * a / b for a, b in pairs if b)

    def tangent(self, law: Secret, about: Any, hint: Any) -> Tangent:
        most = self.most + 1
        if self.strong:
            s = self.letter(law, about)
            t = self.numbers(hint, "the hint", self.outputs)
            return lambda c: ({s: self.share(law, s, [-x * x for x in t])}, [2 * x for x in t], most)
        rows = self.table(law, about, hint)
        columns = zip(*rows, strict=True)
        behind = [-total(p * x * x for p, x in zip(law.prior, column, strict=True)) for column in columns]
        return lambda c: ({s: [2 * x for x in row] for s, row in enumerate(rows)}, behind, most)


class Measured(SecretLimit):
    """Leakage of columns by right guesses, or by the largest of lines: for the largest information alone, without tangents."""

    def __init__(self, table: dict[str, Any], ground: Inputs, what: str) -> None:
        super().__init__(table, ground, what)
        self.measure = table["measure"]

    def values(self, told: Told, c: fmpq) -> Iterable[fmpq]:
        prior = told.secret.prior
        masses = [{s: prior[s] * row[y] for s, row in told.given.items()} for y in told.outputs]
        if isinstance(self.measure, str):
            return [total(max(m.values()) - max(prior) * r for m, r in zip(masses, told.mean, strict=True))]
        pairs = [(u, prior[s] * r) for m, r in zip(masses, told.mean, strict=True) for s, u in m.items()]
        return [total(max(a * u + b * even for a, b in self.measure) for u, even in pairs)]


class PrivacyDelta(SecretLimit):
    """Bound because max(a, 0) >= c a for c from 0 to 1; of two letters, or of a letter and the mean, either way."""

    def __init__(self, table: dict[str, Any], ground: Inputs, what: str) -> None:
        super().__init__(table, ground, what)
        self.local = table["kind"] == "local_dp_delta"

    def values(self, told: Told, c: fmpq) -> Iterable[fmpq]:
        rows = told.given.values()
        if self.local:
            return (self._over(one, other, c) for one, other in permutations(rows, 2))
        return (x for row in rows for x in (self._over(row, told.mean, c) / c, self._over(told.mean, row, c)))

    def _over(self, one: Sequence[fmpq], other: Sequence[fmpq], c: fmpq) -> fmpq:
        self.allowance.look()
        return total(max(w - c * r, fmpq(0)) for w, r in zip(one, other, strict=True))

    def tangent(self, law: Secret, about: Any, hint: Any) -> Tangent:
        listed = entries(about, "the letters", 2)
        factors = self.numbers(hint, "the hint", self.outputs, _share)
        none = sum(x is None for x in listed)
        need(none == (0 if self.local else 1), f"two letters are expected{'' if self.local else ', one of them null'}")
        one, other = (x if x is None else self.letter(law, x) for x in listed)
        need(one != other, "the letters must differ")

        def make(c: fmpq) -> Form:
            parts = [(one, fmpq(1)), (other, -c)]
            held = {s: self.share(law, s, factors, sign) for s, sign in parts if s is not None}
            means = [[sign * x for x in factors] for s, sign in parts if s is None]
            most = c * self.most if other is None else self.most
            return held, means[0] if means else [fmpq(0)] * self.outputs, most

        return make


def _signed(value: Any, what: str) -> fmpq:
    found = decimal(value, what)
    need(-1 <= found <= 1, f"{what} must be from -1 to 1")
    return found


def _share(value: Any, what: str) -> fmpq:
    found = decimal(value, what)
    need(0 <= found <= 1, f"{what} must be from 0 to 1")
    return found


class MaximalCorrelation(SecretLimit):
    """Bound because sum_y (sum_s f u)^2 / r <= rho^2 E f(S)^2 for f of mean 0, and by the tangents of a^2 / b."""

    def least_upper(self, table: dict[str, Any]) -> fmpq:
        square, most = table["square_at_most"], table["at_most"]
        return fmpq(square if most is None else most * most)

    def need_within(self, told: Told) -> None:
        """Bound because f'Af = b Var f(S) - Var E[f(S)|Y], and rho^2 is the largest ratio of the two; A 1 = 0."""
        if not self._positive(self._matrix(told, arb, summed)):
            self._need_semidefinite(self._matrix(told, fmpq, total))

    def _matrix(
        self, told: Told, number: Callable[[fmpq], Any], added: Callable[[Iterable[Any]], Any]
    ) -> list[list[Any]]:
        """A but for the first letter's row and column, in rationals or in balls."""
        prior = told.secret.prior
        letters = told.secret.letters[1:]
        self.allowance.room(len(letters) * (len(letters) + len(told.mean)) * BALL)
        given = {s: list(map(number, told.given[s])) for s in letters}
        mean = list(map(number, told.mean))
        matrix = list[list[Any]]()
        for s in letters:
            self.allowance.look()
            scaled = [w / r if told.mean[y] else w for y, (w, r) in enumerate(zip(given[s], mean, strict=True))]
            row = []
            for other in letters:
                both = added(x * w for x, w in zip(scaled, given[other], strict=True))
                same = self.most * prior[s] if other == s else fmpq(0)
                row.append(
                    added(
                        [
                            number(same + (1 - self.most) * prior[s] * prior[other]),
                            -number(prior[s] * prior[other]) * both,
                        ]
                    )
                )
            matrix.append(row)
        return matrix

    def _positive(self, matrix: list[list[arb]]) -> bool:
        """True if every eigenvalue is certainly positive: letter after letter is eliminated, in balls."""
        while matrix:
            (pivot, *head), *rest = matrix
            if (pivot > 0) is not True:
                return False
            self.allowance.look()
            matrix = [[z - row[0] * y / pivot for z, y in zip(row[1:], head, strict=True)] for row in rest]
        return True

    def _need_semidefinite(self, matrix: list[list[fmpq]]) -> None:
        """Refuse a symmetric matrix with a negative eigenvalue: letter after letter is eliminated."""
        while matrix:
            (pivot, *head), *rest = matrix
            fits = pivot > 0 or (pivot == 0 and not any(head))
            need(fits, f"the limit of {self.what} fails: the correlation is larger")
            matrix = [row[1:] for row in rest]
            for row, x in zip(matrix, head if pivot else [], strict=bool(pivot)):
                self.allowance.look()
                row[:] = [total([z, -x * y / pivot]) for z, y in zip(row, head, strict=True)]
                self.allowance.room(len(matrix) * sum(map(height, row)) / 4)

    def tangent(self, law: Secret, about: Any, hint: Any) -> Tangent:
        f, t = self.numbers(about, "f", len(law.prior)), self.numbers(hint, "the hint", self.outputs)
        mean = total(p * x for p, x in zip(law.prior, f, strict=True))
        most = self.most * total(p * (x - mean) ** 2 for p, x in zip(law.prior, f, strict=True))
        return lambda c: ({s: [2 * x * (f[s] - mean) for x in t] for s in law.letters}, [-x * x for x in t], most)
