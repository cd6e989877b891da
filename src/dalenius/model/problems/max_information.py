"""The most information about something useful, under privacy or within a limit about a secret: a convex utility."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from math import comb
from typing import Any, ClassVar, Never, TypeAlias

from dalenius.errors import InputError, brief
from dalenius.exact import Number, Rows, as_law, as_list
from dalenius.model.adversaries import Adversary
from dalenius.model.constraints import (
    KL,
    ChiSquare,
    Constraint,
    MeasureLimit,
    MutualInformation,
    SecretLimit,
    TotalVariation,
)
from dalenius.model.constraints.base import MechanismSpace
from dalenius.model.constraints.secret import MAX_NUMBERS, JointLaw, as_joint
from dalenius.model.constraints.secret_limits import GUESSING, Lines, as_lines
from dalenius.model.costs import RAY, WEIGHT, Costs
from dalenius.model.distortions import Hamming
from dalenius.model.fields import Given, declared
from dalenius.model.in_words import stated, words_of
from dalenius.model.laws import Law, Uniform, check_size, value_weights
from dalenius.model.mechanisms import DesignedMechanism
from dalenius.model.privacy import LocalDP, PointwiseMaximalLeakage, Privacy, Reference
from dalenius.model.problem import Problem
from dalenius.model.problems.design_problem import as_constraints, constraints_of_tables
from dalenius.model.problems.worst_case_leakage import WorstCaseLeakage
from dalenius.model.shelf import check_keys
from dalenius.model.sums import attained_values
from dalenius.units import Quantity

LIMITED = {  # the kinds of limits that may stand in the place of privacy, beside `MeasureLimit`, and the measures that they are of
    MutualInformation.kind: "mutual_information",
    KL.kind: "mutual_information",
    ChiSquare.kind: "chi_square",
    TotalVariation.kind: "total_variation",
}
MOST_COMPARED, MOST_AVERAGED = 16, 13  # inputs, as the checker lists them; docs/certificate-format.md
MOST_SETS = 1 << 17  # of inputs, for the extreme rays of columns that are independent of a secret


MEASURES = ("mutual_information", "chi_square", "total_variation", GUESSING)  # of what is revealed of use

Joint: TypeAlias = Sequence[Sequence[Number]]


def _as_useful(value: Joint, what: str) -> tuple[tuple[Fraction, ...], ...]:
    return as_joint(as_list(value, what), what, of="the useful variable")


def _as_measure(value: str | Sequence[Sequence[Number]], what: str) -> str | Lines | None:
    """A measure by its name, or by the lines of its convex function; None for the mutual information."""
    if isinstance(value, str):
        if value not in MEASURES:
            raise InputError(
                f"{what}: expected one of {', '.join(MEASURES)}, or lines [[a, b], ...] of a function max(a t + b), got {brief(value)}"
            )
        return None if value == MEASURES[0] else value
    return as_lines(value, what)


def _useful_of_table(table: Any, where: str) -> Any:
    if not isinstance(table, Mapping):
        raise InputError(f"model: expected a table {where}")
    check_keys(table, ("joint",), where)
    if "joint" not in table:
        raise InputError(
            f"{where}: missing joint, a row for each letter of the useful variable, a number for each input"
        )
    return table["joint"]


@declared(kw_only=True)
class MaxInformation(Problem):
    """max over the private mechanisms Q, with any number of outputs, of I(U;Y), on a Markov chain U - X - Y; in nats.

    Or of another convex `measure` of what Y reveals about U, without unit.

    U is what the release is useful for, X the input of the mechanism, which sees X alone. Private is what keeps `privacy`, or
    `constraints` in its place: what is revealed of a secret S is limited then. `PrivacyFunnel` (U is X) and `InformationBottleneck`
    (U is a variable, S is X) make such problems from a joint law.

    Parameters
    ----------
    records, query, title, source
        As `Problem` says; the inputs of the mechanism are the query's values.
    law : Uniform or Iid
        The law of the data: the one that `PointwiseMaximalLeakage` is about, if it lists no prior.
    privacy : LocalDP or PointwiseMaximalLeakage, optional
        With epsilon >= 0, and at most one prior.
    constraints : sequence of one MutualInformation, KL, ChiSquare, TotalVariation or MeasureLimit, optional
        In the place of privacy: not strong, about one law, of a secret or of the input.
    useful : (letters of U, inputs), optional
        The joint law P(u,x), exact; its sum may differ from 1 by at most 1e-9, and it is divided by that. Left out, U is the input
        itself, under `law`.
    measure : str or list of (a, b), optional
        ``"chi_square"``, ``"total_variation"`` (the sum of absolute differences, at most 2), ``"guessing"`` (by how much Y raises the
        probability of the best guess of U), or the f-divergence of the convex function max(a t + b) of these lines, which is 0 at
        t = 1; left out, ``"mutual_information"``.

    Raises
    ------
    InputError
        If the parts do not fit together, or epsilon is negative.

    Notes
    -----
    I(U;Y) is convex in Q, a sum over the outputs of a sublinear function of Q's columns. The best mechanism is therefore made of
    extreme rays of the columns that private mechanisms have, and its weights are a linear program, whose dual bounds *all*
    mechanisms. Source: P. Kairouz, S. Oh, P. Viswanath, "Extremal mechanisms for local differential privacy", JMLR 17 (2016),
    Theorem 4 (staircase mechanisms); for pointwise maximal leakage L. Grosse, S. Saeidian, T. Oechtering, "Extremal mechanisms for
    pointwise maximal leakage", IEEE Trans. Inf. Forensics Secur. 19 (2024). Within a limit the columns are weighed by what they reveal
    of the secret, too, and a plane above all columns bounds all mechanisms: the envelope of H. S. Witsenhausen, A. D. Wyner, "A
    conditional entropy bound for a pair of discrete random variables", IEEE Trans. Inf. Theory 21 (1975).

    >>> import dalenius as dl
    >>> problem = dl.MaxInformation(records=dl.Records(1, alphabet=2), query=dl.Identity(), privacy=dl.LocalDP("log 3"))
    >>> problem.inputs, problem.joint.pi
    ('query', (Fraction(1, 2), Fraction(1, 2)))
    """

    kind: ClassVar[str] = "max_information"
    no_program: ClassVar[str] = (
        "within a limit columns are found one by one, bounded by a plane above cells; informations are written as .nl"
    )
    in_files: ClassVar[tuple[str, ...]] = ("records", "query", "law", "privacy", "constraints", "useful", "measure")
    adversary: None = field(default=None, init=False)
    privacy: Given[Privacy | None, Privacy | None] = Given(stated(Privacy), default=None, tables=Privacy.of_kind)
    constraints: Given[Sequence[Constraint | Privacy], tuple[Constraint, ...]] = Given(
        as_constraints, default=(), tables=constraints_of_tables
    )
    law: Given[Law, Law] = Given(stated(Law), default=Uniform(), tables=Law.of_kind)
    useful: Given[Joint | None, tuple[tuple[Fraction, ...], ...] | None] = Given(
        _as_useful, default=None, tables=_useful_of_table
    )
    measure: Given[str | Sequence[Sequence[Number]] | None, str | Lines | None] = Given(_as_measure, default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.law.check(self.records)
        check_size(self.query, self.records, self.law)
        if self.useful is not None:
            self._check_useful()
        if (self.privacy is None) == (not self.constraints):
            raise InputError(
                f"{self.kind}: expected privacy, or one limit about a secret as constraints; got "
                f"{'both' if self.constraints else 'neither'}"
            )
        if self.privacy is None:
            self._check_limit()
        else:
            self._check_privacy(self.privacy)

    def _check_limit(self) -> None:
        limit = self.constraints[0]
        kinds = (*LIMITED, MeasureLimit.kind)
        known = isinstance(limit, SecretLimit) and limit.kind in kinds and not getattr(limit, "strong", False)
        if len(self.constraints) > 1 or not known:
            raise InputError(
                f"{self.kind}: constraints: expected one of {', '.join(kinds)} about a secret, not strong, got "
                f"{', '.join(words_of(each) for each in self.constraints)}"
            )
        self.limit.check_laws(self.space)
        if len(self.limit.laws(self.space)) > 1:
            raise InputError(f"constraints: {limit.kind}: expected one law of the secret, got several")

    def _check_useful(self) -> None:
        assert self.useful is not None
        width = len(self.useful[0])
        if width != self.input_count:
            raise InputError(
                f"useful: its rows have {width} numbers, and the mechanism has {self.input_count} inputs; give one number for each"
            )
        if len(self.useful) * width > MAX_NUMBERS:
            raise InputError(f"useful: at most {MAX_NUMBERS} numbers in a joint law, got {len(self.useful) * width}")
        for x in sorted(set(range(self.input_count)) - set(self.possible_inputs)):
            if any(row[x] for row in self.useful):
                raise InputError(f"useful: has mass at input {x}, whose value no dataset has; it must be 0")

    def _check_privacy(self, privacy: Privacy) -> None:
        if not isinstance(privacy, LocalDP | PointwiseMaximalLeakage):
            raise InputError(
                f"privacy: expected LocalDP or PointwiseMaximalLeakage, whose extreme mechanisms are known, got {brief(privacy)}"
            )
        if not privacy.feasible:
            raise InputError(
                f'privacy: no mechanism is private for a negative epsilon; expected at least 0, got "{privacy.epsilon}"'
            )
        privacy.check(self.possible_inputs, self.input_count)
        if isinstance(privacy, PointwiseMaximalLeakage) and len(privacy.priors or [()]) > 1:
            raise InputError(
                "privacy: priors: expected at most one, for which the extreme mechanisms are known; for several of them give the "
                "utility as a table, to dl.MaxUtility"
            )
        most = MOST_COMPARED if self.reference.law is None else MOST_AVERAGED
        if len(self.reference.inputs) > most:
            raise InputError(
                f"privacy: the extreme mechanisms are listed, some 2^n of them: at most {most} inputs under {privacy.kind}, got "
                f"{len(self.reference.inputs)}; coarsen the query, or give the utility as a table, to dl.MaxUtility"
            )

    @property
    def rays(self) -> int | None:
        """Number of sets of inputs that are tried for extreme rays of columns that are independent of the secret.

        None where the limit is above 0, or is one that leaves more than independence at 0, or there are more sets than the checker
        lists.
        """
        if self.privacy is not None or self.limit.limit[0] or not self.limit.at_zero:
            return None
        sets = comb(len(self.secret.support), self.secret.rank + 1)
        return sets if sets <= MOST_SETS else None

    @cached_property
    def costs(self) -> Costs:
        """Every extreme ray of private columns is evaluated, whatever is claimed; within a limit, what each input alone reveals."""
        if self.rays is not None:
            return Costs(RAY.times(4 * self.rays * len(self.secret.letters) ** 2))
        if self.privacy is None:
            return Costs(RAY.times(self.input_count * len(self.joint.letters)))
        inputs, letters = len(self.reference.inputs), len(self.joint.letters)
        rays = 2**inputs if self.reference.law is None else inputs * 2 ** (inputs - 1)
        return Costs(RAY.times(rays * letters) + WEIGHT.times(letters * inputs))

    # ------------------------------------------------------------ inputs

    @property
    def most_values(self) -> int:
        """The number of values of the useful variable."""
        return len(self.possible_inputs) if self.useful is None else sum(map(any, self.useful))

    @property
    def told(self) -> str | Lines:
        """The measure of what is revealed about the useful variable, by its name where it has one."""
        return self.measure or MEASURES[0]

    @property
    def quantity(self) -> Quantity:
        return Quantity.LEAKAGE if self.measure is None else Quantity.USEFULNESS

    @property
    def inputs(self) -> str:
        return "query"

    @property
    def shape(self) -> tuple[int, int]:
        """With as many outputs as it takes; never more than inputs are needed."""
        return self.input_count, self.input_count

    @property
    def input_count(self) -> int:
        """Number of values of the query."""
        return len(self._values)

    @cached_property
    def _values(self) -> list[int]:
        values: list[int] = self.query.values(self.records).tolist()
        return values

    @cached_property
    def possible_inputs(self) -> tuple[int, ...]:
        """The inputs that some dataset has."""
        return tuple(attained_values(self.query, self.records).tolist())

    def exact_input_law(self) -> list[Fraction]:
        """p(x) exactly, the probability of every input."""
        weights = value_weights(self.query, self.records, self.law)
        return [Fraction(weight, sum(weights)) for weight in weights]

    @cached_property
    def joint(self) -> JointLaw:
        """P(u,x) exactly."""
        if self.useful is None:
            law = self.exact_input_law()
            return JointLaw(
                tuple(tuple(p if x == u else Fraction(0) for x in range(len(law))) for u, p in enumerate(law))
            )
        return JointLaw.of(self.useful)

    # ------------------------------------------------------------ within a limit

    @cached_property
    def space(self) -> MechanismSpace:
        """Mechanisms that its limit is about: of these inputs, with as many outputs as the best may have."""
        law = tuple(self.exact_input_law())
        return MechanismSpace(
            self.records, tuple(self._values), self.possible_inputs, law, len(law) + 1, None, _no_costs, Hamming()
        )

    @property
    def limit(self) -> SecretLimit:
        """The limit on leakage about a secret."""
        (limit,) = self.constraints
        assert isinstance(limit, SecretLimit)
        return limit

    def within(self, limit: float) -> MaxInformation:
        """The same question with another limit, exactly this number: of nats where it is an amount of information."""
        own: Any = self.limit
        most = f"{Fraction(limit)} nats" if own.limit[1] else Fraction(limit)
        return replace(self, constraints=[replace(own, at_most=most)])

    @property
    def limited(self) -> str | Lines:
        """The measure that is limited, by its name where it has one."""
        return self.limit.measure if isinstance(self.limit, MeasureLimit) else LIMITED[self.limit.kind]

    @cached_property
    def secret(self) -> JointLaw:
        """P(s,x) exactly."""
        return self.limit.laws(self.space)[0]

    # ------------------------------------------------------------ mechanisms

    @property
    def notion(self) -> Privacy:
        """Its privacy, which it has where it has no limit."""
        assert self.privacy is not None
        return self.privacy

    @cached_property
    def reference(self) -> Reference:
        """Reference that private mechanisms compare entries of a column with."""
        return self.notion.references(self.possible_inputs, self.exact_input_law())[0]

    def exp_epsilon(self, rows: Rows) -> Fraction | None:
        """The least e^epsilon for which a mechanism is private, exactly; None if none is large enough.

        Raises
        ------
        InputError
            If there are not as many rows as inputs, or a row is no law.
        """
        laws = [as_law(row, f"mechanism: rows[{x}]") for x, row in enumerate(as_list(rows, "mechanism: rows"))]
        if len(laws) != self.input_count:
            raise InputError(f"mechanism: expected a row for each of the {self.input_count} inputs, got {len(laws)}")
        return self.notion.exp_epsilon(laws, [self.reference])

    def designed(self, rows: Rows) -> DesignedMechanism:
        """The mechanism with these rows, to be handed out, its outputs numbered from 0; `InputError` if a row is no law."""
        return DesignedMechanism(rows, self.inputs, self._values)

    def release(self, rows: Rows, adversary: Adversary) -> WorstCaseLeakage:
        """The audit of one mechanism: how much it leaks to an adversary; `InputError` if a row is no law."""
        return WorstCaseLeakage(
            records=self.records, query=self.query, mechanism=self.designed(rows), adversary=adversary, title=self.title
        )

    def against(self, what: str) -> Adversary:
        """`InputError`: `what` is about an adversary, and there is none."""
        raise InputError(
            f"{what} is about an adversary, and {self.kind} has none; solve it, and audit its mechanism, "
            "problem.release(rows, adversary)"
        )

    def check_designed(self, mechanism: DesignedMechanism) -> None:
        """Raise `InputError` unless this mechanism has the problem's inputs."""
        if mechanism.inputs != self.inputs:
            raise InputError(
                f"mechanism: its rows belong to {mechanism.inputs} inputs, the model's to {self.inputs} values"
            )
        mechanism.check_values(self._values)

    # ------------------------------------------------------------ model files

    @classmethod
    def _model_keys(cls, model: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        within = "constraints" if model.get("constraints") else "privacy"
        return ("records", "query", within), ("title", "source", "law", "useful", "measure")

    @classmethod
    def _need(cls, model: Mapping[str, Any], key: str) -> None:
        if key != "constraints":
            super()._need(model, key)

    def _stated(self, form: str) -> dict[str, Any]:
        found = super()._stated(form)
        return found if self.useful is None else {**found, "useful": {"joint": self.useful}}


def _no_costs(distortion: object) -> Never:
    """There is no distortion."""
    raise InputError("expected a limit about a secret, which has no distortion")
