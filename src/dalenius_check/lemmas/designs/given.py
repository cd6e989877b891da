"""Terms of a lower bound's lines: priors' gains, multipliers of rows and of cones, tangents, and weights of terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

from ...core.adversaries import ADVERSARIES, EntropyBound
from ...core.allowance import BALL, NUMBER, PAIR, limit
from ...core.arithmetic import arb, arb_mat, fmpq
from ...core.certificate import Lines
from ...core.channel import Channel
from ...core.model import Model
from ...core.numbers import RefusedError, height, need, total
from ...core.read import decimal, entries, integer, nonnegative, positive
from ..households import DesignedHouseholds
from ..secrets import Unsaid
from .constraints import Constraints, Limit, Objective
from .ground import BEHIND, Costs, Part, Term
from .tangents import Information, gains

_MOST = 1 << 22
_LAST = {"record": 2, "block": 3, "adversary": 2, "term": 2}
_CONSTRAINTS = {"multiplier": 3, "cone": 4, "also": 6, "tangent": 6, "selection": 6}
_OBJECTIVE = {"weight": 3, "term": 6}


class Given:
    """Something that is never negative for a mechanism Q that meets everything: behind - sum of Q times a matrix.

    Kept are the priors' gains in balls, if there is a prior, with what they subtract behind in `spent`; and the other parts, which are
    made when it is known which end of e^epsilon is asked for. `priced` says whether the budget, and `named` which constraints, have a
    part in it; `shares` are the weights of an objective's terms.
    """

    def __init__(
        self, lines: Lines, channel: Channel, constraints: Constraints, objective: Objective, model: Model
    ) -> None:
        self.lines = lines
        self.channel = channel
        self.constraints = constraints
        self._model = model
        self.objective = objective
        self.shares = dict[int, fmpq]()
        self.allowance = channel.allowance
        self.tally = Counter[str]()
        self.gains: arb_mat | None = None
        self.spent = arb(0)
        self.priced = False
        self.named = set[int]()
        self._proofs = dict[tuple[str, int], EntropyBound]()
        self._weighted = set[int]()
        self._parts = list[Part]()
        self._numbers = 0

    @cached_property
    def proof(self) -> EntropyBound | DesignedHouseholds:
        """The lines about the model's own adversary."""
        return ADVERSARIES.get(self._model.adversary, DesignedHouseholds)(self.lines, self._model, self.channel)

    def priors(self) -> fmpq:
        """The lines `prior`, about the model's own adversary; the sum of their weights."""
        weights = fmpq(0)
        for item in self.lines.run("a prior or record", {"prior": 5}, self.after):
            weights = total([weights, self._prior(self.proof, *item[1:])])
            self.priced = True
            self.tally["prior line"] += 1
        return weights

    @property
    def others(self) -> dict[str, int]:
        """The lines that may come after those of an own adversary or privacy, with their sizes."""
        return (_CONSTRAINTS if self.constraints.tables else {}) | (_OBJECTIVE if self.objective.given else {})

    @property
    def after(self) -> dict[str, tuple[int, ...]]:
        """The same, and what may come after those."""
        both = (self.others, _LAST)
        return {name: tuple(some[name] for some in both if name in some) for name in {**self.others, **_LAST}}

    def scale(self, factor: fmpq) -> None:
        """Multiply the priors' gains."""
        if self.gains is not None:
            self.gains = self.gains * arb(factor)

    def _prior(self, proof: EntropyBound | DesignedHouseholds, weight: Any, i: Any, prior: Any, phi: Any) -> fmpq:
        """One prior's gains, times its weight."""
        factor = positive(weight, "the weight")
        record = proof.record(i)
        self._gain(factor, lambda: gains(self.channel, proof.masses(record, prior), phi))
        return factor

    def _gain(self, factor: fmpq, made: Callable[[], arb_mat]) -> None:
        """Add to the matrix what is not rational."""
        if self.gains is None:
            size = len(self.channel.rows)
            outputs = self.channel.outputs
            self.allowance.take(size * outputs * 3 * BALL)
            self.gains = arb_mat(size, outputs)
        self.gains += made() * arb(factor)

    def _pay(self, factor: fmpq, limited: Information | Unsaid, made: Callable[[], arb_mat]) -> None:
        """The same about a limit, of which so much is given away."""
        self._gain(factor, made)
        self.spent += arb(factor) * limited.ball

    def read_others(self) -> None:
        """The lines about constraints, and about the terms of an objective."""
        readers: dict[str, Callable[..., None]] = {
            "multiplier": self._multiplier,
            "cone": self._cone,
            "also": self._also,
            "tangent": self._tangent,
            "selection": self._selection,
            "weight": self._weight,
            "term": self._term,
        }
        for item in self.lines.run("a multiplier, cone, also or record", self.others, _LAST):
            constraint = item[0] in _CONSTRAINTS
            listed: Sequence[Any] = self.constraints.tables if constraint else self.objective.weights
            j = integer(item[1], "the constraint" if constraint else "the term", 0, len(listed) - 1)
            readers[item[0]](j, *item[2:])
            self.tally[f"{item[0]} line"] += 1
            if constraint:
                self.named.add(j)

    def _also(self, j: int, *rest: Any) -> None:
        """Another adversary's prior; bound because weight (at_most - I) >= 0, and I >= sum Q g."""
        other = self.constraints.limits.get(j)
        if not isinstance(other, Limit):
            raise RefusedError(f"constraint {j} is no leakage")
        if ("also", j) not in self._proofs:
            self._proofs["also", j] = other.proof(self.lines, self.channel)
        self.spent += arb(self._prior(self._proofs["also", j], *rest)) * other.ball

    def _multiplier(self, j: int, pairs: Any) -> None:
        """Multipliers of rows; bound because mu (h - G Q) is 0 where the row is =, and not negative where mu >= 0 and it is <=."""
        need(j in self.constraints.rows, f"constraint {j} has no rows")
        rows = self.constraints.rows[j]
        chosen = list[tuple[int, fmpq]]()
        before = -1
        self.count(len(entries(pairs, "the multipliers")))
        for pair in pairs:
            self.allowance.look()
            place, hint = entries(pair, "a row and its multiplier", 2)
            r = integer(place, "the row", 0, rows.count - 1)
            mu = decimal(hint, "a multiplier")
            need(r > before, "the rows must ascend")
            need(rows.equal or mu >= 0, f"the multiplier of row {r} must be nonnegative")
            self.allowance.take(PAIR + NUMBER + height(mu) // 4)
            chosen.append((r, mu))
            before = r

        def part(hard: bool) -> Iterator[Term]:
            for r, mu in chosen:
                terms, most = rows.make(r, rows.ends[hard])
                yield BEHIND, 0, mu * most
                for x, y, c in terms if mu else ():
                    yield x, y, mu * c

        self.add(part)

    def _cone(self, j: int, weight: Any, hints: Any) -> None:
        """Multipliers of a cone; bound because t |.| + sum u_k (F_k Q + f_k) >= (t - |u|) |.| >= 0. Two of them add to one."""
        need(j in self.constraints.cones, f"constraint {j} is no cone")
        parts = self.constraints.cones[j].parts
        t = nonnegative(weight, "t")
        u = [decimal(x, "u") for x in entries(hints, "u", len(parts) - 1)]
        self.count(len(u))
        need(total(x * x for x in u) <= t * t, "t must be at least the norm of u")
        self.allowance.take(len(parts) * NUMBER + sum(map(height, [t, *u])) // 4)

        def part(hard: bool) -> Iterator[Term]:
            for factor, (terms, constant) in zip([t, *u], parts, strict=True):
                yield BEHIND, 0, factor * constant
                for x, y, c in terms:
                    yield x, y, -factor * c

        self.add(part)

    def _tangent(self, j: int, place: Any, weight: Any, about: Any, hint: Any) -> None:
        """A tangent of a limit about a secret; bound because weight (at_most - what is limited) >= 0, and the tangent is below."""
        need(j in self.constraints.secrets, f"constraint {j} is no limit about a secret that has tangents")
        factor = positive(weight, "the weight")
        self.count(
            sum(len(x) if isinstance(x, list) else 1 for part in (about, hint) if isinstance(part, list) for x in part)
        )
        limited = self.constraints.secrets[j]
        law = limited.laws[integer(place, "the law", 0, len(limited.laws) - 1)]
        if isinstance(limited, Information):
            self._pay(factor, limited, lambda: limited.gains(self.channel, law, about, hint))
        else:
            self.add(limited.part(law, factor, about, hint))

    def _selection(self, j: int, weight: Any, given: Any, selection: Any, phi: Any) -> None:
        """A law of the dataset; bound because weight (at_most - I) >= 0, and I >= sum Q g, as of an adversary's prior."""
        limited = self.constraints.limits.get(j)
        factor = positive(weight, "the weight")
        if not isinstance(limited, Unsaid):
            raise RefusedError(f"constraint {j} is no secret_leakage")
        masses = limited.masses(self.channel, given, selection)
        self.count(len(masses) * (self.channel.outputs + 1))
        self._pay(factor, limited, lambda: gains(self.channel, masses, phi))

    def _weight(self, j: int, hint: Any) -> None:
        """The weight of a term that is a distortion."""
        need(j in self.objective.costs, f"term {j} is no distortion")
        need(j not in self._weighted, f"term {j} has two weights")
        self._weighted.add(j)
        weight = nonnegative(hint, "the weight")
        self.share(j, weight)
        self.add(lambda hard: self.objective.weighted(j, weight))

    def _term(self, j: int, *rest: Any) -> None:
        """A prior of a term that is a leakage to another adversary."""
        if ("term", j) not in self._proofs:
            self._proofs["term", j] = self.objective.proof(j, self.lines, self.channel)
        self.share(j, self._prior(self._proofs["term", j], *rest))

    def share(self, j: int, weight: fmpq) -> None:
        """Add to the weight of a term in the lower bound."""
        self.shares[j] = total([self.shares.get(j, fmpq(0)), weight])

    def count(self, numbers: int) -> None:
        """So many numbers more in lines about constraints."""
        self._numbers += numbers
        limit(self._numbers <= _MOST, f"more than {_MOST} multipliers")

    def add(self, part: Part) -> None:
        """One more, of a line that may be empty."""
        self.allowance.take(4 * PAIR)
        self._parts.append(part)

    def add_to(self, matrix: Costs, hard: bool) -> fmpq:
        """Add the parts, at the end of e^epsilon that is hard or the other; what they subtract behind."""
        behind = list[fmpq]()
        for part in self._parts:
            for x, y, value in part(hard):
                self.allowance.look()
                if x == BEHIND:
                    behind.append(value)
                    continue
                before = matrix[x][y]
                matrix[x][y] = total([before, value])
                self.allowance.take(max(0, height(matrix[x][y]) - height(before)) // 4)
        return total(behind)
