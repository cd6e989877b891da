"""The node relaxations: the formula of the `joint` leaf, majorants of I on their boxes, two solvers, knife edges, bad input."""

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import draws, each, thinned
from dalenius.audits.bounds.rows import RowRelaxation
from dalenius.evidence import Certificate, Header, claim_text, short_text, slope_text, vector_text
from dalenius.evidence.lower import WitnessLine
from dalenius.evidence.upper import Cut, JointLeaf, RecordLine, RowLeaf, Split
from dalenius.model import digest
from dalenius.programs import NodeRelaxation
from dalenius.reduction import record_channels
from definitions import information
from instances import soft
from support import refuses

FLIP = np.array([[0.9, 0.1], [0.1, 0.9]])
SIDES = [("posterior",), ("conditional",), ("posterior", "conditional")]


def x_log_x(x):
    return x * np.log(np.where(x > 0.0, x, 1.0))


def tightened(low, high, axis):
    """docs/certificate-format.md: all from the untightened ends."""
    others_high, others_low = (x.sum(axis=axis, keepdims=True) - x for x in (high, low))
    return np.maximum(low, 1.0 - others_high), np.minimum(high, 1.0 - others_low)


def lines(weight, slope, low, high):
    """A = max over v in {low, high} of weight v log v - slope v."""
    return np.maximum(weight * x_log_x(low) - slope * low, weight * x_log_x(high) - slope * high)


def leaf(rows, log_counts, b, posterior, conditional, m):
    """The bound of ["joint", theta, mu, sigma, r] with a ["row", kappa] a letter: docs/certificate-format.md, mu > 0 if theta > 0."""
    theta, mu = float(m["theta"]), float(m["mu"])
    A = lines(1.0 - theta, m["sigma"], *tightened(*posterior, 0))
    price = np.zeros(rows.shape[1])
    if theta > 0.0:
        law = m["law"] / m["law"].sum()
        price = theta * np.log(np.where(law > 0.0, law, 1.0))
    s = (A.sum(axis=0) + m["sigma"] - price) @ rows.T
    if theta > 0.0:
        B = lines(theta, m["kappa"], *tightened(*conditional, 1)).sum(axis=1)
        psi = B + mu * soft(log_counts + (s + m["kappa"] @ rows.T) / mu)
    else:
        psi = mu * soft(log_counts + s / mu) if mu > 0.0 else np.where(np.isfinite(log_counts), s, -np.inf).max(axis=1)
    tau = 1.0 - theta + mu
    return float(tau * soft(psi / tau) - mu * b)


def everything(rows, log_counts):
    """The ranges at the root."""
    exists = np.isfinite(log_counts)[:, :, None]
    shape = (len(log_counts), rows.shape[1])
    ends = np.where(exists, rows, np.inf).min(axis=1), np.where(exists, rows, -np.inf).max(axis=1)
    return (np.zeros(shape), np.ones(shape)), ends


def laws(p, rows):
    """Posteriors and conditionals of a prior; equal posteriors where an output has no mass: any may be chosen."""
    u = p @ rows
    r = u.sum(axis=0)
    return np.where(r > 0.0, u / np.where(r > 0.0, r, 1.0), 1.0 / len(u)), u / u.sum(axis=1, keepdims=True)


def random_prior(rng, log_counts, b, instances):
    """Masses on the pairs with entropy at least b."""
    exists = np.isfinite(log_counts)
    p = np.where(exists, rng.dirichlet(np.full(exists.size, rng.choice([0.2, 1.0]))).reshape(exists.shape), 0.0)
    p = (p + 1e-3 * exists) / (p + 1e-3 * exists).sum()
    while instances.entropies(p.ravel(), log_counts.ravel()) < b:
        p = 0.8 * p + 0.2 * np.exp(log_counts)
    return p


def random_instance(rng, instances, share, radius=None):
    """A channel, a bound, a prior, and boxes around it (the largest if radius is None)."""
    rows, log_counts = instances.channel(rng)
    b = (1.0 - share) * float(log_counts[np.isfinite(log_counts)].min())
    p = random_prior(rng, log_counts, b, instances)
    boxes = everything(rows, log_counts)
    if radius is not None:
        around = laws(p, rows)
        boxes = tuple(
            (np.clip(v - radius * rng.random(v.shape), low, high), np.clip(v + radius * rng.random(v.shape), low, high))
            for v, (low, high) in zip(around, boxes, strict=True)
        )
        boxes = tuple((np.minimum(lo, v), np.maximum(hi, v)) for v, (lo, hi) in zip(around, boxes, strict=True))
    return rows, log_counts, b, p, boxes


def node(rows, log_counts, b, boxes, sides):
    return NodeRelaxation(rows, log_counts, b, posterior=boxes[0], conditional=boxes[1], sides=sides)


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("radius", thinned([None, 0.2, 0.02], every=2))
def test_the_conic_optimum_is_the_bound_of_a_leaf(instances, sides, radius):
    rng = np.random.default_rng(SIDES.index(sides))
    for _ in range(draws(2, 10)):
        rows, log_counts, b, p, boxes = random_instance(rng, instances, rng.uniform(0.0, 0.95), radius)
        program = node(rows, log_counts, b, boxes, sides)
        answer = program.solve()
        proof = answer.multipliers
        assert program.value(answer.point) <= program.bound(proof) + 1e-12
        assert answer.gap <= 1e-6
        assert any(abs(made.value - answer.upper) <= 1e-6 for made in answer.attempts)
        assert float(proof["theta"]) == {("posterior",): 0.0, ("conditional",): 1.0}.get(sides, float(proof["theta"]))
        assert program.bound(proof) == pytest.approx(leaf(rows, log_counts, b, *boxes, proof), abs=1e-8)
        assert information(p @ rows) <= answer.upper


def test_the_formula_of_the_leaf_for_any_multipliers(instances):
    rng = np.random.default_rng(10)
    for _ in range(draws(10, 40)):
        rows, log_counts, b, p, boxes = random_instance(rng, instances, 0.5, rng.choice([0.05, 0.5]))
        program = node(rows, log_counts, b, boxes, SIDES[2])
        shape = boxes[0][0].shape
        for theta in (0.0, 1.0, rng.uniform()):
            m = {
                "theta": np.array(theta),
                "mu": np.array(10.0 ** rng.uniform(-3, 2)),
                "sigma": rng.normal(size=shape),
                "kappa": rng.normal(size=shape) * (theta > 0.0),
                "law": rng.dirichlet(np.ones(shape[1])),
            }
            assert program.bound(m) == pytest.approx(leaf(rows, log_counts, b, *boxes, m), rel=1e-9, abs=1e-9)
            assert program.bound(m) >= max(information(p @ rows), program.value({"p": p})) - 1e-12
            counted = node(rows, log_counts + 20.0, b + 20.0, boxes, SIDES[2])  # log N instead of log(N/|X|)
            assert program.bound(m) == pytest.approx(counted.bound(m), rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("sides", SIDES)
def test_majorants_of_the_information_and_priors_in_the_box(instances, sides):
    """Priors near the one that the box is about: those inside leak at most their value, which is at most the upper end."""
    rng = np.random.default_rng(20 + SIDES.index(sides))
    inside = 0
    for _ in range(draws(5, 20)):
        rows, log_counts, b, p, boxes = random_instance(rng, instances, 0.4, 0.3)
        program = node(rows, log_counts, b, boxes, sides)
        answer = program.solve()
        for _ in range(20):
            trial = p + rng.uniform(0.0, 0.3) * (random_prior(rng, log_counts, b, instances) - p)
            within = all(
                np.all((v >= low) & (v <= high))
                for side, v, (low, high) in zip(SIDES[2], laws(trial, rows), boxes, strict=True)
                if side in sides
            )
            if within:
                inside += 1
                value = program.value({"p": trial})
                assert information(trial @ rows) - 1e-12 <= value <= answer.upper
    assert inside > draws(5, 50)


def test_a_repaired_point_is_in_the_box_and_has_the_entropy(instances):
    rng = np.random.default_rng(30)
    for _ in range(10):
        rows, log_counts, b, _, boxes = random_instance(rng, instances, 0.6, 0.2)
        p = node(rows, log_counts, b, boxes, SIDES[2]).solve(solver="SCS").point["p"]
        assert p.sum() == pytest.approx(1.0, abs=1e-13)
        assert p.min() >= 0.0
        assert np.all(p[~np.isfinite(log_counts)] == 0.0)
        assert instances.entropies(p.ravel(), log_counts.ravel()) >= b - 1e-12
        for v, (low, high) in zip(laws(p, rows), boxes, strict=True):
            occurs = (p @ rows).sum(axis=0) > 0.0
            assert np.all(v[:, occurs] >= low[:, occurs] - 1e-9)
            assert np.all(v[:, occurs] <= high[:, occurs] + 1e-9)


@pytest.mark.thorough
def test_both_majorants_are_no_worse_than_either(instances):
    rng = np.random.default_rng(50)
    better = 0
    for _ in range(8):
        rows, log_counts, b, _, boxes = random_instance(rng, instances, 0.5, 0.3)
        single = [node(rows, log_counts, b, boxes, sides).solve().upper for sides in SIDES[:2]]
        both = node(rows, log_counts, b, boxes, SIDES[2]).solve().upper
        assert both <= min(single) + 1e-6
        better += both < min(single) - 1e-4
    assert better > 0


@pytest.mark.thorough
def test_halving_a_box_never_raises_the_larger_bound(instances):
    rng = np.random.default_rng(60)
    for sides in SIDES[:2]:
        for _ in range(4):
            rows, log_counts, b, _, boxes = random_instance(rng, instances, 0.5)
            program = node(rows, log_counts, b, boxes, sides)
            whole = program.solve().upper
            which = SIDES.index(sides)
            a, y = rng.integers(len(log_counts)), rng.integers(rows.shape[1])
            middle = 0.5 * (boxes[which][0][a, y] + boxes[which][1][a, y])
            for end in (0, 1):
                half = [x.copy() for x in boxes[which]]
                half[1 - end][a, y] = middle
                program.set(b, **{sides[0]: tuple(half)})
                assert program.solve().upper <= whole + 1e-6


def test_small_boxes_are_tight(instances):
    rng = np.random.default_rng(70)
    for radius, width in ((1e-2, 3e-2), (1e-3, 3e-3)):
        for _ in range(4):
            rows, log_counts, b, p, boxes = random_instance(rng, instances, 0.3, radius)
            answer = node(rows, log_counts, b, boxes, SIDES[2]).solve(solver="CLARABEL")
            assert answer.upper - information(answer.point["p"] @ rows) <= width * rows.shape[1]
            assert answer.upper >= information(p @ rows) - 1e-12


def lines_of(channel, m):
    """A solution's multipliers as lines of a certificate."""
    theta, mu = float(m["theta"]), float(m["mu"])
    law = vector_text(channel.lift_outputs(m["law"])) if theta > 0.0 else None
    slopes = tuple(map(slope_text, channel.lift_outputs(m["sigma"])))
    yield JointLeaf(short_text(theta), short_text(mu), slopes, law)
    if theta > 0.0:
        yield from (RowLeaf(slope_text(channel.lift_outputs(kappa))) for kappa in m["kappa"])


@each("sides", *SIDES)
def test_the_checker_proves_the_very_bound_and_nothing_below(sides):
    """A split of a posterior and a cut of a conditional; the larger of the leaves' bounds is the claim."""
    question = support.problem(dl.Records(3, alphabet=3), dl.Sum(), dl.geometric(0.7), "0.7 max")
    channel = record_channels(question)[0]
    program = NodeRelaxation(channel.rows, channel.log_uniform, -channel.max_knowledge, sides=sides)
    side = sides[-1]
    low, high = program.boxes[side]
    middle = float(np.round(0.5 * (low[1, 2] + high[1, 2]), 3))
    below, above = high.copy(), low.copy()
    below[1, 2] = above[1, 2] = middle
    branch = Split if side == "posterior" else Cut
    body = [RecordLine(0), branch(1, int(channel.aggregation.kept_outputs[2]), short_text(middle))]
    bounds = []
    for box in ((low, below), (above, high)):
        program.set(-channel.max_knowledge, **{side: box})
        proof = program.solve().multipliers
        bounds.append(program.bound(proof))
        body += list(lines_of(channel, proof))
    for shift, proved in ((1e-9, True), (-1e-9, False)):
        header = Header(question.kind, digest(question), "0", claim_text(max(bounds) + shift), producer="a test")
        assert dl.verify(question, Certificate.of(header, [WitnessLine(None, None)], body)).proved == proved


def test_the_posterior_box_of_everything_gives_the_largest_entropy_of_the_letter():
    """The secant of v log v on [0, 1] is 0: log of the number of letters, if the entropy bound allows it."""
    answer = NodeRelaxation(FLIP, np.zeros((2, 2)), 0.5, sides=("posterior",)).solve()
    assert answer.lower <= np.log(2.0) <= answer.upper
    assert answer.gap < 1e-8


def test_the_conditional_side_is_the_dual_bound_of_its_law(instances):
    """theta = 1: mu log sum_a exp(psi_a/mu) - mu b with psi_a from the audit's row relaxation."""
    rng = np.random.default_rng(80)
    rows, log_counts = rng.dirichlet(np.ones(3), size=4), np.log(rng.dirichlet(np.ones(12)).reshape(3, 4))
    program = NodeRelaxation(rows, log_counts, -0.4, sides=("conditional",))
    m = program.solve().multipliers
    mu, kappa, law = float(m["mu"]), m["kappa"], m["law"] / m["law"].sum()
    psi = []
    for a in range(3):
        low, high = (x[None, a] for x in program.boxes["conditional"])
        psi.append(RowRelaxation(rows, log_counts[a], law, mu).largest(low, high, kappa[None, a]))
    assert program.bound(m) == pytest.approx(mu * float(soft(np.array(psi) / mu)) + mu * 0.4, abs=1e-9)


@pytest.mark.parametrize("sides", SIDES)
def test_knife_edges_of_the_entropy_bound(instances, sides):
    rng = np.random.default_rng(90)
    for _ in range(draws(1, 3)):
        rows, log_counts, _, _, boxes = random_instance(rng, instances, 0.5)
        free = NodeRelaxation(rows, log_counts + 9.0, 0.0, sides=sides).solve()  # b = 0 and many members: slack
        assert free.gap <= 1e-6
        program = node(rows, log_counts, 0.0, boxes, sides)  # relative to log |X|: the largest entropy
        answer = program.solve(solver="CLARABEL")
        assert program.value({"p": np.exp(log_counts)}) <= answer.upper
        assert answer.upper <= program.value({"p": np.exp(log_counts)}) + 1e-4


def test_a_box_without_a_prior_has_no_lower_end(instances):
    """Every letter's posterior says one thing about it at both outputs, but its conditionals differ."""
    near = (np.full((2, 2), 0.49), np.full((2, 2), 0.51))
    apart = (np.array([[0.8, 0.1], [0.1, 0.8]]), np.array([[0.9, 0.2], [0.2, 0.9]]))
    answer = NodeRelaxation(FLIP, np.zeros((2, 2)), 0.5, posterior=near, conditional=apart).solve()
    assert answer.lower == -np.inf
    assert not np.isnan(answer.upper)


def test_one_letter_and_outputs_that_never_occur():
    rows = np.array([[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]])
    for sides in SIDES:
        answer = NodeRelaxation(rows, np.zeros((1, 2)), 0.1, sides=sides).solve()
        assert answer.upper >= -1e-12
        assert answer.gap <= 1e-6


@pytest.mark.parametrize("sides", SIDES)
def test_it_is_dpp_and_solving_again_does_not_canonicalise_again(instances, sides):
    rows, log_counts, b, p, boxes = random_instance(np.random.default_rng(100), instances, 0.5, 0.2)
    program = node(rows, log_counts, b, boxes, sides)

    def changed():
        for radius in (0.3, 0.1):
            others = tuple((np.maximum(v - radius, 0.0), np.minimum(v + radius, 1.0)) for v in laws(p, rows))
            program.set(1.1 * b, posterior=others[0], conditional=others[1])
            yield node(rows, log_counts, 1.1 * b, others, sides)

    instances.assert_solved_again(program, changed())


test_bad_input_is_refused_before_any_solver = refuses(
    ({"rows": FLIP[0]}, "expected rows"),
    ({"rows": FLIP * 2.0}, "with sum 1"),
    ({"log_counts": np.array([[0.0, 0.0], [-np.inf, -np.inf]])}, "class for every letter"),
    ({"entropy_bound": 1.4}, "the largest is 1.38629"),
    ({"entropy_bound": np.nan}, "entropy nan"),
    ({"sides": ()}, "some of the sides"),
    ({"sides": ("rows",)}, "some of the sides"),
    ({"posterior": (np.zeros((2, 3)), np.ones((2, 3)))}, "ranges"),
    ({"posterior": (np.zeros((2, 2)), np.full((2, 2), np.nan))}, "ranges"),
    ({"posterior": (np.full((2, 2), 0.6), np.ones((2, 2)))}, "box of posteriors is empty"),
    ({"conditional": (np.zeros((2, 2)), np.full((2, 2), 0.4))}, "box of conditionals is empty"),
    ({"conditional": (np.full((2, 2), 0.95), np.ones((2, 2)))}, "box of conditionals is empty"),
    by=lambda changes: NodeRelaxation(**{"rows": FLIP, "log_counts": np.zeros((2, 2)), "entropy_bound": 0.5} | changes),
)
