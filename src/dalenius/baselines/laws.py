"""The source paper's Algorithm 2: modified Blahut-Arimoto for the record's marginal law, with an adaptive multiplier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dalenius.baselines.family import Log, View, need_one_of, need_positive, need_share
from dalenius.baselines.gradients import (
    Selected,
    along_boundary,
    conditional_gradient,
    leakage,
    log_ratio,
    on_entropy_boundary,
    projected_step,
    through,
)
from dalenius.information import entropy, log_sum_exp, x_log_x
from dalenius.information.arrays import Floats

LEAST_MASS = 1e-12  # that a letter is given


@dataclass(frozen=True)
class MarginalSettings:
    """Of Algorithm 2. The text that we have has lost the paper's numbers; these are ours.

    Attributes
    ----------
    tolerance : float
        Stop when the leakage changes by less than this, in nats.
    iterations : int
    multiplier_step : float
        The step of the gradient descent on the multiplier.
    """

    tolerance: float = 1e-10
    iterations: int = 300
    multiplier_step: float = 0.5

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "iterations", "multiplier_step")


def blahut_arimoto(pi: Floats, K: Floats, spread: Floats, bound: float, settings: MarginalSettings, log: Log) -> Floats:
    """max over pi of I(pi, K) subject to H(pi) + sum_a pi_a H(w_a) >= bound, the source paper's problem (13).

    The update (15) is lost; ours maximises the Lagrangian I + m (H - bound) with the posterior phi = pi_a K_a / r held fixed:

        pi_a <- (pi_a exp(D(K_a || r) + m H(w_a)))^(1/(1+m)) / normalisation,       m <- max(0, m - step (H - bound)).

    For m fixed the Lagrangian never falls; while m moves the bound may be broken. A last law that breaks it is mixed with just enough
    of the first one, and the best law that meets it is kept: what comes back is never worse than `pi`.

    Parameters
    ----------
    pi : (letters,)
        A law that meets the bound.
    K : (letters, outputs)
    spread : (letters,)
        H(w_a); relative to log |X| if `bound` is.

    >>> from dalenius.search.clock import Clock
    >>> K = np.array([[0.9, 0.1], [0.4, 0.6], [0.1, 0.9]])
    >>> law = blahut_arimoto(np.full(3, 1 / 3), K, np.zeros(3), 0.0, MarginalSettings(), Log(Clock()))
    >>> law.round(3).tolist()
    [0.5, 0.0, 0.5]
    """
    first, best, value = pi, pi, leakage(pi, K)
    multiplier, before = 0.0, value
    for _ in range(int(settings.iterations)):
        if log.clock.expired:
            break
        distance = np.sum(K * log_ratio(pi, K), axis=1)
        score = (np.log(np.maximum(pi, LEAST_MASS)) + distance + multiplier * spread) / (1.0 + multiplier)
        pi = np.maximum(np.exp(score - log_sum_exp(score)), LEAST_MASS)
        pi /= pi.sum()
        excess = float(entropy(pi) + pi @ spread) - bound
        now = leakage(pi, K)
        log.evaluations += 1
        if excess >= 0.0 and now > value:
            best, value = pi, now
        multiplier = max(0.0, multiplier - settings.multiplier_step * excess)
        if abs(now - before) < settings.tolerance:
            break
        before = now
    back = _pulled_back(pi, first, spread, bound)
    return back if leakage(back, K) > value else best


def _pulled_back(pi: Floats, first: Floats, spread: Floats, bound: float) -> Floats:
    """(1-t) pi + t first with the least t at which the entropy, concave in t, meets the bound; by bisection."""
    low, high, share, mixed = 0.0, 1.0, 0.0, first
    for _ in range(40):
        candidate = (1.0 - share) * pi + share * first
        if float(entropy(candidate) + candidate @ spread) >= bound:
            high, mixed = share, candidate
        else:
            low = share
        if high == 0.0:
            break
        share = 0.5 * (low + high)
    return mixed


# The source paper's Algorithm 3: projected-gradient coordinate ascent on the rows of the conditional law, with backtracking.


NO_MASS = 1e-10  # a letter with less counts as one of marginal 0
LEAST_GAIN = 1e-15  # nats that doubles can tell from none
ON_BOUNDARY = 1e-6  # entropy in nats
ENTROPY_ROUNDING = 1e-11  # nats


@dataclass(frozen=True)
class ConditionalSettings:
    """Of Algorithm 3. Of the paper's numbers the text kept one, the backtracking factor 0.5; the others are ours.

    Attributes
    ----------
    rows : {"fresh", "warm"}
        Where the rows begin. ``"fresh"`` is the text's "initialize each row uniformly or randomly, ensuring feasibility", every time
        that Algorithm 1 comes to Algorithm 3: uniformly in a run from the uniform start, randomly in one from a random start.
        ``"warm"``, a deviation: where Algorithm 1 stands, so that nothing that was gained is thrown away.
    tolerance : float
        Stop when a sweep over the rows gains less than this, in nats.
    sweeps : int
    step : float
        First step, per unit of density (`dalenius.baselines.gradients.projected_step`). Long, because the ascent does better so:
        short steps stop far below.
    direction : {"along", "plain"}
        ``"plain"`` is the gradient, as the text has it; ``"along"``, a deviation, the gradient less its part across the boundary of
        the entropy bound (`dalenius.baselines.gradients.along_boundary`), without which rows rest where nothing is stationary.
    backtrack : float
        Factor on the step when it is rejected.
    halvings : int
        How often at most.
    armijo : float
        A step must gain this share of what the gradient promises, and never lose.
    """

    rows: Literal["fresh", "warm"] = "fresh"
    tolerance: float = 1e-9
    sweeps: int = 20
    step: float = 256.0
    direction: Literal["along", "plain"] = "along"
    backtrack: float = 0.5
    halvings: int = 20
    armijo: float = 1e-4

    def __post_init__(self) -> None:
        need_positive(self, "tolerance", "sweeps", "step", "halvings")
        need_share(self, "backtrack", "armijo")
        need_one_of(self, "rows", "fresh", "warm")
        need_one_of(self, "direction", "along", "plain")


class _Row:
    """The leakage as a function of one row w_a, all else fixed: const + pi_a sum_y K log K - sum_y r log r, r = rest + pi_a K."""

    def __init__(self, pi: Floats, K: Floats, a: int, given: Selected) -> None:
        self.mass, self.given = float(pi[a]), given
        others = np.arange(len(pi)) != a
        self.rest = pi[others] @ K[others]
        self.const = float(pi[others] @ x_log_x(K[others]).sum(axis=1))

    def values(self, outputs: Floats) -> Floats:
        """I for candidates K_a (..., outputs)."""
        own = x_log_x(outputs).sum(axis=-1)
        return self.const + self.mass * own - x_log_x(self.rest + self.mass * outputs).sum(axis=-1)

    def value(self, row: Floats) -> float:
        return float(self.values(row @ self.given))


def coordinate_ascent(
    view: View,
    given: tuple[Selected, ...],
    pi: Floats,
    rows: list[Floats],
    bound: float,
    settings: ConditionalSettings,
    log: Log,
    rng: np.random.Generator | None = None,
) -> list[Floats]:
    """max over the rows w_a of I(pi, w Q) subject to H(pi) + sum_a pi_a H(w_a) >= bound, the source paper's problem (16).

    Theorem 3 leaves row a an entropy of at least c_a = (bound - H(pi) - sum over a' != a of pi_a' H(w_a')) / pi_a, read off the
    chain rule. A row becomes the best unit vector if the bound allows them all (c_a <= 0; a class of N datasets has entropy log N
    of its own, so there c_a <= min_k log N(a,k)), or it takes a gradient step (Theorem 8.3) onto the boundary H(w_a) = c_a. A row
    of a letter with no mass takes the unit vector of the largest D(Q || r). Once begun it never falls: whatever does not gain is
    rejected.

    Parameters
    ----------
    view, given
        The record's cells, and their channel rows (cells of a, outputs).
    pi : (letters,)
    rows : list of (cells of a,)
        Conditionals; with pi they meet the bound.
    bound : float
        b - log |X|.
    rng : numpy.random.Generator, optional
        For fresh rows that are random; uniform ones without it.
    """
    rows = fresh_rows(view, pi, bound, rng) if settings.rows == "fresh" else list(rows)
    value = leakage(pi, through(rows, given))
    for _ in range(int(settings.sweeps)):
        before = value
        for a in range(view.letters):
            if log.clock.expired:
                return rows
            value = _update(view, given, pi, rows, a, bound, value, settings, log)
        if value - before < settings.tolerance:
            break
    return rows


def fresh_rows(view: View, pi: Floats, bound: float, rng: np.random.Generator | None) -> list[Floats]:
    """Conditionals to begin with: uniform ones, or random ones that each have the entropy that all of them together need.

    A random row is a Dirichlet law with a random concentration; where H(w_a) < bound - H(pi), the power of it that just meets that.
    Letters with few completions may not be able to: then all rows are uniform.
    """
    uniform = [np.exp(logs - log_sum_exp(logs)) for logs in view.log_uniform]
    if rng is None:
        return uniform
    rows, least = [], bound - float(entropy(pi))
    for a, logs in enumerate(view.log_uniform):
        row = rng.dirichlet(np.full(logs.size, 10.0 ** rng.uniform(-1.0, 0.0)))
        rows.append(row if view.spread(a, row) >= least else on_entropy_boundary(row, logs, least))
    return rows if view.entropy(pi, rows) >= bound - ENTROPY_ROUNDING else uniform


def _update(
    view: View,
    given: tuple[Selected, ...],
    pi: Floats,
    rows: list[Floats],
    a: int,
    bound: float,
    value: float,
    settings: ConditionalSettings,
    log: Log,
) -> float:
    """Change row a in place if that gains; the leakage afterwards."""
    K = through(rows, given)
    if pi[a] <= NO_MASS:
        Q = given[a].channel
        distance = x_log_x(Q).sum(axis=1) - Q @ np.log(np.maximum(pi @ K, 1e-300))
        rows[a] = _unit(len(rows[a]), int(np.argmax(distance[given[a].inputs])))
        return value
    row = _Row(pi, K, a, given[a])
    spread = sum(pi[other] * view.spread(other, rows[other]) for other in range(view.letters) if other != a)
    least = (bound - float(entropy(pi)) - float(spread)) / float(pi[a])
    if least <= view.log_uniform[a].min():
        found = row.values(given[a].channel)[given[a].inputs]
        log.evaluations += len(given[a].channel)
        best = int(np.argmax(found))
        if found[best] > value + LEAST_GAIN:
            rows[a], value = _unit(len(rows[a]), best), float(found[best])
        return value
    return _climb(view, row, pi, K, rows, a, least, value, settings, log)


def _climb(
    view: View,
    row: _Row,
    pi: Floats,
    K: Floats,
    rows: list[Floats],
    a: int,
    least: float,
    value: float,
    settings: ConditionalSettings,
    log: Log,
) -> float:
    """One projected gradient step with backtracking; the leakage afterwards."""
    gradient = conditional_gradient(pi, K, a, row.given)
    gradient = gradient - gradient.mean()
    direction = gradient
    if settings.direction == "along" and view.spread(a, rows[a]) - least < ON_BOUNDARY:
        direction = along_boundary(rows[a], gradient, view.log_uniform[a])
    step = settings.step
    for _ in range(int(settings.halvings)):
        candidate = projected_step(rows[a], direction, step, view.log_uniform[a], least)
        now = row.value(candidate)
        log.evaluations += 1
        wanted = value + max(settings.armijo * float(gradient @ (candidate - rows[a])), LEAST_GAIN)
        if now > wanted and view.spread(a, candidate) >= least - ENTROPY_ROUNDING:
            rows[a] = candidate
            return now
        if log.clock.expired:
            break
        step *= settings.backtrack
    return value


def _unit(size: int, place: int) -> Floats:
    row = np.zeros(size)
    row[place] = 1.0
    return row
