"""The room of designs that exchange priors: designs with constraints, and what its parts do where numbers are odd or time is short."""

import dataclasses
import json
import math
import signal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import dalenius as dl
import dalenius_check
import support
from campaigns import draws, each, thinned
from dalenius._prove import prove
from dalenius.designs.exchange import OWN, Exchange
from dalenius.designs.exchange.bound import OwnBound, design_bound
from dalenius.designs.exchange.goals import Goal, Watcher
from dalenius.designs.exchange.interior import Inside, Outside, inside, raising
from dalenius.designs.exchange.keeping import upper_after
from dalenius.designs.exchange.proposer import ExchangeProposer
from dalenius.designs.exchange.region import FreeRegion
from dalenius.designs.oracle import Prior
from dalenius.designs.rational import AffineHull
from dalenius.evidence.lower import AlsoLine, ConeLine, MultiplierLine
from dalenius.model.constraints import (
    Affine,
    Band,
    ErrorCap,
    LeakageLimit,
    Linear,
    LocalDPBetween,
    Monotone,
    SecondOrderCone,
    Unbiased,
    ZeroEntries,
)
from dalenius.programs.demands import LinearRows
from dalenius.reduction import Orbits
from dalenius.search import Clock, Limits, Progress, Run

FAIR = {"records": dl.Records(1, alphabet=2), "query": dl.Identity(), "adversary": dl.ProductPriors()}
COUNT = {"records": dl.Records(3, alphabet=2), "query": dl.Count()}
LISTED = dl.PriorSet([[Fraction(1, 8)] * 8, [Fraction(1, 2), 0, 0, 0, 0, 0, 0, Fraction(1, 2)]])


# ---------------------------------------------------------------- what the optimum is


def test_a_capped_error_is_a_rate_distortion_problem():
    """An error of at most 0.1 for each bit, whatever its probability: capacity of the channel that attains it."""
    problem = dl.MinLeakage(**FAIR, distortion=dl.Hamming(), max_distortion=1, constraints=[ErrorCap("0.1")])
    result = support.solve_design(problem)
    assert result.lower <= math.log(2) - support.binary_entropy(0.1) <= result.upper
    assert [price.binds for price in result.constraints] == [True]
    assert result.constraints[0].name == "constraints[0] (error)"
    assert dl.solve(dataclasses.replace(problem, constraints=())).upper == 0.0


def test_an_unbiased_bit_needs_outputs_beyond_it():
    """With outputs 0 and 1 it must be told as it is; with -1, 0, 1, 2 less is told, exactly on average."""
    ends = {**FAIR, "distortion": dl.Squared(), "max_distortion": 1, "constraints": [Unbiased()]}
    told = support.solve_design(dl.MinLeakage(**ends))
    assert told.mechanism.rows == ((1, 0), (0, 1))
    assert told.lower <= math.log(2) <= told.upper
    wider = support.solve_design(dl.MinLeakage(**{**ends, "distortion": dl.Squared(outputs=[-1, 0, 1, 2])}))
    assert wider.upper < 0.2
    for v, row in enumerate(wider.mechanism.rows):
        assert sum(o * q for o, q in zip([-1, 0, 1, 2], row, strict=True)) == v
    assert wider.constraints[1].slack == 0
    assert wider.mechanism.outputs == (-1, 0, 1, 2)


def test_a_privacy_notion_with_constraints_is_a_linear_program():
    """k-ary randomised response, right with probability e^epsilon/(e^epsilon + k - 1), is best; a zero in it makes it impossible."""
    given = {"records": dl.Records(1, alphabet=3), "query": dl.Identity(), "distortion": dl.Hamming()}
    result = support.solve_design(dl.MinDistortion(**given, privacy=dl.LocalDP("log 2"), constraints=[ErrorCap("1/2")]))
    assert result.lower <= 0.5 <= result.upper
    assert result.upper - result.lower < 1e-9
    assert result.exp_epsilon <= 2
    pointwise = dl.MinDistortion(
        **given,
        law=dl.Iid([0.5, 0.3, 0.2]),
        privacy=dl.PointwiseMaximalLeakage("log 2"),
        constraints=[Monotone()],
    )
    assert support.solve_design(pointwise).lower <= 0.2 <= support.solve_design(pointwise).upper
    never = dl.MinDistortion(
        **given,
        privacy=dl.LocalDP(1),
        constraints=[ZeroEntries([(0, 2)]), ErrorCap("1/2")],
    )
    assert (
        str(support.solve_design(never))
        == "no mechanism meets privacy and constraints[0] (zero) and constraints[1] (error) (proved)"
    )


def test_several_adversaries_and_a_cone():
    """The limits of all hold, proved each by its own sections; multipliers of everything are in the certificate."""
    problem = dl.MinLeakage(
        **COUNT, adversary=LISTED, distortion=dl.Absolute(), max_distortion="0.4",
        constraints=[
            LeakageLimit(dl.PriorSet([[Fraction(1, 4), 0, 0, Fraction(1, 4), 0, Fraction(1, 4), Fraction(1, 4), 0]]), "0.05"),
            SecondOrderCone([Affine([(0, y, 1)]) for y in (1, 2, 3)], constant="0.3"),
            LocalDPBetween("log 12", pairs=[(1, 2)]),
        ],
    )  # fmt: skip
    result = support.solve_design(problem, gap=1e-3)
    rows = result.mechanism.rows
    assert sum(q * q for q in rows[0][1:]) <= Fraction(9, 100)
    assert all(rows[a][y] <= 12 * rows[b][y] for a, b in ((1, 2), (2, 1)) for y in range(4))
    assert dl.solve(problem.release(rows, problem.own_constraints[0].adversary)).upper <= 0.05
    kinds = {type(line) for line in result.certificate.lower_lines()}
    assert {AlsoLine, ConeLine, MultiplierLine} <= kinds
    assert all(price.binds for price in result.constraints)
    assert result.gap <= 1e-3


def twice_limited():
    return dl.MinDistortion(
        **COUNT, adversary=LISTED, distortion=dl.Absolute(), max_leakage="0.3 bits",
        constraints=[LeakageLimit(dl.ProductPriors(), "0.1"), ErrorCap("1.4")],
    )  # fmt: skip


def test_a_least_distortion_within_two_limits_of_leakage():
    problem = twice_limited()
    result = support.solve_design(problem, gap=1e-3)
    assert result.gap <= 1e-3
    assert result.leakage[1] <= 0.3 * math.log(2)
    looser = support.solve_design(dataclasses.replace(problem, constraints=problem.own_constraints[1:]), gap=1e-3)
    assert looser.upper < result.lower


def test_a_limit_about_a_secret_that_the_data_do_not_depend_on_is_no_limit():
    """Doubles see 1e-18 of information where there is none, which is above a limit of 1e-80: the mechanism of no limit is best."""
    sure = dl.constraints.MaximalCorrelation(secret=[[0, "463/464"], [0, "1/464"]], at_most="1e-40")
    result = dl.solve(
        dl.MinDistortion(
            records=dl.Records(1, alphabet=2),
            query=dl.Identity(),
            distortion=dl.Hamming(),
            law=dl.Uniform(),
            max_leakage="0.5 nats",
            mechanism="full",
            constraints=[sure],
            adversary=dl.PriorSet([["1/2", "1/2"]]),
        )
    )
    d = result.upper
    assert result.gap <= 1e-4
    assert math.log(2) + d * math.log(d) + (1 - d) * math.log(1 - d) == pytest.approx(0.5, abs=1e-4)


def test_symmetries_that_constraints_break_are_not_used():
    """The class full on three bits: four orbits where the constraints treat records alike, six where they name a dataset."""
    given = {**COUNT, "adversary": dl.EntropyAtLeast("0.5 max"), "mechanism": "full", "distortion": dl.Absolute()}
    alike = dl.MinLeakage(**given, max_distortion=1, constraints=[ErrorCap("0.5")])
    single = dl.MinLeakage(**given, max_distortion=1, constraints=[ErrorCap("0.5", groups=[[1]])])
    from dalenius.search import Limits, Run

    assert len(Exchange(alike, Run.of(Limits())).orbits.cost) == 4
    assert len(Exchange(single, Run.of(Limits())).orbits.cost) == 6
    modular = support.design(
        dl.MinLeakage,
        dl.Records(2, alphabet=3),
        dl.ModularSum(3),
        dl.Hamming(),
        "0.5",
        dl.PriorSet([[Fraction(1, 9)] * 9]),
        mechanism="additive",
        constraints=[Linear([(0, 1, 1), (0, 2, -3)], equals=0)],
    )
    q = support.solve_design(modular).mechanism.rows[0]
    assert q[1] == 3 * q[2]


# ---------------------------------------------------------------- nothing is feasible


@each(
    "constraints, names",
    
        ([dl.LocalDP("log 3"), Band(1)], "constraints[0] (local_dp) and constraints[1] (band)"),
        ([Monotone(), Unbiased(), ZeroEntries([(0, 0)])], "constraints[1] (unbiased) and constraints[2] (zero)"),
        ([SecondOrderCone([Affine([(1, y, 1)]) for y in range(4)], constant="0.45")], "constraints[0] (cone)"),
        ([ErrorCap("0.1"), LeakageLimit(LISTED, "0.1")], "constraints[0] (error) and constraints[1] (leakage)"),
        ([Band(3), LeakageLimit(LISTED, "-0.1")], "constraints[1] (leakage)"),
        ([Linear([(0, 0, 1)], equals="2/3"), Linear([(0, 0, 2)], at_most=1)], 
            "constraints[0] (linear) and constraints[1] (linear)"),
)  # fmt: skip
def test_infeasible_designs_are_proved_so_and_name_what_is_in_conflict(constraints, names):
    problem = dl.MinLeakage(
        **COUNT, adversary=LISTED, distortion=dl.Absolute(), max_distortion=3, constraints=constraints
    )
    result = support.solve_design(problem)
    assert result.termination is dl.answers.Termination.INFEASIBLE
    assert str(result) == f"no mechanism meets {names} (proved)"
    assert result.mechanism is None
    for number in range(len(constraints)):  # what the claim needs is needed
        header, *lines = result.certificate.text.splitlines()
        left = [line for line in lines if json.loads(line)[1] != number or json.loads(line)[0] in ("dual", "prior")]
        if len(left) < len(lines):
            assert not dl.verify(problem, dl.Certificate("\n".join([header, *left, ""]))).proved


def test_a_budget_of_leakage_below_what_constraints_need():
    problem = dl.MinDistortion(
        **COUNT,
        adversary=LISTED,
        distortion=dl.Absolute(),
        max_leakage="0.01 nats",
        constraints=[ErrorCap(1)],
    )
    assert str(support.solve_design(problem)) == "no mechanism meets max_leakage and constraints[0] (error) (proved)"


# ---------------------------------------------------------------- what the claim rests on


def test_without_a_multiplier_that_binds_the_claim_is_rejected():
    problem = dl.MinLeakage(
        **FAIR,
        distortion=dl.Hamming(),
        max_distortion=1,
        constraints=[ErrorCap("0.1"), Monotone()],
    )
    result = support.solve_design(problem)
    lines = result.certificate.text.splitlines()
    assert any(line.startswith('["multiplier",0') for line in lines)
    left = [line for line in lines if not line.startswith('["multiplier",0')]
    assert not dl.verify(problem, dl.Certificate("\n".join([*left, ""]))).proved
    other = dataclasses.replace(problem, constraints=[ErrorCap("0.11"), Monotone()])
    assert not dl.verify(other, result.certificate).proved


def test_what_does_not_go_with_constraints_is_refused():
    problem = dl.MinLeakage(
        **COUNT,
        adversary=dl.EntropyAtLeast("1 nats"),
        distortion=dl.Hamming(),
        max_distortion="0.2",
        constraints=[Monotone()],
    )
    support.refused(lambda: dl.solve(problem, method="alternating"), "method: a design with constraints")
    support.refused(lambda: dl.solve(problem, solver="own"), "solver: our own method knows no constraints")
    support.refused(
        lambda: dl.compare(problem, methods=["paper-full"]), "methods: expected a design without constraints"
    )


def test_little_time_gives_a_wide_interval():
    problem = support.design(
        dl.MinLeakage,
        dl.Records(5, alphabet=2),
        dl.Count(),
        dl.Absolute(),
        1,
        "0.8 max",
        constraints=[ErrorCap("0.9")],
    )
    result = support.solve_design(problem, gap=1e-6, time_limit=1.0)
    assert result.termination is dl.answers.Termination.TIME_LIMIT
    assert 0.0 <= result.lower <= result.upper <= math.log(2) + 1e-9
    assert np.isfinite(float(result.distortion))


# The best mechanism of an exchange leaks what is known of it, whatever was thought before.


def test_a_best_mechanism_that_leaks_more_than_was_seen_attains_more():
    """With constraints, too: what is found about it later counts, or an audit would be asked for a bound that there is not."""
    problem = support.design(
        dl.MinLeakage,
        dl.Records(2, alphabet=2),
        dl.Count(),
        dl.Absolute(),
        "0.3",
        "0.5 max",
        constraints=[dl.constraints.ErrorCap("0.4")],
    )
    exchange = Exchange(problem, Run.of(Limits()))
    rounds = exchange._rounds(exchange.goal, exchange._found(exchange.region.anchor, exchange.goal), 1e-3, 1.0)
    seen = rounds.best
    rounds.consider(0.5 * seen.q + 0.5 * rounds.anchor.q, {OWN: 2.0 * seen.attained}, "nobody")
    assert rounds.best is seen
    rounds.consider(seen.q, {OWN: 1.5 * seen.attained}, "nobody")
    assert rounds.best.attained == 1.5 * seen.attained


# What multipliers prove is finite and written with posteriors above 0, whatever a solver says of them.


def test_posteriors_that_vanish_in_doubles():
    problem = support.design(
        dl.MinLeakage,
        dl.Records(1, alphabet=3),
        dl.Identity(),
        dl.Hamming(),
        "0.3",
        dl.AnyPrior(),
        constraints=[dl.constraints.ErrorCap("0.4")],
    )
    run = Exchange(problem, Run.of(Limits()))
    goal, masses = Goal(run.region, run.watchers), np.diag([1.0, 1e-30, 1e-30])
    watched = [(OWN, Prior(0, masses))]
    program = goal.program(watched, np.full((3, 3), 1 / 3))
    steep = np.array([[0.0, 0.0, 0.0], [-900.0, 0.0, 1.0], [0.0, -1e6, 0.0]])
    bound = design_bound(program, goal, watched, program.start()[1] | {"log_ratio": steep}, "nobody")
    assert bound.priors[0][1].posteriors.min() > 0.0
    assert all(map(math.isfinite, OwnBound(bound, run.region).value()))


@pytest.mark.filterwarnings("error::dalenius.errors.ProofRefusedWarning")
def test_heavy_priors_prove_as_much_as_their_posteriors_have_digits():
    """Of a weight of 3e10 scores of 0.1 are known to 3e-6: what was refused was rounding, and there was a doubt about the answer."""
    problem = support.design(
        dl.MinDistortion,
        dl.Records(1, alphabet=3),
        dl.Identity(),
        dl.DistortionMatrix([["1000", "1", "1"], ["1/3", "1/3", "0"], ["0", "0", "1/3"]]),
        "0",
        dl.FloorPriors("0.1"),
    )
    result = dl.solve(problem, gap=1e-4)
    assert result.lower <= 4 / 9 <= result.upper
    assert all(refusal.rounding for refusal in result.refusals)
    assert result.gap <= 1e-4


# What the exchange proposes: the leaves of an audit are worked out once.


PARTS = {
    "records": dl.Records(2, alphabet=2),
    "query": dl.Count(),
    "distortion": dl.Absolute(),
    "adversary": dl.EntropyAtLeast("0.7 max"),
}
DESIGNS = {
    "leakage": dl.MinLeakage(max_distortion=0.3, **PARTS),
    "distortion": dl.MinDistortion(max_leakage="0.1 bits", **PARTS),
}


@pytest.mark.parametrize("name", thinned(reversed(DESIGNS), every=2))
def test_the_leaves_of_an_audit_are_worked_out_once(name, monkeypatch):
    """For itself; as a part of the design's certificate they are found again."""
    import dalenius._prove as place

    problem, verify, leaf, worked = DESIGNS[name], place.verify, dalenius_check.Known.leaf, []

    def checked(problem, certificate, **options):
        worked.append([problem.kind, 0])
        return verify(problem, certificate, **options)

    def found(known, place, line, work):
        def working():
            worked[-1][1] += 1
            return work()

        return leaf(known, place, line, working)

    monkeypatch.setattr(place, "verify", checked)
    monkeypatch.setattr(dalenius_check.Known, "leaf", found)
    result = dl.solve(problem, gap=3e-2, time_limit=None)
    leaves = sum(line.word in ("row", "joint") for line in result.audit.certificate.upper_lines())
    assert leaves > 8
    audits, designs = ([n for kind, n in worked if (kind == problem.kind) == own] for own in (False, True))
    assert 0 < audits[-1] <= leaves  # others are proved on the way, of leaves that may be split later
    assert designs == [0] * len(designs) != []
    assert dl.verify(problem, result.certificate).proved
    assert dl.verify(problem.release(result.mechanism.rows), result.audit.certificate).proved


def test_a_retreat_that_takes_too_long_leaves_what_is_certain(monkeypatch, work_clock):
    """A busy machine once had no second for the short proof of what a mechanism leaks at most, and solve raised an error."""
    import dalenius._prove as place

    verify = place.verify

    def hurried(problem, certificate, *, seconds, **options):
        return verify(problem, certificate, seconds=seconds if seconds == math.inf else 0.0, **options)

    monkeypatch.setattr(place, "verify", hurried)
    result = dl.solve(DESIGNS["leakage"], gap=0.3, time_limit=5.0)
    assert result.termination is dl.answers.Termination.TIME_LIMIT
    assert (result.lower, result.upper) == (0.0, pytest.approx(math.log(2.0), rel=1e-9))
    assert result.mechanism is not None


def test_the_audit_of_a_mechanism_is_about_one_problem(monkeypatch):
    """Its model is expanded and written once, however often an end that rests on it is tried."""
    made, release = [], dl.MinLeakage.release
    monkeypatch.setattr(dl.MinLeakage, "release", lambda *question: made.append(question) or release(*question))
    proposer = ExchangeProposer.of(DESIGNS["leakage"], Run.of(Limits(gap=3e-2, time_limit=None)))
    proposer.run()
    searched = len(made)
    assert searched
    assert prove(DESIGNS["leakage"], proposer, proposer.search).lower > 0.0
    assert len([*proposer.uppers()]) > 1
    assert len(made) == searched


# Equations solved exactly: random ones with a known point, those that say the same, those that nothing meets.


ONE = Fraction(1)


def test_audits_of_a_mechanism_share_the_time_that_is_left(monkeypatch, work_clock):
    """Each had .45 of it once, however many there were; what the check of one takes is not the next one's."""
    given = list[float]()

    def audited(watcher, problem, rows, search, *wanted, **how):
        given.append(search.clock.remaining)
        return SimpleNamespace(lower=0.0, upper=0.0, checking=10.0, boxed=False)

    monkeypatch.setattr(Watcher, "audited", audited)
    run = Exchange(twice_limited(), Run.of(Limits(time_limit=100.0)))
    made = run.keeper.audited(run.region.anchor, 0.0)
    assert len(made.audits) == len(given) == 2
    assert given == pytest.approx([45.0, 81.0], rel=0.02)


@pytest.mark.parametrize(
    ("kind", "people", "budget", "enough"),
    [(dl.MinLeakage, 3, "0.5", 0.6), (dl.MinDistortion, 2, "0.1 nats", 0.4)],
)
def test_a_design_that_is_stopped_hands_out_what_was_proved_while_its_audit_ran(
    kind, people, budget, enough, monkeypatch, work_clock
):
    """No check is needed any more; once all that a long audit had found was lost with the check of its leaves.

    Under a budget of leakage what is proved is a mechanism with more of the constant one, whose distortion alone is .5.
    """
    stood, stand = list[float](), ExchangeProposer._stand

    def standing(proposer, kept):
        found = stand(proposer, kept)
        stood.append(proposer.standing.upper)
        if proposer.standing.upper < enough:
            signal.raise_signal(signal.SIGINT)
        return found

    monkeypatch.setattr(ExchangeProposer, "_stand", standing)
    monkeypatch.setattr("dalenius.search.clock.PROVING", 0.0)
    adversary = dl.EntropyAtLeast("0.8 max")
    problem = support.design(kind, dl.Records(people, alphabet=2), dl.Count(), dl.Absolute(), budget, adversary)
    result = dl.solve(problem, gap=1e-6, time_limit=1e3)
    assert result.termination is dl.answers.Termination.INTERRUPTED
    assert result.upper == min(stood) < enough
    assert result.audit.upper <= (result.upper if kind is dl.MinLeakage else 0.1)
    assert dl.verify(problem, result.certificate).proved


def test_points_near_doubles_meet_random_equations_exactly():
    rng = np.random.default_rng(1)
    for _ in range(draws(20, 300)):
        size = int(rng.integers(2, 9))
        point = [Fraction(int(w), 7) for w in rng.integers(0, 9, size=size)]
        equations = []
        for _ in range(rng.integers(1, size + 2)):  # more than there are entries, too: they agree
            terms = {i: Fraction(int(c), 3) for i, c in enumerate(rng.integers(-3, 4, size=size)) if c}
            equations.append((terms, sum((c * point[i] for i, c in terms.items()), Fraction(0))))
        near = np.array([float(x) for x in point]) + 1e-9 * rng.normal(size=size)
        hull = AffineHull.of(equations, range(size), first=near)
        found = hull.near(near)
        assert all(sum((c * found[i] for i, c in terms.items()), Fraction(0)) == end for terms, end in equations)
        assert all(x == y for i, (x, y) in enumerate(zip(found, found, strict=True)) if i in hull.free)


def test_entries_that_are_left_out_are_zero():
    hull = AffineHull.of([({0: ONE, 1: ONE, 2: ONE}, ONE)], [0, 1], first=np.array([0.2, 0.8, 0.0]))
    assert hull.near(np.array([0.25, 0.5, 9.0])) == [Fraction(1, 4), Fraction(3, 4), 0]


def test_equations_that_nothing_meets():
    first = np.array([0.5, 0.5])
    assert AffineHull.of([({0: ONE}, ONE), ({0: 2 * ONE}, ONE)], [0, 1], first=first) is None
    assert AffineHull.of([({1: ONE}, ONE)], [0], first=first) is None


# Mechanisms become exact, and exactly as symmetric as their problem.


COUNT_OF_TWO = {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
SUM = {"records": dl.Records(2, alphabet=3), "query": dl.ModularSum(3), "distortion": dl.Hamming()}
LOPSIDED = dl.DistortionMatrix([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 2, 1, 0]])


def region_of(parts, mechanism):
    """Of a design without a budget of distortion."""
    problem = dl.MinDistortion(
        **parts, mechanism=mechanism, max_leakage="1/4 nats", adversary=dl.EntropyAtLeast("0.8 max")
    )
    return FreeRegion(problem, Orbits.of(problem), Run.of(Limits()))


@each("parts, mechanism", (COUNT_OF_TWO, "oblivious"), (COUNT_OF_TWO, "full"), (SUM, "oblivious"), (SUM, "additive"))
def test_exact_rows_are_as_symmetric_as_the_problem(parts, mechanism):
    """However the mechanism in doubles is: the mean over the symmetries, which costs as much exactly and is exactly stochastic."""
    region = region_of(parts, mechanism)
    tied, problem = region.tied, region.problem
    q = np.random.default_rng(0).dirichlet(np.full(tied.outputs, 0.5), size=tied.rows)
    own = region.own_rows(region.exact(q, []))
    rows = problem.tied.expand_rows(own)
    assert all(sum(row) == 1 and min(row) >= 0 for row in rows)
    symmetries = region.orbits.moving_outputs
    assert symmetries
    on_orbits = dict(zip(region.orbits.orbit.tolist(), rows, strict=True))
    for symmetry in symmetries:
        for k, row in on_orbits.items():
            image = on_orbits[int(symmetry.inputs[k])]
            assert [image[y] for y in symmetry.outputs.tolist()] == list(row)
    cost = float(np.sum(region.orbits.cost * tied.expand(q)))
    assert float(problem.expected_distortion(own)) == pytest.approx(cost, abs=1e-11)


def test_without_symmetries_they_are_what_they_are():
    region = region_of({**COUNT_OF_TWO, "distortion": LOPSIDED}, "oblivious")
    assert not region.orbits.moving_outputs
    Q = np.array([[0.5, 0.25, 0.125, 0.125]] * 3 + [[0.0, 0.0, 0.0, 1.0]])
    assert region.own_rows(region.exact(Q, [])) == [[Fraction(x) for x in row] for row in Q.tolist()]


def test_a_later_mixture_leaves_what_an_audit_had_come_to_in_its_time():
    """Of the upper ends that an audit tells on its way, the least of those in time; none before the first."""
    trace = [Progress(seconds, "dual", 0.1, upper, 1) for seconds, upper in ((0.5, 0.4), (1.0, 0.2), (2.0, 0.11))]
    ends = [upper_after(trace, seconds) for seconds in (0.1, 0.5, 1.9, 2.0, 9.0)]
    assert ends == [math.inf, 0.4, 0.2, 0.11, 0.11]


# Linear programs about rows: what can be met strictly, what cannot, and multipliers which say that nothing can.


SHAPE = (2, 3)


def rows(*listed):
    """(terms by entry, end, equal)."""
    matrix = np.zeros((len(listed), 6))
    for r, (terms, _, _) in enumerate(listed):
        for i, c in terms.items():
            matrix[r, i] = c
    return LinearRows(
        csr_matrix(matrix), np.array([end for _, end, _ in listed], dtype=float), np.array([e for *_, e in listed])
    )


def test_without_rows_every_entry_is_free():
    found = inside(LinearRows.none(6), SHAPE, Clock())
    assert isinstance(found, Inside)
    assert found.support.all()
    assert np.allclose(found.q, 1 / 3)


def test_zeros_and_equalities_that_follow_are_found_and_zeros_are_raised():
    """Row 0 unbiased at the least output: all its mass is there. Two inequalities that leave one value: both are tight."""
    system = rows(
        ({0: 0.0, 1: 1.0, 2: 2.0}, 0.0, True),
        ({3: 1.0}, 0.25, False),
        ({3: -1.0}, -0.25, False),
        ({4: 1.0}, 0.5, False),
    )
    found = inside(system, SHAPE, Clock())
    assert isinstance(found, Inside)
    assert found.support.tolist() == [[True, False, False], [True, True, True]]
    assert found.tight.tolist() == [True, True, True, False]
    assert np.allclose(found.q[:, 0], [1.0, 0.25])
    prices = raising(system, found.support, Clock())
    assert np.all(prices[1:] >= 0.0)
    matrix = (system.matrix.T @ prices).reshape(SHAPE)
    least = np.where(found.support, matrix, np.inf).min(axis=1)
    assert least.sum() - prices @ system.ends >= -1e-9, "they cost nothing"
    assert np.all(matrix[0, 1:] >= least[0] + 1.0 - 1e-9), "they raise by 1 what must be 0"


def test_multipliers_of_what_nothing_meets():
    system = rows(({0: 1.0, 3: 1.0}, 1.5, True), ({0: 1.0, 1: -3.0}, -2.0, False), ({5: 1.0}, 0.9, False))
    found = inside(system, SHAPE, Clock())
    assert isinstance(found, Outside)
    assert np.all(found.prices[1:] >= 0.0)
    assert found.prices[2] == 0.0, "what is not in conflict has none"
    matrix = (system.matrix.T @ found.prices).reshape(SHAPE)
    assert matrix.min(axis=1).sum() - found.prices @ system.ends > 0.01
