# SPDX-License-Identifier: BSD-3-Clause
"""The manual: a page for each command, which help2man makes from the command's help."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

COMMAND = re.compile(r"^  ([a-z]+)  +(\w.*)$", re.MULTILINE)  # a line of 'sumac --help'
EXAMPLE = re.compile(r"^ +(?=sumac (?!.*  ))", re.MULTILINE)


def add_man_pages(prefix):
    if shutil.which("help2man") is None:
        print("install: no help2man, so no man pages", file=sys.stderr)
        return
    folder = prefix / "share/man/man1"
    folder.mkdir(parents=True)
    pages = {"sumac": "runs MPI programs with faster collectives"}
    for command, summary in COMMAND.findall(output_of(prefix, "--help")):
        pages[f"sumac-{command}"] = summary
    version = output_of(prefix, "--version").split()[-1]
    without = []
    for name, summary in pages.items():
        more = options(json.loads(output_of(prefix, "__options"))) if name == "sumac" else ""
        others = ",\n".join(f".BR {other} (1)" for other in pages if other != name)
        more = f"[SEE ALSO]\n{others}\n\n{more}"
        try:
            texts = {"--help": help_of(prefix, name), "--version": f"{name} {version}"}
            write_page(folder / f"{name}.1", summary, texts, more)
        except subprocess.CalledProcessError:  # the command's Python packages are missing
            without.append(name)
    if without:
        print(f"install: no man pages of {', '.join(without)}", file=sys.stderr)


def output_of(prefix, *arguments):
    environment = {name: os.environ[name] for name in os.environ if not name.startswith("SUMAC_")}
    environment |= {"COLUMNS": "80", "LC_ALL": "C.UTF-8"}
    command = [str(prefix / "bin/sumac"), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def help_of(prefix, name):
    """The help of a page's command, with each example a paragraph."""
    return EXAMPLE.sub("\n", output_of(prefix, *name.split("-")[1:], "--help"))


def write_page(page, summary, texts, more):
    """help2man needs a program of the page's name that prints the texts."""
    with tempfile.TemporaryDirectory(prefix="sumac-man-") as scratch:
        for name, text in {**texts, "more": more}.items():
            Path(scratch, name).write_text(text)
        program = Path(scratch, page.stem)
        program.write_text(f'#!/bin/sh\nexec cat "{scratch}/$1"\n')
        program.chmod(0o755)
        command = ["help2man", "--no-info", f"--name={summary}", f"--include={scratch}/more"]
        command += [f"--output={page}", program]
        subprocess.run(command, capture_output=True, text=True, check=True)


def options(rows):
    """All environment variables, from the table of the options."""
    lines = ["[ENVIRONMENT]", "Read once, when the program makes its first MPI call."]
    for row in rows:
        values = row["choices"].replace("|", ", ") or row["kind"]
        default = row["default"] or "none"
        lines += [".TP", f"\\fBSUMAC_{row['name']}\\fR ({values}; default: {default})"]
        # A dot or a quote at the beginning of a line would be a command.
        lines += ["\\&" + line for line in textwrap.wrap(row["doc"].replace("\\", "\\e"), 90)]
    return "\n".join(lines) + "\n"
