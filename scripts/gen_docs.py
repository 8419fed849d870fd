#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the parts of docs/ that are made from tables of the source.

Such a part of a page lies between the comments <!-- NAME: ... --> and <!-- end of NAME -->."""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]

ORDERS = ("rank", "tree", "rotated", "none")
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

OPERATIONS = {
    "kArithmetic": "`SUM` `PROD` `MIN` `MAX`",
    "kLogical": "`LAND` `LOR` `LXOR`",
    "kBitwise": "`BAND` `BOR` `BXOR`",
    "kLocation": "`MINLOC` `MAXLOC`",
    "kNoOperation": "none",
}
COMPLEX = "`SUM` `PROD`"


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def rows(path, macro, *fields):
    """The rows MACRO(...) of a table, as dictionaries. It is C: strings may be split over lines."""
    call = re.compile(rf'^{macro}\((?P<body>(?:[^()"]|"(?:[^"\\]|\\.)*")*)\)', re.MULTILINE)
    token = re.compile(r'(?:"(?:[^"\\]|\\.)*"\s*)+|[^,\s"][^,"]*')
    string = re.compile(r'"((?:[^"\\]|\\.)*)"')
    for match in call.finditer(text_of(path)):
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


def options():
    fields = ("name", "field", "kind", "default", "choices", "agreed", "doc")
    rows_of_options = list(rows("src/config/options.def", "SUMAC_OPTION", *fields))
    text = text_of("src/base/collectives.def")
    names = re.findall(r"^SUMAC_COLLECTIVE\((\w+)", text, re.MULTILINE)
    for row in rows_of_options:
        row["choices"] = row["choices"].replace("collective_choices", "|".join(names))
    return rows_of_options


def options_table():
    yield "| variable | value | default | agreed |\n|---|---|---|---|\n"
    for row in options():
        default = f"`{row['default']}`" if row["default"] else "none"
        agreed = "yes" if row["agreed"] == "1" else ""
        yield (
            f"| [`SUMAC_{row['name']}`](#sumac_{row['name'].lower()}) "
            f"| {accepted(row)} | {default} | {agreed} |\n"
        )


def options_texts():
    for number, row in enumerate(options()):
        doc = row["doc"].rstrip(".").replace("<", "&lt;") + "."
        start = "\n" if number else ""
        yield f"{start}## SUMAC_{row['name']}\n\n{textwrap.fill(doc, 100)}\n"
        if row["kind"] == "colls":
            yield f"\nNames: {listed(row['choices'])}.\n"


def algorithms():
    fields = ("collective", "name", "needs", "order", "tuned", "early", "doc", "unruled")
    return rows("src/base/algorithms.def", "SUMAC_ALGORITHM", *fields)


def functions(macro, *fields):
    """The functions of calls.def that such rows have."""
    found = rows("src/interpose/calls.def", macro, "function", *fields)
    names = [f"`MPI_{row['function'].capitalize()}`" for row in found]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def served():
    """The sentence about the collectives that Sumac serves."""
    text = (
        f"Sumac serves {functions('SUMAC_FUNCTION', 'collective', 'arguments')}, blocking, "
        "nonblocking and persistent, and their forms with large counts (those with names that end "
        "in `_c`)."
    )
    return textwrap.fill(text, 100)


def counted():
    """The sentence about the collectives that the MPI serves and Sumac counts."""
    text = (
        "Collectives that Sumac does not serve are counted as well, with the path "
        "`mpi: Sumac does not serve this collective`: "
        f"{functions('SUMAC_COUNTED_FUNCTION', 'arguments', 'size')}, "
        "blocking, nonblocking and persistent, but not their forms with large counts."
    )
    return textwrap.fill(text, 100)


def algorithms_table():
    """A row for each name and need, since docs/algorithms.md describes the algorithms."""
    uses = {}
    for row in algorithms():
        needs = row["needs"].replace("levels_", "levels, ").replace("_", " ")
        uses.setdefault((row["name"], needs), {}).setdefault(row["order"], []).append(
            row["collective"]
        )
    yield "| algorithm | needs | rank order | tree | rotated | does not combine |\n"
    yield "|---|---|---|---|---|---|\n"
    for (name, needs), of_order in uses.items():
        cells = (", ".join(of_order.get(each, ())) for each in ORDERS)
        yield f"| `{name}` | {needs} | {' | '.join(cells)} |\n"


def reasons_table():
    yield "| reason | name |\n|---|---|\n"
    for row in rows("src/observe/reasons.def", "SUMAC_REASON", "name", "text"):
        yield f"| {row['text']} | `{row['name']}` |\n"


def refusals_table():
    yield "| for which memory | because | name |\n|---|---|---|\n"
    for row in rows("src/base/refusals.def", "SUMAC_REFUSAL", "name", "scope", "text"):
        yield f"| {SCOPES[row['scope']]} | {row['text']} | `{row['name']}` |\n"


def layouts_table():
    yield "| layout | what it is | made by |\n|---|---|---|\n"
    row = re.compile(r'^SUMAC_LAYOUT\((\w+), "([^"]*)",\s*(.*?)\)$', re.MULTILINE | re.DOTALL)
    source = text_of("bench/pack_layouts.def")
    for name, what, made in row.findall(source):
        yield f"| `{name}` | {what} | `{made}` |\n"


def matched(pattern, text, what):
    match = re.search(pattern, text, re.DOTALL)
    if not match:
        sys.exit(f"no {what} where the documentation is made from")
    return match[1]


def defined(types, ops):
    """Returns for each element kind the operations that is_defined() allows."""
    body = matched(r"constexpr bool is_defined\(.*?\{(.*?)\n\}", types, "is_defined")
    allowed = {}
    for kind, text in re.findall(r"case ElementKind::(\w+):\s*return ([^;]+);", body):
        limit = re.fullmatch(r"op (<=?) Op::(\w+)", text)
        if limit:
            allowed[kind] = ops[: ops.index(limit[2]) + (limit[1] == "<=")]
        elif text == "location":
            allowed[kind] = ["minloc", "maxloc"]
        else:
            sys.exit(f"is_defined: cannot read '{text}'")
    return allowed


def elements_table():
    """Which operations there are on which elements, and by what kind of loop."""
    types_header = text_of("src/base/types.h")
    ops = re.findall(r"\w+", matched(r"enum class Op [^{]*\{(.*?)\}", types_header, "Op"))
    ops.remove("none")
    allowed = defined(types_header, ops)
    row = re.compile(r'^SUMAC_ELEMENT\(\w+, "(\w+)", [^,]+, (\w+), (\w+),', re.MULTILINE)
    alike = {}
    for name, kind, kernels in row.findall(text_of("src/base/types.def")):
        loop = "plain" if kernels == "wide" else "vector"
        alike.setdefault((", ".join(allowed[kind]), loop), []).append(name.replace("_", " "))
    yield "| elements | operations | loop |\n|---|---|---|\n"
    for (operations, loop), names in alike.items():
        yield f"| {', '.join(names)} | {operations} | {loop} |\n"


def bits_of_results():
    """What src/kernels/reduce.h says of the bits of a result."""
    header = text_of("src/kernels/reduce.h")
    text = matched(r"\n(// Computes dst\[i\] = .*?)using ReduceFn", header, "rules")
    yield "```text\n"
    for line in text.splitlines():
        yield line.removeprefix("//").removeprefix(" ") + "\n"
    yield "```\n"


def types_table():
    """MPI's types and the operations on them."""
    path = "src/interpose/mpi/predefined_types.def"
    handles = {}
    for row in rows(path, "SUMAC_TYPE", "handle", "kind"):
        handles.setdefault(row["kind"], []).append(f"`{row['handle']}`")
    for row in rows(path, "SUMAC_OPTIONAL_TYPE", "handle", "kind"):
        handles.setdefault(row["kind"], []).append(f"`{row['handle']}`*")
    yield "| kind | types | operations |\n|---|---|---|\n"
    for row in rows(path, "SUMAC_TYPE_KIND", "kind", "operations", "text"):
        operations = " ".join(OPERATIONS[name.strip()] for name in row["operations"].split("|"))
        if "complex" in row["kind"]:
            operations = COMPLEX
        yield f"| {row['text']} | {' '.join(handles[row['kind']])} | {operations} |\n"


PARTS = {
    "docs/benchmarks.md": {"layouts": layouts_table},
    "docs/calls.md": {
        "algorithms": algorithms_table,
        "served": lambda: [served() + "\n"],
        "counted": lambda: [counted() + "\n"],
        "reasons": reasons_table,
    },
    "docs/memory.md": {"refusals": refusals_table},
    "docs/options.md": {"table": options_table, "options": options_texts},
    "docs/reductions.md": {
        "elements": elements_table,
        "bits": bits_of_results,
        "types": types_table,
    },
}


def page_of(name):
    """The page as it is, with its parts made anew."""
    text = text_of(name)
    for part, make in PARTS[name].items():
        place = re.compile(rf"(<!-- {part}:.*?-->\n).*?(<!-- end of {part} -->)", re.DOTALL)
        made = f"\n{''.join(make())}\n"
        text, found = place.subn(lambda ends, made=made: ends[1] + made + ends[2], text)
        if found != 1:
            sys.exit(f"{name}: no place for {part}")
    return text


def stale():
    """The pages that are not as the tables say."""
    return [name for name in PARTS if text_of(name) != page_of(name)]


def main():
    for name in PARTS:
        (ROOT / name).write_text(page_of(name), encoding="utf-8")


if __name__ == "__main__":
    main()
