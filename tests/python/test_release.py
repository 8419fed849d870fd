# SPDX-License-Identifier: BSD-3-Clause
"""What a release consists of agrees: one version, the change log, the promise of sumac.h; and the
recipes of packaging/, filled in as for a release and read as Spack, EasyBuild and rattler-build
read them, name this version, what the project needs, and settings that CMake knows. Nothing is
built."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import tomllib
import types

import pytest
import release
import sumac_mpi
import yaml
from installed import COMMAND, ROOT, output_of, run, sumac

VERSION = sumac_mpi.__version__


def test_the_command_has_the_version_of_the_package():
    if COMMAND.exists():
        first, build = sumac("--version").stdout.splitlines()
        assert first == f"sumac {VERSION}"
        assert re.fullmatch(r"commit ([0-9a-f]+\+?|unknown), \w+ [\d.]+, \w*", build)
        assert f"Built    {build}\n" in sumac("info", "build").stdout


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == VERSION and citation["license"] == "BSD-3-Clause"
    (authors,) = citation["authors"]
    assert authors["name"].removeprefix("The ") in (ROOT / "LICENSE").read_text()


def test_the_version_is_written_once():
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    cmake = (ROOT / "CMakeLists.txt").read_text()
    assert not re.search(r"project\(sumac[^)]*VERSION \d", cmake)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" in project["project"]["dynamic"]
    read_from = project["tool"]["scikit-build"]["metadata"]["version"]["input"]
    assert read_from == "python/sumac_mpi/__init__.py"


def test_the_changes_of_this_version_are_described():
    headings = re.findall(r"^## (\S+),? ?(.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0][0].rstrip(",") == VERSION


def names_of(text: str) -> set[str]:
    without_comments = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    return set(re.findall(r"\b(?:sumac_\w+(?=\()|SUMAC_(?!SUMAC_H)[A-Z0-9_]+)", without_comments))


def test_all_of_the_header_is_promised():
    """tests/abi/promised.c has every function and constant; the compiler compares the types."""
    header = names_of((ROOT / "include/sumac/sumac.h").read_text())
    rows = (ROOT / "tests/abi/promised.c").read_text()
    promised = set(re.findall(r"^ *FUNCTION\([^,]+, (sumac_\w+),", rows, re.MULTILINE))
    promised |= set(re.findall(r"^CONSTANT\((\w+),", rows, re.MULTILINE))
    assert header == promised
    assert len(promised) >= 29


ARCHIVE = f"sumac-{sumac_mpi.__version__}.tar.gz"
URL = "https://example.org/files"
CONDA_NAMES = {"matplotlib": "matplotlib-base"}  # others have their names of pip, in lower case


def python_packages() -> dict[str, str]:
    """{name: lowest version} of what the command needs, or can use."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    rows = sum(project["optional-dependencies"].values(), project["dependencies"])
    return dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", row).groups() for row in rows)


PINNED = re.compile(r"^([\w-]+)==[\w.]+((?: \\\n    --hash=sha256:[0-9a-f]{64})*)$", re.MULTILINE)


def pinned(name: str) -> set[str]:
    """The packages of a file of python/, of which each must have hashes and nothing else may be
    there."""
    text = (ROOT / "python" / name).read_text()
    rows = PINNED.findall(text)
    assert all(hashes for _, hashes in rows)
    rest = PINNED.sub("", text)
    assert all(line.startswith("#") for line in rest.splitlines() if line)
    return {package for package, _ in rows}


def test_requirements_have_hashes_and_all_packages():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    names = [row.split(">=")[0] for row in project["dependencies"] + extras["hosts"]]
    needed, plot = pinned("requirements.txt"), pinned("requirements-plot.txt")
    assert set(names) <= needed
    assert {row.split(">=")[0] for row in extras["plot"]} <= plot
    assert not needed & plot and "numpy" in plot
    assert not pinned("requirements-check.txt") & (needed | plot)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a release, with an archive that holds something else."""
    made = tmp_path_factory.mktemp("release")
    (made / ARCHIVE).write_bytes(b"archive")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        release.add_recipes(ROOT, sumac_mpi.__version__, URL, made)
    return made


HASH = hashlib.sha256(b"archive").hexdigest()


def test_all_places_are_filled_in(folder):
    names = {path.name for path in folder.rglob("*") if path.is_file()}
    assert {"sumac.spec", "sumac.def", "package.py", "recipe.yaml", "repo.yaml"} <= names
    for path in folder.rglob("*"):
        if path.is_file() and path.name != ARCHIVE:
            assert "@" not in path.name
            assert not re.search(r"@[A-Z0-9]+@", path.read_text()), path


def test_easybuild_names_this_release(folder):
    (path,) = (folder / "easybuild").glob("*.eb")
    assert path.name == f"sumac-{sumac_mpi.__version__}-gompi-2024a.eb"
    scope = {"PYPI_SOURCE": "https://pypi.org"}
    exec(path.read_text(), scope)
    assert (scope["version"], scope["checksums"]) == (sumac_mpi.__version__, [HASH])
    assert f"{scope['source_urls'][0]}/{scope['sources'][0]}" == (
        f"{URL}/%(name)s-%(version)s.tar.gz"
    )
    modules = scope["dependencies"] + scope["builddependencies"]
    names = {name.lower() for name, *_ in modules + scope["exts_list"]}
    assert {"typer", "pyelftools", "clustershell", "hwloc", "highway", "tomlplusplus"} <= names
    cmake = (ROOT / "cmake/SumacMpiFamilies.cmake").read_text()
    for setting in re.findall(r"-D(SUMAC_OPENMPI_\w+)", scope["configopts"]):
        assert setting in cmake


def test_the_rpm_is_of_this_release(folder):
    text = (folder / "sumac.spec").read_text()
    assert f"\nVersion:        {sumac_mpi.__version__}\n" in text
    assert f"\nSource0:        {URL}/sumac-%{{version}}.tar.gz\n" in text
    assert "\n* Tue Nov 14 2023 " in text


class Mpi:
    """What Spack says about the MPI of a build."""

    def __init__(self, name: str) -> None:
        self.name, self.prefix = name, f"/opt/{name}"
        self.mpicc, self.mpicxx = f"/opt/{name}/bin/mpicc", f"/opt/{name}/bin/mpicxx"


@pytest.fixture
def spack(folder, monkeypatch):
    """The class of the recipe, and the directives in it as [(name, arguments, options)]."""
    said: list[tuple] = []

    def directive(name):
        return lambda *arguments, **options: said.append((name, arguments, options))

    def decorator(*_, **__):
        return lambda function: function

    module = types.ModuleType("spack.package")
    for name in ("version", "license", "variant", "depends_on", "conflicts"):
        setattr(module, name, directive(name))
    module.run_after = module.on_package_attributes = decorator
    module.Executable = None
    module.find_libraries = lambda names, root, recursive: types.SimpleNamespace(
        libraries=[f"{root}/lib/{names[0]}.so"]
    )
    systems = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    systems.CMakePackage = type("CMakePackage", (), {
        "define": lambda self, name, value: f"-D{name}={value}",
    })  # fmt: skip
    systems.generator = directive("generator")
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "spack.package", module)
    monkeypatch.setitem(sys.modules, systems.__name__, systems)
    scope: dict = {}
    repository = folder / "spack/spack_repo/sumac"
    assert yaml.safe_load((repository / "repo.yaml").read_text())["repo"]["api"] == "v2.0"
    recipe = repository / "packages/sumac/package.py"
    exec(compile(recipe.read_text(), "package.py", "exec"), scope)
    return scope["Sumac"], said


def test_spack_has_this_version_and_all_packages(spack):
    said = spack[1]
    assert ("version", (sumac_mpi.__version__,), {"sha256": HASH}) in said
    assert spack[0].url == f"{URL}/{ARCHIVE}"
    needed = {arguments[0] for name, arguments, _ in said if name == "depends_on"}
    wanted = {f"py-{name.lower()}@{version}:" for name, version in python_packages().items()}
    assert wanted <= needed


@pytest.mark.parametrize("family", ["openmpi", "mpich"])
def test_spack_sets_what_cmake_reads(spack, family):
    recipe = spack[0]()
    recipe.spec = {"mpi": Mpi(family)}
    assert {argument.split("=")[0][2:] for argument in recipe.cmake_args()} == {
        "SUMAC_WERROR", f"SUMAC_{family}_CC", f"SUMAC_{family}_CXX",
        f"SUMAC_{family.upper()}_LIBRARY",
    }  # fmt: skip
    cmake = (ROOT / "cmake/SumacMpiFamilies.cmake").read_text()
    assert "find_program(SUMAC_${family}_CC" in cmake and f"SUMAC_{family.upper()}_LIB" in cmake


def test_conda_has_this_version_and_all_packages(folder):
    recipe = yaml.safe_load((folder / "conda/recipe.yaml").read_text())
    assert recipe["context"]["version"] == sumac_mpi.__version__
    assert recipe["source"]["sha256"] == HASH
    for name, version in python_packages().items():
        assert f"{CONDA_NAMES.get(name, name).lower()} >={version}" in recipe["requirements"]["run"]


def test_the_script_of_conda_sets_what_cmake_reads(folder, tmp_path):
    (tmp_path / "cmake").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    (tmp_path / "cmake").chmod(0o755)
    for family in ("openmpi", "mpich"):
        environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "PREFIX": "/opt/c", "mpi": family}
        done = subprocess.run(
            [folder / "conda/build.sh"], env=environment, capture_output=True, text=True, check=True
        )
        assert f"-DSUMAC_{family}_CC=/opt/c/bin/mpicc" in done.stdout
        assert f"-DSUMAC_{family.upper()}_LIBRARY=/opt/c/lib/libmpi.so" in done.stdout


def test_the_debian_package_needs_what_the_build_needs():
    lines = (ROOT / "scripts/debian-packages.txt").read_text().split("[check]")[0].splitlines()
    build = {line.split("#")[0].strip() for line in lines} - {"", "gcc", "openmpi-bin", "mpich"}
    control = (ROOT / "packaging/debian/control").read_text()
    depends = re.search(r"^Build-Depends: (.*?)^\S", control, re.MULTILINE | re.DOTALL)[1]
    assert build <= {each.split("(")[0].strip() for each in depends.split(",")}


LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def test_links_of_installed_pages_lead_somewhere(tmp_path):
    script = ROOT / "cmake/InstallPages.cmake"
    output_of(run("cmake", f"-DSOURCE={ROOT}", f"-DFOLDER={tmp_path}", "-P", script))
    pages = list(tmp_path.rglob("*.md"))
    assert len(pages) == 3 + len(list((ROOT / "docs").glob("*.md")))
    links = [(page, link) for page in pages for link in LINK.findall(page.read_text())]
    assert len(links) > 100
    assert not [(page, link) for page, link in links if not (page.parent / link).exists()]
    assert (
        "(in the source: experiments/predict/README.md)" in (tmp_path / "docs/calls.md").read_text()
    )
