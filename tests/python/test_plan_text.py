# SPDX-License-Identifier: BSD-3-Clause
"""A plan as text says what the JSON says; what `sumac plan` refuses, and the reason it gives."""

import re

import plans
import pytest
from installed import needs_command

pytestmark = needs_command
EVERY = pytest.mark.parametrize("call", plans.CALLS.values(), ids=plans.CALLS)
TITLES = ["level", "groups x ranks", "over", "operation", "algorithm", "chunk", "steps", "bytes",
          "us", "rule"]  # fmt: skip
NUMBERS = ("chunk", "steps", "bytes", "us")


def cells(line):
    return re.split(r"  +", line.strip())


def number(value):
    return "?" if value is None else str(value)


def time(value):
    """A predicted time as the table shows it."""
    if value is None:
        return "-"
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f}"


def algorithm(priced):
    radix = f", radix {priced['radix']}" if "radix" in priced else ""
    return priced["algorithm"] + radix


def lines_of(row):
    """The cells that a row of the JSON has in the text, and those of the other algorithms."""
    first = [row["level"], f"{row['groups']} x {row['ranks']}", row["over"], row["operation"],
             algorithm(row), str(row["chunk"]), number(row["steps"]), number(row["bytes"]),
             time(row["predicted_us"]), *([row["rule"]] if row["rule"] else [])]  # fmt: skip
    others = [
        [
            f"or {algorithm(other)}",
            number(other["steps"]),
            number(other["bytes"]),
            time(other["predicted_us"]),
        ]  # fmt: skip
        for other in row["others"]
    ]
    return [first, *others]


def counted(count, what):
    return f"{count} {what}" + ("" if count == 1 else "s")


def totals(way):
    if way["steps"] is None:
        return "steps and bytes are not known: the MPI chooses."
    between = counted(way["bytes_between_nodes"], "byte")
    return f"{counted(way['steps'], 'step')}, {between} between nodes."


def split(call):
    """The lines of a plan above its table, and those from its empty line on."""
    lines = plans.text(*call).splitlines()
    end = lines.index("") if "" in lines else len(lines)
    return lines[:end], lines[end:]


@EVERY
def test_the_first_lines_say_what_is_called_and_what_is_chosen(call):
    found, ((heading, chosen, *more), _) = plans.plan(*call), split(call)
    size = "" if found["collective"] == "barrier" else f" of {counted(found['bytes'], 'byte')}"
    machine = f" of {found['machine']}" if found["machine"] else ""
    assert heading == (
        f"{found['collective']}{size} over {counted(found['ranks'], 'rank')} on "
        f"{counted(found['nodes'], 'node')}{machine}"
    )
    what = found["algorithm"]
    if what == "native":
        what = "the call is left to the MPI"
    elif "chunk" in found:
        chunks = counted(found["chunks"], "chunk")
        what += f", {chunks} of up to {counted(found['chunk'], 'byte')}"
    assert chosen == f"chosen: {what} ({found['rule']})"
    names = [{"native": "the MPI's"}.get(each, each) for each in found["candidates"]]
    line = f"candidates: {', then '.join(names)} (SUMAC_ADAPT)"
    assert more == ([line] if len(names) > 1 else [])


@EVERY
def test_the_table_has_the_rows_of_the_json(call):
    found, (_, lines) = plans.plan(*call), split(call)
    if not found["levels"]:
        assert lines == []
        return
    titles, *rows = lines[1 : lines.index("", 1)]
    assert cells(titles) == TITLES
    assert [cells(row) for row in rows] == [
        line for row in found["levels"] for line in lines_of(row)
    ]
    for row in rows:  # under their titles: numbers to the right, words to the left
        assert row == row.rstrip() and row[titles.index("algorithm")] != " "
        for title in NUMBERS if row[0] != " " else NUMBERS[1:]:
            end = titles.index(title) + len(title)
            assert row[end - 1] != " " and row[end : end + 2].strip() == ""


@EVERY
def test_below_the_table_are_the_totals_of_all_ways_over_levels(call):
    found, (_, lines) = plans.plan(*call), split(call)
    if not found["levels"]:
        return
    ways = [f"Or {other['algorithm']}: {totals(other)}" for other in found["others"]]
    if found["over"] == "levels":
        ways.insert(0, f"In all: {totals(found)}")
    below = lines[lines.index("", 1) + 1 :]
    steps, bytes_, *trust = below[len(ways) :]
    assert below[: len(ways)] == ways
    has_times = any(row["predicted_us"] for row in found["levels"])
    assert ("predicted" in " ".join(trust)) == bool(trust) == has_times
    assert steps.startswith("Steps are ") and "bytes those of the" in steps
    assert bytes_.startswith("whole message")


def test_help():
    assert "sumac plan [OPTIONS] COLLECTIVE [BYTES]" in plans.text("--help")


TWO = ("8", "-n", "2")
REFUSED = [
    ("usage", "COLLECTIVE, BYTES, -n are missing", ()),
    ("bad-value", "COLLECTIVE allredcue: not known\n  fix:   did you mean allreduce?",
     ("allredcue", *TWO)),
    ("usage", "BYTES is missing", ("allreduce", "-n", "2")),
    ("usage", "--nodes: wants a value", ("allreduce", *TWO, "--nodes")),
    ("usage", "-n is missing", ("allreduce", "8")),
    ("bad-value", "BYTES 8X: not a size\n  fix:   write a number of bytes, or 64K, 1M, 2G",
     ("allreduce", "8X", "-n", "2")),
    ("usage", "--hanover: there is no such option\n  fix:   did you mean --handover?",
     ("allreduce", *TWO, "--hanover", "far")),
    ("usage", "9: one argument too many", ("allreduce", *TWO, "9")),
    ("bad-value", "--json no-folder/x: No such file", ("allreduce", *TWO, "--json=no-folder/x")),
    ("usage", "2 ranks cannot run on 3 nodes", ("allreduce", *TWO, "--nodes", "3")),
    ("usage", "a barrier has no bytes", ("barrier", *TWO)),
    ("bad-value", "--map blok: not known\n  fix:   did you mean block?",
     ("allreduce", *TWO, "--map", "blok")),
    ("bad-value", "did you mean far?", ("allreduce", *TWO, "--handover", "fra")),
    ("usage", "--node-radix 65 is not auto, off, or 1 to 64",
     ("reduce", *TWO, "--node-radix", "65")),
    ("usage", "--node-radix 2x is not auto, off, or 1 to 64",
     ("reduce", *TWO, "--node-radix", "2x")),
    ("usage", "--slow 1,x is not a list of ranks", ("allreduce", *TWO, "--slow", "1,x")),
    ("usage", "--slow 2: 2 is not within the ranks 0 to 1", ("allreduce", *TWO, "--slow", "2")),
    ("usage", "allreduce has no algorithm 'rign'\n  fix:   did you mean 'ring'? (known: ",
     ("allreduce", *TWO, "--algo", "allreduce:rign")),
    ("machine", "nothing.xml", ("allreduce", *TWO, "--machine", "nothing.xml")),
    ("machine", "test_plan_text.py", ("allreduce", *TWO, "--machine", __file__)),
    ("hierarchy", "did you mean 'numa'?", ("allreduce", *TWO, "--hierarchy", "numaa")),
    ("hierarchy", "ranks:8 is larger", ("allreduce", "8", "-n", "4", "--hierarchy", "ranks:8")),
    ("rules", "missing.toml: cannot be opened", ("allreduce", *TWO, "--rules", "missing.toml")),
]  # fmt: skip


@pytest.mark.parametrize(("slug", "reason", "call"), REFUSED, ids=[row[1] for row in REFUSED])
def test_what_is_refused_gives_its_reason_and_a_fix(slug, reason, call):
    assert reason in plans.refusal(slug, *call)


def test_a_refused_rule_is_named_by_its_line(tmp_path):
    file = tmp_path / "my.toml"
    plans.rules(file, plans.rule("allreduce", "p2p", "rign"))
    told = plans.refusal("rules", "allreduce", "8", "-n", "2", "--rules", str(file))
    assert "/my.toml:5: unknown algorithm 'rign' for allreduce over p2p" in told
    assert "  fix:   did you mean 'ring'? (known: " in told
