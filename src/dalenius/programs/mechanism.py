"""A mechanism as the variable of a program: its cost, entries that are tied, and what it leaks under each of several priors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import cvxpy as cp
import numpy as np
from scipy import sparse
from scipy.special import xlog1py

from dalenius.atoms.given import derived, matrix
from dalenius.errors import InputError
from dalenius.information import x_log_x
from dalenius.information.arrays import Floats
from dalenius.model.mechanism_classes import TiedEntries
from dalenius.programs.base import Program
from dalenius.programs.pairs import EPS, rounding

LEAST = -700.0  # no posterior is smaller than the prior times e to this: its logarithm has to be a number
NEVER = -40.0  # log(phi/pi) of a letter at an output that it never has
FAR = 100.0
HALVINGS, NEAR = 60, 1e-15
SUM = 1e-9
FEW = 0.1  # share of the products of masses that may not be 0


class Leakages:
    """I_s(Q) = I(A; Y) under masses p_s(a,x) on (letter, input), for s = 0, 1, ...; letters of all priors stand in one list of rows.

    Parameters
    ----------
    name : str
        The program's, for error messages.
    priors : sequence of (letters, inputs)
        Masses with sum 1; the numbers of letters may differ. Letters without mass are dropped.
    inputs : int

    Attributes
    ----------
    masses : (rows, inputs)
    owner : (rows,)
        s of a row.
    pi, log_pi : (rows,)

    Raises
    ------
    InputError
        If there is no prior, or one does not fit or is no law.

    >>> fair = Leakages("example", [np.array([[0.5, 0.0], [0.0, 0.5]])], 2)
    >>> fair.values(np.eye(2)).round(4).tolist(), fair.values(np.full((2, 2), 0.5)).tolist()
    ([0.6931], [0.0])
    """

    def __init__(self, name: str, priors: Sequence[Floats], inputs: int) -> None:
        if not len(priors):
            raise InputError(f"{name}: expected at least one prior")
        kept = [self._prior(f"{name}: prior {s}", prior, inputs) for s, prior in enumerate(priors)]
        self.count, self.masses = len(kept), np.concatenate(kept)
        self.owner = np.repeat(np.arange(self.count), [len(p) for p in kept])
        self.first = np.flatnonzero(np.diff(self.owner, prepend=-1))
        self.pi = self.masses.sum(axis=1)
        self.log_pi = np.log(self.pi)

    @staticmethod
    def _prior(name: str, prior: Floats, inputs: int) -> Floats:
        p = np.asarray(prior, dtype=float)
        if p.ndim != 2 or p.shape[1] != inputs or not len(p):
            raise InputError(f"{name}: expected masses (letters, {inputs}), got shape {p.shape}")
        if not (np.all(p >= 0.0) and abs(p.sum() - 1.0) <= SUM):
            raise InputError(f"{name}: expected numbers of at least 0 with sum 1; normalise it")
        return p[p.sum(axis=1) > 0.0] / p.sum()

    def letter_entropies(self) -> Floats:
        """H(pi_s), (priors,)."""
        return -self.sums(self.pi * self.log_pi)

    def excess(self, Q: Floats) -> tuple[Floats, Floats]:
        """pi r, and t with u = pi r (1 + t), both (rows, outputs); t = 0 at outputs that never occur."""
        u = self.masses @ Q
        expected = self.pi[:, None] * self.sums(u)[self.owner]
        return expected, (u - expected) / np.where(expected > 0.0, expected, 1.0)

    def values(self, Q: Floats) -> Floats:
        """I_s(Q) = sum pi r ((1+t) log(1+t) - t), (priors,): right to about 1e-31, where sums of u log u would be wrong by 1e-16."""
        expected, t = self.excess(Q)
        t = np.maximum(t, -1.0)
        return self.sums(np.sum(expected * np.maximum(xlog1py(1.0 + t, t) - t, 0.0), axis=1))

    def log_ratios(self, Q: Floats) -> Floats:
        """log(u/(pi r)), (rows, outputs), to full relative accuracy; 0 at outputs that never occur."""
        expected, t = self.excess(Q)
        with np.errstate(divide="ignore", invalid="ignore"):
            exact = np.log(self.masses @ Q) - np.log(expected)
            return np.where(expected > 0.0, np.where(abs(t) < 0.5, np.log1p(t), exact), 0.0)

    def normalised(self, log_ratio: Floats) -> Floats:
        """log(phi/pi) for laws phi of the letter, for every prior and output, from any numbers: 0 where they are none."""
        usable = np.where(np.isnan(log_ratio) | (log_ratio == np.inf), 0.0, log_ratio)
        top = np.maximum.reduceat(usable, self.first, axis=0)[self.owner]
        x = np.maximum(usable - np.where(np.isfinite(top) & (abs(top) > FAR), top, 0.0), LEAST)
        for _ in range(2):  # the second time, small ratios of common letters become right relative to themselves
            off = self.sums(self.pi[:, None] * np.expm1(x))
            whole = np.log(self.sums(self.pi[:, None] * np.exp(x)))
            x = x - np.where(abs(off) < 0.5, np.log1p(np.clip(off, -0.5, 0.5)), whole)[self.owner]
        return x

    def posteriors(self, cone: Floats, occurring: np.ndarray) -> Floats:
        """log(phi/pi) out of the multipliers (3, occurring entries) of the cones; 0 where they say nothing, tiny elsewhere."""
        log_ratio = np.full(occurring.shape, NEVER)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = cone[1] / cone[0] - 1.0 - np.broadcast_to(self.log_pi[:, None], occurring.shape)[occurring]
        log_ratio[occurring] = np.where(cone[0] < 0.0, found, 0.0)
        return self.normalised(log_ratio)

    def gradients(self, log_ratio: Floats) -> list[Floats]:
        """sum_a p_s(a,x) log(phi_s(a|y)/pi_s(a)) for every prior: of I_s, where these are the ratios of a mechanism."""
        parts = zip(np.split(self.masses, self.first[1:]), np.split(log_ratio, self.first[1:]), strict=True)
        return [masses.T @ ratios for masses, ratios in parts]

    def scores(self, weights: Floats, log_ratio: Floats) -> tuple[Floats, Floats]:
        """G(x,y) = sum_s weights_s sum_a p_s(a,x) log(phi_s(a|y)/pi_s(a)), and the size of what was rounded, as a matrix.

        sum Q G <= sum_s weights_s I_s(Q) for every mechanism Q, whatever the numbers `log_ratio`: they are normalised. That leaves
        a factor on each phi_s(.|y) of about 1 + eps sum_a pi_s(a) |log(phi_s/pi_s)|: the second part of the size.
        """
        weighted, log_ratio = (weights[self.owner, None] * self.masses).T, self.normalised(log_ratio)
        spread = self.sums(self.pi[:, None] * np.abs(log_ratio))[self.owner]
        return weighted @ log_ratio, weighted @ (np.abs(log_ratio) + spread)

    @cached_property
    def few(self) -> bool:
        """True if most letters go to few inputs: then products of masses are few."""
        return np.count_nonzero(self.sums(self.masses)) <= FEW * self.count * self.masses.shape[1]

    def squares(self, scaled: Floats, pulls: Floats) -> Floats:
        """sum over rows of scaled(row,y) p(row,x) p(row,x') - sum_s pulls(s,y) p_s(x) p_s(x'), (outputs, inputs, inputs)."""
        if self.few:
            of_rows, of_laws = self._products
            inputs = self.masses.shape[1]
            return (of_rows @ scaled - of_laws @ pulls).T.reshape(-1, inputs, inputs)
        laws = self.sums(self.masses)
        each = np.array([(self.masses.T * column) @ self.masses for column in scaled.T])
        return each - (laws.T[None] * pulls.T[:, None, :]) @ laws

    @cached_property
    def _products(self) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
        """p(x) p(x') of every row, and of every prior, (inputs^2, rows) and (inputs^2, priors)."""
        return _outer(self.masses), _outer(self.sums(self.masses))

    def sums(self, rows: Floats) -> Floats:
        """Sums over the rows of each prior."""
        return np.add.reduceat(rows, self.first, axis=0)


def _outer(laws: Floats) -> sparse.csr_matrix:
    """The products of every two entries of a row, (columns^2, rows)."""
    row, x = np.nonzero(laws)
    starts, sizes = np.searchsorted(row, np.arange(len(laws))), np.bincount(row, minlength=len(laws))
    first = np.repeat(np.arange(len(row)), sizes[row])
    second = np.concatenate(
        [np.arange(start, start + size) for start, size in zip(starts[row], sizes[row], strict=True)]
    )
    places = x[first] * laws.shape[1] + x[second]
    values = laws[row[first], x[first]] * laws[row[second], x[second]]
    return sparse.csr_matrix((values, (places, row[first])), shape=(laws.shape[1] ** 2, len(laws)))


class MechanismProgram(Program):
    """A program over mechanisms Q(x,y), whose variable is q (rows, outputs): Q itself, or what its tied entries are taken from.

    Attributes
    ----------
    cost : (inputs, outputs)
        c(x,y) >= 0.
    tied : TiedEntries
        Which entries of Q are one entry of q.
    tied_cost : (rows, outputs)
        The cost of an entry of q.
    """

    def charge(self, cost: Floats, tied: TiedEntries | None) -> None:
        """Check and keep a cost, and what is tied; to be called before the model is built.

        Raises
        ------
        InputError
            If the cost is no such matrix, or has another shape than what is tied.
        """
        self.cost = np.asarray(cost, dtype=float)
        if self.cost.ndim != 2 or not self.cost.size or not np.all(np.isfinite(self.cost)) or self.cost.min() < 0.0:
            raise InputError(f"{self.name}: expected a cost (inputs, outputs) of finite numbers of at least 0")
        self.tied = TiedEntries.free(*self.cost.shape) if tied is None else tied
        inputs, outputs = self.cost.shape
        if not isinstance(self.tied, TiedEntries) or self.tied.numbers.shape != (inputs, outputs):
            raise InputError(
                f"{self.name}: expected `tied` to be TiedEntries for {inputs} inputs and {outputs} outputs"
            )
        self.tied_cost = self.tied.sums(self.cost)

    def mechanism(self, point: Mapping[str, Floats]) -> Floats:
        """Q (inputs, outputs) at a point."""
        return self.tied.expand(point["q"])

    def constant(self) -> Floats:
        """The constant mechanism of least cost, as a point."""
        return np.array(self.tied.constant(self.tied_cost), dtype=float)

    def expression(self, q: cp.Variable) -> cp.Expression:
        """Q (inputs, outputs) of the variable."""
        return cp.reshape(cp.vec(q, order="C")[self.tied.numbers.reshape(-1)], self.cost.shape, order="C")

    def laws(self, raw: Mapping[str, Floats]) -> Floats | None:
        """A solver's q, clipped and normalised; None if nothing can be made of it."""
        q = np.maximum(raw.get("q", np.zeros(0)), 0.0)
        if q.shape != self.tied_cost.shape or not np.all(q.sum(axis=1) > 0.0):
            return None
        return q / q.sum(axis=1, keepdims=True)

    def mixed(self, q: Floats, other: Floats, excess: Callable[[Floats], float]) -> Floats:
        """The first point on the way from q to the other with no excess, which is convex; the way must end at one.

        By chords, the end that stays twice with half its excess (the Illinois algorithm: Dowell and Jarratt, BIT 11, 1971), or halves.
        """
        low, high, before = 0.0, 1.0, 0
        if (above := excess(q)) <= 0.0:
            return q
        below = min(excess(other), 0.0)
        for _ in range(HALVINGS):
            chord, half = low + (high - low) * above / (above - below), 0.5 * (low + high)
            share = chord if low < chord < high else half
            if not (low < share < high and high - low > NEAR):
                break
            found = excess((1.0 - share) * q + share * other)
            if found <= 0.0:
                high, below, above, before = share, found, above / (1 + (before == 1)), 1
            else:
                low, above, below, before = share, found, below / (1 + (before == -1)), -1
        return (1.0 - high) * q + high * other

    def distortion(self, q: Floats) -> float:
        return float(np.sum(self.tied_cost * q))

    def minimum(self, matrix: Floats, size: Floats) -> float:
        """min over the mechanisms of the class of sum Q matrix, less what rounding may add if its entries are sums of this size."""
        least = self.tied.sums(matrix - EPS * size).min(axis=1)
        return float(np.sum(least)) - rounding(least)


# --after


@dataclass(frozen=True)
class ConicLeakages:
    """I_s of several priors (`values`, (priors,)), with the variables and the constraints that state them, by name."""

    values: cp.Expression
    variables: dict[str, cp.Variable]
    constraints: dict[str, cp.Constraint]


def conic_leakages(
    mechanism: cp.Expression,
    leakages: Leakages,
    *,
    occurring: np.ndarray | None = None,
    masses: cp.Parameter | None = None,
) -> ConicLeakages:
    """I_s = H(pi_s) + sum_ay u_s log(u_s/r_s) of every prior, where u_s = p_s Q and r_s = sum_a u_s(a,.), in exponential cones.

    *Convex because* relative entropy is, jointly, and u_s and r_s are affine in Q; the priors are part of the model, or a parameter.

    What `leakage` states for one prior, for a solver whose multipliers are to prove something. The output laws r_s are variables
    of their own: conic solvers are some 25 times faster then at 100 x 100, because a cone touches one of them instead of all
    inputs. The cones (-terms, u, r), terms >= u log(u/r), are written out, not left to an atom, because their multipliers
    (alpha, beta, gamma) are the posteriors: log phi = beta/alpha - 1, to full accuracy where phi itself, or the mass of the output,
    is tiny.

    Parameters
    ----------
    mechanism : (inputs, outputs)
        Q, affine. Constrain its rows to be laws: the formula needs it.
    leakages : Leakages
        The priors.
    occurring : (rows, outputs) of bool, optional
        Which letters may have which outputs; elsewhere u is 0 whatever the mechanism, and a cone would have no interior. `terms` and
        `posteriors` are then vectors, of the marked entries row by row.
    masses : cvxpy.Parameter (rows, inputs), optional
        All priors, for a model that is solved again with others: cvxpy then keeps a number for each product of one with the mechanism.

    Returns
    -------
    ConicLeakages : variables `law` (priors, outputs) and `terms` (rows, outputs); constraints `posteriors` (the cones) and `laws`
    """
    Q = matrix("mechanism", mechanism)
    law = cp.Variable((leakages.count, Q.shape[1]), name="law")
    owned = np.asarray(leakages.owner[:, None] == np.arange(leakages.count), dtype=float)
    if masses is None:
        u, laws, entropies = leakages.masses @ Q, leakages.sums(leakages.masses) @ Q, leakages.letter_entropies()
    else:
        u = masses @ Q
        laws, entropies = owned.T @ u, derived(lambda p: -owned.T @ x_log_x(p.sum(axis=1)), (leakages.count,), masses)
    if occurring is None:
        terms = cp.Variable(u.shape, name="terms")
        cones, sums = cp.ExpCone(-terms, u, owned @ law), cp.sum(terms, axis=1)
    else:
        row, y = np.nonzero(occurring)
        terms = cp.Variable(row.size, name="terms")
        cones = cp.ExpCone(-terms, u[row, y], (owned @ law)[row, y])
        sums = np.asarray(row == np.arange(len(occurring))[:, None], dtype=float) @ terms
    constraints: dict[str, cp.Constraint] = {"posteriors": cones, "laws": law == laws}
    return ConicLeakages(owned.T @ sums + entropies, {"law": law, "terms": terms}, constraints)
