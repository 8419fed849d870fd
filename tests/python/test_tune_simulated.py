# SPDX-License-Identifier: BSD-3-Clause
"""`sumac tune --simulate`: with simulations that are a table, and with real ones."""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from sumac_mpi.commands import main, tune_simulated
from sumac_mpi.simulate import measure, request, smpi
from sumac_mpi.tune import simulated
from test_installed import COMMAND
from test_simulate import SMALL

ROWS = [
    {"collective": "allreduce", "name": "levels", "needs": "levels", "order": "tree"},
    {"collective": "allreduce", "name": "flat", "needs": "levels_messages", "order": "tree"},
    {"collective": "allreduce", "name": "ring", "needs": "messages", "order": "rotated"},
    {"collective": "allreduce", "name": "ordered", "needs": "levels_one_group", "order": "rank"},
    {
        "collective": "allreduce",
        "name": "all_ranks_peers",
        "needs": "levels_slow_ranks",
        "order": "tree",
    },
]


class Simulations:
    """Takes the place of SimGrid. `us(way, size)` are the times, by what the first rule says."""

    def __init__(self, fails_after=None):
        self.started, self.fails_after = [], fails_after

    def records(self, asked, way, seconds, advance):
        if self.fails_after is not None and len(self.started) >= self.fails_after:
            raise KeyboardInterrupt
        rules = [each.split("=", 1)[1] for each in asked.variables if "SUMAC_RULES=" in each]
        first = tomllib.loads(Path(rules[0]).read_text())["rule"][0] if rules else {}
        name = f"{first.get('algorithm', 'shipped')}:{first.get('chunk', '')}"
        self.started.append(name)
        found = [{"bytes": n, "us": self.us(name, n), "wrong": 0} for n in asked.sizes]
        return found, True

    def us(self, name, size):
        if size == 64 << 10 and name == "flat:16K":
            return 50.0
        return 100.5 if name == "levels:4K" else 100.0 if name == "shipped:" else 99.5


@pytest.fixture
def command(tmp_path, monkeypatch):
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "program").write_text("a program")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(smpi, "program", lambda: tmp_path / "program")
    monkeypatch.setattr(smpi, "command", lambda: "smpirun")
    monkeypatch.setattr(simulated.tables, "rows", lambda _: ROWS)

    def run(fake, *arguments):
        monkeypatch.setattr(measure, "records", fake.records)
        asked = tune_simulated.requests("small.toml", ["allreduce"], None, [8, 4096, 64 << 10])
        tune_simulated.run(asked, tmp_path / "out.toml", False, 100, *arguments)
        return (tmp_path / "out.toml").read_text()

    return run


def test_a_rule_where_another_way_is_faster_and_nowhere_else(command, capsys):
    fake = Simulations()
    text = command(fake)
    own = text.removesuffix(request.RULES.read_text())
    assert own != text, "the rules for simulated clusters follow"
    assert tomllib.loads(own)["rule"] == [
        {"collective": "allreduce", "over": "levels", "ranks": "16", "nodes": "4",
         "bytes": "16385-64K", "algorithm": "flat", "chunk": "16K"}
    ]  # fmt: skip
    shown = capsys.readouterr().out
    assert "flat:16K" in shown and "2.00x" in shown and "the fastest" in shown
    # No slow ranks are there, and no chunk is larger than all messages but the least.
    assert {each.split(":")[0] for each in fake.started} == {"shipped", "levels", "flat"}
    assert not [each for each in fake.started if each.endswith(":256K")]


def test_an_interrupted_run_goes_on(command, tmp_path):
    whole = Simulations()
    expected = command(whole)
    (tmp_path / "out.toml").unlink()
    first = Simulations(fails_after=3)
    with pytest.raises(KeyboardInterrupt):
        command(first)
    assert (tmp_path / "out.toml.measured").exists()
    second = Simulations()
    assert command(second) == expected
    assert sorted(first.started + second.started) == sorted(whole.started)
    assert not (tmp_path / "out.toml.measured").exists()


def test_what_is_kept_is_of_the_same_cluster(command, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        command(Simulations(fails_after=3))
    (tmp_path / "small.toml").write_text(SMALL.replace("cores = 2", "cores = 3"))
    with pytest.raises(Exception, match="other-measurement|cannot go on"):
        command(Simulations())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("allreduce", "--mpi", "mpich"), "--mpi: not with --simulate"),
        (("allgather",), "allgather: with --simulate one of"),
        (("allreduce", "--sizes", "12"), "12 bytes are not whole doubles"),
        (("allreduce", "-n", "100000"), "the cluster has 16 ranks"),
    ],
)
def test_bad_arguments(tmp_path, monkeypatch, capsys, arguments, says):
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    assert main.main(["tune", "--simulate", "small.toml", *arguments]) == 2
    assert says in capsys.readouterr().err


simulates = pytest.mark.skipif(
    not (COMMAND.exists() and shutil.which("smpirun")), reason="no SimGrid"
)


@simulates
def test_the_rules_are_as_fast_as_was_simulated(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)

    def sumac(*arguments):
        return subprocess.run(
            [COMMAND, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True,
            timeout=300,
        ).stdout  # fmt: skip

    def times(*more):
        asked = ("small.toml", "allreduce", "--sizes", "8,64K", "--against", "", "--json")
        return json.loads(sumac("simulate", *asked, *more))["us"]["sumac"]

    given = ("--simulate", "small.toml", "--sizes", "8,64K", "-o", "t.toml")
    table = sumac("tune", "allreduce", *given)
    rows = [row.split() for row in table.splitlines() if row[:1] == " "]
    shipped, tuned = times(), times("--set", f"RULES={tmp_path / 't.toml'}")
    assert [row[0] for row in rows] == ["8", "65536"]
    for size, before, _, after, *_ in rows:
        assert float(before) == pytest.approx(shipped[size], abs=0.01)
        assert float(after) == pytest.approx(tuned[size], abs=0.01)
        assert tuned[size] <= shipped[size]
