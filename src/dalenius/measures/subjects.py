"""Subjects of measures: a channel and a prior, exactly, of whatever was handed in; of a problem the channel of each kind of record."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq

from dalenius.errors import InputError, brief, counted
from dalenius.exact import Numbers, Rows, as_law, as_laws, as_list, as_nonnegative, divided
from dalenius.information import measures as formulas
from dalenius.information.arrays import Integers
from dalenius.information.balls import rational
from dalenius.information.measures import AllPriors, PriorClass, channel_of_secret
from dalenius.information.measures.numbers import Numbers as Array
from dalenius.information.measures.numbers import largest
from dalenius.model import Adversary, WorstCaseLeakage
from dalenius.model.fields import keep
from dalenius.model.laws import Law, Uniform, check_size
from dalenius.model.mechanisms import Channel, Mechanism
from dalenius.model.mechanisms.base import exact_rows
from dalenius.model.sums import attained_values
from dalenius.reduction import Settings, selections, settings_of_others

MAX_ENTRIES = 2**18
NO_MATRIX = "of a histogram, or of tables, probabilities of all cells together are not written out; ask about the count of one cell"
MOST_BITS = 2**14  # of rationals that sums over inputs and outputs come to
ADVICE = "compute in doubles with the functions of dalenius.information.measures"


@dataclass(frozen=True)
class Data:
    """The channel of all records of a dataset, whatever their law.

    Attributes
    ----------
    channel : (inputs, outputs)
        The mechanism from query values or datasets.
    attained : (inputs that occur,)
    groups : of every kind of record (groups, letters)
        The inputs that its letters select, for all that the others can be.
    """

    channel: Array
    attained: Integers
    groups: tuple[Integers, ...]

    @cached_property
    def exp_differential_privacy(self) -> Array:
        """e^epsilon, epsilon the log of the largest ratio of two datasets that differ in one record."""
        return largest(np.stack([formulas.exp_differential_privacy(self.channel, groups) for groups in self.groups]))

    @cached_property
    def exp_free_lunch_privacy(self) -> Array:
        """The same of any two datasets."""
        return formulas.exp_local_dp(self.channel[self.attained])


@dataclass(frozen=True)
class Others:
    """The other records of a dataset, by the settings of positive probability.

    Attributes
    ----------
    inputs, weights, laws : (settings, letters), (settings,), (settings, letters)
        The channel inputs that the record's letters select, the probability of the setting, and the record's law given it.
    """

    inputs: Integers
    weights: Array
    laws: Array


@dataclass(frozen=True)
class Measured:
    """Channel and prior of a secret, exact or in balls of the precision that was set.

    Where it is one record of several, `data` is the channel of all of them, and `others` what these can be. Where a class of priors
    is given, `priors`, `prior` is one of its laws. Of a secret of the data the rows are those of its values, `given` is what is known
    with each, and the secret must hide which of two rows it is for each of `pairs`.
    """

    channel: Array
    prior: Array
    data: Data | None = None
    others: Others | None = None
    priors: PriorClass | None = None
    given: Integers | None = None
    pairs: Integers | None = None

    @cached_property
    def joint(self) -> tuple[Array, Array]:
        """Channel and prior, as balls where sums of their quotients would be rationals of too many digits."""
        if not (is_rational(self.channel) and is_rational(self.prior)):
            return self.channel, self.prior
        denominators = {int(x.q) for x in (*self.channel.ravel(), *self.prior)}
        common, most = 1, MOST_BITS // sum(self.channel.shape)
        for denominator in denominators:
            common = math.lcm(common, denominator)
            if common.bit_length() > most:
                return _balls(self.channel), _balls(self.prior)
        return self.channel, self.prior


def is_rational(values: Array) -> bool:
    """True if all of these are exact."""
    return all(isinstance(x, fmpq) for x in values.ravel())


def _balls(values: Array) -> Array:
    return np.array([arb(x) for x in values.ravel()], dtype=object).reshape(values.shape)


class Subject(ABC):
    """A channel and a prior to measure, at any precision.

    Attributes
    ----------
    about : str
        In words: whose secret, under which law.
    against : str
        In words: the adversary, or the prior, that the measures hold for.
    outputs : tuple of str
        What the outputs are called.
    shape : (inputs, outputs)
        Of the largest channel.
    """

    about: str
    against: str
    outputs: tuple[str, ...]
    shape: tuple[int, int]

    def _say(self, about: str, against: str, outputs: Sequence[str], shape: tuple[int, int]) -> None:
        """Keep what is said of it in words, with the number of outputs."""
        about = f"{about}; {counted(shape[1], 'output')}"
        keep(self, about=about, against=against, outputs=tuple(outputs), shape=shape)

    @property
    def kinds(self) -> int:
        """Number of channels."""
        return 1

    @property
    def several(self) -> bool:
        """True if there are other records."""
        return False

    @property
    def above(self) -> Subject | None:
        """A subject that reveals no less, where this is a release that reveals less than the one that is asked about; else None."""
        return None

    @property
    def refused(self) -> Mapping[str, str]:
        """Why there is no value of some measures, by name."""
        return {}

    @abstractmethod
    def made(self) -> list[Measured]:
        """Channels and priors to measure, one for each kind of record, at the precision that is set; the largest values count."""

    @cached_property
    def _kept(self) -> dict[int, list[Measured]]:
        return {}

    def at_precision(self) -> list[Measured]:
        """The same, made once for each precision."""
        if (bits := int(ctx.prec)) not in self._kept:
            self._kept[bits] = self.made()
        return self._kept[bits]


@dataclass(frozen=True)
class OfInput(Subject):
    """The input of a mechanism, or a secret S behind it on the chain S - X - Y.

    Parameters
    ----------
    mechanism : Mechanism
    values : (inputs,)
        What the inputs are called.
    prior : sequence, or matrix
        The law of the input; or a law p(s,x) of secret and input, whose rows are the secrets. Left out: uniform.
    """

    mechanism: Mechanism
    values: Integers
    prior: Numbers | Rows | None = None
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        inputs, outputs = self.values.size, self.mechanism.channel(self.values).shape[1]
        need_size(inputs, outputs)
        told = "the uniform prior" if self.prior is None else "the prior that was given"
        secret = f"the input, one of {inputs}"
        if len(self._joint) > 1 or self._is_joint:
            secret, told = f"a secret, one of {len(self._joint)}", "the joint law that was given"
        shape = len(self._joint) if self._is_joint else inputs, outputs
        labels = self.mechanism.output_labels(self.values) if self.names is None else self.names
        self._say(f"{secret}, under {told}", told, labels, shape)

    @property
    def _is_joint(self) -> bool:
        return self.prior is not None and np.ndim(as_list(self.prior, "prior")[0]) == 1

    @cached_property
    def _joint(self) -> list[tuple[Fraction, ...]]:
        """The prior as one row, or p(s,x) with a row for each secret; divided by its exact sum."""
        if self.prior is None:
            rows = [(Fraction(1, self.values.size),) * self.values.size]
        elif self._is_joint:
            listed = as_list(self.prior, "prior")
            widths = {len(as_list(row, f"prior[{s}]")) for s, row in enumerate(listed)}
            flat = as_law([entry for row in listed for entry in as_list(row, "prior")], "prior")
            width = widths.pop()
            if widths:
                raise InputError("prior: the rows of a joint law p(s,x) must be of equal length")
            rows = [flat[start : start + width] for start in range(0, len(flat), width)]
        else:
            rows = [as_law(self.prior, "prior")]  # type: ignore[arg-type]
        if len(rows[0]) != self.values.size:
            raise InputError(
                f"prior: expected one probability for each of the {self.values.size} inputs, got {len(rows[0])}"
            )
        total = sum((sum(row) for row in rows), Fraction(0))
        return [tuple(entry / total for entry in row) for row in rows]

    def made(self) -> list[Measured]:
        channel, joint = self.mechanism.exact_channel(self.values), exact_rows(self._joint)
        if self._is_joint:
            return [Measured(*channel_of_secret(joint, channel))]
        return [Measured(channel, joint[0])]


@dataclass(frozen=True)
class OfClass(Subject):
    """The input of a mechanism, under any prior of a class.

    Parameters
    ----------
    mechanism : Mechanism
    values : (inputs,)
        What the inputs are called.
    priors : PriorClass
        In exact numbers, as `exactly` makes them.
    given : Adversary, optional
        What people call them, where that is an adversary.
    """

    mechanism: Mechanism
    values: Integers
    priors: PriorClass
    given: Adversary | None = None

    def __post_init__(self) -> None:
        inputs, outputs = self.mechanism.channel(self.values).shape
        need_size(inputs, outputs)
        for name, part in vars(self.priors).items():
            if isinstance(part, np.ndarray) and part.shape[-1] != inputs:
                raise InputError(f"prior: {name} needs a number for each of the {inputs} inputs, got {part.shape[-1]}")
        against = "any prior" if isinstance(self.priors, AllPriors) else f"any prior of a class ({self._named()})"
        labels = self.mechanism.output_labels(self.values)
        self._say(f"the input, one of {inputs}, under {against}", against, labels, (inputs, outputs))

    def _named(self) -> str:
        named = self.priors if self.given is None else self.given
        parts = ((part.name, getattr(named, part.name)) for part in fields(named))  # type: ignore[arg-type]
        said = (f"{name} {part.tolist() if isinstance(part, np.ndarray) else part}" for name, part in parts)
        return f"{type(named).__name__}: {', '.join(said)}"

    def made(self) -> list[Measured]:
        channel = self.mechanism.exact_channel(self.values)
        law = self.priors.exact_law(np.array([fmpq(0)] * len(channel), dtype=object))
        return [Measured(channel, law, priors=self.priors)]


@dataclass(frozen=True)
class OfListed(Subject):
    """The input of a mechanism, under the worst of listed priors: each measure is the largest of theirs."""

    parts: tuple[OfInput, ...]

    def __post_init__(self) -> None:
        against, first = f"the worst of {counted(len(self.parts), 'listed prior')}", self.parts[0]
        self._say(f"the input, one of {first.shape[0]}, under {against}", against, first.outputs, first.shape)

    @property
    def kinds(self) -> int:
        return len(self.parts)

    def made(self) -> list[Measured]:
        return [measured for part in self.parts for measured in part.made()]


def exactly(priors: PriorClass) -> PriorClass:
    """The same class with its numbers as they are written, exactly: 0.1 is 1/10. A law is divided by its sum."""
    parts: dict[str, Any] = {}
    for part in fields(priors):  # type: ignore[arg-type]
        value, what = getattr(priors, part.name), f"prior: {part.name}"
        if part.name == "center":
            parts[part.name] = exact_rows([divided(as_law(value, what), what)])[0]
        elif part.name == "vertices":
            parts[part.name] = exact_rows([divided(law, what) for law in as_laws(value, what)])
        elif np.ndim(value):
            parts[part.name] = exact_rows([as_nonnegative(value, what)])[0]
        else:
            parts[part.name] = rational(as_nonnegative([value], what)[0])
    return type(priors)(**parts)


@dataclass(frozen=True)
class OfRecord(Subject):
    """One record of a dataset, the others being independent of it: the record that each measure is largest for."""

    problem: WorstCaseLeakage
    law: Law
    told: str = "the law that was given, in place of the model's adversary"

    def __post_init__(self) -> None:
        problem, records = self.problem, self.problem.records
        self.law.check(records)
        check_size(problem.query_of_inputs, records, self.law)
        need_size(*problem.channel.shape)
        law = "each letter alike" if isinstance(self.law, Uniform) else "of one law"
        against = f"independent records, {law} ({self.told})"
        about = (
            f"one record of {len(records)} (the one that leaks most by each measure), one of {against}"
            if len(records) > 1
            else f"the one record, {law} ({self.told})"
        )
        shape = max(kind.inputs.shape[1] for kind in self._kinds), problem.channel.shape[1]
        self._say(about, against, problem.mechanism.output_labels(self._values), shape)

    @property
    def kinds(self) -> int:
        return len(self._kinds)

    @property
    def several(self) -> bool:
        return len(self.problem.records) > 1

    @property
    def _values(self) -> Integers:
        return self.problem.query_of_inputs.values(self.problem.records)

    @cached_property
    def _kinds(self) -> list[Settings]:
        """The settings of the others for each kind of record with several letters."""
        kinds = settings_of_others(self.problem.query_of_inputs, self.problem.records, self.law)
        found = [kind for kind in kinds if kind.inputs.shape[1] > 1]
        for kind in found:
            need_size(*kind.inputs.shape)
        if not found:
            raise InputError("problem: every record has one letter only, so that there is nothing to tell")
        return found

    @cached_property
    def _groups(self) -> tuple[Integers, ...]:
        return tuple(kind.inputs for kind in selections(self.problem.query_of_inputs, self.problem.records))

    def made(self) -> list[Measured]:
        problem = self.problem
        channel = problem.mechanism.exact_channel(self._values)
        attained = attained_values(problem.query_of_inputs, problem.records)
        data = Data(channel, attained, self._groups) if self.several else None
        found = []
        for kind in self._kinds:
            total = sum(kind.weights)
            weights = np.array([fmpq(weight, total) for weight in kind.weights], dtype=object)
            letters = self.law.weights(kind.inputs.shape[1])
            prior = np.array([fmpq(weight, sum(letters)) for weight in letters], dtype=object)
            rows = [(weights[:, None] * channel[inputs]).sum(axis=0) for inputs in kind.inputs.T]
            others = Others(kind.inputs, weights, np.broadcast_to(prior, kind.inputs.shape)) if self.several else None
            found.append(Measured(np.array(rows, dtype=object), prior, data, others))
        return found


def need_size(rows: int, columns: int) -> None:
    """`InputError` for more entries than are evaluated exactly."""
    if rows * columns > MAX_ENTRIES:
        raise InputError(
            f"measure: at most {MAX_ENTRIES} probabilities are evaluated exactly, the release has {rows} x {columns}; {ADVICE}"
        )


def inputs_of(mechanism: Mechanism) -> Integers:
    """The inputs of a mechanism that knows them by itself: its rows, its k values, or its range."""
    count: Any = len(mechanism.rows) if isinstance(mechanism, Channel) else getattr(mechanism, "k", None)
    span = getattr(mechanism, "range", None)
    values = getattr(mechanism, "values", None) or (range(span[0], span[1] + 1) if span else range(count or 0))
    if mechanism.kind == "laplace_threshold":
        values = range(2)
    if not len(values):
        raise InputError(
            f"mechanism: {brief(mechanism)} does not say which inputs it has; give it k or a range, or measure a problem"
        )
    return np.array(values, dtype=np.int64)
