"""The command measure."""

import json
from fractions import Fraction

import dalenius as dl
from dalenius.intervals import plain_above, plain_below


def test_json_is_a_list_of_objects(command_line):
    done = command_line("measure", "parity/laplace-n4", "--json", "--units", "bits", "--law", "0.3,0.7")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["measures"]
    wanted = dl.measure(dl.load("parity/laplace-n4"), law=dl.Iid([0.3, 0.7]), units="bits")
    assert [row["name"] for row in rows] == [row.name for row in wanted]
    for row, same in zip(rows, wanted, strict=True):
        assert {"name", "lower", "upper", "units", "what"} <= set(row)
        assert (row["lower"], row["upper"]) == (plain_below(same.lower), plain_above(same.upper))
        assert row["units"] == same.units
    told = json.loads(done.stdout, parse_float=Fraction)["measures"]  # the decimals themselves are on the right side
    for row, same in zip(told, wanted, strict=True):
        assert row["lower"] is None or row["lower"] <= Fraction(same.lower)
        assert row["upper"] is None or row["upper"] >= Fraction(same.upper)


def test_a_channel_from_a_csv_file(command_line, tmp_path):
    (tmp_path / "channel.csv").write_text("no,yes\n0.9,0.1\n1/3,2/3\n")
    done = command_line(
        "measure", "channel.csv", "--prior", "0.25,0.75", "--epsilon", "log 3,0.5", "--delta", "0.05", "--outputs"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("the input, one of 2, under the prior that was given; 2 outputs; 1 bit possible\n")
    for text in (
        "log 20/3 = 1.897119 .. 1.89712",
        "output_probability[yes]",
        "local_dp_delta(log 3)",
        "local_dp_epsilon(0.05)",
    ):
        assert text in done.stdout
    rows = {}
    for prior in ([], ["--prior", "uniform"], ["--prior", "0.5,0.5"]):
        done = command_line("measure", "channel.csv", "--json", *prior)
        rows[" ".join(prior)] = {row["name"]: row for row in json.loads(done.stdout)["measures"]}
    free, uniform, halves = rows.values()
    assert free["mutual_information"]["lower"] > uniform["mutual_information"]["upper"]
    assert free["mutual_information"]["against"] == "any prior"
    assert "bayes_advantage" in set(uniform) - set(free)
    assert [row["upper"] for row in uniform.values()] == [row["upper"] for row in halves.values()]


def test_several_priors(command_line, tmp_path):
    (tmp_path / "channel.csv").write_text("no,yes\n0.9,0.1\n1/3,2/3\n")
    done = command_line("measure", "channel.csv", "--prior", "0.25,0.75; 0.5,0.5", "--json")
    wanted = dl.measure([["9/10", "1/10"], ["1/3", "2/3"]], prior=dl.PriorSet([[0.25, 0.75], [0.5, 0.5]]))
    assert [row["upper"] for row in json.loads(done.stdout)["measures"]] == [plain_above(row.upper) for row in wanted]


def test_a_model_is_measured_against_its_own_adversary(command_line, tmp_path):
    (tmp_path / "bit.toml").write_text(
        'problem = "maximal_leakage"\nrecords = { count = 1, alphabet = 2 }\nquery = { kind = "identity" }\n'
        'mechanism = { kind = "symmetric", flip = 0.1 }\nadversary = { kind = "prior_set", priors = [[0.2, 0.8]] }\n'
    )
    rows = {}
    for law in ([], ["--law", "uniform"]):
        done = command_line("measure", "bit.toml", "--json", *law)
        assert done.returncode == 0, done.stderr
        rows["".join(law)] = {row["name"]: row for row in json.loads(done.stdout)["measures"]}
    own, uniform = rows.values()
    assert 0.24797 < own["mutual_information"]["lower"] <= own["mutual_information"]["upper"] < 0.24798
    assert own["pointwise_maximal_leakage"]["exact"] == "log 45/13"
    assert own["mutual_information"]["against"] == "any adversary who holds the listed prior"
    assert 0.368 < uniform["mutual_information"]["lower"] < 0.3681
    assert uniform["pointwise_maximal_leakage"]["against"].endswith("in place of the model's adversary)")
    (tmp_path / "any.toml").write_text((tmp_path / "bit.toml").read_text().partition("adversary")[0])
    with (tmp_path / "any.toml").open("a") as file:
        file.write("[adversary]\nentropy_at_least = 0\n")
    table, listed = command_line("measure", "any.toml"), command_line("measure", "any.toml", "--json")
    assert table.returncode == listed.returncode == 0
    refused = "bayes_advantage, total_variation"
    assert refused in table.stdout
    assert refused in listed.stderr
    assert "bayes_advantage" not in [row["name"] for row in json.loads(listed.stdout)["measures"]]


def test_an_infinite_measure_is_null_and_says_so(command_line, tmp_path):
    (tmp_path / "channel.csv").write_text("no,yes\n1,0\n0,1\n")
    rows = {row["name"]: row for row in json.loads(command_line("measure", "channel.csv", "--json").stdout)["measures"]}
    assert rows["local_dp"]["lower"] is rows["local_dp"]["upper"] is None
    assert rows["local_dp"]["exact"] == "infinite"


def test_a_mechanisms_file(command_line, tmp_path):
    dl.DesignedMechanism([[0.9, 0.1], [0.4, 0.6]]).save(tmp_path / "own.mechanism.json")
    done = command_line("measure", "own.mechanism.json", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["measures"] == [
        {"name": r.name, "lower": plain_below(r.lower), "upper": plain_above(r.upper), "units": r.units}
        | {"what": r.what, "exact": r.exact, "against": r.against}
        for r in dl.measure([[0.9, 0.1], [0.4, 0.6]])
    ]


def test_the_largest_over_a_class_of_priors(command_line, tmp_path):
    (tmp_path / "channel.csv").write_text("no,yes\n0.9,0.1\n1/3,2/3\n")
    found = {}
    for within in ("l1 0.2", "kl 0.02", "chi2 0.04", "box 0.1", "floor 0.05", "entropy 0.9 max", "all"):
        middle = () if within.split()[0] in ("floor", "entropy", "all") else ("--prior", "0.25,0.75")
        done = command_line("measure", "channel.csv", *middle, "--within", within, "--json")
        assert done.returncode == 0, done.stderr
        found[within] = {row["name"]: row for row in json.loads(done.stdout)["measures"]}["mutual_information"]
    for within, named in (
        ("l1 0.2", "PriorBall: center [1/4, 3/4], radius 1/5"),
        ("floor 0.05", "PriorFloor: floor 1/20"),
        ("entropy 0.9 max", "EntropyAtLeast: amount 9/10, units max"),
    ):
        assert found[within]["against"] == f"any prior of a class ({named})"
    assert [found[same]["upper"] for same in ("l1 0.2", "box 0.1")] == [found["l1 0.2"]["upper"]] * 2
    assert all(row["lower"] <= found["all"]["upper"] for row in found.values())


def test_the_column_is_the_middle_of_a_class_of_priors(command_line, tmp_path):
    (tmp_path / "channel.csv").write_text("prior,no,yes\n0.25,0.9,0.1\n0.75,0.2,0.8\n")
    (tmp_path / "plain.csv").write_text("no,yes\n0.9,0.1\n0.2,0.8\n")
    for size, middle in (("kl 0.02", ["--prior", "0.25,0.75"]), ("floor 0.2", [])):
        done = command_line("measure", "channel.csv", "--within", size, "--json")
        other = command_line("measure", "plain.csv", "--within", size, *middle, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["measures"] == json.loads(other.stdout)["measures"]


def test_membership_of_a_small_model(command_line):
    done = command_line("measure", "parity/laplace-n4", "--supersamples", "--json")
    row = json.loads(done.stdout)["measures"][-1]
    found = dl.supersample_cmi(dl.load("parity/laplace-n4"))
    assert (row["name"], row["upper"]) == ("supersample_cmi", plain_above(found.upper))


def test_attacks_orders_and_gains(command_line, tmp_path):
    (tmp_path / "channel.csv").write_text("prior,no,yes\n0.5,0.7,0.3\n0.5,0.2,0.8\n")
    more = ["--level", "0.1,0.2", "--order", "2", "--gains", "1,0;0,3"]
    done = command_line("measure", "channel.csv", *more, "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["name"]: row for row in json.loads(done.stdout)["measures"]}
    exact = {"attack_advantage": "0.5", "true_positive_rate(0.1)": "0.35", "g_leakage": "log 31/30"}
    assert {name: rows[name]["exact"] for name in exact} == exact
    assert {"true_positive_rate(0.2)", "sibson_information(2)", "local_renyi_dp(2)", "g_advantage"} < rows.keys()
