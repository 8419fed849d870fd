# SPDX-License-Identifier: BSD-3-Clause
"""The installed `sumac check` on a machine with problems: in mount namespaces, with system calls
refused, and with MPIs that cannot start."""

import json
import os

import pytest
from conftest import script
from installed import BUILD as PROGRAMS
from installed import COMMAND, FAMILIES, INSTALLATION, needs_command, run
from sumac_mpi.library.layout import FAMILIES as NAMES
from terminal import can_mount

pytestmark = needs_command
in_namespace = pytest.mark.skipif(
    not COMMAND.exists() or not can_mount(), reason="no mount namespaces for this user"
)


def check(*arguments, before=(), **environment):
    """Runs `sumac check`; returns the exit status and {check: finding}."""
    done = run(*before, COMMAND, "check", "--json", *arguments, **environment)
    found = json.loads(done.stdout)
    assert found["exit"] == done.returncode, done.stderr
    return done.returncode, {each["what"]: each for each in found["findings"]}


def mounted(how):
    return (
        "unshare",
        "-m",
        "sh",
        "-c",
        f'mount -t tmpfs -o mode=1777 t /dev/shm && {how} && exec "$@"',
        "sh",
    )


@in_namespace
@pytest.mark.parametrize("how", ["mount -o remount,ro /dev/shm", "umount /dev/shm", "true"])
def test_shared_memory_needs_nothing_of_dev_shm(how):
    # A job of one rank needs no shared memory of the MPI's, so it starts.
    code, found = check("-n", "1", "--mpi", FAMILIES[0], before=mounted(how))
    assert code == 0
    assert found["shared memory"]["status"] == "ok" and not found["shared memory"]["why"]


@in_namespace
def test_a_library_where_nothing_may_be_executed():
    file = INSTALLATION.library
    how = f"mount --bind {file} {file} && mount -o remount,bind,noexec {file}"
    code, found = check("--mpi", FAMILIES[0], before=mounted(how))
    assert code == 3
    assert "noexec" in found["installation"]["detail"]


@pytest.mark.parametrize("family", FAMILIES)
def test_attach_refused_as_in_containers(family):
    refuse = PROGRAMS / "tests/sumac_test_refuse"
    if not refuse.exists():
        pytest.skip(f"there is no {refuse}")
    code, found = check("--mpi", family, before=(str(refuse), "attach", "all"))
    finding = found[f"{NAMES[family]}: large messages"]
    assert code == 0 and finding["status"] == "warning"
    assert "Operation not permitted" in finding["detail"] and "SYS_PTRACE" in finding["fix"]


def test_a_static_program():
    program = PROGRAMS / "cli/tests/programs/all_static"
    if not program.exists():
        pytest.skip(f"there is no {program}")
    code, found = check("--", str(program))
    assert code == 3 and found["program"]["status"] == "problem"
    assert "linked statically" in found["program"]["detail"] and found["program"]["fix"]
    assert not any(name in NAMES.values() for name in found)


@pytest.mark.parametrize(
    ("family", "environment", "said"),
    [
        ("openmpi", {"OMPI_MCA_orte_tmpdir_base": "/proc"}, "/proc/ompi"),
        ("mpich", {"HYDRA_IFACE": "nope0"}, "unable to find interface nope0"),
    ],
)
def test_an_mpi_that_cannot_start_says_why(family, environment, said):
    if family not in FAMILIES:
        pytest.skip(f"no {family}")
    code, found = check("--mpi", family, **environment)
    finding = found[NAMES[family]]
    assert code == 1 and finding["status"] == "problem" and said in finding["why"]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_launcher_of_another_mpi(family):
    other = {"openmpi": "mpich", "mpich": "openmpi"}[family]
    if other not in FAMILIES:
        pytest.skip(f"no {other}")
    bench = str(INSTALLATION.program("bench", family))
    code, found = check("--launcher", f"mpiexec.{other}", "--", bench)
    assert code == 3 and found["launcher"]["status"] == "problem"
    assert NAMES[family] in found["launcher"]["detail"] and found["launcher"]["fix"]


def test_no_launcher_at_all(tmp_path):
    script(tmp_path / "python3", f'#!/bin/sh\nexec {os.sys.executable} "$@"\n')
    code, found = check(PATH=str(tmp_path))
    assert code == 3 and "install openmpi-bin" in found["no launcher"]["fix"]
