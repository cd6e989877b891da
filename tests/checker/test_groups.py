"""Lines `group` and `row` with multipliers of earlier ranges: what they prove is what the formulas say, and never less than I(p).

The formulas are evaluated once more in numpy, and priors are drawn in the boxes.
"""

from __future__ import annotations

import json
from collections import Counter
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from flint import arb, ctx
from scipy.special import xlogy

from campaigns import draws
from dalenius_check.box import Box
from dalenius_check.certificate import Lines
from dalenius_check.numbers import RefusedError
from dalenius_check.tree import Section
from test_leaves import CASES, precision, random_box, random_law, random_slopes, ranges, setting

__all__ = ["precision", "setting"]
MARGIN = 1e-7


@dataclass
class View:
    """A box about groups: the reference with the grouped channel, the members of each group, and what leaves add to scores."""

    ref: object
    box: dict
    groups: list
    costs: np.ndarray


def random_partition(size, rng):
    """Any partition, in any order, often with neighbours together."""
    home = np.sort(rng.integers(0, size, size)) if rng.random() < 0.5 else rng.integers(0, size, size)
    groups = [[int(y) for y in rng.permutation(np.flatnonzero(home == g))] for g in set(home.tolist())]
    return [groups[g] for g in rng.permutation(len(groups))]


def grouped(ref, of):
    """The reference of a channel that tells only the groups."""
    other = copy(ref)
    other.R = np.stack([ref.R[:, group].sum(1) for group in of], axis=1)
    other.Y = len(of)
    return other


def merged(low, high, own_low, own_high, of, groups):
    """Ranges of the groups' probabilities of each letter, from their own and from those of the groups before."""
    lows, highs = own_low.copy(), own_high.copy()
    for g, members in enumerate(groups):
        met = [j for j, old in enumerate(of) if set(old) & set(members)]
        inside = [j for j, old in enumerate(of) if set(old) <= set(members)]
        highs[..., g] = np.minimum(highs[..., g], high[..., met].sum(-1))
        lows[..., g] = np.maximum(lows[..., g], low[..., inside].sum(-1))
    return lows, highs


def point(low, high, rng):
    """Where to cut a range, now and then beside it."""
    return round(float(low + (high - low) * rng.uniform(-0.1, 1.1) + rng.choice([0, 0.01, -0.01])), 6)


def negentropies(ref):
    """The sum of R log R of each row."""
    return xlogy(ref.R, ref.R).sum(1)


def group_line(base, view, rng):
    """A line `group`, and the box below it."""
    groups = random_partition(base.Y, rng)
    shares = random_law(base, base.uniform(), rng) + 1e-6 * (base.R.max(0) > 0)
    for members in groups:
        shares[members[0]] += not any(shares[members])
    weights = [f"{x:.20f}" for x in shares]
    within = np.zeros(base.Y)
    for members in groups:
        within[members] = shares[members] / shares[members].sum()
    ref = grouped(base, groups)
    spread = negentropies(base) - negentropies(ref) - base.R @ np.log(np.where(within > 0, within, 1))
    box = ref.root()
    box["low"], box["high"] = merged(view.box["low"], view.box["high"], box["low"], box["high"], view.groups, groups)
    for g, members in enumerate(groups):
        for j, old in enumerate(view.groups):
            if set(old) == set(members):
                box["lo"][:, g], box["hi"][:, g] = view.box["lo"][:, j], view.box["hi"][:, j]
    return ["group", groups, weights], View(ref, box, groups, spread)


def empty(low, high, axis):
    """Whether a family of ranges has no member; sums of doubles that are 1 but for their rounding are not more."""
    return bool(np.any(low.sum(axis) > 1 + 1e-12) or np.any(high.sum(axis) < 1 - 1e-12) or np.any(low > high + 1e-12))


def gone(view):
    """Whether a box is empty."""
    return empty(view.box["lo"], view.box["hi"], 0) or empty(view.box["low"], view.box["high"], 1)


def row_lines(view, a, scores, theta, mu, rng):
    """A random row tree, and the largest psi of its leaves."""
    base = view.ref

    def grow(families, depth):
        ref, low, high, groups, correction = families[-1]
        kind = rng.random()
        if depth < 4 and kind < 0.35:
            chosen = random_partition(base.Y, rng)
            other = grouped(base, chosen)
            rows = other.R[base.N[a] > 0]
            found = merged(low, high, rows.min(0), rows.max(0), groups, chosen)
            spread = theta * (negentropies(base) - negentropies(other))
            lines, psi = grow([*families, (other, *found, chosen, spread)], depth + 1)
            return [["group", chosen], *lines], psi
        if depth < 4 and kind < 0.55:
            y = int(rng.integers(ref.Y))
            t = point(low[y], high[y], rng)
            below, above = high.copy(), low.copy()
            below[y], above[y] = min(below[y], t), max(above[y], t)
            first, one = grow([*families[:-1], (ref, low, below, groups, correction)], depth + 1)
            second, two = grow([*families[:-1], (ref, above, high, groups, correction)], depth + 1)
            return [["cut", y, f"{t:.6f}"], *first, *second], max(one, two)
        tights = [(f[0], *np.clip(f[0].tighten(f[1], f[2], 0), 0, 1)) for f in families]
        hints = []
        for n, (other, lower, upper) in enumerate(tights):
            last = n == len(tights) - 1
            slope = theta * last * other.secant(lower, upper) + rng.normal(size=other.Y) * rng.choice([0, 0.01, 0.3])
            hints.append(np.round(slope, 8) * (rng.random() < 0.8))
        texts = [[f"{x:.8f}" for x in hint] if hint.any() else None for hint in hints]
        long = len(families) > 1 and rng.random() < 0.8
        if not long:
            hints[:-1] = [0 * hint for hint in hints[:-1]]
        lines = [["row", texts[-1], texts[:-1]] if long else ["row", texts[-1]]]
        if any(empty(f[1], f[2], 0) for f in families):
            return lines, -np.inf
        others = sum(
            float(other.lines(0, lower, upper, hint).sum()) + other.R @ hint
            for (other, lower, upper), hint in zip(tights[:-1], hints[:-1], strict=True)
        )
        full = np.zeros_like(base.logN)
        full[a] = scores[a] + correction + others
        return lines, ref.row(full, low, high, a, theta, mu, hints[-1])

    singles = [[y] for y in range(base.Y)]
    return grow([(base, view.box["low"][a], view.box["high"][a], singles, 0)], 0)


def leaf_lines(view, rng):
    """A joint leaf in a view, and its bound."""
    ref = view.ref
    share = float(rng.choice([0, 0.5, 1, round(float(rng.random()), 6)]))
    mu = float(rng.choice([0, 1e-6, 0.01, 0.3, 1, 10], p=[0.1, 0.1, 0.2, 0.3, 0.2, 0.1]))
    tight = {name: np.clip(ends, 0, 1) for name, ends in ref.tight(view.box).items()}
    law = random_law(ref, ref.uniform(), rng)
    hint, sigma = random_slopes(1 - share, tight["lo"], tight["hi"], ref, rng)
    weights = [f"{x:.20f}" for x in law] if share else None
    lines = [["joint", str(share), f"{mu:.6f}", hint, weights]]
    s = ref.scores(view.box, share, sigma, law / law.sum() if share else None) + view.costs
    if share and mu:
        psi = []
        for a in range(ref.A):
            rows, value = row_lines(view, a, s, share, mu, rng)
            lines, psi = lines + rows, [*psi, value]
        psi = np.array(psi)
    else:
        psi = ref.free(s, share, mu)
    if gone(view) or np.any(np.isneginf(psi)):
        return lines, -np.inf
    return lines, ref.leaf(psi, share, mu)


def tree_lines(base, view, rng, depth=0):
    """A random tree with groups, and the largest bound of its leaves."""
    kind = rng.random()
    if kind < (0.9 if depth == 0 else 0.25) and depth < 4:
        line, below = group_line(base, view, rng)
        lines, bound = tree_lines(base, below, rng, depth + 1)
        return [line, *lines], bound
    if kind < 0.5 and depth < 4:
        name, a, y = str(rng.choice(["split", "cut"])), int(rng.integers(base.A)), int(rng.integers(view.ref.Y))
        low, high = ("lo", "hi") if name == "split" else ("low", "high")
        t = point(view.box[low][a, y], view.box[high][a, y], rng)
        parts = [replace(view, box=box) for box in base.halves(view.box, name, a, y, t)]
        (first, one), (second, two) = (tree_lines(base, part, rng, depth + 1) for part in parts)
        return [[name, a, y, f"{t:.6f}"], *first, *second], max(one, two)
    return leaf_lines(view, rng)


def proves(parsed, record, lines, box, upper):
    """Whether a section proves a number of the priors in a box; every line must be read."""
    data = Lines("".join(json.dumps(line) + "\n" for line in lines).encode(), parsed.allowance)
    section = Section(data, parsed, record, Counter())
    section.levels[0].box = Box(box.__getitem__, parsed.allowance)
    try:
        section.run(arb(upper))
    except RefusedError as refused:
        if "leaf <= upper fails" not in str(refused):
            raise
        return False
    assert not data.more()
    return True


@CASES
def test_trees_with_groups_prove_what_the_formulas_say_and_cover_priors(setting):
    ref, parsed, record, rng = setting
    ctx.prec = 256
    for _ in range(draws(6, 120)):
        p = ref.random(rng)
        box = random_box(ref, p, rng)
        lines, bound = tree_lines(ref, View(ref, box, [[y] for y in range(ref.Y)], np.zeros(ref.K)), rng)
        assert bound >= ref.information(p) - 1e-9
        step = MARGIN * max(1, abs(bound))
        assert proves(parsed, record, lines, ranges(box, ref), bound + step)
        assert not proves(parsed, record, lines, ranges(box, ref), bound - step)
