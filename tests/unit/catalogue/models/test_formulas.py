"""Formulas, evaluated to fifty digits, lie within the proved intervals."""

import itertools
from decimal import Decimal, localcontext
from fractions import Fraction

from campaigns import each
from libraries import MODELS

FORMULAS = [name for name, model in MODELS.items() if model.formula]


def number(text: str | int) -> Decimal:
    """A decimal, or a fraction."""
    upper, _, lower = str(text).partition("/")
    return Decimal(upper) / Decimal(lower or 1)


def h(p: Decimal) -> Decimal:
    return -p * p.ln() - (1 - p) * (1 - p).ln()


def h_inverse(value: Decimal) -> Decimal:
    """p <= 1/2 with h(p) = value, by bisection."""
    low, high = Decimal(10) ** -45, Decimal("0.5")
    for _ in range(170):
        middle = (low + high) / 2
        low, high = (middle, high) if h(middle) < value else (low, middle)
    return low


def log(x: str | int) -> Decimal:
    return number(x).ln()


def symmetric(letters: int, flip: str) -> Decimal:
    """The capacity of the symmetric channel, which is also the rate-distortion function of a uniform letter."""
    return log(letters) - h(number(flip)) - number(flip) * log(letters - 1)


def laplace() -> Decimal:
    return (-number("1/2")).exp() / 2


def exponential(epsilon: str) -> Decimal:
    return 1 / (1 + number(epsilon).exp())


def distorted(letters: int, told: Decimal) -> Decimal:
    """The error at which the rate-distortion function of a uniform letter is so much, by bisection."""
    low, high = Decimal(10) ** -45, 1 - 1 / Decimal(letters)
    for _ in range(170):
        middle = (low + high) / 2
        rate = log(letters) - h(middle) - middle * log(letters - 1)
        low, high = (middle, high) if rate > told else (low, middle)
    return low


def gerber(flip: Decimal, spare: Decimal) -> Decimal:
    """Mrs. Gerber's lemma: the parity of n bits through a binary symmetric channel, b = (n-1) log 2 + spare."""
    v = h_inverse(spare)
    return log(2) - h(flip + v - 2 * flip * v)


def information(joint: list[list[Decimal]]) -> Decimal:
    """I(X; Y) of a joint law."""
    columns = [sum(column) for column in zip(*joint, strict=True)]
    return sum(u * (u / (sum(row) * r)).ln() for row in joint for u, r in zip(row, columns, strict=True) if u)


def geometric(top: int, epsilon: str) -> list[list[Decimal]]:
    """The truncated geometric mechanism for 0, ..., top."""
    a = (-number(epsilon)).exp()
    inside = [
        [a ** abs(y - v) / (1 + a) * (1 if y in (0, top) else 1 - a) for y in range(top + 1)] for v in range(top + 1)
    ]
    return inside


def told(prior: list[Decimal], bits: int, rows: list[list[Decimal]], record: int) -> Decimal:
    """What the count of bits, through a channel, tells about a record under a prior on datasets."""
    joint = [[Decimal(0)] * len(rows[0]) for _ in range(2)]
    for mass, data in zip(prior, itertools.product((0, 1), repeat=bits), strict=True):
        for y, chance in enumerate(rows[sum(data)]):
            joint[data[record]][y] += mass * chance
    return information(joint)


def listed() -> Decimal:
    priors = [[number(x) for x in prior] for prior in (["1/2", 0, 0, "1/2"], ["0.4", "0.3", "0.2", "0.1"])]
    return max(told(prior, 2, geometric(2, "1"), record) for prior in priors for record in (0, 1))


EXACT = {
    "channel/planted-pair-n6": lambda: number("4/5") * (log(2) - h(number("1/8"))),
    "count/independent-n8": lambda: log(2) - h(exponential("1/2")),
    "count/listed-priors": listed,
    "degenerate/almost-silent": lambda: log(2) - h(number("0.49999")),
    "degenerate/constant-channel": lambda: Decimal(0),
    "degenerate/equal-rows": lambda: log(2),
    "degenerate/generous-design": lambda: Decimal(0),
    "degenerate/noiseless": lambda: log(3),
    "degenerate/silent-design": lambda: number("1/2"),
    "degenerate/uniform-only": lambda: told([number("1/16")] * 16, 4, geometric(4, "1"), 0),
    "design/bit-paid-errors": lambda: log(2) - (1 + (-number("3/2")).exp()).ln(),
    "design/modular-sum-m3-additive": lambda: symmetric(3, "1/5"),
    "design/parity-n1000": lambda: log(2) - h(number("1/10")),
    "design/parity-n4-distortion": lambda: h_inverse(log(2) - number("3/10")),
    "design/parity-n4-leakage": lambda: log(2) - h(number("1/10")),
    "identity/bit": lambda: log(2) - h(number("0.11")),
    "identity/z-channel": lambda: log("5/4"),
    "modular-sum/slack-m4-n3": lambda: symmetric(4, "3/10"),
    "parity/exponential-n4": lambda: log(2) - h(exponential("1/2")),
    "parity/exponential-n4-b2": lambda: log(2) - h(exponential("1/2")),
    "parity/independent-n5": lambda: log(2) - h(number("1/3")),
    "parity/laplace-n4": lambda: log(2) - h(laplace()),
    "parity/laplace-n4-b2.5": lambda: gerber(laplace(), number("5/2") - 3 * log(2)),
    "parity/symmetric-n2": lambda: gerber(number("1/10"), log(2) / 2),
    "parity/symmetric-n6-b0.95": lambda: gerber(number("1/10"), number("7/10") * log(2)),
    "privacy/local-dp-k3": lambda: 2 / (number(3) + 2),
    "privacy/pml-k3": lambda: 1 - number("1/2") - number("3/10"),
    "scale/modular-sum-n1000": lambda: symmetric(3, "1/5"),
    "scale/parity-n1000": lambda: gerber(laplace(), log(2) / 2),
    "scale/parity-n100000": lambda: log(2) - h(number("1/10")),
    "secret/chi-square-bit": lambda: (1 - number("1/20").sqrt()) / 2,
    "information/uniform-pml": lambda: log(2),
    "secret/local-dp-delta": lambda: number("19/20") * 2 / (number(3) + 2),
    "secret/mutual-information": lambda: distorted(3, number("1/10")),
    "secret/total-variation": lambda: number("7/25"),
    "table/and-2x2": lambda: log(2) - h(number("1/10")),
}


@each("name", *FORMULAS)
def test_the_formula_is_within_the_interval(name):
    with localcontext(prec=50):
        exact = Fraction(EXACT[name]())
    slack = Fraction(1, 10**40) if exact else 0  # fifty digits, some of which cancel
    lower, upper = MODELS[name].claim
    assert lower <= exact + slack
    assert exact - slack <= upper
    assert MODELS[name].tightness == "exact"
