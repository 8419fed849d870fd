# SPDX-License-Identifier: BSD-3-Clause
"""What a release consists of agrees: one version, the change log, the promise of sumac.h."""

from __future__ import annotations

import re
import tomllib

import sumac_mpi
import yaml
from installing import ROOT
from test_installed import COMMAND, sumac

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
