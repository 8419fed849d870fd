# SPDX-License-Identifier: BSD-3-Clause
"""`sumac bench` with programs that print prepared records."""

import json

import pytest
import records


def test_table_and_file(one_mpi, sumac, tmp_path):
    status, out, err = sumac("bench", "allreduce", "-n", "2", "--json=r.json")
    assert (status, err) == (0, "sumac: wrote r.json\n")
    assert "geometric-mean speedup 1.81x±?" in out
    document = json.loads((tmp_path / "r.json").read_text())
    assert len(document["runs"][0]["sizes"]) == 3 and document["machine"]["cores"] >= 1


def test_options_reach_the_program(one_mpi, sumac):
    sumac("bench", "reduce", "-n", "2", "-b", "1K", "-e", "1M", "-f", "4", "-d", "int32",
          "--op", "max", "-r", "1", "--in-place", "--rounds", "3")  # fmt: skip
    (line,) = one_mpi.launched()
    assert "sumac-bench-openmpi reduce -b 1024 -e 1048576 -f 4 -d int32 -o max -r 1" in line
    assert "--rounds 3" in line and line.endswith("--in-place")


def test_cold_calls_are_of_one_round(one_mpi, sumac):
    sumac("bench", "reduce", "-n", "2", "--cold", "10")
    (line,) = one_mpi.launched()
    assert line.endswith(" --cold 10")
    for option in ("--rounds", "--iterations", "--seconds"):
        status, _, err = sumac("bench", "reduce", "-n", "2", "--cold", "10", option, "1")
        assert status == 2 and f"{option}: not for --cold" in err
    status, _, err = sumac("bench", "ireduce", "-n", "2", "--cold", "10", "--overlap")
    assert status == 2 and "--cold: overlap" in err


def test_overlap_reaches_the_program(one_mpi, sumac):
    sumac("bench", "iallreduce", "-n", "2", "--overlap", "--tests", "3", "--compute", "idle")
    sumac("bench", "iallreduce", "-n", "2")
    overlap, latency = one_mpi.launched()
    assert "sumac-bench-openmpi iallreduce -b 4" in overlap
    assert overlap.endswith(" --overlap --tests 3 --compute idle")
    assert latency.endswith("--seconds 0.5")


def test_osu_format_of_a_nonblocking_call_has_the_overlap(one_mpi, sumac):
    one_mpi.add_program("bench", "openmpi", records.nonblocking())
    status, out, _ = sumac("bench", "iallreduce", "-n", "2", "--format", "osu")
    (line,) = one_mpi.launched()
    assert status == 0 and "--overlap" in line and "Overlap(%)" in out


def test_persistent_calls_by_their_names(one_mpi, sumac):
    one_mpi.add_program("bench", "openmpi", records.persistent())
    status, out, _ = sumac("bench", "allreduce-persistent", "-n", "2")
    (line,) = one_mpi.launched()
    assert status == 0 and "sumac-bench-openmpi allreduce-persistent -b" in line
    assert "as fast as the blocking one" in out


def test_a_call_that_nobody_has_is_status_3(one_mpi, sumac):
    one_mpi.add_program("bench", "openmpi", [], 3)
    code, _, err = sumac("bench", "allreduce-persistent", "-n", "2")
    assert code == 3 and "error[job-failed]" in err


def test_all_mpis_in_turn(one_mpi, sumac):
    one_mpi.add_launcher("mpiexec.mpich", "mpich")
    mpich = records.header(family="mpich", mpi="MPICH Version:\t4.0.2")
    one_mpi.add_program("bench", "mpich", [mpich, *records.session()[1:]])
    status, out, _ = sumac("bench", "allreduce", "-n", "2", "--mpi", "all", "--format", "csv")
    lines = out.splitlines()
    assert status == 0 and len(lines) == 7
    assert [line.split(",")[1] for line in lines[1:]] == ["Open MPI 4.1.4"] * 3 + [
        "MPICH 4.0.2"
    ] * 3


@pytest.mark.parametrize("wanted", ["osu", "csv", "json", "table"])
def test_standard_output_holds_the_format_alone(one_mpi, sumac, wanted):
    status, out, err = sumac("bench", "allreduce", "-n", "2", "--format", wanted)
    assert (status, err) == (0, "")
    if wanted == "json":
        assert json.loads(out)["format"] == 1
    if wanted == "osu":
        assert out.startswith("\n# OSU MPI Allreduce Latency Test v7.4\n")


def test_wrong_results_are_status_4(one_mpi, sumac):
    bad = records.size(1024, 1, 1, wrong=6)
    one_mpi.add_program("bench", "openmpi", [records.header(), bad], status=4)
    status, out, err = sumac("bench", "allreduce", "-n", "2", "--fail-below", "9")
    assert status == 4 and "verified 0 of 1 size\n" in out
    assert "error[wrong-results]: allreduce of 1K on Open MPI 4.1.4: 6 elements" in err


def test_the_advice_for_wrong_results_names_the_collective(one_mpi, sumac):
    head, row, *_ = records.nonblocking()
    one_mpi.add_program("bench", "openmpi", [head, row | {"wrong": 1}], status=4)
    status, _, err = sumac("bench", "iallreduce", "-n", "2")
    assert status == 4 and "iallreduce of 8 B" in err and "SUMAC_COLLS=^allreduce" in err


def test_slow_sizes_are_status_5(one_mpi, sumac):
    status, _, err = sumac("bench", "allreduce", "-n", "2", "--fail-below", "1")
    assert status == 5 and "found: Open MPI 4.1.4 4M 0.99x" in err
    assert sumac("bench", "allreduce", "-n", "2", "--fail-below", "0.95")[0] == 0


def test_slower_than_an_earlier_file_is_status_5(one_mpi, sumac, tmp_path):
    sumac("bench", "allreduce", "-n", "2", "--json=r.json")
    slower = [records.header(), records.size(4, 0.9, 0.3)]
    one_mpi.add_program("bench", "openmpi", slower)
    arguments = ("bench", "allreduce", "-n", "2", "--against", "r.json")
    status, out, _ = sumac(*arguments)
    assert status == 0 and "against the earlier file: 0.67x" in out
    assert sumac(*arguments, "--fail-below", "0.9")[0] == 5


@pytest.mark.parametrize(
    ("records_", "status", "slug"),
    [([], 0, "job-failed"), ([records.header()], 0, "job-failed"),
     (records.session(), 9, "job-failed")],
)  # fmt: skip
def test_programs_that_fail_are_status_1(one_mpi, sumac, records_, status, slug):
    one_mpi.add_program("bench", "openmpi", records_, status)
    code, _, err = sumac("bench", "allreduce", "-n", "2")
    assert code == 1 and f"error[{slug}]" in err


def test_a_program_that_says_nothing_is_ended(one_mpi, sumac):
    program = one_mpi.root / "lib/sumac/sumac-bench-openmpi"
    program.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    code, _, err = sumac("bench", "allreduce", "-n", "2", "--timeout", "1")
    assert code == 1 and "error[timeout]" in err


def test_ranks_that_do_not_see_each_other(one_mpi, sumac):
    code, _, err = sumac("bench", "allreduce", "-n", "3")
    assert code == 3 and "error[abi-mismatch]" in err


def test_what_the_launcher_says_goes_to_standard_error(one_mpi, sumac):
    program = one_mpi.root / "lib/sumac/sumac-bench-openmpi"
    program.write_text(program.read_text().replace("cat", "echo hello\ncat", 1))
    status, out, err = sumac("bench", "allreduce", "-n", "2")
    assert status == 0 and "hello" not in out and err == "hello\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("-b", "4x"),
        ("-b", "8", "-e", "4"),
        ("-e", "4", "-d", "double"),
        ("-d", "half"),
        ("--op", "avg"),
        ("--op", "band"),
        ("-r", "2"),
        ("--mpi", "lam"),
        ("--against", "missing.json"),
        ("--json=missing/r.json",),
    ],
)
def test_bad_values_are_status_2_before_anything_starts(one_mpi, sumac, arguments):
    status, out, err = sumac("bench", "allreduce", "-n", "2", *arguments)
    assert (status, out) == (2, "") and "error[bad-value]" in err
    assert one_mpi.launched() == []


def test_in_place_needs_a_reduction(one_mpi, sumac):
    assert sumac("bench", "bcast", "--in-place")[0] == 2
    assert sumac("bench", "ibcast", "--in-place")[0] == 2
    assert sumac("bench", "iallreduce", "-n", "2", "--in-place")[0] == 0


def test_nothing_overlaps_a_blocking_call(one_mpi, sumac):
    status, _, err = sumac("bench", "allreduce", "--overlap")
    assert status == 2 and "error[bad-value]: --overlap" in err


def test_without_an_mpi(sandbox, sumac):
    sandbox.add_program("bench", "openmpi", records.session())
    code, _, err = sumac("bench", "allreduce")
    assert code == 3 and "error[no-launcher]" in err


def test_without_the_program_of_an_mpi(one_mpi, sumac):
    code, _, err = sumac("bench", "allreduce", "--mpi", "mpich")
    assert code == 3 and "error[no-program]" in err
