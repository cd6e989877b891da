"""Blocks that are cvxpy models: certified at every turn, in schemes of one's own; what a person sees of a scheme."""

import cvxpy as cp
import numpy as np
import pytest

import dalenius as dl
from dalenius.alternating import ModelBlock, Settings, alternate
from dalenius.alternation import HEAD
from dalenius.outcome import Scope, Termination
from dalenius.report import alternation_picture
from support import refused


class Halves:
    """max 3 - (x - y)^2 - (y - 2)^2 for x in [0, 1], over x and y in turn: 5/2 at x = 1, y = 3/2."""

    monotone = maximises = True
    needed = ("x", "y")

    def __init__(self, given=lambda state: {"other": state[1]}):
        x, y = cp.Variable(name="x"), cp.Variable(name="y")
        other, constant = cp.Parameter(name="other"), cp.Parameter(name="constant", value=0.0)
        first = cp.Problem(cp.Maximize(3 - cp.square(x - other) - constant), [x >= 0, x <= 1])
        other = cp.Parameter(name="other")
        second = cp.Problem(cp.Maximize(3 - cp.square(other - y) - cp.square(y - 2)))
        self.blocks = [
            ModelBlock(
                "x",
                self,
                first,
                given=lambda state: {"constant": (state[1] - 2) ** 2, **given(state)},
                taken=lambda state, found: (float(found["x"]), state[1]),
            ),
            ModelBlock(
                "y",
                self,
                second,
                given=lambda state: {"other": state[0]},
                taken=lambda state, found: (state[0], float(found["y"])),
            ),
        ]

    def start(self, rng):
        return 0.0, 0.0

    def value(self, state):
        x, y = state
        return 3 - (x - y) ** 2 - (y - 2) ** 2

    def key(self, state):
        return np.array(state)


def test_models_of_ones_own_take_turns_and_are_certified():
    result = alternate(Halves(), Settings(gap=1e-6))
    assert (result.scope, result.termination) == (Scope.BLOCKWISE, Termination.GAP_REACHED)
    assert result.value == pytest.approx(2.5, abs=1e-5)
    for turn in result.certificates:
        assert turn.lower <= turn.upper <= turn.lower + 1e-6
        assert turn.solver == "clarabel"
    first = result.trace[0].certificates[1]
    assert first.lower <= 1.0 <= first.upper, "of y = 1, for x = 0"


def test_a_model_without_an_optimum_stays_and_claims_nothing():
    scheme, free = Halves(), cp.Variable(name="x")
    model = cp.Problem(cp.Maximize(free))
    scheme.blocks[0] = ModelBlock("x", scheme, model, given=lambda _: {}, taken=lambda state, _: state)
    result = alternate(scheme, Settings(gap=1e-6))
    assert (result.scope, result.termination) == (Scope.FEASIBLE, Termination.STALLED)
    assert result.gains["x"] == np.inf


def test_a_parameter_without_a_number_is_refused():
    for values in ({}, {"other": np.nan}, {"other": "much"}, {"other": None}, {"other": [1.0, 2.0]}):
        refused(lambda values=values: alternate(Halves(lambda _: values)), "x: expected finite numbers", "other")


def test_a_table_a_frame_and_a_picture_have_every_turn():
    pandas = pytest.importorskip("pandas")
    design = dl.MinLeakage(
        records=dl.Records(3, alphabet=2),
        query=dl.Count(),
        distortion=dl.Squared(),
        max_distortion="0.6",
        adversary=dl.ProductPriors(),
    )
    (one,) = dl.solve(design, method="alternating", gap=1e-2).to("bits").alternating
    head, *rows = one.rows
    assert head == HEAD
    assert [row[10] != "" for row in rows] == [row[1] == "mechanism" for row in rows]
    frame = one.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["units"].unique().tolist() == ["bits"]
    assert (frame["gap"] == frame["upper"] - frame["lower"]).all()
    nats = dl.solve(design, method="alternating", gap=1e-2).alternating[0]
    assert frame["paper"].dropna().to_numpy() * np.log(2) == pytest.approx(nats.frame()["paper"].dropna().to_numpy())
    axes = alternation_picture(one, title="turns")
    lines = [line for line in axes.get_lines() if len(line.get_xdata()) == 2]
    assert len(lines) >= len(rows)
    assert "[bits]" in axes.get_ylabel()
    assert alternation_picture(one, ax=axes) is axes
