"""Lines `group` and `row` with multipliers of earlier ranges: what they prove is what the formulas say, and never less than I(p).

The formulas are evaluated once more in numpy, and priors are drawn in the boxes.
"""

import json
from collections import Counter
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from flint import arb, ctx
from scipy.special import xlogy

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.core.bounds import Record
from dalenius_check.core.boxes import Box
from dalenius_check.core.certificate import Lines
from dalenius_check.core.channel import build
from dalenius_check.core.counts import completions
from dalenius_check.core.model import parse_model
from dalenius_check.core.numbers import RefusedError
from dalenius_check.core.proof import Ceiling
from dalenius_check.core.tree import Section
from test_leaves import CASES, MODELS, precision, random_box, random_law, random_slopes, ranges, setting

__all__ = ["precision", "setting"]
MARGIN = 1e-7


@dataclass
class View:
    """A box about groups: the reference with the grouped channel, the members of each group, and what leaves add to scores."""

    ref: object
    box: dict
    groups: list
    costs: np.ndarray
    symmetries: tuple = ()
    neighbours: bool = False


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
    neighbours = rng.random() < 0.5
    return ["group", groups, weights, *["neighbours"] * neighbours], View(
        ref, box, groups, spread, neighbours=neighbours
    )


def odds(f, x):
    """f o x: the number with f times the odds of x."""
    return f * x / (1 - x + f * x)


def narrowed(view):
    """The box of a leaf about posteriors alone, in which those at neighbouring groups narrow each other."""
    ref, box = view.ref, {**view.box, **view.ref.tight(view.box)}
    if not view.neighbours or gone(view):
        return view.box
    lo, hi = np.clip(box["lo"], 0, 1), np.clip(box["hi"], 0, 1)
    moves = []
    for g in range(ref.Y - 1):
        rows = [ref.R[ref.N[a] > 0] for a in range(ref.A)]
        if any(np.any(some[:, g] <= 0) for some in rows):
            continue
        ratios = [some[:, g + 1] / some[:, g] for some in rows]
        for a in range(ref.A):
            others = np.concatenate(ratios[:a] + ratios[a + 1 :])
            up = ratios[a].max() / others.min() if others.min() > 0 else 0
            moves.append((g, g + 1, a, up, ratios[a].min() / others.max() if others.max() > 0 else 0))
    back = [(there, here, a, 1 / down if down else 0, 1 / up if up else 0) for here, there, a, up, down in moves[::-1]]
    for here, there, a, up, down in moves + back:
        if up:
            hi[a, there] = min(hi[a, there], odds(up, hi[a, here]))
        if down:
            lo[a, there] = max(lo[a, there], odds(down, lo[a, here]))
    return {**view.box, "lo": lo, "hi": hi}


def empty(low, high, axis):
    """Whether a family of ranges has no member; sums of doubles that are 1 but for their rounding are not more."""
    return bool(np.any(low.sum(axis) > 1 + 1e-12) or np.any(high.sum(axis) < 1 - 1e-12) or np.any(low > high + 1e-12))


def gone(view):
    """Whether a box is empty."""
    return empty(view.box["lo"], view.box["hi"], 0) or empty(view.box["low"], view.box["high"], 1)


def in_order(low, high, orders):
    """Ranges of K for those K that are in these orders."""
    low, high = low.copy(), high.copy()
    for _ in low:
        for one, two in orders:
            low[one], high[two] = max(low[one], low[two]), min(high[two], high[one])
    return low, high


def keepers(symmetries, low, high, orders):
    """The symmetries that leave ranges and orders as they are."""
    same = [(pi, tau) for pi, tau in symmetries if np.all(low[tau] == low) and np.all(high[tau] == high)]
    return [(pi, tau) for pi, tau in same if {(tau[one], tau[two]) for one, two in orders} <= orders]


class Rows:
    """Random row trees of a letter, and the largest psi of their leaves."""

    def __init__(self, view, a, scores, theta, mu, rng):
        self.view, self.a, self.scores, self.theta, self.mu, self.rng = view, a, scores, theta, mu, rng
        self.base = view.ref

    def run(self):
        singles = [[y] for y in range(self.base.Y)]
        return self.grow(
            [(self.base, self.view.box["low"][self.a], self.view.box["high"][self.a], singles, 0)], set(), 0
        )

    def grow(self, families, orders, depth):
        kind, rng = self.rng.random() if depth < 5 else 1, self.rng
        found = keepers(self.view.symmetries, *families[0][1:3], orders) if len(families) == 1 else []
        if found and kind < 0.6:
            y, chosen = int(rng.integers(self.base.Y)), rng.permutation(len(found))[: rng.integers(1, 6)]
            listed = [found[n] for n in chosen]
            new = {(y, int(tau[y])) for _, tau in listed if tau[y] != y}
            lines, psi = self.grow(families, orders | new, depth + 1)
            return [["chamber", y, [[pi.tolist(), tau.tolist()] for pi, tau in listed]], *lines], psi
        if kind < 0.3:
            return self.group(families, orders, depth)
        if kind < (0.9 if orders else 0.55):
            return self.cut(families, orders, depth)
        return self.leaf(families, orders)

    def group(self, families, orders, depth):
        chosen = random_partition(self.base.Y, self.rng)
        other = grouped(self.base, chosen)
        _, low, high, groups, _ = families[-1]
        if len(families) == 1:
            low, high = in_order(low, high, orders)
        rows = other.R[self.base.N[self.a] > 0]
        found = merged(low, high, rows.min(0), rows.max(0), groups, chosen)
        spread = self.theta * (negentropies(self.base) - negentropies(other))
        lines, psi = self.grow([*families, (other, *found, chosen, spread)], orders, depth + 1)
        return [["group", chosen], *lines], psi

    def cut(self, families, orders, depth):
        ref, low, high, *rest = families[-1]
        y = int(self.rng.integers(ref.Y))
        t = point(low[y], high[y], self.rng)
        below, above = high.copy(), low.copy()
        below[y], above[y] = min(below[y], t), max(above[y], t)
        first, one = self.grow([*families[:-1], (ref, low, below, *rest)], orders, depth + 1)
        second, two = self.grow([*families[:-1], (ref, above, high, *rest)], orders, depth + 1)
        return [["cut", y, f"{t:.6f}"], *first, *second], max(one, two)

    def leaf(self, families, orders):
        rng = self.rng
        ends = [in_order(*families[0][1:3], orders), *(family[1:3] for family in families[1:])]
        tights = [(family[0], *family[0].tighten(*pair, 0)) for family, pair in zip(families, ends, strict=True)]
        hints = []
        for n, (other, low, high) in enumerate(tights):
            share = self.theta if n == len(tights) - 1 else 0
            slope = share * other.secant(np.clip(low, 0, 1), np.clip(high, 0, 1))
            slope = slope + rng.normal(size=other.Y) * rng.choice([0, 0.01, 0.3])
            hints.append(np.round(slope, 8) * (rng.random() < 0.8))
        texts = [[f"{x:.8f}" for x in hint] if hint.any() else None for hint in hints]
        long = len(families) > 1 and rng.random() < 0.8
        if not long:
            hints[:-1] = [0 * hint for hint in hints[:-1]]
        lines = [["row", texts[-1], texts[:-1]] if long else ["row", texts[-1]]]
        if any(empty(*pair, 0) for pair in ends):
            return lines, -np.inf
        others = sum(
            float(other.lines(0, low, high, hint).sum()) + other.R @ hint
            for (other, low, high), hint in zip(tights[:-1], hints[:-1], strict=True)
        )
        full = np.zeros_like(self.base.logN)
        full[self.a] = self.scores[self.a] + families[-1][-1] + others
        return lines, families[-1][0].row(full, *ends[-1], self.a, self.theta, self.mu, hints[-1])


def leaf_lines(view, rng):
    """A joint leaf in a view, and its bound."""
    ref = view.ref
    share = float(rng.choice([0, 0.5, 1, round(float(rng.random()), 6)]))
    view = view if share else replace(view, box=narrowed(view))
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
            rows, value = Rows(view, a, s, share, mu, rng).run()
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
    section = Section(data, parsed, record, Counter(), 0)
    section.levels[0].box = Box(box.__getitem__, parsed.allowance)
    try:
        section.run(Ceiling(arb(upper), parsed.entropy_ball()))
    except RefusedError as refused:
        if "leaf <= upper fails" not in str(refused):
            raise
        return False
    assert not data.more()
    return True


def inside(ref, box, p):
    """Whether a prior's posterior and conditional laws are in a box."""
    u = p @ ref.R
    phi, laws = u / u.sum(0), u / p.sum(1, keepdims=True)
    return bool(np.all((box["lo"] <= phi) & (phi <= box["hi"]) & (box["low"] <= laws) & (laws <= box["high"])))


def told(ref, box, p, rng):
    """The largest information found of priors of the box between one that is in it and others."""
    found = ref.information(p)
    for _ in range(draws(3, 60)):
        other = ref.random(rng)
        mixed = ((1 - share) * p + share * other for share in (0.5, 0.2, 0.05, 0.01))
        best = next((q for q in mixed if np.all(q.sum(0) @ ref.R > 0) and inside(ref, box, q)), p)
        found = max(found, ref.information(best))
    return found


@CASES
def test_trees_with_groups_prove_what_the_formulas_say_and_cover_priors(setting):
    ref, parsed, record, rng = setting
    ctx.prec = 256
    for _ in range(draws(4, 120)):
        p = ref.random(rng)
        box = random_box(ref, p, rng)
        lines, bound = tree_lines(ref, View(ref, box, [[y] for y in range(ref.Y)], np.zeros(ref.K)), rng)
        assert bound >= told(ref, box, p, rng) - 1e-9
        step = MARGIN * max(1, abs(bound))
        assert proves(parsed, record, lines, ranges(box, ref), bound + step)
        assert not proves(parsed, record, lines, ranges(box, ref), bound - step)


def test_groups_of_groups_of_groups_take_what_is_counted(forge):
    """As many lines `group` as one likes: below each other they take memory, beside each other nothing is left of them."""
    model = forge.model(*MODELS[1])
    groups, last = ["group", [[4, 0], [1], [2, 3]], ["1"] * 5], ["joint", "1", "0", None, ["1"] * 3]
    below = [["record", 0], *[groups] * 1100, last]
    beside = [["record", 0], *[line for _ in range(60) for line in (["cut", 0, 0, "2"], groups, last)], groups, last]
    rows = [["record", 0], ["joint", "1", "1", None, ["1"] * 5]]
    rows += [line for _ in range(2) for line in (*[["group", groups[1]]] * 300, ["row", None])]
    for lines, memory, status in ((below, 64, 0), (below, 1, 3), (beside, 1, 0), (rows, 64, 0), (rows, 0.5, 3)):
        data = forge.certificate(model, "0", "9", ["witness", None, None], *lines)
        verdict = check(model, data, memory=memory)
        assert verdict.exit_code == status, verdict.reason
        assert status == 0 or "MiB of memory" in verdict.reason


# Lines `chamber`: only sorted laws of a letter are bounded, and the bound holds for all of them.


def closure(generators):
    """The group that some pairs of permutations generate."""
    found = {tuple(map(tuple, pair)) for pair in generators}
    while True:
        more = {
            tuple(tuple(one[i] for i in two) for one, two in zip(left, right, strict=True))
            for left in found
            for right in found
        }
        if more <= found:
            return [tuple(map(np.array, pair)) for pair in sorted(found)]
        found |= more


def symmetric_model(forge, rng):
    """A model of two records whose first letter has a row problem with symmetries, and these."""
    m, outputs = int(rng.integers(2, 5)), int(rng.integers(2, 5))
    outputs = m if rng.random() < 0.6 else outputs
    generators = []
    for _ in range(int(rng.integers(1, 3))):
        pi, tau = rng.permutation(m), rng.permutation(outputs)
        generators.append((pi, pi if outputs == m and rng.random() < 0.8 else tau))
    group = closure(generators)
    weights = rng.integers(0, 9, (m, outputs)) + np.eye(m, outputs, dtype=int) * int(rng.integers(0, 30))
    counts = sum(weights[np.ix_(pi, tau)] for pi, tau in group) + (rng.random() < 0.5)
    counts[counts.sum(1) == 0] = 1
    rows = [[str(Fraction(int(x), int(row.sum()))) for x in row] for row in counts]
    table = [*range(m), *(int(v) for v in rng.integers(0, m, m))]
    listed = str(rows).replace("'", '"')
    share = rng.choice(["0.1", "0.5", "0.8", "0.95"])
    mechanism = f'kind="matrix"; inputs="query"; rows={listed}'
    query = f'kind="table"; values={[0, *range(m), *table][1 + m :]}'
    return forge.model(f"alphabets=[2,{m}]", query, mechanism, f'"{share} max"'), group


def orbit_mean(values, group):
    """Numbers of outputs made alike where symmetries say so."""
    return np.mean([values[tau] for _, tau in group], axis=0)


def best(ref, view, s, theta, mu, rng):
    """The largest value found in letter 0's row problem, over all laws."""
    logs, used = ref.logN[0], ref.N[0] > 0
    found = -np.inf
    for _ in range(4):
        w = np.where(used, rng.gamma(0.4, size=ref.K) + 1e-12, 0)
        for _ in range(60):
            w = w / w.sum()
            law = w @ ref.R
            value = w @ s[0] + theta * xlogy(law, law).sum() - mu * xlogy(w, w).sum() + mu * w[used] @ logs[used]
            found = max(found, float(value))
            slope = s[0] + theta * (ref.R @ np.log(np.maximum(law, 1e-300)))
            new = np.where(used, slope / mu + np.where(used, logs, 0), -np.inf)
            w = np.exp(new - new.max())
    return found


@each("seed", *range(draws(5, 100)))
def test_chambers_prove_what_the_formulas_say_and_cover_all_laws(forge, seed):
    before, ctx.prec = ctx.prec, 256
    rng = np.random.default_rng(seed)
    for _ in range(draws(2, 10)):
        data, group = symmetric_model(forge, rng)
        parsed, ref = parse_model(data), forge.Reference(data)
        channel = build(parsed)
        record = Record(channel, completions(parsed, 0, channel.values))
        box = ref.root()
        for side, sign in (("low", -1), ("high", 1)):  # a little wider, and equal where symmetries say so
            box[side] = np.clip(np.round(box[side], 10) + sign * 1e-9, 0, 1)
        view = View(ref, box, [[y] for y in range(ref.Y)], np.zeros(ref.K), tuple(group))
        theta, mu = float(rng.choice([1, 0.5, 0.25])), float(rng.choice([0.01, 0.1, 0.5]))
        law = np.round(orbit_mean(rng.gamma(1, size=ref.Y) + 0.05, group), 9)
        sigma = np.round([orbit_mean(rng.normal(size=ref.Y), group) for _ in range(ref.A)], 9)
        s = ref.scores(box, theta, sigma, law / law.sum())
        texts = [[f"{x:.9f}" for x in row] for row in sigma]
        lines = [["joint", str(theta), str(mu), texts, [f"{x:.9f}" for x in law]]]
        psi = []
        for a in range(ref.A):
            view.symmetries = tuple(group) if a == 0 else ()
            rows, value = Rows(view, a, s, theta, mu, rng).run()
            lines, psi = lines + rows, [*psi, value]
        assert psi[0] >= best(ref, view, s, theta, mu, rng) - 1e-9
        bound = ref.leaf(np.array(psi), theta, mu)
        assert bound >= max(ref.information(ref.random(rng)) for _ in range(10)) - 1e-9
        step = MARGIN * max(1, abs(bound))
        assert proves(parsed, record, lines, ranges(box, ref), bound + step)
        assert not proves(parsed, record, lines, ranges(box, ref), bound - step)
    ctx.prec = before
