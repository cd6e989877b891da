"""What a distance from independence leaves of unlikely lifts: total variation, information, chi-square."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.programs import two_tails
from dalenius.conversions.rule import FDIV, OURS, Given, Rule, any_alphabets

__all__ = ["BY_DISTANCE", "RULES"]

CIRCULANT = "circulants: X uniform on a large ring, the output X + noise"


def total_variation(given: Given) -> arb | None:
    """Min(1, (eta/2) coth(epsilon/2))."""
    if not given.epsilon_after > 0:
        return None
    return (given.value / 2 / (given.epsilon_after / 2).tanh()).min(arb(1))


def chi_square(given: Given) -> arb | None:
    """Min(1, eta / (2 cosh epsilon - 2)).

    *Bound because* chi-square is the mean of (d-1)^2/d under the joint law, which is at least 4 sinh^2(epsilon/2) outside of the band.
    """
    if not given.epsilon_after > 0:
        return None
    return (given.value / (4 * (given.epsilon_after / 2).sinh() ** 2)).min(arb(1))


def information(given: Given) -> arb | None:
    """The largest P(|log d| > epsilon) with E log d <= eta and E 1/d <= 1."""
    return two_tails(given.value, given.epsilon_after) if given.epsilon_after > 0 else None


def printed_total_variation(given: Given) -> arb | None:
    """Eta / (1 - e^-epsilon)."""
    return given.value / (1 - (-given.epsilon_after).exp()) if given.epsilon_after > 0 else None


def printed_chi_square(given: Given) -> arb | None:
    """g(e^-epsilon) + g(e^epsilon), g(G) = G eta / ((G-1)^2 + eta)."""
    if not given.epsilon_after > 0:
        return None
    return sum(
        (_g(factor, given.value) for factor in (given.epsilon_after.exp(), (-given.epsilon_after).exp())), arb(0)
    )


def printed_information(given: Given) -> arb | None:
    """Zeta(epsilon) + zeta(-epsilon)."""
    if not given.epsilon_after > 0:
        return None
    return _zeta(given.value, given.epsilon_after) + _zeta(given.value, -given.epsilon_after)


def _g(factor: arb, eta: arb) -> arb:
    return factor * eta / ((factor - 1) ** 2 + eta)


def _zeta(eta: arb, epsilon: arb) -> arb:
    """At least the largest p below min(1, e^epsilon) with epsilon + (1-p) log((1-p)/(e^epsilon - p)) <= eta, or 1.

    Sought by bisection over p = min(1, e^epsilon) u.

    *Bound because* the left side grows with p (Appendix B of the paper), and exceeds eta at the p that is returned.
    """
    most = epsilon.exp().min(arb(1))
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        p = most * middle
        beyond = epsilon + (1 - p) * ((1 - p) / (epsilon.exp() - p)).log() > eta
        low, high = (low, middle) if beyond else (middle, high)
    return most * high


BY_DISTANCE = {"total_variation": total_variation, "mutual_information": information, "chi_square": chi_square}
PRINTED = {
    "total_variation": (printed_total_variation, "Theorem 1(a)", "eta/(1 - exp(-e))"),
    "mutual_information": (printed_information, "Theorem 1(b)", "zeta(e) + zeta(-e)"),
    "chi_square": (printed_chi_square, "Theorem 1(c)", "g(exp(-e)) + g(exp e), g(G) = G eta/((G-1)^2 + eta)"),
}
FORMULAS = {
    "total_variation": "min(1, (eta/2) coth(e/2))",
    "mutual_information": "max P(|log d| > e) with E log d <= eta, E 1/d <= 1",
    "chi_square": "min(1, eta/(2 cosh e - 2))",
}
RULES = tuple(
    Rule(
        f"CONV-9 ({source}, exact)",
        source,
        "information_privacy_delta",
        FORMULAS[source],
        f"{OURS}; the exact worst case of {FDIV}, Theorem 1",
        value,
        conditions="epsilon is above 0",
        attained=CIRCULANT,
        meets=any_alphabets,
        ours=True,
    )
    for source, value in BY_DISTANCE.items()
) + tuple(
    Rule(
        f"CONV-9 ({source})",
        source,
        "information_privacy_delta",
        formula,
        f"{FDIV}, {place}",
        value,
        (),
        "epsilon is above 0",
    )
    for source, (value, place, formula) in PRINTED.items()
)
