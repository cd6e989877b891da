"""Designs against independent blocks: priors of a block where the others are known, by listing datasets; and pieces of a mechanism."""

import itertools
import json
import random

import numpy as np

from campaigns import draws, each
from dalenius_check import check, digest
from forgery_subjects import toml

SUPPORTED = {
    "identity": ({"kind": "identity"}, None, None),
    "count": ({"kind": "count"}, lambda s, n: s, lambda n: list(range(n + 1))),
    "sum": ({"kind": "sum", "weights": [0, 3]}, lambda s, n: 3 * s, lambda n: [3 * s for s in range(n + 1)]),
    "parity": ({"kind": "parity"}, lambda s, n: s % 2, lambda n: [0, 1]),
    "modular_sum": ({"kind": "modular_sum", "modulus": 3}, lambda s, n: s % 3, lambda n: [0, 1, 2]),
    "threshold": ({"kind": "threshold", "at": 2}, lambda s, n: int(s >= 2), lambda n: [0, 1]),
}


def model(query="count", sizes=(1, 2), group="oblivious", problem="min_leakage", entropy=None, **more):
    held = {"kind": "independent_blocks", "sizes": list(sizes)} | ({"entropy_at_least": entropy} if entropy else {})
    tables = {
        "problem": problem,
        "max_distortion" if problem == "min_leakage" else "max_leakage": "1/3",
        "records": {"count": sum(sizes), "alphabet": 2},
        "query": SUPPORTED[query][0],
        "mechanism": {"class": group},
        "distortion": {"kind": "hamming"},
        "law": {"kind": "uniform"},
        "adversary": held,
    }
    return toml(tables | more)


def certificate(asked, lower, upper, mechanism, *lines, problem="min_leakage"):
    unit = "nats" if problem == "min_leakage" else "distortion"
    head = {"format": "dalenius-certificate/2", "problem": problem, "model": digest(asked), "unit": unit}
    head |= {"lower": lower, "upper": upper, "producer": "tests", "mechanism": mechanism}
    return "".join(json.dumps(line) + "\n" for line in [head, *lines]).encode()


@each("seed", *range(draws(12, 500)))
def test_bounds_of_priors_by_listing(seed):
    """The bound of one prior line and a multiplier of the budget, from the joint law of a letter and the whole query's value."""
    rng = random.Random(seed)
    query, sizes = rng.choice(list(SUPPORTED)[1:]), rng.choice([(1, 2), (2, 1), (3,), (2, 2), (1, 1, 1)])
    n, (_, value, values) = sum(sizes), SUPPORTED[query]
    group = "additive" if query in ("parity", "modular_sum") and rng.random() < 0.5 else "oblivious"
    listed = values(n)
    i = rng.randrange(n)
    start = max(s for s in itertools.accumulate((0, *sizes[:-1])) if s <= i)
    size = sizes[[*itertools.accumulate((0, *sizes[:-1]))].index(start)]
    t = sum([rng.randint(0, 1) for _ in range(n - size)])
    asked = model(query, sizes, group)
    modulus = {"parity": 2, "modular_sum": 3}.get(query)
    told = {"sum": 3 * t, "threshold": t}.get(query, t % modulus if modulus else t)
    own = list(itertools.product((0, 1), repeat=size))
    inside = {"count": range(size + 1), "sum": range(0, 3 * size + 1, 3)}.get(query, listed)
    if query == "threshold":
        place = {x: [0, 1].index(int(sum(x) + t >= 2)) for x in own}
    else:
        place = {x: list(inside).index(value(sum(x), size)) for x in own}
    if rng.random() < 0.3:
        mass = {x: 1 / len(own) for x in own}
        prior = "uniform"
    else:
        pairs = {(x[i - start], place[x]) for x in own}
        weights = {pair: rng.randint(1, 4) for pair in sorted(pairs)}
        prior = [[str(weights.get((a, k), 0)) for k in range(len(list(inside)))] for a in (0, 1)]
        often = {pair: sum((x[i - start], place[x]) == pair for x in own) for pair in pairs}
        whole = sum(weights.values())
        mass = {x: weights[x[i - start], place[x]] / whole / often[x[i - start], place[x]] for x in own}
    p = np.zeros((2, len(listed)))
    for x, w in mass.items():
        p[x[i - start], listed.index(value(sum(x) + t, n))] += w
    phi = [[rng.randint(1, 5) for _ in listed] for _ in (0, 1)]
    posterior = np.array(phi, float) / np.sum(phi, axis=0)
    gain = np.einsum("ax,ay->xy", p, np.log(posterior / p.sum(1, keepdims=True)))
    law = np.zeros(len(listed))
    for x in itertools.product((0, 1), repeat=n):
        law[listed.index(value(sum(x), n))] += 2.0**-n
    nu = rng.choice([0, 1, 3])
    matrix = gain + nu * law[:, None] * (1 - np.eye(len(listed)))
    if group == "additive":
        v = len(listed)
        bound = min(sum(matrix[k, (k + z) % v] for k in range(v)) for z in range(v)) - nu / 3
    else:
        bound = matrix.min(axis=1).sum() - nu / 3
    rows = [["1" if y == x else "0" for y in range(len(listed))] for x in range(len(listed))][
        : 1 if group == "additive" else None
    ]
    lines = [["dual", str(nu)], ["prior", "1", i, [str(told), prior], [list(map(str, row)) for row in phi]]]
    for slack in (-1e-9, 1e-9):
        reason = check(asked, certificate(asked, f"{bound + slack:.15f}", "0.7", rows, *lines)).reason
        assert ("lower <= the priors' bound fails" in reason) == (slack > 0 and bound + slack > 0), reason
        assert "file ends" in reason or slack > 0


SECTION = [["record", 0], ["vertices"], ["law", ["1", "1"]]]


FLIP = [["3/4", "1/4"], ["1/4", "3/4"]]
ALL = [(0, "0"), (0, "1"), (1, "0"), (1, "1")]
TOLD = 0.130812035941137  # log 2 - h(1/4)


@each(
    "sums, upper, reason",
    ([(0, "0"), (0, "1")], TOLD + 1e-9, ""),  # the other block is the same
    ([(0, "0"), (1, "0")], TOLD + 1e-9, "is not covered"),
    (ALL, TOLD + 1e-9, ""),
    (ALL, TOLD - 1e-9, "<= upper fails"),
    ([*ALL, (1, "1")], TOLD + 1e-9, "comes twice"),
    ([*ALL, (1, "2")], TOLD + 1e-9, "never add up to 2"),
    ([*ALL[:3], (1, None)], TOLD + 1e-9, "t must be text"),
    ([*ALL[:3], (2, "0")], TOLD + 1e-9, "the block must be"),
)
def test_pieces_of_a_mechanism(sums, upper, reason):
    """A parity through a channel that turns one bit in four round: whoever is known, a record tells log 2 - h(1/4)."""
    asked = model("parity", (2, 2), max_distortion="1/4")
    sections = [line for j, t in sums for line in (["block", j, t], *SECTION, ["record", 1], *SECTION[1:])]
    verdict = check(asked, certificate(asked, "0", f"{upper:.12f}", FLIP, ["dual", None], *sections))
    assert reason in verdict.reason
    assert verdict.proved == (not reason)


@each("problem", "min_leakage", "min_distortion")
def test_a_constant_mechanism_needs_no_sections(problem):
    asked = model("parity", (1, 2), problem=problem, **({} if problem == "min_leakage" else {"max_leakage": 0}))
    asked = asked.replace(b'max_distortion = "1/3"', b"max_distortion = 1")
    constant = [["1", "0"], ["1", "0"]]
    data = certificate(
        asked, "0", "0" if problem == "min_leakage" else "1/2", constant, ["dual", None], problem=problem
    )
    assert check(asked, data).proved, check(asked, data).reason


@each(
    "prior, reason",
    (["3", "uniform"], "never add up to 3"),
    ([None, "uniform"], "t must be text"),
    (["0", [["1", "1", "1"], ["1", "1", "1"]]], "which no dataset has"),
    (["0", [["1", "1"], ["1", "1"]]], "a letter's weights must be a list of 3"),
    (["0", [["1", "0", "0"], ["0", "0", "0"]]], "entropy bound <= witness's entropy fails"),
    ("uniform", "t and a prior"),
)
def test_priors_that_are_refused(prior, reason):
    """Record 1 is in a block of two, of a count of three."""
    asked = model("count", (1, 2), entropy="1 bits")
    phi = [["1"] * 4] * 2
    data = certificate(asked, "0.01", "0.7", [["1"] * 4] * 4, ["dual", "0"], ["prior", "1", 1, prior, phi])
    asked = asked.replace(b"1/3", b"1")
    data = certificate(asked, "0.01", "0.7", [["1"] * 4] * 4, ["dual", "0"], ["prior", "1", 1, prior, phi])
    verdict = check(asked, data)
    assert (verdict.exit_code, reason in verdict.reason) == (1, True), verdict.reason


@each(
    "asked, reason",
    (model(group="full"), "a design against independent_blocks needs"),
    (model("identity"), "a design against independent_blocks needs"),
    (model(constraints=[{"kind": "monotone"}]), "a design against independent_blocks needs"),
    (
        model(objective={"combine": "sum", "terms": [{"kind": "distortion", "distortion": {"kind": "hamming"}}]}),
        "needs the class",
    ),
    (model(sizes=(1, 2), records={"count": 4, "alphabet": 2}), "must sum to 4"),
    (model(sizes=(1, 2), entropy="2 bits"), "entropy_at_least <= log |X|"),
    (model(adversary={"kind": "markov_chain", "to_one": ["1/2", "1/2"], "to_zero": ["1/2", "1/2"]}), "kind"),
)
def test_models_that_are_not_read(asked, reason):
    verdict = check(asked, b"")
    assert (verdict.exit_code, reason in verdict.reason) == (2, True), verdict.reason
