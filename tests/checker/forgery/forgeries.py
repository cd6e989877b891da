"""A campaign of forgeries against the checker: certificates of false claims, not one of which may be proved.

    PYTHONPATH=tests:tests/checker python tests/checker/forgery/forgeries.py --count 300000 --arithmetic both --seed 1

A *forgery* is a model and a certificate whose claim is false by construction: an end of its interval is on the wrong side of the
answer (known in closed form, or from an honest certificate that it contradicts), by half of it down to 1e-44 of it; or it claims
numbers of a model that no mechanism meets, or that of one that some do; or its mechanism misses its budget; or its ends are no
numbers of the format. Evidence is honest, or edited by one to three kinds (`forgery_kinds.py`). Edits whose certificates are still
proved for a true claim a little looser become parents of further forgeries (*climbs*, counted apart).

A campaign is blocks of 10,000 with models of their own, each determined by the seed and its number. It ends with one line, and
exit status 1 if anything happened that must not: a false claim accepted, one arithmetic that proves what the other rejects, an
exception, a defect that the checker itself reports, or a check of several seconds. What did is written to a folder.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import forgery_chains
import forgery_constraints
import forgery_corpus
import forgery_funnels
import forgery_kinds
import forgery_limits
import forgery_lines
import forgery_protocols
import forgery_releases
import forgery_subjects
import forgery_sums
import forgery_symmetries
from dalenius_check import ModelFile, Verdict, check
from forgery_drafts import Draft, clone, odd_text, text_of, value_of
from forgery_edits import ODD
from forgery_subjects import Certificate, Subject, claimed

Check = Callable[..., Verdict]

BLOCK = 10_000
SLOW = 4.0  # seconds of this process
HEAVY = 300  # mebibytes that the process grew by
ACCEPTED = ("proved", "resolved")
ARITHMETICS = {"flint": ("flint",), "python": ("python",), "both": ("flint", "python")}


@dataclass(frozen=True)
class Offence:
    """What must not happen."""

    what: str
    kinds: str
    subject: str
    model: bytes
    certificate: bytes

    def write(self, folder: Path, number: int) -> None:
        """The model, the certificate and what happened, as files."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.toml").write_bytes(self.model)
        (folder / f"{number}.cert").write_bytes(self.certificate)
        (folder / f"{number}.txt").write_text(f"{self.what}\n{self.subject}: {self.kinds}\n")


@dataclass
class Tally:
    """What a campaign came to."""

    forged: Counter[str] = field(default_factory=Counter)  # by kind; a forgery of several kinds counts for each
    ended: Counter[str] = field(default_factory=Counter)  # forgeries by status, of each arithmetic
    climbs: Counter[str] = field(default_factory=Counter)
    models: int = 0
    forgeries: int = 0
    slowest: float = 0.0
    offences: list[Offence] = field(default_factory=list)

    @property
    def accepted(self) -> int:
        """False claims that were accepted."""
        return sum("accepted" in offence.what for offence in self.offences)

    def add(self, other: Tally) -> None:
        """Another block's."""
        self.forged += other.forged
        self.ended += other.ended
        self.climbs += other.climbs
        self.models += other.models
        self.forgeries += other.forgeries
        self.slowest = max(self.slowest, other.slowest)
        self.offences += other.offences

    def __str__(self) -> str:
        ends = ", ".join(f"{name} {count}" for name, count in sorted(self.ended.items()))
        climbs = ", ".join(f"{count} {name}" for name, count in sorted(self.climbs.items()))
        return (
            f"{self.forgeries} forgeries of {self.models} models: {self.accepted} accepted, {len(self.offences)} offences ({ends}; "
            f"true claims on the way: {climbs}; slowest {self.slowest:.2f} s)"
        )


class Forger:
    """Forges certificates of some models, and has them checked."""

    def __init__(
        self,
        subjects: list[Subject],
        seed: object,
        arithmetic: str = "flint",
        checker: Check | None = None,
        only: tuple[str, ...] = (),
    ) -> None:
        self.subjects, self.rng, self.checker = subjects, random.Random(str(seed)), checker or check
        self.arithmetics = ARITHMETICS[arithmetic]
        self.read: dict[tuple[Subject, str], ModelFile] = {}  # by arithmetic, for this checker
        self.tally = Tally(models=len(subjects))
        self.climbed: dict[Subject, list[Certificate]] = {subject: [] for subject in subjects}
        self.kinds = {
            problem: {
                kind: share for kind, share in forgery_kinds.kinds(problem).items() if kind.__name__ in only or not only
            }
            for problem in forgery_subjects.UNITS
        }

    def run(self, count: int, first: bool = False) -> Tally:
        """So many forgeries; up to the first that is accepted, if that is wanted."""
        while self.tally.forgeries < count and not (first and self.tally.accepted):
            self.once()
        return self.tally

    def once(self) -> None:
        """One forgery, or one climb."""
        rng, subject = self.rng, self.rng.choice(self.subjects)
        draft = Draft(rng, subject, clone(rng.choice(subject.parents + self.climbed[subject])), self.subjects)
        climbing = subject.feasible and rng.random() < 0.12
        names = self.edit(draft, 1 if climbing else rng.choice([1, 1, 1, 2, 2, 3]))
        if not (loosened(draft) if climbing else falsified(draft)):
            return
        text = text_of(draft.lines)
        if rng.random() < 0.04 and not draft.beside:
            text = odd_text(rng, text, draft)
            names.append("odd_text")
        if climbing:
            self.climb(draft, text, names)
        else:
            self.forge(draft, text, names)

    def edit(self, draft: Draft, wanted: int) -> list[str]:
        """Edit a draft by so many kinds, and name them; a kind that gives up leaves it as it was."""
        known, honest = self.kinds[draft.subject.problem], draft.lines in draft.subject.parents
        names: list[str] = []
        before = draft.state()
        for kind in sorted(known, key=lambda kind: self.rng.random() ** (1 / known[kind]), reverse=True):
            if len(names) == wanted or draft.claim:
                break
            try:
                applied = kind(draft) is not False
            except (TypeError, ValueError, IndexError, KeyError, AttributeError, ArithmeticError):
                if honest and not names:  # a kind copes with whatever is honest; an edit or a climb may be anything
                    raise
                applied = False
            if applied:
                names.append(kind.__name__)
                before = draft.state()
            else:
                draft.restore(before)
        return names

    def forge(self, draft: Draft, text: bytes, names: list[str]) -> None:
        """Check a false claim."""
        self.tally.forgeries += 1
        self.tally.forged.update(set(names) or {"nothing"})
        for arithmetic, verdict in self.verdicts(draft.subject, text, names):
            self.tally.ended[f"{arithmetic} {verdict.status.value}"] += 1
            if verdict.status.value in ACCEPTED:
                self.offence(f"accepted by {arithmetic}: {verdict.reason}", draft.subject, text, names)

    def climb(self, draft: Draft, text: bytes, names: list[str]) -> None:
        """Check a claim that is true, and keep its evidence if it proves that."""
        subject = draft.subject
        verdicts = dict(self.verdicts(subject, text, names))
        self.tally.climbs.update(verdict.status.value for verdict in list(verdicts.values())[:1])
        for arithmetic, verdict in verdicts.items():
            if verdict.status.value not in ACCEPTED:
                return
            below = verdict.upper is not None and verdict.upper < subject.low
            if verdict.lower is None or verdict.lower > subject.high or below:
                self.offence(f"accepted by {arithmetic}: {verdict.reason}", subject, text, names)
                return
        if len(text) < 6000 and "odd_text" not in names:
            kept = self.climbed[subject]
            kept.insert(self.rng.randint(0, len(kept)), draft.lines)
            del kept[10:]

    def verdicts(self, subject: Subject, text: bytes, names: list[str]) -> Iterator[tuple[str, Verdict]]:
        """What each arithmetic says; one may not prove what the other rejects."""
        found: dict[str, str] = {}
        opted = subject.resolved and self.rng.random() < 0.8
        for arithmetic in self.arithmetics:
            before, size = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            try:
                verdict = self.checker(self.model(subject, arithmetic), text, resolved=opted, arithmetic=arithmetic)
            except Exception as error:  # noqa: BLE001 - the checker says that it never raises
                self.offence(f"raised by {arithmetic}: {error!r}", subject, text, names)
                continue
            took, grown = time.process_time() - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - size
            self.tally.slowest = max(self.tally.slowest, took)
            for wrong, what in (
                (took > SLOW, f"{took:.1f} s"),
                (grown > HEAVY * 1024, f"{grown // 1024} MiB"),
                ("internal error" in verdict.reason, verdict.reason),
                (
                    verdict.status.value == "proved" and subject.resolved,
                    "accepted: a mechanism of a kind that is not known",
                ),
                (verdict.status.value == "resolved" and not opted, "accepted: a matrix, without the opt-in"),
            ):
                if wrong:
                    self.offence(f"{arithmetic}: {what}", subject, text, names)
            found[arithmetic] = verdict.status.value
            yield arithmetic, verdict
        if "rejected" in found.values() and any(status in ACCEPTED for status in found.values()):
            self.offence(f"the arithmetics disagree: {found}", subject, text, names)

    def model(self, subject: Subject, arithmetic: str) -> bytes | ModelFile:
        """What the checker is handed: a model is read once, since those of many records take longer than most forgeries."""
        if self.checker is not check:
            return subject.model
        return self.read.setdefault((subject, arithmetic), ModelFile(subject.model))

    def offence(self, what: str, subject: Subject, text: bytes, names: list[str]) -> None:
        """Note what must not happen."""
        self.tally.offences.append(Offence(what, "+".join(names), subject.name, subject.model, text))


def loosened(draft: Draft) -> bool:
    """Put in a claim that is true, and not by much; say whether that could be done."""
    subject, rng = draft.subject, draft.rng
    if draft.claim:
        return False
    scale = max(subject.high, Fraction(1, 100))
    away = [scale / 10 ** rng.randint(1, rng.choice([3, 8, 20])) for _ in range(2)]
    draft.header["lower"] = claimed(max(subject.low - away[0], Fraction(0)), "floor")
    draft.header["upper"] = claimed(subject.high + away[1], "ceiling")
    return True


def falsified(draft: Draft) -> bool:
    """Put in a claim that is false; say whether that could be done."""
    subject, rng, head = draft.subject, draft.rng, draft.header
    low, high = subject.low, subject.high
    if subject.resolved and head.get("resolved") != subject.parents[0][0]["resolved"]:
        return False  # it may be true of another matrix
    if rng.random() < 0.03 and subject.feasible:
        # Ends that are no numbers of the format: nothing that could be proved
        head["lower"], head["upper"] = rng.choice(ODD), rng.choice(["1", "0.5", *ODD])
        return any(not isinstance(head[end], str) or value_of(head[end]) is None for end in ("lower", "upper"))
    if not subject.feasible:
        return numbers_for_nothing(draft)
    if draft.claim:
        head.update(draft.claim)
        if "upper" not in draft.claim:
            above = Fraction(draft.claim["lower"])
            head["upper"] = claimed(above + rng.choice([0, 1, above, draft.small()]), "ceiling")
        return True
    step = draft.step if draft.step is not None and rng.random() < 0.7 else draft.small()
    delta = max(high, Fraction(1, 10**6)) * min(step, Fraction(1)) / 10 ** rng.choice([0, 0, 1, 2, 3])
    side = rng.choice(["lower", "upper"]) if low > forgery_subjects.MARGIN else "lower"
    if side == "lower":
        false = claimed(high + delta, "ceiling")
        head["lower"], head["upper"] = false, claimed(Fraction(false) + rng.choice([0, 1, delta, high]), "ceiling")
    else:
        false = claimed(low - min(delta, low / 2), "floor")
        below = rng.choice(
            [
                "0",
                "0",
                false,
                claimed(Fraction(false) / 2, "floor"),
                claimed(Fraction(false) - min(delta, Fraction(false)), "floor"),
                "-1",
            ]
        )
        head["lower"], head["upper"] = below, false
    return Fraction(head["lower"]) > high or Fraction(head["upper"]) < low


def numbers_for_nothing(draft: Draft) -> bool:
    """An interval for a model that no mechanism meets, with a mechanism and evidence of others."""
    rng, head, question = draft.rng, draft.header, draft.subject.question
    head["lower"], head["upper"] = (
        rng.choice(["0", "-1", "1e-30", "0.1"]),
        rng.choice(["0.1", "0.2", "1", "10", "1e300"]),
    )
    count, width = question.input_count, len(question.distortions[0])
    rows = 1 if question.table["mechanism"]["class"] == "additive" else count
    cheap = [["1" if d == min(ds) else "0" for d in ds] for ds in question.distortions][:rows]
    head["mechanism"] = rng.choice(
        [cheap, [["1"] * width for _ in range(rows)], [draft.law(width) for _ in range(rows)]]
    )
    if rng.random() < 0.7:
        donors = [other for other in draft.others if other.problem == draft.subject.problem and other.feasible]
        lines = clone(rng.choice(rng.choice(donors).parents))[1:] if donors else []
        draft.lines[1:] = lines if rng.random() < 0.5 else [["dual", rng.choice([None, "0"])], *lines[1:]]
    return True


def subjects_of(seed: object, drawn: int, largest: int, solved: int = 0) -> list[Subject]:
    """Models drawn, those of the library whose certificates have at most so many bytes, and some that the prover solves."""
    rng = random.Random(f"models {seed}")
    found = [*forgery_subjects.drawn(rng, drawn), forgery_subjects.foreign(), *forgery_subjects.library(largest)]
    found += forgery_constraints.drawn(rng, drawn // 5) + forgery_lines.drawn(rng, drawn // 5)
    found += forgery_symmetries.drawn(rng, drawn // 5)
    found += [forgery_subjects.held(rng, k) for k in range(drawn // 4)]
    found += [forgery_protocols.spoken(rng, k) for k in range(drawn // 8)]
    found += [forgery_limits.told(rng, k) for k in range(drawn // 4)]
    found += [forgery_chains.walked(rng, k) for k in range(drawn // 5)]
    found += [forgery_releases.released(rng, k) for k in range(drawn // 6)]
    return found + forgery_subjects.solved(rng, solved)


def block(job: tuple[int, int, int, str, int, int, int]) -> Tally:
    """One block of a campaign."""
    seed, number, count, arithmetic, drawn, largest, solved = job
    rng = random.Random(f"vanishing {seed, number}")  # apart: which models a thin draw has is left as it is
    more = [forgery_chains.vanished(rng, k) for k in range(drawn // 10)]
    more += forgery_corpus.drawn(rng, drawn // 12) + forgery_corpus.subjects(drawn // 20)
    makers = forgery_funnels.funnel, forgery_funnels.several, forgery_funnels.potential
    more += [make(rng, k) for make in makers for k in range(drawn // 10)]
    more += [forgery_sums.summed(rng, k) for k in range(drawn // 10)]
    return Forger(subjects_of((seed, number), drawn, largest, solved) + more, (seed, number), arithmetic).run(count)


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Forge certificates of false claims and have them checked.")
    parser.add_argument("--count", type=int, default=10_000, help="how many forgeries")
    parser.add_argument(
        "--arithmetic", choices=sorted(ARITHMETICS), default="flint", help="which of the checker's, or both, compared"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    parser.add_argument("--drawn", type=int, default=40, help="models drawn a block")
    parser.add_argument(
        "--largest", type=int, default=4200, help="bytes that a certificate of the library may have to start from"
    )
    parser.add_argument("--solved", type=int, default=8, help="models a block that are drawn and solved by dalenius")
    parser.add_argument("--output", type=Path, default=Path("forged"), help="the folder for what must not happen")
    options = parser.parse_args(arguments)
    counts = [min(BLOCK, options.count - start) for start in range(0, options.count, BLOCK)]
    jobs = [
        (options.seed, number, count, options.arithmetic, options.drawn, options.largest, options.solved)
        for number, count in enumerate(counts)
    ]
    total, before = Tally(), time.monotonic()
    for tally in run_blocks(jobs, options.jobs):
        for offence in tally.offences:
            offence.write(options.output, len(total.offences))
            total.offences.append(offence)
            say(f"{offence.what} [{offence.subject}: {offence.kinds}]")
        tally.offences = []
        total.add(tally)
        say(f"{total.forgeries} of {options.count}, {time.monotonic() - before:.0f} s, {len(total.offences)} offences")
    say("by kind: " + ", ".join(f"{name} {count}" for name, count in total.forged.most_common()))
    say(f"{total}, {time.monotonic() - before:.0f} s, arithmetic {options.arithmetic}, seed {options.seed}")
    return 1 if total.offences else 0


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def run_blocks(jobs: Iterable[Any], processes: int) -> Iterator[Tally]:
    """The blocks' tallies, in their order."""
    if processes == 1:
        yield from map(block, jobs)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(block, jobs)


if __name__ == "__main__":
    sys.exit(main())
