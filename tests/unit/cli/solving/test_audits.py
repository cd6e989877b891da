"""The command line as a user meets it; what concerns a process in processes of its own."""

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
FLIP = math.exp(-0.5) / 2
EXACT = 1 + FLIP * math.log2(FLIP) + (1 - FLIP) * math.log2(1 - FLIP)  # bits
PARITY = (ROOT / "models/parity/laplace-n4.toml").read_text()


def run(*arguments, cwd, program=("-m", "dalenius.cli")):
    return subprocess.run(
        [sys.executable, *program, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(PARITY)
    return path


def test_solve_then_verify_with_both_programs(command_line, model, tmp_path):
    solved = run("solve", model, "-o", tmp_path / "out", cwd=tmp_path)
    assert solved.returncode == 0, solved.stderr
    certificate = tmp_path / "out" / "model.cert"
    alone = run(model, certificate, cwd=tmp_path, program=("-m", "dalenius_check"))
    for verdict in (alone, command_line("verify", model, certificate)):
        assert verdict.returncode == 0
        assert verdict.stdout.startswith("proved: 0.0795415058")


def test_compressed(command_line, model, tmp_path):
    """Both programs prove it, and the one form replaces the other."""
    gzipped, plain, out = tmp_path / "out/model.cert.gz", tmp_path / "out/model.cert", tmp_path / "out"
    command_line("solve", model, "-o", out)
    answer = json.loads(command_line("solve", model, "-o", out, "--compress", "--json", "--trace").stdout)
    assert answer["certificate"] == str(gzipped)
    assert {path.name for path in out.iterdir()} >= {"model.cert.gz", "model.trace.csv", "model.trace.png"}
    assert not plain.exists()
    for program, head in (("dalenius.cli", ["verify"]), ("dalenius_check", [])):
        assert command_line(*head, model, gzipped, program=program).stdout.startswith("proved: 0.0795415058")


def test_a_strengthened_claim_is_rejected_and_garbage_is_refused(command_line, model, tmp_path):
    command_line("solve", model, "-o", ".")
    certificate = tmp_path / "model.cert"
    header, *rest = certificate.read_text().splitlines()
    fields = json.loads(header)
    fields["upper"] = fields["lower"]
    certificate.write_text("\n".join([json.dumps(fields), *rest]) + "\n")
    for program, head in (("dalenius.cli", ["verify"]), ("dalenius_check", [])):
        assert command_line(*head, model, certificate, program=program).returncode == 1
        assert command_line(*head, model, tmp_path / "nothing.cert", program=program).returncode == 2
        assert command_line(*head, model, program=program).returncode == 2
        assert command_line(*head, model, model, program=program).returncode == 1


def test_json_is_one_object_and_everything_else_goes_to_standard_error(command_line, model):
    solved = command_line("solve", model, "--json", "--units", "bits")
    answer = json.loads(solved.stdout)
    wanted = {"lower", "upper", "units", "gap", "record", "termination", "scope", "seconds", "certificate"}
    assert wanted <= set(answer)
    assert answer["lower"] <= EXACT <= answer["upper"]
    assert (answer["units"], answer["certificate"], answer["scope"]) == ("bits", None, "global")
    assert solved.stdout.count("\n") == 1


def test_list_shows_the_library(command_line, tmp_path):
    listed = command_line("list")
    assert listed.returncode == 0
    assert "parity/laplace-n4" in listed.stdout
    assert "0.114754136056555 .. 0.114754136056864 bits of 1 bit possible" in listed.stdout
    assert "0.0795415" in command_line("list", "--set", "minimal", "--units", "nats").stdout


def test_sweep_writes_a_table_a_picture_and_certificates(command_line, model, tmp_path):
    swept = command_line("sweep", model, "-o", "out", "--points", "3")
    assert swept.returncode == 0, swept.stderr
    assert (tmp_path / "out/curve.csv").read_text().count("\n") == 4
    assert (tmp_path / "out/curve.png").stat().st_size > 1000
    for j in (1, 2, 3):
        point = tmp_path / f"out/model-{j:03d}"
        assert command_line(f"{point}.toml", f"{point}.cert", program="dalenius_check").returncode == 0


def test_a_picture_of_several_curves_is_called_that(command_line, model, tmp_path):
    swept = command_line(
        *(
            "sweep",
            model,
            "-o",
            "out",
            "--set",
            "mechanism.epsilon=1,2",
            "--set",
            "adversary.entropy_at_least=0,1 nats",
            "--gap",
            "0.9",
        )
    )
    assert swept.returncode == 0, swept.stderr
    assert {"curves.png"} == {path.name for path in (tmp_path / "out").glob("*.png")}


def test_other_adversaries(command_line, model, tmp_path):
    model.write_text(PARITY.replace("entropy_at_least = 1.0", 'kind = "product_priors"'))
    solved = command_line("solve", model, "--json", "--units", "bits", "-o", "out")
    answer = json.loads(solved.stdout)
    assert answer["lower"] <= EXACT <= answer["upper"]
    assert answer["prior"] is None
    assert command_line("verify", model, answer["certificate"]).returncode == 0

    priors = [["1/16"] * 16, [0.5, 0.5] + [0] * 14]
    model.write_text(PARITY.replace("entropy_at_least = 1.0", f'kind = "prior_set"\npriors = {priors}'))
    solved = command_line("solve", model, "--units", "bits")
    assert "about record         3, to prior 1\n" in solved.stdout


def test_sweeping_a_design_names_the_command_for_it(command_line, model):
    model.write_text((ROOT / "models/design/parity-n4-leakage.toml").read_text())
    swept = command_line("sweep", model, "-o", "out")
    assert (swept.returncode, swept.stdout) == (2, "")
    assert (
        swept.stderr
        == f"dalenius: {model}: without --set a sweep is about worst_case_leakage; for min_leakage there is frontier\n"
    )


def test_ctrl_c_keeps_the_bounds_and_writes_the_certificate(interrupted, tmp_path):
    hard = PARITY.replace('"parity"', '"identity"').replace("laplace_threshold", "randomized_response")
    path = tmp_path / "hard.toml"
    path.write_text(
        hard.replace("count = 4", "count = 3").replace("entropy_at_least = 1.0", 'entropy_at_least = "0.5 max"')
    )
    arguments = ("solve", path, "--json", "--gap", "1e-9", "--time-limit", "100", "-o", "out")
    stopped = interrupted(1, *arguments, cwd=tmp_path)
    assert stopped.returncode == 130, stopped.stderr
    assert stopped.stderr == "dalenius: interrupted\n"
    answer = json.loads(stopped.stdout)
    assert answer["termination"] == "interrupted"
    assert run(path, answer["certificate"], cwd=tmp_path, program=("-m", "dalenius_check")).returncode == 0


def test_the_alternating_scheme_and_its_solvers(command_line, model):
    done = command_line("solve", model, "--method", "alternating", "--solver", "clarabel", "--gap", "1e-3", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    (one,) = answer["alternating"]
    assert (one["scope"], one["termination"], one["record"]) == ("blockwise", "gap_reached", 0)
    assert set(one["gains"]) == {"posterior", "marginal", "row 0", "row 1", "conditionals"}
    assert one["trace"][-1]["value"] == one["value"] >= answer["lower"]
    assert {use["solver"] for use in answer["solvers"]} == {"clarabel"}
    words = command_line("solve", model, "--method", "alternating", "--gap", "1e-2", "--units", "bits").stdout
    assert "alternating          record 0: blockwise at 0.114754 bits after" in words
    assert "solver               posterior by own: " in words
    plain = json.loads(command_line("solve", model, "--gap", "1e-2", "--json").stdout)
    assert (plain["alternating"], plain["solvers"]) == ([], [])


def test_checkpoint_and_jobs(command_line, model, tmp_path):
    """Where the gap is reached there is nothing left to go on with."""
    assert command_line("solve", model, "--checkpoint", "state", "-o", ".").returncode == 0
    assert not (tmp_path / "state").exists()
    assert command_line("verify", model, "model.cert", "--jobs", 2).returncode == 0
    assert command_line("verify", model, "model.cert", "--jobs", 0).returncode == 2
