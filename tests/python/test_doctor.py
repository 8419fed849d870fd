# SPDX-License-Identifier: BSD-3-Clause
"""`sumac doctor`, with pages as the library writes them, in processes of this test's own."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from sumac_mpi.launch import ranks

# One rank: argv are job, rank, ranks, collective, missing, and the seconds that the page is old.
OWNER = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from sumac_mpi.launch import ranks
job, rank, size, collective, missing, age = sys.argv[2:]
now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
fresh = now - int(float(age) * 1e9) if collective else 0
page = ranks._PAGE.pack(b"SUMACST1", 2, int(job), fresh - 5 * 10**9 if fresh else 0, fresh, 0, 9,
                        4, 8, os.getpid(), int(rank), int(size), int(rank), int(size), 0,
                        collective.encode(), b"flat_lines", b"rows", b"here", missing.encode())
os.write(os.memfd_create("rank-status.sumac"), page)
print("there", flush=True)
time.sleep(60)
"""
ROOT = Path(__file__).parents[2] / "python"
JOB = os.getpid() << 20  # no other test's


def state(pid):
    """The state of a process, a letter, as proc(5) has it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@contextmanager
def rank(number, size=3, collective="allreduce", missing="2", age=0.5, job=JOB):
    arguments = [job, number, size, collective, missing, age]
    command = [sys.executable, "-c", OWNER, str(ROOT), *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "there\n"
            while state(process.pid) == "R":  # not asleep yet
                time.sleep(0.01)
            yield process
        finally:
            process.kill()


def of_job(job=JOB):
    return [rank for rank in ranks.find() if rank.job == job]


def test_the_page_is_as_large_as_in_the_library():
    assert ranks._PAGE.size == 400


def test_ranks_that_wait_alike_share_a_line():
    with rank(0) as first, rank(1) as second, rank(2, collective="") as third:
        found = of_job()
        assert [each.rank for each in found] == [0, 1, 2]
        assert [each.waits for each in found] == [True, True, False]
        assert ranks.describe(found) == [
            f"rank 0, 1 (process {first.pid}, {second.pid}) waits for {found[0].seconds:.0f} s "
            "in allreduce of 8 bytes, call 4 on rows of 3 ranks, flat_lines; not arrived there: "
            "rank 2",
            f"rank 2 (process {third.pid}) sleeps and is in no collective; "
            f"'eu-stack -p {third.pid}' shows where it is",
        ]


def test_old_pages_tell_of_waits_that_are_over():
    with rank(0, age=4):
        assert [each.waits for each in of_job()] == [False]


def test_a_stopped_rank_is_told_from_others(sumac):
    with rank(2, age=10) as process:
        os.kill(process.pid, signal.SIGSTOP)
        while state(process.pid) != "T":
            time.sleep(0.01)
        status, out, err = sumac("doctor", str(process.pid))
        assert (status, err) == (0, "")
        assert ": 1 rank here of 3, 0 waiting\n" in out
        assert f"rank 2 (process {process.pid}) is stopped (SIGSTOP)" in out
        assert "s ago it waited in allreduce on rows" in out
        assert "2 of 3 ranks are on other hosts, or have ended" in out


def test_one_job_is_chosen_by_any_of_its_processes(sumac):
    with rank(0) as one, rank(0, job=JOB + 1):
        status, out, _ = sumac("doctor", str(one.pid), "--json")
        assert status == 0 and [each["job"] for each in json.loads(out)] == [f"{JOB:x}"]
        status, out, _ = sumac("doctor", str(os.getpid()), "--json")
        assert {f"{JOB:x}", f"{JOB + 1:x}"} <= {each["job"] for each in json.loads(out)}


@pytest.mark.parametrize("words, expected", [(["1x"], 2), (["0"], 2), ([str(2**22 + 7)], 1)])
def test_exit_statuses(sumac, words, expected):
    status, _, err = sumac("doctor", *words)
    assert status == expected
    assert ("error[no-job]" in err) == (expected == 1)


def test_a_page_of_another_version_is_left_alone():
    file = os.memfd_create("rank-status.sumac")
    os.write(file, b"SUMACST9" + bytes(392))
    try:
        assert os.getpid() not in {each.pid for each in ranks.find()}
    finally:
        os.close(file)


@pytest.mark.parametrize("version, waits", [(6, True), (7, False)])
def test_a_page_that_is_half_written_tells_of_no_wait(version, waits):
    now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    file = os.memfd_create("rank-status.sumac")
    texts = (b"bcast", b"lines", b"rows", b"here", b"1")
    numbers = (0, 9, 4, 8, os.getpid(), 0, 2, 0, 2, 0)
    times = (now - 10**9, now)
    os.write(file, ranks._PAGE.pack(b"SUMACST1", version, JOB + 2, *times, *numbers, *texts))
    try:
        (own,) = [each for each in ranks.find() if each.job == JOB + 2]
        assert own.pid == os.getpid() and own.waits == waits
    finally:
        os.close(file)
