"""Secrets against their definition: joint laws listed dataset by dataset, selections listed one by one, laws drawn at random."""

import itertools
import math
import warnings
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import dalenius as dl
import support
from campaigns import draws, each, thinned
from dalenius.information import measures
from dalenius.information.capacity import capacity
from definitions import conditional_information


def best_selection(rows, of, given):
    """The largest capacity of one dataset for each value, for one value of what is given."""
    best = 0.0
    for c in set(given):
        cells = [[x for x in range(len(of)) if given[x] == c and of[x] == a] for a in sorted(set(of))]
        for chosen in itertools.product(*filter(None, cells)):
            best = max(best, capacity(rows[list(chosen)], gap=1e-12).lower)
    return best


def drawn(seed):
    """A small database, its channel, a secret as labels of the datasets, and what is given."""
    draw = np.random.default_rng(seed)
    records = dl.Records(alphabets=[(2, 2), (2, 3), (2, 2, 2)][seed % 3])
    size = records.datasets
    counts = draw.integers(1, 9, (size, 3))
    rows = counts / counts.sum(axis=1, keepdims=True)
    of, given = draw.integers(0, 3, size).tolist(), draw.integers(0, 1 + seed % 3, size).tolist()
    return draw, records, rows, of, given


def stated(records, rows, of, given, adversary):
    secret = dl.Secret(dl.Table(of), given=dl.Table(given))
    return dl.SecretLeakage(
        records=records, mechanism=dl.Channel(rows, inputs="dataset"), adversary=adversary, secrets=secret
    )


@each("seed", *range(draws(6, 200)))
def test_all_laws_are_as_good_as_selections(seed):
    draw, records, rows, of, given = drawn(seed)
    result = dl.solve(stated(records, rows, of, given, dl.AnyPrior()), gap=1e-9)
    assert result.gap <= 1e-9 or result.upper < 1e-12
    assert not result.refusals
    assert result.lower - 1e-10 <= best_selection(rows, of, given) <= result.upper + 1e-10
    for law in draw.dirichlet(np.full(len(rows), 0.3), 50):
        assert conditional_information(law, of, given, rows) <= result.upper + 1e-12
    if result.witness is not None:
        assert conditional_information(result.witness.law, of, given, rows) >= result.lower - 1e-12


@each("seed", *range(draws(4, 100)))
def test_listed_laws(seed):
    draw, records, rows, of, given = drawn(seed)
    laws = draw.integers(1, 9, (3, len(rows)))
    adversary = dl.PriorSet(laws / laws.sum(axis=1, keepdims=True))
    result = dl.solve(stated(records, rows, of, given, adversary), gap=1e-9)
    value = max(conditional_information(law / law.sum(), of, given, rows) for law in laws)
    assert result.lower - 1e-13 <= value <= result.upper + 1e-13


def classes(draw, size):
    law = draw.integers(1, 9, size)
    law = law / law.sum()
    other = np.roll(law, 1)
    return (
        [
            (dl.EntropyAtLeast("0.8 max"), lambda p: -np.sum(p * np.log(np.maximum(p, 1e-300))) >= 0.8 * np.log(size)),
            (dl.FloorPriors("1/50"), lambda p: p.min() >= 0.02),
            (dl.BoxPriors(law * 0.5, law * 1.5), lambda p: (law * 0.5 <= p).all() and (p <= law * 1.5).all()),
            (dl.L1BallPriors(law, 0.3), lambda p: abs(p - law).sum() <= 0.3),
            (dl.KLBallPriors(law, 0.05), lambda p: np.sum(p * np.log(np.maximum(p, 1e-300) / law)) <= 0.05),
            (dl.ChiSquareBallPriors(law, 0.1), lambda p: np.sum((p - law) ** 2 / law) <= 0.1),
            (dl.PolytopePriors([law, other]), None),
        ],
        law,
        other,
    )


@pytest.mark.campaign(minutes=3)
@pytest.mark.parametrize("seed", range(draws(1, 8, 40)))
def test_no_law_of_a_class_is_told_more(seed):
    draw, records, rows, of, given = drawn(seed + 1)
    listed, law, other = classes(draw, len(rows))
    for adversary, inside in listed:
        result = dl.solve(stated(records, rows, of, given, adversary), gap=1e-6)
        assert not result.refusals
        if result.witness is not None:
            assert conditional_information(result.witness.law, of, given, rows) >= result.lower - 1e-12
        for share in draw.uniform(size=draws(20, 300)):
            spread = draw.dirichlet(np.full(len(rows), 0.5))
            point = law + share * (other - law) if inside is None else law + share * (spread - law)
            if inside is None or inside(point):
                assert conditional_information(point, of, given, rows) <= result.upper + 1e-12, adversary.kind


@pytest.mark.parametrize("seed", range(draws(1, 30)))
def test_where_the_secret_determines_the_input_both_ends_meet_a_cone_program(seed):
    draw, records, rows, _, given = drawn(seed)
    size = len(rows)
    law = draw.integers(1, 9, size)
    law = law / law.sum()
    p = cp.Variable(size, nonneg=True)
    goal = p @ np.sum(rows * np.log(rows), axis=1)
    for c in set(given):
        inside = [float(x) for x in np.array(given) == c]
        goal -= sum(cp.rel_entr((p @ np.diag(inside)) @ rows[:, y], p @ np.array(inside)) for y in range(rows.shape[1]))
    for adversary, constraint in [
        (dl.L1BallPriors(law, 0.3), cp.norm1(p - law) <= 0.3),
        (dl.KLBallPriors(law, 0.05), cp.sum(cp.rel_entr(p, law)) <= 0.05),
        (dl.EntropyAtLeast("0.8 max"), cp.sum(cp.entr(p)) >= 0.8 * np.log(size)),
    ]:
        value = float(cp.Problem(cp.Maximize(goal), [cp.sum(p) == 1, constraint]).solve(solver=cp.CLARABEL))
        result = dl.solve(stated(records, rows, list(range(size)), given, adversary), gap=1e-6)
        assert result.lower - 1e-6 <= value <= result.upper + 1e-6, adversary.kind
        assert result.gap <= 1e-6, adversary.kind
        assert all(proof.exact for proof in result.secrets)


def test_a_record_is_a_secret_like_any_other():
    """The record audit answers the same, where the record by itself is asked about."""
    records, query, mechanism = dl.Records(3, alphabet=2), dl.Count(), dl.geometric(1)
    secrets = [dl.Secret(dl.Letters(i)) for i in range(3)]
    for adversary in (dl.AnyPrior(), dl.FixedPrior([0.3, 0.1, 0.05, 0.05, 0.1, 0.1, 0.1, 0.2])):
        parts = {"records": records, "query": query, "mechanism": mechanism, "adversary": adversary}
        one, other = (
            dl.solve(dl.WorstCaseLeakage(**parts), gap=1e-9),
            dl.solve(dl.SecretLeakage(**parts, secrets=secrets), gap=1e-9),
        )
        assert max(one.lower, other.lower) <= min(one.upper, other.upper) + 1e-12
        assert one.gap < 1e-8
        assert other.gap < 1e-8


# Designs under limits about a secret: reference values, cvxpy's own atoms, HiGHS, and the mechanism measured again exactly.


WIDTH = 1e-6
A = [[0.30, 0.15, 0.05], [0.05, 0.15, 0.30]]
B = [[0.5, 0, 0], [0, 0.3, 0], [0, 0, 0.2]]
C = [[0.25, 0.15, 0.08, 0.02], [0.02, 0.08, 0.15, 0.25]]
MADE = {
    "total variation": lambda most, secret: dl.constraints.TotalVariation(most, secret=secret),
    "KL": lambda most, secret: dl.constraints.KL(most, secret=secret),
    "chi-square": lambda most, secret: dl.constraints.ChiSquare(most, secret=secret),
    "correlation": lambda most, secret: dl.constraints.MaximalCorrelation(square_at_most=most, secret=secret),
    "strong total variation": lambda most, secret: dl.constraints.TotalVariation(most, strong=True, secret=secret),
    "strong KL": lambda most, secret: dl.constraints.KL(most, strong=True, secret=secret),
    "strong chi-square": lambda most, secret: dl.constraints.ChiSquare(most, strong=True, secret=secret),
    "information privacy": lambda most, secret: dl.constraints.LocalInformationPrivacy(most, secret=secret),
}
CATALOGUE = [  # section 3.15: for A, B and C
    ("total variation", 0.1, 0.28, 0.4590163934, 0.7160869565),
    ("total variation", 0.3, 0.14, 0.3770491803, 0.3639130435),
    ("KL", 0.02, 0.2334288762, 0.466723314, 0.6425972441),
    ("KL", 0.1, 0.09452953234, 0.3818604111, 0.3105754828),
    ("chi-square", 0.02, 0.267174883, 0.4825265988, 0.7178476462),
    ("chi-square", 0.1, 0.1647974082, 0.429706137, 0.4831128202),
    ("chi-square", 0.2, 0.08808398293, 0.380910977, 0.2966322555),
    ("correlation", 0.02, 0.267174883, 0.4758481477, 0.7178476462),
    ("correlation", 0.1, 0.1647974082, 0.4013543475, 0.4831128202),
    ("correlation", 0.2, 0.08808398293, 0.3314215937, 0.2966322555),
    ("strong total variation", 0.1, 0.28, 0.462, 0.7160869565),
    ("strong total variation", 0.3, 0.14, 0.386, 0.3639130435),
    ("strong KL", 0.02, 0.2345211656, 0.4700778403, 0.6451228326),
    ("strong KL", 0.1, 0.1057249462, 0.3846424947, 0.3346463037),
    ("strong chi-square", 0.02, 0.2683333333, 0.4843511089, 0.720612236),
    ("strong chi-square", 0.1, 0.1767588386, 0.4339142559, 0.509194393),
    ("information privacy", 0.1, 0.3033703348, 0.5, 0.7873438208),
    ("information privacy", 0.5, 0.1572000233, 0.4277571961, 0.4358619795),
    ("information privacy", 1, 0.04026092617, 0.2742007565, 0.2089357991),
]


def design(secret, *constraints, distortion=None) -> dl.MinDistortion:
    """One record whose letters are the inputs; absolute errors of C, else Hamming's."""
    law = [sum(Fraction(str(p)) for p in column) for column in zip(*secret, strict=True)]
    own = dl.Absolute() if secret is C else dl.Hamming()
    return dl.MinDistortion(
        records=dl.Records(1, alphabet=len(law)),
        query=dl.Identity(),
        law=dl.Iid(law),
        distortion=distortion or own,
        constraints=constraints,
    )


def of_the_input(law: str):
    """The input itself, whose letters have these probabilities."""
    probabilities = [Fraction(p) for p in law.split()]
    return [[p if s == x else 0 for x in range(len(probabilities))] for s, p in enumerate(probabilities)]


def given_delta(epsilon, delta):
    if delta == 0:
        return dl.constraints.LocalInformationPrivacy(epsilon)
    return dl.constraints.LocalInformationPrivacyDelta(epsilon, delta)


OPTIMA = [
    *(
        (secret, MADE[name](most, secret), value)
        for k, (name, most, *values) in enumerate(CATALOGUE)
        for secret, value in (2 * [*zip((A, B, C), values, strict=True)])[k % 3 : k % 3 + 3]
    ),
    *(  # section 3.15: the secret is the input, uniform and binary
        (of_the_input("1/2 1/2"), limit, value)
        for limit, value in (
            (dl.constraints.TotalVariation(0.05), 0.475),
            (dl.constraints.TotalVariation(0.2), 0.4),
            (dl.constraints.KL(0.05), 0.3432184016),
            (dl.constraints.KL(0.2), 0.1948271628),
            (dl.constraints.ChiSquare(0.05), 0.3881966011),
            (dl.constraints.ChiSquare(0.2), 0.2763932022),
            (dl.constraints.MaximalCorrelation(square_at_most=0.2), 0.2763932022),
            (dl.constraints.LocalInformationPrivacy(0.3), 0.3704091103),
        )
    ),
    *(  # the other catalogue's D5: (1 - delta)(k - 1)/(e^epsilon + k - 1)
        (of_the_input(" ".join([f"1/{k}"] * k)), dl.constraints.LocalDPDelta(epsilon, 0.05), value)
        for k, epsilon, value in ((3, 1, 0.402688959472), (4, 0.5, 0.613071817827), (2, 1, 0.255494350301))
    ),
    *(
        (of_the_input(law), given_delta(epsilon, delta), value)
        for law, epsilon, delta, value in (
            ("0.6 0.3 0.1", 1, 0, 0.243472982),
            ("0.6 0.3 0.1", 0.5, 0, 0.350656195),
            ("0.6 0.3 0.1", 1, 0.05, 0.210293327),
            ("1/3 1/3 1/3", 1, 0, 0.2452529607809616),
            ("1/3 1/3 1/3", 0.5, 0, 0.45042624309995727),
            ("1/3 1/3 1/3", 1, 0.05, 0.226858989),
            ("2/3 1/3", 1, 0, 0.163501974),
            ("1/2 1/2", 1, 0, 0.18393972058572),
        )
    ),
]


@each("secret, limit, value", *OPTIMA, every=6)
def test_the_catalogue_has_these_values(secret, limit, value):
    found = dl.solve(design(secret, limit))
    assert found.lower - 2e-9 <= value <= found.upper + 2e-9
    assert found.upper - found.lower <= WIDTH


STRONG = [
    ((0.5, 0), (0.1572000233, 0.4277571961, 0.4358619795)),
    ((0.5, 0.05), (0.1459714502, 0.3721891034, 0.3955043888)),
    ((0.5, 0.2), (0.1122857309, 0.2720913359, 0.2744316167)),
    ((0.1, 0.05), (0.2817010252, 0.45, 0.7207222656)),
]


@each(
    "pair, secret, value",
    *thinned([(pair, s, v) for pair, values in STRONG for s, v in zip((A, B, C), values, strict=True)], 5),
)
def test_strong_information_privacy_with_flagged_copies(pair, secret, value):
    letters, inputs = len(secret), len(secret[0])
    rows = [[abs(x - y) if secret is C else int(x != y) for y in range(inputs)] for x in range(inputs)]
    limit = dl.constraints.InformationPrivacy(
        pair[0], pair[1], strong=True, exempt=dl.constraints.InformationPrivacy.flagged(letters, inputs), secret=secret
    )
    found = dl.solve(design(secret, limit, distortion=dl.DistortionMatrix([row + row for row in rows])))
    assert found.lower - 2e-9 <= value <= found.upper + 2e-9


@each("copies", 1, 4)
def test_plain_information_privacy_has_a_copy_for_every_set_of_letters(copies):
    """As many as there are sets lose nothing: strong privacy is never less distorting, and one copy alone knows no exception."""
    rows = [[int(x != y) for y in range(3)] for x in range(3)]
    exempt = dl.constraints.InformationPrivacy.subsets(2, 3) if copies == 4 else None
    plain = dl.constraints.InformationPrivacy(0.5, 0.05, exempt=exempt, secret=A)
    found = dl.solve(design(A, plain, distortion=dl.DistortionMatrix([row * copies for row in rows])))
    if copies == 4:
        assert found.upper <= 0.1459714502 + 1e-9
    else:  # the number has ten digits
        assert found.lower - 5e-11 <= 0.1572000233 <= found.upper + 5e-11


# ---------------------------------------------------------------- random designs


def drawn_law(rng: np.random.Generator) -> list[list[Fraction]]:
    """A random joint law of 2 or 3 letters and 3 or 4 inputs, one entry of which may be 0."""
    weights = rng.integers(1, 30, size=(rng.integers(2, 4), rng.integers(3, 5)))
    weights[0, 0] *= rng.integers(0, 2)
    return [[Fraction(int(w), int(weights.sum())) for w in row] for row in weights]


def by_atoms(secret, name: str, most: float, cost: np.ndarray) -> float:
    """The optimum by cvxpy's own atoms, of one model written from the definitions."""
    P = np.array(secret, dtype=float)
    pi, Q = P.sum(axis=1), cp.Variable(cost.shape, nonneg=True)
    J, r = P @ Q, P.sum(axis=0) @ Q
    product, W = pi[:, None] @ cp.reshape(r, (1, r.size), order="C"), np.diag(1 / pi) @ J
    letters, outputs = range(len(P)), range(cost.shape[1])
    limits = {
        "total variation": lambda: [cp.sum(cp.abs(J - product)) <= most],
        "KL": lambda: [cp.sum(cp.rel_entr(J, product)) <= most],
        "chi-square": lambda: [sum(cp.quad_over_lin(np.diag(pi**-0.5) @ J[:, y], r[y]) for y in outputs) - 1 <= most],
        "strong total variation": lambda: [cp.norm1(r - W[s]) <= most for s in letters],
        "strong KL": lambda: [cp.sum(cp.rel_entr(r, W[s])) <= most for s in letters],
        "strong chi-square": lambda: [
            sum(cp.quad_over_lin(r[y], W[s, y]) for y in outputs) - 1 <= most for s in letters
        ],
    }
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.multiply(P.sum(axis=0)[:, None] * cost, Q))), [cp.sum(Q, axis=1) == 1, *limits[name]()]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    return float(problem.value)


CONIC = ["KL", "chi-square", "strong KL", "strong chi-square", "total variation", "strong total variation"]


@each("seed", *range(draws(3, 60)))
def test_sixty_designs_have_clarabels_value_in_their_intervals(seed):
    rng = np.random.default_rng(seed)
    secret, name = drawn_law(rng), CONIC[seed % len(CONIC)]
    most = Fraction(int(rng.integers(1, 20)), 100)
    rows = rng.integers(0, 5, size=(len(secret[0]), rng.integers(2, 5)))
    found = dl.solve(design(secret, MADE[name](most, secret), distortion=dl.DistortionMatrix(rows.tolist())))
    assert found.lower - 1e-7 <= by_atoms(secret, name, float(most), rows) <= found.upper + 1e-7
    assert found.upper - found.lower <= WIDTH


LINEAR = {
    "local privacy": lambda c, secret: dl.constraints.LocalDPBetween(f"log {c}", secret=secret),
    "pointwise": lambda c, secret: dl.constraints.PointwiseLeakageLimit(f"log {c}", secret=secret),
    "information privacy": lambda c, secret: dl.constraints.LocalInformationPrivacy(f"log {c}", secret=secret),
}


@each("seed", *range(draws(2, 30)))
def test_thirty_linear_programs_are_those_of_highs(seed):
    rng = np.random.default_rng(1000 + seed)
    secret, name = drawn_law(rng), list(LINEAR)[seed % len(LINEAR)]
    c = Fraction(int(rng.integers(11, 30)), 10)
    rows = rng.integers(0, 5, size=(len(secret[0]), rng.integers(2, 5)))
    found = dl.solve(design(secret, LINEAR[name](c, secret), distortion=dl.DistortionMatrix(rows.tolist())))
    P = np.array(secret, dtype=float)
    W, p, (inputs, outputs) = P / P.sum(axis=1)[:, None], P.sum(axis=0), rows.shape
    pairs = {
        "local privacy": [(a, b) for a in W for b in W],
        "pointwise": [(a, p) for a in W],
        "information privacy": [pair for a in W for pair in ((a, p), (p, a))],
    }[name]
    left = [np.kron(a - float(c) * b, np.eye(outputs)[y]) for a, b in pairs for y in range(outputs)]
    answer = linprog(
        (p[:, None] * rows).reshape(-1), A_ub=np.array(left), b_ub=np.zeros(len(left)),
        A_eq=np.kron(np.eye(inputs), np.ones(outputs)), b_eq=np.ones(inputs), method="highs-ds",
    )  # fmt: skip
    assert math.isclose(found.lower, answer.fun, rel_tol=1e-8, abs_tol=1e-9)
    assert math.isclose(found.upper, answer.fun, rel_tol=1e-8, abs_tol=1e-9)


# ---------------------------------------------------------------- what the mechanism is, measured again


MEASURED = {
    "total variation": measures.total_variation,
    "chi-square": measures.chi_square,
    "strong total variation": measures.strong_total_variation,
    "strong chi-square": measures.strong_chi_square,
}


def exactly(rows) -> np.ndarray:
    """For the measures in exact numbers."""
    return np.array([[fmpq(q.numerator, q.denominator) for q in row] for row in rows], dtype=object)


@settings(max_examples=draws(2, 100), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(MEASURED)))
def test_the_mechanism_keeps_its_limit_exactly_and_more_room_costs_no_more(seed, name):
    rng = np.random.default_rng(seed)
    secret, most = drawn_law(rng), Fraction(int(rng.integers(1, 20)), 100)
    rows = rng.integers(0, 5, size=(len(secret[0]), 3)).tolist()
    tight, wide = (
        dl.solve(design(secret, MADE[name](limit, secret), distortion=dl.DistortionMatrix(rows)))
        for limit in (most, 2 * most)
    )
    channel, law = measures.channel_of_secret(exactly(secret), exactly(tight.mechanism.rows))
    assert MEASURED[name](channel, law) <= fmpq(most.numerator, most.denominator)
    assert wide.lower <= tight.upper
    assert all(isinstance(q, Fraction) for row in tight.mechanism.rows for q in row)


# ---------------------------------------------------------------- neither of them, both of them, and other solvers


def test_limits_that_nothing_meets_are_refuted():
    none = dl.solve(design(A, dl.constraints.ErrorCap(0.05), dl.constraints.ChiSquare(0.1, secret=A)))
    assert not none.feasible
    assert [price.kind for price in none.constraints] == ["error", "chi_square"]


def test_a_limit_beside_an_adversary():
    """Of a fair bit both limits are functions of the flip: the tighter one says what the best is."""
    bit = [[Fraction(1, 2), 0], [0, Fraction(1, 2)]]
    for most, chi, flip in ((0.1, 0.01, 0.45), (0.01, 1, None))[: draws(1, 2)]:
        found = dl.solve(
            support.design(
                dl.MinDistortion,
                dl.Records(1, alphabet=2),
                dl.Identity(),
                dl.Hamming(),
                most,
                dl.AnyPrior(),
                constraints=[dl.constraints.ChiSquare(chi, secret=bit)],
            ),
            gap=1e-3,
        )
        flip = flip or next(
            p
            for p in np.linspace(0.3, 0.5, 200001)
            if math.log(2) + p * math.log(p) + (1 - p) * math.log(1 - p) <= most
        )
        assert found.lower - 1e-5 <= flip <= found.upper + 1e-5
        assert found.gap <= 1e-3


def test_a_limit_of_zero_is_refused_with_what_to_say_instead():
    with pytest.raises(dl.errors.DaleniusError, match="LocalInformationPrivacy"):
        dl.solve(design(A, dl.constraints.ChiSquare(0, secret=A)))
    told = dl.solve(design(A, dl.constraints.LocalInformationPrivacy(0, secret=A)))
    channel, law = measures.channel_of_secret(np.array(A), np.array(told.mechanism.rows, dtype=float))
    assert measures.total_variation(channel, law) < 1e-12
    assert told.lower <= told.upper < 0.65  # of the best constant


def test_a_constraint_alone_is_what_the_privacy_notion_is():
    given = {"records": dl.Records(1, alphabet=3), "query": dl.Identity(), "law": dl.Iid([0.5, 0.3, 0.2])}
    notion = dl.PointwiseMaximalLeakage("log 2")
    for more in ({"privacy": notion}, {"constraints": [notion]}):
        found = dl.solve(dl.MinDistortion(**given, distortion=dl.Hamming(), **more))
        assert found.certificate.header.claim == (Fraction(1, 5), Fraction(1, 5)) == (found.distortion,) * 2


def test_the_master_is_exported_with_its_cones():
    from dalenius.export.cbf import cbf_text, parse_cbf
    from dalenius.export.offer import offers
    from plain_clarabel import solved

    for limit in (
        dl.constraints.ChiSquare(0.1, secret=A),
        dl.constraints.MutualInformation(0.1, secret=A),
        dl.constraints.TotalVariation(0.1, secret=A),
    ):
        program = offers(design(A, limit))[0].make()
        _, _, value = solved(parse_cbf(cbf_text(program.standard_form())))
        found = program.solve()
        assert found.lower - 1e-7 <= value <= found.upper + 1e-7
    support.refused(offers(design(A, dl.constraints.MaximalCorrelation(0.3, secret=A)))[0].make, "semidefinite")


@each(
    "limit, instead, epsilon",
    (dl.constraints.LocalDPDelta("log 2", 0, secret=A), dl.constraints.LocalDPBetween("log 2", secret=A), "log 2"),
    (
        dl.constraints.LocalInformationPrivacyDelta("log 2", 0, secret=A),
        dl.constraints.LocalInformationPrivacy("log 2", secret=A),
        "log 2",
    ),
    (dl.constraints.ChiSquare(0, secret=A), dl.constraints.LocalInformationPrivacy(0, secret=A), "0"),
)
def test_what_a_limit_of_nothing_is_refused_for_says_the_same(limit, instead, epsilon):
    """A little more than nothing costs hardly less than the rows that the refusal names."""
    data = {"records": dl.Records(1, alphabet=3), "query": dl.Identity(), "law": dl.Iid([0.35, 0.3, 0.35])}
    data |= {"distortion": dl.Hamming()}
    with pytest.raises(
        dl.errors.DaleniusError, match=rf"dl\.constraints\.{type(instead).__name__}\) with epsilon {epsilon} in"
    ):
        dl.solve(dl.MinDistortion(**data, constraints=[limit]))
    rows = dl.solve(dl.MinDistortion(**data, constraints=[instead]))
    little = {"at_most": Fraction(1, 10**6), "secret": limit.secret}
    little |= (
        {"epsilon": limit.epsilon}
        if isinstance(limit, dl.constraints.LocalDPDelta | dl.constraints.LocalInformationPrivacyDelta)
        else {}
    )
    found = dl.solve(dl.MinDistortion(**data, constraints=[type(limit)(**little)]), gap=1e-4)
    assert found.lower <= rows.upper
    assert found.upper >= rows.lower - 5e-3
