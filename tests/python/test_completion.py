# SPDX-License-Identifier: BSD-3-Clause
"""What shells are answered for unfinished command lines, by the protocol of typer's scripts."""

import os
import re
import subprocess

import pytest
from test_help import COMMANDS
from test_installed import COMMAND

pytestmark = pytest.mark.skipif(not COMMAND.exists(), reason=f"there is no {COMMAND}")

# How a script passes the line on.
LINE = {
    "bash": lambda line: {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))},
    "zsh": lambda line: {"_TYPER_COMPLETE_ARGS": line},
    "fish": lambda line: {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}
# The offered words in an answer; zsh and fish get texts beside them.
WORD = {"bash": r"^(.+)$", "zsh": r'(?:^|\(\()"([^"]+)"', "fish": r"^([^\t\n]+)"}


def answer_of(shell, line):
    variables = {"_SUMAC_COMPLETE": f"complete_{shell}", **LINE[shell](line)}
    done = subprocess.run([COMMAND], env=os.environ | variables, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def offers(shell, line):
    return re.findall(WORD[shell], answer_of(shell, line), re.MULTILINE)


@pytest.mark.parametrize("shell", LINE)
def test_commands(shell):
    assert offers(shell, "sumac ben") == ["bench"]
    assert sorted(offers(shell, "sumac ")) == sorted(COMMANDS)


@pytest.mark.parametrize("shell", LINE)
def test_options(shell):
    assert offers(shell, "sumac bench allreduce --with-c") == ["--with-counts"]
    assert offers(shell, "sumac bench allreduce --no-such") == []


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_texts_list_what_there_is(shell):
    answer = answer_of(shell, "sumac bench allreduce --ty")
    assert "float_complex" in answer and "{" not in answer


@pytest.mark.parametrize("shell", LINE)
def test_scripts_ask_this_command(shell):
    done = subprocess.run([COMMAND, "completion", shell], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"_SUMAC_COMPLETE=complete_{shell}" in done.stdout


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("sumac bench iallred", "iallreduce"),
        ("sumac bench bcast -d long_double_c", "long_double_complex"),
        ("sumac tune bcast barr", "barrier"),
        ("sumac simulate fat-tree barr", "barrier"),
    ],
)
@pytest.mark.parametrize("shell", LINE)
def test_names_of_the_tables(shell, line, word):
    assert offers(shell, line) == [word]
