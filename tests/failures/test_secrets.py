"""Questions about secrets that cannot be asked: one line says what was expected, what came, what to do."""

import pytest

import dalenius as dl
from campaigns import each
from dalenius.model import loads

BITS = dl.Records(3, alphabet=2)
MAJORITY = dl.Secret(dl.Threshold(2))


def asked(**changed):
    parts = {"records": BITS, "query": dl.Count(), "mechanism": dl.geometric(0.5), "adversary": dl.AnyPrior()}
    return dl.SecretLeakage(**parts | {"secrets": MAJORITY} | changed)


@each(
    "make, said",
    (lambda: dl.Secret("count"), r"of must be a function of the data|secret: of"),
    (lambda: dl.Secret([]), "at least one function"),
    (lambda: dl.Secret(dl.Histogram()), "a list of them instead of a histogram"),
    (lambda: dl.Letters(), "give either records"),
    (lambda: dl.Letters(0, others=1), "give either records"),
    (lambda: dl.Letters([0, 0]), "each once"),
    (lambda: dl.Letters(0, groups=[[0], []]), "at least one letter"),
    (lambda: dl.Letters(0, groups=[[0, 1], [1]]), "no letter twice"),
    (lambda: asked(secrets=[]), "from 1 to 1000 secrets"),
    (lambda: asked(secrets=dl.AnyPrior()), "secrets"),
    (lambda: asked(secrets=dl.Secret(dl.Letters(3))), "there is no record 3; records are numbered from 0 to 2"),
    (lambda: asked(secrets=dl.Secret(dl.Letters(0, groups=[[0, 1, 2]]))), "each of the letters 0 to 1"),
    (
        lambda: asked(secrets=dl.Secret(dl.Table([0, 1]))),
        r"secrets\[0\]: query: values must list one value for each of the 8",
    ),
    (lambda: asked(records=dl.Records(17, alphabet=2)), "lists every dataset, at most 65536"),
    (lambda: asked(adversary=dl.IndependentBlocks(3)), "independent_blocks is about a record"),
    (lambda: asked(adversary=dl.L1BallPriors([0.5, 0.5], 0.1)), "a number for each of the 8 datasets; its laws have 2"),
    (lambda: asked(adversary=dl.FloorPriors(0.2)), "lower floor"),
    (lambda: asked(adversary=dl.EntropyAtLeast("4 bits")), "above the largest possible entropy"),
    (lambda: dl.solve(asked(), known=dl.solve(asked())), "known: what is revealed about a secret"),
    (lambda: dl.solve(asked(), curve=True), "curve: only an audit of records"),
    (lambda: dl.solve(asked(), method="alternating"), "method"),
    (lambda: dl.sweep({"vote": asked()}, {"adversary.entropy_at_least": [0]}, method="alternating"), "method"),
    (lambda: dl.compare(asked()), "expected a WorstCaseLeakage"),
    (
        lambda: dl.measure(asked(adversary=dl.EntropyAtLeast("1 nats"))),
        "measure: about secrets entropy_at_least is not offered",
    ),
    (lambda: dl.measure(asked(adversary=dl.ProductPriors())), "letters of all records but one"),
    (lambda: dl.measure(asked(), prior=[0.5, 0.5]), "leave them out"),
    (lambda: dl.measure(asked(), outputs=True), "not offered about secrets"),
    (lambda: MAJORITY.joint(BITS, dl.Count(), [0.5, 0.5]), "one weight for each of the 8 datasets"),
    (lambda: dl.Secret(dl.Count(), given=dl.Letters(0)).joint(BITS, dl.Count(), [1 / 8] * 8), "leave given out"),
)
def test_what_cannot_be_asked(make, said):
    with pytest.raises(dl.errors.InputError, match=said) as failure:
        make()
    assert "\n" not in str(failure.value)


MODEL = """
problem = "secret_leakage"
records = { count = 3, alphabet = 2 }
query = { kind = "count" }
mechanism = { kind = "geometric", epsilon = 0.5 }
adversary = { entropy_at_least = 0 }
"""


@each(
    "tables, said",
    ("", r"at least one table \[\[secrets\]\]"),
    ("secrets = []", r"at least one table \[\[secrets\]\]"),
    ("[[secrets]]\ngiven = []", "missing of"),
    ("[[secrets]]\nof = []", "at least one function"),
    ("[[secrets]]\nof = { kind = 'leters', records = [0] }", "did you mean 'letters'"),
    ("[[secrets]]\nof = { kind = 'letters', records = 0 }", "records must be a list of numbers of records"),
    ("[[secrets]]\nof = { kind = 'letters', record = [0] }", "unknown key 'record'"),
    ("[[secrets]]\nof = { kind = 'count' }\nwhat = 1", "unknown key 'what'"),
)
def test_files_that_cannot_be_read(tables, said):
    with pytest.raises(dl.errors.InputError, match=said) as failure:
        loads(MODEL + tables)
    assert "\n" not in str(failure.value)


def test_what_stops_a_search_leaves_a_proved_interval():
    secrets = [dl.Secret(dl.ModularSum(3)), MAJORITY]
    problem = asked(records=dl.Records(6, alphabet=2), secrets=secrets)
    result = dl.solve(problem, gap=0.0, node_limit=1)
    assert result.lower <= result.upper
    assert dl.verify(problem, result.certificate).proved
