"""Certificates as data: their numbers, their lines, their files. No solver and no search is imported here."""

from dalenius.certify.certificate import Certificate, build
from dalenius.certify.numbers import exact_fraction_above, exact_text, round_down, round_up, short_text

__all__ = ["Certificate", "build", "exact_fraction_above", "exact_text", "round_down", "round_up", "short_text"]
