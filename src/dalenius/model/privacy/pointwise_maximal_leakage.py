"""Pointwise maximal leakage, for the law of the data or for listed priors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from dalenius.errors import InputError
from dalenius.exact import Number, Rows, as_law, as_list, exact_sum
from dalenius.model.privacy.base import Privacy, Reference

__all__ = ["PointwiseMaximalLeakage"]

MAX_NUMBERS = 2**22


@dataclass(frozen=True)
class PointwiseMaximalLeakage(Privacy):
    """Q(x,y) <= e^epsilon sum_x' P(x') Q(x',y) for all outputs y, every prior P and all inputs x with P(x) > 0.

    The pointwise maximal leakage of an output y is max_x log( Q(x,y) / P_Y(y) ): by how much y can raise anybody's chance to guess
    anything about the input, whatever is guessed.

    Parameters
    ----------
    epsilon : number or str
        Nats, or ``"1 bits"``, or ``"log 3"``; see `Privacy`.
    priors : matrix of numbers, as lists or as an array, optional
        Laws on the mechanism's inputs, each *exactly* its weights divided by their exact sum, which may differ from 1 by at most 1e-9.
        Left out: the law of the inputs under the model's law of the data.

    Raises
    ------
    InputError
        If epsilon cannot be read or is above 1000, there is no prior, or one is no law; `check` raises it for a prior of another
        length, or with mass on a value that no dataset has, and for more than 2^22 weights.

    Notes
    -----
    Source: S. Saeidian, G. Cervia, T. J. Oechtering, M. Skoglund, "Pointwise maximal leakage", IEEE Trans. Inf. Theory 69 (2023).
    From epsilon >= log(1 / min P) on every mechanism is private.

    >>> import dalenius as dl
    >>> problem = dl.MinDistortion(records=dl.Records(1, alphabet=3), query=dl.Identity(), distortion=dl.Hamming(),
    ...     law=dl.Iid([0.5, 0.3, 0.2]), privacy=dl.PointwiseMaximalLeakage("log 2"))
    >>> result = dl.solve(problem)
    >>> result.distortion, result.exp_epsilon, result.lower <= 0.2 <= result.upper
    (Fraction(1, 5), Fraction(2, 1), True)
    """

    kind: ClassVar[str] = "pointwise_maximal_leakage"
    priors: tuple[tuple[Fraction, ...], ...] | None = None

    def __init__(self, epsilon: Number, priors: Rows | None = None) -> None:
        super().__init__(epsilon)
        listed = None if priors is None else as_list(priors, "privacy: priors")
        if listed == []:
            raise InputError("privacy: priors must list at least one prior; leave it out for the law of the inputs")
        laws = listed and tuple(as_law(prior, f"privacy: priors[{j}]") for j, prior in enumerate(listed))
        object.__setattr__(self, "priors", laws)

    def check(self, possible: Sequence[int], inputs: int) -> None:
        listed = self.priors or ()
        if len(listed) * inputs > MAX_NUMBERS:
            raise InputError(f"privacy: at most {MAX_NUMBERS} weights, got {len(listed)} priors on {inputs} inputs")
        impossible = set(range(inputs)) - set(possible)
        for j, prior in enumerate(listed):
            if len(prior) != inputs:
                raise InputError(
                    f"privacy: priors[{j}] must have one weight for each of the mechanism's {inputs} inputs, got {len(prior)}"
                )
            for x in sorted(impossible):
                if prior[x]:
                    raise InputError(f"privacy: priors[{j}][{x}] must be 0, because no dataset has this input's value")

    def references(self, possible: Sequence[int], law: Sequence[Fraction]) -> list[Reference]:
        if self.priors is None:
            return [_reference(law, Fraction(1))]
        return [_reference(prior, exact_sum(prior, "privacy: priors")) for prior in self.priors]


def _reference(weights: Sequence[Fraction], total: Fraction) -> Reference:
    """The inputs of positive weight, with the weights divided by their sum."""
    support = [x for x, weight in enumerate(weights) if weight]
    return Reference(tuple(support), tuple(weights[x] / total for x in support))
