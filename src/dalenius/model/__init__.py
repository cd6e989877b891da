"""The questions, as frozen data: records, queries, mechanisms, adversaries, distortions, laws, and the problems they make up."""

from dalenius.model.adversaries import (
    Adversary,
    AnyPrior,
    EntropyAtLeast,
    FiniteChain,
    FixedPrior,
    IndependentBlocks,
    MarkovChain,
    PriorSet,
    ProductPriors,
)
from dalenius.model.model_file import digest, dumps, loads, model_bytes, normal_form, read_model
from dalenius.model.problem import Problem
from dalenius.model.problems.budgeted import MaxUtility, MinDistortion, MinLeakage
from dalenius.model.problems.design_problem import DesignProblem
from dalenius.model.problems.max_information import MaxInformation
from dalenius.model.problems.mechanism_problem import MechanismProblem
from dalenius.model.problems.secret_leakage import SecretLeakage
from dalenius.model.problems.worst_case_leakage import WorstCaseLeakage, audited
from dalenius.model.records import Records
from dalenius.model.secret import Letters, Secret

__all__ = [
    "Adversary",
    "AnyPrior",
    "DesignProblem",
    "EntropyAtLeast",
    "FiniteChain",
    "FixedPrior",
    "IndependentBlocks",
    "Letters",
    "MarkovChain",
    "MaxInformation",
    "MaxUtility",
    "MechanismProblem",
    "MinDistortion",
    "MinLeakage",
    "PriorSet",
    "Problem",
    "ProductPriors",
    "Records",
    "Secret",
    "SecretLeakage",
    "WorstCaseLeakage",
    "audited",
    "digest",
    "dumps",
    "loads",
    "model_bytes",
    "normal_form",
    "read_model",
]
