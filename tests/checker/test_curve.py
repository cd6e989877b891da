"""Claims about all entropy bounds: what they say is proved at each bound by the same lines and a claim about that bound alone."""

import json
import math
import re
from fractions import Fraction

import cases
from campaigns import each, thinned
from dalenius_check import Status, check
from dalenius_check.core.model import parse_model

MODEL = b"""problem = "maximal_leakage"
records = { count = 2, alphabet = 2 }
query = { kind = "count" }
mechanism = { kind = "geometric", epsilon = 1 }
adversary = { entropy_at_least = "1/2 nats" }
"""
LOG4 = math.log(4)


def bounded(case):
    """Whether a case is a proof by joint leaves against an entropy bound, of no blocks and no grid, and without a curve yet."""
    text = case.certificate.decode(errors="replace")
    about = b"entropy_at_least" in case.model and b"maximal_leakage" in case.model
    others = ('["uniform"]', '"resolved"', '"curve"', '["block"', '["grid"')
    return case.status == 0 and about and '["joint"' in text and not any(word in text for word in others)


CASES = [case for case in cases.cases().values() if bounded(case)]


def with_curve(case):
    """The certificate with a line for each mu, as high as the claim, and its witness once more below."""
    header, witness, *rest = [json.loads(line) for line in case.certificate.decode().splitlines()]
    model = parse_model(case.model)
    entropy = Fraction(float(model.entropy_ball())) if model.unit != "nats" else Fraction(str(model.entropy))
    upper = Fraction(header["upper"])
    slopes = {"0", *(line[2] for line in rest if line[0] == "joint")}
    above = [[str(upper + Fraction(mu) * entropy + Fraction(1, 10**12)), mu] for mu in sorted(slopes)]
    text = f"{model.entropy} {model.unit}"
    header |= {"upper": str(upper + Fraction(1, 10**9)), "curve": {"above": above, "below": [[text, header["lower"]]]}}
    return [header, witness, witness, *rest]


def written(lines):
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def at(case, lines, share):
    """Model and certificate at another entropy bound: the claim is what the lines say there."""
    text, found = re.subn(
        r'entropy_at_least *= *("[^"]*"|[\d.]+)', f'entropy_at_least = "{share} max"', case.model.decode()
    )
    assert found == 1
    model = text.encode()
    parsed = parse_model(model)
    header, _, _, *rest = lines
    b = Fraction(float(parsed.entropy_ball()))
    upper = max(Fraction(c) - Fraction(m) * b for c, m in header["curve"]["above"]) + Fraction(1, 10**12)
    claim = {key: item for key, item in header.items() if key != "curve"}
    claim |= {"lower": "0", "upper": str(upper), "model": parsed.digest}
    return model, written([claim, ["witness", None, None], *rest])


@each("case", *thinned(CASES, every=6))
def test_what_a_curve_says_is_proved_at_each_bound(case):
    lines = with_curve(case)
    verdict = check(case.model, written(lines))
    assert verdict.status is Status.PROVED, verdict.reason
    assert sum(line.startswith("curve: ") for line in verdict.lines) == 2
    for share in ("0", "0.35", "0.999"):
        assert check(*at(case, lines, share)).status is Status.PROVED


def test_there_are_such_cases():
    assert len(CASES) >= 40


def small(
    above,
    below=(),
    upper="9",
    lower="0",
    leaves=(["joint", "1", "1/10", None, ["1", "1", "1"]], *[["row", None]] * 2),
    extra=(),
):
    header = {
        "format": "dalenius-certificate/2",
        "problem": "maximal_leakage",
        "model": parse_model(MODEL).digest,
        "lower": lower,
        "upper": upper,
        "unit": "nats",
        "producer": "",
        "curve": {"above": above, "below": list(below)},
    }
    return check(MODEL, written([header, ["witness", None, None], *extra, ["record", 0], *leaves]))


def test_a_leaf_is_below_one_line_at_both_ends():
    """That the largest of two lines is above it at either end is not enough."""
    flat, steep = ["2", "0"], ["2", "1/10"]
    assert small([flat]).status is Status.PROVED
    assert small([steep]).status is Status.PROVED
    assert small([["2", "1/5"]]).status is Status.PROVED
    assert "a line of the curve fails" in small([["9", "7"], ["1/100", "0"]]).reason
    assert "a line of the curve <= upper" in small([flat], upper="19/10").reason
    vertices = (["vertices"], ["law", ["1", "1", "1"]])
    assert small([flat], leaves=vertices).status is Status.PROVED
    assert "a line of the curve fails" in small([["2", "2"]], leaves=vertices).reason


def test_numbers_below_are_proved_at_their_bounds():
    even, odd = ["witness", 0, [["1", "0", "0"], ["0", "0", "1"]]], ["witness", 0, [["1", "1", "0"], ["0", "1", "1"]]]
    none = ["witness", None, None]
    flat = [["2", "0"]]
    assert small(flat, [["2/5 max", "1/10"]], extra=[even]).status is Status.PROVED
    assert "witness's entropy" in small(flat, [["6/10 max", "1/10"]], extra=[even]).reason
    assert small(flat, [["1 nats", "1/100"], ["1/10 bits", "0"]], extra=[odd, none]).status is Status.PROVED
    assert "witness's information" in small(flat, [["2/5 max", "1/2"]], extra=[even]).reason
    assert "no witness" in small(flat, [["2/5 max", "1/2"]], extra=[none]).reason
    assert "the witness is expected" in small(flat, [["2/5 max", "1/10"]]).reason
    assert "the share is more than 1" in small(flat, [["2 max", "0"]], extra=[none]).reason
    assert "a unit" in small(flat, [["1", "0"]], extra=[none]).reason
    assert "a unit" in small(flat, [[1, "0"]], extra=[none]).reason


@each(
    "above, reason",
    ([], "from 1 to 1000"),
    ([["1", "0"]] * 1001, "from 1 to 1000"),
    ([["-1", "0"]], "nonnegative"),
    ([["1", "-1"]], "nonnegative"),
    ([["1"]], "list of 2"),
    ([[1, 0]], "written as a string"),
    (None, "must be a list"),
)
def test_what_is_no_curve(above, reason):
    assert reason in small(above).reason


def test_where_a_curve_may_stand():
    """Not in designs, nor against others than those with an entropy bound; nor above a leaf that is about one bound."""
    text = MODEL.decode().replace('entropy_at_least = "1/2 nats"', 'entropy_at_least = "1 max"')
    header = {
        "format": "dalenius-certificate/2", "problem": "maximal_leakage", "model": parse_model(text.encode()).digest,
        "lower": "0", "upper": "9", "unit": "nats", "producer": "", "curve": {"above": [["9", "0"]], "below": []},
    }  # fmt: skip
    lines = [header, ["witness", None, None], ["record", 0], ["uniform"]]
    assert "other entropy bounds" in check(text.encode(), written(lines)).reason
    text = MODEL.decode().replace('entropy_at_least = "1/2 nats"', 'kind = "product_priors"')
    header["model"] = parse_model(text.encode()).digest
    assert "unknown key 'curve'" in check(text.encode(), written(lines)).reason
