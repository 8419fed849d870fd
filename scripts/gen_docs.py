#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the pages of docs/ that are made from tables of the source; --check compares them."""

import pathlib
import re
import sys
import textwrap

import reductions_page

ROOT = pathlib.Path(__file__).resolve().parents[1]

OPTIONS_HEAD = """\
<!-- Made by scripts/gen_docs.py from src/config/options.def: do not edit. -->
# Options

Every option is an environment variable `SUMAC_<NAME>`, read once when the program makes its first
MPI call; an empty value counts as unset. Options with the values *yes* and *no* also accept `1`,
`on`, `true` and `0`, `off`, `false`, in upper or lower case.

If a value is wrong (not a number, an unknown word, one bad element of a list), the default is used,
and there is [one warning per job](troubleshooting.md#bad-value). The warning for an unknown
`SUMAC_` name suggests the option with the most similar name. Rank 0 warns when `MPI_Init` has
returned. Another rank warns of errors that rank 0 does not have (`on rank 3: ...`) when it first
sets up a communicator together with rank 0. `sumac check` and `sumac bench` do not start with a bad
value. There is also one warning if an option cannot be followed, such as an algorithm that cannot
run here, or an instruction set that the processor lacks.

*Agreed* options must have the same value on all ranks of a communicator: if they differ, its calls
are handed to the MPI.

| variable | value | default | agreed |
|---|---|---|---|
"""
PATHS_HEAD = """\
<!-- Made by scripts/gen_docs.py from src/base/algorithms.def and src/observe/reasons.def: do not
     edit. -->
# What becomes of a call

A call is served by an algorithm of Sumac, or handed to the MPI for a reason; this is its path.
`SUMAC_STATS=yes` prints at the end how many calls took each path, and their times.
`sumac_last_path()` returns the path of the last call. `SUMAC_DEBUG=trace` prints each decision
once: which algorithm is chosen from which size on, and by which rule.

## Algorithms

`SUMAC_ALGO=allreduce:single_copy` forces an algorithm. If it cannot run, the rules choose, and a
[warning](troubleshooting.md#forced) says why: it is for other kinds of groups, the message is
larger than *lines* can hold, the operation is user-defined, and so on. *Single copy* needs access
to other processes' memory (cross-memory attach), which is tested when a communicator is set up.

*Order* is the order in which the ranks' data of one element are folded. *Rank*: in rank order, from
rank 0 on. *Tree*: partial results of neighbours, or of groups, are folded with one another.
*Rotated*: so are those of neighbours, where ranks are counted from the root, or from the rank that
a part of the vector belongs to. With each of these all ranks get the same bits.

| collective | algorithm | needs | order | what it does |
|---|---|---|---|---|
"""
REASONS_HEAD = """
## Reasons for handing a call to the MPI

COUNTED

| reason | name |
|---|---|
"""
REFUSALS_HEAD = """
## Reasons for not promoting a buffer

With direct memory, whole pages of a buffer that is used again and again are *promoted*: they become
pages of a file that the other ranks of the node map, at the same addresses and with the same data.
This is not done

| for which memory | because | name |
|---|---|---|
"""
SCOPES = {"process": "all of the process", "range": "a buffer"}
VALUES = {
    "flag": "yes or no",
    "count": "a whole number",
    "bytes": "bytes; `64K`, `1M`, `2G` are understood",
    "text": "text",
    "path": "a file or folder, or no",
    "report": "yes, no, `all`, a file, or `all,FILE`",
    "colls": "`all`, a comma list, or `^name`",
}


def rows(path, macro, *fields):
    """The rows MACRO(...) of a table, as dictionaries. It is C: strings may be split over lines."""
    call = re.compile(rf'^{macro}\((?P<body>(?:[^()"]|"(?:[^"\\]|\\.)*")*)\)', re.MULTILINE)
    token = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+|[^,\s"][^,"]*')
    string = re.compile(r'"((?:[^"\\]|\\.)*)"')
    for match in call.finditer((ROOT / path).read_text(encoding="utf-8")):
        values = [
            "".join(string.findall(item)) if item.startswith('"') else item.strip()
            for item in token.findall(match["body"])
        ]
        if len(values) != len(fields):
            sys.exit(f"{path}: a row has {len(values)} fields, not {len(fields)}: {values}")
        yield dict(zip(fields, values))


def listed(choices):
    return ", ".join(f"`{choice}`" for choice in choices.split("|"))


def accepted(row):
    if row["kind"] == "choice":
        return listed(row["choices"])
    if row["kind"] in ("count", "limit") and row["choices"]:
        words = "`auto`, `off`, or " if row["kind"] == "limit" else ""
        return words + "{} to {}".format(*row["choices"].split(".."))
    return VALUES[row["kind"]]


def options_page():
    fields = ("name", "field", "kind", "default", "choices", "agreed", "doc")
    options = list(rows("src/config/options.def", "SUMAC_OPTION", *fields))
    text = (ROOT / "src/base/collectives.def").read_text(encoding="utf-8")
    names = re.findall(r"^SUMAC_COLLECTIVE\((\w+)", text, re.MULTILINE)
    for row in options:
        row["choices"] = row["choices"].replace("collective_choices", "|".join(names))
    parts = [OPTIONS_HEAD]
    for row in options:
        default = f"`{row['default']}`" if row["default"] else "none"
        agreed = "yes" if row["agreed"] == "1" else ""
        parts.append(
            f"| [`SUMAC_{row['name']}`](#sumac_{row['name'].lower()}) "
            f"| {accepted(row)} | {default} | {agreed} |\n"
        )
    for row in options:
        doc = row["doc"].rstrip(".").replace("<", "&lt;") + "."
        parts.append(f"\n## SUMAC_{row['name']}\n\n{textwrap.fill(doc, 100)}\n")
        if row["kind"] == "colls":
            parts.append(f"\nNames: {listed(row['choices'])}.\n")
    return "".join(parts)


def algorithms():
    fields = ("collective", "name", "needs", "order", "tuned", "doc", "unruled")
    return rows("src/base/algorithms.def", "SUMAC_ALGORITHM", *fields)


def counted():
    """The sentence about the collectives that the MPI serves and Sumac counts."""
    fields = ("mpi", "counted", "form")
    found = rows("src/interpose/calls.def", "SUMAC_COUNTED", *fields)
    names = [f"`MPI_{row['mpi']}`" for row in found if row["form"] == "blocking"]
    text = (
        "Collectives that Sumac does not serve are counted as well, with the path "
        f"`mpi: Sumac does not serve this collective`: {', '.join(names[:-1])} and {names[-1]}, "
        "blocking, nonblocking and persistent, but not their forms with large counts "
        "(those with names that end in `_c`)."
    )
    return textwrap.fill(text, 100)


def paths_page():
    parts = [PATHS_HEAD]
    for row in algorithms():
        needs = row["needs"].replace("levels_", "levels, ").replace("_", " ")
        order = "" if row["order"] == "none" else row["order"]
        unruled = f" (no shipped rule chooses it: {row['unruled']})" if row["unruled"] else ""
        parts.append(
            f"| {row['collective']} | `{row['name']}` | {needs} | {order} "
            f"| {row['doc']}{unruled} |\n"
        )
    parts.append(REASONS_HEAD.replace("COUNTED", counted()))
    for row in rows("src/observe/reasons.def", "SUMAC_REASON", "name", "text"):
        parts.append(f"| {row['text']} | `{row['name']}` |\n")
    parts.append(REFUSALS_HEAD)
    for row in rows("src/base/refusals.def", "SUMAC_REFUSAL", "name", "scope", "text"):
        parts.append(f"| {SCOPES[row['scope']]} | {row['text']} | `{row['name']}` |\n")
    return "".join(parts)


def benchmarks_page():
    """The page as it is, with the table of layouts between its two comments made anew."""
    text = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    table = ["\n| layout | what it is | made by |\n|---|---|---|\n"]
    row = re.compile(r'^SUMAC_LAYOUT\((\w+), "([^"]*)",\s*(.*?)\)$', re.MULTILINE | re.DOTALL)
    source = (ROOT / "bench/pack_layouts.def").read_text(encoding="utf-8")
    for name, what, made in row.findall(source):
        table.append(f"| `{name}` | {what} | `{made}` |\n")
    part = re.compile(r"(<!-- layouts:.*?-->\n).*?(<!-- end of layouts -->)", re.DOTALL)
    return part.sub(lambda ends: ends[1] + "".join(table) + "\n" + ends[2], text)


PAGES = {
    "docs/benchmarks.md": benchmarks_page,
    "docs/options.md": options_page,
    "docs/paths.md": paths_page,
    "docs/reductions.md": lambda: reductions_page.make(ROOT, rows),
}


def main():
    stale = []
    for name, make in PAGES.items():
        path, wanted = ROOT / name, make()
        if "--check" not in sys.argv[1:]:
            path.write_text(wanted, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != wanted:
            stale.append(name)
    if stale:
        sys.exit(f"{', '.join(stale)} not as the tables of the source say (fix: make docs)")


if __name__ == "__main__":
    main()
