#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the files of a release from the last commit: build/dist, or the folder of --output.

Usage: scripts/release.py [--output FOLDER] [--url URL] [--preset NAME] [--only PART...]
--url: from where users will download the files; the recipes name it (pyproject.toml has the usual
one). PART is source, wheel, deb or recipes.
The source archive is what the commit holds. Everything else is made from that archive, unpacked, so
what it lacks is noticed here. Files depend on the commit alone: SOURCE_DATE_EPOCH, the commit's
time unless it is set, stands for the time at which they were made.
Exit status: 0 made, 1 not, 2 wrong usage, 3 something is missing here.
"""

import argparse
import gzip
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("source", "wheel", "deb", "recipes")
TOOLS = ROOT / "python/requirements-release.txt"
# An MPI's and SimGrid's libraries must be those of the user's machine.
NOT_IN_WHEEL = ("libmpi.so.*", "libmpich.so.*", "libmpi_abi.so.*", "libsimgrid.so.*")

# Below packaging/ -> below the folder of the release.
RECIPES = {
    "spack": "spack",
    "easybuild": "easybuild",
    "conda": "conda",
    "rpm/sumac.spec": "sumac.spec",
    "apptainer/sumac.def": "sumac.def",
}
DEBIAN_NAMES = {"x86_64": "amd64", "aarch64": "arm64"}
PLACE = re.compile(r"@([A-Z0-9]+)@")


def fail(text, fix, status):
    print(f"release: {text}\n  fix: {fix}", file=sys.stderr)
    sys.exit(status)


def run(*command, cwd=ROOT, **options):
    done = subprocess.run([str(each) for each in command], cwd=cwd, **options)
    if done.returncode != 0:
        fail(f"{command[0]} ended with {done.returncode}", "its messages are above", 1)
    return done.stdout


def git(*arguments):
    return run("git", "-C", ROOT, *arguments, capture_output=True)


def version_of(root):
    text = (root / "python/sumac_mpi/__init__.py").read_text()
    return re.search(r'^__version__ = "(.*)"', text, re.MULTILINE)[1]


def add_source(version, folder):
    """Writes the archive of the last commit, with the commit's name in archived_commit.txt."""
    top = f"sumac-{version}"
    archive = git("-c", "core.abbrev=12", "-c", "tar.umask=0022", "archive", "--format=tar",
                  f"--prefix={top}/", "HEAD")  # fmt: skip
    (folder / f"{top}.tar.gz").write_bytes(gzip.compress(archive, 9, mtime=0))


def unpack(version, folder, into):
    run("tar", "-xzf", folder / f"sumac-{version}.tar.gz", "-C", into)
    return into / f"sumac-{version}"


def add_wheel(source, folder, work):
    """Builds the wheel for every Python, and gives it the name of the oldest C library that its
    programs run with."""
    tools = work / "tools"
    run(sys.executable, "-m", "venv", tools)
    pip = [tools / "bin/python", "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "install", "--quiet", "--only-binary", ":all:", "--no-deps", "--require-hashes",
        "--requirement", TOOLS)  # fmt: skip
    path = os.environ | {"PATH": f"{tools}/bin:{os.environ['PATH']}"}
    run(*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation",
        "--config-settings=cmake.define.SUMAC_WERROR=ON", "--wheel-dir", work / "raw",
        source, env=path)  # fmt: skip
    (raw,) = (work / "raw").glob("sumac_mpi-*.whl")
    excluded = [word for name in NOT_IN_WHEEL for word in ("--exclude", name)]
    run(tools / "bin/auditwheel", "repair", *excluded, "--wheel-dir", folder, raw, env=path)


def add_debian_packages(source, folder, preset):
    run("cmake", "--preset", preset, cwd=source)
    run("cmake", "--build", "--preset", preset, cwd=source)
    made = source / "build/deb"
    run(source / "scripts/build_deb.sh", "--build", f"build/{preset}", "--output", made, cwd=source)
    for package in made.glob("*.deb"):
        shutil.copy(package, folder)


def values(source, version, url, archive):
    """What the places in the recipes stand for."""
    addresses = tomllib.loads((source / "pyproject.toml").read_text())["project"]["urls"]
    machine = platform.machine()
    return {
        "VERSION": version,
        "SHA256": hashlib.sha256(archive.read_bytes()).hexdigest(),
        "URL": url or f"{addresses['Download']}/{version}",
        "HOMEPAGE": addresses["Homepage"],
        "SOURCE": addresses["Source"],
        "DATE": time.strftime("%a %b %d %Y", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))),
        "ARCHITECTURE": DEBIAN_NAMES.get(machine, machine),
    }


def filled(text, known):
    """The text with each place filled. A name that is not known is an error."""
    return PLACE.sub(lambda match: known[match[1]], text)


def add_recipes(source, version, url, folder):
    """Writes the recipes of packaging/ for this release: with its version, the address of the
    source archive, and the archive's hash, which no file of the archive can know. In the recipes,
    and in their names, @VERSION@ and the like stand for the values()."""
    known = values(source, version, url, folder / f"sumac-{version}.tar.gz")
    for recipe, name in RECIPES.items():
        origin, target = source / "packaging" / recipe, folder / name
        if origin.is_dir():
            shutil.copytree(origin, target)
        else:
            shutil.copy(origin, target)
        for path in [target] if target.is_file() else sorted(target.rglob("*")):
            if path.is_file():
                path.write_text(filled(path.read_text(), known))
                named = filled(path.name, known)
                path.rename(path.with_name(named))


def add_changes(source, version, folder):
    """Writes the changelog's section of this version."""
    parts = re.split(r"^## ", (source / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    (section,) = (part for part in parts if part.startswith(version))
    (folder / "CHANGES.md").write_text(f"# Sumac {section}")


def add_sums(folder):
    """Writes the hashes of all files, in the form that `sha256sum --check` reads."""
    sums = folder / "SHA256SUMS"
    sums.unlink(missing_ok=True)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    hashes = [hashlib.sha256(path.read_bytes()).hexdigest() for path in files]
    rows = [f"{hash}  {path.relative_to(folder)}\n" for hash, path in zip(hashes, files)]
    sums.write_text("".join(rows))
    return files


def check(parts):
    """Ends the program if a part could not be made, before the first of them is."""
    if git("status", "--porcelain").strip():
        fail("there are changes that are not committed", "commit them, or put them aside", 1)
    if "deb" in parts and not shutil.which("dpkg-buildpackage"):
        fail("no dpkg-buildpackage", "apt-get install dpkg-dev debhelper, or --only the others", 3)


def make(options, folder):
    version = version_of(ROOT)
    with tempfile.TemporaryDirectory(prefix="release-", dir=folder.parent) as scratch:
        work = Path(scratch)
        add_source(version, folder)
        source = unpack(version, folder, work)
        if "wheel" in options.only:
            add_wheel(source, folder, work)
        if "deb" in options.only:
            add_debian_packages(source, folder, options.preset)
        if "recipes" in options.only:
            add_recipes(source, version, options.url, folder)
        add_changes(source, version, folder)
    return add_sums(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "build/dist")
    parser.add_argument("--url", help="from where the files will be downloaded")
    parser.add_argument("--preset", default="release", help="of CMake, for the Debian packages")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, metavar="PART")
    options = parser.parse_args()
    check(options.only)
    os.environ.setdefault("SOURCE_DATE_EPOCH", git("log", "-1", "--format=%ct").decode().strip())
    os.umask(0o022)
    folder = options.output.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in make(options, folder):
        print(f"{path.stat().st_size:>10}  {path.relative_to(folder)}")
    print(f"release: the files are in {folder}; SHA256SUMS has their hashes")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
