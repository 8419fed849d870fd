# SPDX-License-Identifier: BSD-3-Clause
"""The command line as a whole: help, usage errors, run and info."""

import json
import re
import subprocess
import sys
import tomllib

import pytest
import sumac_mpi
from conftest import script
from installed import ROOT, package
from sumac_mpi.base import hardware, requirements
from sumac_mpi.commands import info
from sumac_mpi.library import tables


def test_version(sumac):
    assert sumac("--version") == (0, f"sumac {sumac_mpi.__version__}\n", "")


@pytest.mark.parametrize(
    "command", ["run", "info", "check", "bench", "tune", "plot", "trace", "simulate"]
)
def test_every_command_explains_itself(sumac, command):
    for option in ("-h", "--help"):
        status, out, _ = sumac(command, option)
        assert status == 0 and f"sumac {command}" in out


def test_no_command_is_a_question(sumac):
    status, out, _ = sumac()
    assert status == 0 and "Commands:" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("nope",),
        ("run",),
        ("run", "-n", "0", "app"),
        ("run", "--nope", "app"),
        ("bench",),
        ("bench", "scatter"),
        ("bench", "allreduce", "-f", "1"),
        ("info", "nope"),
        ("plot",),
    ],
)
def test_usage_errors_have_the_form_of_all_errors(sandbox, sumac, arguments):
    status, out, err = sumac(*arguments)
    assert status == 2 and out == ""
    *wrong, fix = err.splitlines()
    assert wrong and all(re.match(r"sumac: error\[(usage|bad-value)\]: ", line) for line in wrong)
    assert re.match("  fix:   (.*'sumac .*-h' shows|did you mean .+\\?|one of .+)", fix)


@pytest.mark.parametrize(
    ("arguments", "nearest"),
    [
        (("benhc",), "bench"),
        (("exce", "./app"), "exec"),
        (("bench", "all_reduce"), "allreduce"),
        (("bench", "MPI_Allreduce"), "allreduce"),
        (("bench", "MPI_Ireduce_scatter_block"), "ireduce_scatter"),
        (("bench", "allreduce", "-d", "duoble"), "double"),
        (("bench", "allreduce", "--op", "mxa"), "max"),
        (("bench", "reduce_local", "--types", "flaot"), "float"),
        (("bench", "pack", "--layouts", "colums"), "columns"),
        (("bench", "allreduce", "--fromat", "csv"), "--format"),
        (("bench", "allreduce", "--format", "cvs"), "csv"),
        (("run", "--mpi", "openmip", "./app"), "openmpi"),
        (("run", "--hots", "a:2", "./app"), "--hosts"),
        (("tune", "alreduce"), "allreduce"),
        (("tune", "--mpi", "opnempi"), "openmpi"),
        (("check", "--mpi", "opnempi"), "openmpi"),
        (("bench", "allreduce", "--against", "mpcih"), "mpich"),
        (("simulate", "swich"), "switch"),
        (("info", "optoins"), "options"),
        (("run", "-n", "2", "--cma", "./app"), "--set CMA=VALUE"),
    ],
)
def test_what_was_probably_meant(sandbox, sumac, tmp_path, arguments, nearest):
    script(tmp_path / "app", "#!/bin/sh\n")
    status, _, err = sumac(*arguments)
    assert status == 2 and err.endswith(f"  fix:   did you mean {nearest}?\n")


def test_a_collective_of_the_mpi_is_not_taken_for_another(sandbox, sumac):
    status, _, err = sumac("bench", "scatterv")
    assert status == 2 and "COLLECTIVE scatterv: Sumac does not serve it" in err
    assert "did you mean" not in err and "  fix:   one of allreduce, " in err


def test_all_that_is_wrong_is_told_at_once(sandbox, sumac):
    status, _, err = sumac("bench", "-n", "x", "--seconds", "-1", "-b", "4Q", "--nope", "-f")
    wrong = [line for line in err.splitlines() if line.startswith("sumac: ")]
    assert status == 2 and [line.partition(": ")[2] for line in wrong] == [
        "error[usage]: --nope: there is no such option",
        "error[usage]: -f: wants a value",
        "error[usage]: COLLECTIVE is missing",
        "error[bad-value]: '4Q' is not a size",
        "error[bad-value]: --seconds -1: less than 0.001",
        "error[bad-value]: -n x: not a whole number",
    ]
    assert err.endswith("  fix:   'sumac bench -h' shows how\n")


@pytest.mark.parametrize("command", ["bench", "run"])
def test_help_of_a_command(sandbox, sumac, command):
    assert sumac("help", command) == sumac(command, "--help")
    assert sumac("help") == sumac("--help")


class TestJson:
    def test_to_standard_output_or_a_file(self, sandbox, sumac, tmp_path):
        _, out, _ = sumac("info", "build", "--json")
        assert sumac("info", "--json=b.json", "build") == (0, "", "sumac: wrote b.json\n")
        assert json.loads((tmp_path / "b.json").read_text()) == json.loads(out)

    def test_the_next_word_is_no_file(self, sandbox, sumac, tmp_path):
        """It may be a program, or the topic."""
        assert json.loads(sumac("info", "--json", "build")[1])["version"]
        script(tmp_path / "app", "#!/bin/sh\n")
        assert json.loads(sumac("check", "--json", "./app")[1])["findings"]
        assert (tmp_path / "app").read_text() == "#!/bin/sh\n"

    def test_a_file_that_cannot_be_written(self, sandbox, sumac):
        status, _, err = sumac("info", "--json=no-folder/b.json")
        assert status == 2 and "--json no-folder/b.json: there is no such directory" in err


def run(*arguments, path="", **variables):
    """Runs the package as a program, behind a folder of other modules where one is given."""
    line, environment = package(*arguments, **variables)
    environment["PYTHONPATH"] = f"{path}:{environment['PYTHONPATH']}"
    return subprocess.run(line, env=environment, capture_output=True, text=True)


def test_the_package_is_a_program():
    done = run("--version")
    assert done.returncode == 0 and done.stdout.startswith("sumac ")


def test_missing_packages_are_told(tmp_path):
    for module in ("typer", "rich", "elftools"):
        (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError(name={module!r})")
    done = run("info", path=tmp_path)
    assert done.returncode == 3 and "error[no-python]" in done.stderr


def test_packages_that_are_too_old_are_told(tmp_path):
    """Debian 12's typer does not support annotations, and failed with a traceback."""
    for module, version in (("typer", "0.7.0"), ("rich", "15.0.0"), ("pyelftools", "0.33")):
        information = tmp_path / f"{module}-{version}.dist-info/METADATA"
        information.parent.mkdir()
        information.write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: {version}\n")
    done = run("info", path=tmp_path)
    assert done.returncode == 3 and done.stderr.startswith("sumac: error[no-python]: ")
    assert re.search(r" typer>=[\d.]+ \(has 0\.7\.0\)\n", done.stderr), done.stderr


def test_a_python_that_is_too_old_is_told(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    assert requirements.lacking()[0].startswith("Python>=3.11 (is ")


def test_the_oldest_python_is_that_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={'.'.join(map(str, requirements.OLDEST))}"


class TestRun:
    """`run` executes the launcher in its place, so it is tested in a separate process."""

    @pytest.fixture(autouse=True)
    def app(self, sandbox, tmp_path):
        """A program that does nothing, and MPICH's launcher."""
        sandbox.add_launcher("mpiexec", "mpich")
        script(tmp_path / "app", "#!/bin/sh\n")

    def test_the_programs_output_and_status_are_passed_on(self, sandbox, tmp_path):
        script(tmp_path / "app", '#!/bin/sh\necho "got $*"\nexit 7\n')
        done = run("run", "-n", "2", "./app", "-n", "5", "--", "x")
        assert (done.returncode, done.stdout) == (7, "got -n 5 -- x\n")
        sumac = sandbox.root / "bin/sumac"
        assert sandbox.launched() == [f"mpiexec -n 2 {sumac} exec -- ./app -n 5 -- x"]

    def test_dry_run_prints_a_line_for_the_shell(self, sandbox, sumac):
        status, out, _ = sumac("run", "--dry-run", "-n", "3", "-x", "A=b c", "./app")
        command = sandbox.root / "bin/sumac"
        assert (status, out) == (0, f"mpiexec -n 3 -genv A 'b c' {command} exec -- ./app\n")

    def test_options_of_sumac_reach_all_hosts(self, sandbox, sumac, monkeypatch):
        sandbox.add_launcher("mpiexec", "openmpi")
        monkeypatch.setenv("SUMAC_CMA", "off")
        _, out, _ = sumac("run", "--dry-run", "-n", "1", "./app")
        assert "-x SUMAC_CMA=off" in out and "SUMAC_ROOT" not in out

    @pytest.mark.parametrize("ranks", [("-n", "3"), ("-np", "3"), ("-n3",), ("--ranks=3",)])
    def test_the_number_of_ranks(self, sumac, ranks):
        status, out, _ = sumac("run", "--dry-run", *ranks, "./app", "-np", "5")
        assert status == 0 and out.startswith("mpiexec -n 3 ") and out.endswith("./app -np 5\n")

    def test_the_number_of_ranks_of_an_allocation(self, sandbox, sumac, monkeypatch):
        monkeypatch.setenv("SLURM_JOB_ID", "7")
        monkeypatch.setenv("SLURM_NTASKS", "5")
        script(sandbox.bin / "srun", "#!/bin/sh\n")
        command = sandbox.root / "bin/sumac"
        said = "sumac: 5 ranks, as SLURM_NTASKS=5\n"
        line = f"-n 5 {command} exec -- ./app\n"
        run = ("run", "--dry-run", "--mpi")
        assert sumac(*run, "mpich", "./app") == (0, f"mpiexec {line}", said)
        (sandbox.bin / "mpiexec").unlink()  # as where Slurm's launcher is the only one
        assert sumac(*run, "cray", "./app") == (0, f"srun {line}", said)

    @pytest.mark.parametrize(
        ("variables", "refused"),
        [
            ({}, False),
            ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "0"}, True),
            ({"OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_RANK": "3"}, True),
            ({"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}, False),
            ({"PMI_SIZE": "4", "PMI_RANK": "0"}, True),
            ({"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "0"}, True),
            ({"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}, False),  # a job script
        ],
    )
    @pytest.mark.parametrize("command", ["run", "trace", "profile"])
    def test_inside_of_a_launcher(self, sumac, monkeypatch, command, variables, refused):
        """Each process would start a job; one of them says so."""
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        status, _, err = sumac(command, "-n", "2", "./missing", "a b")
        is_first = "3" not in variables.values()
        assert status == (2 if refused else 127)
        assert ("error[run-in-job]" in err) == (refused and is_first)
        assert not (refused and is_first) or "sumac exec ./missing 'a b'\n" in err

    @pytest.mark.parametrize("rank", ["0", "1"])
    @pytest.mark.parametrize(
        "command",
        ["bench allreduce", "bench pack", "bench allreduce --against all", "tune", "check",
         "profile --measure"],
    )  # fmt: skip
    def test_programs_of_sumac_inside_of_a_launcher(
        self, sandbox, sumac, monkeypatch, command, rank
    ):
        monkeypatch.setenv("PMI_SIZE", "2")
        monkeypatch.setenv("PMI_RANK", rank)
        status, out, err = sumac(*command.split())
        assert (status, out) == (2, "") and not sandbox.launched()
        assert err == "" or "error[run-in-job]" in err and "without a launcher: 'sumac " in err
        assert bool(err) == (rank == "0")

    def test_a_shell_of_a_job_is_no_rank(self, sumac, monkeypatch):
        """As srun --pty gives one, whose processes have the variables of a rank."""
        monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "4")
        monkeypatch.setenv("SLURM_PROCID", "0")
        monkeypatch.setattr("os.isatty", lambda descriptor: True)
        status, _, err = sumac("run", "-n", "2", "./missing")
        assert status == 127 and "run-in-job" not in err

    def test_a_launcher_that_does_not_follow_from_the_program(self, sandbox, tmp_path, sumac):
        sandbox.add_launcher("mpiexec.openmpi", "openmpi")
        run = ("run", "--dry-run", "-n", "2")
        status, _, err = sumac(*run, "./app")
        assert status == 0 and "warning[mpi-guessed]: no MPI library was found in ./app" in err
        assert f"{sandbox.bin}/mpiexec of MPICH" in err
        script(tmp_path / "python3", "#!/bin/sh\nexit 1\n")
        _, _, err = sumac(*run, "./python3", "x.py")
        assert "'from mpi4py import MPI' fails in " in err
        for told in (("--mpi", "openmpi"), ("--launcher", "mpiexec")):
            assert sumac(*run, *told, "./app")[2] == ""

    @pytest.mark.parametrize(
        ("given", "family", "passed"),
        [
            (("--map-by", "core"), "openmpi", "--map-by core"),
            (("-bind-to", "none", "-v"), "mpich", "-bind-to none -v"),
            (("--mca", "btl", "self"), "openmpi", "--mca btl self"),
            (("--map-by=core",), "mpich", "--map-by=core"),
            (("-genv", "A", "-n"), "mpich", "-genv A -n"),
            (("-genv", "A", "b"), "openmpi", "-x A=b"),
            (("--timeout", "9"), "openmpi", "--timeout 9"),
            (("-host", "a:2"), "openmpi", "--host a:2"),
            (("-f", "file"), "mpich", "-hosts a:1,b:1"),
            (("--hostfile", "file"), "openmpi", "--host a:1,b:1"),
            (("-machinefile", "file"), "openmpi", "--host a:1,b:1"),
        ],
    )
    def test_options_of_launchers(self, sandbox, tmp_path, sumac, given, family, passed):
        sandbox.add_launcher("mpiexec", family)
        (tmp_path / "file").write_text("a\nb slots=1\n")
        # What stands behind the program is the program's.
        _, out, err = sumac("run", "--dry-run", "-n", "2", *given, "--mpi", family, "./app", "-v")
        assert f" {passed} " in out and out.endswith("exec -- ./app -v\n"), err

    @pytest.mark.parametrize("words", [("--np", "2"), ("--n", "2"), ("--np=2",)])
    def test_the_number_of_ranks_with_two_dashes(self, sandbox, sumac, words):
        sandbox.add_launcher("mpiexec", "openmpi")
        status, out, err = sumac("run", "--dry-run", *words, "--mpi", "openmpi", "./app")
        assert status == 0 and out.startswith("mpiexec -n 2 "), err
        status, _, err = sumac("check", *words)  # which passes nothing on to a launcher
        assert status == 2 and f"did you mean {words[0].partition('=')[0][1:]}?" in err

    def test_a_program_that_starts_a_job_itself(self, sandbox, tmp_path, sumac):
        script(tmp_path / "job", "#!/bin/sh\nmpiexec -n 2 ./app\n")
        status, out, err = sumac("run", "-n", "2", "./job", "a b")
        assert (status, out) == (2, "") and "error[own-launcher]: ./job starts an MPI job" in err
        assert "sumac exec -- ./job 'a b'," in err
        status, _, err = sumac("run", "-n", "4", "mpiexec", "./app")
        assert status == 2 and "fix:   mpiexec -n 4 sumac exec ./app\n" in err
        assert sandbox.launched() == []

    def test_settings_and_variables(self, sumac):
        run = ("run", "--dry-run", "-n", "1")
        for setting in ("CMA=off", "SUMAC_CMA=off", "cma=off"):
            _, out, _ = sumac(*run, "--set", setting, "-x", "CMA=1", "./app")
            assert out.startswith("mpiexec -n 1 -genv CMA 1 -genv SUMAC_CMA off ")

    @pytest.mark.parametrize(
        ("arguments", "status", "slug"),
        [
            (("./missing",), 127, "not-found"),
            (("./data",), 126, "not-executable"),
            (("--mpi", "lam", "./app"), 2, "bad-value"),
            (("-x", "1=2", "./app"), 2, "bad-value"),
            (("-x", "NOT_SET", "./app"), 2, "bad-value"),
            (("--set", "CMA", "./app"), 2, "bad-value"),
            (("--set", "CMA=maybe", "./app"), 2, "bad-value"),
            (("--mpi", "openmpi", "./app"), 3, "no-launcher"),
            (("--launcher", "nope", "./app"), 3, "no-launcher"),
        ],
    )
    def test_errors(self, tmp_path, sumac, arguments, status, slug):
        (tmp_path / "data").write_text("x")
        code, _, err = sumac("run", "-n", "2", *arguments)
        assert code == status and f"error[{slug}]" in err

    def test_bad_options_are_the_librarys_to_tell(self, monkeypatch, sumac):
        monkeypatch.setenv("SUMAC_CMA", "maybe")
        status, out, err = sumac("run", "--dry-run", "-n", "2", "--mpi", "mpich", "./app")
        assert (status, err) == (0, "") and "exec -- ./app" in out


class TestInfo:
    def test_summary(self, sandbox, sumac, monkeypatch):
        sandbox.add_launcher("mpiexec", "openmpi")
        sandbox.add_program("bench", "openmpi", [])
        monkeypatch.setenv("SUMAC_CMA", "off")
        status, out, _ = sumac("info")
        lines = out.splitlines()
        assert status == 0
        assert lines[0].startswith(f"Sumac    {sumac_mpi.__version__}   back ends: openmpi")
        assert lines[1].split() == [
            "MPI", "Open", "MPI", "4.1.4", f"{sandbox.bin}/mpiexec", "→", "libsumac-openmpi.so"
        ]  # fmt: skip
        assert lines[-1] == "Changed  SUMAC_CMA=off (from the environment)"

    def test_sources_of_values(self, sandbox, sumac, monkeypatch):
        rows = [
            {"name": "DISABLE", "value": "0", "source": "default", "locked": False},
            {"name": "CMA", "value": "off", "source": "/etc/sumac.conf:3", "locked": True},
        ]
        (sandbox.root.parent / "tables__settings").write_text(json.dumps(rows))
        out = sumac("info", "options")[1]
        assert "SUMAC_DISABLE  0  [default]\n" in out
        assert "SUMAC_CMA      off  [/etc/sumac.conf:3, locked by the site]\n" in out
        last = sumac("info")[1].splitlines()[-1]
        assert last == "Changed  SUMAC_CMA=off (from /etc/sumac.conf:3)"
        found = json.loads(sumac("info", "options", "--json")[1])["options"]
        assert [(row["value"], row["source"], row["locked"]) for row in found] == [
            ("0", "default", False), ("off", "/etc/sumac.conf:3", True)
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("value", "loaded", "text"),
        [
            ("alloc", True, "memory of MPI_Alloc_mem and MPI_Win_allocate_shared"),
            ("xpmem", True, "all buffers (XPMEM)"),
            ("xpmem", False, "memory of MPI_Alloc_mem and MPI_Win_allocate_shared; XPMEM's module "
                             "is not loaded"),
            ("auto", True, "all buffers (XPMEM)"),
            ("auto", False, "memory of MPI_Alloc_mem and MPI_Win_allocate_shared, and promoted "
                            "buffers"),
            ("off", True, "no buffers (SUMAC_PROMOTE=off)"),
        ],
    )  # fmt: skip
    def test_direct_memory(self, sandbox, sumac, monkeypatch, tmp_path, value, loaded, text):
        monkeypatch.setattr(info, "XPMEM", tmp_path if loaded else tmp_path / "none")
        for table, more in (
            ("options", {"kind": "choice", "default": "xpmem", "choices": "off|alloc|xpmem|auto",
                         "agreed": True, "doc": "Direct memory"}),
            ("settings", {"value": value, "source": "default", "locked": False}),
        ):  # fmt: skip
            row = {"name": "PROMOTE", **more}
            (sandbox.root.parent / f"tables__{table}").write_text(json.dumps([row]))
        assert f"Direct   {text}" in sumac("info")[1].splitlines()

    @pytest.mark.parametrize("topic", ["options", "machine", "mpi", "build"])
    def test_each_topic_also_as_json(self, sandbox, sumac, topic):
        assert sumac("info", topic)[0] == 0
        status, out, _ = sumac("info", topic, "--json")
        assert status == 0 and isinstance(json.loads(out), dict)

    @pytest.mark.parametrize(
        ("vendor", "family", "model", "lowers"),
        [
            ("GenuineIntel", "6", "85", True),  # Skylake to Cooper Lake
            ("GenuineIntel", "6", "143", False),  # Sapphire Rapids
            ("AuthenticAMD", "25", "85", False),
        ],
    )
    def test_why_short_vectors(self, sandbox, sumac, monkeypatch, vendor, family, model, lowers):
        text = f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\n"
        assert hardware.lowers_clock(text) == lowers
        monkeypatch.setattr(hardware, "lowers_clock", lambda _: lowers)
        assert ("lower this processor's clock" in sumac("info", "machine")[1]) == lowers

    def test_lines_between_processors(self, sandbox, sumac):
        _, out, _ = sumac("info", "machine")
        (line,) = [line for line in out.splitlines() if line.startswith("Lines")]
        assert line == (
            "Lines    round trip of a cache line with the first CPU: 2 CPUs near (96 to 104 ns), "
            "1 CPU far (430 ns), 1 CPU too busy to tell"
        )
        (sandbox.root.parent / "tables__lines").write_text("[]")
        tables._rows.cache_clear()
        assert "Lines" not in sumac("info", "machine")[1]

    def test_copies_between_processors(self, sandbox, sumac):
        _, out, _ = sumac("info", "machine")
        (line,) = [line for line in out.splitlines() if line.startswith("Copies")]
        assert line == (
            "Copies   224 KiB to the next CPU: 17.3 us through shared memory (19.4 us bypassing "
            "the caches), 12.3 us by single copy (cross-memory attach is fast)"
        )
        (sandbox.root.parent / "tables__copies").write_text("[]")
        tables._rows.cache_clear()
        assert "Copies" not in sumac("info", "machine")[1]

    def test_options_file_can_be_sourced(self, sandbox, sumac, monkeypatch, tmp_path):
        monkeypatch.setenv("SUMAC_DISABLE", "1")
        status, out, _ = sumac("info", "options", "--file")
        assert status == 0
        assert "# Values: auto, off\n#export SUMAC_CMA=auto" in out
        assert "# Values: yes or no\nexport SUMAC_DISABLE=1" in out
        (tmp_path / "env").write_text(out)
        shell = subprocess.run(
            ["/bin/sh", "-c", ". ./env; echo $SUMAC_DISABLE$SUMAC_CMA"],
            capture_output=True, text=True,
        )  # fmt: skip
        assert shell.stdout == "1\n"

    def test_file_is_for_options_only(self, sandbox, sumac):
        assert sumac("info", "--file")[0] == 2
