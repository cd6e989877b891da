"""Design certificates for the corpus and the tests: a float reference written apart from the checker.

It enumerates all datasets; the closed forms are those of binary symmetric channels and of rate-distortion.
"""

import json
import tomllib
import warnings
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import minimize
from scipy.special import xlogy

from dalenius_check.core.model import parse_model
from forge import Reference, model, text, texts

HAMMING, UNIFORM, FREE = 'kind="hamming"', 'kind="uniform"', '"1 max"'
Parts = tuple[str, str, str, str, str, str, str]


def design(records: str, query: str, group: str, adversary: str, budget: str, distortion: str, law: str) -> bytes:
    """A design model; each argument is a table's body as in `forge.model`, the budget a line that decides the problem."""
    problem = "min_leakage" if budget.startswith("max_distortion") else "min_distortion"
    head = f'problem = "{problem}"\n{budget}\n\n'
    tables = {"distortion": distortion, "law": law}
    tail = "".join(
        f"\n[{name}]\n" + "".join(f"{x.strip()}\n" for x in body.split(";")) for name, body in tables.items()
    )
    body = model(records, query, f'class="{group}"', adversary).decode().partition("\n\n")[2]
    return (head + body + tail).encode()


def header(model_file: bytes, lower: Any, upper: Any, mechanism: Any, **extra: Any) -> dict[str, Any]:
    """A design certificate's first line."""
    problem = tomllib.loads(model_file.decode())["problem"]
    return {
        "format": "dalenius-certificate/2",
        "problem": problem,
        "model": parse_model(model_file).digest,
        "lower": lower,
        "upper": upper,
        "unit": "nats" if problem == "min_leakage" else "distortion",
        "producer": "tests",
        "mechanism": mechanism,
        **extra,
    }


def certificate(model_file: bytes, lower: Any, upper: Any, mechanism: Any, *lines: Any, **extra: Any) -> bytes:
    """A design certificate."""
    values = [header(model_file, lower, upper, mechanism, **extra), *lines]
    return "".join(json.dumps(value, separators=(",", ":")) + "\n" for value in values).encode()


class Design:
    """Law, distortions and the bound of `dual` and `prior` lines in floats, for small models."""

    def __init__(self, parts: Parts) -> None:
        self.file = design(*parts)
        self.records, self.query, self.group, self.adversary, *_ = parts
        data = tomllib.loads(self.file.decode())
        self.leakage, self.problem = data["problem"] == "min_leakage", data["problem"]
        amount, _, unit = str(data.get("max_leakage", data.get("max_distortion"))).partition(" ")
        self.budget = float(Fraction(amount)) * (np.log(2) if unit == "bits" else 1)
        probe = Reference(model(self.records, self.query, f'kind="matrix"; rows={[[1]] * 99}', "0"))
        self.values, index = probe.values, probe.inputs
        inputs = list(range(len(index))) if self.group == "full" else index
        self.size = len(index) if self.group == "full" else len(self.values)
        shares = [Fraction(str(x)) for x in data["law"].get("probabilities", [])]
        weights = [prod(shares[a] for a in x) if shares else Fraction(1) for x in product(*map(range, probe.alphabets))]
        self.law = [Fraction(0)] * self.size
        for x, weight in zip(inputs, weights, strict=True):
            self.law[x] += weight / sum(weights)
        rows = [[Fraction(str(x)) for x in row] for row in data["distortion"].get("rows", [])]
        measure = {"hamming": lambda gap: int(gap != 0), "absolute": abs, "squared": lambda gap: gap**2}
        for v in self.values if not rows else ():
            rows.append([Fraction(measure[data["distortion"]["kind"]](v - w)) for w in self.values])
        self.costs = [rows[k] for k in index] if self.group == "full" else rows
        self.p, self.d = np.array(self.law, dtype=float), np.array(self.costs, dtype=float)
        self.outputs = len(rows[0])
        self.alphabets = probe.alphabets

    def rows(self, mechanism: Any) -> list[list[Fraction]]:
        """The mechanism of a certificate as a matrix, exactly."""
        rows = [[Fraction(x) / sum(map(Fraction, row)) for x in row] for row in mechanism]
        size = range(self.size)
        return [[rows[0][(y - v) % self.size] for y in size] for v in size] if self.group == "additive" else rows

    def channel(self, mechanism: Any) -> np.ndarray:
        """The same in floats."""
        return np.array(self.rows(mechanism), dtype=float)

    def expected(self, mechanism: Any) -> Fraction:
        """The exact expected distortion."""
        triples = zip(self.law, self.rows(mechanism), self.costs, strict=True)
        return sum((p * q * d for p, row, costs in triples for q, d in zip(row, costs, strict=True)), Fraction(0))

    def audit(self, mechanism: Any, i: int = 0) -> Reference:
        """The reference of maximal leakage for this mechanism."""
        rows = [list(map(str, row)) for row in self.rows(mechanism)]
        full = 'inputs="dataset"; ' if self.group == "full" else ""
        query = "" if full else self.query
        return Reference(model(self.records, query, f'kind="matrix"; {full}rows={json.dumps(rows)}', self.adversary), i)

    def masses(self, i: int, prior: Any) -> np.ndarray:
        """p(a, x) of a line's prior."""
        ref = self.audit([["1"] * self.outputs] * (1 if self.group == "additive" else self.size), i)
        if prior == "uniform":
            return ref.uniform()
        if isinstance(prior, int):
            listed = tomllib.loads(self.file.decode())["adversary"]["priors"][prior]
            return ref.masses([float(Fraction(str(x))) for x in listed])
        if "product_priors" in self.adversary:
            p = np.zeros(ref.N.shape)
            weights = np.array([float(Fraction(x)) for x in prior[1]])
            np.add.at(p, (range(ref.A), ref.selections()[prior[0]]), weights / weights.sum())
            return p
        p = np.array([[float(Fraction(x)) for x in row] for row in prior])
        return p / p.sum()

    def bound(self, nu: Any, priors: list[list[Any]]) -> float:
        """What a `dual` and its `prior` lines prove."""
        total = sum(float(Fraction(line[1])) for line in priors)
        score = np.zeros((self.size, self.outputs))
        for _, weight, i, prior, phi in priors:
            p = self.masses(i, prior)
            phi = np.array([[float(Fraction(x)) for x in row] for row in phi])
            held = p.sum(1) > 0
            gain = np.log((phi / phi.sum(0))[held] / p.sum(1)[held, None])
            score += float(Fraction(weight)) * p[held].T @ gain
        cost, nu = self.p[:, None] * self.d, float(Fraction(nu))
        score = score / total + nu * cost if self.leakage else score + cost
        given = nu * self.budget if self.leakage else total * self.budget
        if self.group == "additive":
            n = self.size
            return float(min(sum(score[v, (v + z) % n] for v in range(n)) for z in range(n))) - given
        return float(score.min(1).sum()) - given

    def least(self, priors: list[tuple[int, Any]], nu: float) -> np.ndarray:
        """A mechanism that nearly minimises the mean leakage plus nu times the distortion, by its logits."""
        n = self.size
        pairs = [self.masses(i, prior) for i, prior in priors]
        shift = (np.arange(n)[:, None] + np.arange(n)) % n if self.group == "additive" else None

        def spread(z: np.ndarray) -> np.ndarray:
            z = z.reshape(-1, self.outputs)
            q = np.exp(z - z.max(1, keepdims=True))
            q /= q.sum(1, keepdims=True)
            return q if shift is None else np.array([q[0][(np.arange(n) - v) % n] for v in range(n)])

        def value(z: np.ndarray) -> tuple[float, np.ndarray]:
            q = spread(z)
            total, slope = nu * float((self.p[:, None] * q * self.d).sum()), nu * self.p[:, None] * self.d
            for p in pairs:
                u = p @ q + 1e-300
                log = np.log(u) - np.log(u.sum(0)) - np.log(p.sum(1) + 1e-300)[:, None]
                total, slope = total + float((u * log).sum()) / len(pairs), slope + p.T @ log / len(pairs)
            if shift is not None:
                q, slope = q[:1], slope[np.arange(n)[:, None], shift].sum(0, keepdims=True)
            return total, (q * (slope - (q * slope).sum(1, keepdims=True))).ravel()

        start = np.random.default_rng(1).normal(size=self.outputs * (1 if shift is not None else n))
        options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 3000, "maxfun": 5000}
        found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(-20, 20)] * len(start), options=options)
        return spread(found.x)

    def best(self, priors: list[tuple[int, Any]]) -> tuple[list[Any], list[list[Any]], float]:
        """The line `dual` and the lines of these priors, with equal weights, that prove most, and what they prove.

        With t for nu, or for the sum of the weights, the bound is concave in t and in each prior's psi = weight phi.
        """
        t, many, cost = cp.Variable(), len(priors), self.p[:, None] * self.d
        weight, score = (1 / many, t * cost) if self.leakage else (t / many, cost)
        rules, psis = [t >= 1e-3, t <= 150], []  # a weight must be positive
        for i, prior in priors:
            p = self.masses(i, prior)
            held = p.sum(1) > 0
            p, psi = p[held], cp.Variable((int(held.sum()), self.outputs))
            score = score - weight * np.outer(p.T @ np.log(p.sum(1)), np.ones(self.outputs))
            score = score - p.T @ cp.rel_entr(weight * np.ones(psi.shape), psi)
            rules.append(cp.sum(psi, axis=0) <= weight)
            psis.append((held, psi))
        size = range(self.size)
        if self.group == "additive":
            least = cp.min(cp.hstack([sum(score[v, (v + z) % self.size] for v in size) for z in size]))
        else:
            least = cp.sum(cp.min(score, axis=1))
        with warnings.catch_warnings():  # of an inaccurate answer: what it proves is evaluated, not believed
            warnings.simplefilter("ignore", UserWarning)
            cp.Problem(cp.Maximize(least - t * self.budget), rules).solve(solver=cp.CLARABEL)
        share, nu = ("1", text(float(t.value))) if self.leakage else (text(float(t.value) / many, 12), "0")
        lines = []
        for (i, prior), (held, psi) in zip(priors, psis, strict=True):
            phi = np.full((len(held), self.outputs), 1e-9)
            phi[held] = np.maximum(psi.value / psi.value.sum(0), 1e-9)
            lines.append(["prior", share, i, prior, [texts(row) for row in phi]])
        return ["dual", nu], lines, self.bound(nu, lines)

    def found(self, mechanism: Any, rng: np.random.Generator, records: list[int]) -> list[tuple[int, Any]]:
        """Priors against which this mechanism leaks much."""
        found: list[tuple[int, Any]] = []
        for i in records:
            ref, priors = self.audit(mechanism, i), list[Any]()
            if "prior_set" in self.adversary:
                priors = list(range(len(tomllib.loads(self.file.decode())["adversary"]["priors"])))
            elif "product_priors" in self.adversary:
                priors = [[j, texts(ref.capacity(list(x))[0])] for j, x in enumerate(ref.selections())]
            else:
                priors = ["uniform"] if self.adversary == FREE else [[texts(row, 12) for row in ref.search(rng, 3)]]
            found += [(i, prior) for prior in priors]
        return found

    def sections(self, mechanism: Any, records: list[int], most: int = 8) -> tuple[list[list[Any]], float]:
        """The sections of these records and what they prove; against listed priors none, and what all records leak."""
        lines, bounds = list[list[Any]](), [0.0]
        if "prior_set" in self.adversary:
            many = len(tomllib.loads(self.file.decode())["adversary"]["priors"])
            every = [(self.audit(mechanism, i), i) for i in range(len(self.alphabets))]
            return [], max(ref.information(self.masses(i, j)) for ref, i in every for j in range(many))
        for i in records:
            ref = self.audit(mechanism, i)
            lines.append(["record", i])
            if "product_priors" in self.adversary:
                for j, x in enumerate(ref.selections()):
                    law = np.maximum(ref.capacity(list(x))[1], 1e-10)
                    rows = ref.R[list(x)]
                    bounds.append(max(float((xlogy(r, r) - xlogy(r, law / law.sum())).sum()) for r in rows))
                    lines.append(["law", [j], texts(law, 12)])
            elif self.adversary == FREE:
                lines.append(["uniform"])
                bounds.append(ref.information(ref.uniform()))
            else:
                tree, bound = ref.grow(0, 1e-3, 0.0, most)
                lines += tree
                bounds.append(bound)
        return lines, max(bounds)
