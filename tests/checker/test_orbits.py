"""Orbits of either kind, and images of letters: what is proved with them is proved without, where every image is written out."""

import json
from collections import Counter
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pytest

from campaigns import draws
from dalenius_check.core.arithmetic import arb
from dalenius_check.core.bounds import Record
from dalenius_check.core.certificate import Lines
from dalenius_check.core.channel import build
from dalenius_check.core.counts import completions
from dalenius_check.core.model import parse_model
from dalenius_check.core.numbers import RefusedError
from dalenius_check.core.proof import Ceiling
from dalenius_check.core.tree import Section
from permutations import generated as permutations_of

MODELS = [
    ("count=2; alphabet=2", 'kind="parity"', 'kind="symmetric"; flip="1/5"'),
    ("count=2; alphabet=3", 'kind="modular_sum"; modulus=3', 'kind="symmetric"; flip="2/5"'),
    (
        "count=2; alphabet=2",
        'kind="count"',
        'kind="matrix"; rows=[["3/5","3/10","1/10"],["1/4","1/2","1/4"],["1/10","3/10","3/5"]]',
    ),
    (
        "count=1; alphabet=3",
        'kind="identity"',
        'kind="matrix"; rows=[["1/2","1/3","1/6"],["1/6","1/2","1/3"],["1/3","1/6","1/2"]]',
    ),
    ("count=2; alphabet=2", 'kind="identity"', 'kind="symmetric"; flip="3/10"'),
    ("count=2; alphabet=2", 'kind="count"', 'kind="geometric"; epsilon=1'),
    ("count=2; alphabet=3", 'kind="modular_sum"; modulus=3', 'kind="randomized_response"; epsilon=1'),
]


def generated(found):
    """The group of these symmetries (alpha, pi, tau), the identity first: they permute letters, classes and outputs side by side."""
    sizes = [len(part) for part in found[0]]
    ends = np.cumsum([0, *sizes])
    side_by_side = [[start + i for start, part in zip(ends, g, strict=False) for i in part] for g in found]
    members = np.array(sorted(permutations_of(side_by_side, ends[-1])))
    parts = [members[:, start : start + size] - start for start, size in zip(ends, sizes, strict=False)]
    return [tuple(tuple(part.tolist()) for part in member) for member in zip(*parts, strict=True)]


@dataclass
class Setting:
    """A record, its symmetries (alpha, pi, tau), and the ends of the ranges of K and phi that nothing was cut from."""

    parsed: object
    record: object
    ref: object
    group: list
    box: tuple


@pytest.fixture(scope="module", params=MODELS, ids=str)
def setting(request, forge):
    records, query, mechanism = request.param
    data = forge.model(records, query, mechanism, '"0.7 max"')
    parsed, ref = parse_model(data), forge.Reference(data)
    channel = build(parsed)
    found = [
        (alpha, pi, tau)
        for alpha in permutations(range(ref.A))
        for pi in permutations(range(ref.K))
        for tau in permutations(range(ref.Y))
        if np.array_equal(ref.N[np.ix_(alpha, pi)], ref.N)
        and np.allclose(ref.R[np.ix_(pi, tau)], ref.R, rtol=0, atol=1e-12)
    ]
    masked = np.where(ref.N[:, :, None] > 0, ref.R[None], np.nan)
    low, high = np.nanmin(masked, axis=1).round(9), np.nanmax(masked, axis=1).round(9)
    record = Record(channel, completions(parsed, 0, channel.values))
    return Setting(parsed, record, ref, generated(found), (low, high, np.zeros_like(low), np.ones_like(low)))


def parted(box, places, t, end, split):
    """A box with some lower ends (0) or upper ends (1), of K or of phi, moved to t."""
    changed = box[end + 2 * split].copy()
    for place in places:
        changed[place] = (max, min)[end](changed[place], t)
    return tuple(changed if j == end + 2 * split else side for j, side in enumerate(box))


def orbit_of(place, generators):
    found = {place}
    while more := {(alpha[a], tau[y]) for a, y in found for alpha, _, tau in generators} - found:
        found |= more
    return found


def grown(setting, box, rng, depth=0):
    """A random tree with orbits, as nested tuples, over priors with K and phi in the box."""
    # the symmetries that leave a box as it is
    kept = [g for g in setting.group if all(np.array_equal(side[np.ix_(g[0], g[2])], side) for side in box)]
    if depth == 4 or rng.random() < 0.15 * depth:
        return leaf(setting, box, kept, rng)
    a, y = int(rng.integers(setting.ref.A)), int(rng.integers(setting.ref.Y))
    split = rng.random() < 0.5
    low, high = box[2 * split : 2 * split + 2]
    t = round(float(low[a, y] + (high[a, y] - low[a, y]) * rng.uniform(-0.1, 1.1)), 6)
    chosen = [kept[n] for n in rng.permutation(len(kept))[: rng.integers(0, 4)]]
    whole, side = orbit_of((a, y), chosen), str(rng.choice(["above", "below"]))
    below, above = (whole, [(a, y)]) if side == "above" else ([(a, y)], whole)
    first = grown(setting, parted(box, below, t, 1, split), rng, depth + 1)
    second = grown(setting, parted(box, above, t, 0, split), rng, depth + 1)
    return ("orbit-split" if split else "orbit", side, a, y, t, chosen, first, second)


def leaf(setting, box, kept, rng):
    """A bound with a law that half of the symmetries of the box leave as it is; in a dual bound letters may be images of others."""
    law = np.round(rng.gamma(2, size=setting.ref.Y) + 0.1, 6)
    used = generated(kept[:1] + [g for g in kept if rng.random() < 0.5])
    law = np.round(np.mean([law[list(g[2])] for g in used], axis=0), 6)
    used = [g for g in kept if np.array_equal(law[list(g[2])], law)]
    theta = str(rng.choice(["1", "0.5", "0.01"]))
    slopes = () if theta == "1" else tuple(tuple(row) for row in np.round(rng.normal(size=box[0].shape), 3).tolist())
    rows = []
    for a in range(setting.ref.A):
        images = [g for g in used if g[0].index(a) < a]
        if images and not slopes and rng.random() < 0.7:
            g = images[rng.integers(len(images))]
            rows.append(("as", g[0].index(a), g))
            continue
        rows.append(("row", tuple(np.round(rng.normal(size=setting.ref.Y), 4).tolist())))
    return ("leaf", (theta, round(float(rng.choice([0.05, 0.2, 1.0])), 3), slopes), tuple(law.tolist()), rows)


def mapped(values, tau):
    """v'(tau(y)) = v(y)."""
    found = [0.0] * len(values)
    for y, z in enumerate(tau):
        found[z] = values[y]
    return tuple(found)


def image(tree, g):
    """The tree of the images of the priors that a tree without orbits is about."""
    alpha, _, tau = g
    if tree[0] in ("cut", "split"):
        kind, a, y, t, first, second = tree
        return (kind, alpha[a], tau[y], t, image(first, g), image(second, g))
    _, (theta, mu, slopes), law, rows = tree
    turned = [("row", row) for row in mapped([mapped(row[1], tau) for row in rows], alpha)]
    slopes = mapped([mapped(row, tau) for row in slopes], alpha[: len(slopes)])
    return ("leaf", (theta, mu, slopes), mapped(law, tau), turned)


def plain(tree, group):
    """The same proof without orbits and images of letters."""
    if tree[0] == "leaf":
        _, weights, law, rows = tree
        found = []
        for row in rows:
            found.append(("row", mapped(found[row[1]][1], row[2][2])) if row[0] == "as" else row)
        return ("leaf", weights, law, found)
    kind, side, a, y, t, chosen, first, second = tree
    first, second = plain(first, group), plain(second, group)
    reached = {(g[0][a], g[2][y]): g for g in reversed(generated([group[0], *chosen]))}
    assert set(reached) == orbit_of((a, y), chosen)
    result = first if side == "above" else second
    for place in sorted(reached, reverse=True):
        other = image(second if side == "above" else first, reached[place])
        result = (
            "split" if kind == "orbit-split" else "cut",
            *place,
            t,
            *((result, other) if side == "above" else (other, result)),
        )
    return result


def written(tree):
    """The lines of a tree."""
    if tree[0] == "leaf":
        _, (theta, mu, slopes), law, rows = tree
        sigma = [[f"{x:.3f}" for x in row] for row in slopes] or None
        lines = [["joint", theta, str(mu), sigma, [f"{x:.9f}" for x in law]]]
        for row in rows:
            lines.append(
                ["row", [f"{x:.6f}" for x in row[1]]] if row[0] == "row" else ["as", row[1], *map(list, row[2][1:])]
            )
        return lines
    if tree[0] in ("cut", "split"):
        kind, a, y, t, first, second = tree
        return [[kind, a, y, f"{t:.6f}"], *written(first), *written(second)]
    kind, side, a, y, t, chosen, first, second = tree
    listed = [list(map(list, g)) for g in chosen]
    return [[kind, side, a, y, f"{t:.6f}", listed], *written(first), *written(second)]


def least(setting, tree):
    """The bound that the checker finds, to nine digits."""
    low, high = 0.0, 8.0
    for _ in range(33):
        middle = (low + high) / 2
        low, high = (low, middle) if proves(setting, written(tree), middle) else (middle, high)
    return high


def proves(setting, lines, upper):
    data = Lines("".join(json.dumps(line) + "\n" for line in lines).encode(), setting.parsed.allowance)
    try:
        Section(data, setting.parsed, setting.record, Counter(), 0).run(
            Ceiling(arb(upper), setting.parsed.entropy_ball())
        )
    except RefusedError as refused:
        if "leaf <= upper fails" not in str(refused):
            raise
        return False
    assert not data.more()
    return True


@pytest.mark.parametrize("seed", range(draws(1, 150)))
def test_what_orbits_prove_is_proved_without_them(setting, seed):
    rng = np.random.default_rng(seed)
    tree = grown(setting, setting.box, rng)
    bound = least(setting, tree)
    assert proves(setting, written(plain(tree, setting.group)), bound + 1e-8)
    assert bound >= max(setting.ref.information(setting.ref.random(rng)) for _ in range(draws(10, 100))) - 1e-9


def test_the_settings_have_symmetries(setting):
    assert len(setting.group) >= 2


def reason(setting, *lines):
    data = Lines("".join(json.dumps(line) + "\n" for line in lines).encode(), setting.parsed.allowance)
    with pytest.raises(RefusedError) as refused:
        Section(data, setting.parsed, setting.record, Counter(), 0).run(Ceiling(arb(9), setting.parsed.entropy_ball()))
    return str(refused.value)


def test_what_is_no_symmetry_is_refused(forge):
    """Of the channel, of the numbers of completions, of the box's ranges of K and phi; of the letters, law, slopes of an image."""
    data = forge.model(
        "count=2; alphabet=3", 'kind="modular_sum"; modulus=3', 'kind="symmetric"; flip="2/5"', '"0.7 max"'
    )
    parsed = parse_model(data)
    channel = build(parsed)
    one = Setting(parsed, Record(channel, completions(parsed, 0, channel.values)), None, [], ())
    same, turn, swap = [0, 1, 2], [1, 2, 0], [1, 0, 2]
    first = ["orbit", "above", 0, 0, "0.4", [[same, turn, turn]]]
    dual = [["joint", "1", "0.2", None, ["1", "1", "1"]], ["row", None], ["row", None], ["row", None]]
    assert "the channel" in reason(one, ["orbit", "above", 0, 0, "0.4", [[same, turn, swap]]])
    assert "the side" in reason(one, ["orbit", "beside", *first[2:]])
    assert "one image twice" in reason(one, ["orbit", "above", 0, 0, "0.4", [[[0, 0, 1], turn, turn]]])
    assert "must be a list of 3" in reason(one, ["orbit", "above", 0, 0, "0.4", [[same, turn]]])
    assert "above all groups" in reason(one, ["group", [[0], [1], [2]], ["1", "1", "1"]], first)
    assert "the ranges of K" in reason(one, ["cut", 0, 0, "0.4"], first)
    assert "the ranges of K" in reason(one, first, *dual, first)
    assert "the ranges of phi" in reason(one, ["split", 0, 0, "0.4"], first)
    assert "the ranges of phi" in reason(
        one, ["split", 0, 0, "0.4"], ["orbit", "above", 0, 0, "0.4", [[turn, same, same]]]
    )
    half = ["orbit-split", *first[1:]]
    assert "the channel" in reason(one, [*half[:5], [[same, turn, swap]]])
    assert "the side" in reason(one, [half[0], "beside", *half[2:]])
    assert "above all groups" in reason(one, ["group", [[0], [1], [2]], ["1", "1", "1"]], half)
    assert "the ranges of K" in reason(one, ["cut", 0, 0, "0.4"], half)
    assert "the ranges of phi" in reason(one, ["split", 0, 0, "0.4"], half)
    assert "the ranges of phi" in reason(one, half, *dual, half)
    assert "before letter" in reason(one, *dual[:1], ["as", 0, same, same])
    assert "the channel" in reason(one, *dual[:2], ["as", 0, turn, swap])
    assert "r as it is" in reason(one, ["joint", "1", "0.2", None, ["1", "2", "1"]], dual[1], ["as", 0, turn, turn])
    assert "theta is 1" in reason(one, ["joint", "0.5", "0.2", None, ["1", "1", "1"]], dual[1], ["as", 0, turn, turn])
    slopes = ["0.1", "0.1", "0.1"]
    assert "theta is 1" in reason(
        one, ["joint", "1", "0.2", [slopes, slopes, slopes], ["1", "1", "1"]], dual[1], ["as", 0, turn, turn]
    )
    assert "the ranges of K" in reason(one, ["cut", 1, 0, "0.4"], *dual[:2], ["as", 0, same, same])
    assert "theta is 1" in reason(one, ["group", [[0], [1], [2]], ["1", "1", "1"]], *dual[:2], ["as", 0, same, same])
    counted = parse_model(
        forge.model("count=2; alphabet=2", 'kind="count"', 'kind="symmetric"; flip="2/5"', '"0.7 max"')
    )
    channel = build(counted)
    two = Setting(counted, Record(channel, completions(counted, 0, channel.values)), None, [], ())
    assert "completions" in reason(two, ["orbit", "above", 0, 0, "0.4", [[[0, 1], turn, turn]]])
    assert "completions" in reason(two, ["joint", "1", "0.2", None, ["1", "1", "1"]], dual[1], ["as", 0, same, same])
