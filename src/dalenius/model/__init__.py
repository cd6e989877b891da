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
from dalenius.model.design_problem import DesignProblem
from dalenius.model.max_information import MaxInformation
from dalenius.model.max_utility import MaxUtility
from dalenius.model.maximal_leakage import MaximalLeakage, audited
from dalenius.model.mechanism_problem import MechanismProblem
from dalenius.model.min_distortion import MinDistortion
from dalenius.model.min_leakage import MinLeakage
from dalenius.model.model_file import digest, dumps, loads, model_bytes, normal_form, read_model
from dalenius.model.problem import Problem
from dalenius.model.records import Records
from dalenius.model.secret import Letters, Secret
from dalenius.model.secret_leakage import SecretLeakage

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
    "MaximalLeakage",
    "MechanismProblem",
    "MinDistortion",
    "MinLeakage",
    "PriorSet",
    "Problem",
    "ProductPriors",
    "Records",
    "Secret",
    "SecretLeakage",
    "audited",
    "digest",
    "dumps",
    "loads",
    "model_bytes",
    "normal_form",
    "read_model",
]
