"""What local protocols share: outputs that are sets of inputs, with two likelihoods."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from dalenius.errors import InputError, brief
from dalenius.exact import Integer, Number, as_integer
from dalenius.information.arrays import Floats
from dalenius.information.set_channels import SetChannel
from dalenius.model.epsilons import epsilon_text, normal_epsilon, read_epsilon
from dalenius.model.mechanisms.base import ExactEntries, Mechanism, rational
from dalenius.model.queries.base import Integers

__all__ = ["MAX_INPUTS", "LocalProtocol"]

MAX_INPUTS = 2**14
MAX_WRITTEN = 2**20  # entries of a channel that is written out
EPSILON = "mechanism: epsilon"


@dataclass(frozen=True)
class LocalProtocol(Mechanism):
    """One report a person: output y has a set S_y of inputs, and the probability C_y e^epsilon on those in S_y, C_y on the others.

    A channel of at most 2^20 entries is like that of any mechanism. A larger one is never written out: its leakage to `ProductPriors`
    and to classes of laws has a closed form, in which inputs of equal probability share a variable.

    Parameters
    ----------
    epsilon : number or str
        Of local differential privacy: nats, ``"1 bits"``, or ``"log 3"``, which makes e^epsilon exactly 3. Kept as such a text.
    k : int, optional
        Number of inputs; left out, it is the query's.

    Raises
    ------
    InputError
        If epsilon is negative, cannot be read, or is above 1000, or `k` is below 2.
    """

    in_files: ClassVar[dict[str, object]] = {"epsilon": Number}
    epsilon: str
    k: int | None = None

    def _keep(self, epsilon: Number, k: Integer | None) -> None:
        amount, unit = read_epsilon(epsilon, EPSILON)
        if amount < (unit == "log"):
            raise InputError(f"{EPSILON} must be at least 0, got {brief(epsilon)}")
        object.__setattr__(self, "epsilon", epsilon_text(epsilon, EPSILON))
        number = None if k is None else as_integer(k, "mechanism: k", at_least=2, at_most=MAX_INPUTS)
        object.__setattr__(self, "k", number)

    def normal_table(self) -> dict[str, Any]:
        return {**self.to_table(), "epsilon": normal_epsilon(self.epsilon, EPSILON)}

    @property
    def factor(self) -> fmpq | arb:
        """e^epsilon, exactly where it is rational, else a ball of the precision that is set."""
        amount, unit = read_epsilon(self.epsilon, EPSILON)
        if unit == "log":
            return rational(amount)
        if not amount or (unit == "bits" and amount.denominator == 1):
            return fmpq(2) ** int(amount)
        exponent = arb(rational(amount)) * (arb(2).log() if unit == "bits" else 1)
        return exponent.exp()

    @property
    def nats(self) -> float:
        """epsilon, as a double."""
        return float(arb(self.factor).log())

    def outputs(self, inputs: int) -> int:
        """How many there are, on so many inputs."""
        self.check_inputs(inputs)
        return self._outputs(inputs)

    def written_out(self, inputs: int) -> bool:
        """Whether the channel is small enough to be written out."""
        return inputs * self.outputs(inputs) <= MAX_WRITTEN

    def check_inputs(self, inputs: int) -> None:
        """Raise `InputError` if the protocol does not fit so many inputs."""
        if not 2 <= inputs <= MAX_INPUTS:
            raise InputError(f"mechanism: {self.kind} needs 2 to {MAX_INPUTS} inputs, the query has {inputs}")
        if self.k is not None and self.k != inputs:
            raise InputError(
                f"mechanism: k is {self.k}, but the query has {inputs} values; leave k out or make them equal"
            )

    @abstractmethod
    def _outputs(self, inputs: int) -> int:
        """How many outputs there are."""

    @abstractmethod
    def members(self, inputs: int) -> NDArray[np.bool_]:
        """Whether S_y has the input x, (inputs, outputs)."""

    @abstractmethod
    def likelihoods(self, inputs: int, factor: Any) -> NDArray[Any]:
        """C_y of every output, as doubles or exactly, from e^epsilon."""

    @abstractmethod
    def sets(self, inputs: int) -> SetChannel:
        """The closed form of its divergences."""

    def channel(self, values: Integers) -> Floats:
        members = self._written(values)
        return np.asarray(
            _filled(members, self.likelihoods(values.size, float(arb(self.factor))), float(arb(self.factor)))
        )

    def exact_entries(self, values: Integers) -> ExactEntries:
        members, likelihoods = self._written(values), self.likelihoods(values.size, self.factor)
        marked = np.array(
            [float(arb(x)) for x in self.likelihoods(values.size, fmpq(2))]
        )  # of which no two are alike by chance
        _, first, number = np.unique(marked, return_index=True, return_inverse=True)
        numbers = [x for y in first for x in (likelihoods[y], likelihoods[y] * self.factor)]
        return ExactEntries(numbers, 2 * number[None, :] + members)

    def constant_row(self, inputs: Integers, outputs: int) -> tuple[Fraction, ...] | None:
        """Where epsilon is 0 all outputs are alike."""
        return (Fraction(1, outputs),) * outputs if self.factor == 1 else None

    def _written(self, values: Integers) -> NDArray[np.bool_]:
        if not self.written_out(values.size):
            raise InputError(
                f"mechanism: {self.kind} on {values.size} inputs has more than {MAX_WRITTEN} entries and is never written out; "
                "solve it against product_priors or a class of laws (l1_ball_priors, kl_ball_priors, ...)"
            )
        return self.members(values.size)


def _filled(members: NDArray[np.bool_], likelihoods: NDArray[Any], factor: Any) -> NDArray[Any]:
    return np.where(members, likelihoods * factor, likelihoods)
