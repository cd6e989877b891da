"""Closed forms: parity through a binary symmetric channel (Mrs. Gerber's lemma)."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import entr

from campaigns import thinned
from dalenius_check import check


def h(x):
    return float(entr(x) + entr(1 - x))


@pytest.mark.parametrize(
    ("b", "known"),
    thinned(
        [
            (0.0, 0.0795415058653),
            (2.0, 0.0795415058653),
            (2.2, 0.0712774696959),
            (2.5, 0.0387007796428),
            (2.7, 0.0110037996924),
        ],
        every=2,
    ),
)
def test_parity_of_four_bits(forge, b, known):
    p = float(np.exp(-0.5) / 2)
    spare = b - 3 * np.log(2)
    v = brentq(lambda x: h(x) - spare, 1e-15, 0.5) if spare > 0 else 0.0
    flip = p * (1 - v) + (1 - p) * v
    assert np.log(2) - h(flip) == pytest.approx(known, abs=1e-12)
    data = forge.model("count=4; alphabet=2", 'kind="parity"', 'kind="laplace_threshold"; epsilon=1.0', str(b))
    ref = forge.Reference(data)
    near = v + 1e-9 if v else 0.0
    witness = ["witness", 0, [forge.texts([1 - near, near], 12), forge.texts([near, 1 - near], 12)]]
    if spare <= 0:
        leaf, bound = [["joint", "1", "0", None, ["1", "1"]]], known
    else:
        lines, bound = ref.grow(0, 1e-4, known, 200)
        leaf = lines
    lower, upper = forge.text(known - 1e-8), forge.text(bound + 1e-8)
    verdict = check(data, forge.certificate(data, lower, upper, witness, ["record", 1], *leaf))
    assert verdict.exit_code == 0, verdict.reason
    assert bound < known + 2e-4
    for low, high in ((lower, forge.text(known - 1e-8)), (forge.text(known + 1e-8), "1")):
        assert check(data, forge.certificate(data, low, high, witness, ["record", 1], *leaf)).exit_code == 1
