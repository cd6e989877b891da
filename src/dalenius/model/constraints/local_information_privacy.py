"""Local information privacy of a secret: its output laws stay within e^epsilon of the output's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dalenius.exact import Number
from dalenius.exact import Rows as WrittenRows
from dalenius.model.constraints.base import MechanismSpace, Rows
from dalenius.model.constraints.secret import (
    Secret,
    ratio_rows,
)
from dalenius.model.constraints.secret_ratios import SecretRatios

__all__ = ["LocalInformationPrivacy"]


@dataclass(frozen=True, init=False)
class LocalInformationPrivacy(SecretRatios):
    """e^-epsilon r(y) <= W(s,y) <= e^epsilon r(y) for every letter s of the secret and every output y.

    W(s,.) is the output's law given the secret's letter s, and r its own; so no output changes the probability of any letter by more
    than a factor e^epsilon either way.

    Parameters
    ----------
    epsilon : number or str
        As of `LocalDP`: nats, or ``"1 bits"``, or ``"log 3"``; at least 0.
    secret : joint law P(s,x), or list of them, optional
        A row for each letter of the secret, a column for each of the mechanism's inputs, with sum 1. Every one of them must be met.
    priors : list of laws of the inputs, optional
        The secret is then the input itself. Left out, as `secret` is: it has the law of the inputs under the model's law of the data.

    Raises
    ------
    InputError
        If epsilon cannot be read or is negative, a law is none, or both are given; a design raises it where a law does not fit.

    Notes
    -----
    Source: Z. Wang, W. P. Tay, "Inference privacy by f-divergences" (the definition of information privacy with delta = 0).

    >>> LocalInformationPrivacy("log 2", secret=[[0.5, 0.25], [0, 0.25]]).epsilon
    'log 2'
    """

    kind: ClassVar[str] = "local_information_privacy"

    def __init__(self, epsilon: Number, secret: Secret | None = None, priors: WrittenRows | None = None) -> None:
        self._take(epsilon, secret, priors)

    def rows(self, space: MechanismSpace) -> Rows:
        pairs = []
        for law in self.laws(space):
            for s in law.letters:
                given = law.given(s)
                for y in range(space.outputs):
                    pairs += [(given, law.support, y), (law.support, given, y)]
        return ratio_rows(pairs, self.epsilon)
