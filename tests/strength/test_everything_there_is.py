"""An upper end is never above all there is to know, whatever the adversary, and however little time there was."""

import math

import dalenius as dl
from campaigns import each
from dalenius.audits.choice import audit_of
from dalenius.audits.secrets import secret_audit_of
from dalenius.evidence.upper import LettersLine
from dalenius.search import Limits, Run

FAR = dl.Records(8, alphabet=2)  # records whose rows no one law is near to
SECRET = {"secrets": dl.Secret(dl.Parity(), given=dl.Letters(2))}


def searched(adversary, mechanism, **secrets):
    """An audit that was given no time at all."""
    kind = dl.SecretLeakage if secrets else dl.WorstCaseLeakage
    problem = kind(records=FAR, query=dl.Count(), mechanism=mechanism, adversary=adversary, **secrets)
    search = Run.of(Limits(time_limit=1e-9))
    audit = secret_audit_of(problem)(problem, search) if secrets else audit_of(problem, search)
    audit.run()
    return audit


@each(
    "adversary, mechanism, secrets",
    (dl.ProductPriors(), dl.geometric(3), {}),
    (dl.ProductPriors(), dl.gaussian(0.2), {}),
    (dl.FloorPriors("1/1000"), dl.geometric(3), {}),
    (dl.FloorPriors("1/1000"), dl.gaussian(0.2), {}),
    (dl.AnyPrior(), dl.geometric(3), {}),
    (dl.AnyPrior(), dl.gaussian(0.2), {}),
    (dl.AnyPrior(), dl.geometric(3), SECRET),
    (dl.ProductPriors(), dl.geometric(3), SECRET),
    (dl.EntropyAtLeast("1/10 max"), dl.geometric(3), SECRET),
    (dl.FloorPriors("1/100000"), dl.geometric(3), SECRET),
)
def test_without_time_the_upper_end_is_the_entropy_of_the_letters(adversary, mechanism, secrets):
    audit = searched(adversary, mechanism, **secrets)
    assert audit.upper <= math.log(2)
    assert all(end.rounded <= math.log(2) + 1e-6 for end in audit.uppers())


def test_many_independent_records_are_told_no_more_than_a_letter():
    """One law for all selections is 5.96 nats away from the farthest."""
    crowd = dl.WorstCaseLeakage(
        records=dl.Records(100, alphabet=2), query=dl.Count(), mechanism=dl.geometric(1), adversary=dl.ProductPriors()
    )
    found = dl.solve(crowd, gap=1.0)
    assert 0.1109 < found.lower <= found.upper <= math.log(2) + 1e-12
    assert LettersLine() in found.certificate.upper_lines()
    assert [proof.method for proof in found.records] == ["letters"]
