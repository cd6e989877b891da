"""Every program written down a second time, in numpy and scipy, from docs/theory.md and docs/programs.md alone.

A second solver's optimum lies in the certified interval, and is what Clarabel finds from the exported files. Points of the second
route are feasible to 1e-9: they pass the proven end by no more than that is worth, and may stop short of it by what SLSQP leaves.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import brentq, linprog, minimize

import dalenius as dl
import support
from campaigns import thinned
from dalenius import programs
from dalenius.export import Solution, certify, export, read_cbf, read_json, subproblem
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.model.privacy import Reference
from dalenius.programs import Program

TINY = 1e-13  # the least mass that the second solver may give, so that no logarithm is infinite
FEASIBLE = 1e-9
PASSED, SHORT = 1e-8, 1e-7  # what the second solver may seem to gain by FEASIBLE, and what it may leave
READERS = {"cbf": read_cbf, "json": read_json}


# ---------------------------------------------------------------- the second solver, and the terms of the field


def least(goal, start, sums, holds, *, free=0) -> float:
    """Minimise goal(x) over sums @ x = 1, holds(x) >= 0, x >= 0 (its last `free` entries aside); functions give derivatives, too."""
    start = np.asarray(start, dtype=float)
    found = minimize(
        goal,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(TINY, 1.0)] * (start.size - free) + [(None, None)] * free,
        constraints=[
            {"type": "eq", "fun": lambda x: sums @ x - 1.0, "jac": lambda x: sums},
            {"type": "ineq", "fun": lambda x: holds(x)[0], "jac": lambda x: holds(x)[1]},
        ],
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert abs(sums @ found.x - 1.0).max() <= FEASIBLE
    assert holds(found.x)[0].min() >= -FEASIBLE
    return float(found.fun)


def most(goal, start, sums, holds, *, free=0) -> float:
    def turned(x):
        value, slope = goal(x)
        return -value, -slope

    return -least(turned, start, sums, holds, free=free)


def linear(scores):
    return lambda x: (float(scores @ x), scores)


def log(x):
    return np.log(np.maximum(x, 1e-300))


def entropy(p, counts=1.0):
    """-sum p log p + sum p log counts, and its gradient."""
    return float(-np.sum(p * log(p / counts))), -log(p / counts) - 1.0


def distance(K, r):
    """D(K_a || r) of every row."""
    return np.sum(K * (log(K) - log(r)), axis=-1)


def told(masses, Q):
    """I(A; Y) of a mechanism for masses (letters, inputs), and its gradient."""
    u = masses @ Q
    ratio = log(u) - log(np.outer(u.sum(axis=1), u.sum(axis=0)))
    return float(np.sum(u * ratio)), masses.T @ ratio


def line(low, high):
    """Intercept and slope of the secant of v log v; a constant on a point."""
    wide = high > low
    slope = np.where(wide, high * log(high) - low * log(low), 0.0) / np.where(wide, high - low, 1.0)
    return low * log(low) - slope * low, slope


def tight(low, high, axis):
    """Ranges of numbers with sum 1."""
    above, below = high.sum(axis=axis, keepdims=True) - high, low.sum(axis=axis, keepdims=True) - low
    return np.maximum(low, 1.0 - above), np.minimum(high, 1.0 - below)


class Channel:
    """R (classes, outputs), and N (letters, classes), 0 where no such pair exists; a vector p lists the masses of those that do."""

    def __init__(self, R, N):
        self.R, self.N, self.pairs = np.array(R), np.array(N, dtype=float), np.nonzero(N)
        self.letters = (self.pairs[0] == np.arange(len(N))[:, None]).astype(float)
        self.rows, self.counts = self.R[self.pairs[1]], self.N[self.pairs]
        self.uniform = self.counts / self.counts.sum()
        with np.errstate(divide="ignore"):
            self.log_counts = np.log(self.N)

    def spread(self, p):
        w = np.zeros(self.N.shape)
        w[self.pairs] = p
        return w


# ---------------------------------------------------------------- the statements


@dataclass(frozen=True)
class Case:
    """A program, its optimum by the second route, that of its instance where this is a relaxation, and how near Clarabel comes."""

    program: Program
    optimum: float
    relaxed: float | None = None
    near: float = SHORT


def marginal(K, h, b) -> float:
    """max I(pi; K) over H(pi) + <pi, h> >= b."""

    def goal(pi):
        away = distance(K, pi @ K)
        return float(pi @ away), away - 1.0

    def holds(pi):
        value, slope = entropy(pi, np.exp(h))
        return np.array([value - b]), slope[None]

    return most(goal, np.exp(h) / np.exp(h).sum(), np.ones((1, len(K))), holds)


def a_marginal() -> Case:
    K = np.array([[0.7, 0.2, 0.1, 0.0, 0.0], [0.05, 0.05, 0.2, 0.3, 0.4], [0.0, 0.9, 0.0, 0.1, 0.0]])
    h, b = np.array([0.1, 1.3, 0.4]), 1.75
    return Case(programs.MarginalUpdate(K, h, b), marginal(K, h, b))


def a_capacity() -> Case:
    """Without an entropy bound; by the Blahut-Arimoto iteration."""
    K = np.array([[1.0, 0.0, 0.0], [0.3, 0.7, 0.0], [0.1, 0.2, 0.7], [0.25, 0.5, 0.25]])
    pi = np.full(4, 0.25)
    for _ in range(3000):
        pi = pi * np.exp(distance(K, pi @ K))
        pi /= pi.sum()
    assert distance(K, pi @ K).max() - pi @ distance(K, pi @ K) <= FEASIBLE
    return Case(programs.MarginalUpdate(K, np.zeros(4), 0.0), float(pi @ distance(K, pi @ K)))


LOPSIDED = Channel(
    np.array([[0.8, 0.15, 0.05], [0.1, 0.1, 0.8], [0.2, 0.6, 0.2], [0.5, 0.0, 0.5]]),
    np.array([[1, 7, 0, 2], [30, 0, 3, 1]]),
)


def a_conditional() -> Case:
    """max sum_a pi_a <g_a, w_a> over sum_a pi_a H(w_a) + H(pi) >= b."""
    it, pi, b = LOPSIDED, np.array([0.3, 0.7]), 2.2
    w0 = np.array([[0.5, 0.2, 0.0, 0.3], [0.3, 0.0, 0.6, 0.1]])
    K = w0 @ it.R
    g = (log(K / (pi @ K)) @ it.R.T)[it.pairs]
    weight = pi[it.pairs[0]]
    start = it.counts / it.N.sum(axis=1)[it.pairs[0]]

    def holds(w):
        terms = -w * log(w / it.counts)
        return np.array([weight @ terms + entropy(pi)[0] - b]), (weight * (-log(w / it.counts) - 1.0))[None]

    optimum = most(linear(weight * g), start, it.letters, holds)
    return Case(programs.ConditionalUpdate(it.R, it.log_counts, pi, w0, b), optimum)


def enough(it: Channel, b: float, free: int = 0):
    """The constraint H(p) >= b."""

    def holds(p):
        value, slope = entropy(p[: p.size - free], it.counts)
        return np.array([value - b]), np.append(slope, np.zeros(free))[None]

    return holds


def a_posterior() -> Case:
    """max <c, p> + H(pi) over H(p) >= b."""
    it, b = LOPSIDED, 2.6
    phi = np.array([[0.9, 0.5, 0.2], [0.1, 0.5, 0.8]])
    c = (log(phi) @ it.R.T)[it.pairs]

    def goal(p):
        value, slope = entropy(it.letters @ p)
        return float(c @ p) + value, c + it.letters.T @ slope

    optimum = most(goal, it.uniform, np.ones((1, c.size)), enough(it, b))
    return Case(programs.PosteriorUpdate(it.R, it.log_counts, phi, b), optimum)


def a_row() -> Case:
    """max I over one letter's law with H(w) >= h: a convex function, from many starts; and the largest sum of secants."""
    it, pi = Channel(LOPSIDED.R, LOPSIDED.N[:1]), np.array([0.4, 0.6])
    other, h = np.array([0.3, 0.0, 0.6, 0.1]), 1.4
    with np.errstate(divide="ignore", invalid="ignore"):
        theirs = np.nansum(other * (LOPSIDED.log_counts[1] - np.log(other)))
    b = entropy(pi)[0] + pi[1] * theirs + pi[0] * h
    rest = pi[1] * (other @ it.R)
    known = pi[1] * np.sum((other @ it.R) * log(other @ it.R))

    def f(x):
        return pi[0] * x * log(x) - (pi[0] * x + rest) * log(pi[0] * x + rest)

    def goal(w):
        K = w @ it.rows
        return known + float(f(K).sum()), it.rows @ (pi[0] * (log(K) - log(pi[0] * K + rest)))

    one = np.ones((1, it.counts.size))
    starts = np.random.default_rng(1).dirichlet(np.ones(it.counts.size), size=12)
    optimum = max(most(goal, start, one, enough(it, h)) for start in starts)
    ends = [[sign * most(linear(y), it.uniform, one, enough(it, h)) for y in sign * it.rows.T] for sign in (-1, 1)]
    low, high = tight(*np.array(ends), 0)
    slope = (f(high) - f(low)) / (high - low)
    gains = it.rows @ slope
    relaxed = most(linear(gains), it.uniform, one, enough(it, h)) + known + np.sum(f(low) - slope * low)
    w = np.stack([[0.1, 0.3, 0.0, 0.6], other])
    return Case(programs.RowUpdate(LOPSIDED.R, LOPSIDED.log_counts, 0, pi, w, b), optimum, relaxed)


def node(it: Channel, b: float, posterior=None, conditional=None) -> float:
    """max t <= H(pi) + sum alpha r + beta u, t <= H(r) + sum alpha pi + beta u, on boxes of u/r and u/pi, over H(p) >= b."""
    exists, size, shape = it.N > 0, it.counts.size, (len(it.N), it.R.shape[1])
    widest = tuple(np.array([pick(it.R[own], axis=0) for own in exists]) for pick in (np.min, np.max))
    alpha, beta = line(*tight(*(posterior or (np.zeros(shape), np.ones(shape))), 0))
    first = np.sum((alpha.sum(axis=0) + beta)[it.pairs[0]] * it.rows, axis=1)
    alpha, beta = line(*tight(*(conditional or widest), 1))
    second = alpha.sum(axis=1)[it.pairs[0]] + np.sum(beta[it.pairs[0]] * it.rows, axis=1)
    u = (it.letters[:, None, :] * it.rows.T[None]).reshape(-1, size)
    totals = (np.tile(it.rows.T, (len(it.N), 1)), np.repeat(it.letters, shape[1], axis=0))
    boxes = [(box, total) for box, total in zip((posterior, conditional), totals, strict=True) if box is not None]
    cones = [
        part
        for (low, high), total in boxes
        for part in (u - low.reshape(-1, 1) * total, high.reshape(-1, 1) * total - u)
    ]
    cones = np.concatenate([np.zeros((0, size)), *cones])

    def holds(x):
        p, t = x[:-1], x[-1]
        (of_letters, down), (of_outputs, across) = entropy(it.letters @ p), entropy(p @ it.rows)
        spent, slope = entropy(p, it.counts)
        values = [of_letters + first @ p - t, of_outputs + second @ p - t, spent - b, *(cones @ p)]
        slopes = [it.letters.T @ down + first, it.rows @ across + second, slope, *cones]
        return np.array(values), np.column_stack([slopes, np.repeat([-1.0, 0.0], [2, 1 + len(cones)])])

    last = np.append(np.zeros(size), 1.0)
    return most(linear(last), np.append(it.uniform, 0.0), np.append(np.ones(size), 0.0)[None], holds, free=1)


def a_node() -> Case:
    return Case(programs.NodeRelaxation(LOPSIDED.R, LOPSIDED.log_counts, 2.0), node(LOPSIDED, 2.0))


def a_box(side: str) -> Case:
    """Away from the uniform prior, so that the box cuts."""
    it = LOPSIDED
    masses = it.spread(it.uniform * np.exp(np.linspace(0.0, 2.0, it.counts.size))) @ it.R
    centre = masses / masses.sum(axis=0 if side == "posterior" else 1, keepdims=True)
    box = {side: (centre - 0.04, centre + np.array([[0.05, 0.02, 0.03]]))}
    return Case(programs.NodeRelaxation(it.R, it.log_counts, 2.0, **box), node(it, 2.0, **box))


PRIORS = [
    np.array([[0.30, 0.05, 0.10, 0.00], [0.02, 0.25, 0.08, 0.20]]),
    np.array([[0.05, 0.25, 0.00, 0.05], [0.20, 0.05, 0.05, 0.10], [0.05, 0.00, 0.15, 0.05]]),
]
COST = np.array([0.4, 0.3, 0.2, 0.1])[:, None] * np.array(
    [[0.0, 1.0, 3.0], [1.0, 0.0, 1.0], [2.0, 0.5, 0.0], [3.0, 1.0, 0.2]]
)


def design(priors, cost, budget, problem: int, tied=None) -> float:
    """Problem 2: min max_s I_s(Q) over <c, Q> <= budget; Problem 3: min <c, Q> over I_s(Q) <= budget. Q(x, y) = q[tied[x, y]]."""
    tied = np.arange(cost.size).reshape(cost.shape) if tied is None else tied
    size, outputs = tied.max() + 1, cost.shape[1]
    choose = np.eye(size)[tied.reshape(-1)]
    price = cost.reshape(-1) @ choose
    sums = np.kron(np.eye(size // outputs), np.ones(outputs))

    def leakages(q):
        pairs = [told(p, (choose @ q).reshape(cost.shape)) for p in priors]
        return np.array([value for value, _ in pairs]), np.array([slope.reshape(-1) @ choose for _, slope in pairs])

    flat = np.full(size, 1.0 / outputs)
    if problem == 3:
        return least(linear(price), flat, sums, lambda q: (budget - leakages(q)[0], -leakages(q)[1]))

    def holds(x):
        values, slopes = leakages(x[:-1])
        slopes = np.column_stack([-slopes, np.ones(len(slopes))])
        return np.append(x[-1] - values, budget - price @ x[:-1]), np.vstack([slopes, np.append(-price, 0.0)])

    ends = np.append(np.zeros(size), 1.0)
    return least(linear(ends), np.append(flat, 1.0), np.column_stack([sums, np.zeros(len(sums))]), holds, free=1)


def a_min_leakage() -> Case:
    return Case(programs.MinLeakageProgram(PRIORS, COST, 0.25), design(PRIORS, COST, 0.25, 2))


def a_rate_distortion() -> Case:
    """One prior that knows the input: by Blahut's iteration at the slope that spends the budget."""
    law = np.array([0.4, 0.3, 0.2, 0.1])

    def at(slope):
        r = np.full(3, 1.0 / 3.0)
        for _ in range(2000):
            Q = r * np.exp(-slope * COST / law[:, None])
            Q /= Q.sum(axis=1, keepdims=True)
            r = law @ Q
        return Q

    Q = at(brentq(lambda slope: np.sum(COST * at(slope)) - 0.2, 0.1, 50.0, xtol=1e-12))
    return Case(programs.MinLeakageProgram([np.diag(law)], COST, 0.2), told(np.diag(law), Q)[0])


def an_additive_mechanism() -> Case:
    x = np.arange(4)
    tied = (x[None] - x[:, None]) % 4
    cost = np.array([0.1, 0.4, 0.3, 0.2])[:, None] * np.minimum(tied, 4 - tied)
    return Case(
        programs.MinLeakageProgram(PRIORS, cost, 0.3, tied=TiedEntries(tied)), design(PRIORS, cost, 0.3, 2, tied)
    )


def a_min_distortion() -> Case:
    return Case(programs.MinDistortionProgram(PRIORS, COST, 0.02), design(PRIORS, COST, 0.02, 3))


def silence() -> Case:
    """Nothing told to one prior: a linear program, p(a, .) Q = pi_a p(.) Q for every letter. 1e-10 nats would buy 1e-5."""
    prior, outputs = PRIORS[0], COST.shape[1]
    told_apart = prior - np.outer(prior.sum(axis=1), prior.sum(axis=0))
    found = linprog(
        COST.reshape(-1),
        A_eq=np.vstack([np.kron(told_apart[:1], np.eye(outputs)), np.kron(np.eye(len(COST)), np.ones(outputs))]),
        b_eq=np.append(np.zeros(outputs), np.ones(len(COST))),
    )
    assert found.fun < COST.sum(axis=0).min() - 0.1  # telling nothing is more than being constant
    return Case(programs.MinDistortionProgram([prior], COST, 0.0), found.fun, near=1e-5)


def a_private_mechanism(factor: float, laws=None) -> Case:
    """Q(x,y) <= e^epsilon Q(x',y) for every pair of inputs, or Q(x,y) <= e^epsilon sum beta(x') Q(x',y) where beta(x) > 0."""
    inputs, outputs = COST.shape
    averages = np.eye(inputs) if laws is None else np.array(laws)
    apart = [
        np.eye(inputs)[x] - factor * beta for beta in averages for x in range(inputs) if laws is None or beta[x] > 0.0
    ]
    found = linprog(
        COST.reshape(-1),
        A_ub=np.kron(apart, np.eye(outputs)),
        b_ub=np.zeros(len(apart) * outputs),
        A_eq=np.kron(np.eye(inputs), np.ones(outputs)),
        b_eq=np.ones(inputs),
    )
    references = laws and [Reference(tuple(np.flatnonzero(law).tolist()), tuple(p for p in law if p)) for law in laws]
    return Case(programs.PrivateDistortionProgram(COST, factor, references), found.fun)


# ---------------------------------------------------------------- whole models: every dataset is listed


def an_audit() -> Case:
    """Two records of 2 and 3 letters, their sum in modular noise: the relaxation over all 6 datasets, a pair each."""
    R = [
        ["0.7", "0.2", "0.1", "0"],
        ["0.1", "0.8", "0.1", "0"],
        ["0", "0.2", "0.5", "0.3"],
        ["0.25", "0", "0.25", "0.5"],
    ]
    model = support.problem(dl.Records(alphabets=[2, 3]), dl.Sum(), dl.Channel(R), "0.7 max")
    datasets = list(itertools.product(range(2), range(3)))
    rows = np.array(R, dtype=float)[[sum(x) for x in datasets]]
    N = np.array([[float(x[1] == a) for x in datasets] for a in range(3)])
    program = subproblem(model, "node@1")
    shift = np.log(6.0)  # the package's entropies are relative to the uniform prior's
    assert program.b == pytest.approx(0.7 * shift - shift)
    return Case(program, node(Channel(rows, N), 0.7 * shift))


def a_design(problem: int) -> Case:
    """The count of three bits for two adversaries whose priors are listed; their masses on (letter, count) of every record."""
    weights = [
        ["0.3", "0.1", "0", "0.1", "0.1", "0", "0", "0.4"],
        ["0.05", "0.2", "0.2", "0.05", "0.2", "0.1", "0.1", "0.1"],
    ]
    kind, limit = (
        (dl.MinLeakage, {"max_distortion": "0.3"}) if problem == 2 else (dl.MinDistortion, {"max_leakage": "0.03 nats"})
    )
    model = kind(
        records=dl.Records(3, alphabet=2),
        query=dl.Count(),
        distortion=dl.Absolute(),
        law=dl.Uniform(),
        adversary=dl.PriorSet(weights),
        **limit,
    )
    datasets = np.array(list(itertools.product(range(2), repeat=3)))
    priors = []
    for prior, record in itertools.product(np.array(weights, dtype=float), range(3)):
        masses = np.zeros((2, 4))
        np.add.at(masses, (datasets[:, record], datasets.sum(axis=1)), prior)
        priors.append(masses)
    cost = np.array([1, 3, 3, 1])[:, None] / 8.0 * abs(np.subtract.outer(range(4), range(4)))
    return Case(subproblem(model, "master"), design(priors, cost, 0.3 if problem == 2 else 0.03, problem))


ENTROPIES: dict[str, Callable[[], Case]] = {
    "marginal": a_marginal,
    "capacity": a_capacity,
    "conditional": a_conditional,
    "posterior": a_posterior,
    "row": a_row,
    "node": a_node,
    "node, box of posteriors": lambda: a_box("posterior"),
    "node, box of conditionals": lambda: a_box("conditional"),
    "model, node": an_audit,
}
LINEAR: dict[str, Callable[[], Case]] = {
    "local differential privacy": lambda: a_private_mechanism(2.0),
    "pointwise maximal leakage": lambda: a_private_mechanism(1.5, [[0.4, 0.3, 0.2, 0.1]]),
    "pointwise, two laws": lambda: a_private_mechanism(1.3, [[0.4, 0.3, 0.2, 0.1], [0.0, 0.5, 0.0, 0.5]]),
}
CASES = (
    ENTROPIES
    | LINEAR
    | {
        "min_leakage": a_min_leakage,
        "rate-distortion": a_rate_distortion,
        "additive": an_additive_mechanism,
        "min_distortion": a_min_distortion,
        "silence": silence,
        "model, min_leakage": lambda: a_design(2),
        "model, min_distortion": lambda: a_design(3),
    }
)


LONG = {"model, min_distortion"}  # left to the whole campaign


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] if name in LONG else []) for name in CASES]
)
def test_a_second_route_finds_the_same(name, solver, tmp_path):
    case = CASES[name]()
    proved = case.program.solve(gap=1e-8, time_limit=20)
    below, above = (SHORT, PASSED) if case.program.maximises else (PASSED, SHORT)
    assert proved.lower - below <= case.optimum <= proved.upper + above
    assert proved.gap <= SHORT
    of_file = case.optimum if case.relaxed is None else case.relaxed
    for format, read in READERS.items():
        x, z, value = solver(read(export(case.program, tmp_path / f"x.{format}", format=format)))
        assert value == pytest.approx(of_file, abs=case.near)
        answer = certify(case.program, Solution(x, z))
        assert answer.lower - below <= case.optimum <= answer.upper + above
    if case.relaxed is not None:
        assert case.relaxed >= proved.lower


# ---------------------------------------------------------------- a global solver, which knows no cones

SCIP = 1e-6  # its constraints hold to 1e-8, its gap closes to 1e-6


@pytest.mark.parametrize("name", thinned(sorted(ENTROPIES | LINEAR, reverse=True), every=4))
def test_a_global_solver_finds_the_same_without_cones(name, tmp_path):
    """SCIP's spatial branch and bound, with exp(x) <= z or x <= -y log y for a cone: y = 1 or z = 1, but in those of mechanisms."""
    scip = pytest.importorskip("pyscipopt", reason="needs SCIP: pip install pyscipopt")
    case = CASES[name]()
    form = read_cbf(export(case.program, tmp_path / "x.cbf", format="cbf"))
    model = scip.Model()
    model.hideOutput()
    model.setParams({"limits/time": 60.0, "limits/gap": 1e-6, "numerics/feastol": 1e-8})
    x = [model.addVar(lb=None) for _ in range(form.c.size)]
    sides = []
    for b, start, end in zip(form.b, form.A.indptr, form.A.indptr[1:], strict=False):
        terms = zip(form.A.data[start:end], form.A.indices[start:end], strict=True)
        sides.append(scip.quicksum(float(a) * x[j] for a, j in terms) + float(b))
    first, cones = form.sizes["zero"], sum(form.sizes.values()) - form.sizes["exponential"]
    for k, side in enumerate(sides[:cones]):
        model.addCons(side == 0.0 if k < first else side >= 0.0)
    for k in range(cones, len(sides), 3):
        low, y, z = model.addVar(lb=None), model.addVar(), model.addVar()
        for variable, side in zip((low, y, z), sides[k : k + 3], strict=True):
            model.addCons(variable == side)
        ends = [float(form.b[j]) if form.A.indptr[j] == form.A.indptr[j + 1] else None for j in (k + 1, k + 2)]
        assert 1.0 in ends
        model.addCons(low <= -y * scip.log(y) if ends[1] == 1.0 else scip.exp(low) <= z)
    objective = scip.quicksum(float(c) * variable for c, variable in zip(form.c, x, strict=True)) + form.offset
    model.setObjective(objective, "maximize" if form.maximises else "minimize")
    model.optimize()
    assert model.getStatus() in ("optimal", "gaplimit")
    value = case.optimum if case.relaxed is None else case.relaxed
    assert model.getObjVal() == pytest.approx(value, abs=SCIP)
    assert model.getDualbound() == pytest.approx(value, abs=SCIP)
