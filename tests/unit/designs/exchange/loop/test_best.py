"""The best mechanism of an exchange leaks what is known of it, whatever was thought before."""

import dalenius as dl
import support
from dalenius.designs.exchange import OWN, Exchange
from dalenius.search import Limits, Run


def test_a_best_mechanism_that_leaks_more_than_was_seen_attains_more():
    """With constraints, too: what is found about it later counts, or an audit would be asked for a bound that there is not."""
    problem = support.design(
        dl.MinLeakage,
        dl.Records(2, alphabet=2),
        dl.Count(),
        dl.Absolute(),
        "0.3",
        "0.5 max",
        constraints=[dl.constraints.ErrorCap("0.4")],
    )
    exchange = Exchange(problem, Run.of(Limits()))
    rounds = exchange._rounds(exchange.goal, exchange._found(exchange.region.anchor, exchange.goal), 1e-3, 1.0)
    seen = rounds.best
    rounds.consider(0.5 * seen.q + 0.5 * rounds.anchor.q, {OWN: 2.0 * seen.attained}, "nobody")
    assert rounds.best is seen
    rounds.consider(seen.q, {OWN: 1.5 * seen.attained}, "nobody")
    assert rounds.best.attained == 1.5 * seen.attained
