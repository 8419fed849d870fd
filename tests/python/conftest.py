# SPDX-License-Identifier: BSD-3-Clause
"""Installations of Sumac with small scripts as MPI launchers, so that no MPI is started."""

from __future__ import annotations

import json
import os
import signal
import sys
import zlib
from functools import cache
from pathlib import Path

import pytest
import records
from installed import COMMAND, INSTALLATION
from sumac_mpi.commands import main
from sumac_mpi.launch import launcher
from sumac_mpi.library import tables

# Jobs that a shell runs in the background ignore Ctrl-C, and so would all that is started here.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Answers --version like the launcher of a family. Otherwise records its arguments and its
# environment, and runs the command that begins with Sumac's once.
LAUNCHER = """#!/bin/sh
if [ "$1" = --version ]; then echo '{version}'; exit 0; fi
echo "{name} $*" >>"{log}"
while [ $# -gt 0 ]; do
  case ${{1##*/}} in sumac | sumac-bench-*) exec "$@" ;; esac
  shift
done
"""

SUMAC = """#!{python} -IS
import os, sys
if os.path.exists({tables!r} + sys.argv[1]):
    print(open({tables!r} + sys.argv[1]).read())
elif sys.argv[1] == "__check-env":
    if os.environ.get("SUMAC_CMA", "auto") not in ("auto", "off"):
        sys.exit("sumac: error[bad-value]: SUMAC_CMA is not one of auto, off")
elif sys.argv[1] == "__check-set":
    for name, equals, value in (word.partition("=") for word in sys.argv[2:]):
        is_cma = name.upper().removeprefix("SUMAC_") == "CMA"
        if not equals or is_cma and value not in ("auto", "off"):
            sys.exit(f"sumac: error[bad-value]: --set {{name}}{{equals}}{{value}}: bad")
elif sys.argv[1] == "__disabled":
    sys.exit(os.environ.get("SUMAC_DISABLE") != "1")
elif sys.argv[1] == "__settings":
    import json
    rows = json.load(open({tables!r} + "__options"))
    own = [os.environ.get("SUMAC_" + row["name"]) for row in rows]
    print(json.dumps([
        dict(name=row["name"], value=value or row["default"], locked=False,
             source="environment" if value else "default")
        for row, value in zip(rows, own)
    ]))
elif sys.argv[1:3] == ["exec", "--"]:
    os.execvp(sys.argv[3], sys.argv[3:])
"""

# Prints the records in the file that the test has written, and ends with the status that the file
# gives.
PROGRAM = """#!/bin/sh
cat "{records}"
exit "$(cat "{records}.status" 2>/dev/null || echo 0)"
"""

VERSIONS = {
    "openmpi": "mpiexec (OpenRTE) 4.1.4",
    "openmpi5": "mpiexec (Open MPI) 5.0.11",
    "mpich": "HYDRA build details:\n    Version:                                 4.0.2",
    "intel": "Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 20260101",
}

OPTIONS = [
    {"name": "DISABLE", "kind": "flag", "default": "0", "choices": "", "agreed": False,
     "doc": "Hand every call to the MPI below"},
    {"name": "CMA", "kind": "choice", "default": "auto", "choices": "auto|off", "agreed": True,
     "doc": "Cross-memory attach for large messages"},
]  # fmt: skip


# Tables of the library that these tests take from the build. The others have few rows here.
OF_THE_BUILD = ("collectives", "functions", "types", "layouts", "distances")
ALGORITHMS = [
    {"collective": collective, "name": name, "needs": needs, "order": "rank", "doc": "",
     "unruled": ""}
    for collective, name, needs in (
        ("allreduce", "flat_lines", "lines"), ("allreduce", "flat_slots", "slots"),
        ("allreduce", "single_copy", "single_copy"), ("allreduce", "ring", "messages"),
        ("allreduce", "levels", "levels"), ("bcast", "slots", "slots"),
        ("barrier", "flat", "slots"))
]  # fmt: skip
LINES = [
    {"name": name, "cpu": cpu, "ns": ns}
    for cpu, (name, ns) in enumerate(
        [("near", 104), ("near", 96), ("far", 430), ("unknown", None)], start=1)
]  # fmt: skip
COPIES = [
    {
        "name": "fast",
        "bytes": 229376,
        "cached_ns": 17332,
        "streamed_ns": 19400,
        "attached_ns": 12307,
    }
]


@cache
def tables_of_the_build() -> dict[str, list[dict]]:
    if not COMMAND.exists():
        pytest.skip(f"there is no {COMMAND}")
    return {name: tables.rows(name, INSTALLATION) for name in OF_THE_BUILD}


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Sandbox:
    """A test's own PATH, and an installation below `root`."""

    def __init__(self, directory: Path) -> None:
        self.bin = directory / "bin"
        self.bin.mkdir()
        self.root = directory / "root"
        self.log = directory / "launched"
        folder = directory / "tables"
        own = {"options": OPTIONS, "algorithms": ALGORITHMS, "lines": LINES, "copies": COPIES}
        for name, rows in (own | tables_of_the_build()).items():
            Path(f"{folder}__{name}").write_text(json.dumps(rows))
        script(self.root / "bin/sumac", SUMAC.format(python=sys.executable, tables=str(folder)))
        (self.root / "lib/sumac").mkdir(parents=True)
        (self.root / "lib/libsumac.so").touch()

    def add_launcher(self, name: str, family: str, directory: Path | None = None) -> Path:
        text = LAUNCHER.format(version=VERSIONS[family], name=name, log=self.log)
        return script((directory or self.bin) / name, text)

    def add_program(self, name: str, family: str, records: list[dict], status: int = 0) -> None:
        """Makes sumac-bench-<family> or sumac-check-<family>, which prints these records."""
        path = self.root / f"lib/sumac/sumac-{name}-{family}"
        file = path.with_suffix(".records")
        file.write_text("".join(json.dumps(record) + "\n" for record in records))
        Path(f"{file}.status").write_text(str(status))
        script(path, PROGRAM.format(records=file))
        (self.root / f"lib/sumac/libsumac-{family}.so").touch()

    def launched(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture(autouse=True)
def outside_of_any_job(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("SLURM_", "PMI_", "OMPI_COMM_"))]:
        monkeypatch.delenv(name)


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    result = Sandbox(tmp_path)
    for name in [name for name in os.environ if name.startswith("SUMAC_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", f"{result.bin}:/usr/sbin:/sbin")
    # The scripts need a shell's tools, but must not find this machine's launchers.
    for tool in ("cat", "echo"):
        (result.bin / tool).symlink_to(f"/bin/{tool}")
    monkeypatch.setenv("SUMAC_ROOT", str(result.root))
    monkeypatch.chdir(tmp_path)
    launcher._identify.cache_clear()
    return result


@pytest.fixture
def one_mpi(sandbox: Sandbox) -> Sandbox:
    """A sandbox with a launcher of Open MPI, and its benchmark program."""
    sandbox.add_launcher("mpiexec", "openmpi")
    sandbox.add_program("bench", "openmpi", records.session())
    return sandbox


@pytest.fixture
def sumac(capfd: pytest.CaptureFixture[str]):
    """Runs a command line; returns (exit status, standard output, standard error)."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = main.main(arguments)
        out, err = capfd.readouterr()
        return status, out, err

    return run


# 'make check' leaves tests that are marked slow to 'make check-all', and each case of a test with
# every family of MPIs: the families take turns at the cases, as in ctest (sumac_take_turns).


def pytest_addoption(parser) -> None:
    parser.addoption(
        "--in-turns",
        action="store_true",
        help="each case with one family of MPIs, and nothing that is marked slow",
    )


def pytest_configure(config) -> None:
    config.addinivalue_line("markers", "slow: 'make check' leaves it to 'make check-all'")


def case_of(item) -> tuple[str, str, str]:
    """The name of a test, its family or "", and its other parameters."""
    parameters = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    family = parameters.pop("family", "")
    return item.nodeid.split("[")[0], family, repr(parameters)


def chosen(items: list) -> list:
    """The items that 'make check' runs, in their order."""
    families: dict[str, list] = {}
    cases: dict[str, list] = {}
    for item in items:
        name, family, case = case_of(item)
        for seen, what in ((families, family), (cases, case)):
            of_test = seen.setdefault(name, [])
            if what not in of_test:
                of_test.append(what)

    def has_its_turn(item) -> bool:
        name, family, case = case_of(item)
        number = zlib.crc32(name.encode()) + cases[name].index(case)
        return families[name][number % len(families[name])] == family

    return [item for item in items if not item.get_closest_marker("slow") and has_its_turn(item)]


def pytest_collection_modifyitems(config, items) -> None:
    if config.getoption("--in-turns"):
        kept = chosen(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
