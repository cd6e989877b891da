"""How few double steps the search from below takes, with Newton's steps, and that it finds the same without them."""

import numpy as np
import pytest

import dalenius as dl
from dalenius.audits import ascent
from dalenius.information.tilt import entropy_of
from dalenius.reduction import record_channels
from dalenius.search.clock import Clock

HEAD_ROOM = 1.2


@pytest.mark.parametrize(("model", "steps"), [("modular-sum/bits-mod3-n6", 55), ("sum/squares-n3", 54)])
def test_newtons_steps_end_the_search_early(monkeypatch, model, steps):
    channel, taken = record_channels(dl.load(model))[0], list[int]()
    solved = ascent.largest_score

    def counting(c, *rest, **named):
        taken.append(len(c))
        return solved(c, *rest, **named)

    monkeypatch.setattr(ascent, "largest_score", counting)
    found = ascent.search(channel, rng=np.random.default_rng(0), clock=Clock())
    assert entropy_of(found.p, channel.log_uniform) >= -channel.max_knowledge
    assert len(taken) <= HEAD_ROOM * steps
    taken.clear()
    monkeypatch.setattr(ascent, "NEWTON", 0)
    alone = ascent.search(channel, rng=np.random.default_rng(0), clock=Clock())
    assert found.leakage == pytest.approx(alone.leakage, rel=1e-11)
    assert len(taken) > HEAD_ROOM * steps  # so that the figure above says something


@pytest.mark.parametrize("wrong", [np.nan, 0.0, 1e300])
def test_a_solver_that_lies_costs_steps_only(monkeypatch, wrong):
    channel = record_channels(dl.load("sum/squares-n3"))[0]
    found = ascent.search(channel, rng=np.random.default_rng(0), clock=Clock())
    monkeypatch.setattr(np.linalg, "solve", lambda system, right: np.full_like(right, wrong))
    misled = ascent.search(channel, rng=np.random.default_rng(0), clock=Clock())
    assert entropy_of(misled.p, channel.log_uniform) >= -channel.max_knowledge
    assert misled.leakage == pytest.approx(found.leakage, rel=1e-11)
