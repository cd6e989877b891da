"""dalenius: certified information leakage of privacy mechanisms against entropy-bounded adversaries.

What models are made of, and what is done with them; each name has a docstring of its own, help(dalenius.solve):

    model = dl.WorstCaseLeakage(records=dl.Records(4, alphabet=2), query=dl.Count(), mechanism=dl.laplace(1), adversary=dl.AnyPrior())
    result = dl.solve(model)                # lower <= leakage <= upper, proved by the independent checker

Questions       WorstCaseLeakage (the source paper's MaximalLeakage), SecretLeakage (of a Secret; Letters); designs: MinLeakage,
                MinDistortion, MaxUtility, MaxInformation, PrivacyFunnel, InformationBottleneck
Records         Records; from_frame; queries: Count, Histogram, Identity, Joint, ModularSum, Parity, Sum, Table, Threshold
Adversaries     EntropyAtLeast, AnyPrior, ProductPriors, IndependentBlocks (households), MarkovChain, FiniteChain, PriorSet,
                FixedPrior; one record's law: L1BallPriors, KLBallPriors, ChiSquareBallPriors, BoxPriors, FloorPriors, PolytopePriors
Mechanisms      discrete_gaussian, discrete_laplace, exponential, gaussian, geometric, laplace, laplace_threshold, randomized_count,
                randomized_histogram, randomized_response, staircase, symmetric; any matrix: Channel; local protocols:
                subset_selection, optimized_unary_encoding, local_hashing, hadamard_response; several: together, several_releases,
                adaptive; read: from_pmfs, from_opendp, from_diffprivlib
Designs         distortions: Absolute, Hamming, Squared, DistortionMatrix; laws: Uniform, Iid; DesignedMechanism;
                alone: LocalDP, PointwiseMaximalLeakage
Files           load, loads, dumps; library; Certificate, verify; release
Solving         audit (one page in plain words), solve, measure, supersample_cmi; convert; composition; least_noise for a budget;
                subproblem, a convex block of a model in cvxpy;
                statistical, never a proof: audit_samples, audit_counts
Studies         sweep, entropy_curve, frontier, compare
Namespaces      adversaries, distortions, laws, mechanisms, privacy, problems, queries: all of a kind, and the class that your own are
                subclasses of; constraints and objectives of designs; answers (their types), errors; beside them report (pictures),
                atoms (of cvxpy models of your own), export, programs, baselines
"""

from cvxcertify.faces import lazily

ROOMS = (  # each before those that import of it
    "errors",
    "answers",
    "queries",
    "adversaries",
    "mechanisms",
    "distortions",
    "laws",
    "privacy",
    "problems",
    "constraints",
    "objectives",
)

__getattr__, __dir__ = lazily(__name__, __file__, ROOMS)
