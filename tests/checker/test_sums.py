"""A block by its sum: bounds and witnesses against rows written out, in both arithmetics, and what the lines may say."""

import itertools
import json
import random
from fractions import Fraction

import numpy as np
import pytest

import cases
from campaigns import draws
from dalenius_check import check, digest

NOISE = (
    'kind="geometric"\nepsilon="{}"',
    'kind="discrete_laplace"\nepsilon="{}"',
    'kind="discrete_gaussian"\nscale="{}"',
)


def drawn(rng):
    """Alphabets and weights of a block, and its noise with its law far beyond them."""
    alphabets = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))] + [rng.randint(2, 4)]
    alike = rng.random() < 0.5
    row = [rng.randint(-3, 5) for _ in range(4)]
    weights = [row[:a] if alike else [rng.randint(-3, 5) for _ in range(a)] for a in alphabets]
    number, table = Fraction(rng.randint(3, 30), 10), rng.choice(NOISE)
    far = np.arange(-400, 401)
    law = np.exp(-((far / float(number)) ** 2) / 2) if "gaussian" in table else np.exp(-abs(far) * float(number))
    return alphabets, weights, table.format(number), law / law.sum()


def claim(model, lower, upper, *lines):
    """The certificate of an interval."""
    head = {"format": "dalenius-certificate/2", "problem": "maximal_leakage", "unit": "nats", "producer": "a test"}
    head |= {"model": digest(model), "lower": f"{lower:.15f}", "upper": f"{upper:.15f}"}
    return "".join(json.dumps(line) + "\n" for line in (head, *lines)).encode()


@pytest.mark.parametrize("arithmetic", ["flint", "python"])
def test_both_ends_are_those_of_rows_written_out(arithmetic):
    """And the lower one is below every such upper one: what is proved is an interval."""
    rng = random.Random(39)
    for _ in range(draws(12, 500, 20_000)):
        alphabets, weights, noise, law = drawn(rng)
        values = sorted({sum(added) for added in itertools.product(*weights)})
        if len(values) == 1:
            continue
        rows = np.array([np.roll(law, v) for v in values])
        text = f'problem="maximal_leakage"\nrecords={{alphabets={alphabets * 2}}}\nquery={{kind="sum",weights={weights * 2}}}\n'
        text += f'mechanism={{{noise.replace(chr(10), ",")}}}\nadversary={{kind="independent_blocks",size={len(alphabets)}}}'
        model = text.encode()

        def far(p, rows=rows):
            mixture = p @ rows / p.sum()
            return np.sum(rows * np.log(np.maximum(rows, 1e-300) / np.maximum(mixture, 1e-300)), axis=1)

        chosen = sorted(rng.sample(range(len(values)), rng.randint(1, len(values))))
        mass = np.array([rng.randint(1, 9) if k in chosen else 0 for k in range(len(values))])
        above = ["sums", [[k, str(mass[k])] for k in chosen]]
        i = len(alphabets) - 1
        others = [sum(added) for added in itertools.product(*weights[:i])]
        pairs = [[values.index(c + rng.choice(others)), str(rng.randint(c == weights[i][0], 9))] for c in weights[i]]
        p = np.zeros(len(values))
        for k, w in pairs:
            p[k] += int(w)
        upper, lower = far(mass).max(), p @ far(p) / p.sum()
        assert lower <= upper + 1e-12
        off = 1e-9 * rng.choice([1, -1])
        for ends, must in (((0, max(upper + off, 0)), off > 0), ((max(lower - off, 0), 9), off > 0)):
            bounds = ["sums", None] if ends[1] == 9 else above
            at = [["at", 1, None], ["sums", i, pairs]] if ends[1] == 9 else [["witness", None, None]]
            verdict = check(model, claim(model, *ends, *at, ["block", 0, None], bounds), arithmetic=arithmetic)
            assert verdict.proved == must, (text, ends, at, bounds, verdict.reason)


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
