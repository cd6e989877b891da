"""The least value of a convex function of one multiplier, near one that is known: what every bound in closed form is polished by."""

from __future__ import annotations

import math
from collections.abc import Callable

MOST = 60  # values beyond those that find ends
WINDOW = 1e4  # how many times more or less than what is known
STEP = 1e-3  # the first step of the search for ends, as a logarithm
STRIDE = 8.0  # how much longer each step is than the one before
CLOSE = 1e-9  # of a multiplier: nearer ones are the same
NOTHING = 2e-16  # of a value


def polished(bound: Callable[[float], float], mu: float, least: float = 0.0) -> float:
    """A multiplier near mu, or the least one, with a smaller bound, if there is one: bounds are convex, so one search does.

    >>> round(polished(lambda mu: mu + 4.0 / mu if mu else math.inf, 1.0), 6)
    2.0
    >>> round(polished(lambda mu: abs(mu - 3.0), 1.0), 12), polished(lambda mu: 1.0 + mu, 1.0)
    (3.0, 0.0)
    """
    known = _Values(bound)
    centre = max(min(max(mu, 1e-9), 1e9), least)
    low, high = max(centre / WINDOW, least), centre * WINDOW
    if least < low and known(least) <= known(low) < math.inf:
        return min((least, min(max(mu, least), low)), key=known)
    known.enclose(centre, low, high)
    known.narrow()
    return min((max(mu, least), *known.at), key=known)


class _Values:
    """A convex function's values where it was asked for them."""

    def __init__(self, function: Callable[[float], float]) -> None:
        self.function = function
        self.at: dict[float, float] = {}

    def __call__(self, x: float) -> float:
        if x not in self.at:
            value = self.function(x)
            self.at[x] = math.inf if math.isnan(value) else value
        return self.at[x]

    def enclose(self, centre: float, low: float, high: float) -> None:
        """Look on both sides of the centre, and as far as it falls on one of them."""
        for end, sign in ((low, -1.0), (high, 1.0)):
            x, step = centre, STEP
            while x != end:
                ahead = x * math.exp(sign * step)
                before, x = x, max(ahead, end) if sign < 0.0 else min(ahead, end)
                if self(x) >= self(before) and self(before) < math.inf:
                    break
                step *= STRIDE

    def narrow(self) -> None:
        """Look where the function may be least, until nothing is to be gained.

        Between two points it is above the chords behind them, continued; these meet where it is least if it has a kink there.
        In turn with that a parabola through three points is tried, for one that is smooth.
        """
        widths: list[float] = []
        for number in range(MOST):
            xs = sorted(self.at)
            i = xs.index(min(xs, key=self))
            if not 0 < i < len(xs) - 1:
                break
            a, b, c = xs[i - 1 : i + 2]
            gain, x = max(self._below(xs, i, -1), self._below(xs, i, 1))
            if gain <= NOTHING * abs(self(b)) or c - a <= CLOSE * b:
                break
            expected = math.inf
            if number % 2 == 0:
                x, expected = self._vertex(a, b, c) or (x, expected)
            widths.append(c - a)
            x = b + math.copysign(max(abs(x - b), CLOSE * b), x - b)
            if (len(widths) > 2 and widths[-1] > 0.5 * widths[-3]) or not a < x < c or x in self.at:
                far = a if b - a > c - b else c
                x, expected = math.sqrt(b * far) or 0.5 * b, math.inf
            if abs(self(x) - expected) <= NOTHING * abs(self(x)):
                break  # the parabola was right

    def _below(self, xs: list[float], i: int, side: int) -> tuple[float, float]:
        """Drop below the best point that the function may have on one side of it, and where."""
        behind, b, ahead, further = xs[i - side], xs[i], xs[i + side], i + 2 * side
        slope = self._slope(behind, b)
        if not math.isfinite(slope):  # there is no chord
            return math.inf, 0.5 * (b + behind)
        away = ahead - b
        if 0 <= further < len(xs) and slope != (other := self._slope(ahead, xs[further])) and math.isfinite(other):
            met = (self(ahead) - self(b) - other * away) / (slope - other)
            away = math.copysign(min(max(met / away, 0.0), 1.0) * abs(away), away)
        return -slope * away, b + away

    def _vertex(self, a: float, b: float, c: float) -> tuple[float, float] | None:
        """Minimiser of the parabola through three points, and its value there."""
        left, right = self._slope(a, b), self._slope(b, c)
        if not left < right < math.inf:
            return None
        bend = (right - left) / (c - a)
        x = 0.5 * (a + b - left / bend)
        return x, self(b) + (x - b) * (left + bend * (x - a))

    def _slope(self, x: float, y: float) -> float:
        return (self(y) - self(x)) / (y - x)
