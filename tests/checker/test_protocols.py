"""Local protocols: closed forms against channels that are written out from their definitions, and what lines about them may take."""

from __future__ import annotations

import itertools
import json
import random
from math import comb

import pytest
from flint import arb, ctx, fmpq

from campaigns import draws
from dalenius_check import Status, allowance, check
from dalenius_check.allowance import Allowance
from dalenius_check.model import parse_model
from dalenius_check.protocols import PROTOCOLS
from test_allowance import most

EPSILONS = [
    (0, "nats"),
    (1, "nats"),
    (fmpq(1, 1000), "nats"),
    (20, "nats"),
    (2, "log"),
    (fmpq(7, 3), "log"),
    (2, "bits"),
]


@pytest.fixture(autouse=True)
def precision():
    before, ctx.prec = ctx.prec, 256
    yield
    ctx.prec = before


def power(epsilon):
    """e^epsilon."""
    amount, unit = epsilon
    return {"nats": lambda: arb(amount).exp(), "log": lambda: arb(amount), "bits": lambda: arb(2) ** amount}[unit]()


def rows_of(kind, inputs, epsilon, number):
    """R(k, y), up to a factor of each row, by what the mechanism does."""
    E, values = power(epsilon), range(inputs)
    if kind == "optimized_unary_encoding":
        reports = list(itertools.product((0, 1), repeat=inputs))
        keep, other = {1: arb(1) / 2, 0: arb(1) / 2}, {1: 1 / (E + 1), 0: E / (E + 1)}
        return [[_times((keep if j == k else other)[y[j]] for j in values) for y in reports] for k in values]
    if kind == "local_hashing":
        maps = list(itertools.product(range(number), repeat=inputs))
        return [[E if h[k] == b else arb(1) for h in maps for b in range(number)] for k in values]
    if kind == "subset_selection":
        return [[E if k in chosen else arb(1) for chosen in itertools.combinations(values, number)] for k in values]
    size = 1
    while size <= inputs:
        size *= 2
    return [[arb(1) if bin((k + 1) & y).count("1") % 2 else E for y in range(size)] for k in values]


def _times(numbers):
    found = arb(1)
    for x in numbers:
        found *= x
    return found


def divergences(rows, law):
    """D(R(k, .) || law R) by the definition."""
    rows = [[x / sum(row, arb(0)) for x in row] for row in rows]
    mean = [sum((arb(p) * x for p, x in zip(law, column, strict=True)), arb(0)) for column in zip(*rows, strict=True)]
    return [sum((x * (x / r).log() for x, r in zip(row, mean, strict=True)), arb(0)) for row in rows]


def ranges(rng, sizes, listed, whole):
    found = []
    for g in listed:
        low = 0 if whole else rng.randint(0, sizes[g])
        found.append([g, low, sizes[g] if whole else rng.randint(low, sizes[g])])
    return found


def drawn(rng):
    """A protocol, a law of its inputs, and how it is to be worked out; whether nothing is left out."""
    kind, epsilon = rng.choice(list(PROTOCOLS)), rng.choice(EPSILONS)
    inputs = rng.randint(2, 5 if kind == "optimized_unary_encoding" else 4)
    number = rng.randint(2, 3) if kind == "local_hashing" else rng.randint(1, inputs - 1)
    weights = [rng.choice([0, 1, 1, 2, 5]) for _ in range(inputs)]
    weights = weights if any(weights) else [1] * inputs
    law = [fmpq(w, sum(weights)) for w in weights]
    sizes = [weights.count(w) for w in dict.fromkeys(weights)]
    groups, whole = list(range(len(sizes))), rng.random() < 0.5
    if kind == "hadamard_response":
        return kind, epsilon, inputs, number, law, None, True
    if kind == "subset_selection":
        groups.remove(rng.choice(groups))
        return kind, epsilon, inputs, number, law, ranges(rng, sizes, groups, whole), whole
    listed = groups if rng.random() < 0.4 else sorted(rng.sample(groups, rng.randint(0, len(groups))))
    how = [rng.choice([1, 2, 5, 32]), ranges(rng, sizes, listed, whole)]
    return kind, epsilon, inputs, number, law, how, whole and len(listed) == len(sizes)


@pytest.mark.parametrize("seed", range(draws(1, 20)))
def test_closed_forms_enclose_the_definition(seed):
    rng = random.Random(seed)
    for _ in range(draws(25, 100)):
        kind, epsilon, inputs, number, law, how, whole = drawn(rng)
        table = {"epsilon": (fmpq(epsilon[0]), epsilon[1]), "k": None, "size": number, "buckets": number}
        protocol = PROTOCOLS[kind](table, inputs, Allowance())
        written = divergences([[arb(x) for x in row] for row in protocol.rows()], law)
        exact = divergences(rows_of(kind, inputs, epsilon, number), law)
        least, most_of_it = (protocol.divergences(law, how, above) for above in (False, True))
        assert comb(inputs, number) == protocol.outputs() or kind != "subset_selection"
        for low, one, other, high in zip(least, written, exact, most_of_it, strict=True):
            assert one.overlaps(other)
            assert not low > other, (kind, epsilon, law, how)
            assert not high < other, (kind, epsilon, law, how)
            assert not whole or (high - low).abs_upper() < 1e-50


# ---- what a line may take ------------------------------------------------------------------------------------------


def asked(kind, inputs, weights, how):
    """A model and a certificate with one line `mixture`."""
    text = f"""problem = "maximal_leakage"
records = {{ count = 1, alphabet = {inputs} }}
query = {{ kind = "identity" }}
mechanism = {{ kind = "{kind}", epsilon = 1{", size = 150" if kind == "subset_selection" else ""} }}
adversary = {{ kind = "product_priors" }}
"""
    header = {
        "format": "dalenius-certificate/2",
        "problem": "maximal_leakage",
        "model": parse_model(text.encode()).digest,
        "lower": "0",
        "upper": "9",
        "unit": "nats",
        "producer": "",
    }
    lines = [header, ["witness", None, None], ["record", 0], ["mixture", [0], weights, how]]
    return text.encode(), "".join(json.dumps(line) + "\n" for line in lines).encode()


@pytest.mark.parametrize("kind", ["optimized_unary_encoding", "subset_selection"])
def test_tuples_are_not_kept_and_the_clock_is_looked_at_between_them(monkeypatch, kind):
    """Each look a second; of ninety thousand tuples."""
    ticks = iter(range(10**9))
    monkeypatch.setattr(allowance, "monotonic", lambda: next(ticks))
    weights, listed = ["1"] * 300 + ["2"] * 300 + ["3"] * 300, [[0, 0, 299], [1, 0, 299]]
    case, found = asked(kind, 900, weights, listed if kind == "subset_selection" else [2, listed]), []
    assert most(lambda: found.append(check(*case, seconds=1500))) < 6
    assert (found[0].status, found[0].allowed) == (Status.UNDECIDED, "seconds")
    assert found[0].reason == "certificate line 4: limit: 1500 seconds"
