# SPDX-License-Identifier: BSD-3-Clause
"""`sumac tune` with the real MPIs: its files are accepted, and their rules are what is done."""

import json

import pytest
from installed import FAMILIES, INSTALLATION, needs_command, sumac
from sumac_mpi.library import tables
from sumac_mpi.tune import measure, request, rules
from sumac_mpi.tune.decision import NATIVE, Cell, Verdict
from test_installed import SIZED

pytestmark = needs_command
SIZES = (64, 1024, 16384, 1 << 20)


def served(family, collective, path):
    """The path of each size's calls by the rules of a file, which must be silently accepted."""
    done = sumac("bench", collective, "-n", "2", "--mpi", family, "--rounds", "1", "--iterations",
                 "3", "--sizes", ",".join(map(str, SIZES)), "--format", "json",
                 SUMAC_RULES=str(path))  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    return {row["bytes"]: row["algorithm"] for row in run["sizes"]}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_short_run(family, tmp_path):
    path = tmp_path / "tuned.toml"
    sizes = ",".join(map(str, SIZES))
    done = sumac("tune", "allreduce", "barrier", "-n", "2", "--mpi", family, "--sizes", sizes,
                 "--turns", "2", "--seconds", "0.01", "-o", path)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "# allreduce · 2 ranks" in done.stdout and "# barrier · 2 ranks" in done.stdout
    assert [each.name for each in tmp_path.iterdir()] == ["tuned.toml"]
    plan = sumac("plan", "allreduce", "64K", "-n", "2", "--mpi", family, "--rules", path)
    assert (plan.returncode, plan.stderr) == (0, "")
    assert set(served(family, "allreduce", path)) == set(SIZES)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("collective", SIZED)
def test_the_rules_are_what_is_done(family, collective, tmp_path, monkeypatch):
    """Each way at each size in turn, as if it had been measured to be the best."""
    monkeypatch.setenv("SUMAC_ROOT", str(INSTALLATION.root))
    ways = [*request.ways(collective), NATIVE]
    in_lines = {(row["collective"], row["name"])
                for row in tables.rows("algorithms") if row["needs"] == "lines"}  # fmt: skip
    shipped = request.Job(1, family, 2, collective, request.SHIPPED)
    place = measure.place_of(shipped, measure.processors())
    for turn in range(len(ways)):
        wanted = {size: ways[(turn + i) % len(ways)] for i, size in enumerate(SIZES)}
        if collective == "barrier":
            wanted = {0: ways[turn]}
        verdicts = [Verdict(Cell(size, "x", {"x": {}}), way, "", 2.0)
                    for size, way in wanted.items()]  # fmt: skip
        path = tmp_path / f"{turn}.toml"
        path.write_text(rules.document(["forced"], rules.of(place, verdicts)))
        paths = served(family, collective, path)
        for size, way in wanted.items():
            if (collective, way) not in in_lines or size <= 2048:  # what fits the lines of a slot
                assert paths[size] == way or way == NATIVE and paths[size].startswith("mpi: ")
            else:
                assert paths[size] != way


@pytest.mark.parametrize("measured", ["sibling", "near", "far"])
def test_the_rules_of_one_distance_are_for_no_other(measured, tmp_path):
    place = rules.Place("openmpi", "allreduce", 2, shared=False, handover=measured)
    path = tmp_path / "here.toml"
    verdict = Verdict(Cell(65536, "x", {"x": {}}), NATIVE, "", 2.0)
    path.write_text(rules.document(["forced"], rules.of(place, [verdict])))
    for handover in ("sibling", "near", "far"):
        plan = sumac("plan", "allreduce", "64K", "-n", "2", "--mpi", "openmpi",
                     "--handover", handover, "--rules", path)  # fmt: skip
        assert (plan.returncode, plan.stderr) == (0, "")
        assert (path.name in plan.stdout) == (handover == measured)
