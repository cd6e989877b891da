"""The row update: brute force, Theorem 3 of the source paper, the tree that proves a global maximum, knife edges, bad input."""

import itertools

import numpy as np
import pytest

from campaigns import draws, each
from dalenius.errors import InputError
from dalenius.outcome import Termination
from dalenius.programs import ConditionalUpdate, RowUpdate
from definitions import information
from instances import own_entropy
from support import refuses

FLIP = np.array([[0.9, 0.1], [0.1, 0.9]])
FAIR = np.array([0.5, 0.5])


def random_instance(rng, instances, share, **sizes):
    """Data for letter 0, which needs an entropy a share of the way from the least of a class to the largest."""
    rows, log_counts = instances.channel(rng, **sizes)
    pi, w = rng.dirichlet(np.ones(len(log_counts))), instances.draw(rng, log_counts)
    finite = log_counts[0][np.isfinite(log_counts[0])]
    needed = (1.0 - share) * finite.min() + share * float(np.log(np.exp(finite).sum()))
    b = own_entropy(pi) + float(pi[1:] @ instances.entropies(w, log_counts)[1:]) + float(pi[0]) * needed
    return rows, log_counts, pi, w, b, needed


def leakage(instances, rows, pi, w, own):
    return information(pi[:, None] * (np.vstack([own, w[1:]]) @ rows))


@pytest.mark.parametrize("share", [0.4, 0.9])
def test_random_rows_are_solved_globally(instances, share):
    rng = np.random.default_rng(int(100 * share))
    for _ in range(draws(2, 20)):
        rows, log_counts, pi, w, b, needed = random_instance(rng, instances, share)
        program = RowUpdate(rows, log_counts, 0, pi, w, b)
        answer = program.solve(gap=1e-5)
        best = answer.point["w"]
        assert answer.gap <= 2e-5 * max(answer.upper, 1e-2)
        assert answer.lower <= leakage(instances, rows, pi, w, best) <= answer.upper
        assert program.bound(answer.multipliers) == pytest.approx(answer.upper, abs=1e-11)
        assert instances.entropies(best, log_counts[0]) >= needed - 1e-11
        assert np.all(best[~np.isfinite(log_counts[0])] == 0.0)
        for _ in range(30):
            own = program.repair({"w": instances.draw(rng, log_counts)[0][np.isfinite(log_counts[0])]})["w"]
            assert instances.entropies(own, log_counts[0]) >= needed - 1e-11
            assert leakage(instances, rows, pi, w, own) <= answer.upper


def test_three_classes_by_brute_force(instances):
    rng = np.random.default_rng(1)
    steps = 150
    grid = np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
    for _ in range(draws(1, 5)):
        rows = rng.dirichlet(np.full(3, 0.5), size=3)
        log_counts, pi, w = rng.uniform(0.0, 2.0, size=(2, 3)), rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(3), 2)
        needed = rng.uniform(0.3, 0.9) * float(np.log(np.exp(log_counts[0]).sum()))
        b = own_entropy(pi) + float(pi[1] * instances.entropies(w, log_counts)[1]) + float(pi[0]) * needed
        answer = RowUpdate(rows, log_counts, 0, pi, w, b).solve()
        feasible = grid[instances.entropies(grid, log_counts[0]) >= needed]
        values = [leakage(instances, rows, pi, w, own) for own in feasible]
        assert max(values) <= answer.upper
        assert answer.lower <= max(values) + 0.02
        assert answer.gap < 1e-6


@pytest.mark.thorough
def test_theorem_3_without_counts(instances):
    """N = 1: the best unit vector where no entropy is needed, the entropy bound itself where some is."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        rows, pi, w = rng.dirichlet(np.ones(3), size=4), rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(4), size=2)
        other = own_entropy(pi) + float(pi[1]) * own_entropy(w[1])
        free = RowUpdate(rows, np.zeros((2, 4)), 0, pi, w, other - 0.01).solve()
        units = [leakage(instances, rows, pi, w, unit) for unit in np.eye(4)]
        assert free.lower <= max(units) <= free.upper
        assert free.gap < 1e-9
        assert not free.attempts
        assert free.point["w"].tolist() == np.eye(4)[int(np.argmax(units))].tolist()
        bound = RowUpdate(rows, np.zeros((2, 4)), 0, pi, w, other + 0.6 * float(pi[0])).solve(gap=1e-6)
        assert own_entropy(bound.point["w"]) == pytest.approx(0.6, abs=1e-6)


def test_a_class_of_many_members_may_be_the_answer_with_entropy_to_spare():
    """Theorem 3 speaks of datasets: a class has the entropy of its members, so the bound need not be tight in the classes."""
    log_counts = np.log(np.array([[50.0, 1.0, 1.0], [1.0, 1.0, 1.0]]))
    rows = np.array([[1.0, 0.0], [0.2, 0.8], [0.4, 0.6]])
    program = RowUpdate(rows, log_counts, 0, FAIR, np.array([[1.0, 1.0, 1.0], [0.0, 0.5, 0.5]]) / [[3.0], [1.0]], 2.2)
    answer = program.solve()
    assert 0.0 < program.row.h < np.log(50.0)
    assert answer.point["w"].tolist() == [1.0, 0.0, 0.0]
    assert answer.gap < 1e-8


def random_row(rng, instances, **sizes):
    rows, log_counts, pi, w, b, _ = random_instance(rng, instances, 0.6, **sizes)
    return rows, log_counts, 0, pi, w, b


@pytest.mark.thorough
def test_a_step_along_one_row_is_a_special_case(instances):
    """The linearised step for a letter law on one letter cannot beat the exact row; a row never loses to the start."""
    rng = np.random.default_rng(4)
    for _ in range(5):
        rows, log_counts, pi, w, b, _ = random_instance(rng, instances, 0.6)
        row = RowUpdate(rows, log_counts, 0, pi, w, b)
        answer, start = row.solve(gap=1e-6), row.start()[0]["w"]
        step = ConditionalUpdate(rows, log_counts, pi, np.vstack([start, w[1:]]), b).solve().point["w"]
        if instances.entropies(step[0], log_counts[0]) >= row.row.h:
            assert leakage(instances, rows, pi, w, step[0]) <= answer.upper
        assert row.value({"w": start}) <= answer.upper


def test_the_bound_holds_whatever_the_tree(instances):
    rng = np.random.default_rng(5)
    for _ in range(10):
        program = RowUpdate(*random_row(rng, instances))
        value, outputs = program.value(program.solve(gap=1e-4).point), len(program.row.low)
        for _ in range(20):
            cuts = [[float(rng.integers(outputs)), rng.uniform()] for _ in range(2)]
            branch = np.array([cuts[0], [-1.0, 0.0], cuts[1], [-1.0, 0.0], [-1.0, 0.0]])
            kappa = rng.normal(size=(3, outputs)) * 10.0 ** rng.uniform(-3, 1)
            mu = rng.choice([0.0, 1e-9, 0.1, 10.0], size=3)
            assert program.bound({"branch": branch, "mu": mu, "kappa": kappa}) >= value - 1e-12


def test_what_is_no_tree_proves_nothing(instances):
    program = RowUpdate(*random_row(np.random.default_rng(6), instances))
    none = np.zeros((2, len(program.row.low)))
    leaf, cut = [-1.0, 0.0], [0.0, 0.5]
    for branch in (
        [cut, leaf],
        [leaf, leaf],
        [cut],
        [leaf, cut, leaf],
        [cut, leaf, leaf, leaf],
        [[99.0, 0.5], leaf, leaf],
    ):
        assert program.bound({"branch": np.array(branch), "mu": np.zeros(2), "kappa": none}) == np.inf
    assert program.bound({"branch": np.array([cut, leaf, leaf]), "mu": np.zeros(3), "kappa": none}) == np.inf


def test_dropping_a_leaf_of_a_proof_leaves_no_proof(instances):
    rng = np.random.default_rng(7)
    found = 0
    while found < 3:
        program = RowUpdate(*random_row(rng, instances))
        tree = program.solve(gap=1e-5).multipliers
        if len(tree["mu"]) > 1:
            found += 1
            last = {"branch": tree["branch"][:-1], "mu": tree["mu"][:-1], "kappa": tree["kappa"][:-1]}
            assert program.bound(last) == np.inf


def test_limits_are_obeyed_and_leave_a_valid_interval(instances):
    rng = np.random.default_rng(8)
    while True:
        program = RowUpdate(*random_row(rng, instances))
        full = program.solve(gap=1e-6)
        if len(full.multipliers["mu"]) > 4:
            break
    few = program.solve(gap=1e-6, leaves=3)
    assert few.termination is Termination.SIZE_LIMIT
    assert len(few.multipliers["mu"]) <= 4
    none = program.solve(gap=1e-6, time_limit=0.0)
    assert none.termination is Termination.TIME_LIMIT
    for answer in (few, none):
        assert answer.lower <= full.upper
        assert full.lower <= answer.upper
    assert program.box[0] is program.row.low


def test_at_the_largest_entropy_there_is_one_law(instances):
    rng = np.random.default_rng(9)
    for _ in range(5):
        rows, log_counts, pi, w, b, _ = random_instance(rng, instances, 1.0)
        answer = RowUpdate(rows, log_counts, 0, pi, w, b).solve(gap=1e-5)
        exact = leakage(instances, rows, pi, w, np.exp(log_counts[0]) / np.exp(log_counts[0]).sum())
        assert answer.lower - 1e-9 <= exact <= answer.upper + 1e-12
        assert answer.gap < 1e-5


def test_a_letter_without_mass_changes_nothing():
    answer = RowUpdate(FLIP, np.zeros((2, 2)), 0, np.array([0.0, 1.0]), FLIP, 0.1).solve()
    assert answer.lower <= 0.0 <= answer.upper
    assert answer.gap < 1e-9


def test_one_class_one_output_and_outputs_that_never_occur():
    for rows in (np.ones((1, 1)), np.array([[0.5, 0.5, 0.0]])):
        answer = RowUpdate(rows, np.zeros((2, 1)), 1, FAIR, np.ones((2, 1)), 0.5).solve()
        assert answer.lower <= 0.0 <= answer.upper
        assert answer.gap < 1e-9


def test_missing_pairs_of_all_letters_by_selections(instances):
    """b = 0, N = 1: rows in turn reach a selection of one class a letter that no change of one letter improves."""
    rows = np.random.default_rng(10).dirichlet(np.full(3, 0.4), size=4)
    log_counts = np.zeros((2, 4))
    log_counts[0, 1] = log_counts[1, 3] = -np.inf
    pi, w = np.array([0.4, 0.6]), np.full((2, 4), 0.25)
    for _ in range(4):
        for letter in range(2):
            w[letter] = RowUpdate(rows, log_counts, letter, pi, w, 0.0).solve().point["w"]
    value = information(pi[:, None] * (w @ rows))
    for letter, k in itertools.product(range(2), range(4)):
        if np.isfinite(log_counts[letter, k]):
            other = w.copy()
            other[letter] = np.eye(4)[k]
            assert information(pi[:, None] * (other @ rows)) <= value + 1e-12


def test_it_is_dpp_and_solving_again_does_not_canonicalise_again(instances):
    rng = np.random.default_rng(11)
    rows, log_counts, letter, pi, w, b = random_row(rng, instances)
    program = RowUpdate(rows, log_counts, letter, pi, w, b)

    def changed():
        for _ in range(3):
            others = np.vstack([w[:1], instances.draw(rng, log_counts)[1:]])
            least = own_entropy(pi) + float(pi @ instances.entropies(others, log_counts))
            program.set(pi, others, least)
            yield RowUpdate(rows, log_counts, letter, pi, others, least)

    instances.assert_solved_again(program, changed(), gap=0.0, leaves=4)


test_bad_input_is_refused_before_any_solver = refuses(
    (FLIP, np.zeros(2), 0, FAIR, FLIP, 0.0, "expected rows"),
    (FLIP, np.zeros((2, 2)), 2, FAIR, FLIP, 0.0, "expected a letter below 2"),
    (FLIP, np.zeros((2, 2)), -1, FAIR, FLIP, 0.0, "expected a letter below 2"),
    (FLIP, np.array([[0.0, 0.0], [-np.inf, -np.inf]]), 1, FAIR, FLIP, 0.0, "has a class"),
    (FLIP, np.zeros((2, 2)), 0, np.ones(2), FLIP, 0.0, "expected a law"),
    (FLIP, np.zeros((2, 2)), 0, FAIR, FLIP[0], 0.0, "expected finite conditionals"),
    (FLIP, np.zeros((2, 2)), 0, FAIR, FLIP, 1.3, "the largest is 0.693147"),
    (FLIP, np.zeros((2, 2)), 0, np.array([0.0, 1.0]), FLIP, 0.5, "needs entropy inf"),
    (FLIP, np.zeros((2, 2)), 0, FAIR, FLIP, np.nan, "needs entropy nan"),
    by=RowUpdate,
)


@each("bad", {"gap": -1.0}, {"gap": np.nan}, {"leaves": 0}, {"time_limit": -1.0}, {"solver": "none"})
def test_bad_settings_are_refused(bad):
    with pytest.raises(InputError):
        RowUpdate(FLIP, np.zeros((2, 2)), 0, FAIR, FLIP, 0.0).solve(**bad)


@pytest.mark.thorough
def test_boxes_close_by_our_own_multipliers():
    """They gave up at 2.3e-4 here as long as a step of Newton's method was shortened four times only."""
    rng, fair = np.random.default_rng(7), np.full(3, 1 / 3)
    rows, counts, laws = rng.dirichlet(np.full(4, 0.7), size=8), np.zeros((3, 8)), np.full((3, 8), 1 / 8)
    bound = float(np.log(3.0) + 0.75 * np.log(8.0))
    answer = RowUpdate(rows, counts, 0, fair, laws, bound).solve(solver="own", gap=1e-6, time_limit=None)
    assert answer.termination is Termination.GAP_REACHED
    assert answer.upper - answer.lower <= 1e-6 * answer.upper
