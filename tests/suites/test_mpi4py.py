# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests, of the installed release: those of collectives, of requests and of functions
that Sumac exports, but not those that start processes. On every MPI that `sumac bench --against
all` would find: `sumac bench --install-mpis` fetches others."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import ROOT, Job, compare
from sumac_mpi.launch import installations

SOURCES = ROOT / "build/suites"
# Each rank writes to a file of its own, because the lines of several ranks could be mixed.
SCRIPT = 'exec "$0" test/main.py -v -i "$1" >"$2/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" 2>&1'
# Test modules: with one rank those that test which functions exist, with several those that
# communicate.
ALONE = (
    r"test_(attributes|cco_(buf|nb_buf|pr_buf)|errhandler|grequest|info|mpiapi|op|request|session|"
    r"threads)\b"
)
TOGETHER = r"test_(cco_(buf|nb_buf|pr_buf)|op|request|session)\b"
CROWDED = r"test_(cco_buf|request)\b"  # with ranks > processors, MPICH takes milliseconds per call
# Sumac provides functions that an MPI lacks, so fewer tests are skipped.
SKIPPED = re.compile(r"(, | \()skipped=\d+\)?")
VERDICT = re.compile(r"^(?:(?:ERROR|FAIL): .*|Ran \d+ tests|(?:OK|FAILED)\b.*)", re.MULTILINE)


@pytest.fixture(scope="session")
def source() -> Path:
    """The source of the release with its tests, which the wheel lacks."""
    version = importlib.metadata.version("mpi4py")
    folder = SOURCES / f"mpi4py-{version}"
    archive = SOURCES / f"mpi4py-{version}.tar.gz"
    if not archive.exists():
        download = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
        wanted = ["--no-deps", "--no-binary=mpi4py", f"--dest={SOURCES}", f"mpi4py=={version}"]
        done = subprocess.run(
            [*download, *wanted], capture_output=True, text=True, check=False, timeout=300
        )
        if done.returncode != 0:
            pytest.skip(f"no source of mpi4py {version}: {done.stderr.strip().splitlines()[-1:]}")
    if not folder.exists():
        shutil.unpack_archive(archive, SOURCES)
    return folder


@pytest.fixture(params=["openmpi4", "openmpi5", "mpich4", "mpich5", "intel"])
def mpi(request: pytest.FixtureRequest) -> installations.Mpi:
    found = {each.name: each for each in installations.found()}
    return found.get(request.param) or pytest.skip(f"no {request.param}")


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_mpi4py(ranks, mpi, source, tmp_path, record_property):
    modules = {1: ALONE, 2: TOGETHER, 3: CROWDED, 4: CROWDED}[ranks]
    variables = {"MPI4PY_LIBMPI": str(mpi.library)} if mpi.library else {}
    command = ["sh", "-c", SCRIPT, sys.executable, modules, tmp_path]

    def verdicts(_: str) -> list[str]:
        facts = []
        for rank in range(ranks):
            output = tmp_path / str(rank)
            text = output.read_text(encoding="utf-8", errors="replace")
            facts += [f"rank {rank}: {SKIPPED.sub('', fact)}" for fact in VERDICT.findall(text)]
            output.unlink()
        assert not any("Ran 0 tests" in fact for fact in facts)
        return facts

    job = Job(mpi.family, ranks, command, source, mpi.launcher.path, variables)
    compare(job, verdicts, record_property, least=2 * ranks)
