"""How what is proved beyond the core is found: lemma modules, which are imported when a model asks for them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

LEMMAS = (
    "alone",
    "chains",
    "designs",
    "gaussian",
    "histograms",
    "households",
    "information",
    "letter_chains",
    "protocols",
    "randomized",
    "real_noise",
    "releases",
    "secrets",
    "separate",
    "wide",
)


def lemma(name: str) -> Any:
    """The module of a lemma."""
    assert name in LEMMAS
    return import_module(f"..lemmas.{name}", __package__)
