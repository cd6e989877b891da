"""How narrow a band few proofs leave: lines from above, where a staircase would be as wide as the leakage falls between them."""

import dalenius as dl
import support

SHARES = ["0", "0.5", "0.75", "0.9", "1"]
PLACES = [f"{j}/50 max" for j in range(51)]


def test_five_proofs_of_a_count(curves, counted_time):
    """Nats; the leakage itself falls from 0.46 to 0.04. The staircase has the same proofs without their lines and witnesses."""
    question = support.problem(dl.Records(6, alphabet=2), dl.Count(), dl.geometric("0.6"), dl.AnyPrior())
    points = list(dl.entropy_curve(question, SHARES, gap=6e-2, time_limit=None))
    lines = dl.answers.LeakageCurve.of(*((point.problem, point.result) for point in points))
    stairs = dl.answers.LeakageCurve(tuple((problem, curves.plain(proof)) for problem, proof in lines.proofs))
    widest, staircase = (max(high - low for low, high in map(band.at, PLACES)) for band in (lines, stairs))
    assert widest < 0.06
    assert staircase > 0.15
