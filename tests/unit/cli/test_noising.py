"""The command noise."""

import json

import dalenius as dl
import support


def test_the_folder_has_both_proofs(command_line, tmp_path):
    done = command_line("noise", "--noise", "discrete_laplace", "--range", "2", "--at-most", "0.1 bits", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "is enough for 0.1 bits of 1 bit possible: at most 0.09" in done.stdout
    assert "times the least" in done.stdout
    for end, kept in (("within", True), ("above", False)):
        model = dl.load(tmp_path / f"out/discrete_laplace.{end}.toml")
        assert dl.verify(model, dl.Certificate.read(tmp_path / f"out/discrete_laplace.{end}.cert")).proved
        assert f"out/discrete_laplace.{end}.cert" in done.stdout
        assert (dl.solve(model).to("bits").upper <= 0.1) == kept
    table = (tmp_path / "out/discrete_laplace.noise.csv").read_text()
    assert table.splitlines()[0].startswith("scale,what,lower,upper")
    assert table.count("discrete_laplace.within.cert") == 1


def test_json_of_a_model(command_line, tmp_path):
    question = support.problem(dl.Records(100, alphabet=2), dl.Count(), dl.geometric(1), dl.IndependentBlocks(2))
    (tmp_path / "count.toml").write_text(dl.dumps(question))
    done = command_line("noise", "count.toml", "--at-most", "0.2", "--gap", "0.02", "--json")
    told = json.loads(done.stdout)
    assert told["mechanism"] == "geometric"
    assert told["larger_is_enough"]
    assert [float(level["upper"]) <= 0.2 for level in told["levels"]] == sorted(
        float(level["upper"]) <= 0.2 for level in told["levels"]
    )


def test_real_noise_on_what_moves_the_query_far(command_line):
    done = command_line("noise", "--noise", "laplace", "--range", "1000", "--at-most", "0.1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("laplace noise of scale 928.")
