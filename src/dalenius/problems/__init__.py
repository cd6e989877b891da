"""The questions, as frozen data: records, queries, mechanisms, adversaries, distortions, laws, and the problems they make up."""

from dalenius.problems.adversaries import Adversary, AnyPrior, EntropyAtLeast, FixedPrior, PriorSet, ProductPriors
from dalenius.problems.design_problem import DesignProblem
from dalenius.problems.maximal_leakage import MaximalLeakage, audited
from dalenius.problems.min_distortion import MinDistortion
from dalenius.problems.min_leakage import MinLeakage
from dalenius.problems.model_file import digest, dumps, load, loads, normal_form, read_model
from dalenius.problems.problem import Problem
from dalenius.problems.records import Records

__all__ = [
    "Adversary",
    "AnyPrior",
    "DesignProblem",
    "EntropyAtLeast",
    "FixedPrior",
    "MaximalLeakage",
    "MinDistortion",
    "MinLeakage",
    "PriorSet",
    "Problem",
    "ProductPriors",
    "Records",
    "audited",
    "digest",
    "dumps",
    "load",
    "loads",
    "normal_form",
    "read_model",
]
