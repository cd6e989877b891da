"""The row update: the best law of the other records given one letter, all else fixed: a convex maximisation, solved globally."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import cvxpy as cp
import numpy as np

from cvxcertify.solvers import Attempt
from cvxcertify.talking import talking
from dalenius.atoms import concave_entropy
from dalenius.errors import InputError
from dalenius.information.arrays import Floats
from dalenius.information.secants import tighten
from dalenius.outcome import Termination
from dalenius.programs.base import CONIC, ROUNDING, BlockSolution, Named, Program, checked
from dalenius.programs.pairs import Pairs
from dalenius.programs.polish import polished
from dalenius.programs.row_problem import (
    LEAST,
    BoxDuals,
    RowBox,
    RowLeaf,
    RowProblem,
    RowTree,
    as_multipliers,
    leaf_boxes,
)
from dalenius.programs.solvers import OWN, ladder
from dalenius.search.boxes import halves
from dalenius.search.tree import Leaf, Tree

PENALTY = 100.0  # nats for leaving a box by 1: every box has a point, and one that should have none gets a small bound
CLIMBS = 5  # so many boxes' points start a climb whatever they are worth
BATCH = 4  # leaves that our own method halves at once
PATIENCE = 6  # generations in which a solver's multipliers may be no better than inherited ones


class RowUpdate(Program):
    """Maximise I(A; Y) itself over one letter's law w of the class with H(w) = -sum w log w + sum w log N >= h, all else fixed.

    h = (b - H(pi) - sum of the other pi_c H(w_c)) / pi_a is what the letter a has to contribute. In K = wR, with rest(y) the mass that
    the other letters give to y,

        I = constant + sum_y f_y(K(y)),    f_y(x) = pi_a x log x - (pi_a x + rest(y)) log(pi_a x + rest(y)),

    and every f_y is convex (f'' = pi_a rest / (x (pi_a x + rest))). So a largest I is where H(w) = h, or at a class that has
    log N >= h by itself (Theorem 3 of the source paper, where N = 1); if all classes have, as for h <= 0, the best class is the
    answer. Otherwise convex-concave steps climb, and `solve` branches on K until the interval of the global maximum closes. In nats.

    *Convex because* on a box of K each f_y is below its secant, which is linear; leaving the box costs 100 nats a unit, so that the
    model is never infeasible. *DPP because* slopes, box and h enter affinely; R and N are part of the model.
    *Bound because* on a box low <= K <= high, for any slopes kappa and mu > 0, with B(y) the least intercept of a line above f_y,

        I <= constant + sum_y B(y) + mu log sum_k N(a,k) exp(sum_y R(k,y) kappa(y) / mu) - mu h,

    and I <= constant + max_k sum_y f_y(R(k,y)) without the entropy bound (mu = 0), as a convex function is largest at a vertex. The
    boxes of a tree of halvings cover its root, the ranges that K can have at all; the bound is the largest of its leaves.

    Parameters
    ----------
    rows : (classes, outputs)
        R, row-stochastic.
    log_counts : (letters, classes)
        log N(a,k), or log(N(a,k)/|X|) with b - log |X| for b, which avoids cancellation; -inf where a pair does not exist.
    letter : int
        a.
    marginal : (letters,)
        pi.
    conditionals : (letters, classes)
        The laws of the other letters, and a start for the letter's own. Mass where no pair exists is dropped, and the rest normalised.
    entropy_bound : float
        b in nats.

    Raises
    ------
    InputError
        If shapes do not fit, a letter of positive mass has no class, or no law of the class has the entropy needed.

    Notes
    -----
    Source: Theorem 3 and Algorithm 3 of the source paper, which climbs a row by projected gradients to a stationary point.

    The multipliers are a tree in preorder: `branch` (nodes, 2) holds output and threshold, or -1 at a leaf; then `mu` (leaves,) and
    `kappa` (leaves, outputs).

    >>> flip, fair = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5])
    >>> answer = RowUpdate(flip, np.zeros((2, 2)), 0, fair, np.array([[0.5, 0.5], [0.1, 0.9]]), 1.1).solve()
    >>> answer.gap < 1e-6, answer.point["w"].round(3).tolist()
    (True, [0.808, 0.192])
    """

    name: ClassVar[str] = "row"
    maximises: ClassVar[bool] = True

    def __init__(
        self,
        rows: Floats,
        log_counts: Floats,
        letter: int,
        marginal: Floats,
        conditionals: Floats,
        entropy_bound: float,
    ) -> None:
        self.channel, self.letter = Pairs(self.name, rows, log_counts), letter
        if not 0 <= letter < self.channel.live.size or not self.channel.live[letter]:
            raise InputError(f"row: expected a letter below {self.channel.live.size} that has a class, got {letter!r}")
        self.set(marginal, conditionals, entropy_bound)
        super().__init__()

    def set(self, marginal: Floats, conditionals: Floats, entropy_bound: float) -> None:
        """Other laws and another bound for the same channel and letter; solving again does not canonicalise again."""
        self.row = RowProblem(self.channel, self.letter, marginal, conditionals, float(entropy_bound))
        self.within(self.row.low, self.row.high)

    def build(self) -> cp.Expression:
        own, outputs = self.row.own, self.row.rows.shape[1]
        w, outside = cp.Variable(own.letter.size, nonneg=True, name="w"), cp.Variable(nonneg=True, name="outside")
        sizes = {"gains": own.letter.size, "low": outputs, "high": outputs}
        self.variables = {"w": w, "outside": outside}
        numbers = {name: cp.Parameter(name=name) for name in ("entropy", "offset")}
        self.parameters = {name: cp.Parameter(size, name=name) for name, size in sizes.items()} | numbers
        K = own.rows[own.index].T @ w
        self.constraints: dict[str, cp.Constraint] = {
            "total": cp.sum(w) == 1,
            "entropy": concave_entropy(w, log_counts=own.flat(own.log_counts)) >= self.parameters["entropy"],
            "low": self.parameters["low"] <= K + outside,
            "high": self.parameters["high"] >= K - outside,
        }
        objective = self.parameters["gains"] @ w + self.parameters["offset"] - PENALTY * outside
        return objective

    def within(self, low: Floats, high: Floats) -> None:
        """Make this box the model's."""
        self.box = low, high
        self.write()

    def data(self) -> Mapping[str, Any]:
        (low, high), row = self.box, self.row
        slope = row.secant(low, high)
        offset = row.constant + float(row.intercepts(slope, low, high).sum())
        gains = row.rows[row.own.index] @ slope
        return {"entropy": max(row.h, -1e6), "offset": offset, "gains": gains, "low": low, "high": high}

    @property
    def conic_bytes(self) -> float:
        return float(CONIC * self.row.rows.size)

    def start(self) -> tuple[Named, Named]:
        """The best of all classes, the given law and that of the largest entropy, made feasible; and the bound without entropy."""
        starts = self.row.starts()
        best = int(np.argmax([self.row.information(w) for w in starts]))
        return _point(starts[best]), _leaf(0.0, np.zeros_like(self.row.low))

    def repair(self, raw: Mapping[str, Floats]) -> Named | None:
        """Clip, normalise, and mix with the law of the largest entropy until there is enough; whole boxes need no repair."""
        w = self.row.own.masses(raw.get("w"))
        return None if w is None else _point(self.row.feasible(w[0]))

    def value(self, point: Mapping[str, Floats]) -> float:
        return self.row.information(point["w"])

    def project(self, duals: Mapping[str, Floats]) -> Named | None:
        """A leaf for the model's box: the secants' slopes, changed by the multipliers of the box, and mu."""
        parts = [duals.get(name) for name in ("low", "high", "entropy")]
        if any(x is None or x.shape not in ((), self.box[0].shape) for x in parts):
            return None
        low, high, mu = (np.maximum(x, 0.0) for x in parts if x is not None)
        return _leaf(max(float(np.max(mu)), LEAST), self.row.secant(*self.box) + low - high)

    def bound(self, multipliers: Mapping[str, Floats]) -> float:
        boxes = leaf_boxes(multipliers["branch"], self.row.low, self.row.high)
        if len(boxes) != len(multipliers["mu"]) or not boxes:
            return np.inf
        leaves = zip(boxes, multipliers["mu"], multipliers["kappa"], strict=True)
        return max(self.row.bound(*box, float(mu), kappa) for box, mu, kappa in leaves)

    def improve(self, point: Named, multipliers: Named) -> tuple[Named, Named]:
        """Convex-concave steps from the point."""
        return _point(self.row.climbed(point["w"])), multipliers

    def solve(
        self,
        *,
        solver: str | Sequence[str] = "auto",
        gap: float = 1e-8,
        time_limit: float | None = 60.0,
        leaves: int = 500,
        enough: float = np.inf,
        verbose: bool = False,
    ) -> BlockSolution:
        """Branch on K until the interval of the global maximum is at most `gap` wide, relative to its larger end.

        Parameters
        ----------
        leaves : int
            At most so many boxes.
        enough : float
            Stop at a point that attains so much, however wide the interval is then.
        verbose : bool
            As of every program.

        Raises
        ------
        InputError
            If an argument is invalid, or a solver asked for by name is not there.
        """
        limit = checked(gap, time_limit)
        if not leaves >= 1:
            raise InputError(f"leaves: expected a number of at least 1, got {leaves!r}")
        search = _Search(self, solver, gap, limit, leaves, enough)
        try:
            with talking(verbose):
                return search.run()
        finally:
            self.within(self.row.low, self.row.high)


def _point(w: Floats) -> Named:
    return {"w": w, "outside": np.array(0.0)}


def _finite(trial: tuple[float, float, Floats]) -> float:
    return trial[0] if np.isfinite(trial[0]) else np.inf


def _leaf(mu: float, kappa: Floats) -> Named:
    return {"branch": np.array([[-1.0, 0.0]]), "mu": np.array([mu]), "kappa": kappa[None]}


Offer: TypeAlias = tuple[Floats, list[tuple[float, Floats]]]  # a point to branch at, and multipliers (mu, kappa)
Ends: TypeAlias = tuple[Floats, Floats]


class _Search:
    """Branch and bound: every box gets multipliers that the closed form judges, and a point that may start a climb.

    They come from a conic solve a box, or from our own Newton method, for all boxes of a step at once.
    """

    def __init__(
        self, program: RowUpdate, solver: str | Sequence[str], gap: float, limit: float, leaves: int, target: float
    ) -> None:
        self.program, self.row, self.gap, self.limit, self.leaves = program, program.row, gap, limit, leaves
        self.target = target
        self.ladder = [rung for rung in ladder(solver) if program.affordable(rung[0])]
        self.started = time.monotonic()
        self.attempts: list[Attempt] = []
        self.duals, self.free = BoxDuals(self.row), self.row.bound(self.row.low, self.row.high, 0.0, self.row.low)
        self.w, self.value, self.climbs = self.row.best, self.row.information(self.row.best), 0
        for w in self.row.starts():
            self._take(self.row.climbed(w))
            if self._left() <= 0.0:
                break
        self.found_by = {"point": "start", "multipliers": "start"}
        self.termination = Termination.STALLED

    def run(self) -> BlockSolution:
        box = RowBox(self.row.low, self.row.high, 0.0, np.zeros_like(self.row.low))
        root = (
            Leaf(box, self.free, None) if self._enough(self.free, 1) else self._relaxed([(box.low, box.high, box)])[0]
        )
        tree = Tree(root)
        batch = BATCH if self.ladder and self.ladder[0][0] == OWN else 1
        while not self._enough(tree.upper, tree.leaves) and tree.grow(self._halved, batch):
            pass
        return self._solution(tree)

    def _left(self) -> float:
        return self.limit - (time.monotonic() - self.started)

    def _enough(self, bound: float, leaves: int) -> bool:
        if bound - self.value <= self.gap * max(abs(bound), abs(self.value), 1e-9):
            self.termination = Termination.GAP_REACHED
        elif self._left() <= 0.0:
            self.termination = Termination.TIME_LIMIT
        elif leaves >= self.leaves:
            self.termination = Termination.SIZE_LIMIT
        return self.termination is not Termination.STALLED or self.value >= self.target

    def _halved(self, leaves: list[RowLeaf]) -> list[list[RowLeaf]]:
        parts = [
            (*ends, leaf.content)
            for leaf in leaves
            if leaf.cut is not None
            for ends in halves(leaf.content.low, leaf.content.high, *leaf.cut)
        ]
        relaxed = self._relaxed(parts)
        return [relaxed[j : j + 2] for j in range(0, len(relaxed), 2)]

    def _relaxed(self, parts: list[tuple[Floats, Floats, RowBox]]) -> list[RowLeaf]:
        """Boxes with the best of their parents' multipliers and their own, to be halved where their secants err most."""
        inner = [
            tighten(low, high, 0) for low, high, _ in parts
        ]  # for the model; the tree keeps what was cut, as `bound` will see it
        there = [j for j, (low, high) in enumerate(inner) if not np.any(low > high)]
        with np.errstate(all="ignore"):  # a solver may have sent anything
            offers = dict(zip(there, self._offers([inner[j] for j in there]), strict=True))
            return [self._leaf(*part, inner[j], offers.get(j)) for j, part in enumerate(parts)]

    def _leaf(self, low: Floats, high: Floats, parent: RowBox, inner: Ends, offer: Offer | None) -> RowLeaf:
        if offer is None:
            return Leaf(RowBox(low, high, parent.mu, parent.kappa), -np.inf, None)
        w, offers = offer
        trials = [(self.row.bound(low, high, mu, kappa), mu, kappa) for mu, kappa in offers]
        inherited = self.row.bound(low, high, parent.mu, parent.kappa) if parent.mu > 0.0 else np.inf
        bound, mu, kappa = min([(inherited, parent.mu, parent.kappa), *trials], key=_finite)
        failures = 0 if bound < inherited - 1e-13 else parent.failures + 1
        cut = self.row.branching(w, *inner) if trials and failures < PATIENCE else None
        return Leaf(RowBox(low, high, mu, kappa, failures), min(bound, self.free), cut)

    def _offers(self, boxes: list[Ends]) -> list[Offer]:
        """From the first solver that sends any; nothing if none does."""
        if boxes and self.ladder and self.ladder[0][0] == OWN:
            return self._own_offers(boxes)
        return [self._conic_offer(low, high) for low, high in boxes]

    def _own_offers(self, boxes: list[Ends]) -> list[Offer]:
        started, (low, high) = time.monotonic(), (np.array(ends) for ends in zip(*boxes, strict=True))
        kappa, mu, w = self.duals(low, high)
        self.attempts.append(Attempt(OWN, "done", None, time.monotonic() - started, {}, {}))
        self.found_by["multipliers"] = OWN
        points = [self.row.feasible(self.row.own.spread(x)[0]) for x in w]
        for point in points:
            self._climb(point, OWN)
        return [
            (point, self._polished(*box, float(m), k))
            for point, box, m, k in zip(points, boxes, mu, kappa, strict=True)
        ]

    def _conic_offer(self, low: Floats, high: Floats) -> Offer:
        for name, settings in self.ladder:
            if self._left() <= 0.0:
                break
            if name == OWN:
                return self._own_offers([(low, high)])[0]
            self.program.within(low, high)
            made = self.program.attempt_with(name, settings, self._left())
            made, point, leaf = self.program.candidates(made)
            self.attempts.append(made)
            if point is not None and leaf is not None:
                self._climb(point["w"], name)
                self.found_by["multipliers"] = name
                return point["w"], self._polished(low, high, float(leaf["mu"][0]), leaf["kappa"][0])
        return self.w, []

    def _climb(self, w: Floats, solver: str) -> None:
        """Climb from a point of a box's, if it is better than what is known, or one of the first."""
        before, self.climbs = self.value, self.climbs + 1
        if self.row.information(w) > self.value or self.climbs <= CLIMBS:
            self._take(self.row.climbed(w))
        if self.value > before:
            self.found_by["point"] = solver

    def _polished(self, low: Floats, high: Floats, mu: float, kappa: Floats) -> list[tuple[float, Floats]]:
        return [(mu, kappa), (polished(lambda trial: self.row.bound(low, high, trial, kappa), mu, LEAST), kappa)]

    def _take(self, w: Floats) -> None:
        """A point, if it is the best so far."""
        if (value := self.row.information(w)) > self.value:
            self.w, self.value = w, value

    def _solution(self, tree: RowTree) -> BlockSolution:
        if self.termination is Termination.STALLED and any(made.hung for made in self.attempts):
            self.termination = Termination.TIME_LIMIT
        upper = tree.upper
        return BlockSolution(
            point=_point(self.w),
            multipliers=as_multipliers(tree, self.free),
            lower=self.value - ROUNDING * (1.0 + abs(self.value)),
            upper=upper + ROUNDING * (1.0 + abs(upper)),
            termination=self.termination,
            seconds=time.monotonic() - self.started,
            attempts=tuple(self.attempts),
            found_by=self.found_by,
        )
