# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of a command end before it does, whatever their launcher leaves behind."""

import os
import subprocess
from pathlib import Path

import pytest
from sumac_mpi.launch import processes

# A launcher that leaves a proxy in a session of its own, and a rank below it, when it is ended.
LAUNCHER = 'setsid sh -c "sleep 1000 & echo \\$!; wait" & wait'


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("fails", [False, True])
def test_a_job_ends_with_what_its_launcher_left(monkeypatch, fails):
    if not Path(f"/proc/self/task/{os.getpid()}/children").exists():
        pytest.skip("this kernel does not list a process's children")
    monkeypatch.setattr(processes, "GRACE_SECONDS", 0.1)
    other = subprocess.Popen(["sleep", "1000"])
    rank = 0
    try:
        with processes.job(["sh", "-c", LAUNCHER], dict(os.environ)) as launcher:
            rank = int(launcher.stdout.readline())
            assert runs(rank)
            if fails:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        assert fails
    assert launcher.poll() is not None
    assert not runs(rank)
    assert runs(other.pid), "it is none of the job's"
    other.kill()
    other.wait()
