"""Leakage against entropy: which way each point is found."""

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import pytest

import dalenius as dl
import support
from campaigns import each
from dalenius.studies.curves import curve_of, entropy_curve

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


@each(
    "options, words",
    ({"solver": "clarabel"}, "choose the method"),
    ({"solver": "gurobi"}, "solver: expected one of auto, own, clarabel, mosek, scs; got 'gurobi'"),
    ({"method": "exchange"}, "method: of an audit expected alternating, or none"),
)
def test_a_way_that_has_no_meaning_is_refused_before_the_first_point(support, options, words):
    with pytest.raises(dl.errors.InputError, match=words):
        entropy_curve(support.parity4(2.0), SHARES, **options)


def test_the_command(command_line):
    ways = ["--method", "alternating", "--solver", "own"]
    done = command_line("sweep", "parity/laplace-n4", "-o", "out", "--points", "2", "--gap", "1e-2", *ways, "--json")
    assert done.returncode == 0, done.stderr
    first, _ = json.loads(done.stdout)["points"]
    assert {use["solver"] for use in first["solvers"]} == {"own"}
    assert [one["record"] for one in first["alternating"]] == [0]
    refused = command_line("sweep", "parity/laplace-n4", "-o", "out", "--solver", "clarabel")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (2, "", 1)


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
    shares = [dl.EntropyAtLeast(entropy).amount for entropy, _ in middle.result.certificate.header.curve.below]
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
