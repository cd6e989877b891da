"""The answers: an interval, what it measures and what proves it, why the work stopped, and what is claimed."""

from dalenius.results.audits import RecordProof, Result, SecretProof, SecretResult, SecretWitness, Witness
from dalenius.results.designs import DesignResult
from dalenius.results.proved import Proved, relative_gap

__all__ = [
    "DesignResult",
    "Proved",
    "RecordProof",
    "Result",
    "SecretProof",
    "SecretResult",
    "SecretWitness",
    "Witness",
    "relative_gap",
]
