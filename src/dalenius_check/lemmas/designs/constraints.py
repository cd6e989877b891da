"""Constraints of a design's mechanisms besides the budget, and objectives of several terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING
from itertools import groupby
from typing import Any

from ...core.adversaries import ADVERSARIES, NEXT, EntropyBound
from ...core.allowance import rests_on
from ...core.arithmetic import arb, fmpq
from ...core.certificate import Lines
from ...core.channel import Channel
from ...core.model import Model
from ...core.numbers import in_nats, need, rounded, total
from ...core.read import integer
from ..secrets import Revealed, Unsaid
from .ground import Ground, Term
from .limits import ChiSquare, MaximalCorrelation, PrivacyDelta, SecretLimit, TotalVariation
from .rows import Rows, value_of
from .secret import rows_of
from .tangents import Information

Affine = tuple[Sequence[Term], fmpq]
SECRET_LIMITS: dict[str, type[SecretLimit]] = {
    "mutual_information": Information,
    "kl": Information,
    "total_variation": TotalVariation,
    "chi_square": ChiSquare,
    "maximal_correlation": MaximalCorrelation,
    "local_dp_delta": PrivacyDelta,
    "local_information_privacy_delta": PrivacyDelta,
}


@dataclass(frozen=True)
class Cone:
    """The norm of the numbers F_k Q + f_k is at most F Q + f; `side` is the latter."""

    norm: list[Affine]
    side: Affine

    @property
    def parts(self) -> list[Affine]:
        """The side, then the norm's numbers."""
        return [self.side, *self.norm]

    def need_met(self, laws: Sequence[Sequence[fmpq]], what: str) -> None:
        """Refuse a mechanism outside."""
        side, *norm = (value_of(terms, laws) + constant for terms, constant in self.parts)
        need(side >= 0 and total(x * x for x in norm) <= side * side, f"the cone of {what} fails")


@dataclass(frozen=True)
class Limit:
    """Limit on the leakage about a record to another adversary, in nats or bits."""

    model: Model
    most: fmpq
    unit: str

    @property
    def ball(self) -> arb:
        """A ball around the limit in nats."""
        return in_nats(self.most, self.unit)

    def proof(self, lines: Lines, channel: Channel) -> EntropyBound:
        """The lines about this adversary."""
        return ADVERSARIES[self.model.adversary](lines, self.model, channel)


class Constraints:
    """A design's constraints by their numbers: rows, cones, limits of leakage, of a record or a secret, and limits about a secret."""

    def __init__(self, model: Model, ground: Ground) -> None:
        self.tables = model.design.get("constraints", [])
        self.allowance = model.allowance
        self.rows = dict[int, Rows]()
        self.cones = dict[int, Cone]()
        self.limits = dict[int, Limit | Unsaid]()
        self.secrets = dict[int, SecretLimit]()
        if self.tables:
            rests_on(self.allowance, "G3")
        for j, table in enumerate(self.tables):
            self.allowance.look()
            if table["kind"] == "cone":
                self.cones[j] = Cone([_affine(x, ground, j) for x in table["norm"]], _affine(table, ground, j))
            elif table["kind"] == "leakage":
                other = model.against(table["adversary"])
                other.need_feasible()
                self.limits[j] = Limit(other, *table["at_most"])
            elif table["kind"] == "secret_leakage":
                self.limits[j] = Unsaid(model, table)
            elif table["kind"] in SECRET_LIMITS:
                self.secrets[j] = SECRET_LIMITS[table["kind"]](table, ground, f"constraint {j}")
            else:
                self.rows[j] = rows_of(table, ground, f"constraint {j}")

    def need_met(self, laws: Sequence[Sequence[fmpq]]) -> None:
        """Refuse a mechanism that misses a row, a cone or a limit about a secret."""
        for j, rows in self.rows.items():
            rows.need_met(laws, f"constraint {j}", self.allowance)
        for j, cone in self.cones.items():
            cone.need_met(laws, f"constraint {j}")
        for limited in self.secrets.values():
            limited.need_met(laws)

    def need_kept(self, lines: Lines, channel: Channel) -> Counter[str]:
        """The lines `adversary` prove what the mechanism leaks to each of them; the numbers of leaves by kind."""
        tally = Counter[str]()
        for j, limit in self.limits.items():
            need(limit.most >= 0, f"constraint {j} asks for a negative leakage")
            need_named(lines, "adversary", j, f"the adversary of constraint {j}")
            tally += leaves(limit.proof(lines, channel), limit.ball)
        return tally

    def words(self, chosen: Iterable[int] | None = None) -> str:
        """The constraints, or those of these numbers, in words."""
        listed = range(len(self.tables)) if chosen is None else sorted(chosen)
        parts = list[str]()
        for _, run in groupby(enumerate(listed), lambda pair: (self.tables[pair[1]]["kind"], pair[1] - pair[0])):
            first, *rest = (j for _, j in run)
            parts.append(f"{first}{f' to {rest[-1]}' if rest else ''} ({self.tables[first]['kind']})")
        return f" under constraint{'s' if len(listed) > 1 else ''} {', '.join(parts)}" if parts else ""


def need_named(lines: Lines, kind: str, j: int, what: str) -> None:
    """Refuse what is not the line of this kind with this number."""
    place = integer(lines.item(what, {kind: 2})[1], f"the number of {what}", 0)
    need(place == j, f"{what} is expected")


def leaves(proof: EntropyBound | Revealed, most: arb) -> Counter[str]:
    """Lines that prove that a mechanism leaks no more, by kind; a constant one leaks nothing, and needs no lines."""
    if not proof.channel.constant or proof.lines.ahead() not in NEXT:
        proof.bound(most)
    return proof.tally


def _affine(table: dict[str, Any], ground: Ground, j: int) -> Affine:
    ground.need_cells(table["terms"], f"constraint {j}")
    return table["terms"], fmpq(table["constant"])


class Objective:
    """The terms of an objective by their numbers, 0 being the problem's own: weights, distortions, and models with other adversaries.

    A model without one, or of which nothing is to be `least`, has the term 0 alone, and its weight is 1.
    """

    def __init__(self, model: Model, ground: Ground, least: bool = True) -> None:
        table: dict[str, Any] = model.design.get("objective", {}) if least else {}
        tables = table.get("terms", [])
        self.given = bool(table)
        self.largest = table.get("combine") == "max"
        self.weights = [fmpq(one.get("weight", 1)) for one in [table, *tables]]
        self.kinds = ["leakage" if model.problem == "min_leakage" else "distortion", *(one["kind"] for one in tables)]
        self.costs = {} if self.kinds[0] == "leakage" else {0: ground.costs}
        self.law = ground.law
        self._ground = ground
        self._models = dict[int, Model]()
        for j, one in enumerate(tables, 1):
            if one["kind"] == "distortion":
                self.costs[j] = ground.measure(one["distortion"], f"term {j}")
            else:
                self._models[j] = model.against(one["adversary"])
                self._models[j].need_feasible()

    def ends(self, claim: dict[str, Any], channel: Channel) -> list[fmpq]:
        """U_j, what each term is claimed to be at most; here the distortions are checked, and what they make altogether."""
        if not self.given:
            return [claim["upper"]]
        ends: list[fmpq] = claim["terms"]
        need(len(ends) == len(self.weights), f"the header's terms must be {len(self.weights)} numbers")
        need(min(ends) >= 0, "the header's terms must be at least 0")  # of records with one letter nothing is proved
        parts = [w * end for w, end in zip(self.weights, ends, strict=True)]
        need((max(parts) if self.largest else total(parts)) <= claim["upper"], "the terms are more than upper")
        for j, costs in self.costs.items():
            fits = self._ground.expected(channel.rows, costs) <= ends[j]
            need(fits, f"the distortion of term {j} is too large")
        return ends

    def need_kept(self, lines: Lines, channel: Channel, ends: list[fmpq]) -> Counter[str]:
        """The lines `term` prove what the mechanism leaks to the other adversaries; the numbers of leaves by kind."""
        tally = Counter[str]()
        for j in self._models:
            need_named(lines, "term", j, f"term {j}")
            tally += leaves(self.proof(j, lines, channel), arb(ends[j]))
        return tally

    def proof(self, j: int, lines: Lines, channel: Channel) -> EntropyBound:
        """The lines about the adversary of term j."""
        need(j in self._models, f"term {j} is no leakage to another adversary")
        model = self._models[j]
        return ADVERSARIES[model.adversary](lines, model, channel)

    def weighted(self, j: int, weight: fmpq) -> Iterator[Term]:
        """p(x) d(x, y) of the distortion of term j, so many times."""
        for x, (p, costs) in enumerate(zip(self.law, self.costs[j], strict=True)):
            for y, d in enumerate(costs if weight and p else ()):
                yield x, y, weight * p * d

    def need_shares(self, shares: Mapping[int, fmpq]) -> None:
        """Refuse weights v_j of a lower bound that are more than the objective's.

        Bound because then sum v_j T_j is at most sum w_j T_j, or the largest w_j T_j times sum v_j / w_j: no T_j is negative.
        """
        parts = [shares.get(j, fmpq(0)) / w for j, w in enumerate(self.weights)]
        fits = total(parts) <= 1 if self.largest else all(part <= 1 for part in parts)
        need(fits, "the terms' weights are more than the objective's")

    def words(self, ends: list[fmpq]) -> list[str]:
        """The terms of the mechanism in words."""
        found = zip(self.kinds, self.weights, ends, strict=True)
        return [
            f"term {j}: {w} times its {kind}, which is at most {rounded(end, ROUND_CEILING)}"
            for j, (kind, w, end) in enumerate(found if self.given else ())
        ]
