"""dalenius: certified information leakage of privacy mechanisms against entropy-bounded adversaries.

Each name has a docstring of its own, help(dalenius.solve); beside them dalenius.report (pictures), .export, .programs, .baselines:

    model = dl.MaximalLeakage(records=dl.Records(4, alphabet=2), query=dl.Count(), mechanism=dl.geometric(1), adversary=dl.AnyPrior())
    result = dl.solve(model)                # lower <= leakage <= upper, proved by the independent checker

Questions       MaximalLeakage, SecretLeakage (of a Secret; Letters); designs: MinLeakage, MinDistortion, MaxUtility, MaxInformation
Records         Records; from_frame (People); queries: Count, Histogram, Identity, Joint, ModularSum, Parity, Sum, Table, Threshold
Adversaries     EntropyAtLeast, AnyPrior, ProductPriors, IndependentBlocks (households), MarkovChain, FiniteChain, PriorSet,
                FixedPrior; one record's law: L1BallPriors, KLBallPriors, ChiSquareBallPriors, BoxPriors, FloorPriors, PolytopePriors
Mechanisms      discrete_gaussian, discrete_laplace, exponential, gaussian, geometric, laplace, laplace_threshold, randomized_count,
                randomized_histogram, randomized_response, symmetric; any matrix: Channel; local protocols: subset_selection,
                optimized_unary_encoding, local_hashing, hadamard_response; several: releases, several_releases, adaptive;
                read: from_pmfs, from_opendp, from_diffprivlib
Designs         distortions: Absolute, Hamming, Squared, DistortionMatrix; laws: Uniform, Iid, law_from_csv; DesignedMechanism;
                alone: LocalDP, PointwiseMaximalLeakage; objectives: WeightedSum, WeightedMaximum of LeakageTerm, DistortionTerm
Constraints     of a design's mechanisms: Unbiased, ErrorCap, Band, ZeroEntries, Monotone, Linear, SecondOrderCone (of Affine),
                DistortionBudget, LeakageLimit (to a further adversary), LocalDPBetween, PointwiseLeakageLimit; about a secret:
                SecretLeakageLimit (all laws), MutualInformation, KL, TotalVariation, ChiSquare, MaximalCorrelation,
                LocalInformationPrivacy, InformationPrivacy, LocalDPDelta, LocalInformationPrivacyDelta
Your own        subclasses of Query, Mechanism, Adversary, Distortion, Law, Privacy; also Problem, DesignProblem, Constraint, Objective
Files           load, loads, dumps; library (LibraryModel); Certificate, verify; release (Release); Refusal, ProofRefusedWarning
Solving         audit (Audit: one page in plain words), solve; answers: Result, DesignResult, SecretResult, Witness, SecretWitness,
                RecordProof, SecretProof, ConstraintPrice, TermValue, Termination, Scope, Quantity, Progress, SolverUse, Alternation
Errors          DaleniusError: InputError, GapNotReachedError, NotProvedError
Measures        measure (Measures of Measure, PrivacyClaim), supersample_cmi; convert (Conversion); composition (Composition);
                least_noise (LeastNoise) for a budget; statistical, never a proof: audit_samples, audit_counts (SampledLeakage)
Studies         sweep (Sweep, Record), entropy_curve (CurvePoint, LeakageCurve), frontier (FrontierPoint), compare (Comparison)
"""

from dalenius._load import loads as loads
from dalenius._solve import solve as solve
from dalenius._verify import verify as verify
from dalenius.alternation import Alternation as Alternation
from dalenius.catalogue.models import LibraryModel as LibraryModel
from dalenius.catalogue.models import library as library
from dalenius.catalogue.models import load as load
from dalenius.conversions import Conversion as Conversion
from dalenius.conversions import convert as convert
from dalenius.errors import DaleniusError as DaleniusError
from dalenius.errors import GapNotReachedError as GapNotReachedError
from dalenius.errors import InputError as InputError
from dalenius.errors import NotProvedError as NotProvedError
from dalenius.evidence import Certificate as Certificate
from dalenius.measures import Measure as Measure
from dalenius.measures import Measures as Measures
from dalenius.measures import PrivacyClaim as PrivacyClaim
from dalenius.measures.door import measure as measure
from dalenius.measures.supersamples import supersample_cmi as supersample_cmi
from dalenius.model import Adversary as Adversary
from dalenius.model import AnyPrior as AnyPrior
from dalenius.model import DesignProblem as DesignProblem
from dalenius.model import EntropyAtLeast as EntropyAtLeast
from dalenius.model import FiniteChain as FiniteChain
from dalenius.model import FixedPrior as FixedPrior
from dalenius.model import IndependentBlocks as IndependentBlocks
from dalenius.model import Letters as Letters
from dalenius.model import MarkovChain as MarkovChain
from dalenius.model import MaximalLeakage as MaximalLeakage
from dalenius.model import MaxInformation as MaxInformation
from dalenius.model import MaxUtility as MaxUtility
from dalenius.model import MinDistortion as MinDistortion
from dalenius.model import MinLeakage as MinLeakage
from dalenius.model import PriorSet as PriorSet
from dalenius.model import Problem as Problem
from dalenius.model import ProductPriors as ProductPriors
from dalenius.model import Records as Records
from dalenius.model import Secret as Secret
from dalenius.model import SecretLeakage as SecretLeakage
from dalenius.model import dumps as dumps
from dalenius.model.adversaries import BoxPriors as BoxPriors
from dalenius.model.adversaries import ChiSquareBallPriors as ChiSquareBallPriors
from dalenius.model.adversaries import FloorPriors as FloorPriors
from dalenius.model.adversaries import KLBallPriors as KLBallPriors
from dalenius.model.adversaries import L1BallPriors as L1BallPriors
from dalenius.model.adversaries import PolytopePriors as PolytopePriors
from dalenius.model.constraints import KL as KL
from dalenius.model.constraints import Affine as Affine
from dalenius.model.constraints import Band as Band
from dalenius.model.constraints import ChiSquare as ChiSquare
from dalenius.model.constraints import Constraint as Constraint
from dalenius.model.constraints import DistortionBudget as DistortionBudget
from dalenius.model.constraints import ErrorCap as ErrorCap
from dalenius.model.constraints import InformationPrivacy as InformationPrivacy
from dalenius.model.constraints import LeakageLimit as LeakageLimit
from dalenius.model.constraints import Linear as Linear
from dalenius.model.constraints import LocalDPBetween as LocalDPBetween
from dalenius.model.constraints import LocalDPDelta as LocalDPDelta
from dalenius.model.constraints import LocalInformationPrivacy as LocalInformationPrivacy
from dalenius.model.constraints import LocalInformationPrivacyDelta as LocalInformationPrivacyDelta
from dalenius.model.constraints import MaximalCorrelation as MaximalCorrelation
from dalenius.model.constraints import Monotone as Monotone
from dalenius.model.constraints import MutualInformation as MutualInformation
from dalenius.model.constraints import PointwiseLeakageLimit as PointwiseLeakageLimit
from dalenius.model.constraints import SecondOrderCone as SecondOrderCone
from dalenius.model.constraints import SecretLeakageLimit as SecretLeakageLimit
from dalenius.model.constraints import TotalVariation as TotalVariation
from dalenius.model.constraints import Unbiased as Unbiased
from dalenius.model.constraints import ZeroEntries as ZeroEntries
from dalenius.model.distortions import Absolute as Absolute
from dalenius.model.distortions import Distortion as Distortion
from dalenius.model.distortions import DistortionMatrix as DistortionMatrix
from dalenius.model.distortions import Hamming as Hamming
from dalenius.model.distortions import Squared as Squared
from dalenius.model.elsewhere import People as People
from dalenius.model.elsewhere import from_diffprivlib as from_diffprivlib
from dalenius.model.elsewhere import from_frame as from_frame
from dalenius.model.elsewhere import from_opendp as from_opendp
from dalenius.model.elsewhere import from_pmfs as from_pmfs
from dalenius.model.laws import Iid as Iid
from dalenius.model.laws import Law as Law
from dalenius.model.laws import Uniform as Uniform
from dalenius.model.laws import law_from_csv as law_from_csv
from dalenius.model.mechanisms import Channel as Channel
from dalenius.model.mechanisms import DesignedMechanism as DesignedMechanism
from dalenius.model.mechanisms import Mechanism as Mechanism
from dalenius.model.mechanisms.adaptive import adaptive as adaptive
from dalenius.model.mechanisms.exponential import exponential as exponential
from dalenius.model.mechanisms.noise import discrete_gaussian as discrete_gaussian
from dalenius.model.mechanisms.noise import discrete_laplace as discrete_laplace
from dalenius.model.mechanisms.noise import geometric as geometric
from dalenius.model.mechanisms.noise import laplace_threshold as laplace_threshold
from dalenius.model.mechanisms.protocols import hadamard_response as hadamard_response
from dalenius.model.mechanisms.protocols import local_hashing as local_hashing
from dalenius.model.mechanisms.protocols import optimized_unary_encoding as optimized_unary_encoding
from dalenius.model.mechanisms.protocols import subset_selection as subset_selection
from dalenius.model.mechanisms.randomized_counts import randomized_count as randomized_count
from dalenius.model.mechanisms.randomized_counts import randomized_histogram as randomized_histogram
from dalenius.model.mechanisms.real_noise import gaussian as gaussian
from dalenius.model.mechanisms.real_noise import laplace as laplace
from dalenius.model.mechanisms.several_releases import several_releases as several_releases
from dalenius.model.mechanisms.symmetric import randomized_response as randomized_response
from dalenius.model.mechanisms.symmetric import symmetric as symmetric
from dalenius.model.objectives import DistortionTerm as DistortionTerm
from dalenius.model.objectives import LeakageTerm as LeakageTerm
from dalenius.model.objectives import Objective as Objective
from dalenius.model.objectives import WeightedMaximum as WeightedMaximum
from dalenius.model.objectives import WeightedSum as WeightedSum
from dalenius.model.privacy import LocalDP as LocalDP
from dalenius.model.privacy import PointwiseMaximalLeakage as PointwiseMaximalLeakage
from dalenius.model.privacy import Privacy as Privacy
from dalenius.model.problems.mechanism_problem import releases as releases
from dalenius.model.queries import Count as Count
from dalenius.model.queries import Histogram as Histogram
from dalenius.model.queries import Identity as Identity
from dalenius.model.queries import Joint as Joint
from dalenius.model.queries import ModularSum as ModularSum
from dalenius.model.queries import Parity as Parity
from dalenius.model.queries import Query as Query
from dalenius.model.queries import Sum as Sum
from dalenius.model.queries import Table as Table
from dalenius.model.queries import Threshold as Threshold
from dalenius.outcome import ConstraintPrice as ConstraintPrice
from dalenius.outcome import ProofRefusedWarning as ProofRefusedWarning
from dalenius.outcome import Refusal as Refusal
from dalenius.outcome import Scope as Scope
from dalenius.outcome import SolverUse as SolverUse
from dalenius.outcome import Termination as Termination
from dalenius.outcome import TermValue as TermValue
from dalenius.report.audit import Audit as Audit
from dalenius.report.audit import audit as audit
from dalenius.results import DesignResult as DesignResult
from dalenius.results import RecordProof as RecordProof
from dalenius.results import Result as Result
from dalenius.results import SecretProof as SecretProof
from dalenius.results import SecretResult as SecretResult
from dalenius.results import SecretWitness as SecretWitness
from dalenius.results import Witness as Witness
from dalenius.search.clock import Progress as Progress
from dalenius.statistics import SampledLeakage as SampledLeakage
from dalenius.statistics import audit_counts as audit_counts
from dalenius.statistics import audit_samples as audit_samples
from dalenius.studies.compare import Comparison as Comparison
from dalenius.studies.compare import compare as compare
from dalenius.studies.composition import Composition as Composition
from dalenius.studies.composition import composition as composition
from dalenius.studies.curve import CurvePoint as CurvePoint
from dalenius.studies.curve import entropy_curve as entropy_curve
from dalenius.studies.frontier import FrontierPoint as FrontierPoint
from dalenius.studies.frontier import frontier as frontier
from dalenius.studies.leakage_curve import LeakageCurve as LeakageCurve
from dalenius.studies.least_noise import LeastNoise as LeastNoise
from dalenius.studies.least_noise import least_noise as least_noise
from dalenius.studies.record import Record as Record
from dalenius.studies.release import Release as Release
from dalenius.studies.release import release as release
from dalenius.studies.sweep import Sweep as Sweep
from dalenius.studies.sweep import sweep as sweep
from dalenius.units import Quantity as Quantity
from dalenius.version import __version__ as __version__
