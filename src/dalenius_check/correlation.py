"""The maximal correlation of a secret and the output, at most a number: a matrix without negative eigenvalues, exactly."""

from __future__ import annotations

from typing import Any

from .allowance import NUMBER
from .arithmetic import fmpq
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
        prior, letters = told.secret.prior, told.secret.letters[1:]
        self.allowance.take(len(letters) ** 2 * NUMBER)
        matrix = list[list[fmpq]]()
        for s in letters:
            self.allowance.look()
            scaled = [w / r if r else w for w, r in zip(told.given[s], told.mean, strict=True)]
            row = list[fmpq]()
            for other in letters:
                both = total(x * w for x, w in zip(scaled, told.given[other], strict=True))
                same = self.most * prior[s] if other == s else fmpq(0)
                row.append(total([same, (1 - self.most) * prior[s] * prior[other], -prior[s] * prior[other] * both]))
            matrix.append(row)
        self._need_semidefinite(matrix)

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
