"""What other packages can do of this, where they are installed: capacity (dit, qif), rate-distortion (dit); none has an entropy bound.

An adversary without an entropy bound makes the leakage the largest capacity of a record's channel over its choices of one row a letter
(leakage is convex in the conditionals). An adversary who must have all entropy makes the design of one record's release the
rate-distortion function of the uniform source.
"""

import itertools
import math
import warnings

import numpy as np
import pytest

import dalenius as dl
import support
from campaigns import each


def without_complaints(name):
    """The package, or a skip; its own deprecations are not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"needs {name}: pip install {name}")


def capacity_by_dit(rows):
    dit = without_complaints("dit")
    with np.errstate(all="ignore"):
        return float(dit.algorithms.channel_capacity(rows, rtol=1e-12, atol=1e-12)[0]) * math.log(2.0)


def capacity_by_qif(rows):
    return float(without_complaints("qif").measure.shannon.add_capacity(rows, md=1e-10, mrd=1e-10)[0]) * math.log(2.0)


def random_release(seed):
    rows = np.random.default_rng(seed).dirichlet(np.ones(3), size=6).round(6)
    rows[:, -1] = np.abs(1.0 - rows[:, :-1].sum(axis=1)).round(6)
    return support.problem(dl.Records(alphabets=[2, 3]), None, dl.Channel(rows, inputs="dataset"), dl.AnyPrior())


RELEASES = {
    "count": support.problem(dl.Records(4, alphabet=2), dl.Count(), dl.geometric(0.5, range=4), dl.AnyPrior()),
    "random": random_release(0),
    "another": random_release(1),
}


@each("capacity", capacity_by_dit, capacity_by_qif)
@each("release", *RELEASES.values())
def test_capacity(capacity, release, support):
    channel, best = support.full_channel(release), 0.0
    for record in range(len(release.records)):
        letters = np.array(support.letters_of(release, record))
        fibres = [np.unique(channel[letters == a], axis=0) for a in range(release.records.alphabets[record])]
        best = max(best, *(capacity(np.array(rows)) for rows in itertools.product(*fibres)))
    result = dl.solve(release, gap=1e-6, time_limit=10)
    assert result.lower - 1e-7 <= best <= result.upper + 1e-7
    assert result.gap <= 1e-6


@each("slope", 1.0, 3.0)
@each("distortion", "hamming", "absolute")
def test_rate_distortion(distortion, slope):
    """dit's Blahut-Arimoto gives a point (rate, distortion) of the curve; the certified design at that distortion leaks that rate."""
    dit = without_complaints("dit")
    from dit.rate_distortion.blahut_arimoto import blahut_arimoto

    letters = 4
    cost = np.abs(np.subtract.outer(np.arange(letters), np.arange(letters))).astype(float)
    if distortion == "hamming":
        cost = (cost > 0).astype(float)
    with np.errstate(all="ignore"):
        found, _ = blahut_arimoto(np.full(letters, 1 / letters), slope, lambda p, q: cost, max_iters=5000, restarts=3)
    assert dit is not None
    design = support.design(
        dl.MinLeakage,
        dl.Records(1, alphabet=letters),
        dl.Identity(),
        dl.Hamming() if distortion == "hamming" else dl.Absolute(),
        float(found.distortion),
        "1 max",
    )
    result = dl.solve(design, gap=1e-4, time_limit=10)
    rate = float(found.rate) * math.log(2.0)
    assert result.lower - 1e-4 * rate <= rate <= result.upper + 1e-4 * rate
    assert result.gap <= 1e-3


MEASURED = {
    "small": (np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]), np.array([0.5, 0.3, 0.2])),
    "random": (np.random.default_rng(3).dirichlet(np.ones(6), 5), np.random.default_rng(4).dirichlet(np.ones(5))),
}


def measured_by_qif(channel, prior):
    qif = without_complaints("qif")
    guess, shannon = qif.measure.bayes_vuln, qif.measure.shannon
    return {
        "mutual_information": shannon.add_leakage(prior, channel) * math.log(2.0),
        "min_entropy_leakage": guess.min_entropy_leakage(prior, channel) * math.log(2.0),
        "bayes_advantage": guess.add_leakage(prior, channel),
        "maximal_leakage": math.log(guess.mult_capacity(channel)),
        "local_dp": qif.measure.d_privacy.smallest_epsilon(channel, qif.metric.discrete(qif.uint)),
        "shannon_capacity": capacity_by_qif(channel),
    }


def measured_by_dit(channel, prior):
    dit = without_complaints("dit")
    from dit.divergences import maximum_correlation
    from dit.other import maximal_leakage
    from dit.shannon import mutual_information

    joint = dit.Distribution(dict(np.ndenumerate(prior[:, None] * channel)))
    return {
        "mutual_information": mutual_information(joint, [0], [1]) * math.log(2.0),
        "maximal_correlation": maximum_correlation(joint, [[0], [1]]),
        "maximal_leakage": maximal_leakage(joint, [0], [1]) * math.log(2.0),
    }


@each("rival", measured_by_qif, measured_by_dit)
@each("case", *MEASURED)
def test_measures(rival, case):
    channel, prior = MEASURED[case]
    ours = dl.measure(channel, prior=prior)
    for name, value in rival(channel, prior).items():
        assert ours[name].lower - 1e-8 <= float(value) <= ours[name].upper + 1e-8, name
