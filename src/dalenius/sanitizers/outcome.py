"""What was learned, and what held-out data say of it: estimates and confidence bounds, never a proof."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Attack", "Outcome"]


@dataclass(frozen=True)
class Attack:
    """How well a fresh network guesses.

    Attributes
    ----------
    accuracy, loss : float
        On held-out draws: the share of right guesses, and the mean cross-entropy in nats.
    at_least : float
        A lower confidence bound of the accuracy.
    """

    accuracy: float
    loss: float
    at_least: float


@dataclass(frozen=True)
class Outcome:
    """A sanitizer, audited.

    Attributes
    ----------
    attack, utility : Attack
        Networks that learned S, and U, from releases, after the sanitizer was done.
    critic : float
        A fresh critic's estimate of sqrt chi2(S; Y), from below but for chance.
    root_chi_square_at_least : float
        A lower confidence bound of sqrt chi2(S; Y), from attack and critic, whichever is larger (each with its own confidence).
    error : float or None
        The mean squared error of what an autoencoder makes of its releases.
    """

    attack: Attack
    utility: Attack
    critic: float
    root_chi_square_at_least: float
    error: float | None = None
