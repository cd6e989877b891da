"""Tools of the checker's tests: models, certificates, and a float reference written apart from the checker.

The reference enumerates all datasets and evaluates the formulas of docs/certificate-format.md in numpy.
"""

import json
import tomllib
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp, xlogy

from dalenius_check.core.model import parse_model


def model(records: str, query: str, mechanism: str, entropy: str) -> bytes:
    """A model file; each argument is the body of its table, on one line with `;` between keys.

    The last one is an entropy bound, or, if it has a `=`, the body of the adversary's table.
    """
    adversary = entropy if "=" in entropy else f"entropy_at_least = {entropy}"
    parts = {"records": records, "query": query, "mechanism": mechanism, "adversary": adversary}
    text = 'problem = "maximal_leakage"\n'
    for name, body in parts.items():
        if body:
            text += f"\n[{name}]\n" + "".join(line.strip() + "\n" for line in body.split(";"))
    return text.encode()


def header(model_file: bytes, lower: str, upper: str, **extra: Any) -> dict[str, Any]:
    """A certificate's first line."""
    return {
        "format": "dalenius-certificate/2",
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
        self.inputs = [j if dataset else index[v] for j, v in enumerate(values)]
        self.letter = [x[i] for x in datasets]
        self.b = self._entropy(data["adversary"].get("entropy_at_least", 0), np.log(len(datasets)))
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

    def masses(self, prior: list[float]) -> np.ndarray:
        """The masses on the pairs of a prior on the datasets."""
        p = np.zeros(self.N.shape)
        for mass, a, k in zip(prior, self.letter, self.inputs, strict=True):
            p[a, k] += mass / sum(prior)
        return p

    def selections(self) -> list[tuple[int, ...]]:
        """The distinct tuples of inputs that the letters have together."""
        columns = [
            [k for k, letter in zip(self.inputs, self.letter, strict=True) if letter == a] for a in range(self.A)
        ]
        return sorted(set(zip(*columns, strict=True)))

    # ---- bounds -------------------------------------------------------------------------------------------------

    @staticmethod
    def tighten(lo: np.ndarray, hi: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
        """Ranges of numbers whose sum along the axis is 1."""
        return (
            np.maximum(lo, 1 - hi.sum(axis, keepdims=True) + hi),
            np.minimum(hi, 1 - lo.sum(axis, keepdims=True) + lo),
        )

    @staticmethod
    def secant(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """The slopes of the secants of v log v."""
        wide = hi > lo + 1e-12
        return np.where(wide, (xlogy(hi, hi) - xlogy(lo, lo)) / np.where(wide, hi - lo, 1), np.log(hi + 1e-300) + 1)

    @staticmethod
    def lines(weight: float, lo: np.ndarray, hi: np.ndarray, slope: np.ndarray) -> np.ndarray:
        """The intercepts of lines of these slopes above weight v log v."""
        return np.maximum(weight * xlogy(lo, lo) - slope * lo, weight * xlogy(hi, hi) - slope * hi)

    def root(self) -> dict[str, np.ndarray]:
        """The box of everything: lo, hi of the posterior, low, high of the conditional laws, letters by outputs."""
        rows = [self.R[self.N[a] > 0] for a in range(self.A)]
        shape = (self.A, self.Y)
        low, high = np.array([x.min(0) for x in rows]), np.array([x.max(0) for x in rows])
        return {"lo": np.zeros(shape), "hi": np.ones(shape), "low": low, "high": high}

    def tight(self, box: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The box under the two rules of sum 1."""
        lo, hi = self.tighten(box["lo"], box["hi"], 0)
        low, high = self.tighten(box["low"], box["high"], 1)
        return {"lo": lo, "hi": hi, "low": low, "high": high}

    def scores(self, box: dict[str, np.ndarray], theta: float, sigma: np.ndarray, law: np.ndarray | None) -> np.ndarray:
        """s(a, k) of a joint leaf."""
        lo, hi = self.tighten(box["lo"], box["hi"], 0)
        cost = 0 if law is None else theta * np.log(np.where(law > 0, law, 1))
        return (self.lines(1 - theta, lo, hi, sigma).sum(0) + sigma - cost) @ self.R.T

    def row(
        self, s: np.ndarray, low: np.ndarray, high: np.ndarray, a: int, theta: float, mu: float, kappa: np.ndarray
    ) -> float:
        """psi of a row leaf; `low` and `high` are letter a's ranges, not tightened."""
        low, high = self.tighten(low, high, 0)
        if np.any(low > high + 1e-12):
            return -np.inf
        soft = mu * logsumexp(self.logN[a] + (s[a] + self.R @ kappa) / mu)
        return float(self.lines(theta, low, high, kappa).sum() + soft)

    def free(self, s: np.ndarray, theta: float, mu: float) -> np.ndarray:
        """psi of each letter where theta or mu is zero."""
        if mu > 0:
            return mu * logsumexp(self.logN + s / mu, axis=1)
        return np.where(self.N > 0, s + theta * xlogy(self.R, self.R).sum(1), -np.inf).max(1)

    def leaf(self, psi: np.ndarray, theta: float, mu: float) -> float:
        """The bound of a joint leaf."""
        tau = 1 - theta + mu
        return float((tau * logsumexp(psi / tau) if tau > 0 else psi.max()) - mu * self.b)

    def joint(
        self, box: dict[str, np.ndarray], theta: float, mu: float, law: np.ndarray | None, noise: np.ndarray | float = 0
    ) -> tuple[list[Any], float]:
        """A joint leaf with the secants' slopes (changed by noise) and row trees of one leaf, and its bound."""
        theta, mu = round(theta, 6), round(mu, 6)
        weights = None if law is None or not theta else np.maximum(np.round(law, 10), 1e-10)
        law = None if weights is None else weights / weights.sum()
        tight = self.tight(box)
        if any(np.any(tight[x] > tight[y] + 1e-12) for x, y in (("lo", "hi"), ("low", "high"))):
            rows = [["row", None]] * self.A if theta and mu else []
            return [
                ["joint", text(theta, 6), text(mu, 6), None, None if weights is None else texts(weights)],
                *rows,
            ], -np.inf
        sigma = np.round((1 - theta) * self.secant(tight["lo"], tight["hi"]) + noise, 6)
        kappa = np.round(theta * self.secant(tight["low"], tight["high"]) + noise, 6)
        s = self.scores(box, theta, sigma, law)
        slopes = [texts(row, 6) for row in sigma] if theta < 1 else None
        head = ["joint", text(theta, 6), text(mu, 6), slopes, None if weights is None else texts(weights)]
        if theta == 1:
            s = self.scores(box, theta, 0 * sigma, law)
        if not (theta and mu):
            return [head], self.leaf(self.free(s, theta, mu), theta, mu)
        psi = [self.row(s, box["low"][a], box["high"][a], a, theta, mu, kappa[a]) for a in range(self.A)]
        return [head, *(["row", texts(row, 6)] for row in kappa)], self.leaf(np.array(psi), theta, mu)

    def best(
        self, box: dict[str, np.ndarray], theta: float, law: np.ndarray | None, noise: np.ndarray | float = 0
    ) -> tuple[list[Any], float]:
        """The joint leaf with the best mu."""
        found = minimize_scalar(
            lambda t: self.joint(box, theta, np.exp(t), law, noise)[1], bounds=(-9, 5), method="bounded"
        )
        tries = [self.joint(box, theta, mu, law, noise) for mu in (float(np.exp(found.x)), 0.0)]
        return min(tries, key=lambda pair: pair[1])

    def divergences(self, law: np.ndarray) -> np.ndarray:
        """D(R(k, .) || law)."""
        return xlogy(self.R, self.R).sum(1) - xlogy(self.R, np.where(self.R > 0, law, 1)).sum(1)

    @staticmethod
    def halves(box: dict[str, np.ndarray], name: str, a: int, y: int, t: float) -> list[dict[str, np.ndarray]]:
        """The boxes of a split or cut."""
        low, high = ("lo", "hi") if name == "split" else ("low", "high")
        below, above = box[high].copy(), box[low].copy()
        below[a, y], above[a, y] = min(below[a, y], t), max(above[a, y], t)
        return [{**box, high: below}, {**box, low: above}]

    def grow(
        self,
        theta: float,
        gap: float,
        lower: float,
        most: int = 120,
        law: np.ndarray | None = None,
        noise: np.random.Generator | None = None,
    ) -> tuple[list[Any], float]:
        """A tree of splits (theta < 1), cuts (theta > 0) and joint leaves in preorder, and its bound."""

        def leaf(box: dict[str, np.ndarray]) -> dict[str, Any]:
            change = 0 if noise is None else noise.normal(size=(self.A, self.Y)) * 0.01
            lines, bound = self.best(box, theta, law, change)
            return {"box": box, "lines": lines, "bound": bound}

        root = leaf(self.root())
        leaves = [root]
        while len(leaves) < most:
            node = max(leaves, key=lambda n: n["bound"])
            if node["bound"] <= lower + gap:
                break
            tight = self.tight(node["box"])
            widths = {}
            if theta < 1:
                widths["split"] = tight["hi"] - tight["lo"]
            if theta > 0:
                widths["cut"] = tight["high"] - tight["low"]
            name = max(widths, key=lambda key: widths[key].max())
            if widths[name].max() < 1e-3:
                break
            a, y = map(int, np.unravel_index(int(np.argmax(widths[name])), widths[name].shape))
            t = round(float(tight["lo" if name == "split" else "low"][a, y] + widths[name][a, y] / 2), 6)
            node["cut"] = [name, a, y, text(t, 6)]
            node["kids"] = [leaf(box) for box in self.halves(node["box"], name, a, y, t)]
            leaves = [n for n in leaves if n is not node] + node["kids"]
        lines, stack = [], [root]
        while stack:
            node = stack.pop()
            if "cut" in node:
                lines.append(node["cut"])
                stack += node["kids"][::-1]
            else:
                lines += node["lines"]
        return lines, max(n["bound"] for n in leaves)

    def capacity(self, inputs: list[int], rounds: int = 400) -> tuple[np.ndarray, np.ndarray]:
        """The capacity-achieving laws of some rows, on the rows and on the outputs (Blahut-Arimoto)."""
        rows = self.R[inputs]
        q = np.full(len(inputs), 1 / len(inputs))
        for _ in range(rounds):
            law = q @ rows
            q = q * np.exp(xlogy(rows, rows).sum(1) - xlogy(rows, np.where(rows > 0, law, 1)).sum(1))
            q /= q.sum()
        return q, q @ rows
