"""The questions, as frozen data: records, queries, mechanisms, adversaries, and the problems they make up."""

from dalenius.problems.adversaries import Adversary, AnyPrior, EntropyAtLeast, FixedPrior, PriorSet, ProductPriors
from dalenius.problems.maximal_leakage import MaximalLeakage
from dalenius.problems.model_file import digest, dumps, load, loads, read_model
from dalenius.problems.records import Records

__all__ = [
    "Adversary",
    "AnyPrior",
    "EntropyAtLeast",
    "FixedPrior",
    "MaximalLeakage",
    "PriorSet",
    "ProductPriors",
    "Records",
    "digest",
    "dumps",
    "load",
    "loads",
    "read_model",
]
