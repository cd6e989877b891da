"""Two Gaussian laws, a shift apart: the privacy profile, and what follows from it in closed form."""

from __future__ import annotations

from flint import arb

from dalenius.conversions.balls import number_ball
from dalenius.exact import Number

__all__ = ["chi_square", "gaussian_delta", "information_of_profile", "normal_tail", "saddle_value"]


FAR = 100  # standard deviations beyond which an end of a ball stands for infinity


def normal_tail(x: arb) -> arb:
    """P(Z > x) of a standard normal Z; of a wide ball the values at its ends, as it falls. An end beyond 100 counts as infinite.

    >>> float(normal_tail(arb(0))), bool(normal_tail(arb(80).union(arb(200))).contains(0))
    (0.5, True)
    """
    first, last = ((end / arb(2).sqrt()).erfc() / 2 for end in (x.lower(), x.upper()))
    if x > -FAR and x < FAR:
        return first.union(last)
    return first.union(last).union(arb(0 if x.upper() >= FAR else 1)).union(arb(1 if x.lower() <= -FAR else 0))


def gaussian_delta(shift: Number | arb, epsilon: Number | arb) -> arb:
    """The delta of two Gaussian laws of variance 1 whose means are `shift` apart, Phi(s/2 - e/s) - exp(e) Phi(-s/2 - e/s).

    The Gaussian mechanism on inputs of amplitude Delta in each of d coordinates, with variance sigma^2, has the shift
    2 sqrt(d) Delta / sigma.

    Parameters
    ----------
    shift : number or arb
        Above 0.
    epsilon : number or arb
        In nats.

    Raises
    ------
    InputError
        If one of them is no number, or the shift is not above 0.

    Notes
    -----
    Source: Balle, Wang, *Improving the Gaussian mechanism*, Theorem 5; eq. (9) of Ngo et al.

    >>> round(float(gaussian_delta(arb(2), arb(0.5))), 12)
    0.599185618534
    """
    shift, epsilon = number_ball(shift, "shift", above=0), number_ball(epsilon, "epsilon")
    return normal_tail(epsilon / shift - shift / 2) - epsilon.exp() * normal_tail(epsilon / shift + shift / 2)


def information_of_profile(shift: Number | arb) -> arb:
    """What Theorem 1(b), eq. (12), gives for the profile of the Gaussian mechanism: shift^2 / 2 nats.

    The integral of (1 + exp(-e)) delta(e) over e > 0 is the divergence of the two laws; the capacity is about a quarter of it.

    >>> float(information_of_profile(arb(2)))
    2.0
    """
    return number_ball(shift, "shift") ** 2 / 2


def chi_square(shift: Number | arb) -> arb:
    """exp(shift^2) - 1; the paper on f-divergences prints it without the -1 (E3-1).

    >>> round(float(chi_square(1)), 12), round(float(chi_square("0.3")), 12)
    (1.718281828459, 0.094174283705)
    """
    return (number_ball(shift, "shift") ** 2).expm1()


def saddle_value(power: Number | arb, noise: Number | arb, dimension: int) -> arb:
    """(d/2) log(1 + power/noise) nats, for inputs of that power a coordinate: the least that noise of this power lets through.

    Gaussian noise attains it, and against any other noise of the same power Gaussian inputs tell at least as much.

    Notes
    -----
    Source: Ngo et al., Theorem 3.

    >>> float(saddle_value(arb(1), arb(1), 2) / arb(2).log())
    1.0
    """
    signal, spread = number_ball(power, "power"), number_ball(noise, "noise", above=0)
    return dimension * (1 + signal / spread).log() / 2
