"""The funnel and the bottleneck: closed forms, hulls of dense grids, planes at random columns, and laws that are none."""

import math
import subprocess
import sys
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.optimize import linprog

import dalenius as dl
from campaigns import draws, each, thinned
from dalenius.designs.envelope import Envelope, Sides, Told, cells_of

LOG2 = math.log(2.0)


def entropy(*p):
    return -sum(x * math.log(x) for x in p if x)


def flipped(a):
    """S is X, a fair bit, but for a flip of this probability."""
    return [[(1 - a) / 2, a / 2], [a / 2, (1 - a) / 2]]


def drawn(rng, letters, inputs):
    """A joint law in whole numbers over their sum."""
    weights = rng.integers(1, 100, size=(letters, inputs))
    return [[Fraction(int(w), int(weights.sum())) for w in row] for row in weights]


def information(joint):
    joint = np.array(joint, dtype=float)
    p, q = joint.sum(1, keepdims=True), joint.sum(0, keepdims=True)
    return float((joint * np.log(np.where(joint > 0, joint, 1) / np.where(joint > 0, p * q, 1))).sum())


def told(law, rows):
    """I of the row's variable and the output, by definition."""
    return information(np.array(law, dtype=float) @ np.array(rows, dtype=float))


def hull(f, g, law, limit, points=4001, kinks=()):
    """The largest mean of f within a mean of g, over laws of a probability t with the mean `law`: a program over a grid."""
    t = np.concatenate([np.linspace(0.0, 1.0, points), kinks])
    found = linprog(-f(t), A_ub=[g(t)], b_ub=[limit], A_eq=[np.ones(len(t)), t], b_eq=[1.0, law], method="highs")
    return -found.fun


@each("a, share", (0.1, 0.3), (0.25, 0.8))
def test_a_flipped_fair_bit_is_erased(a, share):
    """Mrs. Gerber's function is convex: the funnel is its chord, an erasure, and the bottleneck is the function itself."""
    whole = LOG2 - entropy(a, 1 - a)
    funnel = dl.solve(dl.PrivacyFunnel(flipped(a), share * whole), gap=1e-5)
    assert funnel.lower <= share * LOG2 <= funnel.upper
    assert funnel.gap < 1e-4

    flip = 0.11
    limit = LOG2 - entropy(flip, 1 - flip)
    both = flip * (1 - a) + (1 - flip) * a
    bottleneck = dl.solve(dl.InformationBottleneck(flipped(a), limit), gap=1e-5)
    assert bottleneck.lower <= LOG2 - entropy(both, 1 - both) <= bottleneck.upper
    assert bottleneck.gap < 1e-4


def test_what_is_independent_of_the_secret_is_told_freely_and_the_secret_itself_up_to_its_limit():
    free = dl.solve(dl.PrivacyFunnel([[0.1, 0.4], [0.1, 0.4]], 1e-3), gap=1e-6)
    assert free.lower <= entropy(0.2, 0.8) <= free.upper
    assert free.gap < 1e-5
    itself = dl.solve(dl.PrivacyFunnel([[0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.4]], "0.5 nats"), gap=1e-2)
    assert itself.lower <= 0.5 <= itself.upper
    assert itself.gap < 2e-2


def test_a_limit_above_all_there_is_limits_nothing():
    joint = [[0.25, 0.25, 0], [0, 0.125, 0.375]]
    funnel = dl.solve(dl.PrivacyFunnel(joint, 1), gap=1e-6)
    assert funnel.lower <= entropy(0.25, 0.375, 0.375) <= funnel.upper
    assert funnel.gap < 1e-5
    bottleneck = dl.solve(dl.InformationBottleneck(joint, 2), gap=1e-6)
    assert bottleneck.lower <= information(joint) <= bottleneck.upper
    assert bottleneck.gap < 1e-5


LINES = [[2, -2], ["1/2", "-1/2"], [-1, 1]]
MEASURES = {
    None: lambda q, pi: (q * np.log(np.where(q > 0, q, 1) / pi)).sum(0),
    "chi_square": lambda q, pi: (q * q / pi).sum(0) - 1,
    "total_variation": lambda q, pi: abs(q - pi).sum(0),
    "guessing": lambda q, pi: q.max(0) - pi.max(),
    "lines": lambda q, pi: (pi * np.max([2 * q / pi - 2, q / pi / 2 - 1 / 2, 1 - q / pi], axis=0)).sum(0),
}


@pytest.mark.parametrize("seed", range(draws(3, 20, 200)))
def test_binary_laws_agree_with_the_hull_of_a_grid(seed):
    rng, measure = np.random.default_rng(seed), [*MEASURES][seed % 5]
    joint = drawn(rng, 2, 2)
    F = np.array(joint, dtype=float)
    W, p = F / F.sum(0), F.sum(0)

    def of(name, channel, law):
        return lambda t: MEASURES[name](channel @ np.array([1 - t, t]), law[:, None])

    own, secret = (np.eye(2), p), (W, F.sum(1))
    for make, useful, seen in ((dl.PrivacyFunnel, own, secret), (dl.InformationBottleneck, secret, own)):
        f, g = of(measure, *useful), of(None, *seen)
        most = information(joint) if make is dl.PrivacyFunnel else entropy(*p)
        limit = float(rng.uniform(0.05, 0.9)) * most
        result = dl.solve(make(joint, float(limit), measure=LINES if measure == "lines" else measure), gap=1e-4)
        seen = hull(f, g, p[1], limit)
        assert seen <= result.upper
        assert result.lower <= seen + 1e-5
        assert result.gap < 1e-3 or result.upper < 1e-9


def test_what_fails_a_plane_at_several_peaks_is_found():
    """Four inputs, a limit with kinks: from the best point of each three inputs alone the gap stalled at 8e-3."""
    weights = [[68, 89, 58, 77], [83, 23, 6, 30], [29, 87, 91, 1]]
    joint = [[Fraction(w, 642) for w in row] for row in weights]
    limit = dl.constraints.MeasureLimit([["3/2", "-3/2"], [-1, 1]], "0.02")
    assert dl.solve(dl.PrivacyFunnel(joint, limit, measure="chi_square"), gap=1e-3).gap <= 1e-3


@each("kept", {"constraints": [dl.constraints.MutualInformation(0.1)]}, {"privacy": dl.LocalDP(1)})
def test_what_changes_no_guess_gains_none(kept):
    """The first letter is the likelier one whatever the input: one input's right guesses are more than the mean, another's less."""
    inputs = {"records": dl.Records(1, alphabet=2), "query": dl.Identity(), "measure": "guessing"}
    result = dl.solve(dl.MaxInformation(**inputs, useful=[["0.3", "0.26"], ["0.2", "0.24"]], **kept))
    assert result.lower == 0 <= result.upper < 1e-9


@pytest.mark.parametrize("seed", range(draws(4, 24, 240)))
def test_limits_of_guesses_and_of_lines_agree_with_the_hull_of_a_grid(seed):
    rng, name = np.random.default_rng(seed), ("guessing", "lines")[seed % 2]
    joint = drawn(rng, 2, 2)
    F = np.array(joint, dtype=float)
    p, law = F.sum(0), F.sum(1)

    def taken(t):
        return MEASURES[name](F / p @ np.array([1 - t, t]), law[:, None])

    def gained(t):
        return MEASURES[None](np.array([1 - t, t]), p[:, None])

    whole = max(float(p @ taken(np.array([0.0, 1.0]))), 0.0)  # rounding may leave less than nothing
    limit = float(rng.uniform(0.05, 0.9)) * whole
    problem = dl.PrivacyFunnel(joint, dl.constraints.MeasureLimit(LINES if name == "lines" else name, limit))
    result = dl.solve(problem, gap=1e-4)
    apart = (F / p)[0] - (F / p)[1]
    even = apart[0] / (apart[0] - apart[1])  # where both letters are as likely
    seen = hull(gained, taken, p[1], limit, kinks=[p[1], *([even] if 0 < even < 1 else [])])
    assert seen <= result.upper + 1e-9
    assert result.lower <= seen + 1e-5
    assert result.gap < 1e-3 or result.upper < 1e-9
    assert problem.limit.taken(problem.secret, result.mechanism.rows) <= Fraction(limit)
    assert dl.verify(dl.loads(dl.dumps(problem)), result.certificate).proved


def test_a_limit_of_0_on_lines_leaves_more_than_independence():
    """Posteriors on one line are free; a limit of guesses near 0, of a secret whose letters are as likely, leaves independence."""
    joint = [["1/4", "1/4", 0], [0, "1/8", "3/8"]]
    independent = dl.solve(dl.PrivacyFunnel(joint, 0))
    free = dl.solve(dl.PrivacyFunnel(joint, dl.constraints.MeasureLimit([[1, "-3/2"], [0, 0]], 0)), gap=1e-3)
    assert free.lower > independent.upper + 0.2
    edge = dl.solve(dl.PrivacyFunnel(joint, dl.constraints.MeasureLimit("guessing", 0)))
    assert edge.lower <= independent.lower <= independent.upper <= edge.upper
    near = dl.solve(dl.PrivacyFunnel(joint, dl.constraints.MeasureLimit("guessing", "1e-6")), gap=1e-3)
    assert independent.lower <= near.upper
    assert near.lower <= independent.upper + 1e-5


@pytest.mark.parametrize("seed", range(draws(3, 30, 300)))
def test_the_mechanism_keeps_the_limit_and_tells_what_is_claimed(seed):
    rng = np.random.default_rng(seed)
    joint = drawn(rng, int(rng.integers(2, 4)), int(rng.integers(2, 6)))
    F = np.array(joint, dtype=float)
    limit = float(rng.uniform(0.1, 0.8)) * information(joint)
    funnel = dl.solve(dl.PrivacyFunnel(joint, limit), gap=1e-2)
    rows = funnel.mechanism.rows
    assert told(joint, rows) <= limit * (1 + 1e-9)
    assert funnel.lower <= told(np.diag(F.sum(0)), rows) * (1 + 1e-9) <= funnel.upper * (1 + 1e-8)
    assert dl.verify(dl.PrivacyFunnel(joint, limit), funnel.certificate).proved


@each(
    "kind, at_most",
    (dl.constraints.KL, "0.02 bits"),
    (dl.constraints.ChiSquare, 0.02),
    (dl.constraints.TotalVariation, 0.1),
    (partial(dl.constraints.MeasureLimit, "guessing"), 0.05),
    (partial(dl.constraints.MeasureLimit, [[1, "-5/4"], [0, 0]]), 0.05),
)
def test_other_measures_of_the_secret_may_be_limited(kind, at_most):
    joint = [[0.3, 0.1, 0.1], [0.1, 0.15, 0.25]]
    records = {"records": dl.Records(1, alphabet=3), "query": dl.Identity(), "law": dl.Iid([0.4, 0.25, 0.35])}
    problem = dl.MaxInformation(**records, constraints=[kind(at_most, secret=joint)])
    result = dl.solve(problem, gap=1e-3)
    assert result.gap < 1e-2
    assert dl.verify(dl.loads(dl.dumps(problem)), result.certificate).proved


@pytest.mark.parametrize(
    "measure",
    thinned(["mutual_information", "chi_square", "total_variation", "guessing", (((2, -2), (-1, 1)),)], every=2),
)
@pytest.mark.parametrize("seed", range(draws(1, 20, 200)))
def test_a_proved_plane_is_above_random_columns(measure, seed):
    """Cells that close, or not, against columns of any support: the plane is raised until they close."""
    rng = np.random.default_rng(seed)
    joint = np.array(drawn(rng, 2, 4), dtype=float)
    p = joint.sum(0)
    sides = Sides(Told(np.diag(p), "mutual_information"), Told(joint, measure))
    plane = Envelope(sides, 1.5, rng.normal(size=4) / 10, "inputs")
    by = 0.01
    while cells_of([plane.raised(by)]) is None:
        by *= 2.0
    columns = rng.exponential(size=(3000, 4)) * (rng.random((3000, 4)) < 0.6)
    assert plane.raised(by).excess(columns).max() <= 1e-12
    if by == 0.01 and cells_of([plane.raised(by / 2)]):
        assert plane.raised(by / 2).excess(columns).max() <= 1e-12


@each(
    "joint, most",
    ([["1/2", 0], [0, "1/2"]], 0.0),  # the secret itself
    ([["1/10", "2/5"], ["1/10", "2/5"]], entropy(0.2, 0.8)),  # independent of it
    (
        [["7/20", "3/20", 0], [0, "3/20", "7/20"]],
        entropy(0.3, 0.7),
    ),  # erased with probability 3/10: that it is, is free
    ([["1/4", "1/4", 0, 0], [0, 0, "1/4", "1/4"]], LOG2),  # the secret, and a fair bit beside it
    ([["1/3", 0, 0], [0, "1/3", 0], [0, 0, "1/3"]], 0.0),
    ([["1/6", "1/6"], ["1/6", "1/6"], ["1/6", "1/6"]], LOG2),
)
def test_nothing_about_the_secret_is_an_exact_answer(joint, most):
    for kind in (0, "0 bits", dl.constraints.ChiSquare(0), dl.constraints.TotalVariation(0)):
        problem = dl.PrivacyFunnel(joint, kind)
        result = dl.solve(problem)
        assert result.lower - 1e-12 <= most <= result.upper + 1e-12
        assert result.gap < 1e-9
        rows = np.array(result.mechanism.rows, dtype=object)
        law = np.array([[Fraction(p) for p in row] for row in joint], dtype=object) @ rows
        assert (law * law.sum() == law.sum(1)[:, None] * law.sum(0)).all()
        assert dl.verify(dl.loads(dl.dumps(problem)), result.certificate).proved
    assert dl.solve(dl.InformationBottleneck(joint, 0)).upper == 0


@pytest.mark.parametrize("seed", range(draws(2, 30, 300)))
def test_the_optimum_at_0_is_what_small_limits_come_down_to(seed):
    rng = np.random.default_rng(seed)
    joint = drawn(rng, int(rng.integers(2, 4)), int(rng.integers(2, 6)))
    at_zero = dl.solve(dl.PrivacyFunnel(joint, 0))
    assert at_zero.gap < 1e-9
    near = dl.solve(dl.PrivacyFunnel(joint, 1e-7), gap=1e-3)
    assert at_zero.lower <= near.upper
    assert near.lower <= at_zero.upper + 0.01
    p = np.array(joint, dtype=float)
    assert at_zero.upper <= entropy(*p.ravel()) - entropy(*p.sum(1)) + 1e-9  # I(X;Y) <= I(X;Y|S) + I(S;Y) <= H(X|S)


def test_too_many_sets_of_inputs_leave_an_interval(monkeypatch):
    """As of a small limit: what the rays would settle stays open, and is proved."""
    joint = [["1/4", "1/4", 0], [0, "1/8", "3/8"]]
    whole = dl.solve(dl.PrivacyFunnel(joint, 0))
    monkeypatch.setattr("dalenius.model.problems.max_information.MOST_SETS", 2)
    wide = dl.solve(dl.PrivacyFunnel(joint, 0))
    assert wide.lower <= whole.lower <= whole.upper <= wide.upper < entropy(0.25, 0.375, 0.375) + 1e-6


@each("measure", *MEASURES)
def test_what_is_useful_and_what_is_secret_may_be_measured_alike(measure):
    """Where the secret is the input and the measures are one, the limit itself is the most; and there is no more than all."""
    kinds = {
        None: dl.constraints.KL,
        "chi_square": dl.constraints.ChiSquare,
        "total_variation": dl.constraints.TotalVariation,
        "guessing": partial(dl.constraints.MeasureLimit, "guessing"),
        "lines": partial(dl.constraints.MeasureLimit, LINES),
    }
    law, whole = (
        [[0.5, 0], [0, 0.5]],
        {None: LOG2, "chi_square": 1, "total_variation": 1, "guessing": 0.5, "lines": 1.5},
    )
    name = LINES if measure == "lines" else measure
    part = dl.solve(dl.PrivacyFunnel(law, kinds[measure]("1/4"), measure=name), gap=1e-3)
    assert part.lower <= 0.25 <= part.upper
    assert part.gap < 3e-3
    free = dl.solve(dl.PrivacyFunnel(law, 1, measure=name), gap=1e-6)
    assert free.lower <= whole[measure] <= free.upper
    assert free.gap < 1e-5
    assert free.units == ("nats" if measure is None else "usefulness")


def test_where_nothing_is_to_be_told_rounding_leaves_no_price_below_0():
    useful = [["932/1305", "1/435", "1/261", "1/1305", "2/1305", "361/1305", "1/1305"]]
    inputs = {"records": dl.Records(1, alphabet=7), "query": dl.Identity(), "useful": useful}
    for kept in ({"constraints": [LIMIT]}, {"privacy": dl.LocalDP(1)}):
        result = dl.solve(dl.MaxInformation(**inputs, **kept))
        assert result.lower == 0 <= result.upper < 1e-12


def test_a_measure_without_unit_is_no_information():
    problem = dl.PrivacyFunnel([["1/4", "1/4", 0], [0, "1/8", "3/8"]], "0.01 nats", measure="guessing")
    assert dl.loads(dl.dumps(problem)) == problem
    assert dl.PrivacyFunnel([[1]], 1, measure="mutual_information") == dl.PrivacyFunnel([[1]], 1)
    result = dl.solve(problem, gap=1e-3)
    assert str(result).endswith("usefulness (gap_reached)")
    with pytest.raises(dl.errors.InputError, match="a measure without unit"):
        result.to("bits")


LIMIT = dl.constraints.MutualInformation(0.1)
DATA = {"records": dl.Records(1, alphabet=2), "query": dl.Identity()}


@each(
    "make, words",
    (lambda: dl.PrivacyFunnel([[0.5, -0.1], [0.3, 0.3]], 0.1), "joint"),
    (lambda: dl.PrivacyFunnel([[0.5, 0.1], [0.3, 0.3]], 0.1), "sum to 1"),
    (lambda: dl.PrivacyFunnel([[0.5, 0.5], [1]], 0.1), "all as long"),
    (lambda: dl.PrivacyFunnel([], 0.1), "a row for each letter"),
    (lambda: dl.PrivacyFunnel([[0.5, 0.5]], "0.1 metres"), "nats"),
    (lambda: dl.InformationBottleneck([[0.5, 0.5]], -1), "at_most"),
    (lambda: dl.PrivacyFunnel([[1]], 1, measure="entropy"), "measure: expected one of mutual_information"),
    (lambda: dl.PrivacyFunnel([[1]], 1, measure=[[1, 0], [0, 0]]), "0 at t = 1"),
    (lambda: dl.PrivacyFunnel([[1]], 1, measure=[[1, 0, 0]]), "lines"),
    (lambda: dl.PrivacyFunnel([[1]], 1, measure=[]), "from 1 to 64 lines"),
    (lambda: dl.MaxInformation(**DATA), "neither"),
    (lambda: dl.MaxInformation(**DATA, privacy=dl.LocalDP(1), constraints=[LIMIT]), "both"),
    (lambda: dl.MaxInformation(**DATA, constraints=[LIMIT, LIMIT]), "expected one of"),
    (lambda: dl.MaxInformation(**DATA, constraints=[dl.constraints.MaximalCorrelation(0.1)]), "expected one of"),
    (lambda: dl.MaxInformation(**DATA, constraints=[dl.constraints.ChiSquare(0.1, strong=True)]), "expected one of"),
    (
        lambda: dl.MaxInformation(**DATA, constraints=[dl.constraints.KL(0.1, priors=[[0.5, 0.5], [0.4, 0.6]])]),
        "one law",
    ),
)
def test_what_is_no_law_and_no_limit_is_one_error(make, words):
    with pytest.raises(dl.errors.InputError, match=words):
        make()


def test_a_law_is_read_from_a_csv_file(tmp_path):
    path = tmp_path / "law.csv"
    path.write_text("0.25, 0.25, 0\n0, 0.125, 0.375\n")
    assert dl.PrivacyFunnel(path, 0.01) == dl.PrivacyFunnel([[0.25, 0.25, 0], [0, 0.125, 0.375]], 0.01)
    path.write_text("s,x\n0.5,0.5\n")
    with pytest.raises(dl.errors.InputError, match="joint"):
        dl.PrivacyFunnel(path, 0.01)


def test_no_limit_of_time_is_about_what_is_imported():
    """Before any clock starts: a first question of two seconds was answered by what needs no search."""
    code = (
        "import sys, dalenius as dl, dalenius._solve as s\n"
        "s.need_way(dl.PrivacyFunnel([[0.5, 0], [0, 0.5]], 0.1), None, 'auto')\n"
        "print('dalenius.designs.funnel' in sys.modules, 'scipy.optimize' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == ["True", "True"]
