"""Certificates as data: typed lines, the codec that alone knows how they are written, outward numbers, and files."""

from dalenius.evidence.certificate import Certificate, Header, claim_text
from dalenius.evidence.curve import CurveClaim, CurveStep
from dalenius.evidence.ends import CERTAIN, MARGINS, QUICK, Lower, Upper, step
from dalenius.evidence.numbers import (
    double_above,
    double_below,
    exact_fraction_above,
    matrix_text,
    round_down,
    round_up,
    short_text,
    slope_text,
    unit_of,
    vector_text,
)

__all__ = [
    "CERTAIN",
    "MARGINS",
    "QUICK",
    "Certificate",
    "CurveClaim",
    "CurveStep",
    "Header",
    "Lower",
    "Upper",
    "claim_text",
    "double_above",
    "double_below",
    "exact_fraction_above",
    "matrix_text",
    "round_down",
    "round_up",
    "short_text",
    "slope_text",
    "step",
    "unit_of",
    "vector_text",
]
