# SPDX-License-Identifier: BSD-3-Clause
"""The help of all commands, also of those in C, has one layout, and one text for each option; and
what shells are answered for unfinished command lines, by the protocol of typer's scripts."""

from __future__ import annotations

import re
from functools import cache

import pytest
from installed import needs_command, output_of, sumac

pytestmark = needs_command
COMMANDS = (
    "exec",
    "run",
    "info",
    "check",
    "bench",
    "tune",
    "plot",
    "trace",
    "profile",
    "simulate",
    "doctor",
    "completion",
    "plan",
)
# The order in which these options must appear.
ORDER = ("--ranks", "--hosts", "--mpi", "--launcher", "--launcher-arg", "-x", "--bind",
         "--oversubscribe", "--timeout")  # fmt: skip


@cache
def text(*arguments):
    done = sumac(*arguments, COLUMNS="80")
    assert done.stderr == "", arguments
    return output_of(done)


def sections(help_):
    """{heading: lines} of a help text; the heading of the description is ""."""
    found, heading = {"": []}, ""
    for line in help_.splitlines():
        if match := re.match(r"(Usage|[A-Z][A-Za-z ]+|Exit status):(?: (.*))?$", line):
            heading = match[1]
            found[heading] = [match[2]] if match[2] else []
        elif line.startswith(" ") or heading in ("", "Exit status"):
            found[heading].append(line)
        elif line:
            found[""].append(line)
    return found


def rows(lines):
    """The rows of a section as [(names, text)]."""
    result = []
    for line in lines:
        if not line.strip():
            continue
        names, described = line[2:26].strip(), line[27:].strip()
        if line.startswith("                           "):
            names, so_far = result.pop()
            described = f"{so_far} {described}".strip()
        elif len(line) > 27 and line[26] != " ":
            names, described = line.strip(), ""
        result.append((names, described))
    return result


def options(command):
    found = sections(text(command, "--help"))
    return [
        row
        for heading, lines in found.items()
        if heading not in ("", "Usage", "Examples", "Arguments", "Exit status")
        for row in rows(lines)
    ]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_help_has_the_same_parts_in_80_columns(command):
    words = [command] if command else []
    help_ = text(*words, "--help")
    assert help_ == text(*words, "-h")
    assert [line for line in help_.splitlines() if len(line) > 80 or line != line.rstrip()] == []
    found = sections(help_)
    usage = " ".join(["sumac", *(words or ["COMMAND"])])
    assert help_.startswith(f"Usage: {usage} [")
    assert found[""] and found["Exit status"]
    assert found["Examples"], "no example"
    assert all("sumac " in line for line in found["Examples"] if line)
    wanted = ("Examples", "Commands", "Arguments", "Options", "Exit status")
    assert [each for each in found if each in wanted] == [each for each in wanted if each in found]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_described(command):
    found = options(command)
    assert found[-1] == ("-h, --help", "Show this help")
    for names, described in found:
        assert re.match(r"-[a-zA-Z-]+", names) and re.match(r"[A-Z]", described), names
        assert not described.endswith("."), names
    for names, described in rows(sections(text(command, "--help")).get("Arguments", [])):
        assert described and not described.endswith("."), names


def test_this_reads_what_is_there():
    hidden = "Also measure how much of a nonblocking call computation can hide"
    assert ("--overlap", hidden) in options("bench")
    assert len(options("bench")) >= 30 and len(options("plan")) >= 14


def test_an_option_has_one_text_and_one_place():
    texts = {}
    for command in COMMANDS:
        found = options(command)
        longest = [re.findall(r"--?[a-z-]+", names)[-1] for names, _ in found]
        places = [ORDER.index(name) for name in longest if name in ORDER]
        assert places == sorted(places), f"{command}: {longest}"
        for names, described in found:
            if command != "plan" or names in ("-h, --help", "--json[=FILE]"):
                # Each command may have its own default.
                texts.setdefault(names, {})[re.sub(r" \(default: .*\)$", "", described)] = command
    different = {names: found for names, found in texts.items() if len(found) > 1}
    own = {"--json FILE", "-o, --output FILE", "--dry-run", "--sizes SIZE,..."}
    own |= {"--mpi MPI", "--timeout SECONDS"}  # of simulate, which starts no MPI
    assert different.keys() <= own, different


def test_the_list_of_commands_is_complete():
    found = dict(rows(sections(text("--help"))["Commands"]))
    assert set(found) == set(COMMANDS)
    for command, described in found.items():
        first = " ".join(sections(text(command, "--help"))[""]).split(". ")[0].split("  ")[0]
        assert described == first.rstrip("."), command


def test_the_package_lists_its_commands_in_the_same_words(sumac):
    status, out, _ = sumac("--help")
    of_package = rows(sections(out)["Commands"])
    assert status == 0 and set(of_package) <= set(rows(sections(text("--help"))["Commands"]))
    assert {name for name, _ in of_package} == set(COMMANDS) - {"exec", "plan"}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_are_understood(command):
    """Only parses the examples: their files do not exist, and nothing is started."""
    for line in sections(text(command, "--help"))["Examples"]:
        named = set(re.findall(r"(?<= )--?[a-z][a-z-]*", line.split(" -- ")[0]))
        launched = {"-n"} if "exec" in line else set()
        known = {each for names, _ in options(command) for each in re.split(r"[, [=]+", names)}
        assert named - launched <= known, line


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
    done = sumac(**variables)
    assert done.stderr == ""
    return output_of(done)


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


# A command in Python, and both that are not, in each shell; the others in one.
@pytest.mark.parametrize(
    ("shell", "command"),
    [
        *(("bash", command) for command in COMMANDS),
        *((shell, command) for shell in ("zsh", "fish") for command in ("exec", "plan", "run")),
    ],
)
def test_all_options_of_a_command(shell, command):
    named = {name for names, _ in options(command) for name in re.findall(r"--[a-z-]+", names)}
    assert set(offers(shell, f"sumac {command} --")) == named


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_texts_list_what_there_is(shell):
    answer = answer_of(shell, "sumac bench allreduce --ty")
    assert "float_complex" in answer and "{" not in answer


@pytest.mark.parametrize("shell", LINE)
def test_scripts_ask_this_command(shell):
    assert f"_SUMAC_COMPLETE=complete_{shell}" in output_of(sumac("completion", shell))


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("sumac bench iallred", "iallreduce"),
        ("sumac bench bcast -d long_double_c", "long_double_complex"),
        ("sumac tune bcast barr", "barrier"),
        ("sumac simulate fat-tree barr", "barrier"),
        ("sumac simulate fat-", "fat-tree"),
        ("sumac plan reduce_scat", "reduce_scatter"),
        ("sumac run --set REPRO", "REPRODUCIBLE="),
        ("sumac exec --set REPRO", "REPRODUCIBLE="),
    ],
)
@pytest.mark.parametrize("shell", LINE)
def test_names_of_the_tables(shell, line, word):
    assert offers(shell, line) == [word]
