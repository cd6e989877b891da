"""Models of one's own: any DCP model of cvxpy, its optimal value in a proved interval (docs/own-models.md)."""

from dalenius.programs.own.certification import certify
from dalenius.programs.own.derive import Claim
from dalenius.programs.own.form import Model, conic_form
from dalenius.programs.own.interval import CertifiedInterval, Standing

__all__ = ["CertifiedInterval", "Claim", "Model", "Standing", "certify", "conic_form"]
