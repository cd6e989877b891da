"""Constraints of one's own: what a design's mechanisms must meet besides the budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from .adversaries import ADVERSARIES
from .arithmetic import arb, fmpq
from .certificate import Lines
from .channel import Channel
from .correlation import MaximalCorrelation
from .ground import Ground, Term
from .limits import ChiSquare, PrivacyDelta, SecretLimit, TotalVariation
from .model import Model
from .mutual import Information
from .numbers import in_nats, need, total
from .proof import NEXT, EntropyBound
from .read import integer
from .rows import Rows, value_of
from .secret_rows import rows_of
from .unsaid import Unsaid

Affine = tuple[Sequence[Term], fmpq]
_SECRETS: dict[str, type[SecretLimit]] = {
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
    """What another adversary may learn about a record: at most so many nats or bits."""

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
            elif table["kind"] in _SECRETS:
                self.secrets[j] = _SECRETS[table["kind"]](table, ground, f"constraint {j}")
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
            place = integer(lines.item(f"the adversary of constraint {j}", {"adversary": 2})[1], "the constraint", 0)
            need(place == j, f"the adversary of constraint {j} is expected")
            proof = limit.proof(lines, channel)
            if not channel.constant or lines.ahead() not in NEXT:  # a constant mechanism leaks nothing
                proof.bound(limit.ball)
            tally += proof.tally
        return tally

    def words(self, chosen: Iterable[int] | None = None) -> str:
        """The constraints, or those of these numbers, in words."""
        listed = range(len(self.tables)) if chosen is None else sorted(chosen)
        parts = list[str]()
        for _, run in groupby(enumerate(listed), lambda pair: (self.tables[pair[1]]["kind"], pair[1] - pair[0])):
            first, *rest = (j for _, j in run)
            parts.append(f"{first}{f' to {rest[-1]}' if rest else ''} ({self.tables[first]['kind']})")
        return f" under constraint{'s' if len(listed) > 1 else ''} {', '.join(parts)}" if parts else ""


def _affine(table: dict[str, Any], ground: Ground, j: int) -> Affine:
    ground.need_cells(table["terms"], f"constraint {j}")
    return table["terms"], fmpq(table["constant"])
