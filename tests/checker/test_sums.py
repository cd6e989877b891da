"""A block by its sum: bounds and witnesses against rows written out, in both arithmetics, and what the lines may say."""

import itertools
import json
import math
import random
from fractions import Fraction

import numpy as np
import pytest

import cases
from campaigns import draws, each
from dalenius_check import check, digest
from test_allowance import most

NOISE = (
    'kind="geometric",epsilon="{}"',
    'kind="discrete_laplace",epsilon="{}"',
    'kind="discrete_gaussian",scale="{}"',
    'kind="laplace",scale="{}"',
    'kind="gaussian",scale="{}"',
)
FINE = 24  # parts of 1 that densities are summed over


def falling(scale, far):
    """Laplace noise of this scale on some points, and its law on whole numbers."""
    found = np.exp(-abs(far) / scale)
    return found / found.sum()


def normal(scale, far):
    found = np.exp(-((far / scale) ** 2) / 2)
    return found / found.sum()


def drawn(rng):
    """Alphabets and weights of a block, and its noise: its table, its law, laws that tell no less and no more, what these are off."""
    alphabets = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))] + [rng.randint(2, 4)]
    row = [rng.randint(-3, 5) for _ in range(4)]
    alike = rng.random() < 0.5
    weights = [row[:a] if alike else [rng.randint(-3, 5) for _ in range(a)] for a in alphabets]
    table, whole, fine = rng.choice(NOISE), np.arange(-400, 401), np.arange(-60 * FINE, 60 * FINE + 1) / FINE
    number = Fraction(rng.randint(20 if '"gaussian' in table else 3, 40), 10)
    s, more, lost, off = float(number), 1.0, 0.0, 0.0
    if '"laplace' in table:
        law, above = falling(s, fine), falling(s, whole)
        below, more = above, math.cosh(0.5 / s)
    elif '"gaussian' in table:
        first, second = s - 1 / s, s + 1 / s
        law, above, below = normal(s, fine), normal(first, whole), normal(second, whole)
        lost = rippled(first**2) + rippled((s**2 - first**2) * first**2 / s**2)
        off = rippled(second**2) + rippled(second**2 - s**2)
    else:
        law = above = below = normal(s, whole) if "gaussian" in table else falling(1 / s, whole)
    return alphabets, weights, table.format(number), law, above, below, more, lost, off


def rippled(variance):
    return 3 * math.exp(-2 * math.pi**2 * variance)


def far(law, values, p, step=1):
    """D of each value's row from the mixture with these weights."""
    rows = np.array([np.roll(law, step * v) for v in values])
    mixture = p @ rows / p.sum()
    return np.sum(rows * np.log(np.maximum(rows, 1e-300) / np.maximum(mixture, 1e-300)), axis=1)


def claim(model, lower, upper, *lines):
    """The certificate of an interval."""
    head = {"format": "dalenius-certificate/2", "problem": "maximal_leakage", "unit": "nats", "producer": "a test"}
    head |= {"model": digest(model), "lower": f"{lower:.15f}", "upper": f"{upper:.15f}"}
    return "".join(json.dumps(line) + "\n" for line in (head, *lines)).encode()


@pytest.mark.parametrize("arithmetic", ["flint", "python"])
def test_both_ends_are_those_of_rows_written_out(arithmetic):
    """And they are on their sides of what the noise itself tells, whose densities are summed."""
    rng = random.Random(39)
    for _ in range(draws(12, 500, 20_000)):
        alphabets, weights, noise, law, above, below, more, lost, off = drawn(rng)
        values = sorted({sum(added) for added in itertools.product(*weights)})
        if len(values) == 1:
            continue
        text = f'problem="maximal_leakage"\nrecords={{alphabets={alphabets * 2}}}\nquery={{kind="sum",weights={weights * 2}}}\n'
        text += f'mechanism={{{noise}}}\nadversary={{kind="independent_blocks",size={len(alphabets)}}}'
        chosen = sorted(rng.sample(range(len(values)), rng.randint(1, len(values))))
        mass = np.array([rng.randint(1, 9) if k in chosen else 0 for k in range(len(values))])
        i, step, most = len(alphabets) - 1, 1 if len(law) == len(above) else FINE, math.log(max(alphabets))
        others = [sum(added) for added in itertools.product(*weights[:i])]
        pairs = [[values.index(c + rng.choice(others)), str(rng.randint(c == weights[i][0], 9))] for c in weights[i]]
        p = np.zeros(len(values))
        for k, w in pairs:
            p[k] += int(w) / sum(int(w) for _, w in pairs)
        entropy = -sum(x * math.log(x) for x in p if x)
        upper = far(above, values, mass).max() + lost * most
        lower = more * (p @ far(below, values, p)) - (more - 1) * entropy - off * most
        assert lower <= p @ far(law, values, p, step) + 1e-9
        assert far(law, values, mass, step).max() <= upper + 1e-3  # densities are summed roughly
        assert lower <= upper + 1e-12
        side = rng.choice([1, -1])
        room = 1e-9 * side
        bounds, at = ["sums", [[k, str(mass[k])] for k in chosen]], ["sums", i, pairs]
        nobody, place, section = ["witness", None, None], ["at", 1, None], ["block", 0, None]
        high = claim(text.encode(), 0, max(upper + room, 0), nobody, section, bounds)
        low = claim(text.encode(), max(lower - room, 0), 9, place, at, section, ["sums", None])
        for proof, known in ((high, side > 0), (low, side > 0 or lower + 1e-9 < 0)):
            verdict = check(text.encode(), proof, arithmetic=arithmetic)
            assert verdict.proved == known, (text, proof, verdict.reason)


def test_lines_that_are_none():
    case = cases.cases()["sums"]
    head, at, witness, block, above = case.certificate.decode().splitlines()
    weights = [
        ('[[0,"3"],[4,"3"]]', "the letters' sums must be a list of 3"),
        ('[[0,"3"],[2,"1"],[5,"3"]]', "the value must be an integer from 0 to 4"),
        ('[[0,"0"],[2,"0"],[4,"0"]]', "total weight zero"),
        ('[[0,"3"],[2,"-1"],[4,"3"]]', "a weight must be nonnegative"),
        ("[[0,3],[2,1],[4,3]]", "a weight must be a number written as a string"),
    ]
    bounds = [
        ('[[4,"1"],[0,"1"]]', "values must ascend"),
        ('[[0,"1"],[0,"1"]]', "values must ascend"),
        ("[]", "values must ascend, and be at least one"),
        ('[[0,"1"],[2,"0"],[4,"1"]]', "a weight must be positive"),
        ('[[0,"1","1"]]', "a value and its weight must be a list of 2"),
        ('[[0,"1"],[4,"1"]],null', "takes 1 entries, not 2"),
    ]
    files = [([head, at, f'["sums",1,{pairs}]', block, above], reason) for pairs, reason in weights]
    files += [([head, at, witness, block, f'["sums",{pairs}]'], reason) for pairs, reason in bounds]
    files += [([head, at, witness.replace("1", "2", 1), block, above], "the record must be an integer from 0 to 1")]
    files += [([head, at, witness, block, above, '["record",0]'], "a block")]
    files += [([head, at, witness, block, '["sums",[[2,"1"]]]'], "the divergence of a value's row <= upper fails")]
    files += [
        ([head.replace('"0.53', '"0.54'), at, witness, block, '["sums",null]'], "lower <= witness's information fails")
    ]
    for lines, reason in files:
        verdict = check(case.model, "\n".join(lines).encode())
        assert verdict.exit_code == 1, lines
        assert reason in verdict.reason, verdict.reason


def test_real_noise_behind_many_values_has_these_lines_alone():
    text = b"""problem="maximal_leakage"
records={count=64,alphabet=2}
query={kind="count"}
mechanism={kind="gaussian",scale=20}
adversary={kind="independent_blocks",size=64}"""
    nobody, section = ["witness", None, None], ["block", 0, None]
    assert check(text, claim(text, 0, 0.7, nobody, section, ["sums", None])).proved
    own = ["record", 0], ["vertices"], ["letters"]
    refused = check(text, claim(text, 0, 0.7, nobody, section, *own))
    assert (refused.exit_code, "at most 64 values" in refused.reason) == (1, True), refused.reason
    small = text.replace(b"scale=20", b"scale=1")
    refused = check(small, claim(small, 0, 0.7, nobody, section, ["sums", None]))
    assert "a scale of at least 2" in refused.reason


@each(
    "mechanism, weights",
    ('{kind="discrete_laplace",epsilon=1}', "[0,1048576]"),
    ('{kind="laplace",scale=9}', "[0,4000000]"),
    ('{kind="discrete_gaussian",scale=53000}', "[0,1]"),
    ('{kind="discrete_gaussian",scale=1000000}', "[0,1]"),
)
def test_too_many_outputs_are_left_undecided(mechanism, weights):
    text = f"""problem="maximal_leakage"
records={{count=2,alphabet=2}}
query={{kind="sum",weights={weights}}}
mechanism={mechanism}
adversary={{kind="independent_blocks",size=1}}""".encode()
    proof = claim(text, 0, 0.5, ["witness", None, None], ["block", 0, None], ["sums", [[0, "1"], [1, "1"]]])
    verdict = check(text, proof)
    assert (verdict.exit_code, "limit: " in verdict.reason) == (3, True), verdict.reason


def test_memory_and_seconds_are_counted_before_a_law_is_made():
    text = b"""problem="maximal_leakage"
records={count=2,alphabet=2}
query={kind="sum",weights=[0,500000]}
mechanism={kind="discrete_laplace",epsilon=1}
adversary={kind="independent_blocks",size=1}"""
    proof = claim(text, 0, 0.5, ["witness", None, None], ["block", 0, None], ["sums", [[0, "1"], [1, "1"]]])
    for what, limit in ({"memory": 200}, "200 MiB of memory"), ({"seconds": 5}, "5 seconds"):
        found = []
        assert most(lambda what=what, found=found: found.append(check(text, proof, **what))) < 10
        assert found[0].reason == f"certificate line 4: limit: {limit}"
