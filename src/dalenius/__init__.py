"""dalenius: certified information leakage of privacy mechanisms against entropy-bounded adversaries.

Each name has a docstring of its own, help(dalenius.solve); beside them dalenius.report (pictures), .export, .programs, .baselines:

    model = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Count(), mechanism=dl.laplace(1), adversary=dl.AnyPrior())
    result = dl.solve(model)                # lower <= leakage <= upper, proved by the independent checker

Questions       WorstCaseLeakage (the source paper's MaximalLeakage), SecretLeakage (of a Secret; Letters); designs: MinLeakage,
                MinDistortion, MaxUtility, MaxInformation
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
Errors          DaleniusError: InputError, GapNotReachedError, NotProvedError; Status (of an answer)
Measures        measure (Measures of Measure, PrivacyClaim), supersample_cmi; convert (Conversion); composition (Composition);
                least_noise (LeastNoise) for a budget; statistical, never a proof: audit_samples, audit_counts (SampledLeakage)
Studies         sweep (Sweep, Record), entropy_curve (CurvePoint, LeakageCurve), frontier (FrontierPoint), compare (Comparison)
"""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
