# SPDX-License-Identifier: BSD-3-Clause
"""What the installed command writes about itself, below its prefix.

The manual: a page for each command, which help2man makes from the command's help, and sumac(7) for
the environment variables, made from the table of options. The scripts that make shells complete
command lines, where the shells look for them."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import gen_docs

COMMAND = re.compile(r"^  ([a-z]+)  +(\w.*)$", re.MULTILINE)  # a line of 'sumac --help'
EXAMPLE = re.compile(r"^  (?=(?:sumac|mpiexec|srun) (?!.*  ))", re.MULTILINE)
PLACES = {
    "bash": "share/bash-completion/completions/sumac",
    "zsh": "share/zsh/site-functions/_sumac",
    "fish": "share/fish/vendor_completions.d/sumac.fish",
}


def add_man_pages(prefix):
    version = output_of(prefix, "--version").split()[1]
    folder = prefix / "share/man/man7"
    folder.mkdir(parents=True)
    rows = json.loads(output_of(prefix, "__options"))
    (folder / "sumac.7").write_text(page_of_variables(rows, version))
    add_pages_of_commands(prefix, version)


def add_pages_of_commands(prefix, version):
    if shutil.which("help2man") is None:
        print("install: no help2man, so no man pages of the commands", file=sys.stderr)
        return
    folder = prefix / "share/man/man1"
    folder.mkdir(parents=True)
    pages = {"sumac": "runs MPI programs with faster collectives"}
    for command, summary in COMMAND.findall(output_of(prefix, "--help")):
        pages[f"sumac-{command}"] = summary
    without = []
    for name, summary in pages.items():
        others = ",\n".join(f".BR {other} (1)" for other in pages if other != name)
        more = f"[ENVIRONMENT]\nSee\n.BR sumac (7).\n\n[SEE ALSO]\n.BR sumac (7),\n{others}\n"
        try:
            texts = {"--help": help_of(prefix, name), "--version": f"{name} {version}"}
            write_page(folder / f"{name}.1", summary, texts, more)
        except subprocess.CalledProcessError:  # the command's Python packages are missing
            without.append(name)
    if without:
        print(f"install: no man pages of {', '.join(without)}", file=sys.stderr)


def output_of(prefix, *arguments):
    environment = {name: os.environ[name] for name in os.environ if not name.startswith("SUMAC_")}
    environment |= {"COLUMNS": "80", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
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


PAGE_OF_VARIABLES = r""".TH SUMAC 7 "" "sumac {version}" "Environment variables"
.SH NAME
sumac \- environment variables of Sumac, which runs MPI programs with faster collectives
.SH DESCRIPTION
Each variable is read once, when the program makes its first MPI call; an empty value counts as
unset. Where a value is wrong, the default is used, and one warning per job says so.
.B sumac info options
shows the values that are in force, and
.B sumac info options \-\-file
prints them as a file to edit.
.B sumac run
and
.B sumac exec
set a variable by
.BR \-\-set " NAME=VALUE."
.PP
.I Agreed
variables must have the same value on all ranks of a communicator: if they differ, its calls are
handed to the MPI.
.SH ENVIRONMENT
{variables}
.SH SEE ALSO
.BR sumac (1),
.BR sumac\-run (1),
.BR sumac\-exec (1),
.BR sumac\-info (1),
.BR sumac\-check (1)
"""


def page_of_variables(rows, version):
    """sumac(7), from the rows that `sumac __options` prints."""
    variables = "\n".join(line for row in rows for line in lines_of(row))
    return PAGE_OF_VARIABLES.format(version=version, variables=variables)


def lines_of(row):
    default = f"default: {row['default']}" if row["default"] else "no default"
    values = gen_docs.accepted(row).replace("`", "")
    facts = "; ".join([values, default, *(["agreed"] if row["agreed"] else [])])
    yield from (".TP", f".B {escaped('SUMAC_' + row['name'])}")
    # A dot or a quote at the beginning of a line would be a command.
    yield from ("\\&" + line for line in textwrap.wrap(escaped(row["doc"]) + ".", 90))
    if row["kind"] == "colls":
        facts += f". Names: {row['choices'].replace('|', ', ')}"
    yield from (".br", *("\\&" + line for line in textwrap.wrap(escaped(f"({facts})"), 90)))


def escaped(text):
    return text.replace("\\", "\\e").replace("-", "\\-")


def add_completions(prefix):
    for shell, place in PLACES.items():
        try:
            text = output_of(prefix, "completion", shell)
        except subprocess.CalledProcessError:  # the command's Python packages are missing
            print("install: no shell completion", file=sys.stderr)
            return
        (prefix / place).parent.mkdir(parents=True)
        (prefix / place).write_text(text)
