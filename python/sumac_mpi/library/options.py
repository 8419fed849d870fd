# SPDX-License-Identifier: BSD-3-Clause
"""The SUMAC_* options, as the `sumac` executable knows them."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sumac_mpi.base.errors import Exit
from sumac_mpi.library import tables
from sumac_mpi.library.layout import Installation

PREFIX = "SUMAC_"


def to_pass_on() -> dict[str, str]:
    """All SUMAC_* options that are set: launchers that start processes on other hosts do not pass
    the environment on by themselves."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith(PREFIX) and name != "SUMAC_ROOT"
    }


@dataclass(frozen=True)
class Option:
    name: str  # without the prefix
    kind: str
    default: str
    choices: str
    agreed: bool
    doc: str
    value: str
    source: str  # "default", "environment", or "FILE:LINE" of a site's file
    locked: bool  # by the site: users may not set it

    @property
    def variable(self) -> str:
        return PREFIX + self.name

    def as_dict(self) -> dict[str, object]:
        return {
            "name": self.variable,
            "kind": self.kind,
            "default": self.default,
            "choices": self.choices,
            "agreed": self.agreed,
            "doc": self.doc,
            "value": self.value,
            "source": self.source,
            "locked": self.locked,
        }


def load(installation: Installation) -> list[Option]:
    """All options, in the order of the library's table, with the values that are in force."""
    settings = {row["name"]: row for row in tables.fresh_rows("settings", installation)}
    return [
        Option(
            name=row["name"].removeprefix(PREFIX),
            kind=row["kind"],
            default=row["default"],
            choices=row["choices"],
            agreed=row["agreed"],
            doc=row["doc"],
            value=settings[row["name"]]["value"],
            source=settings[row["name"]]["source"],
            locked=settings[row["name"]]["locked"],
        )
        for row in tables.rows("options", installation)
    ]


def of_settings(installation: Installation, settings: Iterable[str]) -> dict[str, str]:
    """The variables of NAME=VALUE that a command line sets; a name may be in any case, and with the
    prefix. Exits with status 2, and the executable's own messages, where one is no option or has a
    bad value: only what sites and the environment say is left to the library to warn of."""
    given = list(settings)
    if given:
        _require_good(tables.ask(installation.command, "__check-set", *given))
    pairs = (setting.partition("=") for setting in given)
    return {PREFIX + name.upper().removeprefix(PREFIX): value for name, _, value in pairs}


def check_environment(
    installation: Installation, variables: Mapping[str, str] | None = None
) -> str:
    """What is wrong with the SUMAC_* variables of this environment, to which `variables` are added;
    "" when nothing is."""
    answer = tables.ask(installation.command, "__check-env", variables=variables)
    return answer.stderr.strip() if answer.returncode != 0 else ""


def disabled_by(installation: Installation, variables: Mapping[str, str] | None = None) -> str:
    """What switches Sumac off in this environment, to which `variables` are added: SUMAC_DISABLE,
    or the line FILE:LINE of a site's file; "" if nothing does."""
    answer = tables.ask(installation.command, "__disabled", variables=variables)
    return (answer.stdout.strip() or "SUMAC_DISABLE") if answer.returncode == 0 else ""


def require_good_environment(
    installation: Installation, variables: Mapping[str, str] | None = None
) -> None:
    """Exits with status 2, and the executable's own messages, when a variable is bad."""
    _require_good(tables.ask(installation.command, "__check-env", variables=variables))


def _require_good(answer: subprocess.CompletedProcess[str]) -> None:
    if answer.returncode != 0:
        print(answer.stderr.strip(), file=sys.stderr)
        raise SystemExit(int(Exit.USAGE))


# What an option of a kind accepts; those with choices list them.
_VALUES = {
    "flag": "yes or no",
    "bytes": "bytes, such as 65536, 64K, 1M or 2G",
    "path": "a file or folder, or no",
    "report": "yes, no, all, a file, or all,FILE",
    "limit": "auto, off, or ",
    "colls": "all, ^NAME, or a comma list of ",
}


def listed(kind: str, choices: str) -> str:
    """The choices of an option, for people to read. Sizes in bytes have none worth listing."""
    return "" if kind == "bytes" else choices.replace("|", ", ").replace("..", " to ")


def as_file(options: list[Option]) -> str:
    """A file for `. FILE` in a shell or a job script. Options that the environment does not set are
    commented out."""
    lines = ["# Options of Sumac, each with the value that it has now. Take the # away to set one."]
    for option in options:
        values = _VALUES.get(option.kind, "") + listed(option.kind, option.choices)
        lines += ["", *textwrap.wrap(option.doc, 96, initial_indent="# ", subsequent_indent="# ")]
        lines += [f"# Values: {values}"] if values else []
        set_now = option.source == "environment"
        lines.append(f"{'' if set_now else '#'}export {option.variable}={_quoted(option.value)}")
    return "\n".join(lines) + "\n"


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'" if not value.isalnum() else value
