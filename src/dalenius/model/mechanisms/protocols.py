"""Local protocols: outputs that are sets of inputs, with two likelihoods."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any, ClassVar

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from dalenius.errors import InputError, brief
from dalenius.exact import Number
from dalenius.information.arrays import Floats, Integers
from dalenius.information.balls import rational
from dalenius.information.set_channels import FixedSets, ParitySets, RandomSets, SetChannel
from dalenius.model.fields import (
    Given,
    Whole,
    WholeOrNone,
    declared,
    epsilon_text,
    normal_epsilon,
    read_epsilon,
    whole,
)
from dalenius.model.mechanisms.base import ByKind, ExactEntries
from dalenius.model.queries.base import MAX_INTEGER

MAX_INPUTS = 2**14
MAX_WRITTEN = 2**20  # entries of a channel that is written out
EPSILON = "mechanism: epsilon"


def _as_epsilon(value: Number, what: str) -> str:
    amount, unit = read_epsilon(value, what)
    if amount < (unit == "log"):
        raise InputError(f"{what} must be at least 0, got {brief(value)}")
    return epsilon_text(value, what)


@declared
class LocalProtocol(ByKind):
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

    repeated: ClassVar[bool] = False
    in_closed_form: ClassVar[bool] = True
    epsilon: Given[Number, str] = Given(_as_epsilon, normal=normal_epsilon)
    k: WholeOrNone = Given(whole(at_least=2, at_most=MAX_INPUTS), default=None, kw_only=True)

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

    def output_count(self, inputs: int) -> int:
        self.check_inputs(inputs)
        return self._outputs(inputs)

    def written_out(self, inputs: int) -> bool:
        return inputs * self.output_count(inputs) <= MAX_WRITTEN

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
        """Number of outputs."""

    @abstractmethod
    def members(self, inputs: int) -> NDArray[np.bool_]:
        """True if S_y has the input x, (inputs, outputs)."""

    @abstractmethod
    def likelihoods(self, inputs: int, factor: Any) -> NDArray[Any]:
        """C_y of every output, as doubles or exactly, from e^epsilon."""

    @abstractmethod
    def sets(self, inputs: int) -> SetChannel:
        """The closed form of its divergences."""

    def channel(self, values: Integers) -> Floats:
        members = self._written(values)
        return _filled(members, self.likelihoods(values.size, float(arb(self.factor))), float(arb(self.factor)))

    def exact_entries(self, values: Integers) -> ExactEntries:
        members, likelihoods = self._written(values), self.likelihoods(values.size, self.factor)
        marked = np.array(
            [float(arb(x)) for x in self.likelihoods(values.size, fmpq(2))]
        )  # of which no two are alike by chance
        _, first, number = np.unique(marked, return_index=True, return_inverse=True)
        numbers = [x for y in first for x in (likelihoods[y], likelihoods[y] * self.factor)]
        return ExactEntries(numbers, 2 * number[None, :] + members)

    def constant_row(self, inputs: Integers, outputs: int) -> tuple[Fraction, ...] | None:
        """The row at epsilon 0, where all outputs are equally likely."""
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


@declared
class SubsetSelection(LocalProtocol):
    """It reports a set of `size` inputs: one with the true input e^epsilon times as likely as one without it.

    With size 1 it is k-ary randomised response; near k / (e^epsilon + 1) it reveals most about a uniform law.

    Parameters
    ----------
    epsilon : number or str
        Nats, ``"1 bits"`` or ``"log 3"``; see `LocalProtocol`.
    size : int
        From 1 to the number of inputs less 1.
    k : int, optional
        Number of inputs; left out, it is the query's.

    Raises
    ------
    InputError
        If epsilon is negative or cannot be read, or `size` or `k` does not fit.

    Notes
    -----
    Source: M. Ye, A. Barg, "Optimal schemes for discrete distribution estimation under locally differential privacy", IEEE Trans.
    Inf. Theory 64 (2018).

    >>> subset_selection("log 3", size=1).exact_channel(np.arange(3)).tolist()[0]
    [3/5, 1/5, 1/5]
    """

    kind: ClassVar[str] = "subset_selection"
    size: Whole = Given(whole(at_least=1), kw_only=True)

    def check_inputs(self, inputs: int) -> None:
        super().check_inputs(inputs)
        if self.size >= inputs:
            raise InputError(f"mechanism: size must be below the number of inputs, {inputs}, got {self.size}")

    def _outputs(self, inputs: int) -> int:
        return comb(inputs, self.size)

    def members(self, inputs: int) -> NDArray[np.bool_]:
        found = np.zeros((inputs, self._outputs(inputs)), dtype=bool)
        for y, chosen in enumerate(combinations(range(inputs), self.size)):
            found[list(chosen), y] = True
        return found

    def likelihoods(self, inputs: int, factor: Any) -> NDArray[Any]:
        total = comb(inputs - 1, self.size - 1) * factor + comb(inputs - 1, self.size)
        return np.full(self._outputs(inputs), 1 / total)

    def sets(self, inputs: int) -> FixedSets:
        return FixedSets(inputs, self.nats, self.size)


subset_selection = SubsetSelection


class OptimizedUnaryEncoding(LocalProtocol):
    """A bit for each input: that of the true one is 1 with probability 1/2, every other with 1/(e^epsilon + 1), independently.

    Parameters
    ----------
    epsilon : number or str
        Nats, ``"1 bits"`` or ``"log 3"``; see `LocalProtocol`.
    k : int, optional
        Number of inputs; left out, it is the query's.

    Raises
    ------
    InputError
        If epsilon is negative or cannot be read, or `k` is below 2.

    Notes
    -----
    Source: T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for frequency estimation", USENIX Security
    2017.

    >>> optimized_unary_encoding("log 3").exact_channel(np.arange(2)).tolist()[0]
    [3/8, 3/8, 1/8, 1/8]
    """

    kind: ClassVar[str] = "optimized_unary_encoding"

    def _outputs(self, inputs: int) -> int:
        return 1 << inputs

    def members(self, inputs: int) -> NDArray[np.bool_]:
        return (np.arange(self._outputs(inputs))[None, :] >> np.arange(inputs)[:, None] & 1).astype(bool)

    def likelihoods(self, inputs: int, factor: Any) -> NDArray[Any]:
        one = 1 / (1 + factor)
        ones = self.members(inputs).sum(axis=0).tolist()
        of_count = [one**count * (1 - one) ** (inputs - 1 - count) / 2 for count in range(inputs)]
        of_count.append(one**inputs / (1 - one) / 2)
        return np.array([of_count[count] for count in ones])

    def sets(self, inputs: int) -> RandomSets:
        return RandomSets(inputs, self.nats, 0.5, 1.0 / (float(arb(self.factor)) + 1.0))


optimized_unary_encoding = OptimizedUnaryEncoding


class HadamardResponse(LocalProtocol):
    """Input x is the row x + 1 of a Hadamard matrix; outputs where it has a +1 are e^epsilon times as likely as the others.

    There are as many outputs as the smallest power of 2 above the number of inputs.

    Parameters
    ----------
    epsilon : number or str
        Nats, ``"1 bits"`` or ``"log 3"``; see `LocalProtocol`.
    k : int, optional
        Number of inputs; left out, it is the query's.

    Raises
    ------
    InputError
        If epsilon is negative or cannot be read, or `k` is below 2.

    Notes
    -----
    Source: J. Acharya, Z. Sun, H. Zhang, "Hadamard response: estimating distributions privately, efficiently, and with little
    communication", AISTATS 2019.

    >>> hadamard_response("log 3").exact_channel(np.arange(2)).tolist()
    [[3/8, 1/8, 3/8, 1/8], [3/8, 3/8, 1/8, 1/8]]
    """

    kind: ClassVar[str] = "hadamard_response"

    def _outputs(self, inputs: int) -> int:
        return 1 << inputs.bit_length()

    def members(self, inputs: int) -> NDArray[np.bool_]:
        common = np.arange(1, inputs + 1)[:, None] & np.arange(self._outputs(inputs))[None, :]
        return np.bitwise_count(common) % 2 == 0

    def likelihoods(self, inputs: int, factor: Any) -> NDArray[Any]:
        outputs = self._outputs(inputs)
        return np.full(outputs, 2 / (outputs * (factor + 1)))

    def sets(self, inputs: int) -> ParitySets:
        return ParitySets(inputs, self.nats)


hadamard_response = HadamardResponse


@declared
class LocalHashing(LocalProtocol):
    """It hashes the input with a random function into buckets, and reports the function, and the bucket by randomised response.

    All functions are alike: this is the limit of hash families without structure. Best for estimates is `buckets` near e^epsilon + 1.

    Parameters
    ----------
    epsilon : number or str
        Nats, ``"1 bits"`` or ``"log 3"``; see `LocalProtocol`.
    buckets : int
        At least 2.
    k : int, optional
        Number of inputs; left out, it is the query's.

    Raises
    ------
    InputError
        If epsilon is negative or cannot be read, or `buckets` or `k` is below 2, or `buckets` above 10^9.

    Notes
    -----
    Source: T. Wang, J. Blocki, N. Li, S. Jha, "Locally differentially private protocols for frequency estimation", USENIX Security
    2017.

    >>> local_hashing("log 3", buckets=2).exact_channel(np.arange(2)).tolist()[0]
    [3/16, 1/16, 1/16, 3/16, 3/16, 1/16, 1/16, 3/16]
    """

    kind: ClassVar[str] = "local_hashing"
    buckets: Whole = Given(whole(at_least=2, at_most=MAX_INTEGER), kw_only=True)

    def _outputs(self, inputs: int) -> int:
        return int(self.buckets ** (inputs + 1))

    def members(self, inputs: int) -> NDArray[np.bool_]:
        outputs = np.arange(self._outputs(inputs))
        functions, bucket = outputs // self.buckets, outputs % self.buckets
        return (functions[None, :] // self.buckets ** np.arange(inputs)[:, None]) % self.buckets == bucket

    def likelihoods(self, inputs: int, factor: Any) -> NDArray[Any]:
        return np.full(self._outputs(inputs), 1 / (self.buckets**inputs * (factor + (self.buckets - 1))))

    def sets(self, inputs: int) -> RandomSets:
        factor = float(arb(self.factor))
        return RandomSets(inputs, self.nats, factor / (factor + self.buckets - 1), 1.0 / self.buckets)


local_hashing = LocalHashing
