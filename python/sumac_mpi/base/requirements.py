# SPDX-License-Identifier: BSD-3-Clause
"""Whether this Python has the packages that the command needs.

The one list of them is in pyproject.toml: this package's own metadata where pip has installed it,
else the file itself, which `cmake --install` puts where it lies in the source, two folders up.
"""

from __future__ import annotations

import platform
import re
import sys
from pathlib import Path

from sumac_mpi.base.errors import Exit, SumacError

_PROJECT = Path(__file__).resolve().parents[3] / "pyproject.toml"
OLDEST = (3, 11)
_ROW = re.compile(r"([\w.-]+)>=([\d.]+)(?:\s*;\s*extra == .(\w+).)?$")
FIX = (
    "provide it, or install Sumac by 'make install', which brings what it needs; 'sumac exec' "
    "and 'sumac plan' work without"
)
FIX_PLOT = (
    "install Sumac by 'make install PLOT=1', by pip install 'sumac-mpi[plot]', or the Debian "
    "package sumac-plot; everything but pictures works without it"
)


def _listed(extra: str) -> list[tuple[str, str]]:
    """Names and lowest versions of the packages that all commands need, or that this extra
    needs."""
    from importlib import metadata  # which takes a while to load

    try:
        rows = metadata.requires("sumac-mpi") or []
        matches = [match for match in map(_ROW.match, rows) if match and (match[3] or "") == extra]
    except metadata.PackageNotFoundError:
        import tomllib  # older Pythons, which are to get a message that they are too old, lack it

        project = tomllib.loads(_PROJECT.read_text())["project"]
        rows = project["optional-dependencies"][extra] if extra else project["dependencies"]
        matches = [match for match in map(_ROW.match, rows) if match]
    return [(match[1], match[2]) for match in matches]


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def lacking(extra: str = "") -> list[str]:
    """What is missing or too old, as in "typer>=1.2 (has 0.7.0)"."""
    if sys.version_info < OLDEST:
        return [f"Python>={'.'.join(map(str, OLDEST))} (is {platform.python_version()})"]
    from importlib import metadata

    result = []
    for name, lowest in _listed(extra):
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            result.append(f"{name}>={lowest}")
            continue
        if _numbers(version) < _numbers(lowest):
            result.append(f"{name}>={lowest} (has {version})")
    return result


def error(slug: str, lacking: list[str], fix: str = FIX) -> SumacError:
    what = f"this Python lacks {', '.join(lacking)}"
    return SumacError(slug, what, found=sys.executable, fix=fix, code=Exit.UNAVAILABLE)
