"""What a bound makes of its letters' own bounds: the adversary chooses the letter law, too, or it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dalenius.information import entropy, log_sum_exp, x_log_x
from dalenius.information.arrays import Floats

__all__ = ["ChosenLaw", "GivenLaw", "LetterLaw"]


class LetterLaw(Protocol):
    """Letters in groups that share their bounds psi (groups,); entropies relative to the uniform prior."""

    def value(self, psi: Floats, beta: float) -> float:
        """max of <psi, pi> + beta H(pi) over what pi may be; -inf where a letter that has mass has no law left."""
        ...

    def masses(self, psi: Floats, beta: float) -> Floats:
        """Of the groups, at the maximum."""
        ...

    def entropy(self, masses: Floats) -> float:
        """H(pi) of the letters, at these masses of the groups."""
        ...

    def curvature(self, slopes: Floats, masses: Floats, beta: float) -> Floats:
        """The second derivative of `value` that is due to the masses, where psi / beta has these slopes (groups, variables)."""
        ...

    def share(self, letter: int, group: int) -> float:
        """Of its group's mass."""
        ...


@dataclass(frozen=True)
class ChosenLaw:
    """The adversary chooses: beta log sum_a exp(psi_a / beta).

    Attributes
    ----------
    count : (groups,)
        Letters of each group.
    """

    count: Floats

    def value(self, psi: Floats, beta: float) -> float:
        return beta * float(log_sum_exp(psi / beta + np.log(self.count))) if np.all(np.isfinite(psi)) else -np.inf

    def masses(self, psi: Floats, beta: float) -> Floats:
        score = psi / beta + np.log(self.count)
        return np.asarray(np.exp(score - log_sum_exp(score)))

    def entropy(self, masses: Floats) -> float:
        return float(masses @ np.log(self.count) - np.sum(x_log_x(masses)))

    def curvature(self, slopes: Floats, masses: Floats, beta: float) -> Floats:
        centred = slopes - masses @ slopes
        return np.asarray((centred * masses[:, None]).T @ centred / beta)

    def share(self, letter: int, group: int) -> float:
        return 1.0 / float(self.count[group])


@dataclass(frozen=True)
class GivenLaw:
    """The letter law is pi: sum_a pi_a psi_a + beta H(pi).

    Attributes
    ----------
    pi : (letters,)
    group : (letters,)
        The group of each letter.
    """

    pi: Floats
    group: NDArray[np.int64]

    def value(self, psi: Floats, beta: float) -> float:
        q = self._masses(len(psi))
        if not np.all(np.isfinite(psi[q > 0.0])):
            return -np.inf
        return float(q @ np.where(q > 0.0, psi, 0.0)) + beta * float(entropy(self.pi))

    def masses(self, psi: Floats, beta: float) -> Floats:
        return self._masses(len(psi))

    def _masses(self, groups: int) -> Floats:
        return np.asarray(np.bincount(self.group, weights=self.pi, minlength=groups), dtype=float)

    def entropy(self, masses: Floats) -> float:
        return float(entropy(self.pi))

    def curvature(self, slopes: Floats, masses: Floats, beta: float) -> Floats:
        return np.zeros((slopes.shape[1], slopes.shape[1]))

    def share(self, letter: int, group: int) -> float:
        mass = float(np.sum(self.pi[self.group == group]))
        return float(self.pi[letter]) / mass if mass > 0.0 else 0.0
