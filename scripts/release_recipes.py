# SPDX-License-Identifier: BSD-3-Clause
"""Writes the recipes of packaging/ for one release: with its version, the address of the source
archive, and the archive's hash, which no file of the archive can know.

In the recipes, and in their names, @VERSION@, @SHA256@, @URL@ (the folder of the files), @HOMEPAGE@
and others stand for these: see values()."""

import hashlib
import os
import platform
import re
import shutil
import time
import tomllib

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


def add(source, version, url, folder):
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
