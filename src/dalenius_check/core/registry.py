"""How what is proved beyond the core is found: theorems by number, in lemma modules that are imported when a model asks for them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .allowance import Allowance

LEMMAS = {  # theorems as docs/theory.md numbers them
    "households": ("B1", "B2", "B3"),
    "gaussian": ("B4",),
    "chains": ("M1", "M2", "M3", "M4"),
    "letter_chains": ("M5",),
    "histograms": ("H1",),
    "wide": ("W1",),
    "alone": ("O1", "O2"),
    "separate": ("U1",),
    "releases": ("R1",),
    "adaptive": ("R2",),
    "randomized": ("L1", "L2"),
    "protocols": ("Q1",),
    "real_noise": ("N1",),
    "secrets": ("T1", "T2"),
    "designs": ("G1", "G2", "G3", "G4"),
    "information": ("J1",),
    "envelope": ("J2",),
}


def lemma(name: str) -> Any:
    """The module of a lemma."""
    assert name in LEMMAS
    return import_module(f"..lemmas.{name}", __package__)


def rests_on(allowance: Allowance, theorem: str) -> None:
    """Say in the verdict of this check that it rests on a theorem beyond the core."""
    assert any(theorem in theorems for theorems in LEMMAS.values())
    allowance.theorems.add(theorem)


def rules(allowance: Allowance) -> tuple[str, ...]:
    """What a verdict rests on: the core, and lemmas with their theorems."""
    found = ["core"]
    for name, theorems in LEMMAS.items():
        used = [theorem for theorem in theorems if theorem in allowance.theorems]
        if used:
            found.append(f"{name.replace('_', ' ')} (Theorem{'s' * (len(used) > 1)} {', '.join(used)})")
    return tuple(found)
