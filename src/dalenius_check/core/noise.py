"""The rows of mechanisms that tell a value with noise: exact rationals, or balls where an epsilon enters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from .allowance import BALL, NUMBER, POINTER, Allowance, lemma
from .arithmetic import arb, fmpq
from .numbers import need, take_entries

REAL = ("gaussian", "laplace")


def power(exponent: fmpq) -> Any:
    """exp(-exponent): the rational 1 at zero, else a ball."""
    return fmpq(1) if exponent == 0 else arb(-exponent).exp()


def keeping(mechanism: dict[str, Any], size: int) -> tuple[Any, Any]:
    """The probabilities that one of so many values is kept, and that it becomes any other one."""
    flip = mechanism.get("flip")
    if flip is not None:
        return 1 - flip, flip / (size - 1)
    decay = power(mechanism["epsilon"])
    whole = 1 + (size - 1) * decay
    return 1 / whole, decay / whole


def diagonal(mechanism: dict[str, Any], size: int, allowance: Allowance) -> list[list[Any]]:
    """Those that keep the value, or change it to any other alike."""
    need(size >= 2 and mechanism["k"] in (None, size), f"mechanism.k must be {size}, one for each value, and >= 2")
    take_entries(size, size, allowance, POINTER)
    keep, other = keeping(mechanism, size)
    return [[other] * v + [keep] + [other] * (size - v - 1) for v in range(size)]


class Noise:
    """Properties of the noise that a mechanism adds; of this one nothing is known but its rows, if these are."""

    shifts = False  # whether nothing cuts it off, so that what others add to a value only shifts what is seen
    on_a_bit = False  # whether it treats two values alike
    clamps = False  # whether its rows are one law, shifted, and clamped beyond all values
    endless = False  # whether it has a matrix only where it is clamped to a range
    real = False  # whether outputs are real numbers
    falls = False  # of these, whether the density falls exponentially
    epsilon: Any = None  # of two-sided geometric noise
    margin = 0  # how far outputs beyond the values are told apart by those who know all other records
    finest = 1000  # the least scale is 1 by this

    def __init__(self, table: dict[str, Any]) -> None:
        self.table = table

    def need_valid(self, what: str) -> None:
        """Refuse what is said of the noise that does not fit together."""
        scale = self.table.get("scale")
        need(scale is None or scale * self.finest >= 1, f"{what}.scale must be at least 1/{self.finest}")

    def rows(self, inputs: list[int], allowance: Allowance) -> list[list[Any]]:
        """The rows of these values."""
        raise NotImplementedError

    def alone(self, values: Sequence[int]) -> dict[str, Any]:
        """Of noise that shifts: the mechanism about some records with these values, where the others are known."""
        return self.table

    def lost(self, letters: int) -> arb:
        """Largest leakage about a record with so many letters by the noise that `alone` clamps."""
        return arb(0)


class Geometric(Noise):
    """Two-sided geometric noise; the ends of its range have all that is beyond them."""

    shifts = on_a_bit = clamps = True

    def __init__(self, table: dict[str, Any]) -> None:
        super().__init__(table)
        scale: fmpq | None = table.get("scale")
        self.epsilon = table["epsilon"] if scale is None else 1 / scale
        self.on_a_bit = table.get("range") is None

    def rows(self, inputs: list[int], allowance: Allowance) -> list[list[Any]]:
        low, high = _ends(self.table, inputs)
        take_entries(len(inputs), high - low + 1, allowance, POINTER)
        allowance.room(3 * (high - low + 1) * BALL)
        allowance.soon((high - low) / 1e6)
        decay = [power(self.epsilon * d) for d in range(high - low + 1)]
        ends = [x / (1 + decay[1]) for x in decay]
        inside = [-x * arb(-self.epsilon).expm1() for x in ends]
        return [[(ends if y in (low, high) else inside)[abs(y - v)] for y in range(low, high + 1)] for v in inputs]

    def alone(self, values: Sequence[int]) -> dict[str, Any]:
        return {"kind": "discrete_laplace", "epsilon": self.epsilon}


class DiscreteLaplace(Geometric):
    """Discrete Laplace noise as the geometric mechanism between the least and the largest value.

    Bound because the outputs beyond them have proportional columns, and merging such columns leaves every information as it is.
    """

    def rows(self, inputs: list[int], allowance: Allowance) -> list[list[Any]]:
        return super().rows(inputs, allowance) if len(inputs) > 1 else [[fmpq(1)]]


class DiscreteGaussian(Noise):
    """Discrete Gaussian noise within a range, or clamped far beyond the values.

    What that loses is bound because where the clamped output is no end of its range it is the output itself, and elsewhere nobody
    reveals more of a record than the logarithm of its letters.
    """

    shifts = endless = clamps = True
    finest = 100

    @property
    def _lemma(self) -> Any:
        return lemma("gaussian")

    def __init__(self, table: dict[str, Any]) -> None:
        super().__init__(table)
        self.shifts, self.margin = table["range"] is None, self._lemma.margin(table["scale"])

    def rows(self, inputs: list[int], allowance: Allowance) -> list[list[Any]]:
        rows: list[list[Any]] = self._lemma.clamped(self.table, inputs, allowance)
        return rows

    def alone(self, values: Sequence[int]) -> dict[str, Any]:
        return {**self.table, "range": [values[0] - self.margin, values[-1] + self.margin]}

    def lost(self, letters: int) -> arb:
        beyond: arb = self._lemma.beyond(self.table["scale"])
        return 2 * beyond * arb(letters).log()


class Staircase(Noise):
    """Staircase noise: probabilities that fall by e^-epsilon at the distances r, r + D, r + 2 D, ... from the value.

    Bound because of outputs up to the least value, as from the largest on, those D apart have proportional columns, and merging such
    columns leaves every information as it is.
    """

    shifts = on_a_bit = True

    def __init__(self, table: dict[str, Any]) -> None:
        super().__init__(table)
        self.margin = table["sensitivity"] - 1

    def need_valid(self, what: str) -> None:
        need(self.table["top"] <= self.table["sensitivity"], f"{what}.top must be at most the sensitivity")

    def rows(self, inputs: list[int], allowance: Allowance) -> list[list[Any]]:
        if len(inputs) == 1:
            return [[fmpq(1)]]
        low, high = inputs[0] - self.margin, inputs[-1] + self.margin
        take_entries(len(inputs), high - low + 1, allowance, POINTER)
        epsilon, size, top = (self.table[key] for key in ("epsilon", "sensitivity", "top"))
        last = (high - inputs[0] - top) // size + 1
        allowance.room(2 * last * BALL)
        allowance.soon(last / 1e6)
        less = -arb(-epsilon).expm1()
        whole = 2 * top + 2 * (size - top) * power(epsilon) - less
        ends = [power(epsilon * step) / whole for step in range(last + 1)]
        inside = [x * less for x in ends]
        return [
            [
                (inside if inputs[0] < y < inputs[-1] else ends)[(abs(y - v) - top) // size + 1]
                for y in range(low, high + 1)
            ]
            for v in inputs
        ]


class Exponential(Noise):
    """Probabilities that fall with the distance from the value, each row divided by its sum."""

    on_a_bit = True

    def __init__(self, table: dict[str, Any]) -> None:
        super().__init__(table)
        self.on_a_bit = table["range"] is None

    def rows(self, inputs: list[int], allowance: Allowance) -> list[list[Any]]:
        low, high = _ends(self.table, inputs)
        take_entries(len(inputs), high - low + 1, allowance, NUMBER)
        rate = self.table["epsilon"] / (2 * self.table["sensitivity"])
        decay = [power(rate * d) for d in range(high - low + 1)]
        tails = list(accumulate(decay))
        rows = []
        shares = dict[int, list[Any]]()
        for v in inputs:
            allowance.look()
            near, far = sorted((v - low, high - v))
            if near not in shares:  # of two mirrored inputs only one is worked out
                weight = tails[near] + tails[far] - decay[0]
                shares[near] = [x / weight for x in decay[: far + 1]]
            rows.append([shares[near][abs(y - v)] for y in range(low, high + 1)])
        return rows


class OnALine(Noise):
    """Noise on a real scale."""

    shifts = real = True

    def __init__(self, table: dict[str, Any]) -> None:
        super().__init__(table)
        self.falls = table["kind"] == REAL[1]


def _ends(mechanism: dict[str, Any], inputs: list[int]) -> tuple[int, int]:
    """The least and the largest output."""
    low, high = mechanism.get("range") or (inputs[0], inputs[-1])
    need(low < high, "mechanism.range needs two outputs: the query has one value only")
    need(low <= inputs[0] and inputs[-1] <= high, "mechanism.range must contain every value of the query")
    return low, high


NOISES = {
    "geometric": Geometric,
    "discrete_laplace": DiscreteLaplace,
    "discrete_gaussian": DiscreteGaussian,
    "staircase": Staircase,
    "exponential": Exponential,
    **dict.fromkeys(REAL, OnALine),
}
ON_A_BIT = [kind for kind, noise in NOISES.items() if noise.on_a_bit]
SHIFTING = [kind for kind, noise in NOISES.items() if noise.shifts]


def noise_of(mechanism: dict[str, Any]) -> Noise:
    """Properties of the noise of a mechanism."""
    return NOISES.get(mechanism.get("kind", ""), Noise)(mechanism)
