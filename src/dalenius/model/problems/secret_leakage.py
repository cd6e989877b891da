"""Structured Pufferfish: the largest information of a release about a secret of the data, to whom knows something else of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from dalenius.errors import InputError, brief, naming
from dalenius.exact import as_list
from dalenius.model.costs import BALL, CELL, ENTRY, KEPT, LOGARITHM, SECTION, SUMMAND, WEIGHT, Cost, Costs
from dalenius.model.fields import Given, declared, keep
from dalenius.model.problems.mechanism_problem import MechanismProblem, Route
from dalenius.model.queries import Query
from dalenius.model.secret import Letters, Secret

MOST_SECRETS, MOST_PAIRS = 1000, 2**22


Told: TypeAlias = Secret | Letters | Query


def _as_secrets(value: Told | Sequence[Told], what: str) -> tuple[Secret, ...]:
    listed = [value] if isinstance(value, Told) else as_list(value, what)
    if not 1 <= len(listed) <= MOST_SECRETS:
        raise InputError(f"{what}: expected from 1 to {MOST_SECRETS} secrets, got {len(listed)}")
    for secret in listed:
        if not isinstance(secret, Told):
            raise InputError(
                f"{what}: expected a Secret(of, given=...), Letters or a query (the secret that is its value), or a list of them; "
                f"got {brief(secret)}"
            )
    return tuple(secret if isinstance(secret, Secret) else Secret(secret) for secret in listed)


def _secrets_of_tables(tables: Any, where: str) -> list[Secret]:
    return [Secret.from_table(table, f"[{where}] {j}") for j, table in enumerate(tables)]


@declared(kw_only=True)
class SecretLeakage(MechanismProblem):
    """L = max over secrets (g, w) and the adversary's laws P of the dataset X of I( g(X); Y | w(X) ), in nats.

    Mutual-information Pufferfish privacy (Nuradha and Goldfeld, definition 5), over datasets that can be listed, at most 65,536. A
    record by itself is the secret `Letters(i)`; a record to an adversary who knows the others `Secret(Letters(i),
    given=Letters(others=i))`, whose largest information over all laws is that of mutual-information differential privacy.

    Parameters
    ----------
    records : Records
    query : Query, optional
        May be left out where the mechanism's rows are indexed by dataset.
    mechanism : Mechanism
    adversary : EntropyAtLeast, PriorSet, ProductPriors or a class of laws (KLBallPriors, ...)
        Its laws are those of the whole dataset: the lists of a class have a number for each dataset. Of
        `ProductPriors` the interval may stay open, but where the letters of all records but one are given.
    secrets : Secret, or a sequence of secrets
        `Letters`, or a query, stand for the secret that is this function, nothing being given.
    title, source : str, optional
        Free text, carried along.

    Raises
    ------
    InputError
        If the parts do not fit together, or there are more than 65,536 datasets.

    >>> import dalenius as dl
    >>> majority = dl.SecretLeakage(records=dl.Records(3, alphabet=2), query=dl.Count(), mechanism=dl.geometric(0.5),
    ...     adversary=dl.AnyPrior(), secrets=dl.Secret(dl.Threshold(2)))
    >>> result = dl.solve(majority, gap=1e-6)
    >>> result.lower <= 0.173277931128 and 0.173277931127 <= result.upper
    True
    """

    kind: ClassVar[str] = "secret_leakage"
    about_secrets: ClassVar[bool] = True
    no_program: ClassVar[str] = (
        "secrets are searched by trees and closed steps; under a class of laws they are written as .nl"
    )
    in_files: ClassVar[tuple[str, ...]] = ("records", "query", "mechanism", "secrets", "adversary")
    secrets: Given[Told | Sequence[Told], tuple[Secret, ...]] = Given(_as_secrets, tables=_secrets_of_tables)

    def _resolve(self) -> None:
        super()._resolve()
        if not self.mechanism.written_out(self._indices.size):
            raise InputError(
                "mechanism: about secrets a local protocol may have at most 2^20 entries; ask worst_case_leakage"
            )
        under = "any_prior" if self.adversary.unlimited else self.adversary.audit
        audit = f"secrets, {under}"
        if self.mechanism.on_a_line and self.adversary.listed:
            keep(self, route=Route.on_a_line(audit, self.mechanism, self.mechanism.quadrature(self._indices)))
            return
        keep(self, route=Route(audit, self.mechanism, whole=True))
        _ = self.channel

    def _check_adversary(self) -> None:
        """The secrets first: what the adversary holds are laws on the datasets."""
        for j, secret in enumerate(self.secrets):
            with naming(f"secrets[{j}]"):
                secret.check(self.records)
        datasets = self.records.datasets
        if len(self.secrets) * datasets > MOST_PAIRS:
            raise InputError(
                f"secrets: at most 2^22 pairs of a secret and a dataset, got {len(self.secrets)} x {datasets}"
            )
        if instead := self.adversary.about_records:
            raise InputError(
                f"adversary: {self.adversary.kind} is about a record, and offered for worst_case_leakage; {instead}"
            )
        self.adversary.check_laws(self.records)

    @cached_property
    def costs(self) -> Costs:
        """But for trees: each dataset is read for each secret, and for each listed law."""
        (inputs, outputs), datasets = self.shape, self.records.datasets
        entries, laws, witness = inputs * outputs, len(self.adversary.listed), Cost()
        if self.adversary.all_products:
            listed = sum(min(int(secret.values(self.records)[1].max()) + 1, inputs**2) for secret in self.secrets)
            witness = (SECTION + WEIGHT.times(outputs)).times(listed)
        elif not laws:
            witness = WEIGHT.times(6 * datasets)
        told = SUMMAND.times(3 * datasets) + CELL.times(datasets) + ENTRY.times(entries)
        balls = Cost(0.0, BALL * min(entries, KEPT))
        whole = told.times(len(self.secrets) * (laws or 1)) + witness
        unlike = min(entries, inputs * np.unique(self.rows).size)
        logarithms = LOGARITHM.times(unlike) + ENTRY.times(entries - unlike)
        return Costs(self._reading(self.shape) + balls + logarithms + whole)

    def spans(self, *, known: bool) -> list[int]:
        """Spans of the values of the query where what is given of a secret has a value."""
        values = self.query.values(self.records)[self.query.index_of_dataset(self.records)]
        given = [secret.values(self.records)[1] if known else np.zeros_like(values) for secret in self.secrets]
        return [max(int(np.ptp(values[one == c])) for one in given for c in np.unique(one))]

    @property
    def about(self) -> str:
        return "the secret" if len(self.secrets) == 1 else "any of the secrets"

    @property
    def most_values(self) -> int:
        """The largest number of values of a secret."""
        return max(np.unique(secret.values(self.records)[0]).size for secret in self.secrets)

    @classmethod
    def _model_keys(cls, model: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        needed, optional = super()._model_keys(model)
        return (*needed, "secrets"), optional

    @classmethod
    def _need(cls, model: Mapping[str, Any], key: str) -> None:
        if key != "secrets":
            super()._need(model, key)
        elif not isinstance(model.get(key), list) or not model[key]:
            raise InputError("model: expected at least one table [[secrets]]")
