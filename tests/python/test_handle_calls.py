# SPDX-License-Identifier: BSD-3-Clause
"""Every function of the installed MPIs that takes a handle must be in tests/mpi/handle_calls.toml,
which lists how Sumac treats it, and that table must match the table of intercepted calls."""

import re
import shutil
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CALLS = (ROOT / "src/interpose/calls.def").read_text()


def rows():
    """The rows of handle_calls.toml, with the names that calls.def has for them."""
    found = tomllib.loads((ROOT / "tests/mpi/handle_calls.toml").read_text())["row"]
    named = {name for row in found for name in row.get("names", [])}
    for row in found:
        if kind := row.get("rows"):
            of_table = re.findall(rf"^{kind}\((\w+)", CALLS, re.M)
            more = dict.fromkeys(name.removesuffix("_c") for name in of_table)
            row["names"] = [*row.get("names", []), *(name for name in more if name not in named)]
    return found


ROWS = rows()
PROTOTYPE = re.compile(r"\bint\s+MPIX?_(\w+)\s*\(([^;]*?)\)", re.DOTALL)
HANDLE = re.compile(r"\bMPI_(?:Request|Datatype|Op|Comm)\b")


def functions(text):
    """Names, without prefix and without _c, of functions that take or return a handle."""
    found = {name for name, arguments in PROTOTYPE.findall(text) if HANDLE.search(arguments)}
    return {name.removesuffix("_c") for name in found if not name.endswith("_function")}


def header(wrapper, option):
    """The text of the MPI's headers; the test is skipped where there is no such MPI."""
    if not shutil.which(wrapper):
        pytest.skip(f"no {wrapper}")
    line = subprocess.run([wrapper, option], capture_output=True, text=True, check=True).stdout
    folders = map(Path, re.findall(r"-I(\S+)", line))
    texts = [path.read_text() for folder in folders for path in folder.glob("mpi*.h")]
    assert texts, f"no headers of {wrapper}"
    return "\n".join(texts)


def test_each_function_is_in_one_row():
    names = Counter(name for row in ROWS for name in row["names"])
    assert not [name for name, rows in names.items() if rows > 1]
    assert {row["what"] for row in ROWS} == {"taken", "seen", "passed"}
    assert all(len(row["why"]) > 20 for row in ROWS)


@pytest.mark.parametrize(
    ("wrapper", "option"), [("mpicc.mpich", "-show"), ("mpicc.openmpi", "--showme:compile")]
)
def test_every_function_has_a_row(wrapper, option):
    found = functions(header(wrapper, option))
    assert len(found) > 200
    assert not found - {name for row in ROWS for name in row["names"]}


def test_taken_and_seen_are_intercepted():
    calls = set(re.findall(r"^SUMAC_(?:CALL|COLLECTIVE|COUNTED)\((\w+)", CALLS, re.M))
    calls = {name.removesuffix("_c") for name in calls}
    handled = {name for row in ROWS if row["what"] != "passed" for name in row["names"]}
    assert not handled - calls
    # Functions of MPI 4.1, functions without a handle, and those that only pass handles on.
    others = {
        "Init",
        "Init_thread",
        "Finalize",
        "Request_get_status_all",
        "Request_get_status_any",
        "Request_get_status_some",
        "Win_free",
        "Alloc_mem",
        "Free_mem",
    }
    assert calls - handled == others
