"""The command show."""

import json
import math

import pytest

import dalenius as dl
from campaigns import thinned
from dalenius.catalogue.models import library_folder
from dalenius.cli.describing import show
from dalenius.cli.measuring import measure
from dalenius.model import digest

NAMES = [model.name for model in dl.library()]


@pytest.mark.parametrize("name", thinned(NAMES, every=20))
def test_every_library_model_is_said_in_words_and_sizes(name, capsys):
    show(name, as_json=True)
    told, problem = json.loads(capsys.readouterr().out), dl.load(name)
    assert (told["problem"], told["digest"]) == (problem.in_models, digest(problem))
    assert told["question"][-1].endswith("?")
    assert told["title"] == problem.title


def test_many_datasets_are_a_power_and_a_table_is_seen_cell_by_cell(command_line, tmp_path):
    asked = dl.WorstCaseLeakage(
        records=dl.Records(202, alphabet=6),
        query=dl.Histogram(),
        mechanism=dl.discrete_laplace(1),
        adversary=dl.IndependentBlocks(4),
    )
    (tmp_path / "table.toml").write_text(dl.dumps(asked))
    lines = {line[:20].strip(): line[21:] for line in command_line("show", "table.toml").stdout.splitlines()}
    assert (lines["datasets"], lines["inputs and outputs"], lines["cells"]) == ("6^202", "of each cell by itself", "6")


def test_a_model(command_line):
    done = command_line("show", "parity/laplace-n4")
    assert done.returncode == 0, done.stderr
    lines = dict(reversed([(line[:20].strip(), line[21:]) for line in done.stdout.splitlines()]))
    assert lines["question"].startswith("There are 4 records, each with one of 2 values")
    assert (lines["datasets"], lines["inputs"], lines["outputs"]) == ("16", "2", "2")
    assert float(lines["largest entropy nats"]) == pytest.approx(4 * math.log(2))
    assert float(lines["entropy bound nats"]) == 1
    assert lines["answer in"] == "bits, and nats in JSON"


def test_outputs_of_noise_on_a_line_are_not_counted(tmp_path, capsys):
    parts = {"records": dl.Records(1, alphabet=2), "query": dl.Count(), "mechanism": dl.laplace(1)}
    secret = dl.SecretLeakage(**parts, adversary=dl.FixedPrior([0.5, 0.5]), secrets=dl.Letters(0))
    for asked in (secret, dl.WorstCaseLeakage(**parts, adversary=dl.AnyPrior())):
        (tmp_path / "asked.toml").write_text(dl.dumps(asked))
        show(str(tmp_path / "asked.toml"), as_json=True)
        assert json.loads(capsys.readouterr().out)["outputs"] == "real numbers"


def test_a_certificate_claims_and_is_not_proved_here(command_line):
    path = library_folder() / "parity/laplace-n4.cert"
    done = command_line("show", path, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    claim = dl.Certificate.read(path).header.claim
    assert float(told["lower"]) <= claim[0] <= claim[1] <= float(told["upper"])
    assert told["digest"] == digest(dl.load("parity/laplace-n4"))
    assert told["evidence"] == ["1 line of the kind witness", "1 line of the kind record", "1 line of the kind joint"]
    assert told["proved"].startswith("not tried here")


def test_nothing_feasible(command_line):
    told = json.loads(command_line("show", library_folder() / "infeasible/erasure-only.cert", "--json").stdout)
    assert told["claim"] == "no mechanism of the class meets everything"
    assert told["lower"] is told["upper"] is told["relative_gap"] is None


def test_a_claim_of_privacy_shows_whose_it_is(tmp_path, capsys):
    (tmp_path / "own.csv").write_text("a,b,c\n0.7,0.2,0.1\n0.2,0.6,0.2\n0.1,0.3,0.6\n")
    measure(str(tmp_path / "own.csv"), output=tmp_path / "proofs")
    capsys.readouterr()
    show(str(tmp_path / "proofs/own.local_dp.cert"))
    lines = [line[21:] for line in capsys.readouterr().out.splitlines() if line.startswith("mechanism  ")]
    assert lines == ["7/10, 1/5, 1/10", "1/5, 3/5, 1/5", "1/10, 3/10, 3/5"]


def test_a_mechanism(command_line, tmp_path):
    dl.DesignedMechanism([[0.9, 0.1], [0.4, 0.6]]).save(tmp_path / "own.mechanism.json")
    assert json.loads(command_line("show", "own.mechanism.json", "--json").stdout)["inputs"] == 2
    assert "0.9" in command_line("show", "own.mechanism.json").stdout
