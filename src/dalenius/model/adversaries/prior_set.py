"""Priors that are listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dalenius.errors import InputError, brief
from dalenius.exact import Numbers, as_law, as_list, exact_sum
from dalenius.model.adversaries.base import Adversary
from dalenius.model.fields import Given, declared, keep
from dalenius.model.records import Records

MAX_NUMBERS = 2**22

Prior: TypeAlias = Numbers | Sequence[Any]  # flat, or nested to as many axes as there are records
Priors: TypeAlias = Sequence[Prior] | NDArray[Any]


def _flat_lists(value: Any, where: str) -> Any:
    """Laws of a file, which lists one number a dataset."""
    for j, prior in enumerate(as_list(value, where)):
        if not isinstance(prior, list | tuple) or any(map(_is_list, prior)):
            raise InputError(f"{where}[{j}] must be a list of numbers, one a dataset, got {brief(prior)}")
    return value


@declared
class PriorSet(Adversary):
    """The listed priors on datasets, and no other; L is the largest I(X_i; Y) over them and the records i, evaluated.

    A prior is *exactly* its weights divided by their exact sum; a sum may differ from 1 by at most 1e-9.

    Parameters
    ----------
    priors : sequence of arrays
        Each holds |X| weights in lexicographic order of the datasets, record 0 slowest, or has the shape (|A_0|, ..., |A_{n-1}|).
        Entries are exact (see `dalenius.exact.as_fraction`): 0.1 is 1/10, ``"1/3"`` is a third.

    Raises
    ------
    InputError
        If there is no prior, a weight is negative or no number, or a sum is not 1; `check` raises it for a prior that does not have
        one weight a dataset, and where there are more than 65,536 datasets or 2^22 weights.

    >>> import numpy as np
    >>> correlated = PriorSet([[0.5, 0, 0, 0.5], np.full((2, 2), 0.25)])
    >>> correlated.check(Records(2, alphabet=2))
    >>> correlated.weights.tolist()
    [[0.5, 0.0, 0.0, 0.5], [0.25, 0.25, 0.25, 0.25]]
    """

    kind: ClassVar[str] = "prior_set"
    no_program: ClassVar[str] = "listed priors are evaluated, so that there is nothing to solve"
    priors: Given[Priors, tuple[tuple[Fraction, ...], ...]] = Given(tables=_flat_lists)
    shapes: tuple[tuple[int, ...], ...] = field(init=False, compare=False, repr=False)

    def __init__(self, priors: Priors) -> None:
        listed = as_list(priors, "adversary: priors")
        if not listed:
            raise InputError("adversary: priors must list at least one prior")
        read = [_prior(prior, f"adversary: priors[{j}]") for j, prior in enumerate(listed)]
        keep(self, priors=tuple(weights for weights, _ in read), shapes=tuple(shape for _, shape in read))

    @property
    def listed(self) -> tuple[tuple[Fraction, ...], ...]:
        return self.priors

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """The priors in doubles, (priors, datasets), each summing to 1."""
        weights = np.array([[float(w) for w in prior] for prior in self.priors])
        return weights / np.array([[float(exact_sum(prior, "adversary: priors"))] for prior in self.priors])

    @property
    def written(self) -> tuple[int, int]:
        return self.weights.size, np.unique(self.weights).size

    def check(self, records: Records) -> None:
        datasets = records.enumerable("adversary: a prior", "Use product_priors or entropy_at_least")
        for j, (prior, shape) in enumerate(zip(self.priors, self.shapes, strict=True)):
            if len(prior) != datasets or (len(shape) > 1 and shape != records.alphabets):
                raise InputError(
                    f"adversary: priors[{j}] must have one weight for each of the {datasets} datasets, in a list or in an array "
                    f"with one axis a record as long as its alphabet; got the shape {brief(shape)}"
                )
        if len(self.priors) * datasets > MAX_NUMBERS:
            raise InputError(f"adversary: at most {MAX_NUMBERS} weights, got {len(self.priors)} priors of {datasets}")

    def in_words(self) -> str:
        return "who holds " + (
            "the listed prior" if len(self.priors) == 1 else f"one of the {len(self.priors)} listed priors"
        )


def FixedPrior(prior: Prior) -> PriorSet:  # noqa: N802 - reads like the adversaries that are classes
    """The adversary who holds this one prior: a `PriorSet` of one.

    >>> FixedPrior([0.5, 0.5]) == PriorSet([[0.5, 0.5]])
    True
    """
    return PriorSet([prior])


def _prior(prior: Any, what: str) -> tuple[tuple[Fraction, ...], tuple[int, ...]]:
    """The weights of one prior in dataset order, and the shape they came in."""
    try:
        entries, shape = _flat(prior, what)
    except RecursionError:
        raise InputError(f"{what}: lists are nested too deeply") from None
    return as_law(entries, what), shape


def _flat(value: Any, what: str) -> tuple[list[Any], tuple[int, ...]]:
    """The entries of an array given as nested lists, the last axis fastest, and its shape."""
    members = as_list(value, what)
    if not any(map(_is_list, members)):
        return members, (len(members),)
    parts = [_flat(member, what) for member in members]
    shapes = {shape for _, shape in parts}
    if len(shapes) > 1:
        raise InputError(f"{what}: lists within an array must be of equal length, got the shapes {brief(shapes)}")
    return [entry for entries, _ in parts for entry in entries], (len(parts), *shapes.pop())


def _is_list(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes) and getattr(value, "ndim", 1) > 0
