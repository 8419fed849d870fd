# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C and other signals while a command runs a job: on a terminal, with the real MPIs."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

pytest.importorskip("pexpect")

from conftest import script  # noqa: E402
from installed import COMMAND, FAMILIES, INSTALLATION, needs_command, package  # noqa: E402
from sumac_mpi.base import endings  # noqa: E402
from sumac_mpi.launch import processes  # noqa: E402
from terminal import Terminal  # noqa: E402

# So long that they have not ended when the second size has.
BENCHES = {
    "allreduce": ("-n", "2", "--seconds", "0.4"),
    "iallreduce": ("-n", "2", "--seconds", "0.4", "--overlap"),
    "bcast-persistent": ("-n", "2", "--seconds", "0.4"),
    "reduce_local": ("--sizes", "64K", "--seconds", "0.4"),
    "pack": ("--sizes", "64K", "--seconds", "0.4"),
}


def assert_nothing_is_left(terminal):
    assert terminal.processes() == []
    assert terminal.left_in_shm == ""
    assert terminal.cursor_is_shown


@needs_command
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("call", BENCHES)
def test_ctrl_c_keeps_what_was_measured(family, call, tmp_path):
    terminal = Terminal(
        "bench", call, "--mpi", family, "--json=r.json", *BENCHES[call], cwd=tmp_path
    )
    terminal.wait_for(r"\b2/\d+")
    terminal.press_ctrl_c()
    terminal.end()
    assert terminal.status == 130
    # On a busy machine more than the two sizes waited for may be complete.
    told = re.search(r"# incomplete: interrupted after (\d+) of (\d+) ", terminal.output)
    measured = int(told[1])
    assert 2 <= measured < int(told[2])
    assert "Traceback" not in terminal.output
    assert_nothing_is_left(terminal)
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["incomplete"] == document["runs"][0]["incomplete"] == "interrupted"
    # A size has a row for each mode of the machine in which it was measured.
    rows = document["runs"][0]["sizes"]
    assert len({(row.get("type"), row.get("op"), row["bytes"]) for row in rows}) == measured


@needs_command
@pytest.mark.parametrize("family", FAMILIES)
def test_tune_goes_on_after_ctrl_c(family, tmp_path):
    arguments = ("tune", "bcast", "--mpi", family, "-n", "2", "--sizes", "64,64K", "--turns", "2",
                 "--seconds", "0.2")  # fmt: skip
    terminal = Terminal(*arguments, cwd=tmp_path)
    terminal.wait_for(r"\b2/\d+")
    terminal.press_ctrl_c()
    terminal.end()
    assert terminal.status == 130 and "Traceback" not in terminal.output
    assert "# incomplete: interrupted after " in terminal.output
    assert_nothing_is_left(terminal)
    (kept,) = tmp_path.iterdir()
    assert kept.name == "tuned.toml.measured"
    measured = len(json.loads(kept.read_text())["jobs"])
    assert measured >= 2
    terminal = Terminal(*arguments, cwd=tmp_path)
    terminal.end()
    assert terminal.status == 0 and re.search(r"\d+ rules? in tuned\.toml", terminal.output)
    assert [each.name for each in tmp_path.iterdir()] == ["tuned.toml"]


@needs_command
@pytest.mark.parametrize("family", FAMILIES)
def test_ctrl_c_before_the_first_size(family, tmp_path):
    terminal = Terminal("bench", "allreduce", "--mpi", family, "-n", "2", "-b", "4M",
                        "--seconds", "100", "--json=r.json", cwd=tmp_path)  # fmt: skip
    terminal.wait_for(r"0/1\b")
    terminal.press_ctrl_c()
    terminal.end()
    assert terminal.status == 130
    assert_nothing_is_left(terminal)
    assert list(tmp_path.iterdir()) == []


@needs_command
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("command", [("run",), ("trace",)])
def test_ctrl_c_ends_a_program(family, command, tmp_path):
    program = INSTALLATION.program("bench", family)
    terminal = Terminal(
        *command, "-n", "2", "--", str(program), "allreduce", "--seconds", "0.4", cwd=tmp_path
    )
    terminal.wait_for('"kind":"size"')
    terminal.press_ctrl_c()
    terminal.end()
    if command == ("trace",):  # the launcher's own status; MPICH's is 0
        assert terminal.status == 130
    assert "Traceback" not in terminal.output
    assert_nothing_is_left(terminal)
    assert list(tmp_path.iterdir()) == []


@needs_command
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("family", FAMILIES)
def test_other_signals_end_the_job_too(family, number, tmp_path):
    """`kill` and batch systems send these signals to this process only."""
    process = subprocess.Popen(
        [COMMAND, "bench", "allreduce", "-n", "2", "--mpi", family, "--seconds", "0.4",
         "--json=r.json"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # Below nohup, or in the background of a shell, the tests' own process ignores some.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )  # fmt: skip
    read = [process.stdout.readline() for _ in range(5)]
    process.send_signal(number)
    out, err = process.communicate()
    assert process.returncode == -number, read + [out, err]
    by = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    assert f"# incomplete: {by} after" in out and "Traceback" not in err
    assert json.loads((tmp_path / "r.json").read_text())["incomplete"] == by


@needs_command
def test_a_pipe_that_closes_ends_the_job(tmp_path):
    process = subprocess.Popen(
        [COMMAND, "bench", "allreduce", "-n", "2", "--seconds", "0.3", "--json=r.json"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    for _ in range(5):
        process.stdout.readline()
    process.stdout.close()
    assert process.wait() == -signal.SIGPIPE
    assert process.stderr.read() == "sumac: wrote r.json\n"
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["incomplete"] == "standard output was closed"


def test_a_job_that_does_not_listen_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "GRACE_SECONDS", 0.2)
    deaf = script(tmp_path / "deaf", "#!/bin/sh\ntrap '' TERM INT\necho on\nsleep 600 & wait\n")
    with (
        pytest.raises(endings.Ended),
        processes.job([str(deaf)], dict(os.environ)) as process,
    ):
        assert process.stdout.readline() == b"on\n"
        raise endings.Ended(signal.SIGTERM)
    assert process.returncode == -signal.SIGKILL


def test_signals_that_are_ignored_stay_so():
    earlier = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with endings.signals():
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, earlier)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_check_shows_what_it_found_until_then(sandbox, number):
    sandbox.add_launcher("mpiexec", "openmpi")
    sandbox.add_program("check", "openmpi", [])
    program = sandbox.root / "lib/sumac/sumac-check-openmpi"
    program.write_text("#!/bin/sh\necho started >&2\nexec /bin/sleep 600\n")
    line, environment = package("check", PYTHONUNBUFFERED="1")
    process = subprocess.Popen(
        line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not sandbox.launched() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate()
    assert (process.returncode, err) == (-number, "")
    assert out.startswith("ok") and "shared memory" in out
