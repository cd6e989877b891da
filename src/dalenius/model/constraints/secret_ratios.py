"""What limits of the ratios of a secret's output laws share: an epsilon, and the secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dalenius.errors import InputError, brief
from dalenius.exact import Number
from dalenius.model.constraints.base import MechanismSpace, RowConstraint
from dalenius.model.constraints.secret import (
    JointLaw,
    Matrices,
    Priors,
    as_priors,
    as_secret,
    check_secret,
    laws_of,
)
from dalenius.model.privacy import LocalDP

__all__ = ["SecretRatios"]


@dataclass(frozen=True, init=False)
class SecretRatios(RowConstraint):
    """What both kinds share: an epsilon, and a secret."""

    epsilon: Number
    secret: Matrices | None = None
    priors: Priors | None = None

    def _take(self, epsilon: Number, secret: Any, priors: Any) -> None:
        what = f"constraints: {self.kind}"
        notion = LocalDP(epsilon)
        if not notion.feasible:
            raise InputError(f"{what}: epsilon must be at least 0, got {brief(epsilon)}")
        if secret is not None and priors is not None:
            raise InputError(f"{what}: expected secret or priors, got both")
        object.__setattr__(self, "epsilon", notion.epsilon)
        object.__setattr__(self, "secret", as_secret(secret, what))
        object.__setattr__(self, "priors", as_priors(priors, what))

    def normal_table(self) -> dict[str, Any]:
        return {**super().normal_table(), "epsilon": LocalDP(self.epsilon).normal_table()["epsilon"]}

    def check_parts(self, space: MechanismSpace) -> None:
        check_secret(self.secret, self.priors, space, f"constraints: {self.kind}")

    def size(self, space: MechanismSpace) -> tuple[int, int]:
        laws = laws_of(self.secret, self.priors, space)
        rows = [2 * len(law.letters) * space.outputs for law in laws]
        return sum(rows), sum(2 * len(law.support) * count for law, count in zip(laws, rows, strict=True))

    @property
    def about_the_law(self) -> bool:
        """Whether the secret is the input itself, under the model's own law."""
        return self.secret is None and self.priors is None

    def laws(self, space: MechanismSpace) -> list[JointLaw]:
        """The laws that it is about."""
        return laws_of(self.secret, self.priors, space)
