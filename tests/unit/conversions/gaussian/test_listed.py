"""The Gaussian mechanism on the 21 inputs of Figures 3 and 4 of the paper on local mutual-information privacy."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from scipy.integrate import quad

import dalenius as dl
from campaigns import draws, thinned
from dalenius.conversions.gaussian import ListedInputs

INPUTS = [Fraction(i, 10) - 1 for i in range(21)]
WEIGHTS = [math.exp(-2.0 * float(x) ** 2) for x in INPUTS]
FIGURE_4 = [  # variance: information, largest divergence, bits
    ("1", "0.132850891990", "0.6114903531"),
    ("0.5", "0.244938011693", "1.0643506681"),
    ("5", "0.028601674178", "0.1392205602"),
    ("200", "0.000729038992", "0.0036034625"),
]
FIGURE_3 = {  # variance: epsilon, delta
    "1.3599906965": {
        "0": 0.321948003239,
        "0.1": 0.291800020303,
        "0.5": 0.18695080591,
        "2": 0.0175780237248,
        "3": 0.00210820109661,
    },
    "14.4872661913": {"0": 0.10418828725, "0.2": 0.0386031681111, "0.5": 0.00473430755809},
}


@pytest.mark.thorough
@pytest.mark.parametrize(("variance", "information", "largest"), FIGURE_4)
def test_figure_4(variance, information, largest):
    with ctx.workprec(90):
        found = ListedInputs.of(INPUTS, WEIGHTS, variance)
        bits = [float(x / arb(2).log()) for x in (found.mutual_information(), found.largest_divergence())]
    assert bits == pytest.approx([float(information), float(largest)], abs=6e-11)


@pytest.mark.parametrize("variance", thinned(FIGURE_3, every=2))
def test_figure_3_and_that_theorem_2a_as_printed_does_not_hold_there(variance):
    mu = "0.1" if variance == "1.3599906965" else "0.01"
    with ctx.workprec(90):
        found = ListedInputs.of(INPUTS, WEIGHTS, variance)
        for epsilon, delta in list(FIGURE_3[variance].items())[: draws(1, 5)]:
            ball = found.delta(arb(epsilon))
            assert float(ball.rad()) < 1e-12
            assert float(ball) == pytest.approx(delta, abs=1e-11, rel=1e-9)
    asked = "local_information_privacy_delta(0.1)"
    with ctx.workprec(90):
        own = float(found.delta(arb("0.1")).lower())
    printed = dl.convert("largest_divergence", f"{mu} bits", to=asked).value
    corrected = dl.convert("mutual_information", f"{mu} bits", to=asked, p_min="0.0111947").value
    assert printed < own < corrected


def test_the_curve_against_quadrature_on_inputs_that_are_not_symmetric():
    inputs, weights = [Fraction(0), Fraction(1), Fraction(3)], ["0.2", "0.5", "0.3"]
    with ctx.workprec(90):
        found = ListedInputs.of(inputs, weights, 1)
        for epsilon in (0.0, 0.3, 1.2):
            ball = found.delta(arb(epsilon))

            def worst(y, x, g, sign):
                q = sum(float(w) * math.exp(-((y - float(z)) ** 2) / 2) for w, z in zip(weights, inputs, strict=True))
                own = math.exp(-((y - x) ** 2) / 2)
                return max(q - g * own if sign > 0 else own / g - q, 0.0) / math.sqrt(2 * math.pi)

            exact = max(
                quad(worst, -12, 15, args=(float(x), math.exp(epsilon), sign), limit=400, points=[0, 1, 2, 3])[0]
                for x in inputs
                for sign in (1, -1)
            )
            assert float(ball) == pytest.approx(exact, abs=1e-7)


def test_lists_that_do_not_fit_are_refused():
    for inputs, weights, variance in (([1], [1], 1), ([1, 2], [1], 1), ([1, 2], [1, 0], 1), ([1, 2], [1, 1], 0)):
        with pytest.raises(dl.InputError, match="expected at least two inputs"):
            ListedInputs.of(inputs, weights, variance)
    assert np.isfinite(float(ListedInputs.of([1, 2], [1, 1], 1).mutual_information()))
