"""Models of the kind max_information within a limit: planes of a linear program over columns, made here anew, are proved or not."""

import json
import random
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.core.model import parse_model
from forgery_drafts import text_of
from forgery_funnels import (
    best,
    drawn,
    farthest,
    funnel,
    grid,
    limited,
    of_the_input,
    potential,
    rays,
    several,
    told_and_seen,
    useful,
)
from forgery_subjects import toml


def ends_with(model, size, upper, *lines, arithmetic="flint", unit="nats"):
    """What the checker says of an upper end, beside a mechanism that tells nothing."""
    head = {"format": "dalenius-certificate/2", "problem": "max_information", "model": parse_model(model).digest}
    head |= {"unit": unit, "producer": "tests", "lower": "0", "upper": f"{upper:.15f}", "mechanism": [["1"]] * size}
    found = check(model, "".join(json.dumps(x) + "\n" for x in (head, *lines)).encode(), arithmetic=arithmetic)
    assert "internal" not in found.reason, found.reason
    return found


@pytest.mark.campaign(minutes=20)
@each("seed", *range(draws(16, 600, 6000)))
def test_planes_are_proved_only_if_they_are_above_all_columns(seed):
    """One that is above by a little is; one below some column is not, by either arithmetic; and no mechanism tells more."""
    rng = random.Random(seed)
    tables, told, seen, kind, most = drawn(rng)
    size, model = told.shape[1], toml(tables)
    value, _, price, prices = best(tables, told, seen, most, grid(size, 8))
    price = float(rng.choice([f"{price:.9f}", f"{price:.9f}", "0", f"{price + 0.3:.9f}"]))
    prices = [x + rng.choice([0, 0, 0.05, -0.05]) for x in prices] if rng.random() < 0.5 else prices
    fine = grid(size, 60 if size < 4 else 20)
    off = farthest(rng, lambda v: useful(tables, told, v) - price * limited(kind, seen, v) - v @ prices, fine)
    value = max(value, best(tables, told, seen, most, fine)[0])
    unit = "usefulness" if "measure" in tables else "nats"
    overs = ["inputs", "useful"] if of_the_input(tables) and price > 0 else ["inputs"]
    for slack in rng.sample([0.02, 0.02, 0.02, 1e-3, -1e-7, -1e-3, -0.1], 3):
        over, (one, other) = rng.choice(overs), rng.sample(["flint", "python"], 2)
        line = ["envelope", over, f"{price:.9f}", [f"{x + off + slack:.12f}" for x in prices]]
        upper = max(sum(map(float, line[3])) + price * most + 1e-9, 0)
        found, second = (
            ends_with(model, size, upper, line, arithmetic=arithmetic, unit=unit) for arithmetic in (one, other)
        )
        assert (found.exit_code, found.upper) == (second.exit_code, second.upper), (found.reason, second.reason)
        assert found.proved or slack < 0.02, found.reason
        if found.proved:
            assert slack > 0
            assert upper > value - 1e-8
            assert upper == 0 or not ends_with(model, size, max(upper - 2e-9, 0), line, unit=unit).proved
        if len(overs) == 1:
            assert ends_with(model, size, 999, ["envelope", "useful", *line[2:]], unit=unit).exit_code == 1


@pytest.mark.campaign(minutes=10)
@each("seed", *range(draws(12, 300, 3000)))
def test_potentials_of_a_limit_of_0_are_proved_only_if_they_are_above_all_independent_columns(seed):
    """The extreme rays are listed anew, by supports of any size; each arithmetic; a plane for all columns is one of these, too."""
    rng = random.Random(seed)
    tables, told, _, _, _ = drawn(rng)
    size = told.shape[1]
    tables["constraints"][0]["at_most"] = "0"
    columns, model = np.array(rays(told_and_seen(tables)[1]), dtype=float), toml(tables)
    unit = "usefulness" if "measure" in tables else "nats"
    gains = useful(tables, told, columns)
    done = linprog(-gains, A_eq=columns.T, b_eq=np.ones(size), method="highs")
    for slack in rng.sample([0.02, 1e-3, 1e-6, -1e-6, -1e-3, -0.1], 3):
        line = ["potential", [f"{x + slack:.12f}" for x in -done.eqlin.marginals]]
        upper = max(sum(map(float, line[1])) + 1e-9, 0)
        found, second = (
            ends_with(model, size, upper, line, arithmetic=name, unit=unit) for name in ("flint", "python")
        )
        assert (found.exit_code, found.upper) == (second.exit_code, second.upper), (found.reason, second.reason)
        if tables["constraints"][0]["kind"] == "measure":  # which is 0 of more columns
            assert "the envelope is expected" in found.reason
            continue
        assert found.proved == (slack > 0 or (gains <= columns @ [float(x) for x in line[1]]).all()), found.reason
        if found.proved:
            assert upper > -done.fun - 1e-8


@each("seed", *range(draws(6, 100)))
def test_planes_for_several_limits_are_proved_together_only_if_each_is_above_all_columns(seed):
    """One mechanism, the planes of three limits over the same cells; the statement says what each of them proves."""
    rng = random.Random(seed)
    tables, told, seen, kind, most = drawn(rng)
    size, unit = told.shape[1], "usefulness" if "measure" in tables else "nats"
    over = rng.choice(["inputs", "useful"]) if of_the_input(tables) else "inputs"
    lines, fine = [], grid(size, 30 if size < 4 else 14)
    for limit in (most, most / 2, most / 5):
        _, _, price, prices = best(tables, told, seen, limit, grid(size, 8))
        price = max(round(price, 9), 1e-3)
        off = farthest(
            rng, lambda v, mu=price, p=prices: useful(tables, told, v) - mu * limited(kind, seen, v) - v @ p, fine
        )
        lines.append(["envelope", over, f"{price:.9f}", [f"{x + off + 0.02:.12f}" for x in prices]])
    upper = sum(map(float, lines[0][3])) + float(lines[0][2]) * most + 1e-9
    low = rng.randrange(3)
    false = [list(line) for line in lines]
    false[low][3] = [f"{float(x) - 0.06:.12f}" for x in lines[low][3]]
    upper = max(upper, 0)
    for arithmetic in ("flint", "python"):
        found = ends_with(toml(tables), size, upper, *lines, arithmetic=arithmetic, unit=unit)
        assert found.proved, found.reason
        said = [line.partition("V <= ")[2] for line in found.lines if "with c in the place of its limit" in line]
        for line, words in zip(lines[1:], said, strict=True):
            rest, price = map(Fraction, words.removesuffix(" c").split(" + "))
            assert 0 <= rest - sum(map(Fraction, line[3])) < 1e-9
            assert 0 <= price - Fraction(line[2]) < 1e-9
        assert not ends_with(toml(tables), size, upper, *false, arithmetic=arithmetic, unit=unit).proved


@each("seed", *range(draws(6, 60)))
def test_a_mechanism_and_a_plane_are_proved_together(seed):
    subject = (funnel, several, potential)[seed % 3](random.Random(seed), seed)
    verdict = check(subject.model, text_of(subject.parents[0]))
    assert verdict.proved, verdict.reason
    assert verdict.upper - verdict.lower < 0.3
