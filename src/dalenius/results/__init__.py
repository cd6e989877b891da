"""The answers: an interval, what it measures and what proves it, why the work stopped, and what is claimed."""

from dalenius.results.answers import (
    NOT_FOUND,
    DesignResult,
    RecordProof,
    Result,
    SecretProof,
    SecretResult,
    SecretWitness,
    Witness,
)
from dalenius.results.proved import (
    Proved,
    against_text,
    at_most_text,
    budget_text,
    is_all,
    most_of,
    nats_and_bits,
    possible_text,
    relative_gap,
    told_text,
)

__all__ = [
    "NOT_FOUND",
    "DesignResult",
    "Proved",
    "RecordProof",
    "Result",
    "SecretProof",
    "SecretResult",
    "SecretWitness",
    "Witness",
    "against_text",
    "at_most_text",
    "budget_text",
    "is_all",
    "most_of",
    "nats_and_bits",
    "possible_text",
    "relative_gap",
    "told_text",
]
