"""Points of the programs have enough entropy in 300-bit arithmetic: one that is 1e-14 too small is worth 1e-7 of information."""

import numpy as np
import pytest
from flint import arb, ctx

import dalenius as dl
import support
from campaigns import draws, thinned
from dalenius.export import subproblem
from dalenius.programs import ConditionalUpdate, MarginalUpdate, NodeRelaxation, PosteriorUpdate, RowUpdate

SPARE = (0.0, -3e-13, 1e-16, 1e-15, 4e-15, 1e-14, 1e-13, 1e-10, 1e-6)  # the largest entropy less the bound
AWAY = (0.0, 1e-12, 1e-9, 3e-8, 1e-7, 1e-5, 1e-2)  # of the point that is handed in, from the law of the largest entropy
TINY = 1e-27  # of entropy: 1e-13 of information


@pytest.fixture(autouse=True)
def precisely():
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


def log_sum(logs):
    return sum((arb(float(x)).exp() for x in np.ravel(logs) if np.isfinite(x)), arb(0)).log()


def entropy(law, logs):
    """-sum p log p + sum p log N of the law that masses are proportional to."""
    pairs = [(arb(float(p)), float(x)) for p, x in zip(np.ravel(law), np.ravel(logs), strict=True) if p > 0.0]
    total = sum((p for p, _ in pairs), arb(0))
    return sum((p / total * (arb(x) - (p / total).log()) for p, x in pairs), arb(0))


def marginal(rows, log_counts, spare, w, instances):
    h = instances.entropies(w, log_counts)
    bound = float(np.logaddexp.reduce(h)) - spare
    program = MarginalUpdate(w @ rows, h, bound)
    return program, "pi", lambda point: (entropy(point["pi"], h), log_sum(h), bound)


def posterior(rows, log_counts, spare, w, instances):
    u = np.exp(log_counts) @ rows
    bound = float(np.logaddexp.reduce(log_counts.ravel())) - spare
    program = PosteriorUpdate(rows, log_counts, (u + 1e-9) / (u + 1e-9).sum(axis=0), bound)
    return program, "p", lambda point: (entropy(point["p"], log_counts), log_sum(log_counts), bound)


def node(rows, log_counts, spare, w, instances):
    bound = float(np.logaddexp.reduce(log_counts.ravel())) - spare
    program = NodeRelaxation(rows, log_counts, bound)
    return program, "p", lambda point: (entropy(point["p"], log_counts), log_sum(log_counts), bound)


def conditional(rows, log_counts, spare, w, instances):
    pi = np.exp(log_counts).sum(axis=1)
    pi /= pi.sum()
    bound = float(-pi @ np.log(pi) + pi @ np.logaddexp.reduce(log_counts, axis=1)) - spare

    def entropies(point):
        letters = entropy(pi, np.zeros(len(pi)))
        masses = [arb(float(x)) for x in pi]
        own = sum((m * entropy(v, x) for m, v, x in zip(masses, point["w"], log_counts, strict=True)), arb(0))
        most = sum((m * log_sum(x) for m, x in zip(masses, log_counts, strict=True)), arb(0))
        return letters + own, letters + most, bound

    return ConditionalUpdate(rows, log_counts, pi, w, bound), "w", entropies


def row(rows, log_counts, spare, w, instances):
    pi = np.exp(log_counts).sum(axis=1)
    pi /= pi.sum()
    others = float(pi[1:] @ instances.entropies(w[1:], log_counts[1:]))
    bound = float(-pi @ np.log(pi)) + others + float(pi[0] * np.logaddexp.reduce(log_counts[0])) - spare

    def entropies(point):
        masses = [arb(float(x)) for x in pi]
        fixed = entropy(pi, np.zeros(len(pi)))
        fixed += sum((m * entropy(v, x) for m, v, x in zip(masses[1:], w[1:], log_counts[1:], strict=True)), arb(0))
        own = entropy(point["w"], log_counts[0])
        return fixed + masses[0] * own, fixed + masses[0] * log_sum(log_counts[0]), bound

    return RowUpdate(rows, log_counts, 0, pi, w, bound), "w", entropies


@pytest.mark.parametrize("make", [marginal, posterior, node, conditional, row])
@pytest.mark.parametrize("shift", [0.0, 40.0], ids=["relative", "absolute"])
def test_what_is_handed_in_is_repaired_to_an_exactly_feasible_point(make, shift, instances):
    """Near the law of the largest entropy, with a bound near the largest entropy: where doubles cannot tell."""
    rng = np.random.default_rng(14)
    for _ in range(draws(1, 40)):
        rows, log_counts = instances.channel(rng, most=4)
        w = instances.draw(rng, log_counts)
        for spare in SPARE:
            program, name, exactly = make(rows, log_counts + shift, spare, w, instances)
            best = program.variables[name].size
            for away in AWAY if spare == 0.0 else rng.choice(AWAY, size=2):
                raw = near_best(program, name, away * rng.uniform(-1.0, 1.0, size=best))
                answer = program.certify({name: raw}) if make is not row else program.repair({name: raw})
                have, most, bound = exactly(answer if make is row else answer.point)
                allowed = max(float(most - arb(bound)), 0.0) + TINY
                assert float(most - have) <= allowed * (1.0 + 1e-12), (spare, away)


def near_best(program, name, noise):
    """The law of the largest entropy, as the variable of the model, with relative noise."""
    if isinstance(program, RowUpdate):
        return program.row.best[program.row.own.index] * (1.0 + noise)
    if isinstance(program, ConditionalUpdate):
        return program.pairs.flat(program.pairs.uniform_given_letter) * (1.0 + noise)
    best = program.start()[0][name]
    return (best if isinstance(program, MarginalUpdate) else program.pairs.flat(best)) * (1.0 + noise)


FULL = [
    ("degenerate/equal-rows", "node"),
    ("threshold/majority-n101", "conditional"),
    ("threshold/majority-n101", "posterior"),
    ("count/letters-mixed", "node"),
    ("channel/random-2x8x4", "posterior"),
    ("channel/random-2x8x4", "node"),
]


@pytest.mark.parametrize(("model", "name"), thinned(FULL, every=2))
def test_a_program_is_right_at_the_largest_entropy(model, name):
    """Only the uniform prior is left, so its value is the optimum, whatever rounding has left of entropy in the counts."""
    problem = dl.load(model)
    full = support.problem(problem.records, problem.query, problem.mechanism, dl.EntropyAtLeast(1, "max"))
    program = subproblem(full, name)
    (variable,) = program.start()[0]
    best = {"w": "uniform_given_letter", "p": "uniform"}[variable]
    truth = program.value({variable: getattr(program.pairs, best)})
    noise = 1e-7 * np.cos(np.arange(program.variables[variable].size))
    solved = program.solve()
    assert solved.gap <= 2e-6 * (1.0 + abs(solved.upper))
    for answer in (solved, program.certify({variable: near_best(program, variable, noise)})):
        assert answer.lower <= truth + 1e-13 <= answer.upper


def test_a_point_is_in_its_box_exactly(instances):
    """Boxes are 1e-14 wider than they are given, for both ends: what is inside is inside that, in rational arithmetic."""
    rng = np.random.default_rng(15)
    for _ in range(draws(10, 300)):
        rows, log_counts = instances.channel(rng, most=4)
        p = np.exp(log_counts)
        u = p @ rows
        phi = np.where(u.sum(axis=0) > 0.0, u / np.maximum(u.sum(axis=0), 1e-300), 1.0 / len(u))
        low, high = phi - rng.choice([0.0, 1e-13, 1e-3]), phi + rng.choice([0.0, 1e-13, 1e-3])
        program = NodeRelaxation(rows, log_counts, -0.1, posterior=(low, high), sides=("posterior",))
        answer = program.certify({"p": program.pairs.flat(p) * (1.0 + 1e-13 * rng.normal(size=program.p.size))})
        if not np.isfinite(answer.lower):
            continue
        point = [[arb(float(x)) for x in line] for line in answer.point["p"]]
        R = [[arb(float(x)) for x in line] for line in program.pairs.rows]
        for y in np.flatnonzero(program.occurs):
            each = [sum((line[k] * R[k][y] for k in range(len(R))), arb(0)) for line in point]
            total = sum(each, arb(0))
            for a, mass in enumerate(each):
                least, most = arb(float(low[a, y])) - 1.0001e-14, arb(float(high[a, y])) + 1.0001e-14
                assert float(mass - least * total) >= 0.0
                assert float(most * total - mass) >= 0.0
