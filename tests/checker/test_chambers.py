"""Lines `chamber`: only sorted laws of a letter are bounded, and the bound holds for all of them."""

from fractions import Fraction

import numpy as np
from flint import ctx
from scipy.special import xlogy

import test_groups
from campaigns import draws, each
from dalenius_check.channel import build
from dalenius_check.counts import completions
from dalenius_check.model import parse_model
from dalenius_check.record import Record
from test_leaves import ranges


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
        view = test_groups.View(ref, box, [[y] for y in range(ref.Y)], np.zeros(ref.K), tuple(group))
        theta, mu = float(rng.choice([1, 0.5, 0.25])), float(rng.choice([0.01, 0.1, 0.5]))
        law = np.round(orbit_mean(rng.gamma(1, size=ref.Y) + 0.05, group), 9)
        sigma = np.round([orbit_mean(rng.normal(size=ref.Y), group) for _ in range(ref.A)], 9)
        s = ref.scores(box, theta, sigma, law / law.sum())
        texts = [[f"{x:.9f}" for x in row] for row in sigma]
        lines = [["joint", str(theta), str(mu), texts, [f"{x:.9f}" for x in law]]]
        psi = []
        for a in range(ref.A):
            view.symmetries = tuple(group) if a == 0 else ()
            rows, value = test_groups.Rows(view, a, s, theta, mu, rng).run()
            lines, psi = lines + rows, [*psi, value]
        assert psi[0] >= best(ref, view, s, theta, mu, rng) - 1e-9
        bound = ref.leaf(np.array(psi), theta, mu)
        assert bound >= max(ref.information(ref.random(rng)) for _ in range(10)) - 1e-9
        step = test_groups.MARGIN * max(1, abs(bound))
        assert test_groups.proves(parsed, record, lines, ranges(box, ref), bound + step)
        assert not test_groups.proves(parsed, record, lines, ranges(box, ref), bound - step)
    ctx.prec = before
