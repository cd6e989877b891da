"""Tables of the same people: both ends against every output written out, in both arithmetics, and what models and lines may say."""

import itertools
import json
import math
import random

import numpy as np
import pytest

from campaigns import draws, each
from dalenius_check import check
from dalenius_check.core.model import parse_model
from dalenius_check.core.numbers import RefusedError
from dalenius_check.lemmas.histograms import patterns
from test_wide import DRAWN, steps

SHAPES = [
    ([2, 2], [[0], [1]]),
    ([2, 2], [[0], [0, 1]]),
    ([2, 3], [[0], [1]]),
    ([2, 3], [[1], [1]]),
    ([2, 2, 2], [[0], [2], [0]]),
    ([3], [[0], [0]]),
]


class Table:
    """One table against m records, by definition: its outputs, their law under any histogram, and sums of scores."""

    def __init__(self, k, m, t, scores):
        self.k, self.m, self.t = k, m, t
        self.outputs = list(itertools.product(range(t.shape[1]), repeat=k))
        self.places = [sum(scores[y] for y in out) for out in self.outputs]
        self.full = [self.law([m * (c == own) for c in range(k)]) for own in range(k)]
        self.empty = self.law([0] * k)
        self.mean = sum(self.full) / k  # of the likelihood ratio, times the law of empty cells

    def law(self, cells):
        return np.array([math.prod(self.t[s, y] for s, y in zip(cells, out, strict=True)) for out in self.outputs])

    def given(self, law):
        """A law of outputs, summed over those of equal scores."""
        sums = np.bincount(self.places, law)
        return sums[self.places]

    def told(self):
        """u_v, and the mean of each cell's ratio to the mean ratio given the scores, under cell 0."""
        h = self.given(self.full[0] * self.mean / self.empty) / self.given(self.full[0])
        u = float(np.sum(self.full[0] * np.log(self.full[0] / self.empty / h)))
        return u, [float(np.sum(self.full[0] * full / self.empty / h)) for full in self.full]

    def most(self, mixture):
        """The largest divergence from a mixture of patterns, seen through the scores."""
        laws = {h: self.law([*h, *[0] * (self.k - len(h))]) for h in patterns(self.m, self.k)}
        q = self.empty * self.given(sum(w * laws[h] for h, w in mixture.items())) / self.given(self.empty)
        assert q.sum() == pytest.approx(1)
        return max(float(np.sum(law * np.log(law / q))) for law in laws.values())


@each("seed", *range(draws(8, 400)))
@each("arithmetic", "flint", "python")
def test_both_ends_by_enumeration(seed, arithmetic, forge):
    """Either end is accepted just where the formula has it, and the prior of the lower one reveals no less."""
    rng = random.Random(seed)
    attributes, margins = SHAPES[seed % len(SHAPES)]
    m = 1 if len(attributes) == 3 else rng.randint(1, 2)
    noises = [rng.choice(DRAWN[:2]) for _ in margins]
    same = rng.random() < 0.5
    noises = [noises[0]] * len(margins) if same else noises
    parts = [f'{{kind="{kind}", {keys}, on={v}}}' for v, (kind, keys, _) in enumerate(noises)]
    rng.shuffle(parts)
    several = f'kind="several_releases"; parts=[{", ".join(parts)}]'
    model = forge.model(
        f"count={m + 1}; alphabet={math.prod(attributes)}",
        f'kind="margins"; attributes={attributes}; tables={margins}',
        f'kind="{noises[0][0]}"; {noises[0][1]}' if same and rng.random() < 0.5 else several,
        f'kind="independent_blocks"; sizes=[1,{m}]',
    )
    letters = list(itertools.product(*map(range, attributes)))
    shapes = [math.prod(attributes[j] for j in margin) for margin in margins]
    kinds, tables = {}, []
    for margin, k, noise in zip(margins, shapes, noises, strict=True):
        if (k, noise) not in kinds:
            t = steps(noise[0], noise[2], m)
            scores = [rng.randint(0, 3) for _ in t[0][:-1]]
            scores += [max(scores) + 1]
            listed = list(patterns(m, k))
            weights = {h: rng.randint(1, 9) for h in rng.sample(listed, rng.randint(1, len(listed)))}
            kinds[k, noise] = Table(k, m, t, scores), scores, weights, rng.random() < 0.8, rng.random() < 0.8
        tables.append((margin, *kinds[k, noise]))

    def cell(letter, margin):
        place = 0
        for j in margin:
            place = place * attributes[j] + letter[j]
        return place

    shown = [(table, margin) for margin, table, *_, own in tables if own]
    told = [table.told() for table, _ in shown]
    common = sum(
        math.prod(r[cell(b, margin)] for (_, r), (_, margin) in zip(told, shown, strict=True)) for b in letters
    )
    low = sum(u for u, _ in told) - math.log(common / len(letters))
    rows = []
    for letter in letters:
        row = np.ones(1)
        for table, margin in shown:
            row = np.outer(row, table.full[cell(letter, margin)]).ravel()
        rows.append(row)
    q = sum(rows) / len(rows)
    assert low <= float(np.mean([np.sum(row * np.log(row / q)) for row in rows])) + 1e-12
    high = sum(
        table.most({h: w / sum(weights.values()) for h, w in weights.items()})
        if bounded
        else math.log(math.comb(m + table.k - 1, m))
        for _, table, _, weights, bounded, _ in tables
    )
    bounds = [
        ["histogram", scores, [[list(h), str(w)] for h, w in weights.items()]] if bounded else ["histogram", None, None]
        for _, scores, weights, bounded, _ in kinds.values()
    ]
    scores = [scores if own else None for _, scores, _, _, own in kinds.values()]
    for slack, status in ((1e-9, 0), (-1e-9, 1)):
        upper = forge.certificate(model, "0", forge.text(high + slack, 15), ["witness", None, None], *bounds)
        assert check(model, upper, arithmetic=arithmetic).exit_code == status
        claimed = forge.text(low - slack, 15)
        lower = forge.certificate(model, claimed, "9", ["witness", m, scores], ["letters"])
        assert check(model, lower, arithmetic=arithmetic).exit_code == status


RECORDS = "count=3; alphabet=6"
TABLES = 'kind="margins"; attributes=[2,3]; tables=[[0],[0,1]]'
NOISE = 'kind="discrete_laplace"; epsilon=1'
BLOCKS = 'kind="independent_blocks"; size=1'
BOTH = '{kind="geometric",epsilon=1},{kind="discrete_gaussian",scale=2,on=1}'


@each(
    "records, query, mechanism, adversary, reason",
    (RECORDS, TABLES.replace("[2,3]", "[2,4]"), NOISE, BLOCKS, "one combination for each letter"),
    (RECORDS, TABLES.replace("[[0],[0,1]]", "[[0],[2]]"), NOISE, BLOCKS, "lists of the attributes"),
    (RECORDS, TABLES, 'kind="matrix"; rows=[["1"]]', BLOCKS, "a histogram needs"),
    (RECORDS, TABLES, 'kind="laplace"; scale=1', BLOCKS, "a histogram needs"),
    (RECORDS, TABLES, 'kind="geometric"; epsilon=1; range=[0,2]', BLOCKS, "a histogram needs"),
    (RECORDS, TABLES, 'kind="geometric"; epsilon=1; range=[1,3]', BLOCKS, "a histogram needs"),
    (RECORDS, TABLES, NOISE, BLOCKS + "; entropy_at_least=0", "a histogram needs"),
    (RECORDS, TABLES, NOISE, "0", "a histogram needs"),
    ("alphabets=[6,5]", TABLES, NOISE, 'kind="product_priors"', "a histogram needs"),
    (RECORDS, TABLES, f'kind="several_releases"; parts=[{BOTH.replace(",on=1", "")}]', BLOCKS, "one part for each"),
    (RECORDS, TABLES, f'kind="several_releases"; parts=[{BOTH.split("},")[0]}}}]', BLOCKS, "one part for each"),
    (RECORDS, TABLES, f'kind="several_releases"; parts=[{BOTH.replace("on=1", "on=2")}]', BLOCKS, "one part for each"),
    (RECORDS, TABLES, f'kind="several_releases"; parts=[{BOTH},{BOTH.split(",{")[0]}]', BLOCKS, "one part for each"),
    (
        RECORDS,
        TABLES,
        f'kind="several_releases"; parts=[{BOTH.replace("on=1", "on=1,times=2")}]',
        BLOCKS,
        "one part for each",
    ),
    (
        RECORDS,
        TABLES,
        f'kind="several_releases"; parts=[{BOTH.replace("on=1", "on=1,range=[0,3]")}]',
        BLOCKS,
        "a histogram needs",
    ),
)
def test_models_that_are_refused(records, query, mechanism, adversary, reason, forge):
    """Each before any line is read."""
    model = forge.model(records, query, mechanism, adversary)
    found = check(model, forge.certificate(model, "0", "9", ["witness", None, None], ["letters"]))
    assert found.exit_code == 2
    assert reason in found.reason


@each(
    "query",
    'kind="margins"; attributes=[]; tables=[[0]]',
    'kind="margins"; attributes=[1,6]; tables=[[0]]',
    'kind="margins"; attributes=[2,3]; tables=[]',
    'kind="margins"; attributes=[2,3]; tables=[[]]',
    'kind="margins"; attributes=[2,3]; tables=[[1,0]]',
    'kind="margins"; attributes=[2,3]; tables=[[0,0]]',
    f'kind="margins"; attributes={[2] * 14}; tables=[[0]]',
    f'kind="margins"; attributes=[2,3]; tables={[[0]] * 65}',
)
def test_queries_that_are_refused(query, forge):
    with pytest.raises(RefusedError, match=r"must be (from 1 to|an integer from 2)"):
        parse_model(forge.model(RECORDS, query, NOISE, BLOCKS))


def test_the_normal_form(forge):
    """As docs/model-format.md has it."""
    query = 'kind="margins"; attributes=[2,10]; tables=[[0],[0,1]]'
    found = parse_model(forge.model("count=3; alphabet=20", query, NOISE, BLOCKS)).normal["query"]
    wanted = '{"attributes":["2","10"],"kind":"margins","tables":[["0"],["0","1"]]}'
    assert json.dumps(found, sort_keys=True, separators=(",", ":")) == wanted


def test_lines_that_are_refused(forge):
    """One line for each kind, in the order of their first tables; a histogram's may not be left open."""
    model = forge.model(RECORDS, TABLES, NOISE, BLOCKS)
    line = ["histogram", [0, 1], [[[1], "1"]]]
    for reason, lines in (
        ("the file ends where the bound", [line]),
        ("one of histogram", [line, ["letters"]]),
        ("after the last one", [line, line, line]),
        ("must be a list", [line, ["histogram", None, [[[1], "1"]]]]),
        ("must be a list", [["histogram", [0, 1], None], line]),
    ):
        found = check(model, forge.certificate(model, "0", "9", ["witness", None, None], *lines))
        assert found.exit_code == 1, (found.reason, lines)
        assert reason in found.reason
    found = check(model, forge.certificate(model, "0", "9", ["witness", 0, [[0, 1]]], line, line))
    assert "the kinds' scores must be a list of 2" in found.reason
    unlike = '{kind="geometric",epsilon=1},{kind="geometric",epsilon=2,on=1}'  # tables alike but for their noise
    model = forge.model(RECORDS, TABLES.replace("[0,1]", "[0]"), f'kind="several_releases"; parts=[{unlike}]', BLOCKS)
    found = check(model, forge.certificate(model, "0", "9", ["witness", None, None], line))
    assert "the file ends where the bound" in found.reason
    histogram = forge.model(RECORDS, 'kind="histogram"', NOISE, BLOCKS)
    found = check(histogram, forge.certificate(histogram, "0", "9", ["witness", None, None], ["histogram", None, None]))
    assert found.exit_code == 1


def test_what_clamped_noise_may_reveal_is_added(forge, planted):
    """To 2 nats: of each of four cells, one of four letters and not of a table's two."""
    query = 'kind="margins"; attributes=[2,2]; tables=[[0],[1]]'
    model = forge.model(
        "count=4; alphabet=4", query, 'kind="discrete_gaussian"; scale=1', 'kind="independent_blocks"; size=2'
    )
    lines = ["witness", None, None], ["histogram", list(range(25)), [[[2], "1"], [[1, 1], "1"]]]
    assert check(model, forge.certificate(model, "0", "2.00000000000000000000000005891", *lines)).exit_code == 0
    low = forge.certificate(model, "0", "2.00000000000000000000000005", *lines)
    assert "<= upper fails" in check(model, low).reason
    hole = "Cells.lost: kind.noise.lost(self.letters) => kind.noise.lost(kind.cells)"
    assert planted("clamped", hole).check(model, low).exit_code == 0
