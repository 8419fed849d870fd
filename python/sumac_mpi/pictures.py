# SPDX-License-Identifier: BSD-3-Clause
"""Pictures as files. Needs matplotlib."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

from sumac_mpi import files  # noqa: E402
from sumac_mpi.errors import bad_value  # noqa: E402


def check(option: str, path: Path) -> None:
    """Raises a usage error for a picture that could not be written."""
    known = Figure().canvas.get_supported_filetypes()
    if _ending(path) not in known:
        raise bad_value(
            f"{option} {path}: {path.suffix or 'no ending'} is no kind of picture",
            fix="name it .png, .svg or .pdf",
        )
    files.check(option, path)


def save(figure: Figure, path: Path, dpi: int) -> None:
    content = io.BytesIO()
    figure.savefig(content, dpi=dpi, format=_ending(path))
    pyplot.close(figure)
    files.write(path, content.getvalue())


def _ending(path: Path) -> str:
    return path.suffix[1:].lower()
