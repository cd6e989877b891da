"""The record of one point of a sweep: what is proved about it, by which files, as data that JSON knows."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from dalenius._answers_json import plain
from dalenius.errors import InputError
from dalenius.evidence import Certificate, Header, double_above, double_below
from dalenius.exact import as_fraction, fraction_text
from dalenius.intervals import plain_above, plain_below
from dalenius.model import (
    DesignProblem,
    MaxInformation,
    Problem,
    SecretLeakage,
    WorstCaseLeakage,
    digest,
)
from dalenius.model.mechanisms import DesignedMechanism
from dalenius.notebook import in_brief
from dalenius.outcome import Scope, Termination
from dalenius.results import DesignResult, RecordProof, Result, SecretProof, SecretResult, relative_gap
from dalenius.units import Quantity

Answer = Result | DesignResult | SecretResult
TIMES = "seconds", "reached", "trace"
OF: dict[str, tuple[str, str, type[Result | SecretResult], type[RecordProof | SecretProof]]] = {
    WorstCaseLeakage.kind: ("record", "records", Result, RecordProof),
    SecretLeakage.kind: ("secret", "secrets", SecretResult, SecretProof),
}  # of an audit by its kind: which one the lower end is about, and how each was bounded


@dataclass(frozen=True)
class Record:
    """One point of a sweep. docs/sweeps.md says what each field holds; leakages are in nats, ends rounded outward.

    Attributes
    ----------
    index, name : int, str
        The place in the grid, from 0, and the stem of its files.
    at : dict of path -> text
        Where the point is.
    lower, upper : float or None
        The proved interval; None where nothing is feasible, which is proved; `upper` alone where no mechanism was found, nor a proof
        that there is none.
    key : str
        SHA-256 of all that the record depends on.
    seconds : float
        The only field that another run may change.
    """

    __repr__ = in_brief

    index: int
    name: str
    model: str
    at: Mapping[str, str]
    problem: str
    digest: str
    quantity: str
    units: str
    values: int | None
    lower: float | None
    upper: float | None
    claim: tuple[str, str] | None
    gap: float
    feasible: bool
    entropy_share: float | None
    entropy_nats: float | None
    budget: str | None
    budget_units: str | None
    distortion: str | None
    leakage: tuple[float, float] | None
    exp_epsilon: str | None
    termination: str
    status: str
    scope: str
    record: int | None
    proved_about: str
    proofs: tuple[Mapping[str, Any], ...]
    solvers: tuple[Mapping[str, Any], ...]
    alternating: tuple[Mapping[str, Any], ...]
    methods: tuple[Mapping[str, Any], ...]
    started_from: int | None
    files: Mapping[str, str]
    certificate_sha256: str
    certificate_lines: int
    key: str
    seconds: float = field(compare=False)

    @property
    def of_audit(self) -> bool:
        """True if it is an audit's, of records or of secrets."""
        return self.problem in OF

    @property
    def bounded(self) -> str:
        """Subject of its interval, in words: its quantity, or that the largest one was sought."""
        return Quantity(self.quantity).largest if self.answers(MaxInformation) else self.quantity

    def answers(self, question: type[Problem]) -> bool:
        """True if it is about such a question."""
        return self.problem == question.kind

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The record that JSON says; `InputError` if it has other fields."""
        names = [part.name for part in fields(cls)]
        if not isinstance(data, Mapping) or set(data) != set(names):
            raise InputError("not a record of a sweep: expected the fields of docs/sweeps.md")
        pairs = {key: None if data[key] is None else tuple(data[key]) for key in ("claim", "leakage")}
        lists = {key: tuple(data[key]) for key in ("proofs", "solvers", "alternating", "methods")}
        return cls(**{**data, **pairs, **lists})


def record_of(
    answer: Answer,
    problem: Problem,
    *,
    place: Mapping[str, Any],
    files: Mapping[str, str],
    methods: Sequence[object] = (),
) -> Record:
    """The record of an answer in nats.

    Parameters
    ----------
    place : mapping
        The fields that say which point it is: index, name, model, at, started_from, key.
    files : mapping of kind -> name
    methods : sequence of MethodOutcome
        What rivals attained, if any were asked.
    """
    header = answer.certificate.header
    share, nats = _entropy(problem)
    of = OF.get(problem.kind)
    return Record(
        **place,
        problem=problem.kind,
        digest=digest(problem),
        quantity=answer.quantity.value,
        units=answer.units,
        values=answer.values,
        **_claimed(header),
        entropy_share=share,
        entropy_nats=nats,
        **_budget(problem),
        **_of_design(answer),
        termination=answer.termination.value,
        status=answer.status.value,
        scope=answer.scope.value,
        record=None if of is None else getattr(answer, of[0]),
        proved_about=answer.proved_about,
        proofs=() if of is None else _timeless(getattr(answer, of[1])),
        solvers=() if isinstance(answer, SecretResult) else _timeless(answer.solvers),
        alternating=_timeless(answer.alternating),
        methods=_timeless(methods),
        files=files,
        certificate_sha256=sha256(answer.certificate.text),
        certificate_lines=answer.certificate.lines,
        seconds=round(answer.seconds, 6),
    )


def sha256(text: str) -> str:
    """Of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()


def _timeless(things: Sequence[object]) -> tuple[Any, ...]:
    """As JSON has them, without what another run has otherwise: seconds, and what happened when."""
    return tuple(
        {key: value for key, value in one.items() if key not in TIMES} if isinstance(one, dict) else one
        for one in map(plain, things)
    )


def _finite(end: float) -> float | None:
    return end if math.isfinite(end) else None


def _entropy(problem: Problem) -> tuple[float | None, float | None]:
    """The adversary's entropy bound as a share of the largest entropy, and in nats; doubles, for axes."""
    bound = problem.bound
    if bound is None:
        return None, None
    nats, largest = bound.nats(problem.records), problem.records.log_datasets
    share = float(bound.amount) if bound.units == "max" else nats / largest if largest > 0.0 else 0.0
    return share, nats


def _budget(problem: Problem) -> dict[str, Any]:
    if not isinstance(problem, DesignProblem) or getattr(problem, problem.budget_key) is None:
        return {"budget": None, "budget_units": None}
    return {"budget": fraction_text(problem.budget), "budget_units": problem.budget_units}


def _of_design(answer: Answer) -> dict[str, Any]:
    if not isinstance(answer, DesignResult):
        return dict.fromkeys(("distortion", "leakage", "exp_epsilon"))
    exact = {key: getattr(answer, key) for key in ("distortion", "exp_epsilon")}
    texts = {key: None if value is None else fraction_text(value) for key, value in exact.items()}
    return {**texts, "leakage": answer.leakage}


def is_told(record: Record, certificate: str) -> bool:
    """True if the certificate is the record's, and the record says of its model and its interval what the certificate claims."""
    if sha256(certificate) != record.certificate_sha256:
        return False
    header = Certificate(certificate).header
    said = {name: getattr(record, name) for name in ("claim", "lower", "upper", "gap", "feasible")}
    return header.model == record.digest and plain(said) == plain(_claimed(header))


def _claimed(header: Header) -> dict[str, Any]:
    """Interval of a record, which is what is claimed; nothing but that, where nothing is feasible."""
    if header.claim is None:
        below = header.claim_below
        lowest = None if below is None else _finite(plain_below(double_below(below)))
        return {"claim": None, "lower": lowest, "upper": None, "gap": float(below is not None), "feasible": False}
    lower, upper = header.claim
    return {
        "claim": (fraction_text(lower), fraction_text(upper)),
        "lower": _finite(plain_below(double_below(lower))),
        "upper": _finite(plain_above(double_above(upper))),
        "gap": relative_gap(lower, upper),
        "feasible": True,
    }


def answer_of(record: Record, folder: Path) -> Answer:
    """The answer again, as far as a record and its files have it: without witness, prices, who solved what, and trace.

    Raises
    ------
    InputError
        If a file is missing or damaged, or the certificate is not the one that the record is about.
    """
    certificate = Certificate.read(folder / record.files["certificate"])
    if sha256(certificate.text) != record.certificate_sha256:
        raise InputError(
            f"{folder / record.files['certificate']}: not the certificate of its record; run the sweep again"
        )
    common: dict[str, Any] = {
        "certificate": certificate,
        "termination": Termination(record.termination),
        "scope": Scope(record.scope),
        "seconds": record.seconds,
        "units": record.units,
        "values": record.values,
    }
    common["lower"], common["upper"] = certificate.header.doubles
    if record.problem in OF:
        about, proofs, result, proof = OF[record.problem]
        told: dict[str, Any] = {about: record.record, proofs: tuple(proof(**one) for one in record.proofs)}
        return result(witness=None, **told, **common)
    mechanism = DesignedMechanism.load(folder / record.files["mechanism"]) if "mechanism" in record.files else None
    exact: dict[str, Any] = {
        key: None if (text := getattr(record, key)) is None else as_fraction(text, key)
        for key in ("distortion", "exp_epsilon")
    }
    largest = record.answers(MaxInformation)
    return DesignResult(mechanism=mechanism, audit=_audit(record, folder), largest=largest, **exact, **common)


def _audit(record: Record, folder: Path) -> Result | None:
    """Of a design's mechanism, against an adversary."""
    if "mechanism_certificate" not in record.files:
        return None
    certificate = Certificate.read(folder / record.files["mechanism_certificate"])
    claim = certificate.header.claim
    assert claim is not None
    ends = double_below(claim[0]), double_above(claim[1])
    return Result(
        *ends,
        None,
        None,
        Termination(record.termination),
        Scope.GLOBAL,
        certificate,
        record.seconds,
        values=record.values,
    )
