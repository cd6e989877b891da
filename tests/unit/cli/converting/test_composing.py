"""compose: bounds of several releases from their certificates."""

import json


def test_certificates_are_put_together(command_line):
    for name, epsilon in (("first", "0.5"), ("second", "0.2")):
        made = command_line(
            "init", f"{name}.toml", "--query", "count", "--mechanism", f"geometric {epsilon}", "--defaults"
        )
        assert made.returncode == 0
        assert command_line("solve", f"{name}.toml", "--gap", "0.9", "-o", ".").returncode == 0
    files = ["first.toml", "first.cert", "second.toml", "second.cert"]
    told = json.loads(command_line("compose", *files, "--json").stdout)
    assert told["rule"] in ("one and capacities", "letters")
    assert 0 <= told["lower"] <= max(told["leakages"]) <= told["upper"] <= 0.7
    refused = (
        (files[:3], "got 3 files"),
        ([*files, "--rule", "sum"], "sum is false here"),
        (["first.toml", "second.cert", "second.toml", "first.cert"], "second.cert: not about first.toml"),
    )
    for arguments, message in refused:
        failed = command_line("compose", *arguments)
        assert failed.returncode == 2
        assert message in failed.stderr


VOTE = """\
problem = "secret_leakage"
records = {{ count = 3, alphabet = 2 }}
query = {{ kind = "count" }}
mechanism = {{ kind = "geometric", epsilon = {epsilon} }}
adversary = {{ entropy_at_least = 0 }}

[[secrets]]
of = {{ kind = "threshold", at = 2 }}
"""


def test_two_releases_about_a_secret(command_line, tmp_path):
    for name, epsilon in (("first", "0.5"), ("second", "0.2")):
        (tmp_path / f"{name}.toml").write_text(VOTE.format(epsilon=epsilon))
        assert command_line("solve", f"{name}.toml", "-o", ".").returncode == 0
    done = command_line("compose", "first.toml", "first.cert", "second.toml", "second.cert", "--json")
    told = json.loads(done.stdout)
    assert told["rule"] == "sum"
    assert sum(told["leakages"]) <= told["upper"] < sum(told["leakages"]) + 1e-12
    for files, message in (
        (["first.toml", "second.cert", "second.toml", "first.cert"], "second.cert: not about first.toml"),
        (["first.toml", "first.toml", "second.toml", "second.cert"], "first.toml: not a certificate"),
    ):
        failed = command_line("compose", *files)
        assert (failed.returncode, message in failed.stderr) == (2, True), failed.stderr
