"""Every leaf kind: the checker's bound is at least I(p) for random feasible priors in the leaf's box."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from flint import arb, ctx, fmpq

from campaigns import draws, thinned
from dalenius_check import Status, check
from dalenius_check.core import adversaries
from dalenius_check.core.allowance import Allowance
from dalenius_check.core.bounds import Ranges, Record, above, exact_information, information
from dalenius_check.core.boxes import Box
from dalenius_check.core.certificate import Lines
from dalenius_check.core.channel import build
from dalenius_check.core.counts import completions
from dalenius_check.core.model import parse_model
from dalenius_check.core.numbers import xlogx
from dalenius_check.core.tree import Classes, Section

MODELS = [
    ("count=4; alphabet=2", 'kind="parity"', 'kind="laplace_threshold"; epsilon=1.0', "1.3"),
    ("count=4; alphabet=2", 'kind="count"', 'kind="geometric"; epsilon=0.7', "1.5"),
    ("count=3; alphabet=3", 'kind="sum"', 'kind="exponential"; epsilon=1.5; range=[-1, 6]', '"1 bits"'),
    ("alphabets=[3,2,1]", 'kind="sum"; weights=[[0,2,5],[0,1],[3]]', 'kind="symmetric"; flip=0.3', "0.9"),
    ("alphabets=[2,3]", 'kind="identity"', 'kind="randomized_response"; epsilon=2', '"0.7 max"'),
    (
        "count=2; alphabet=2",
        'kind="table"; values=[0,0,1,4]',
        'kind="matrix"; rows=[[1,0,0],[0,"1/2","1/2"],["1/3","2/3",0]]',
        "0.4",
    ),
    ("count=3; alphabet=2", 'kind="threshold"; at=2', 'kind="symmetric"; flip=0', "1.0"),
    (
        "count=2; alphabet=3",
        "",
        'kind="matrix"; inputs="dataset"; rows=[' + ",".join(f'["{i}/10","{9 - i}/10","0.1"]' for i in range(9)) + "]",
        "1.0",
    ),
    ("count=5; alphabet=3", 'kind="modular_sum"; modulus=4', 'kind="symmetric"; flip="1/5"', "2.0"),
    ("count=1; alphabet=4", 'kind="sum"; weights=[0,0,1,2]', 'kind="symmetric"; flip="1/9"', "0"),
]
CASES = pytest.mark.parametrize("case", range(len(MODELS)))


@pytest.fixture(autouse=True)
def precision():
    before, ctx.prec = ctx.prec, 128
    yield
    ctx.prec = before


@pytest.fixture
def setting(forge, case):
    data = forge.model(*MODELS[case])
    parsed = parse_model(data)
    channel = build(parsed, None)
    counted = replace(parsed, query={"kind": "identity"}) if channel.dataset else parsed
    record = Record(channel, completions(counted, 0, channel.values))
    return forge.Reference(data), parsed, record, np.random.default_rng(case)


def q(x):
    return fmpq(*float(x).as_integer_ratio())


@CASES
def test_reference_agrees_on_channel_and_information(setting):
    ref, parsed, pairs, rng = setting
    channel = pairs.channel
    assert float(parsed.entropy_ball()) == pytest.approx(ref.b, abs=1e-13)
    assert np.allclose([[float(arb(x)) for x in row] for row in channel.rows], ref.R, rtol=0, atol=1e-13)
    assert all(
        {k: int(n) for k, n in row} == {k: int(n) for k, n in enumerate(ref.N[a]) if n}
        for a, row in enumerate(pairs.pairs)
    )
    for _ in range(5):
        p = ref.random(rng)
        masses = [[(k, q(p[a, k])) for k in inputs] for a, inputs in enumerate(pairs.inputs)]
        assert float(information(channel, masses)) == pytest.approx(ref.information(p), abs=1e-12)


def margin(rng, shape):
    """How far a range reaches beyond its number: not at all (up to rounding), a little, or far."""
    return rng.random(shape) * rng.choice([0, 1e-9, 0.01, 0.3, 2], size=shape) + 1e-14


def random_box(ref, p, rng):
    """A box around a prior's posterior and conditional laws, wide or narrow, some sides touching."""
    u = p @ ref.R
    phi = u / np.maximum(u.sum(0), 1e-300)
    phi[:, u.sum(0) == 0] = 1 / ref.A
    laws = u / p.sum(1, keepdims=True)
    root, shape = ref.root(), phi.shape
    return {
        "lo": np.maximum(phi - margin(rng, shape), 0),
        "hi": np.minimum(phi + margin(rng, shape), 1),
        "low": np.maximum(laws - margin(rng, shape), np.maximum(root["low"] - 1e-15, 0)),
        "high": np.minimum(laws + margin(rng, shape), np.minimum(root["high"] + 1e-15, 1)),
    }


def ranges(box, ref):
    """The checker's box: phi(.|y) at y, K_a at outputs + a."""
    result = {y: Ranges(map(q, box["lo"][:, y]), map(q, box["hi"][:, y])) for y in range(ref.Y)}
    return result | {ref.Y + a: Ranges(map(q, box["low"][a]), map(q, box["high"][a])) for a in range(ref.A)}


def random_law(ref, p, rng):
    """The prior's own output law, or another one; zero where the channel is."""
    own, other = p.sum(0) @ ref.R, rng.gamma(0.7, size=ref.Y) + 1e-4
    law = own + 1e-9 * (ref.R.max(0) > 0) if rng.random() < 0.5 else other / other.sum()
    return np.where((ref.R.max(0) > 0) | (rng.random(ref.Y) < 0.5), law, 0)


def random_slopes(weight, low, high, ref, rng):
    """Near the secants, all over the place, or null for some letters or all of them."""
    if rng.random() < 0.15:
        return None, np.zeros(low.shape)
    if rng.random() < 0.7:
        slopes = weight * ref.secant(low, high) + rng.normal(size=low.shape) * rng.choice([0, 0.01, 0.3])
    else:
        slopes = rng.normal(size=low.shape) * 3
    slopes = np.round(slopes, 8) * (rng.random((ref.A, 1)) < 0.8)
    return [[f"{x:.8f}" for x in row] if any(row) else None for row in slopes], slopes


def random_rows(low, high, kappa, rng, depth=0):
    """A random row tree: its lines, and its leaves' ranges."""
    if depth == 3 or rng.random() < 0.6:
        return [["row", kappa]], [(low, high)]
    y = int(rng.integers(len(low)))
    t = round(float(rng.uniform(low[y] - 0.05, high[y] + 0.05)), 6)
    below, above = high.copy(), low.copy()
    below[y], above[y] = min(below[y], t), max(above[y], t)
    first, left = random_rows(low, below, kappa, rng, depth + 1)
    second, right = random_rows(above, high, kappa, rng, depth + 1)
    return [["cut", y, f"{t:.6f}"], *first, *second], left + right


def evaluate(parsed, record, lines, box):
    """The bounds that a section finds for one joint leaf; every line must be read."""
    data = Lines("".join(json.dumps(line) + "\n" for line in lines).encode(), parsed.allowance)
    section = Section(data, parsed, record, Counter(), 0)
    section.levels[0].box = Box(box.__getitem__, parsed.allowance)
    item = data.item("a leaf", {"joint": 5})
    result, _ = section._joint(item, not all(part.ends for part in box.values()))
    assert not data.more()
    fall = arb(item[2]) * parsed.entropy_ball()
    return [bound - fall for bound in result]


WEIGHTS = thinned([(t, m) for t in (0, 0.5, 1, None) for m in (0, 1e-6, 0.01, 0.3, 1, 10)], every=5)


@CASES
@pytest.mark.parametrize(("theta", "mu"), WEIGHTS)
def test_joint_leaves_cover_random_priors(setting, theta, mu):
    ref, parsed, record, _ = setting
    rng = np.random.default_rng([int(mu * 1e6), 7 if theta is None else int(2 * theta), ref.K])
    for _ in range(draws(5, 25)):
        share = round(float(rng.random()), 6) if theta is None else theta
        p = ref.random(rng)
        box, law = random_box(ref, p, rng), random_law(ref, p, rng)
        tight = ref.tight(box)
        hint, sigma = random_slopes(1 - share, tight["lo"], tight["hi"], ref, rng)
        kappas, kappa = random_slopes(share, tight["low"], tight["high"], ref, rng)
        weights = [f"{x:.20f}" for x in law] if share else None
        lines, leaves = [["joint", str(share), f"{mu:.6f}", hint, weights]], []
        for a in range(ref.A if share and mu else 0):
            rows, parts = random_rows(box["low"][a], box["high"][a], kappas and kappas[a], rng)
            lines, leaves = lines + rows, [*leaves, parts]
        bounds = evaluate(parsed, record, lines, ranges(box, ref))
        if not bounds:  # only the rounding of the margins can empty a box around a prior
            assert min((tight["hi"] - tight["lo"]).min(), (tight["high"] - tight["low"]).min()) < 1e-12
            continue
        assert len(bounds) == 1
        assert bounds[0].is_finite()
        assert float(bounds[0]) >= ref.information(p) - 1e-10
        s = ref.scores(box, share, sigma, law / law.sum() if share else None)
        psi = ref.free(s, share, mu)
        if leaves:
            psi = [max(ref.row(s, *ends, a, share, mu, kappa[a]) for ends in leaves[a]) for a in range(ref.A)]
        assert float(bounds[0]) == pytest.approx(ref.leaf(np.array(psi), share, mu), abs=1e-7, rel=1e-9)


@CASES
def test_tangent_leaves_are_tight(setting):
    """In a small box the lines at a prior lose almost nothing but what other priors have: never less than the prior."""
    ref, parsed, record, rng = setting
    for _ in range(20):
        p = ref.random(rng)
        u, theta, mu = p @ ref.R, round(float(rng.random()), 6), round(float(rng.choice([0.001, 0.1, 1])), 6)
        narrow = {"lo": u / u.sum(0), "low": u / p.sum(1, keepdims=True)} if u.sum(0).all() else None
        if narrow is None:
            continue
        box = {"lo": narrow["lo"] - 1e-12, "hi": narrow["lo"] + 1e-12}
        box |= {"low": narrow["low"] - 1e-12, "high": narrow["low"] + 1e-12}
        box = {name: np.clip(value, 0, 1) for name, value in box.items()}
        lines, bound = ref.joint(box, theta, mu, u.sum(0))
        found = evaluate(parsed, record, lines, ranges(box, ref))
        if found:
            assert float(found[0]) >= ref.information(p) - 1e-9
            assert float(found[0]) == pytest.approx(bound, abs=1e-6)


def random_tree(ref, boxes, rng, depth=0):
    """Lines of a random tree of splits, cuts and leaves, good and bad ones."""
    if depth == 3 or rng.random() < 0.3:
        theta, mu = float(rng.choice([0, 0.5, 1])), float(rng.choice([0, 0.05, 0.4]))
        law = rng.gamma(2, size=ref.Y) + 1e-3
        noise = rng.normal(size=(ref.A, ref.Y)) * rng.choice([0, 0.1])
        return ref.joint(boxes, theta, mu, law / law.sum(), noise)[0]
    name, a, y = str(rng.choice(["split", "cut"])), int(rng.integers(ref.A)), int(rng.integers(ref.Y))
    low, high = ("lo", "hi") if name == "split" else ("low", "high")
    t = round(float(rng.uniform(boxes[low][a, y] - 0.02, boxes[high][a, y] + 0.02)), 6)
    below, above = ref.halves(boxes, name, a, y, t)
    return [
        [name, a, y, f"{t:.6f}"],
        *random_tree(ref, below, rng, depth + 1),
        *random_tree(ref, above, rng, depth + 1),
    ]


@CASES
def test_trees_never_prove_less_than_a_prior(forge, setting, case):
    """Random certificates with the claim that nothing leaks more than a found prior less 1e-9: none is proved."""
    ref, _, _, rng = setting
    data, leak = forge.model(*MODELS[case]), ref.information(ref.search(rng, 2))
    proved, times = 0, draws(2, 12)
    for _ in range(times):
        sections = []
        for i in range(len(ref.alphabets)):
            other = forge.Reference(data, i)
            sections += [["record", i], *random_tree(other, other.root(), rng)]
        for upper, possible in ((leak - 1e-9, False), (leak + 0.05, True), (9, True)):
            claim = max(upper, 0)
            verdict = check(data, forge.certificate(data, "0", f"{claim:.12f}", ["witness", None, None], *sections))
            assert "internal" not in verdict.reason
            assert verdict.exit_code == 1 or possible, verdict.reason
            assert upper < 9 or verdict.proved, verdict.reason
            proved += verdict.proved
    assert proved >= times


@CASES
def test_divergences_cover_random_priors(setting):
    """The law of a class set, for priors on it."""
    ref, _, record, rng = setting
    for _ in range(draws(50, 150)):
        law = rng.gamma(0.7, size=ref.Y) + 1e-4
        law /= law.sum()
        exact = [q(x) for x in law]
        everything = list(range(ref.K))
        divergences = record.channel.divergences([x / sum(exact, fmpq(0)) for x in exact], everything)
        assert [float(divergences[k]) for k in everything] == pytest.approx(ref.divergences(law).tolist(), abs=1e-10)
        p = ref.random(rng)
        assert max(float(divergences[k]) for row in record.inputs for k in row) >= ref.information(p) - 1e-10


def halves(ranges, place, t):
    """Where one number is at most, and at least, t."""
    box = Box([ranges].__getitem__, Allowance())
    other = box.halve(0, place, t)
    below = box[0]
    other()
    return below, box[0]


@CASES
def test_boxes_are_found_again_whatever_was_cut_in_between(case):
    """A box that cuts and takes back, along a random tree, is what it is where every cut makes a new one."""
    rng = np.random.default_rng(case)
    roots = [Ranges([fmpq(0)] * 3, [fmpq(1)] * 3) for _ in range(3)]
    allowance = Allowance()
    box, before = Box(roots.__getitem__, allowance), allowance.held

    def walk(here, depth):
        assert [(box[j].los, box[j].his) for j in range(3)] == [(part.los, part.his) for part in here]
        if depth == 6 or rng.random() < 0.2:
            return
        j, place, t = int(rng.integers(3)), int(rng.integers(3)), fmpq(int(rng.integers(-2, 12)), 8)
        los, his = list(here[j].los), list(here[j].his)
        los[place], his[place] = max(los[place], t), min(his[place], t)
        halves = Ranges(here[j].los, his), Ranges(los, here[j].his)
        other = box.halve(j, place, t)
        walk([*here[:j], halves[0], *here[j + 1 :]], depth + 1)
        other()
        walk([*here[:j], halves[1], *here[j + 1 :]], depth + 1)

    for _ in range(6):
        walk(roots, 0)
        box.back(0)
    assert [(box[j].los, box[j].his) for j in range(3)] == [(part.los, part.his) for part in roots]
    assert allowance.held - before < 10_000  # three families, and nothing of the cuts


@CASES
def test_classes_are_found_again_whatever_was_parted_in_between(case):
    rng = np.random.default_rng(case)
    inputs = [list(range(7)), [1, 3, 5]]
    classes = Classes(inputs, Allowance())

    def walk(here, depth):
        assert list(map(set, classes.sets)) == here
        if depth == 6 or rng.random() < 0.2:
            return
        a, chosen = int(rng.integers(2)), {int(k) for k in rng.integers(0, 8, int(rng.integers(0, 6)))}
        other = classes.halve(a, chosen)
        walk([part & chosen if b == a else part for b, part in enumerate(here)], depth + 1)
        other()
        walk([part - chosen if b == a else part for b, part in enumerate(here)], depth + 1)

    walk(list(map(set, inputs)), 0)


@CASES
def test_tightened_ranges_keep_every_law_and_notice_empty_ones(case):
    rng = np.random.default_rng(case)
    for _ in range(draws(70, 200)):
        size = int(rng.integers(1, 5))
        weights = [int(x) for x in rng.integers(0, 6, size)]
        weights[0] += not any(weights)
        phi = [fmpq(w, sum(weights)) for w in weights]
        inner = other = Ranges([fmpq(0)] * size, [fmpq(1)] * size)
        for _ in range(6):
            a, t = int(rng.integers(size)), fmpq(int(rng.integers(-2, 12)), 8)
            below, above = halves(inner, a, t)
            inner = below if phi[a] <= t else above
            other = halves(other, a, t)[int(rng.integers(2))]
        assert inner.ends
        assert all(lo <= x <= hi for (lo, hi), x in zip(inner.ends, phi, strict=True))
        inside = all(lo <= hi for lo, hi in zip(other.los, other.his, strict=True)) and sum(
            other.los, fmpq(0)
        ) <= 1 <= sum(other.his, fmpq(0))
        assert bool(other.ends) == inside


@CASES
def test_lines_lie_above(case):
    """For every slope, on the whole tightened range, also where it is a point, narrow, or starts at zero."""
    rng = np.random.default_rng(case)
    for _ in range(60):
        lo = fmpq(int(rng.integers(0, 1000)), 1000)
        hi = min(lo + fmpq(int(rng.integers(0, 3)), 10 ** int(rng.choice([0, 3, 19, 37, 200]))), fmpq(1))
        weight, slope = fmpq(int(rng.integers(0, 5)), 4), fmpq(int(rng.integers(-(10**6), 10**6)), 10**5)
        intercepts = above(weight, [Ranges([lo, fmpq(0)], [hi, fmpq(1)])], [arb(slope), arb(-slope)]).sum()
        for t in (fmpq(0), fmpq(1, 3), fmpq(1, 2), fmpq(1)):
            x = lo + t * (hi - lo)
            curves = arb(weight) * (xlogx(arb(x)) + xlogx(arb(1 - x)))
            assert not intercepts + arb(slope) * arb(2 * x - 1) - curves < 0


def test_repeated_splits_keep_the_narrower_side():
    inner = halves(halves(Ranges([fmpq(0)] * 2, [fmpq(1)] * 2), 0, fmpq(1, 2))[1], 0, fmpq(1, 4))[1]
    inner = halves(halves(inner, 0, fmpq(7, 8))[0], 0, fmpq(9, 10))[0]
    assert (inner.los[0], inner.his[0]) == (fmpq(1, 2), fmpq(7, 8))
    assert halves(inner, 0, fmpq(1, 4))[0].ends == []


def test_divergence_is_zero_only_for_the_row_itself(forge):
    rows = 'kind="matrix"; rows=[["1/2","1/4","1/4"],["1/2","1/3","1/6"]]'
    channel = build(parse_model(forge.model("count=2; alphabet=2", 'kind="parity"', rows, "0")), None)
    same, other = channel.divergences([fmpq(1, 2), fmpq(1, 4), fmpq(1, 4)], [0, 1])
    assert same == 0
    assert other > fmpq(1, 100)


def test_equal_output_laws_leak_exactly_nothing(forge):
    """In rationals equal laws of the output; in balls equal laws of the input."""
    half, rows = fmpq(1, 2), 'kind="matrix"; rows=[[1,0],["1/2","1/2"],[0,1]]'
    for mechanism, zero in ((rows, True), ('kind="geometric"; epsilon=1', False)):
        channel = build(parse_model(forge.model("count=2; alphabet=2", 'kind="count"', mechanism, "0")), None)
        assert (exact_information(channel, [{1: half}, {0: half / 2, 2: half / 2}]) == 0) == zero
        assert (
            exact_information(channel, [{0: half * 3 / 5, 2: half * 3 / 5}, {0: half * 2 / 5, 2: half * 2 / 5}, {}])
            == 0
        )
        assert exact_information(channel, [{0: half}, {2: half}]) > 0
    tiny = fmpq(1, 10**25)
    nearly = [{0: half / 2, 2: half / 2}, {0: half / 2 + tiny, 2: half / 2 - tiny}]
    for mechanism in (rows, 'kind="geometric"; epsilon=1'):
        channel = build(parse_model(forge.model("count=2; alphabet=2", 'kind="count"', mechanism, "0")), None)
        assert not exact_information(channel, nearly) > 0
        assert not exact_information(channel, nearly).is_zero()


def test_where_the_logarithm_of_the_letters_is_enough_no_completions_are_counted(forge, monkeypatch):
    """Of 65,536 datasets of 16 bits that took most of a check that proves nothing else; a claim below it is worked out."""
    model = forge.model("count=3; alphabet=3", 'kind="sum"', 'kind="geometric"; epsilon=1.0', "0")
    leaf = ["joint", "0", "0", None, None]

    def proved(upper):
        return check(model, forge.certificate(model, "0", upper, ["witness", None, None], ["record", 0], leaf))

    counted = list[int]()
    completions = adversaries.completions
    monkeypatch.setattr(
        adversaries, "completions", lambda model, i, values: counted.append(i) or completions(model, i, values)
    )
    assert proved("1.0987").proved  # log 3 is 1.09861...
    assert counted == []
    below = proved("1.0986")
    assert below.status is Status.REJECTED
    assert "line 4's joint leaf <= upper fails" in below.reason
    assert counted == [0]
