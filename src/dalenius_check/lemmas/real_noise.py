"""Theorem N1: the upper ends that are divergences from a mixture of rows hold for densities; Gaussian integrals by the
trapezoidal rule, Laplace ones piece by piece.

Hypotheses, each a line that refuses: the adversary is one whose upper ends are such (`channel`); values are few, and near
(`need_few`); the rule's error and tails are added (`Gaussian.far`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ..core.allowance import BALL, CELL, Allowance, limit, rests_on
from ..core.arithmetic import arb, arb_mat, chosen, fmpq
from ..core.channel import Channel
from ..core.classes import CLASSES
from ..core.model import Model
from ..core.numbers import need, root, summed

KNOWN = (
    "gaussian and laplace are known against product_priors, the classes of laws, an entropy of at least exactly 0, prior_set, and "
    "independent_blocks without an entropy; about secrets against prior_set"
)
_MOST_VALUES = 64
_MOST_SPAN = 64
_MOST_NODES = 1 << 21
_HALVINGS = 8


def need_few(values: Sequence[int], scale: fmpq) -> None:
    """Refuse queries of many values, or of values far apart."""
    need(len(values) <= _MOST_VALUES, f"mechanism: noise on a real scale needs at most {_MOST_VALUES} values")
    need(
        values[-1] - values[0] <= _MOST_SPAN * scale,
        f"mechanism: the values span more than {_MOST_SPAN} times its scale",
    )


class RealNoise:
    """The values over the scale, ascending."""

    def __init__(self, scale: fmpq, values: Sequence[int], allowance: Allowance) -> None:
        need_few(values, scale)
        self.places = [value / scale for value in values]
        self.inputs = len(values)
        self.allowance = allowance

    def divergences(self, law: Sequence[fmpq], how: Any, above: bool) -> list[arb]:
        """Balls around D(R(k,.) || the outputs' law under this one of the inputs), for every input k."""
        need(how is None, "how must be null")
        return self.far(law) if max(law) < 1 else self.far_from_one(law.index(fmpq(1)), self.far(law))

    @staticmethod
    def far_from_one(k: int, found: list[arb]) -> list[arb]:
        """The same where the law is that of input k, from which this does not diverge at all."""
        return [*found[:k], arb(0), *found[k + 1 :]]

    def far(self, law: Sequence[fmpq]) -> list[arb]:
        """The same, by the densities."""
        raise NotImplementedError


class Laplace(RealNoise):
    """Density e^-|x| / 2.

    Between neighbouring places R is a multiple of v or 1/v, and r that of a v + b / v, at the distance log v from one of them; beyond
    the first and the last place R/r is one number.
    """

    def far(self, law: Sequence[fmpq]) -> list[arb]:
        spread = [(place, arb(p)) for place, p in zip(self.places, law, strict=True) if p]
        gaps = [self._gap(low, high, spread) for low, high in pairwise(self.places)]
        return [self._of(place, gaps, spread) for place in self.places]

    def _gap(self, low: fmpq, high: fmpq, spread: list[tuple[fmpq, arb]]) -> tuple[arb, arb, arb]:
        """e^L - 1, and F(e^L) - F(1) for those who are above the gap, and for those who are below."""
        self.allowance.look()
        above = summed(p * _exp(low - z) for z, p in spread if z > low)  # of r at the lower end
        below = summed(p * _exp(z - high) for z, p in spread if z <= low)  # and at the upper end
        wide = _exp(high - low)
        up = above
        down = below * wide
        turned = below
        back = above * wide
        return wide - 1, _between(wide, up, down), _between(wide, turned, back)

    def _of(self, place: fmpq, gaps: list[tuple[arb, arb, arb]], spread: list[tuple[fmpq, arb]]) -> arb:
        result = arb(0)
        for (low, high), (wide, up, down) in zip(pairwise(self.places), gaps, strict=True):
            far, log = (place - low, up) if place > low else (high - place, down)
            result += _exp(-far) / 2 * (-arb(far) * wide - log)
        for end in (self.places[0], self.places[-1]):
            far = abs(place - end)
            mass = summed(p * _exp(-abs(z - end)) for z, p in spread)
            result += _exp(-far) / 2 * (-arb(far) - mass.log())
        return result


def _exp(x: fmpq) -> arb:
    return arb(x).exp()


def _between(wide: arb, a: arb, b: arb) -> arb:
    """F(wide) - F(1), F a primitive of log(a + b/v^2); a and b are positive, or 0 exactly, but not both."""
    if a.is_zero():
        return wide * (b.log() - 2 * wide.log() + 2) - (b.log() + 2)
    if b.is_zero():
        return (wide - 1) * a.log()
    ratio = ((b.log() - a.log()) / 2).exp()
    turns = arctangent(wide / ratio) - arctangent(1 / ratio)
    return wide * (a + b / (wide * wide)).log() - (a + b).log() + 2 * ratio * turns


def arctangent(x: arb) -> arb:
    """Of a number x > 0: halved some times, then by its series.

    Bound because arctan x = 2 arctan(x / (1 + sqrt(1 + x^2))), and the terms of the series fall and alternate, so that what is left
    out is between 0 and the next one.
    """
    for _ in range(_HALVINGS):
        x = x / (1 + root(1 + x * x))
    if not x < 1:
        return arb("nan")
    square = x * x
    power = x
    result = arb(0)
    j = 0
    while not power * (1 << chosen().precision()) < 1 and j < chosen().precision():
        result += power / (2 * j + 1) * (-1) ** j
        power, j = power * square, j + 1
    rest = power / (2 * j + 1)
    return (result + (-rest).union(rest)) * (1 << _HALVINGS)


class Gaussian(RealNoise):
    """Density e^(-x^2/2) / sqrt(2 pi): integrals by the trapezoidal rule, which errs by less than `eta`.

    Bound because R log(R/r) is analytic where |Im y| <= a, and its integral over a line there is at most a known number.
    """

    def __init__(self, scale: fmpq, values: Sequence[int], allowance: Allowance) -> None:
        super().__init__(scale, values, allowance)
        first, last = self.places[0], self.places[-1]
        span = last - first
        a = min(2 / span, fmpq(6)) if span else fmpq(6)
        step = 6 * a / (60 + a * a / 2)
        count = (span + 24) / step
        nodes = int(-(-count.numerator // count.denominator)) + 1
        limit(nodes * self.inputs <= _MOST_NODES, f"more than {_MOST_NODES} nodes and inputs")
        allowance.take(nodes * self.inputs * (CELL + BALL))
        self.eta = 4 * (3 + arb(span) + arb(span * span) / 2) * arb(-60).exp()
        self.scale = arb(step) / root(8 * arctangent(arb(1)))
        densities = list[list[arb]]()
        self.own = list[arb]()
        for place in self.places:
            allowance.look()
            exponents = [-x * x / 2 for x in (arb(first - 12 + n * step - place) for n in range(nodes))]
            densities.append([x.exp() for x in exponents])
            self.own.append(summed(f * x for f, x in zip(densities[-1], exponents, strict=True)))
        self.densities = arb_mat(densities)

    def far(self, law: Sequence[fmpq]) -> list[arb]:
        self.allowance.look()
        mixed = (arb_mat([list(map(arb, law))]) * self.densities).entries()
        logs = [[x.log()] for x in mixed]
        self.allowance.look()
        eta = (-self.eta).union(self.eta)
        sums = (self.densities * arb_mat(logs)).entries()
        return [self.scale * (own - one) + eta for own, one in zip(self.own, sums, strict=True)]


def real_noise(mechanism: dict[str, Any], values: Sequence[int], allowance: Allowance) -> RealNoise:
    """The noise of a mechanism's table."""
    return {"gaussian": Gaussian, "laplace": Laplace}[mechanism["kind"]](mechanism["scale"], values, allowance)


def channel(model: Model, mechanism: dict[str, Any], inputs: list[int]) -> Channel:
    """A channel without rows, whose outputs are real numbers."""
    rests_on(model.allowance, "N1")
    free = model.adversary == "entropy_at_least" and model.entropy == 0
    known = free or model.adversary == "product_priors" or model.adversary in CLASSES
    need((known and not model.secrets) or model.adversary == "prior_set", KNOWN)
    found = Channel([], inputs, model.allowance)
    found.protocol = real_noise(mechanism, inputs, model.allowance)
    return found
