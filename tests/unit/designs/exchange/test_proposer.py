"""What the exchange proposes: of a mechanism with a long audit the checker is asked once."""

import pytest

import dalenius as dl
from campaigns import thinned

PARTS = {
    "records": dl.Records(2, alphabet=2),
    "query": dl.Count(),
    "distortion": dl.Absolute(),
    "adversary": dl.EntropyAtLeast("0.7 max"),
}
DESIGNS = {
    "leakage": dl.MinLeakage(max_distortion=0.3, **PARTS),
    "distortion": dl.MinDistortion(max_leakage="0.1 bits", **PARTS),
}


@pytest.mark.parametrize("name", thinned(reversed(DESIGNS), every=2))
def test_the_lines_of_a_long_audit_are_checked_once(name, monkeypatch):
    import dalenius._prove as place

    problem, verify, sizes = DESIGNS[name], place.verify, []

    def counted(problem, certificate, **options):
        sizes.append((problem.kind, len(certificate.upper_lines())))
        return verify(problem, certificate, **options)

    monkeypatch.setattr(place, "verify", counted)
    plain = dl.solve(problem, gap=3e-2, time_limit=None)
    whole = [kind for kind, lines in sizes if lines == len(plain.audit.certificate.upper_lines())]
    assert sorted({*whole}) == ["maximal_leakage", problem.kind]
    sizes.clear()
    monkeypatch.setattr("dalenius.designs.exchange.proposer.LONG", 0)
    once = dl.solve(problem, gap=3e-2, time_limit=None)
    rows, audit = once.mechanism.rows, once.audit
    assert (once.lower, once.upper, rows) == (plain.lower, plain.upper, plain.mechanism.rows)
    assert {kind for kind, lines in sizes if lines == len(audit.certificate.upper_lines())} == {problem.kind}
    assert dl.verify(problem.release(rows), audit.certificate).proved
    assert audit.lower == plain.audit.lower
    most = plain.audit.upper if name == "leakage" else problem.max_leakage_nats
    assert plain.audit.upper - 1e-12 <= audit.upper <= most + 1e-12
    assert (once.refusals, audit.refusals) == ((), ())
