# SPDX-License-Identifier: BSD-3-Clause
"""The tables of docs/reductions.md: types and operations, from the tables of the source."""

import re
import sys

OPERATIONS = {
    "kArithmetic": "`SUM` `PROD` `MIN` `MAX`",
    "kLogical": "`LAND` `LOR` `LXOR`",
    "kBitwise": "`BAND` `BOR` `BXOR`",
    "kLocation": "`MINLOC` `MAXLOC`",
    "kNoOperation": "none",
}
COMPLEX = "`SUM` `PROD`"


def found(pattern, text, what):
    match = re.search(pattern, text, re.DOTALL)
    if not match:
        sys.exit(f"no {what} where the documentation is made from")
    return match[1]


def defined(types, ops):
    """Returns for each element kind the operations that is_defined() allows."""
    body = found(r"constexpr bool is_defined\(.*?\{(.*?)\n\}", types, "is_defined")
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


def text_of(root, path):
    return (root / path).read_text(encoding="utf-8")


def elements(root):
    """Which operations there are on which elements, and by what kind of loop."""
    types_header = text_of(root, "src/base/types.h")
    ops = re.findall(r"\w+", found(r"enum class Op [^{]*\{(.*?)\}", types_header, "Op"))
    ops.remove("none")
    allowed = defined(types_header, ops)
    row = re.compile(r'^SUMAC_ELEMENT\(\w+, "(\w+)", [^,]+, (\w+), (\w+),', re.MULTILINE)
    alike = {}
    for name, kind, kernels in row.findall(text_of(root, "src/base/types.def")):
        loop = "plain" if kernels == "wide" else "vector"
        alike.setdefault((", ".join(allowed[kind]), loop), []).append(name.replace("_", " "))
    yield "| elements | operations | loop |\n|---|---|---|\n"
    for (operations, loop), names in alike.items():
        yield f"| {', '.join(names)} | {operations} | {loop} |\n"


def bits(root):
    """What src/kernels/reduce.h says of the bits of a result."""
    header = text_of(root, "src/kernels/reduce.h")
    text = found(r"\n(// Computes dst\[i\] = .*?)using ReduceFn", header, "rules")
    yield "```text\n"
    for line in text.splitlines():
        yield line.removeprefix("//").removeprefix(" ") + "\n"
    yield "```\n"


def types(rows):
    """MPI's types and the operations on them. `rows` reads a table of the source."""
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
