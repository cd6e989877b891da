"""A small random instance of every program, and what the tests ask of any answer, whoever solved it."""

import inspect
import math
from collections.abc import Callable, Iterator

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_matrix

import dalenius.programs as programs
from dalenius.information import mutual_information
from dalenius.model.privacy import Reference
from dalenius.outcome import Termination
from dalenius.programs import BlockSolution, Program
from dalenius.programs.demands import NONE, ConeRows, Demands, Levels, LinearRows


def program_classes() -> list[type[Program]]:
    """Every program that the package offers."""
    named = [getattr(programs, name) for name in dir(programs)]
    return [c for c in named if inspect.isclass(c) and issubclass(c, Program) and not inspect.isabstract(c)]


def marginal(rng: np.random.Generator) -> Program:
    K = rng.dirichlet(np.full(4, 0.5), size=3)
    h = rng.uniform(0.0, 1.5, size=3)
    most = float(np.log(np.exp(h).sum()))
    return programs.MarginalUpdate(K, h, rng.uniform(0.2, 0.99) * most)


def pairs(rng: np.random.Generator, classes: int = 3) -> tuple[np.ndarray, np.ndarray, float]:
    """Rows, log counts with a pair that does not exist, and an entropy bound."""
    rows = rng.dirichlet(np.full(4, 0.5), size=classes)
    log_counts = np.log(rng.integers(1, 9, size=(2, classes)).astype(float))
    log_counts[0, rng.integers(classes)] = -np.inf
    return rows, log_counts, rng.uniform(0.2, 0.95) * float(np.log(np.exp(log_counts).sum()))


def channel(rng: np.random.Generator, *, least: int = 2, most: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Rows and log(N/|X|) of 2 to 6 letters, classes and outputs; pairs are missing, rows have zeros, an output may never occur."""
    letters, classes, outputs = rng.integers(least, most + 1, size=3)
    rows = rng.dirichlet(np.full(outputs, 0.7), size=classes)
    rows = (
        np.where(rng.random(rows.shape) < 0.15, 0.0, rows) + 1e-3 * np.eye(outputs)[rng.integers(outputs, size=classes)]
    )
    if rng.random() < 0.3 and outputs > 2:
        rows[:, 0] = 0.0
        rows[:, 1] += 1e-3
    log_counts = np.where(
        rng.random((letters, classes)) < 0.15, -np.inf, rng.uniform(0.0, 4.0, size=(letters, classes))
    )
    log_counts[np.arange(letters), rng.integers(classes, size=letters)] = 1.0
    return rows / rows.sum(axis=1, keepdims=True), log_counts - np.log(np.exp(log_counts).sum())


def entropies(w: np.ndarray, log_counts: np.ndarray) -> np.ndarray:
    """-sum w log w + sum w log N along the last axis."""
    w, log_counts = np.broadcast_arrays(w, log_counts)
    terms = np.where(
        w > 0.0, w * (np.where(np.isfinite(log_counts), log_counts, 0.0) - np.log(np.where(w > 0.0, w, 1.0))), 0.0
    )
    return terms.sum(axis=-1)


def soft(x: np.ndarray) -> np.ndarray:
    """log sum exp along the last axis."""
    top = x.max(axis=-1, keepdims=True)
    return np.log(np.exp(x - top).sum(axis=-1)) + top[..., 0]


def own_entropy(pi: np.ndarray) -> float:
    return float(-np.sum(pi * np.log(np.where(pi > 0.0, pi, 1.0))))


def draw(rng: np.random.Generator, log_counts: np.ndarray) -> np.ndarray:
    """Conditionals (letters, classes) on the pairs, of any spread."""
    w = rng.dirichlet(np.full(log_counts.shape[1], rng.choice([0.1, 0.5, 2.0])), size=len(log_counts)) + 1e-9
    w = np.where(np.isfinite(log_counts), w, 0.0)
    return w / w.sum(axis=1, keepdims=True)


def canonicalised(program: Program) -> object:
    """What cvxpy keeps for solving again with other parameters."""
    kept = program.problem._cache.param_prog
    assert kept is not None
    return kept


def assert_solved_again(program: Program, changed: Iterator[Program], **options: object) -> None:
    """A program is DPP: what `changed` sets does not canonicalise it again, and its answer is that of a new one, which that yields."""
    assert program.problem.is_dcp(dpp=True)
    program.solve(solver="CLARABEL", **options)
    kept = canonicalised(program)
    for fresh in changed:
        answer, anew = program.solve(solver="CLARABEL", **options), fresh.solve(**{"gap": 1e-4} if options else {})
        assert canonicalised(program) is kept
        assert max(answer.lower, anew.lower) <= min(answer.upper, anew.upper)


def conditional(rng: np.random.Generator) -> Program:
    rows, log_counts, _ = pairs(rng)
    pi, w = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(3), size=2)
    most = float(pi @ np.log(np.exp(log_counts).sum(axis=1)) - pi @ np.log(pi))
    return programs.ConditionalUpdate(rows, log_counts, pi, w, rng.uniform(0.2, 0.95) * most)


def posterior(rng: np.random.Generator) -> Program:
    rows, log_counts, b = pairs(rng)
    return programs.PosteriorUpdate(rows, log_counts, rng.dirichlet(np.ones(2), size=4).T, b)


def node(rng: np.random.Generator) -> Program:
    """The box around a prior's posteriors and conditionals; sometimes a point."""
    rows, log_counts, b = pairs(rng)
    p = np.exp(log_counts)
    u = p / p.sum() @ rows
    width = rng.choice([0.0, 0.3, 0.3])
    ranges = [
        (np.maximum(v - width * rng.uniform(0.1, 1.0), 0.0), np.minimum(v + width * rng.uniform(0.1, 1.0), 1.0))
        for v in (u / u.sum(axis=0), u / u.sum(axis=1, keepdims=True))
    ]
    return programs.NodeRelaxation(rows, log_counts, b, posterior=ranges[0], conditional=ranges[1])


def row(rng: np.random.Generator) -> Program:
    rows, log_counts, _ = pairs(rng, classes=4)
    pi, w = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(4), size=2)
    w = np.where(np.isfinite(log_counts), w, 0.0)
    w /= w.sum(axis=1, keepdims=True)
    others = float(w[1] @ log_counts[1] - w[1] @ np.log(w[1]))
    needed = rng.uniform(0.5, 0.95) * float(np.log(np.exp(log_counts[0]).sum()))
    return programs.RowUpdate(rows, log_counts, 0, pi, w, float(-pi @ np.log(pi)) + pi[1] * others + pi[0] * needed)


def update_data(
    rng: np.random.Generator, *, least: int = 2, most: int = 6, priors: int | None = None
) -> tuple[list[np.ndarray], np.ndarray]:
    """Priors (letters, inputs) and a cost (inputs, outputs) of a mechanism update; some masses are zero."""
    inputs, outputs = rng.integers(least, most + 1, size=2)
    laws = []
    for letters in rng.integers(least, most + 1, size=priors or rng.integers(1, 4)):
        masses = rng.dirichlet(np.full(letters * inputs, rng.choice([0.3, 1.0]))).reshape(letters, inputs)
        masses = np.where(rng.random(masses.shape) < 0.1, 0.0, masses) + 1e-3 * np.eye(letters, inputs)
        laws.append(masses / masses.sum())
    return laws, rng.dirichlet(np.ones(inputs))[:, None] * rng.random((inputs, outputs))


def distortions(cost: np.ndarray) -> tuple[float, float]:
    """The least distortion of any mechanism and of a constant one."""
    return float(cost.min(axis=1).sum()), float(cost.sum(axis=0).min())


def min_leakage(rng: np.random.Generator) -> Program:
    laws, cost = update_data(rng, least=3, most=4, priors=2)
    low, high = distortions(cost)
    return programs.MinLeakageProgram(laws, cost, low + rng.uniform(0.1, 0.7) * (high - low))


def min_distortion(rng: np.random.Generator) -> Program:
    laws, cost = update_data(rng, least=3, most=4, priors=2)
    return programs.MinDistortionProgram(laws, cost, rng.uniform(0.001, 0.03))


def private_distortion(rng: np.random.Generator) -> Program:
    inputs, outputs = rng.integers(3, 5, size=2)
    laws = [rng.dirichlet(np.ones(inputs)) for _ in range(rng.integers(0, 3))]
    references = [Reference(tuple(range(inputs)), tuple(law)) for law in laws]
    cost = rng.dirichlet(np.ones(inputs))[:, None] * rng.random((inputs, outputs))
    return programs.PrivateDistortionProgram(cost, math.exp(rng.uniform(0.1, 1.5)), references or None)


def constrained_update(rng: np.random.Generator, *, cones: bool = False) -> Program:
    """Two priors, an inequality, an equation, an entry that must be 0, perhaps a cone, around a mechanism within them.

    What is minimised is a cost within limits, the larger leakage, a weighted sum of both or of one, or the largest of both and a cost.
    """
    inputs, outputs = rng.integers(2, 4), rng.integers(3, 5)
    priors = [rng.dirichlet(np.ones(2 * inputs)).reshape(2, inputs) for _ in range(2)]
    anchor = np.full((inputs, outputs), 1.0 / outputs)
    anchor[0] = np.append(np.full(outputs - 1, 1.0 / (outputs - 1)), 0.0)
    told = max(float(mutual_information(prior @ anchor)) for prior in priors)
    matrix = rng.normal(size=(2, anchor.size))
    ends = matrix @ anchor.reshape(-1) + [rng.uniform(0.05, 0.3), 0.0]
    F = rng.normal(size=(3, anchor.size))
    f = np.append(0.0, rng.normal(size=2))
    f[0] = np.linalg.norm(F[1:] @ anchor.reshape(-1) + f[1:]) - F[0] @ anchor.reshape(-1) + rng.uniform(0.05, 0.5)
    rows = LinearRows(csr_matrix(matrix), ends, np.array([False, True]))
    demands = Demands(rows, anchor > 0.0, anchor, (ConeRows(F, f),) if cones else ())
    cost, none, rates = rng.random(anchor.shape) / inputs, np.zeros((0, 1, 1)), rng.uniform(0.5, 2.0, size=2)
    levels, costs = [
        (Levels.of([False] * 2), True),
        (Levels.of([True] * 2), False),
        (Levels(rng.uniform(0.5, 2.0, size=2), np.array([0, 1]), rates, none), True),
        (Levels(np.array([0.7]), np.array([NONE, 0]), rates, none), True),
        (Levels(np.ones(1), np.array([0, 0]), rates, np.array([cost, rng.random(anchor.shape)])), False),
    ][rng.integers(5)]
    limits = np.where(levels.raised, 0.0, 1.2 * told + 1e-3)
    return programs.ConstrainedUpdate(priors, limits, levels, cost if costs else np.zeros(anchor.shape), demands)


def most_information(rng: np.random.Generator) -> Program:
    """Columns of 1 and c, and what they tell about a variable."""
    inputs, c = int(rng.integers(2, 5)), math.exp(rng.uniform(0.1, 1.5))
    high = (np.arange(2**inputs - 1)[:, None] >> np.arange(inputs)) & 1 == 1
    columns = np.where(high, c, 1.0)
    joint = rng.dirichlet(np.ones(2 * inputs)).reshape(2, inputs)
    masses = columns @ joint.T
    expected = masses.sum(axis=1, keepdims=True) * joint.sum(axis=1)
    return programs.MostInformation(columns, np.sum(masses * np.log(masses / expected), axis=1))


MAKERS: dict[str, Callable[[np.random.Generator], Program]] = {
    "ConditionalUpdate": conditional,
    "ConstrainedUpdate": constrained_update,
    "MarginalUpdate": marginal,
    "MinDistortionProgram": min_distortion,
    "MinLeakageProgram": min_leakage,
    "MostInformation": most_information,
    "NodeRelaxation": node,
    "PosteriorUpdate": posterior,
    "PrivateDistortionProgram": private_distortion,
    "RowUpdate": row,
}


def make(cls: type[Program], seed: int = 0) -> Program:
    return MAKERS[cls.__name__](np.random.default_rng(seed))


def assert_honest(answer: BlockSolution, truth: BlockSolution, *, gap: float = 1e-8) -> None:
    """An interval that overlaps a tight one of the same number, and a termination that does not claim more than it shows."""
    assert isinstance(answer, BlockSolution)
    assert not math.isnan(answer.lower)
    assert not math.isnan(answer.upper)
    assert answer.lower <= truth.upper, (answer.lower, truth.upper)
    assert truth.lower <= answer.upper, (truth.lower, answer.upper)
    if answer.termination is Termination.GAP_REACHED:
        assert answer.gap <= gap * max(abs(answer.lower), abs(answer.upper)) + 1e-11 * (1.0 + abs(answer.upper))


def in_variables(program: Program, point) -> dict[str, np.ndarray]:
    """A point as values of the cvxpy variables: masses (letters, classes) are vectors of the pairs that exist there."""
    if isinstance(program, programs.RowUpdate):
        return {"w": point["w"][program.row.own.index], "outside": point["outside"]}
    if isinstance(program, programs.ConstrainedUpdate):
        return constrained_variables(program, point["q"])
    if isinstance(program, programs.MinLeakageProgram | programs.MinDistortionProgram):
        return update_variables(program, point["q"])
    pairs = getattr(program, "pairs", None)
    values = {name: x if pairs is None else pairs.flat(x) for name, x in point.items() if name in program.variables}
    if "t" in program.variables:
        values["t"] = np.array(program.value(point))
    return values


def constrained_variables(program: programs.ConstrainedUpdate, q: np.ndarray) -> dict[str, np.ndarray]:
    """The same where entries must be 0, and the parts of the cones."""
    occurring = (program.leakages.masses > 0.0) @ program.tied.expand(program.support.astype(float)) > 0.0
    told = update_variables(program, q)
    values = {"z": q[program.support], "law": told["law"], "terms": told["terms"][occurring]}
    values |= {f"parts{k}": c.matrix @ q.reshape(-1) + c.offset for k, c in enumerate(program.demands.cones)}
    excess = program.leakages.values(program.mechanism({"q": q})) - program.limits
    charged = np.sum(program.tied_charges * q, axis=(1, 2))
    levels = [program.levels.level(k, excess, charged) for k in range(len(program.levels.worth))]
    return values | ({"levels": np.array(levels)} if levels else {})


def update_variables(program: Program, q: np.ndarray) -> dict[str, np.ndarray]:
    """What the output laws, the terms of the leakages and the largest leakage are for a mechanism."""
    u = program.leakages.masses @ program.mechanism({"q": q})
    law = program.leakages.sums(u)
    each = np.where(u > 0.0, law[program.leakages.owner], 1.0)
    values = {"q": q, "law": law, "terms": (u * np.log(np.where(u > 0.0, u, 1.0) / each))}
    has_leakage = hasattr(program, "leakage") and "largest" in program.variables
    return values | ({"largest": np.array(program.leakage(q))} if has_leakage else {})


def violation(program: Program, point) -> float:
    """How much a point breaks the constraints of the cvxpy model, which `repair` did not consult."""
    values = in_variables(program, point)
    assert set(values) == set(program.variables), "a point says everything"
    for name, value in values.items():
        program.variables[name].save_value(value)
    signs = [float(-np.min(v.value)) for v in program.variables.values() if v.is_nonneg()]
    return max([outside(c) for c in program.problem.constraints] + signs)


def outside(constraint: cp.Constraint) -> float:
    """How much a constraint is broken; cvxpy does not say it of a cone, y exp(x/y) <= z with x <= 0 <= y."""
    if not isinstance(constraint, cp.ExpCone):
        return float(np.max(constraint.violation()))
    x, y, z = (part.value for part in constraint.args)
    return float(np.max([x * (y == 0.0), -y, np.where(y > 0.0, y * np.exp(x / np.where(y > 0.0, y, 1.0)), 0.0) - z]))
