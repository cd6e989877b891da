"""The commands convert and compose: what a guarantee in one notion says in another, and what several releases tell together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dalenius as dl
from cvxcertify.errors import brief
from dalenius.cli.answers import Ends, write_answer
from dalenius.cli.gates import Budget, at_most_met, require_at_most
from dalenius.cli.shared import drawn, err, out, print_table, read_problem, units_shown
from dalenius.conversions import NOTIONS, Conversion
from dalenius.conversions.door import convert_with
from dalenius.conversions.rule import EPSILON, EXAMPLES, Facts, by_subject, notion_of
from dalenius.conversions.search import fewest_missing
from dalenius.errors import InputError, naming
from dalenius.exact import need_unit
from dalenius.files import need_places
from dalenius.measures.answer import units_of
from dalenius.model import digest
from dalenius.model.problems.worst_case_leakage import audited
from dalenius.studies.composition import Answer, composed, need_composable


def compose(
    files: list[str],
    adaptive: bool = False,
    eta: str | None = None,
    rule: str | None = None,
    units: str | None = None,
    at_most: str | None = None,
    as_json: bool = False,
) -> None:
    """Say what several releases of the same data reveal about a record or secret together, at most: by theorems, from certificates.

    Files alternate: a model, the certificate of that model, the next model, ... Each certificate is proved again; one of another
    model, or one that is not proved, is refused. Put the releases into one model (several_releases, joint, margins) where that can be:
    less leaks so, at most.

    Parameters
    ----------
    files : MODEL CERTIFICATE MODEL CERTIFICATE ...
        For each release its model file, or a name from `dalenius list`, and its certificate file.
    adaptive
        Releases may be chosen after earlier outputs; in this order.
    eta
        What outputs reveal about each other given the record, or secret, at most: '0.1 bits', '0.1 nats'.
    rule
        Insist on sum, 'one and capacities', 'sum and eta' or letters.
    """
    if len(files) < 4 or len(files) % 2:
        raise InputError(
            f"compose: expected a model and a certificate for each of at least two releases, got {len(files)} files"
        )
    budget = Budget.of(at_most)
    answers = [_answer(*pair) for pair in zip(files[::2], files[1::2], strict=True)]
    together = composed(answers, adaptive, None if eta is None else need_unit(eta, "--eta"), rule)
    found = together.to(units_shown(units, as_data=as_json))
    proved = [Ends("all together", together.lower, together.upper, together.units, together.values)]
    if as_json:
        ends = Ends("all together", found.lower, found.upper, found.units)
        write_answer("compose", vars(found) | at_most_met(budget, proved), [ends])
    else:
        out.print(str(found))
    require_at_most(budget, proved)


def _answer(model: str, certificate: str) -> tuple[str, list[Answer]]:
    """A release by its model's name: its problem and its certificate, which must be about it, and proved."""
    problem = read_problem(model)[2]
    asked = problem if isinstance(problem, dl.SecretLeakage) else audited(problem)
    found = dl.Certificate.read(certificate)
    with naming(certificate):
        about = found.header.model
    if about != digest(asked):
        raise InputError(f"{certificate}: not about {model}; give each model's certificate after it")
    need_composable(asked, found, certificate)
    return model, [(asked, found)]


PICTURES = (".png", ".svg", ".pdf")
WIDTH = 200  # of a table where the terminal is narrower


def convert(
    source: list[str] | None = None,
    to: str | None = None,
    everything: bool = False,
    p_min: str | None = None,
    p_max: str | None = None,
    letters: int | None = None,
    outputs: int | None = None,
    records: int | None = None,
    independent: bool = False,
    group: int | None = None,
    transition_ratio: str | None = None,
    attribute_max: str | None = None,
    prior_ratio: str | None = None,
    releases: int = 1,
    epsilon: str = "1",
    sharp: bool = True,
    units: str | None = None,
    at_most: str | None = None,
    as_json: bool = False,
    output: Path | None = None,
) -> None:
    """Say what a guarantee in one notion of privacy is worth in another: the number, the rules, their conditions.

    The number is evaluated in balls and rounded to the safe side. Rules are chained, and the best chain is shown.

    Parameters
    ----------
    source : --from NOTION=VALUE
        The guarantee: local_dp=1, 'local_dp=log 3', 'local_dp_delta(1)=1e-5', zcdp=0.1, 'renyi_dp(8)=0.4'; several for several of one
        mechanism.
    to : --to NOTION
        What is asked for: mutual_information, 'local_dp_delta(0.5)'.
    everything : --all
        Everything that follows; without --from which notions follow from which, with -o as a picture.
    p_min
        Every value of the secret has at least this probability.
    p_max
        No value of the secret has more than this probability.
    letters
        The secret has at most so many values.
    outputs
        The release has at most so many values.
    records
        A dataset has so many records.
    independent
        The records are independent under the prior.
    group
        A record depends on so many at most, itself among them: of a household, say.
    transition_ratio
        The records are a markov chain, its largest transition probability so many times the least.
    attribute_max
        No value of the attribute has more than this probability before the release.
    prior_ratio
        (min r/p)/(max r/p), where the adversary's prior is r, not p.
    releases
        So many releases of the same secret, each with the guarantee.
    epsilon
        Of --all: the epsilon of the notions with a delta.
    sharp : --sharp/--as-printed
        With or without the rules of ours that are sharper than the papers'.
    units
        nats or bits; left out, bits for information, natural logarithms for ratios.
    output : -o, --output FILE
        Of --all: a picture, .png, .svg or .pdf.
    """
    facts = Facts.of(
        p_min=p_min,
        p_max=p_max,
        letters=letters,
        outputs=outputs,
        records=records,
        independent=independent,
        group=group,
        transition_ratio=transition_ratio,
        attribute_max=attribute_max,
        prior_ratio=prior_ratio,
        releases=releases,
    )
    budget = Budget.of(at_most, of_information=False)
    if output is not None:
        if not everything:
            raise InputError(f"-o {output}: the picture is of --all; give --all, too")
        if output.suffix.lower() not in PICTURES:
            raise InputError(f"-o {brief(str(output))}: expected a file that ends in {', '.join(PICTURES)}")
        need_places([output])
    options: dict[str, Any] = {"facts": facts, "sharp": sharp, "units": units or ("nats" if as_json else None)}
    if everything:
        if to is not None:
            raise InputError("--all is about every notion; leave --to out")
        if budget is not None:
            raise InputError("--at-most: expected with --to NOTION; --all is about every notion")
        files = (
            [] if output is None else _drawn(output, sharp)
        )  # before anything is printed, which an error would follow
        _all(None if source is None else _guarantees(source), epsilon, options, as_json)
        for path in files:
            (err if as_json else out).print(f"drawn: {path}")
        return
    if source is None and to is None and budget is None and not as_json:
        out.print(f"The notions, for --from NOTION=VALUE and --to NOTION, or --all:\n{by_subject()}")
        return
    if source is None or to is None:
        raise InputError(
            "expected --from NOTION=VALUE and --to NOTION, or --all; `dalenius convert` alone lists the notions"
        )
    if budget is not None:
        asked = notion_of(to)
        if asked.at_least:
            raise InputError(f"--at-most: of {to} more is more privacy, and its number is a bound from below")
        if asked.units == "leakage" and units_of(asked.name, None) == "bits":
            budget.with_unit()
    found = convert_with(_guarantees(source), to=to, **options)
    proved = [Ends(found.target, None, found.value, found.units)]
    if as_json:
        write_answer("convert", _told(found) | at_most_met(budget, proved), [_ends(found)])
    else:
        out.print(str(found))
    require_at_most(budget, proved)


def _guarantees(source: list[str]) -> dict[str, str]:
    """Several guarantees of one mechanism, each once."""
    read = [_guarantee(text) for text in source]
    if twice := sorted({name for name, _ in read if [name for name, _ in read].count(name) > 1}):
        raise InputError(f"--from: expected each notion once, got {', '.join(twice)} more than once")
    return dict(read)


def _guarantee(text: str) -> tuple[str, str]:
    """A notion and its number, an information with its unit."""
    name, sign, value = (part.strip() for part in text.partition("="))
    if not sign:
        raise InputError(f"--from {text}: expected NOTION=VALUE, for example local_dp=1")
    notion = notion_of(name)
    if notion.units == "leakage" and units_of(notion.name, None) == "bits":
        need_unit(value, f"--from {name}")
    return name, value


def _told(found: Conversion) -> dict[str, Any]:
    return vars(found) | {"conditions": found.conditions}


def _ends(found: Conversion) -> Ends:
    """The number of a conversion, on its side."""
    at_least = notion_of(found.target).at_least
    lower, upper = (found.value, None) if at_least else (None, found.value)
    return Ends(found.target, lower, upper, found.units)


def _all(guarantees: dict[str, str] | None, epsilon: str, options: dict[str, Any], as_json: bool) -> None:
    """A row a notion: what follows from the guarantee; without one, from which notions something follows at all."""
    names = [notion.at(EXAMPLES | {EPSILON: epsilon}) for notion in NOTIONS.values()]
    if guarantees is None:
        told: Any = {name: _following(name, options) for name in NOTIONS}
        heads, rows = ["from", "follows"], [[name, ", ".join(found) or "nothing"] for name, found in told.items()]
    else:
        all_of_them = [convert_with(guarantees, to=written, **options) for written in names]
        told, heads = [_told(one) for one in all_of_them], [all_of_them[0].source, "rules", "can it be better"]
        rows = [[one.said, " > ".join(step.rule for step in one.steps) or "-", one.better] for one in all_of_them]
    if as_json:
        write_answer("convert", {"follows" if guarantees is None else "conversions": told})
    else:
        print_table(heads, rows, width=WIDTH)


def _following(source: str, options: dict[str, Any]) -> list[str]:
    """The notions to which rules lead, with the facts that are missing."""
    found = []
    for target in NOTIONS:
        missing = fewest_missing(source, target, options["facts"], sharp=options["sharp"])
        if missing is not None and target != source:
            found.append(target + (f" (with {' and '.join(missing)})" if missing else ""))
    return found


def _drawn(output: Path, sharp: bool) -> list[str]:
    from dalenius.report import implications_picture

    return drawn(lambda: implications_picture(title="what follows from what", sharp=sharp), output)
