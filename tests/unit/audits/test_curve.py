"""Lines and steps of the whole curve: what a proof says at other entropy bounds, rounded outward, and how it comes to say it."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.audits.ascent import priced
from dalenius.audits.bounds.dual_node import Aim
from dalenius.audits.bounds.dual_tree import DualTree
from dalenius.audits.bounds.dual_work import DualWork, Goal, Turn
from dalenius.audits.bounds.posteriors import PosteriorRelaxation, PosteriorTree
from dalenius.audits.curve import MOST, WholeCurve, bound_at, lines_above
from dalenius.audits.entropy_at_least import EntropyAudit
from dalenius.audits.proof_lines import dual_tree_lines, posterior_lines
from dalenius.evidence import CurveClaim, Header
from dalenius.evidence.upper import JointLeaf, UniformLeaf, VerticesLeaf
from dalenius.exact import fraction_text
from dalenius.reduction import RecordSymmetries
from dalenius.search import Clock, Limits, Run

SHARES = [Fraction(j, 8) for j in range(8)]
LARGEST = dl.EntropyAtLeast(1, "max").enclosure(dl.Records(4, alphabet=2))
HALF = dl.EntropyAtLeast("0.5 max").enclosure(dl.Records(4, alphabet=2))


def count(bound="0.75 max", n=3):
    return support.problem(dl.Records(n, alphabet=2), dl.Count(), dl.geometric(1), bound)


def audited(problem, gap=1e-2, curve=True):
    search = Run.of(Limits(gap=gap, time_limit=None, node_limit=20_000))
    audit = EntropyAudit(problem, search, curve=WholeCurve(problem, tuple(SHARES)) if curve else None)
    audit.run()
    return audit


@pytest.fixture(scope="module")
def loose():
    """An audit that has a witness, and next to no bound."""
    return audited(count("0.6 max"), gap=0.5)


def searched(audit, shares):
    """The curve with witnesses for these shares."""
    curve = WholeCurve(audit.problem, tuple(shares))
    curve.search(audit.records[0].channel, audit.records[0].candidate, Clock())
    return curve


def slope_of(audit, target):
    """The slope that is chosen where the bounds are to come down to a target."""
    curve = WholeCurve(audit.problem, ())
    known = [(record.channel, record.candidate) for record in audit.records]
    curve.choose_slope(known, target, rng=np.random.default_rng(0), clock=audit.clock)
    return curve.slope


def joint(mu: str) -> JointLeaf:
    return JointLeaf("1", mu, None, None)


# ------------------------------------------------------------ lines


@each("upper", Fraction(1, 3), Fraction(1, 10**12), Fraction(0))
def test_a_line_goes_through_the_bound_and_is_rounded_upward(upper):
    ((c, m),) = lines_above([(upper, [joint("0.3")])], HALF, LARGEST)
    assert Fraction(m) == Fraction(3, 10)
    assert 0 <= (Fraction(c) - Fraction(m) * HALF[1] - upper) <= Fraction(1, 10**29)
    assert len(c) < 60


def test_a_leaf_without_an_entropy_multiplier_is_level():
    assert lines_above([(Fraction(1, 4), [VerticesLeaf()])], HALF, LARGEST) == (("0.25", "0"),)


def test_lines_below_another_at_both_ends_are_left_out_and_only_those():
    high, low = (Fraction(1, 2), [joint("0.1")]), (Fraction(1, 4), [joint("0.05")])
    assert lines_above([high, low], HALF, LARGEST) == lines_above([high], HALF, LARGEST)
    assert len(lines_above([high, (Fraction(1, 4), [joint("2")])], HALF, LARGEST)) == 2
    sections = [(Fraction(k, 7), [joint(str(mu)), joint("0.2")]) for k, mu in ((1, 0.9), (3, 0.4), (2, 0.5))]
    kept = [tuple(map(Fraction, line)) for line in lines_above(sections, HALF, LARGEST)]
    for upper, proof in sections:
        for leaf in proof:
            slope, c = Fraction(leaf.entropy), upper + Fraction(leaf.entropy) * HALF[1]
            assert any(c <= d and c - slope * LARGEST[1] <= d - m * LARGEST[1] for d, m in kept)


def test_the_uniform_prior_says_nothing_of_other_bounds():
    assert lines_above([(Fraction(1, 4), [UniformLeaf()]), (Fraction(1, 2), [joint("1")])], HALF, LARGEST) == ()


def test_more_slopes_than_a_certificate_may_have():
    leaves = [joint(f"0.{k:04}") for k in range(1, MOST + 2)]
    assert lines_above([(Fraction(1, 4), leaves)], HALF, LARGEST) == ()
    assert len(lines_above([(Fraction(1, 4), leaves[1:])], HALF, LARGEST)) == MOST


def test_what_a_known_certificate_says_at_another_bound():
    header = Header("maximal_leakage", "", "0", "0.5", curve=CurveClaim((("1", "0.5"), ("0.6", "0"))))
    assert bound_at(dl.Certificate(header.encode() + "\n"), count("0.1 nats")) == Fraction(1, 2)
    assert bound_at(dl.Certificate(header.encode() + "\n"), count("1.8 nats")) == Fraction(1, 2)
    steeper = Header("maximal_leakage", "", "0", "0.5", curve=CurveClaim((("1", "0.5"),)))
    assert bound_at(dl.Certificate(steeper.encode() + "\n"), count("1.8 nats")) == Fraction(1, 10)


# ------------------------------------------------------------ one slope


def proof_of(problem, record, slope, target, kind):
    """The lines of a tree that is grown until it is below the target."""
    channel, clock = record.channel, Clock()
    candidate = record.candidate if slope is None else replace(record.candidate, mu=slope)
    if kind == "posterior":
        relaxation = PosteriorRelaxation(channel, decimals=6, multiplier=slope)
        tree = PosteriorTree(relaxation, candidate.mu, target=target)
    else:
        goal = Goal(tolerance=1e-4, enough=target, useless=9.0, decimals=6)
        work = DualWork(channel, candidate, RecordSymmetries.of(problem, channel), goal, clock=clock)
        work.run(Turn(may_grow=lambda *_: False))
        fixed = slope is not None
        tree = DualTree(Aim(channel, target, wanted=1e-3, decimals=7, most=1000, fixed=fixed), work.bound)
    while tree.upper > target:
        assert tree.leaves < 3000
        assert tree.grow(clock)
    if isinstance(tree, DualTree):
        return dual_tree_lines(channel, tree)
    return posterior_lines(channel, tree.relaxation, tree.tree, tree.half)


@pytest.mark.thorough
@pytest.mark.parametrize(("kind", "above"), [("posterior", 1e-2), ("dual tree", 4e-3)])
def test_all_leaves_of_a_tree_have_one_slope_if_they_are_told(loose, kind, above):
    """Else each leaf has its own, and the proof says next to nothing at other bounds."""
    record = loose.records[0]
    tangent = round(record.candidate.mu, 4)
    slopes = []
    for slope in (tangent, None):
        proof = proof_of(loose.problem, record, slope, (1.0 + above) * record.candidate.leakage, kind)
        slopes.append([float(leaf.entropy) for leaf in proof if isinstance(leaf, JointLeaf)])
    assert set(slopes[0]) == {tangent}
    assert len(slopes[0]) > 2
    assert len(set(slopes[1])) > 2


def test_the_slope_is_that_of_the_curve(loose):
    """A difference quotient of witnesses on either side."""
    (record,), step, records = loose.records, Fraction(1, 100), loose.problem.records
    shares = [Fraction(3, 5) - step, Fraction(3, 5) + step]
    curve = searched(loose, shares)
    leakages = {witness.share: witness.candidate.leakage for witness in curve.witnesses}
    left, right = (leakages[share] for share in shares)
    width = 2 * float(step) * records.log_datasets
    assert (left - right) / width == pytest.approx(record.candidate.mu, rel=1e-2)


def test_a_slope_that_cannot_close_the_audit_is_not_tried(loose):
    """Where some prior has I + m (H - b) above the target, no leaves of slope m come down to it."""
    (record,), audit = loose.records, loose
    best = priced(record.channel, record.candidate.mu, rng=np.random.default_rng(0), clock=audit.clock)
    assert best == pytest.approx(record.candidate.leakage, rel=1e-6)
    assert slope_of(audit, 1.001 * best) == pytest.approx(record.candidate.mu, 1e-5)
    assert slope_of(audit, 0.999 * best) is None


def test_where_entropy_costs_nothing_there_is_no_slope():
    level = support.problem(dl.Records(2, alphabet=2), dl.Identity(), dl.symmetric(0.3, k=4), "0.05 max")
    assert slope_of(audited(level, gap=1e-2), 1.0) is None


# ------------------------------------------------------------ steps


def test_witnesses_are_feasible_and_fall(loose):
    curve = searched(loose, SHARES)
    assert sorted(witness.share for witness in curve.witnesses) == SHARES
    steps = curve.steps(1e-13)
    lows = [Fraction(step.low) for step in steps]
    assert lows == sorted(lows, reverse=True)
    assert len(set(lows)) == len(lows) >= 5
    assert [step.entropy for step in steps][-1] == "7/8 max"
    for witness in curve.witnesses:
        p, log_uniform = witness.candidate.p, witness.channel.log_uniform
        used = p > 0.0
        knowledge = float(np.sum(p[used] * (np.log(p[used]) - log_uniform[used])))
        assert knowledge <= witness.channel.max_knowledge + 1e-9


@pytest.mark.parametrize("limit", ["MOST_NUMBERS", "MOST_WORK"])
def test_a_certificate_has_no_more_witnesses_than_it_has_room_for(loose, monkeypatch, limit):
    """Eight numbers each, and four outputs."""
    monkeypatch.setattr(f"dalenius.audits.curve.{limit}", 3 * 8 * (1 if limit == "MOST_NUMBERS" else 4))
    assert len(searched(loose, SHARES).witnesses) == 3


# ------------------------------------------------------------ the certificate


def test_every_claim_of_a_certificate_is_proved_by_itself(curves):
    problem = count()
    result = dl.solve(problem, gap=5e-3, time_limit=None, curve=["0.2", "0.9", "0.95"])
    claim = result.certificate.header.curve
    assert [entropy for entropy, _ in claim.below] == ["1/5 max", "9/10 max", "19/20 max"]
    assert len(claim.above) == 1
    assert curves.proved_apart(problem, result.certificate, ["0 max", "0.5 max", "0.74 max", "0.9 max", "1 max"])


def less(number: str) -> str:
    """A claim that is lower, by little beside the gap."""
    return fraction_text(Fraction(number) - Fraction(1, 10**5))


def more(number: str) -> str:
    return fraction_text(Fraction(number) + Fraction(1, 10**5))


FALSE = {
    "a line that is lower": lambda curve: CurveClaim(tuple((less(c), m) for c, m in curve.above), curve.below),
    "a line that is steeper": lambda curve: CurveClaim(tuple((c, more(m)) for c, m in curve.above), curve.below),
    "a flatter line through the bound at 0": lambda curve: CurveClaim(
        tuple((c, less(m)) for c, m in curve.above), curve.below
    ),
    "a step that is higher": lambda curve: CurveClaim(curve.above, ((curve.below[0][0], more(curve.below[0][1])),)),
    "a step that is longer": lambda curve: CurveClaim(curve.above, (("8001/10000 max", curve.below[0][1]),)),
    "a step without its witness": lambda curve: CurveClaim(curve.above, (*curve.below, ("1/10 max", "0.01"))),
}


@pytest.fixture(scope="module")
def narrow():
    """An audit that is nearly closed, with a step."""
    problem = count("0.9 max")
    return problem, dl.solve(problem, gap=1e-4, time_limit=None, curve=["0.8"]).certificate


@pytest.mark.parametrize("falsify", FALSE.values(), ids=FALSE)
def test_the_checker_rejects_what_is_planted(narrow, falsify):
    problem, certificate = narrow
    head, body = certificate.text.split("\n", 1)
    assert Header.decode(head) == certificate.header
    false = replace(certificate.header, curve=falsify(certificate.header.curve))
    assert dl.verify(problem, certificate).proved
    assert dl.verify(problem, dl.Certificate(false.encode() + "\n" + body)).status.value == "rejected"


def test_the_checker_and_the_claims_one_by_one_agree_about_a_lower_line(curves, narrow):
    problem, certificate = narrow
    false = replace(certificate.header, curve=FALSE["a line that is lower"](certificate.header.curve))
    false = dl.Certificate.of(false, certificate.lower_lines(), certificate.upper_lines())
    claims = [curves.line_at(problem, proof, "0.89 max") for proof in (certificate, false)]
    assert [dl.verify(curves.at(problem, "0.89 max"), claim).proved for claim in claims] == [True, False]


def test_a_certificate_of_the_uniform_prior_claims_no_curve():
    assert dl.solve(count("1 max"), curve=True).certificate.header.curve is None


@each("curve", ["1"], [-0.1], 3, ["x"], "0.5")
def test_what_cannot_be_asked_for(curve):
    support.refused(lambda: dl.solve(count(), curve=curve), "curve")


def test_other_questions_have_no_curve():
    with pytest.raises(dl.errors.InputError, match="curve: against entropy_at_least only"):
        dl.solve(replace(count(), adversary=dl.ProductPriors()), curve=True)
    with pytest.raises(dl.errors.InputError, match="curve: only an audit of records varies the entropy bound"):
        dl.solve(dl.load("design/and-full"), curve=True)
