# SPDX-License-Identifier: BSD-3-Clause
"""Files that a command writes at its end, checked before the work and written whole or not at all,
and the folder of what Sumac keeps for a user."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from sumac_mpi.base.errors import SumacError, bad_value

STDOUT = Path("-")
_ROOM = 256 << 10  # bytes that must be free: more than results or a picture usually need


def check(option: str, path: Path) -> None:
    """Raises a usage error for a file that could not be written."""
    if path != STDOUT and (problem := _problem(path)):
        raise bad_value(f"{option} {path}: {problem}")


def _problem(path: Path) -> str:
    folder = path.absolute().parent
    if path.is_dir():
        return "is a directory"
    if not folder.is_dir():
        return "there is no such directory"
    if path.exists() and not os.access(path, os.W_OK):
        return "may not be written"
    if path.exists() and not path.is_file():
        return ""  # a device or a pipe: whether it accepts data is known only when it is written
    try:
        with tempfile.TemporaryFile(dir=_folder(path)) as probe:
            os.posix_fallocate(probe.fileno(), 0, _ROOM)
    except OSError as error:
        if not isinstance(error, PermissionError) or not path.exists():
            return f"cannot be written: {error.strerror}"
    return ""


def write(path: Path, content: bytes) -> None:
    """An existing file is replaced only when all is written. What cannot be written, the disk
    having filled since, is kept elsewhere, and an error raised that says where."""
    try:
        _write(path, content)
    except OSError as error:
        kept = _keep(path.suffix, content)
        raise SumacError(
            "output",
            f"cannot write {path}: {error.strerror}",
            found=f"its content is kept in {kept}" if kept else "",
            fix="make room, and copy it" if kept else "make room, and measure again",
        ) from error


def save(path: Path, content: bytes) -> None:
    """Writes a file that the user gets, and names it."""
    write(path, content)
    print(f"sumac: wrote {path}", file=sys.stderr)


def show_json(content: Any, target: Path, indent: int | None = 1) -> None:
    """On standard output, or in a file that is named."""
    text = json.dumps(content, indent=indent)
    if target == STDOUT:
        print(text)
    else:
        save(target, f"{text}\n".encode())


def _write(path: Path, content: bytes) -> None:
    if path.exists() and not (path.is_file() and os.access(_folder(path), os.W_OK)):
        path.write_bytes(content)
        return
    target = Path(os.path.realpath(path))  # a symbolic link is kept
    mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _keep(suffix: str, content: bytes) -> str:
    """Writes a new temporary file and returns its name; "" if there is no room there either."""
    name = ""
    try:
        handle, name = tempfile.mkstemp(prefix="sumac-", suffix=suffix)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        return name
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        return ""


def _folder(path: Path) -> Path:
    return Path(os.path.realpath(path)).parent


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def user_data(name: str) -> Path:
    """A folder of that name below the user's data, which need not exist."""
    data = os.environ.get("XDG_DATA_HOME") or str(Path.home() / ".local/share")
    return Path(data) / "sumac" / name
