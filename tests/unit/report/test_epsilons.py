"""The table for whoever chooses an epsilon, and means beside counts and histograms."""

import csv
import io
import math
from fractions import Fraction

import pytest

import dalenius as dl
from campaigns import each
from dalenius.report import epsilon_picture, epsilon_table
from support import refuses


@each(
    "query, records, letters",
    ("count", 1000, 2),
    ("histogram", dl.Records(1000, alphabet=5), 5),
    (dl.problems.Mean(1000, 0, 100, 20), None, 6),
    (dl.problems.Mean(1000, -1, "3/2", "1/50"), None, 126),
    every=2,
)
def test_rows_are_what_solve_proves_and_never_above_group_privacy(query, records, letters):
    found = epsilon_table(query, records, epsilons=["1/2", 1], sizes=[1, 3])
    assert [(row.epsilon, row.size) for row in found.rows] == [
        (Fraction(e), s) for e in (Fraction(1, 2), 1) for s in (1, 3)
    ]
    for row in found.rows:
        low, high = row.bits
        assert dl.verify(row.problem, row.result.certificate).proved
        assert (
            0 < low <= row.result.to("bits").lower <= row.result.to("bits").upper <= high <= math.log2(letters) + 1e-12
        )
        assert low <= row.implied + 1e-12
        told = row.told()
        assert float(told["percent"]) >= 100 * low / math.log2(letters)
        assert float(told["guess_after"]) >= float(told["guess_before"])


def test_the_texts_and_the_picture():
    found = epsilon_table("count", 100, epsilons=["0.5"], sizes=[1, 4])
    rows = list(csv.DictReader(io.StringIO(found.csv())))
    assert [row["household"] for row in rows] == ["1", "4"]
    for row, told in zip(found.rows, rows, strict=True):
        assert (
            Fraction(told["bits_lower"])
            <= Fraction(row.bits[0])
            <= Fraction(row.bits[1])
            <= Fraction(told["bits_upper"])
        )
        assert Fraction(told["group_bits"]) >= Fraction(row.implied)
        assert Fraction(told["group_epsilon"]) == row.size * row.epsilon
    assert len(str(found).splitlines()) == 4
    pytest.importorskip("matplotlib")
    assert len(epsilon_picture(found).lines) == 4


def test_group_privacy_is_handed_out_where_it_implies_less():
    """Of two values and small noise: the bound over all histograms of a household is everything there is to know."""
    found = epsilon_table("histogram", dl.Records(1000, alphabet=2), epsilons=[1, 4], sizes=[1, 2])
    assert [row.by_group for row in found.rows] == [False, False, False, True]
    last = found.rows[-1]
    assert last.result.to("bits").upper >= 1.0 > last.bits[1] == last.implied > last.bits[0]
    assert last.told()["bits_upper"] == last.told()["group_bits"]
    assert [row.told()["upper_by"] for row in found.rows[2:]] == ["certificate", "group privacy"]
    assert str(found).count("(g)") == 2
    assert "(g)" not in str(epsilon_table("count", 1000, epsilons=[1], sizes=[1, 2]))


def test_a_mean_is_its_sum():
    ages = dl.problems.Mean(4, 10, 20, "1/2")
    letters = ages.letters([10, "12.2", 15.25, 20])
    assert letters == (0, 4, 10, 20)  # to the nearest, of two to the even one
    assert ages.value(sum(letters)) == Fraction(57, 4)
    assert ages.records.letters[1] == "10.5"
    noise = ages.noise(dl.discrete_laplace(scale="0.3"))
    assert noise.spread == Fraction(3, 10) * 4 * 2
    for of_one in (dl.discrete_laplace("0.5"), dl.geometric("0.5"), "discrete_laplace 0.5"):
        assert ages.noise(of_one).spread == 20 / Fraction(1, 2)


test_bad_input = refuses(
    (lambda: dl.problems.Mean(0, 0, 1), "people: expected an integer of at least 1"),
    (lambda: dl.problems.Mean(5, 1, 1), "expected low < high"),
    (lambda: dl.problems.Mean(5, 2, 1), "expected low < high"),
    (lambda: dl.problems.Mean(5, 0, 1, "0.3"), "number of steps"),
    (lambda: dl.problems.Mean(5, 0, 1, 0), "mean: step"),
    (
        lambda: dl.problems.Mean(5, 0, 10**6),
        "fewer than 10000; got 0 and 1000000 in steps of 1; give a larger step, such as 1000",
    ),
    (lambda: dl.problems.Mean(5, 0, 1).letters([0, 2, -1]), "2 of 3 values are beyond the bounds"),
    (lambda: dl.problems.Mean(5, 0, "x"), "mean: high"),
    (lambda: dl.problems.Mean(5, 0, 1).noise(0.5), "mean: noise: expected noise with a scale or an epsilon"),
    (lambda: dl.problems.Mean(5, 0, 1).noise("symmetric flip = 0.1"), "mean: noise: expected noise with a scale"),
    (lambda: epsilon_table("count", 10, epsilons=[0]), "epsilons must be above 0"),
    (lambda: epsilon_table("count", 10, epsilons=["1e4"]), "at most 1000"),
    (lambda: epsilon_table("count", 10, sizes=[11]), "sizes: expected an integer of at most 10"),
    (lambda: epsilon_table("parity", 10), "expected a count, a sum, a mean or a histogram"),
    (lambda: epsilon_table("count", 0), "records: count"),
)


def test_a_table_of_people_says_who_they_are_and_how_large_their_households(command_line, tmp_path):
    """Of three households; the sizes asked about end with the largest."""
    (tmp_path / "town.csv").write_text("home,works\na,yes\na,no\na,yes\nb,yes\nb,no\nc,no\n")
    people = ("--table", "town.csv", "--household", "home", "--answer", "works")
    done = command_line("table", *people, "--letters", "no,yes", "--epsilon", "1")
    assert [line.split("|")[2].strip() for line in done.stdout.splitlines()[2:]] == ["1", "2", "3"]
    assert done.stdout == command_line("table", "--people", "6", "--blocks", "1,2,3", "--epsilon", "1").stdout
    for letters, more, said in (
        ("no,yes", ("--people", "9"), "--people: --table says so already"),
        ("no,yes,unknown", (), "query: expected what is released of these answers"),
    ):
        refused = command_line("table", *people, "--letters", letters, *more)
        assert (refused.returncode, said in refused.stderr) == (2, True)


@each(
    "options, message",
    ((), "--people"),
    (("--people", "10", "--query", "mean"), "--values"),
    (("--people", "10", "--values", "0,1"), "--query mean"),
    (("--people", "10", "--query", "mean", "--values", "3"), "LOW,HIGH"),
    (("--people", "10", "--query", "mean", "--values", "3,2"), "low < high"),
    (("--people", "10", "--blocks", "1,x"), "--blocks"),
    (("--people", "10", "--epsilon", "0"), "above 0"),
)
def test_bad_options(command_line, options, message):
    done = command_line("table", *options)
    assert done.returncode == 2
    assert message in done.stderr
