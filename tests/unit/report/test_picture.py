"""Pictures: from results, on anybody's axes, in every format; nothing that is drawn lies inside of what is not proved."""

import dataclasses
import math
import sys
from fractions import Fraction

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import thinned
from dalenius.exact import fraction_text
from dalenius.intervals import interval_text
from dalenius.report import (
    comparison_picture,
    curve_picture,
    frontier_picture,
    mechanism_picture,
    noise_picture,
    noise_table,
    prior_picture,
    save_picture,
    trace_picture,
)
from dalenius.report.picture import COLOURS, TELL, axes_of, draw_band

pytest.importorskip("matplotlib", reason="needs matplotlib: pip install matplotlib")


@pytest.fixture(scope="module")
def audit() -> dl.WorstCaseLeakage:
    return support.problem(dl.Records(3, alphabet=2), dl.Count(), dl.geometric(1), "0.5 max")


@pytest.fixture(scope="module")
def curve(audit):
    return list(dl.entropy_curve(audit, [0, Fraction(1, 2), 1], gap=1e-2))


@pytest.fixture(scope="module")
def points():
    design = support.design(dl.MinLeakage, dl.Records(4, alphabet=2), dl.Parity(), dl.Hamming(), 0, "0.5 max")
    return list(dl.frontier(design, [0.1, 0.3, 0.5], gap=1e-2))


def told(ax) -> list[str]:
    return [artist.get_gid() for artist in ax.findobj() if (artist.get_gid() or "").startswith(TELL)]


def reach(ax, x: float) -> tuple[float, float]:
    """Least and greatest height of the band at a place, by the lines that are its edges."""
    below, above = ax.get_lines()[:2]
    return np.interp(x, *below.get_data()), np.interp(x, *above.get_data())


def test_the_edges_of_a_band_are_outside_of_a_falling_curve():
    """Between two places nothing is known of a curve but that it falls."""
    ax, places = axes_of(None), [0.0, 0.3, 0.5, 1.0]
    for seed in range(20):
        heights = np.sort(np.random.default_rng(seed).random(4))[::-1]
        ax = axes_of(None)
        known = list(zip(places, heights, strict=True))
        draw_band(ax, known, known, COLOURS[0])
        for x in np.linspace(0.0, 1.0, 101):
            least = max(y for at, y in known if at >= x - 1e-12)
            most = min(y for at, y in known if at <= x + 1e-12)
            low, high = reach(ax, x)
            assert low <= least + 1e-12
            assert high >= most - 1e-12


def test_the_band_is_nowhere_inside_of_what_is_proved(curve):
    ax = curve_picture({"count": curve}, units="bits")
    proofs = dl.answers.LeakageCurve.of(*((point.problem, point.result) for point in curve)).to("bits")
    for j in range(0, 1000, 7):
        (low, high), (least, most) = reach(ax, j / 1000), proofs.at(f"{Fraction(j, 1000)} max")
        assert low <= least + 1e-12
        assert high >= most - 1e-12


def test_every_point_says_its_interval(curve):
    ax = curve_picture({"count": curve}, units="bits")
    proofs = dl.answers.LeakageCurve.of(*((point.problem, point.result) for point in curve)).to("bits")
    assert told(ax) == [
        f"{TELL}count, {share} of the largest entropy: {interval_text(*proofs.at(f'{share} max'))} bits"
        for share in ("0", "0.5", "1")
    ]


def test_axes_have_units_and_entropy_stands_in_bits_beside_shares(curve, points, audit):
    ax = curve_picture({"count": curve}, units="bits")
    assert ax.get_ylabel().endswith("[bits]")
    (top,) = ax.child_axes
    assert top.get_xlabel() == "the same in bits"
    assert top._functions[0](1.0) == pytest.approx(3.0)
    assert frontier_picture({"parity": points}).get_ylabel().endswith("[nats]")
    assert "units of its costs" in frontier_picture({"parity": points}).get_xlabel()
    assert "[bits]" in trace_picture(curve[1].result.to("bits")).get_ylabel()


def test_an_axis_of_the_largest_information_says_so():
    for measure, label in ((None, "largest information [nats]"), ("chi_square", "largest usefulness")):
        funnel = dl.PrivacyFunnel([["1/4", "1/4", 0], [0, "1/8", "3/8"]], "0.05 bits", measure=measure)
        compared = dl.compare(funnel, seeds=1, budget=0.1, gap=0.05)
        for axes in (trace_picture(compared.result), comparison_picture(compared)):
            assert axes.get_ylabel() == label


@pytest.mark.parametrize(
    ("ending", "head"), thinned([("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")], every=3)
)
def test_every_format_twice_alike(audit, tmp_path, ending, head):
    first, second = (save_picture(mechanism_picture(audit), tmp_path / f"{j}.{ending}") for j in range(2))
    assert first.read_bytes().startswith(head)
    assert first.read_bytes() == second.read_bytes()


def test_on_axes_of_ones_own_without_any_global_state(audit, curve, points):
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    before, windows = dict(rcParams), "matplotlib.pyplot" in sys.modules
    axes = Figure().subplots(2, 3).ravel()
    comparison = dl.compare(audit, methods=["paper-aggregated"], seeds=1, gap=0.1)
    drawn = [
        curve_picture({"count": curve}, ax=axes[0], partial="3 of 9 points"),
        frontier_picture({"parity": points}, ax=axes[1], partial="3 of 9 points"),
        mechanism_picture(audit, ax=axes[2], partial="the first"),
        prior_picture(curve[1].problem, curve[1].result, ax=axes[3]),
        trace_picture(curve[1].result, ax=axes[4], partial="interrupted"),
        comparison_picture(comparison, ax=axes[5], units="bits", partial="1 of 9 methods"),
    ]
    assert [ax is given for ax, given in zip(drawn, axes, strict=True)] == [True] * 6
    for ax in (*axes[:3], *axes[4:]):
        assert any(text.get_text().startswith("partial: ") for text in ax.texts)
    assert dict(rcParams) == before
    assert ("matplotlib.pyplot" in sys.modules) == windows


def test_the_least_noise_stands_between_what_was_tried_and_what_theorems_ask_for(audit):
    question = dataclasses.replace(audit, adversary=dl.IndependentBlocks(1))
    found = dl.least_noise(question, "0.1 bits", gap=1e-7)  # with more digits than a rounded scale has
    axes = noise_picture(found, title="A count")
    assert axes.get_ylabel().endswith("[bits]")
    assert len(told(axes)) == len(found.levels)
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words[0] == "budget, 1/10 bits" or words[0] == "budget, 0.1 bits"
    assert words[1] == f"enough, proved: {fraction_text(found.within.scale)}"
    assert [formula.name for formula in found.formulas] == [word.split(":")[0] for word in words[2:]]
    rows = [row.split(",") for row in noise_table(found, certificates={"within": "a.cert"}).splitlines()]
    assert [row[5] for row in rows[1:] if row[1] == "proved"] == sorted(
        row[5] for row in rows[1 : len(found.levels) + 1]
    )
    assert [row[-1] for row in rows[1:]].count("a.cert") == 1


def test_classical_mechanisms_stand_beside_the_frontier_with_their_whole_intervals(points):
    problem = points[0].problem
    audit = support.problem(problem.records, problem.query, dl.symmetric("1/5", k=2), problem.adversary)
    result = dl.solve(audit)
    ax = frontier_picture({"designed": points}, others={"flips": [("1/5", result)]}, units="bits")
    shown = result.to("bits")
    segment = next(line for line in ax.get_lines() if list(line.get_xdata()) == [0.2, 0.2])
    assert list(segment.get_ydata()) == [shown.lower, shown.upper]
    assert f"{TELL}flips, distortion 0.2: {interval_text(shown.lower, shown.upper)} bits" in told(ax)


def test_a_heat_map_of_what_is_released_and_of_what_was_designed(audit, points):
    assert np.allclose(mechanism_picture(audit).get_images()[0].get_array(), audit.channel)
    designed = mechanism_picture(points[0].result)
    assert np.allclose(
        designed.get_images()[0].get_array(), [[float(p) for p in row] for row in points[0].result.mechanism.rows]
    )
    assert mechanism_picture(points[0].result.mechanism).get_xlabel() == "output"
    support.refused(lambda: mechanism_picture(points[0].problem), "hand in the result of solving it")


def test_the_worst_case_prior_in_words_and_bars(curve):
    ax = prior_picture(curve[1].problem, curve[1].result.certificate)
    assert ax.get_title().startswith("The adversary believes that the answer of record 0 is 0 (")
    assert sum(bar.get_height() for bars in ax.containers for bar in bars) == pytest.approx(1.0)
    support.refused(lambda: prior_picture(curve[0].problem, curve[1].result), "another model's")


def test_what_cannot_be_drawn_is_one_clear_error(curve, points, monkeypatch):
    support.refused(lambda: frontier_picture({"none": []}), "at least one point")
    ends = {"lower": math.inf, "upper": math.inf, "termination": dl.answers.Termination.INFEASIBLE}
    nothing = dataclasses.replace(points[0].result, mechanism=None, **ends)
    support.refused(lambda: mechanism_picture(nothing), "no mechanism meets the budget")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    support.refused(lambda: curve_picture({"count": curve}), "pip install 'dalenius[plot]'")
