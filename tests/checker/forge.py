"""Tools of the checker's tests: models, certificates, and a float reference written apart from the checker.

The reference enumerates all datasets and evaluates the formulas of docs/certificate-format.md in numpy.
"""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp, xlogy

from dalenius_check.model import parse_model


def model(records: str, query: str, mechanism: str, entropy: str) -> bytes:
    """A model file; each argument is the body of its table, on one line with `;` between keys."""
    parts = {"records": records, "query": query, "mechanism": mechanism, "adversary": f"entropy_at_least = {entropy}"}
    text = 'problem = "maximal_leakage"\n'
    for name, body in parts.items():
        if body:
            text += f"\n[{name}]\n" + "".join(line.strip() + "\n" for line in body.split(";"))
    return text.encode()


def header(model_file: bytes, lower: str, upper: str, **extra: Any) -> dict[str, Any]:
    """A certificate's first line."""
    return {
        "format": "dalenius-certificate/1",
        "problem": "maximal_leakage",
        "model": parse_model(model_file).digest,
        "lower": lower,
        "upper": upper,
        "unit": "nats",
        "producer": "tests",
        **extra,
    }


def certificate(model_file: bytes, lower: str, upper: str, *lines: Any, **extra: Any) -> bytes:
    """A certificate file."""
    values = [header(model_file, lower, upper, **extra), *lines]
    return "".join(json.dumps(value, separators=(",", ":")) + "\n" for value in values).encode()


def text(value: float, digits: int = 10) -> str:
    """A decimal with this many digits after the point."""
    return f"{value:.{digits}f}"


def texts(values: Any, digits: int = 10) -> list[str]:
    """Decimals of a vector."""
    return [text(float(value), digits) for value in values]


class Reference:
    """Record channel, prior functionals and bounds in floats, for small models of the known kinds."""

    def __init__(self, model_file: bytes, i: int = 0) -> None:
        data = tomllib.loads(model_file.decode())
        records = data["records"]
        self.alphabets = records.get("alphabets") or [records["alphabet"]] * records["count"]
        datasets = list(product(*map(range, self.alphabets)))
        self.mechanism = data["mechanism"]
        self.query = data.get("query", {"kind": "identity"})
        values = [self._value(x, index) for index, x in enumerate(datasets)]
        dataset = self.mechanism.get("inputs") == "dataset"
        self.values = list(range(len(datasets))) if dataset else self._values(values)
        index = {v: k for k, v in enumerate(self.values)}
        self.R = np.array(self._rows(), dtype=float)
        self.R /= self.R.sum(axis=1, keepdims=True)
        self.N = np.zeros((self.alphabets[i], len(self.values)))
        for j, x in enumerate(datasets):
            self.N[x[i], j if dataset else index[values[j]]] += 1
        self.logN = np.log(self.N, where=self.N > 0, out=np.full(self.N.shape, -np.inf))
        self.b = self._entropy(data["adversary"]["entropy_at_least"], np.log(len(datasets)))
        self.A, self.K = self.N.shape
        self.Y = self.R.shape[1]

    def _value(self, x: tuple[int, ...], index: int) -> int:
        q = self.query
        kind = q["kind"]
        if kind == "sum" and "weights" in q:
            nested = isinstance(q["weights"][0], list)
            return sum((q["weights"][i] if nested else q["weights"])[a] for i, a in enumerate(x))
        simple = {
            "parity": lambda: sum(x) % 2,
            "modular_sum": lambda: sum(x) % q["modulus"],
            "count": lambda: sum(a in q.get("letters", [1]) for a in x),
            "sum": lambda: sum(x),
            "threshold": lambda: int(sum(x) >= q["at"]),
            "table": lambda: q["values"][index],
            "identity": lambda: index,
        }
        return simple[kind]()

    def _values(self, attained: list[int]) -> list[int]:
        fixed = {
            "parity": 2,
            "threshold": 2,
            "count": len(self.alphabets) + 1,
            "modular_sum": self.query.get("modulus"),
        }
        size = fixed.get(self.query["kind"])
        return list(range(size)) if size else sorted(set(attained))

    def _rows(self) -> list[list[float]]:
        m, values = self.mechanism, self.values
        kind, size = m["kind"], len(values)
        eps = float(Fraction(str(m["epsilon"]))) if "epsilon" in m else 0.0
        if kind == "matrix":
            return [[float(Fraction(str(x))) for x in row] for row in m["rows"]]
        if kind == "symmetric":
            flip = float(Fraction(str(m["flip"])))
            return [[1 - flip if y == v else flip / (size - 1) for y in range(size)] for v in range(size)]
        if kind == "randomized_response":
            return [[np.exp(eps) if y == v else 1.0 for y in range(size)] for v in range(size)]
        if kind == "laplace_threshold":
            e = np.exp(-eps / 2) / 2
            return [[1 - e, e], [e, 1 - e]]
        span = m.get("range", [values[0], values[-1]])
        low, high = span if isinstance(span, list) else (0, span)
        if kind == "geometric":
            a = np.exp(-eps)
            ends = {low, high}
            return [
                [a ** abs(y - v) * (1 if y in ends else 1 - a) / (1 + a) for y in range(low, high + 1)] for v in values
            ]
        scale = 2 * float(Fraction(str(m.get("sensitivity", 1))))
        return [[np.exp(-eps * abs(y - v) / scale) for y in range(low, high + 1)] for v in values]

    @staticmethod
    def _entropy(value: Any, space: float) -> float:
        if not isinstance(value, str):
            return float(value)
        amount, _, unit = value.partition(" ")
        return float(Fraction(amount)) * {"": 1.0, "nats": 1.0, "bits": np.log(2), "max": space}[unit]

    def entropy_of(self, p: np.ndarray) -> float:
        """The prior's entropy."""
        return float(-xlogy(p, p).sum() + (p[p > 0] * self.logN[p > 0]).sum())

    def information(self, p: np.ndarray) -> float:
        """The information of a prior."""
        u = p @ self.R
        return float(xlogy(u, u).sum() - xlogy(p.sum(1), p.sum(1)).sum() - xlogy(u.sum(0), u.sum(0)).sum())

    def uniform(self) -> np.ndarray:
        """The uniform prior's masses."""
        return self.N / self.N.sum()

    def feasible(self, p: np.ndarray, margin: float = 1e-7) -> np.ndarray:
        """Mix with the uniform prior until the entropy is at least b + margin."""
        low, high = 0.0, 1.0
        if self.entropy_of(p) >= self.b + margin:
            return p
        for _ in range(60):
            t = (low + high) / 2
            low, high = (low, t) if self.entropy_of((1 - t) * p + t * self.uniform()) >= self.b + margin else (t, high)
        return (1 - high) * p + high * self.uniform()

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """A feasible random prior on the pairs, often near a face."""
        weights = rng.gamma(rng.choice([0.05, 0.3, 1.0]), size=self.N.shape) * (self.N > 0)
        weights *= np.where(rng.random() < 0.5, np.maximum(self.N, 1), 1)
        weights += (self.N > 0) * 1e-12
        return self.feasible(weights / weights.sum())

    def search(self, rng: np.random.Generator, starts: int = 6) -> np.ndarray:
        """A good feasible prior by local ascent from random starts."""
        support = self.N > 0

        def spread(z: np.ndarray) -> np.ndarray:
            p = np.zeros(self.N.shape)
            p[support] = np.abs(z) + 1e-13
            return p / p.sum()

        best = self.feasible(self.uniform(), 0)
        for _ in range(starts):
            found = minimize(
                lambda z: -self.information(spread(z)),
                self.random(rng)[support],
                method="SLSQP",
                constraints={"type": "ineq", "fun": lambda z: self.entropy_of(spread(z)) - self.b - 1e-8},
                options={"maxiter": 200},
            )
            p = self.feasible(spread(found.x), 1e-8)
            best = p if self.information(p) > self.information(best) else best
        return best

    # ---- bounds -------------------------------------------------------------------------------------------------

    @staticmethod
    def secant(lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """alpha and s."""
        width = np.where(hi > lo, hi - lo, 1)
        s = np.where(hi > lo, (xlogy(hi, hi) - xlogy(lo, lo)) / width, 0)
        return xlogy(lo, lo) - s * lo, s

    @staticmethod
    def tighten(lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The box with sum_a phi = 1."""
        return np.maximum(lo, 1 - hi.sum(0) + hi), np.minimum(hi, 1 - lo.sum(0) + lo)

    def column(self, lo: np.ndarray, hi: np.ndarray, mu: float, nu: np.ndarray) -> float:
        """The column leaf's bound (lo, hi, nu are letters by outputs)."""
        lo, hi = self.tighten(lo, hi)
        alpha, s = self.secant(lo, hi)
        constant = (alpha - np.maximum(nu, 0) * lo + np.maximum(-nu, 0) * hi).sum(0)
        c = (constant + s + nu) @ self.R.T
        if mu == 0:
            return float(logsumexp(np.where(self.N > 0, c, -np.inf).max(1)))
        inner = logsumexp(self.logN + c / mu, axis=1)
        return float((1 + mu) * logsumexp(mu / (1 + mu) * inner) - mu * self.b)

    def best_mu(self, lo: np.ndarray, hi: np.ndarray, nu: np.ndarray | None = None) -> tuple[float, float]:
        """The best multiplier of a column leaf and its bound."""
        zero = np.zeros((self.A, self.Y)) if nu is None else nu
        found = minimize_scalar(lambda t: self.column(lo, hi, np.exp(t), zero), bounds=(-9, 5), method="bounded")
        mu = round(float(np.exp(found.x)), 6)
        return mu, self.column(lo, hi, mu, zero)

    def row(self, a: int, lo: np.ndarray, hi: np.ndarray, beta: float, nu: np.ndarray, law: np.ndarray) -> float:
        """One row leaf's phi."""
        alpha, s = self.secant(lo, hi)
        log = np.where(law > 0, np.log(np.maximum(law, 1e-300)), 0)
        c = self.R @ (s + nu - log)
        constant = (alpha - np.maximum(nu, 0) * lo + np.maximum(-nu, 0) * hi).sum()
        return float(constant + beta * logsumexp(self.logN[a] + c / beta))

    def divergences(self, law: np.ndarray) -> np.ndarray:
        """D(R(k, .) || law)."""
        return xlogy(self.R, self.R).sum(1) - xlogy(self.R, np.where(self.R > 0, law, 1)).sum(1)

    def grow_rows(self, a: int, beta: float, law: np.ndarray, most: int) -> tuple[list[Any], float]:
        """A row tree in preorder with at most this many leaves, and its phi."""
        rows = self.R[self.N[a] > 0]
        zero = np.zeros(self.Y)

        def leaf(lo: np.ndarray, hi: np.ndarray) -> dict[str, Any]:
            feasible = np.all(lo <= hi)
            return {"lo": lo, "hi": hi, "phi": self.row(a, lo, hi, beta, zero, law) if feasible else -np.inf}

        root = leaf(rows.min(0), rows.max(0))
        leaves = [root]
        while len(leaves) < most:
            node = max(leaves, key=lambda n: n["phi"])
            y = int(np.argmax(node["hi"] - node["lo"]))
            if node["hi"][y] - node["lo"][y] < 1e-3:
                break
            t = round(float(node["lo"][y] + node["hi"][y]) / 2, 6)
            high, low = node["hi"].copy(), node["lo"].copy()
            high[y], low[y] = t, t
            node["cut"], node["kids"] = (y, t), [leaf(node["lo"], high), leaf(low, node["hi"])]
            leaves = [n for n in leaves if n is not node] + node["kids"]
        lines, stack = [], [root]
        while stack:
            node = stack.pop()
            if "cut" in node:
                lines.append(["cut", node["cut"][0], text(node["cut"][1], 6)])
                stack += node["kids"][::-1]
            else:
                lines.append(["row", None])
        return lines, max(n["phi"] for n in leaves)

    def dual(self, beta: float, law: np.ndarray, most: int = 1) -> tuple[list[Any], float]:
        """A dual leaf with its row trees, and its bound."""
        lines: list[Any] = [["dual", text(beta, 6), texts(law)]]
        if beta == 0:
            return lines, float(self.divergences(law)[self.N.sum(0) > 0].max())
        phis = []
        for a in range(self.A):
            tree, phi = self.grow_rows(a, beta, law, most)
            lines += tree
            phis.append(phi)
        return lines, float(beta * logsumexp(np.array(phis) / beta) - beta * self.b)

    def best_dual(self, law: np.ndarray, most: int = 1) -> tuple[list[Any], float]:
        """The dual leaf with the best beta of a small grid."""
        return min(
            (self.dual(beta, law, most) for beta in [0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.8]), key=lambda pair: pair[1]
        )

    def grow(
        self, gap: float, lower: float, most: int = 120, hints: np.random.Generator | None = None
    ) -> tuple[list[Any], float]:
        """A tree of splits and column leaves in preorder, and its bound."""

        def leaf(lo: np.ndarray, hi: np.ndarray) -> dict[str, Any]:
            lo2, hi2 = self.tighten(lo, hi)
            if np.any(lo2 > hi2 + 1e-12):
                return {"lo": lo, "hi": hi, "mu": 0.0, "bound": -np.inf, "nu": None}
            nu = None if hints is None else np.round(hints.normal(size=(self.A, self.Y)) * 0.01, 4)
            mu, bound = self.best_mu(lo, hi, nu)
            return {"lo": lo, "hi": hi, "mu": mu, "bound": bound, "nu": nu}

        root = leaf(np.zeros((self.A, self.Y)), np.ones((self.A, self.Y)))
        leaves = [root]
        while len(leaves) < most:
            node = max(leaves, key=lambda n: n["bound"])
            if node["bound"] <= lower + gap:
                break
            lo, hi = self.tighten(node["lo"], node["hi"])
            a, y = np.unravel_index(int(np.argmax(hi - lo)), lo.shape)
            t = round(float(lo[a, y] + hi[a, y]) / 2, 6)
            high, low = node["hi"].copy(), node["lo"].copy()
            high[a, y], low[a, y] = min(high[a, y], t), max(low[a, y], t)
            node["cut"], node["kids"] = (int(a), int(y), t), [leaf(node["lo"], high), leaf(low, node["hi"])]
            leaves = [n for n in leaves if n is not node] + node["kids"]
        lines, stack = [], [root]
        while stack:
            node = stack.pop()
            if "cut" in node:
                lines.append(["split", node["cut"][0], node["cut"][1], text(node["cut"][2], 6)])
                stack += node["kids"][::-1]
            else:
                nu = node["nu"]
                lines.append(["column", text(node["mu"], 6), nu if nu is None else [texts(row, 4) for row in nu]])
        return lines, max(n["bound"] for n in leaves)

    def capacity_law(self, inputs: list[int], rounds: int = 400) -> np.ndarray:
        """The capacity-achieving output law of some rows (Blahut-Arimoto)."""
        rows = self.R[inputs]
        q = np.full(len(inputs), 1 / len(inputs))
        for _ in range(rounds):
            law = q @ rows
            d = xlogy(rows, rows).sum(1) - xlogy(rows, np.where(rows > 0, law, 1)).sum(1)
            q = q * np.exp(d)
            q /= q.sum()
        return q @ rows
