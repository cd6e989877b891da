"""Chains as a subject of measures: the record that tells most, what is refused, and the command."""

from __future__ import annotations

import pytest

import dalenius as dl


def chain(count, up, down, mechanism=None, query=None, **more) -> dl.MaximalLeakage:
    return dl.MaximalLeakage(
        records=dl.Records(count, alphabet=2),
        query=query or dl.Count(),
        mechanism=mechanism or dl.geometric(0.5),
        adversary=dl.MarkovChain(up, down, **more),
    )


def test_a_box_is_its_lowest_corner_and_a_week_its_middle():
    week = dl.measure(chain(7, (0.2, 0.4), (0.2, 0.4)))
    assert [row.name for row in week] == ["pufferfish_privacy"]
    ends = week["pufferfish_privacy"]
    assert ends.upper - ends.lower < 1e-15
    for same in (
        chain(7, 0.2, 0.2),
        chain(7, (0.2, 0.4), (0.2, 0.4), record=3),
        chain(7, 0.2, 0.2, dl.discrete_laplace(0.5)),
    ):
        assert dl.measure(same)["pufferfish_privacy"].upper == pytest.approx(ends.upper)
    assert dl.measure(chain(7, 0.2, 0.2, record=0))["pufferfish_privacy"].upper < ends.lower
    bits = dl.measure(chain(7, 0.2, 0.2), units="bits")["pufferfish_privacy"]
    assert bits.upper == pytest.approx(ends.upper / 0.6931471805599453)


def test_a_range_that_holds_all_counts_changes_nothing():
    wide, known = (
        dl.measure(chain(4, 0.1, 0.3, dl.geometric(1, range=r)))["pufferfish_privacy"] for r in ((-3, 9), None)
    )
    assert wide.upper == known.upper


def test_with_a_law_it_is_about_independent_records():
    assert "local_dp" in [row.name for row in dl.measure(chain(3, 0.1, 0.3), law=dl.Uniform())]


@pytest.mark.parametrize(
    ("problem", "more", "words"),
    [
        (chain(3, 0.1, 0.3, start="any"), {}, "stationary start"),
        (chain(3, 0.6, 0.5), {}, "sum to at most 1"),
        (chain(3, 0.1, 0.3, dl.symmetric(0.1), dl.Parity()), {}, "count or sum"),
        (chain(3, 0.1, 0.3), {"epsilon": [1]}, "law=Uniform"),
    ],
)
def test_refused(problem, more, words):
    with pytest.raises(dl.InputError, match=words):
        dl.measure(problem, **more)
