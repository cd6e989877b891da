"""What holds for secrets whatever the release: mixtures, post-processing, several releases, weaker questions."""

import itertools

import numpy as np
import pytest

import dalenius as dl
from campaigns import draws, each
from dalenius.reduction import cells_of_secrets

ROUNDING = 1e-12


def drawn(seed):
    """A law of the data, two channels from datasets, and what secrets there are: g with w given, and g by itself."""
    draw = np.random.default_rng(seed)
    records = dl.Records(3, alphabet=2)
    of, given = draw.integers(0, 3, 8).tolist(), draw.integers(0, 2, 8).tolist()
    channels = [draw.dirichlet(np.ones(3), 8) for _ in range(2)]
    return draw, records, draw.dirichlet(np.ones(8)), channels, dl.Table(of), dl.Table(given)


def told(records, secret, law, rows):
    """I(of; Y | given) under a law."""
    problem = dl.SecretLeakage(
        records=records, mechanism=dl.Channel(rows, inputs="dataset"), adversary=dl.AnyPrior(), secrets=secret
    )
    return cells_of_secrets(problem)[0].information(law, problem.channel)


def both(one, other):
    return (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)


@each("seed", *range(draws(5, 300)))
def test_two_releases_tell_what_each_tells_and_what_they_have_in_common(seed):
    """Exactly: I(g; M1 M2 | w) = I(g; M1 | w) + I(g; M2 | w) + I(M1; M2 | g, w) - I(M1; M2 | w)."""
    _, records, law, (one, other), of, given = drawn(seed)
    secret, whole = dl.Secret(of, given=given), dl.Identity()

    def common(known):
        """I(M1; M2 | known), by the chain rule: the two are independent given the data."""
        about = dl.Secret(whole, given=known)
        separate = told(records, about, law, one) + told(records, about, law, other)
        return separate - told(records, about, law, both(one, other))

    together = told(records, secret, law, both(one, other))
    sums = told(records, secret, law, one) + told(records, secret, law, other)
    assert together == pytest.approx(sums + common([of, given]) - common(given), abs=ROUNDING)
    assert together <= sums + common([of, given]) + ROUNDING


@each("seed", *range(draws(5, 300)))
def test_mixtures_and_what_is_made_of_a_release_tell_no_more(seed):
    draw, records, law, (one, other), of, given = drawn(seed)
    secret, share = dl.Secret(of, given=given), draw.uniform()
    first, second = told(records, secret, law, one), told(records, secret, law, other)
    assert (
        told(records, secret, law, share * one + (1 - share) * other) <= share * first + (1 - share) * second + ROUNDING
    )
    assert told(records, secret, law, one @ draw.dirichlet(np.ones(2), 3)) <= first + ROUNDING


@pytest.mark.parametrize("seed", range(draws(2, 100)))
def test_the_largest_over_laws_keeps_order(seed):
    """Of a coarser secret, a coarser release, fewer laws: never more; of several secrets the one that is told most."""
    draw, records, law, (one, _), of, given = drawn(seed)
    made = draw.dirichlet(np.ones(2), 3)

    def largest(rows, secrets, adversary):
        mechanism = dl.Channel(rows, inputs="dataset")
        problem = dl.SecretLeakage(records=records, mechanism=mechanism, adversary=adversary, secrets=secrets)
        return dl.solve(problem, gap=1e-6)

    fine, coarse = dl.Secret(dl.Identity(), given=given), dl.Secret(of, given=given)
    all_laws = largest(one, coarse, dl.AnyPrior())
    assert all_laws.lower <= largest(one, fine, dl.AnyPrior()).upper
    assert largest(one @ made, coarse, dl.AnyPrior()).lower <= all_laws.upper
    assert largest(one, coarse, dl.L1BallPriors(law, 0.2)).lower <= all_laws.upper
    assert largest(one, coarse, dl.EntropyAtLeast("0.9 max")).lower <= all_laws.upper
    several = largest(one, [coarse, fine], dl.AnyPrior())
    assert several.upper >= all_laws.lower
    assert several.secret in (None, 0, 1)


SECRETS = [
    dl.Secret(dl.Threshold(2)),
    dl.Secret(dl.Letters(0)),
    dl.Secret(dl.Table([0, 1, 2, 0, 1, 1, 0, 2])),
    dl.Secret(dl.Parity(), given=dl.Letters(1)),
]


@pytest.mark.parametrize("secret", SECRETS[: draws(2, len(SECRETS))], ids=str)
def test_independent_records_are_told_as_much_as_on_a_grid_and_no_more_than_any_law(secret):
    parts = {
        "records": dl.Records(3, alphabet=2),
        "query": dl.Count(),
        "mechanism": dl.geometric(0.5),
        "secrets": secret,
    }
    asked = dl.SecretLeakage(adversary=dl.ProductPriors(), **parts)
    result, free = dl.solve(asked, gap=1e-6), dl.solve(dl.SecretLeakage(adversary=dl.AnyPrior(), **parts), gap=1e-6)
    cells, shares = cells_of_secrets(asked)[0], np.linspace(0.0, 1.0, 9)
    pairs = np.stack([1.0 - shares, shares], axis=1)
    grid = max(
        cells.information(np.einsum("a,b,c->abc", *laws).reshape(-1), asked.channel)
        for laws in itertools.product(pairs, repeat=3)
    )
    assert grid * (1.0 - 1e-9) <= result.lower <= result.upper <= free.upper * (1.0 + 1e-9)
    assert not result.secrets[0].exact
    assert dl.verify(asked, result.certificate).proved
    assert cells.information(result.witness.law, asked.channel) == pytest.approx(result.lower, rel=1e-9)


def test_where_all_records_but_one_are_given_independent_records_are_as_good_as_any():
    parts = {"records": dl.Records(3, alphabet=2), "query": dl.Count(), "mechanism": dl.geometric(0.5)}
    known, open_ = dl.Secret(dl.Letters(0), given=dl.Letters(others=0)), dl.Secret(dl.Threshold(2))
    alone, together = (
        dl.solve(dl.SecretLeakage(adversary=dl.ProductPriors(), secrets=secrets, **parts), gap=1e-9)
        for secrets in (known, [open_, known])
    )
    free = dl.solve(dl.SecretLeakage(adversary=dl.AnyPrior(), secrets=known, **parts), gap=1e-9)
    assert (alone.lower, alone.upper) == (free.lower, free.upper)
    assert alone.secrets[0].exact
    assert [each.exact for each in together.secrets] == [False, True]
    assert together.lower >= alone.lower * (1.0 - 1e-9)
