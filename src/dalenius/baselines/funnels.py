"""Rivals for the privacy funnel and the information bottleneck: what the field runs, each to where it comes to rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dalenius.designs.envelope import Told
from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.model import MaxInformation
from dalenius.search import Clock

HALVINGS = 60
STEPS = 500  # of alternating updates at one price
LEAST = 1e-12  # that an update or a linearisation has to gain, relative to the value
PRICES = (1e-4, 1e4)


@dataclass(frozen=True, eq=False)
class Released:
    """Usefulness of mechanisms, and their leakage about the secret, in doubles; rows are (inputs, outputs).

    Parameters
    ----------
    useful, secret : Told
    limit : float
        What may be revealed of the secret.
    """

    useful: Told
    secret: Told
    limit: float

    @classmethod
    def of(cls, problem: MaxInformation) -> Released:
        """Make it of a problem with a limit; `InputError` for one with privacy."""
        if problem.privacy is not None:
            raise InputError(f"compare: a {problem.kind} model under [privacy] has no rivals: it is a linear program")
        useful = Told.of_law(problem.joint, problem.told)
        return cls(useful, Told.of_law(problem.secret, problem.limited), problem.limit.limit_in_doubles)

    def kept(self, Q: Floats) -> Floats:
        """The mechanism, mixed with as little of one that reveals nothing as keeps the limit."""
        silent = np.tile(Q.mean(axis=0), (len(Q), 1))
        low, high = 0.0, 1.0
        if self.secret.of(Q.T).sum() <= self.limit:
            return Q
        for _ in range(HALVINGS):
            share = (low + high) / 2.0
            mixed = (1.0 - share) * Q + share * silent
            low, high = (low, share) if self.secret.of(mixed.T).sum() <= self.limit else (share, high)
        return (1.0 - high) * Q + high * silent

    def slopes(self, told: Told, Q: Floats) -> Floats:
        """The gradient of what is revealed, by the entries of Q."""
        return (told.slopes(Q.T @ told.joint.T) @ told.joint).T

    def drawn(self, rng: np.random.Generator | None) -> Floats:
        """A start: the input itself and one output more, or a random mechanism, within the limit."""
        size = self.useful.joint.shape[1]
        if rng is None:
            return self.kept(np.hstack([0.9 * np.eye(size), np.full((size, 1), 0.1)]))
        return self.kept(rng.dirichlet(np.full(size + 1, 0.3), size=size))


def _climbed(
    released: Released, Q: Floats, value: Callable[[Floats], float], slopes: Callable[[Floats], Floats], clock: Clock
) -> Floats:
    """SLSQP from a mechanism, within the limit."""
    from scipy.optimize import minimize  # takes long to import

    shape, size = Q.shape, Q.size
    sums = np.kron(np.eye(shape[0]), np.ones(shape[1]))

    def stop(_: Floats) -> None:
        if clock.expired:
            raise StopIteration

    constraints = [
        {"type": "eq", "fun": lambda q: sums @ q - 1.0, "jac": lambda q: sums},
        {
            "type": "ineq",
            "fun": lambda q: released.limit - released.secret.of(np.maximum(q, 0.0).reshape(shape).T).sum(),
            "jac": lambda q: -released.slopes(released.secret, np.maximum(q, 0.0).reshape(shape)).ravel(),
        },
    ]
    found = minimize(
        lambda q: -value(np.maximum(q, 0.0).reshape(shape)),
        Q.ravel(),
        jac=lambda q: -slopes(np.maximum(q, 0.0).reshape(shape)).ravel(),
        method="SLSQP",
        bounds=[(0.0, 1.0)] * size,
        constraints=constraints,
        callback=stop,
        options={"maxiter": 300, "ftol": 1e-10},
    )
    rows = np.maximum(found.x.reshape(shape), 0.0)
    return rows / rows.sum(axis=1, keepdims=True)


def slsqp(released: Released, rng: np.random.Generator | None, clock: Clock) -> Floats:
    """The problem as it is written."""
    told = released.useful
    return _climbed(
        released, released.drawn(rng), lambda Q: float(told.of(Q.T).sum()), lambda Q: released.slopes(told, Q), clock
    )


def convex_concave(released: Released, rng: np.random.Generator | None, clock: Clock) -> Floats:
    """Linearise the usefulness at the mechanism in hand, solve the convex program that is left, and repeat."""
    Q = released.drawn(rng)
    value = float(released.useful.of(Q.T).sum())
    while not clock.expired:
        G = released.slopes(released.useful, Q)
        new = released.kept(_climbed(released, Q, lambda q, G=G: float((G * q).sum()), lambda q, G=G: G, clock))  # type: ignore[misc]
        better = float(released.useful.of(new.T).sum())
        if better <= value * (1.0 + LEAST):
            break
        Q, value = new, better
    return Q


def merging(released: Released, rng: np.random.Generator | None, clock: Clock) -> Floats:
    """Letters merged two at a time, those that give up least of use for what they hide, until the limit is kept."""
    columns = np.eye(released.useful.joint.shape[1])
    while len(columns) > 1 and released.secret.of(columns).sum() > released.limit and not clock.expired:
        a, b = np.triu_indices(len(columns), 1)
        lost, hidden = (
            told.of(columns)[a] + told.of(columns)[b] - told.of(columns[a] + columns[b])
            for told in (released.useful, released.secret)
        )
        best = int((lost / np.maximum(hidden, 1e-300)).argmin())
        merged = columns[a[best]] + columns[b[best]]
        columns = np.vstack([np.delete(columns, [a[best], b[best]], axis=0), merged])
    return columns.T


def alternating(released: Released, rng: np.random.Generator | None, clock: Clock) -> Floats:
    """The bottleneck's self-consistent updates at a price, which is halved in until the limit is met; for limits about the input."""
    p = released.secret.joint.sum(axis=0)
    about_input = (
        np.array_equal(released.secret.joint, np.diag(p[p > 0.0])) and released.secret.measure == "mutual_information"
    )
    if not about_input:
        raise InputError("methods: blahut-arimoto is for a limit on the information about the input itself")
    gains, best = released.useful.joint / p, np.ones((len(p), 1))
    low, high = PRICES
    for _ in range(HALVINGS // 2):
        if clock.expired:
            break
        price, Q = np.sqrt(low * high), released.drawn(rng)
        for _ in range(STEPS):
            r = p @ Q
            Q, r = Q[:, r > LEAST], r[r > LEAST]
            scores = (released.useful.slopes((released.useful.joint @ Q).T) @ gains).T / price
            Q = r * np.exp(scores - scores.max(axis=1, keepdims=True))
            Q /= Q.sum(axis=1, keepdims=True)
        if released.secret.of(Q.T).sum() <= released.limit:
            high = float(price)
            best = Q if released.useful.of(Q.T).sum() > released.useful.of(best.T).sum() else best
        else:
            low = float(price)
    return best


FunnelRival = Callable[[Released, np.random.Generator | None, Clock], Floats]
FUNNEL_RIVALS: Mapping[str, tuple[str, FunnelRival, bool]] = {  # in words; the method; whether it has one start only
    "convex-concave": (
        "steps that linearise what is revealed of use, each a convex program by SLSQP",
        convex_concave,
        False,
    ),
    "merging": ("greedy merging of letters until the limit is kept", merging, True),
    "blahut-arimoto": ("the bottleneck's self-consistent updates, the price found by bisection", alternating, False),
    "slsqp": ("scipy's SLSQP on the mechanism, analytic gradients", slsqp, False),
}
