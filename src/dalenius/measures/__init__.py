"""Measures of a mechanism, as intervals that hold: `dalenius.measure`. Their formulas are in `dalenius.information.measures`."""

from dalenius.measures.answer import Measure, Measures, PrivacyClaim

__all__ = ["Measure", "Measures", "PrivacyClaim"]
