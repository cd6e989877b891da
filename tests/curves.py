"""What a certificate claims of the whole curve, proved point by point by certificates that claim nothing of it."""

from dataclasses import replace
from fractions import Fraction

import dalenius as dl
from dalenius.evidence import Header, claim_text
from dalenius.evidence.lower import WitnessLine
from dalenius.evidence.upper import JointLeaf, RecordLine
from dalenius.model import digest


def plain(certificate: dl.Certificate) -> dl.Certificate:
    """The same without its claims about the curve."""
    header = replace(certificate.header, curve=None)
    return dl.Certificate.of(header, certificate.lower_lines(), certificate.upper_lines())


def at(problem: dl.WorstCaseLeakage, entropy: str) -> dl.WorstCaseLeakage:
    """The same release at another entropy bound."""
    return replace(problem, adversary=dl.EntropyAtLeast(entropy, "nats"))


def line_at(problem: dl.WorstCaseLeakage, certificate: dl.Certificate, entropy: str) -> dl.Certificate:
    """The claim that the certificate's lines make at another entropy bound, with the same sections."""
    there = at(problem, entropy)
    low = dl.EntropyAtLeast(entropy, "nats").enclosure(problem.records)[0]
    upper = max(Fraction(c) - Fraction(m) * low for c, m in certificate.header.curve.above)
    header = Header(problem.kind, digest(there), "0", claim_text(upper))
    return dl.Certificate.of(header, [WitnessLine(None, None)], certificate.upper_lines())


def steps(
    problem: dl.WorstCaseLeakage, certificate: dl.Certificate
) -> list[tuple[dl.WorstCaseLeakage, dl.Certificate]]:
    """Each claim from below as a certificate of its own, with what anybody knows from above."""
    witnesses = [line for line in certificate.body() if isinstance(line, WitnessLine)][1:]
    below = certificate.header.curve.below
    records = [line for line in certificate.upper_lines() if isinstance(line, RecordLine)]
    sections = [part for line in records for part in (line, JointLeaf("0", "0", None, None))]
    found = []
    for (entropy, low), witness in zip(below, witnesses, strict=True):
        there = at(problem, entropy)
        found.append((there, dl.Certificate.of(Header(problem.kind, digest(there), low, "10"), [witness], sections)))
    return found


def proved_apart(problem: dl.WorstCaseLeakage, certificate: dl.Certificate, entropies: list[str]) -> bool:
    """Whether the interval, the lines at these entropy bounds, and all steps are proved, each by itself."""
    claims = [(problem, plain(certificate)), *steps(problem, certificate)]
    claims += [(at(problem, entropy), line_at(problem, certificate, entropy)) for entropy in entropies]
    return all(dl.verify(*claim).proved for claim in claims)
