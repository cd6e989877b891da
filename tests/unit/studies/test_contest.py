"""Rivals' settings, read from texts."""

import dalenius as dl
import support
from dalenius.baselines import DesignSettings, LeakageSettings
from dalenius.studies.contest import settings_from_text
from support import refuses

AUDIT = dl.load("parity/laplace-n4")
DESIGN = support.design(dl.MinLeakage, dl.Records(2, alphabet=2), dl.Parity(), dl.Hamming(), 0.1, 0.5)


def test_settings_inside_settings():
    found = settings_from_text(AUDIT, ["paper-full.conditional.step=0.1", "paper-full.conditional.rows=warm"])
    defaults = LeakageSettings()
    assert found["paper-full"].conditional.step == 0.1
    assert found["paper-full"].conditional.rows == "warm"
    assert found["paper-full"].marginal == defaults.marginal
    found = settings_from_text(DESIGN, ["paper-aggregated.leakage.conditional.step=2", "paper-aggregated.rounds=1e1"])
    assert found["paper-aggregated"].leakage.conditional.step == 2
    assert found["paper-aggregated"].rounds == 10
    assert found["paper-aggregated"].mechanism == DesignSettings().mechanism


test_what_is_no_setting = refuses(
    (AUDIT, "slsqp.iterations", "expected METHOD.NAME=VALUE, got 'slsqp.iterations'"),
    (AUDIT, "slsqp=3", "expected METHOD.NAME=VALUE"),
    (AUDIT, "certified.gap=3", ["expected one of paper-full, ", " before the dot, got 'certified'"]),
    (AUDIT, "slsqp.iteration=3", "expected one of tolerance, iterations; got 'iteration' (did you mean 'iterations'"),
    (AUDIT, "slsqp.iterations=0", "slsqp.iterations: iterations: expected a number above 0, got 0"),
    (AUDIT, "slsqp.iterations=many", "expected a number above 0, got 'many'"),
    (AUDIT, "slsqp.tolerance=nan", "expected a number above 0, got nan"),
    (AUDIT, "paper-full.conditional=3", "expected one of tolerance, iterations, marginal.NAME, conditional.NAME"),
    (AUDIT, "paper-full.tolerance.step=3", "expected one of tolerance"),
    (AUDIT, "paper-full.conditional.rows=cold", "rows: expected fresh or warm, got 'cold'"),
    (DESIGN, "scip.gap=1e-3", "scip has none on this problem"),
    (DESIGN, "slsqp.iterations=5", "slsqp has none on this problem"),
    by=lambda problem, text: settings_from_text(problem, [text]),
)
