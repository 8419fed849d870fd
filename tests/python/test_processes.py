# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of a command end before it does, whatever their launcher leaves behind."""

import os
import subprocess
from pathlib import Path

import pytest
from sumac_mpi.launch import processes

# A launcher that leaves a proxy in a session of its own, and a rank below it, when it is ended.
LAUNCHER = 'setsid sh -c "sleep 1000 & echo \\$!; wait" & wait'
LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("fails", [False, True])
def test_a_job_ends_with_what_its_launcher_left(monkeypatch, fails):
    if not LISTS_CHILDREN:
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


@pytest.mark.parametrize("ends_when_asked", [False, True])
def test_ctrl_c_while_a_launcher_is_being_started(monkeypatch, ends_when_asked):
    if not LISTS_CHILDREN:
        pytest.skip("this kernel does not list a process's children")
    monkeypatch.setattr(processes, "GRACE_SECONDS", 0.1)
    started = []
    popen = subprocess.Popen

    def interrupted(*arguments, **named):
        started.append(popen(*arguments, **named))
        started[0].stdout.readline()
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    ignore = "" if ends_when_asked else "trap : TERM; "
    command = ["sh", "-c", f"{ignore}echo; while :; do sleep 1; done"]
    with pytest.raises(KeyboardInterrupt), processes.job(command, dict(os.environ)):
        pass
    assert not runs(started[0].pid)
    started[0].stdout.close()
    started[0].poll()
