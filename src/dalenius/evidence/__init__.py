"""Certificates as data: their numbers, their lines, their files. No solver and no search is imported here."""

from dalenius.evidence.certificate import Certificate, build
from dalenius.evidence.numbers import exact_fraction_above, exact_text, round_down, round_up, short_text

__all__ = ["Certificate", "build", "exact_fraction_above", "exact_text", "round_down", "round_up", "short_text"]
