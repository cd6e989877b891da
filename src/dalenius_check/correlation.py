"""The maximal correlation of a secret and the output, at most a number: a matrix without negative eigenvalues, exactly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .allowance import BALL
from .arithmetic import arb, fmpq
from .limits import SecretLimit, Tangent
from .numbers import height, need, total
from .secret import Secret, Told


class MaximalCorrelation(SecretLimit):
    """Bound because sum_y (sum_s f u)^2 / r <= rho^2 E f(S)^2 for f of mean 0, and by the tangents of a^2 / b."""

    def least_upper(self, table: dict[str, Any]) -> fmpq:
        square, most = table["square_at_most"], table["at_most"]
        return fmpq(square if most is None else most * most)

    def need_within(self, told: Told) -> None:
        """Bound because f'Af = b Var f(S) - Var E[f(S)|Y], and rho^2 is the largest ratio of the two; A 1 = 0."""
        if not self._positive(self._matrix(told, arb, lambda balls: sum(balls, arb(0)))):
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
        """Whether every eigenvalue is certainly positive: letter after letter is eliminated, in balls."""
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
