"""What a design minimises, if it is more than its own leakage or distortion: a sum or maximum of several, with weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from decimal import ROUND_CEILING
from typing import Any

from .adversaries import ADVERSARIES
from .arithmetic import arb, fmpq
from .certificate import Lines
from .channel import Channel
from .ground import Ground
from .model import Model
from .numbers import need, rounded, total
from .proof import NEXT, EntropyBound
from .read import integer


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
            place = integer(lines.item(f"term {j}", {"term": 2})[1], "the term", 0)
            need(place == j, f"term {j} is expected")
            proof = self.proof(j, lines, channel)
            if not channel.constant or lines.ahead() not in NEXT:  # a constant mechanism leaks nothing
                proof.bound(arb(ends[j]))
            tally += proof.tally
        return tally

    def proof(self, j: int, lines: Lines, channel: Channel) -> EntropyBound:
        """The lines about the adversary of term j."""
        need(j in self._models, f"term {j} is no leakage to another adversary")
        model = self._models[j]
        return ADVERSARIES[model.adversary](lines, model, channel)

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
