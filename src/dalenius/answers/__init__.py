"""The types of what dalenius answers, for annotations and for those who look closer; nobody makes them by hand.

Solving         Result, DesignResult, SecretResult; Witness, SecretWitness, RecordProof, SecretProof, ConstraintPrice, TermValue,
                LeastFavourablePrior; Termination, Scope, Status, Refusal, Quantity, SolverUse;
                Alternation of BlockCertificate; while it goes on: Progress
Pages           Audit; EpsilonTable of EpsilonRow; Measures of Measure, PrivacyClaim; SampledLeakage
Questions       Conversion, Composition, LeastNoise, Comparison; People of a table, Pipeline
Studies         Sweep of Record; FunnelCurve, LeakageCurve of CurvePoint; FrontierPoint
Files           LibraryModel, Release
"""

from cvxcertify.faces import lazily

__getattr__, __dir__ = lazily(__name__, __file__)
