"""The questions, as frozen data: records, queries, mechanisms, adversaries, and the problems they make up."""

from dalenius.problems.adversaries import EntropyAtLeast
from dalenius.problems.maximal_leakage import MaximalLeakage
from dalenius.problems.model_file import digest, dumps, load, loads, read_model
from dalenius.problems.records import Records

__all__ = ["EntropyAtLeast", "MaximalLeakage", "Records", "digest", "dumps", "load", "loads", "read_model"]
