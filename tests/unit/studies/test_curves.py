"""Curves over entropy bounds, and frontiers over budgets."""

import csv
import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.report import frontier_table
from dalenius.studies.curves import Band, curve_of, entropy_curve, spread_budgets
from support import refused, refuses

SHARES = [Fraction(1, 2), Fraction(3, 4)]


def test_a_scheme_and_a_solver_of_ones_choice_at_every_point(support):
    problem = support.parity4(2.0)
    plain = list(entropy_curve(problem, SHARES, gap=1e-2))
    found = list(entropy_curve(problem, SHARES, gap=1e-2, method="alternating", solver="clarabel"))
    assert {use.solver for point in found for use in point.result.solvers} == {"clarabel"}
    for point, other in zip(found, plain, strict=True):
        assert point.result.alternating[0].scope is dl.answers.Scope.BLOCKWISE
        assert not other.result.alternating
        assert point.result.lower <= other.result.upper
        assert other.result.lower <= point.result.upper


test_a_way_that_has_no_meaning_is_refused_before_the_first_point = refuses(
    ({"solver": "clarabel"}, "choose the method"),
    ({"solver": "gurobi"}, "solver: expected one of auto, own, clarabel, mosek, scs; got 'gurobi'"),
    ({"method": "exchange"}, "method: of an audit expected alternating, or none"),
    by=lambda options: entropy_curve(support.parity4(2.0), SHARES, **options),
)


def test_the_command(command_line):
    ways = ["--method", "alternating", "--solver", "own"]
    done = command_line("sweep", "parity/laplace-n4", "-o", "out", "--points", "2", "--gap", "1e-2", *ways, "--json")
    assert done.returncode == 0, done.stderr
    first, _ = json.loads(done.stdout)["points"]
    assert {use["solver"] for use in first["solvers"]} == {"own"}
    assert [one["record"] for one in first["alternating"]] == [0]


def count(n=3):
    return support.problem(dl.Records(n, alphabet=2), dl.Count(), dl.geometric(1), dl.AnyPrior())


def test_points_are_chosen_where_the_band_is_widest(curves):
    """The first two are the ends; each of the others is the widest place of the points before it, and makes it narrower."""
    points = list(dl.entropy_curve(count(), points=4, gap=5e-2, time_limit=None))
    assert [point.share for point in points[:2]] == [0, 1]
    assert len({point.share for point in points}) == 4
    for done in range(2, 4):
        band = curve_of(points[:done])
        entropy = f"{points[done].share} max"
        assert band.widest(5e-2) == points[done].share
        before, after = band.at(entropy), curve_of(points[: done + 1]).at(entropy)
        assert after[1] - after[0] < before[1] - before[0]


def test_points_are_not_chosen_where_nothing_is_to_gain(curves):
    """What leaks the same whatever is known takes one point, or two."""
    constant = replace(count(), mechanism=dl.Channel([[0.5, 0.5]] * 4))
    assert len(list(dl.entropy_curve(constant, points=9))) == 2


def test_a_point_begins_with_the_proof_that_says_most_about_it(curves):
    first, second = dl.entropy_curve(count(), ["0.8", "0.805"], gap=3e-2, time_limit=None)
    assert {proof.method for proof in second.result.records} == {"earlier"}
    assert second.result.upper < first.result.upper


def test_witnesses_lie_between_the_neighbours(curves):
    _, middle, _ = dl.entropy_curve(count(), [0, "0.7", "0.8"], gap=0.1, time_limit=None)
    shares = [dl.EntropyAtLeast(entropy, "nats").amount for entropy, _ in middle.result.certificate.header.curve.below]
    assert Fraction(7, 10) not in shares
    assert sum(Fraction(7, 10) < share < Fraction(8, 10) for share in shares) == 24
    assert all(share < Fraction(8, 10) for share in shares)


@each("points", 1, 0, 2.5, "many")
def test_how_many_points_there_cannot_be(points):
    support.refused(lambda: dl.entropy_curve(count(), points=points), "points")


@pytest.mark.thorough
def test_the_command_chooses_points_and_writes_the_band(curves, command_line, tmp_path):
    arguments = ["sweep", "parity/symmetric-n2", "-o", "out", "--gap", "2e-2"]
    command_line(*arguments, "--points", "5")
    answer = json.loads(command_line(*arguments, "--points", "4", "--adaptive", "--json", "--force").stdout)
    assert len(answer["points"]) <= 4
    files = {path.name for path in (tmp_path / "out").iterdir() if not path.name.startswith(".")}
    assert "symmetric-n2-005.cert" not in files
    assert {"curve.csv", "curve-band.csv", "curve.png"} <= files
    shares = [Fraction(row.split(",")[0]) for row in (tmp_path / "out/curve.csv").read_text().splitlines()[1:]]
    assert shares == sorted(shares)
    band = [row.split(",") for row in (tmp_path / "out/curve-band.csv").read_text().splitlines()]
    assert band[0] == ["share_of_max_entropy", "lower_nats", "upper_nats", "lower_certificate", "upper_certificate"]
    assert len(band) >= 102
    uppers = [float(row[2]) for row in band[1:]]
    assert all(right <= left * 1.02 for left, right in itertools.pairwise(uppers))
    assert {name for row in band[1:] for name in row[3:]} <= files | {""}
    last = dl.load(str(tmp_path / "out" / "symmetric-n2-002.toml"))
    assert (
        dl.answers.LeakageCurve.of((last, dl.Certificate.read(tmp_path / "out/symmetric-n2-002.cert"))).upper("1 max")
        < 1e-9
    )


# The frontier of a design: every point is proved, the band holds between points, and the command line keeps what is done.


ROOT = Path(__file__).parents[3]
COMMON = {"records": dl.Records(4, alphabet=2), "query": dl.Parity(), "distortion": dl.Hamming()}
KNOWING = dl.EntropyAtLeast("0.5 max")  # knows all bits but two: the parity leaks log 2 - h(D)


def told(flip):
    """The capacity of a bit that is told wrongly so often."""
    return math.log(2.0) - support.binary_entropy(flip)


def least_leakage(adversary=KNOWING, **changes):
    return dl.MinLeakage(**{**COMMON, "max_distortion": 0, "adversary": adversary, **changes})


def least_distortion(budget="0 nats", **changes):
    return dl.MinDistortion(**{**COMMON, "max_leakage": budget, "adversary": KNOWING, **changes})


@pytest.fixture(scope="module")
def points():
    return list(dl.frontier(least_leakage(), [0, 0.1, "1/5", Fraction(3, 10), 0.45], gap=1e-4))


def test_every_point_is_proved_and_contains_the_closed_form(points):
    assert [point.budget for point in points] == [0, Fraction(1, 10), Fraction(1, 5), Fraction(3, 10), Fraction(9, 20)]
    for point in points:
        result = point.result
        assert result.lower <= told(float(point.budget)) + 1e-12
        assert told(float(point.budget)) <= result.upper + 1e-12
        assert result.gap <= 1e-4
        assert point.problem.budget == point.budget
        assert dl.verify(point.problem, result.certificate).proved
        assert result.distortion <= point.budget


def test_the_optimum_falls(points):
    for before, after in itertools.pairwise(points):
        assert after.result.upper <= before.result.upper
        assert after.result.lower <= before.result.lower


def test_the_band_contains_the_closed_form_between_the_points(points):
    band = Band(points)
    for j in range(10, 46):
        assert band.lower(j / 100) <= told(j / 100) + 1e-12
        assert told(j / 100) <= band.upper(j / 100)
    for point in points:
        assert point.result.lower <= band.lower(point.budget) <= band.upper(point.budget) <= point.result.upper
    assert band.lower(0.25) > points[3].result.lower  # more than monotonicity says
    assert band.upper(0.25) < points[2].result.upper
    assert band.upper(2) == points[-1].result.upper
    assert Band(points[1:]).upper(0.05) == math.inf


def test_the_order_and_what_was_solved_before_do_not_matter_to_the_proof(points):
    again = list(dl.frontier(least_leakage(), [0.3, 0.1], gap=1e-4))
    for point, other in zip(again, (points[3], points[1]), strict=True):
        assert point.result.lower <= other.result.upper
        assert other.result.lower <= point.result.upper
        assert dl.verify(point.problem, point.result.certificate).proved


@pytest.mark.thorough
def test_least_distortion_and_units(points):
    nats = list(dl.frontier(least_distortion(), [0.1, 0.2], gap=1e-4))
    bits = list(dl.frontier(least_distortion("1 bits"), [0.1, 0.2], gap=1e-4))
    assert [point.problem.max_leakage for point in bits] == ["0.1 bits", "0.2 bits"]
    for point, size in [(point, 1.0) for point in nats] + [(point, math.log(2.0)) for point in bits]:
        assert told(point.result.lower) + 1e-9 >= float(point.budget) * size >= told(point.result.upper) - 1e-9
    for band, size in ((Band(nats), 1.0), (Band(bits), math.log(2.0))):
        assert told(band.lower(0.15)) >= 0.15 * size >= told(band.upper(0.15))
        assert band.upper(0.15) - band.lower(0.15) < 0.01


@pytest.mark.thorough
def test_a_certificate_of_another_design_does_no_harm():
    """Its priors are made feasible, or left out where they do not fit."""
    problem = least_leakage(dl.EntropyAtLeast("0.9 max"), max_distortion=0.2)
    others = [
        least_leakage(max_distortion=0.2),
        least_leakage(query=dl.Count(), distortion=dl.Absolute(), max_distortion=0.5),
        least_leakage(dl.ProductPriors(), max_distortion=0.2),
    ]
    alone = dl.solve(problem, gap=5e-2)
    for other in others:
        result = dl.solve(problem, gap=5e-2, known=dl.solve(other, gap=1e-1))
        assert result.gap <= 5e-2
        assert max(alone.lower, result.lower) <= min(alone.upper, result.upper)


def test_budgets_that_nothing_meets_are_points_too():
    found = list(dl.frontier(least_leakage(distortion=dl.DistortionMatrix([[1, 2], [2, 1]])), [0.5, 1.1]))
    assert [point.result.feasible for point in found] == [False, True]
    assert next(row["lower"] for row in list(csv.DictReader(frontier_table(found).splitlines()))) == "inf"
    assert Band(found).upper(0.5) == math.inf


def test_other_adversaries():
    for adversary in (dl.ProductPriors(), dl.FixedPrior(["1/40", "2/40", "3/40", "4/40"] * 4)):
        found = list(dl.frontier(least_leakage(adversary), [0.1, 0.2], gap=1e-3))
        assert all(dl.verify(point.problem, point.result.certificate).proved for point in found)
        assert found[1].result.lower <= found[0].result.upper


def test_spread_budgets_reach_from_end_to_end():
    assert spread_budgets(least_leakage(), 3) == [0, Fraction(1, 4), Fraction(1, 2)]
    assert spread_budgets(least_distortion(), 2)[0] == 0
    assert float(spread_budgets(least_distortion(), 2)[1]) == pytest.approx(math.log(2.0), abs=1e-6)
    assert float(spread_budgets(least_distortion("1 bits"), 2)[1]) == pytest.approx(1.0, abs=1e-6)
    assert spread_budgets(least_leakage(distortion=dl.DistortionMatrix([[1, 1], [1, 1]])), 5) == [1]


def test_the_table(points):
    rows = list(csv.DictReader(frontier_table(points, units="bits").splitlines()))
    units = {(row["budget_unit"], row["unit"], row["leakage_unit"]) for row in rows}
    assert units == {("distortion", "bits", "bits")}
    for row in rows:
        assert float(row["lower"]) <= float(row["band_lower"]) <= float(row["band_upper"]) <= float(row["upper"])
        assert float(row["distortion"]) <= float(row["budget"])


def test_bad_input_is_refused():
    audit = least_leakage().release([[0.9, 0.1], [0.1, 0.9]])
    refused(lambda: dl.frontier(audit, [0.1]), "expected a MinLeakage or MinDistortion")
    refused(lambda: dl.frontier(least_leakage(), [0.1, "much"]), "budgets[1]")
    refused(lambda: spread_budgets(least_leakage(), 1), "points")
    with pytest.raises(dl.errors.InputError, match=r"solver: expected one of auto, .*; got 'gurobi'"):
        dl.frontier(least_leakage(), [0.1], solver="gurobi")
    with pytest.raises(dl.errors.InputError, match="method: expected one of exchange, alternating"):
        dl.frontier(least_leakage(), [0.1], method="descent")


@each("solver", "own", "clarabel", every=2)
def test_a_solver_of_ones_choice_at_every_point(solver):
    found = list(dl.frontier(least_leakage(), [0.1, 0.2], method="alternating", solver=solver, gap=1e-2))
    assert {use.solver for point in found for use in point.result.solvers} == {solver}
    assert all(point.result.alternating for point in found)
    for point in found:
        assert point.result.lower <= told(float(point.budget)) <= point.result.upper


# ---------------------------------------------------------------- the command line


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(dl.dumps(least_leakage(dl.EntropyAtLeast("0.8 max"), max_distortion=0.1)))
    return path


def test_it_writes_a_table_a_picture_and_proofs(model, tmp_path, command_line):
    done = command_line("frontier", model, "--budgets", "0.1,1/4", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/frontier.csv").read_text().count("\n") == 3
    assert (tmp_path / "out/frontier.png").stat().st_size > 1000
    for j in (1, 2):
        stem = tmp_path / f"out/model-{j:03d}"
        for name in (f"{stem}", f"{stem}.mechanism"):
            assert command_line(f"{name}.toml", f"{name}.cert", program="dalenius_check").returncode == 0
        assert dl.mechanisms.Mechanism.load(Path(f"{stem}.mechanism.json")).sample(1) in (0, 1)


def test_points_instead_of_budgets(model, tmp_path, command_line):
    done = command_line("frontier", model, "--points", "2", "-o", "out", "--solver", "own", "--json")
    assert done.returncode == 0
    assert {use["solver"] for point in json.loads(done.stdout)["points"] for use in point["solvers"]} == {"own"}
    rows = list(csv.DictReader((tmp_path / "out/frontier.csv").read_text().splitlines()))
    assert [row["budget"] for row in rows] == ["0", "0.5"]


@pytest.mark.thorough  # daily that of a design's own process, in designs/exchange/loop/test_limits.py
def test_ctrl_c_keeps_what_is_done(interrupted, model, tmp_path, command_line):
    count = {"records": dl.Records(6, alphabet=2), "query": dl.Count(), "distortion": dl.Absolute()}
    model.write_text(dl.dumps(dl.MinLeakage(**count, max_distortion=0.1, adversary=dl.EntropyAtLeast("0.8 max"))))
    arguments = ["frontier", model, "--budgets", "1.5,0.5,0.4", "--gap", "1e-7", "--time-limit", "100", "-o", "out"]
    stopped = interrupted(0.5, *arguments, cwd=tmp_path, once=tmp_path / "out/model-001.mechanism.cert")
    assert stopped.returncode == 130, stopped.stderr
    assert stopped.stderr.endswith("1 of 3 points are done and kept; the same command goes on\ndalenius: interrupted\n")
    assert "frontier.csv" in stopped.stdout
    assert command_line("out/model-001.toml", "out/model-001.cert", program="dalenius_check").returncode == 0
