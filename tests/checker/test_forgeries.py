"""No forged certificate is proved; and the same forgeries find out a checker that has a hole."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import dalenius_check
from campaigns import draws
from dalenius_check import Status, Verdict, check

SEED = 7
THIN = 160

# Where a checker does less than docs/certificate-format.md says: a name, the file, the piece, and what it is instead
OFTEN = [
    ("infeasible prior", "proof.py", "if self.model.entropy != 0:", "if self.model.entropy < 0:"),
    ("record not covered", "proof.py", "need(self.signature(j) in known,", "need(True,"),
    ("entropy twice", "curve.py", "start - slope * self.entropy", "start - 2 * slope * self.entropy"),
    ("off budget", "design.py", "need(expected <= (self.budget if self.leakage else ends[0]),", "need(True,"),
    ("open comparison", "numbers.py", "if (small <= large) is True:", "if (small > large) is not True:"),
    ("infeasible with an objective", "design.py", "fmpq(0 if nothing or several else 1)", "fmpq(1)"),
    ("chain uncovered", "walks.py", "need(i in seen or i in mirrored,", "need(True,"),
    (
        "letters beyond their ranges",
        "letter_chains.py",
        "need(all(lo <= x <= hi for x, (lo, hi) in zip(point, box, strict=True)),",
        "need(True,",
    ),
    (
        "least share of a rare letter",
        "letter_bounds.py",
        "rare, chi = -(-most * far // scale),",
        "rare, chi = -(-least * far // scale),",
    ),
]
SELDOM = [
    (
        "chain beyond its box",
        "chains.py",
        "need(all(lo <= x <= hi for x, (lo, hi) in zip(point, box, strict=True)),",
        "need(True,",
    ),
    ("other half of a chain", "chain_lines.py", "box[j] = t, hi", "box[j] = hi, hi"),
    ("mirror of any start", "walks.py", "if self.chain.mirrored else", "if True else"),
    ("another record's path", "chains.py", 'need(i in self.asked, f"record', 'need(True, f"record'),
    ("steps for nothing", "chain_lines.py", "result += larger(arb(0), far) if", "result += arb(0) if"),
    ("steps of no length", "chain_lines.py", "(end - point[j] for end in box[j])", "(fmpq(0) for _ in box[j])"),
    (
        "tilt without noise",
        "chain_lines.py",
        "phi *= (1 - q) * (1 - q) / ((1 - q * turn) * (1 - q / turn))",
        "pass",
    ),
    ("letters around a half", "chain_lines.py", "if 2 * low <= 1 <= 2 * high:", "if False:"),
    ("letters of the other end", "chain_lines.py", "arb(high if 2 * high < 1 else low)", "arb(low)"),
    (
        "window without fourth moments",
        "chain_lines.py",
        "arb(min((1 - 3 * v) * spread / (3 * v), high))",
        "arb(0)",
    ),
    ("half of a window", "chain_lines.py", "return -larger(-plain, -less)", "return -larger(-plain, -less) / 2"),
    ("no path", "walks.py", 'need(lower <= 0, "no witness', 'need(True, "no witness'),
    (
        "derivative of nothing",
        "chains.py",
        "first[1], second[1] = taken(first[1], from_zero[0]), added(second[1], from_zero[0])",
        "pass",
    ),
    (
        "share of the other letter",
        "chains.py",
        "log = Span(_log(mass.low, other.high, shares[x].high), _log(mass.high, other.low, shares[x].low))",
        "log = Span(*(_log(m, o, s) for m, o, s in zip(mass, other[::-1], shares[1 - x][::-1])))",
    ),
    ("row of any sum", "letter_chains.py", "need(all(total(group) == 1 for group in groups),", "need(True,"),
    ("mirror of letters", "letter_chains.py", "mirrored = False", "mirrored = True"),
    (
        "rows for nothing",
        "letter_bounds.py",
        "result += max(x * (end - self.point[at]) for x in ends for end in self.box[at]) / scale",
        "pass",
    ),
    (
        "wide rows overlooked",
        "letter_bounds.py",
        "if any(lo < hi for lo, hi in box[a * k : (a + 1) * k])]",
        "if False]",
    ),
    ("nothing of second order", "letter_bounds.py", " + self._second_order()", ""),
    (
        "start of a row",
        "letter_chains.py",
        "self.start = point[k * k :] or stationary(self.rows)",
        "self.start = point[:k]",
    ),
    (
        "nothing added",
        "letter_chains.py",
        "lists = [row + [arb(0)] * (self.chain.most + 1 - len(row)) for row in lists]",
        "lists = [[arb(0)] * self.chain.most + row[-1:] for row in lists]",
    ),
    ("selection not listed", "proof.py", "need(not missing,", "need(True,"),
    (
        "not private",
        "privacy.py",
        "all(x <= c * mean for x, mean in pairs)",
        "all(x <= 2 * c * mean for x, mean in pairs)",
    ),
    ("mass nowhere", "proof.py", "need(total(x for row in masses for _, x in row) == 1,", "need(True,"),
    ("no witness", "proof.py", 'need(lower <= 0, "no witness', 'need(True, "no witness'),
    ("zero in a law", "groups.py", "need(q > 0 or channel.vanishes(y, inputs),", "need(True,"),
    ("half a tree", "certificate.py", "waiting.append(other)", "pass"),
    (
        "a half in the other",
        "box.py",
        "            self.back(depth)\n            for j, place in above:",
        "            for j, place in above:",
    ),
    (
        "a class in the other",
        "box.py",
        "self._keep(a, others, self.sets[a] - others)",
        "self._keep(a, self.sets[a] - others, others)",
    ),
    ("uniform anyway", "tree.py", "need(self.model.is_uniform(),", "need(True,"),
    (
        "one end of a line",
        "bounds.py",
        "larger(factor * f - slope * lo, factor * g - slope * hi)",
        "factor * f - slope * lo",
    ),
    ("tau", "bounds.py", "tau = 1 - self.theta + self.mu", "tau = self.mu"),
    ("information", "bounds.py", "- sum(map(xlogx, letters + outputs), arb(0))", "- sum(map(xlogx, outputs), arb(0))"),
    ("inner enclosure", "numbers.py", "min(fmpq(1), fmpq(above, scale))", "min(fmpq(1), fmpq(below, scale))"),
    ("not normalised", "numbers.py", "return once(weights, lambda x: x / whole)", "return list(weights)"),
    ("negative weights", "read.py", 'need(result >= 0, f"{what} must be nonnegative")', "need(True, what)"),
    ("distortion", "ground.py", "return total(p * total(q * d", "return total(p * p * total(q * d"),
    ("leaks after all", "design.py", "free and channel.constant", "free"),
    ("no dual", "design.py", 'need(lower is not None and lower <= 0, "no dual', 'need(True, "no dual'),
    ("weight of leakage", "design.py", "self.unit) * arb(weights)", "self.unit)"),
    ("zero in a posterior", "gains.py", "need(not held or all(column[a] for column in columns),", "need(True,"),
    ("shifts", "design.py", "(v + z) % size] for v", "v % size] for v"),
    ("feasible distortion", "design.py", "need(least > self.budget,", "need(True,"),
    ("feasible leakage", "design.py", 'need(self.budget < 0, "a mechanism', 'need(True, "a mechanism'),
    ("feasible privacy", "privacy.py", "need(self.negative,", "need(True,"),
    ("row missed", "constraints.py", 'rows.need_met(laws, f"constraint {j}", self.allowance)', "pass"),
    ("some rows missed", "rows.py", "for r in range(self.count):", "for r in range(min(1, self.count)):"),
    ("cone missed", "constraints.py", 'cone.need_met(laws, f"constraint {j}")', "pass"),
    ("norm of a multiplier", "multipliers.py", "need(total(x * x for x in u) <= t * t,", "need(True,"),
    ("behind a row", "multipliers.py", "behind.append(mu * most)", "pass"),
    ("behind a cone", "multipliers.py", "behind.append(factor * constant)", "pass"),
    ("rows of a multiplier", "multipliers.py", "add(x, y, mu * c)", "pass"),
    ("weight for nothing", "given.py", "* other.ball", "* arb(0)"),
    ("other limit", "constraints.py", "proof.bound(limit.ball)", "proof.bound(limit.ball + limit.ball)"),
    (
        "constant for others",
        "channel_matrix.py",
        "self.exact and all(row == self.rows[0] for row in self.rows)",
        "True",
    ),
    ("others left out", "design.py", "tally += self.constraints.need_kept(lines, channel)", "pass"),
    ("infeasible at zero", "numbers.py", "(gt, le) if low is None", "(ge, lt) if low is None"),
    ("sign of a multiplier", "multipliers.py", "rows.equal or mu >= 0", "True"),
    ("infeasible and private", "privacy.py", "if nothing or given.objective.given else rows", "if False else rows"),
    (
        "less than terms",
        "objective.py",
        "need((max(parts) if self.largest else total(parts)) <= claim",
        "need(True or claim",
    ),
    ("groups for nothing", "groups.py", "level.costs = [x - y - z for", "level.costs = [arb(0) for"),
    ("groups not normalised", "groups.py", "return [law[y] for y in range(channel.outputs)]", "return weights"),
    ("groups of some outputs", "groups.py", "need(sorted(chain(*found)) == list(range(size)),", "need(True,"),
    (
        "sorted anyhow",
        "rowtree.py",
        "listed.need_symmetry(self.stated, self.a, self.families[0].box[0], self.orders)",
        "pass",
    ),
    ("weights of terms", "objective.py", "need(fits, \"the terms' weights", "need(True, \"the terms' weights"),
    ("sum of terms", "objective.py", "(max(parts) if self.largest else total(parts))", "max(parts)"),
    ("leakage of terms", "objective.py", "proof.bound(arb(ends[j]))", "proof.bound(arb(99))"),
    ("orbits of anything", "symmetries.py", "            self.exchange.need_channel(level.record, b, a)\n", ""),
    (
        "orbits of letters",
        "symmetries.py",
        "self.exchange.need_channel(level.record, b, a)",
        "self.exchange.need_channel(level.record, b, b)",
    ),
    ("images of anything", "symmetries.py", "        self.need_channel(stated.level.record, b, a)\n", ""),
    (
        "images before another law",
        "symmetries.py",
        "        self.need_law(stated.law)\n        need(_same_ranges",
        "        need(_same_ranges",
    ),
    ("lines at one end", "curve.py", "(start <= first) is True and (end <= last) is True", "(start <= first) is True"),
    ("lines at the other", "curve.py", "(start <= first) is True and (end <= last) is True", "(end <= last) is True"),
    (
        "lines apart",
        "curve.py",
        "(start <= first) is True and (end <= last) is True",
        "any((start <= one) is True for one, _ in self.ends) and (end <= last) is True",
    ),
    (
        "lines beside the claim",
        "curve.py",
        '            at_most(c - m * entropy, upper, "a line of the curve <= upper")',
        "            pass",
    ),
    ("numbers at one bound", "proof.py", "for self.model, low in found.below:", "for _, low in found.below:"),
    ("numbers beyond", "curve.py", "    held.need_feasible()\n", ""),
    ("one adversary for all", "tree.py", 'need(ceiling.one or item[0] != "uniform",', "need(True,"),
    ("law of no class", "adversaries.py", "self.held.law(weights, size)", "super().law(weights, size)"),
    ("mean of the center", "classes.py", "largest(numbers) if self.radius else", "largest(numbers) if False else"),
    ("ball without a radius", "classes.py", "t * (log_sum_exp(terms) + arb(self.radius))", "t * log_sum_exp(terms)"),
    ("unsorted letters", "classes.py", "key=values.__getitem__)", "key=lambda a: a)"),
    ("limit missed", "constraints.py", "limited.need_met(laws)", "pass"),
    ("tangent for nothing", "tangents.py", "behind.append(weight * most)", "behind.append(fmpq(0))"),
    ("information for nothing", "given.py", "arb(factor) * limited.ball", "arb(0)"),
    ("steep tangent", "limits.py", "need(-1 <= found <= 1,", "need(True,"),
    ("sums left out", "reports.py", "else (1 - within) * self.epsilon", "else arb(0)"),
    ("rest of a mixture", "reports.py", "arb(0) if above else (1 - within)", "(1 - within)"),
    ("development cut off", "members.py", "expansion - moments[last] * least / last if above", "expansion if above"),
    ("mixture from below", "class_tree.py", "how, above=True)", "how, above=False)"),
    ("witness from above", "class_tree.py", "how, above=False)", "how, above=True)"),
    ("a histogram's patterns", "histogram.py", "for pattern in every:", "for pattern in ():"),
    (
        "a histogram's ratios",
        "histogram.py",
        "mean = scored.mean(scored.of(pattern, empty[len(pattern)]), logs)",
        "mean = steps.cost(pattern)",
    ),
    ("letters of a histogram", "histogram.py", 'at_most(arb(self.cells.count).log(), upper, "log k <= upper")', "pass"),
    (
        "scores of a witness",
        "histogram.py",
        "arb(k).log() + steps.told[m] - scored",
        "2 * arb(k).log() + steps.told[m] - scored",
    ),
    (
        "a secret uncovered",
        "informed.py",
        'need(known, f"the file ends, but secret',
        'need(True, f"the file ends, but secret',
    ),
    (
        "mean without entropy",
        "informed.py",
        "arb(t) * (soft - self.model.entropy_ball())",
        "arb(t) * (soft - 2 * self.model.entropy_ball())",
    ),
    (
        "cells of nothing",
        "class_tree.py",
        "used = frozenset[int]().union(*classes.sets) if all(classes.sets) else frozenset()",
        "used = frozenset[int]()",
    ),
    (
        "law of a secret's witness",
        "dataset_laws.py",
        "elif model.entropy != 0 and any(p != law[0] for p in law):",
        "elif False:",
    ),
    ("no law of a secret", "informed.py", 'need(lower <= 0, "no witness', 'need(True, "no witness'),
    ("weights that add up to anything", "separate.py", "result = arb(nu) + absent", "result = absent"),
    (
        "one end of an output",
        "separate.py",
        "return largest([end, value - arb(z) * slope, value + (turn - arb(z)) * slope])",
        "return end",
    ),
    ("unknown mechanism", "__init__.py", "Status.RESOLVED if model.foreign else Status.PROVED", "Status.PROVED"),
]
HOLES = [
    *(pytest.param(*hole, id=hole[0]) for hole in OFTEN),
    *(pytest.param(*hole, id=hole[0], marks=pytest.mark.thorough) for hole in SELDOM),
]


FEW = {  # of holes in what only models of a kind need, by file or name: which models they are looked for among
    "others left out": "constraints",
    "least share of a rare letter": "vanishing",
    "histogram.py": "cells",
    "separate.py": "apart",
    "dataset_laws.py": "secret",
    "informed.py": "secret",
    "objective.py": "terms",
    "class_tree.py": "mixtures",
    **dict.fromkeys(("multipliers.py", "constraints.py"), "constraints"),
}


@pytest.fixture(scope="module")
def few(forgeries):
    """Models of a kind."""
    rng, new = random.Random("models daily"), forgeries.forgery_releases
    found = {make.__name__: [make(rng, f"{make.__name__}-{k}") for k in range(6)] for make in new.MAKERS}
    limits = [forgeries.forgery_limits.told(rng, k) for k in range(9)]
    found["constraints"] = forgeries.forgery_constraints.drawn(rng, 24) + limits
    found["terms"] = [forgeries.forgery_lines.objective(rng, f"objective-{k}") for k in range(9)]
    found["mixtures"] = [forgeries.forgery_protocols.spoken(rng, k) for k in range(8)] + found["secret"][:2]
    found["vanishing"] = [forgeries.forgery_chains.vanished(rng, k) for k in range(6)]
    return found


@pytest.fixture(scope="module")
def subjects(forgeries):
    """Models whose answer is known; in a whole campaign those of the library with short certificates, too."""
    return forgeries.subjects_of("daily", draws(36, 60), draws(0, 2600))


@pytest.fixture(scope="module")
def walks(forgeries):
    """Markov chains of every kind, for holes in what only they need."""
    rng = random.Random("models daily")
    return [forgeries.forgery_chains.walked(rng, k) for k in range(21)]


def test_honest_certificates_are_proved_to_forty_digits_by_both_arithmetics(subjects, forgeries):
    for subject in subjects:
        text = forgeries.text_of(subject.parents[0])
        for arithmetic in ("flint", "python"):
            verdict = check(subject.model, text, resolved=subject.resolved, arithmetic=arithmetic)
            expected = Status.RESOLVED if subject.resolved else Status.PROVED
            assert verdict.status is expected, f"{subject.name}: {verdict.reason}"


def test_no_forgery_is_accepted_and_the_arithmetics_agree(subjects, forgeries):
    tally = forgeries.Forger(subjects, SEED, "both").run(THIN)
    assert not tally.offences
    assert tally.forgeries == THIN
    assert tally.climbs["proved"] > 0


@pytest.mark.thorough
@pytest.mark.parametrize("number", range(3))
def test_no_forgery_of_a_campaign_is_accepted(number, forgeries):
    tally = forgeries.block((2, number, forgeries.BLOCK, "both", 40, 4200, 0))
    assert not tally.offences


def test_what_holes_are_planted_in_is_there():
    """Also those of the whole campaign, whose places move while nobody looks."""
    package = Path(dalenius_check.__file__).parent
    for name, file, old, new in (*OFTEN, *SELDOM):
        assert old != new
        assert (package / file).read_text().count(old) == 1, f"{name}: {file}"


@pytest.mark.parametrize(("name", "file", "old", "new"), HOLES)
def test_a_checker_with_a_hole_is_noticed(name, file, old, new, planted, subjects, walks, few, forgeries):
    module = planted(name.replace(" ", "_").replace("'", "_"), file, old, new)
    chains = walks if file.startswith(("chain", "letter", "walks")) else subjects
    subjects = few.get(FEW.get(name, FEW.get(file, "")), chains)
    tally = forgeries.Forger(subjects, SEED, "flint", module.check).run(draws(2500, 30_000), first=True)
    assert tally.accepted


def test_what_is_accepted_is_written_down_and_ends_with_1(forgeries, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(forgeries, "check", lambda *_, **__: Verdict(Status.PROVED, "proved: anything"))
    options = ["--drawn", "4", "--solved", "0", "--largest", "0", "--output", str(tmp_path / "forged")]
    assert forgeries.main(["--count", "3", *options]) == 1
    assert "3 forgeries of 7 models: " in capsys.readouterr().out.splitlines()[-1]
    header = json.loads((tmp_path / "forged" / "0.cert").read_bytes().splitlines()[0])
    assert header["producer"] == "a forger"
    assert b"problem" in (tmp_path / "forged" / "0.toml").read_bytes()
    monkeypatch.undo()
    assert forgeries.main(["--count", "3", *options]) == 0
