# SPDX-License-Identifier: BSD-3-Clause
"""After `make install` every command works for every user, with any Python the user has; `make
uninstall` removes it all."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from installed import BUILD, ROOT
from installing import NO_INDEX, User, files_below
from sumac_mpi.library import layout
from test_help import COMMANDS

FAMILIES = layout.Installation(BUILD).families("check")
OPTION = re.compile(r"^  (?:-\w, )?(--[a-z-]+)", re.MULTILINE)  # in a command's help
pytestmark = pytest.mark.skipif(not FAMILIES, reason="make build has built nothing")


@pytest.fixture(scope="module")
def user():
    user = User()
    yield user
    shutil.rmtree(user.folder)


@pytest.fixture(scope="module")
def prefix(user):
    """A complete installation, below a folder that did not exist."""
    return installed(user, user.folder / "new/prefix", "--plot")


def installed(user, prefix, *options):
    done = user.script("install.py", prefix, "--build", BUILD, *options)
    if "error[no-packages]" in done.stderr:
        pytest.skip("pip cannot reach an index")
    assert done.returncode == 0, done.stdout + done.stderr
    return prefix


@pytest.fixture
def sumac(user, prefix):
    def run(*arguments, **variables):
        done = user.run(prefix / "bin/sumac", *arguments, **variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_it_is_a_users_own(user, prefix):
    if user.is_root:
        pytest.skip("root's clone cannot be read by others")
    assert (prefix / "bin/sumac").stat().st_uid != 0
    for path in prefix.rglob("*"):
        readable = 0o005 if path.is_dir() else 0o004
        assert path.is_symlink() or path.stat().st_mode & readable == readable, path


def test_info_and_plan(sumac, prefix):
    assert f"in {prefix}" in sumac("info")
    assert "chosen:" in sumac("plan", "allreduce", "8", "-n", "2")


@pytest.mark.parametrize("family", FAMILIES)
def test_check(sumac, family):
    sumac("check", "-n", "2", "--mpi", family)


@pytest.mark.parametrize("family", FAMILIES)
def test_bench_and_plot(sumac, user, family):
    results, picture = user.folder / f"{family}.json", user.folder / f"{family}.png"
    sumac("bench", "allreduce", "-n", "2", "--mpi", family, "-e", "64", "--iterations", "3",
          "--rounds", "1", f"--json={results}")  # fmt: skip
    sumac("plot", results, "-o", picture)
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize("family", FAMILIES)
def test_run_and_trace(sumac, user, prefix, family):
    """The Python of jobs must not get any settings of the command's Python."""
    assert "PYTHON" not in sumac("run", "-n", "1", "--mpi", family, "/usr/bin/env")
    picture = user.folder / f"trace-{family}.png"
    program = layout.Installation(prefix).program("bench", family)
    sumac("trace", "-n", "2", "-o", picture, "--", program, "allreduce", "-e", "8", "--iterations",
          "3", "--rounds", "1")  # fmt: skip
    assert picture.stat().st_size > 1000


def test_exec(sumac):
    assert sumac("exec", "--", "/bin/echo", "here") == "here\n"


@pytest.fixture
def broken_python(user):
    """A folder of modules and programs that end the process that imports or starts them."""
    folder = user.folder / "broken"
    for module in ("typer", "rich", "elftools", "encodings", "sitecustomize"):
        (folder / module).mkdir(parents=True, exist_ok=True)
        (folder / module / "__init__.py").write_text("raise SystemExit('the wrong module')\n")
    (folder / "bin").mkdir(exist_ok=True)
    for program in ("python", "python3", "python3.11"):
        (folder / "bin" / program).write_text("#!/bin/sh\necho the wrong Python; exit 9\n")
        (folder / "bin" / program).chmod(0o755)
    site = folder / ".local/lib/python3.11/site-packages"
    site.mkdir(parents=True, exist_ok=True)
    (site / "usercustomize.py").write_text("raise SystemExit('the wrong module')\n")
    return folder


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONHOME": "/nowhere"},
        {"PYTHONPATH": "{broken}"},
        {"HOME": "{broken}"},
        {"PATH": "{broken}/bin:/usr/bin:/bin", "VIRTUAL_ENV": "{broken}"},
        {"PYTHONSTARTUP": "{broken}/typer/__init__.py", "PYTHONWARNINGS": "error"},
    ],
)
def test_the_users_python_does_not_matter(sumac, prefix, broken_python, variables):
    variables = {k: v.format(broken=broken_python) for k, v in variables.items()}
    assert f"in {prefix}" in sumac("info", **variables)


def test_documents_are_there(sumac, prefix):
    for name in ("share/doc/sumac/LICENSE", "share/doc/sumac/docs/options.md"):
        assert (prefix / name).stat().st_size > 0
    rules = prefix / "share/sumac/rules.toml"
    assert rules.read_text() == (ROOT / "src/rules/rules.toml").read_text()
    assert "chosen:" in sumac("plan", "allreduce", "8", "-n", "2", "--rules", rules)


def rendered(user, page):
    """The page as man shows it, which must have nothing to warn of."""
    if not shutil.which("man"):
        pytest.skip("there is no man")
    variables = {"MANWIDTH": "100", "MANPAGER": "cat", "LC_ALL": "C.UTF-8"}
    done = user.run("man", "--warnings=w", "--local-file", page, **variables)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.skipif(not shutil.which("help2man"), reason="help2man makes the manual")
def test_every_command_has_a_page(prefix):
    pages = {path.stem for path in (prefix / "share/man/man1").iterdir()}
    assert pages == {"sumac", *(f"sumac-{command}" for command in COMMANDS)}


@pytest.mark.skipif(not shutil.which("help2man"), reason="help2man makes the manual")
@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_page_of_command(user, sumac, prefix, command):
    name = f"sumac-{command}" if command else "sumac"
    page = rendered(user, prefix / f"share/man/man1/{name}.1")
    for option in OPTION.findall(sumac(*command.split(), "--help")):
        assert option in page
    for heading in ("NAME", "SYNOPSIS", "OPTIONS", "ENVIRONMENT", "SEE ALSO"):
        assert f"\n{heading}\n" in page


def test_page_of_variables(user, sumac, prefix):
    page = rendered(user, prefix / "share/man/man7/sumac.7")
    for option in json.loads(sumac("__options")):
        assert re.search(rf"^ +SUMAC_{option['name']}$", page, re.MULTILINE)


COMPLETIONS = {
    "bash": "bash-completion/completions/sumac",
    "zsh": "zsh/site-functions/_sumac",
    "fish": "fish/vendor_completions.d/sumac.fish",
}


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_completion(sumac, prefix, shell):
    script = prefix / "share" / COMPLETIONS[shell]
    assert script.read_text() == sumac("completion", shell)


# How a shell gets the function `module`, where Debian's packages have put it.
MODULES = {
    "lmod": "/usr/share/lmod/lmod/init/bash",
    "environment-modules": "/usr/share/modules/init/bash",
}


@pytest.mark.parametrize("kind", MODULES)
def test_module(user, prefix, kind):
    """Loaded, the module finds the command, the manual and the library; unloaded, it leaves the
    environment as it was."""
    if not Path(MODULES[kind]).exists():
        pytest.skip(f"there is no {kind}")
    script = f"""
        . {MODULES[kind]}
        module use {prefix}/share/modulefiles
        before=$(echo "$PATH:$LD_LIBRARY_PATH:$MANPATH")
        module load sumac && command -v sumac && sumac --version | head -1
        pkg-config --variable=prefix sumac | xargs realpath
        echo "$LD_LIBRARY_PATH" "$CMAKE_PREFIX_PATH"
        man -w 7 sumac
        man -w ls >/dev/null || echo "the system's manual is lost"
        module whatis sumac 2>&1 | grep -c Version
        module unload sumac
        test "$before" = "$PATH:$LD_LIBRARY_PATH:$MANPATH" || echo "left: $MANPATH"
        command -v sumac"""
    done = user.run("bash", "-c", script)
    version = (prefix / "share/modulefiles/sumac").iterdir().__next__().name.removesuffix(".lua")
    assert done.stdout.splitlines()[:5] == [
        f"{prefix}/bin/sumac", f"sumac {version}", str(prefix),
        f"{prefix}/lib {prefix}", f"{prefix}/share/man/man7/sumac.7",
    ], done.stderr  # fmt: skip
    assert done.stdout.splitlines()[5:] == ["1"], done.stdout + done.stderr


def test_uninstall(user, prefix):
    """The last test of this installation. Files of others in the prefix must stay."""
    mine = prefix / "share/mine"
    mine.touch()
    done = user.script("uninstall.py", prefix)
    assert done.returncode == 0, done.stderr
    assert files_below(prefix) == ["share", "share/mine"]
    done = user.script("uninstall.py", prefix)
    assert done.returncode == 3 and "error[manifest]" in done.stderr


@pytest.fixture(scope="module")
def lean(user):
    prefix = installed(user, user.folder / "lean")
    yield prefix
    assert user.script("uninstall.py", prefix).returncode == 0
    assert not prefix.exists()


class TestWithoutPictures:
    """What `make install` does without PLOT=1: all but pictures."""

    def test_it_is_small(self, lean):
        packages = {path.name for path in (lean / "lib/sumac/python").iterdir()}
        assert "typer" in packages and not packages & {"numpy", "matplotlib", "PIL", "fontTools"}
        files = [path for path in lean.rglob("*") if path.is_file() and not path.is_symlink()]
        assert sum(path.stat().st_size for path in files) < 80e6

    @pytest.mark.parametrize("family", FAMILIES)
    def test_what_works(self, user, lean, family):
        results = user.folder / f"lean-{family}.json"
        for arguments in (
            ("info",),
            ("check", "-n", "2", "--mpi", family),
            ("bench", "allreduce", "-n", "2", "--mpi", family, "-e", "64", "--iterations", "3",
             "--rounds", "1", f"--json={results}"),
        ):  # fmt: skip
            done = user.run(lean / "bin/sumac", *arguments)
            assert done.returncode == 0, done.stdout + done.stderr
        done = user.run(lean / "bin/sumac", "plot", results, "-o", user.folder / "lean.png")
        assert done.returncode == 3 and "error[no-matplotlib]" in done.stderr
        assert "  fix:   install Sumac by 'make install PLOT=1'" in done.stderr


@pytest.mark.parametrize("name", ["with blank", "with:colon"])
def test_a_path_that_programs_cannot_preload_is_refused(user, name):
    for arguments in ((), ("--check",)):
        done = user.script("install.py", user.folder / name, "--build", BUILD, *arguments)
        assert done.returncode == 2 and "error[bad-path]" in done.stderr
    assert not (user.folder / name).exists()


@pytest.fixture(scope="module")
def bare_path(user):
    """A PATH whose first Python has no packages, whatever those of this environment have."""
    folder = user.folder / "bare"
    assert user.run("/usr/bin/python3", "-m", "venv", "--without-pip", folder).returncode == 0
    return f"{folder}/bin:/usr/bin:/bin"


@pytest.fixture(scope="module")
def staged(user, bare_path):
    """Installs without the Python packages into /opt/sumac below DESTDIR, where an older version
    is. Returns the prefix, the files of others there, and the finished command."""
    prefix = user.folder / "stage/opt/sumac"
    others = ["bin", "bin/other", "etc", "lib", "share", "share/man"]
    older = "file bin/sumac-old\nfolder lib/sumac\n"
    user.run(
        *("sh", "-c"),
        f"mkdir -p {prefix} && cd {prefix} && mkdir -p bin lib/sumac etc share/man && "
        f"touch bin/sumac-old bin/other && printf '{older}' >lib/sumac/manifest",
    )
    destdir = str(user.folder / "stage")
    path = f"{bare_path}:{os.environ['PATH']}"  # CMake may be elsewhere
    variables = NO_INDEX | {"DESTDIR": destdir, "PATH": path}
    done = user.script("install.py", "/opt/sumac", "--build", BUILD, **variables)
    return prefix, others, done


class TestWithoutAnIndex:
    """Everything but the Python packages is installed, and a message reports that."""

    def test_it_is_said(self, staged):
        done = staged[2]
        assert done.returncode == 1 and "error[no-packages]" in done.stderr
        assert "no man pages of sumac-run, " in done.stderr or not shutil.which("help2man")
        assert "no shell completion" in done.stderr
        assert "sumac-mpi" not in done.stderr  # pip must not look for this name

    def test_what_works(self, user, staged):
        sumac = staged[0] / "bin/sumac"
        assert user.run(sumac, "exec", "--", "true").returncode == 0
        assert user.run(sumac, "plan", "barrier", "-n", "2").returncode == 0

    def test_what_does_not(self, user, staged, bare_path):
        for command in ("run", "info", "check", "bench", "tune", "plot", "trace", "simulate"):
            done = user.run(staged[0] / "bin/sumac", command, PATH=bare_path)
            assert done.returncode == 3
            assert "error[no-python]: this Python lacks typer>=" in done.stderr
            assert "make install" in done.stderr and "sumac-mpi" not in done.stderr

    def test_the_older_version_is_gone(self, staged):
        assert not (staged[0] / "bin/sumac-old").exists()

    def test_uninstall(self, user, staged):
        prefix, others, _ = staged
        done = user.script("uninstall.py", "/opt/sumac", DESTDIR=str(user.folder / "stage"))
        assert done.returncode == 0, done.stderr
        assert files_below(prefix) == others


def test_no_place_to_write(user):
    if user.is_root:
        pytest.skip("root may write anywhere")
    for script, *arguments in (["install.py"], ["install.py", "--check"], ["uninstall.py"]):
        done = user.script(script, "/proc/nowhere", *arguments)
        assert done.returncode == 3
        assert "error[prefix]" in done.stderr or "error[manifest]" in done.stderr


def test_whether_there_is_a_place_to_write(user):
    done = user.script("install.py", user.folder / "not/yet", "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (user.folder / "not").exists()


def test_a_failure_leaves_nothing(user):
    prefix = user.folder / "failed"
    done = user.script("install.py", prefix, "--build", user.folder / "no build")
    assert done.returncode == 1 and done.stderr
    assert not prefix.exists()


def test_a_damaged_list_removes_nothing(user):
    prefix = user.folder / "damaged"
    user.run("mkdir", "-p", prefix / "lib/sumac")
    user.run("sh", "-c", f"echo 'tree ../mine' >{prefix}/lib/sumac/manifest")
    user.run("mkdir", "-p", user.folder / "mine")
    done = user.script("uninstall.py", prefix)
    assert done.returncode == 1 and "error[manifest]" in done.stderr
    assert Path(user.folder / "mine").exists()
