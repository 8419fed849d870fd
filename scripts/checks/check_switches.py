#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A switch over an enumeration of ours has no default: the compiler then names the enumerators that
it lacks (-Wswitch), where a default would handle them silently."""

import re

from repository import files, finish, name_of

FOLDERS, ENDS = ("src", "plan", "bench", "cli"), (".c", ".cc", ".h")
SOURCES = [f"{folder}/*{end}" for folder in FOLDERS for end in ENDS]
COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
ENUM = re.compile(r"\benum\s+(?:class\s+)?(\w+)?\s*(?::[^{;]*)?\{([^}]*)\}")
SWITCH = re.compile(r"\bswitch\s*\(")
LABEL = re.compile(r"\bcase\s+(?:\w+::)*?(?:(\w+)::)?(\w+)\s*:(?!:)|\b(default)\s*:(?!:)")


def code_of(path):
    """The text with blanks in place of comments and strings, so that line numbers stay the same."""
    text = path.read_text(encoding="utf-8")
    return COMMENTS.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def block_of(code, begin):
    """The text in the next pair of braces, without the blocks of nested switches."""
    depth, at = 0, code.index("{", begin)
    inner = []
    for end in range(at, len(code)):
        depth += {"{": 1, "}": -1}.get(code[end], 0)
        if depth == 0:
            break
        inner.append(code[end])
    body = "".join(inner)[1:]
    for nested in list(SWITCH.finditer(body)):
        found = block_of(body, nested.start())
        body = body.replace(found, re.sub(r"[^\n]", " ", found))
    return body


def main():
    codes = {path: code_of(path) for path in files(*SOURCES)}
    names, enumerators = set(), set()
    for code in codes.values():
        for name, body in ENUM.findall(code):
            names.add(name)
            enumerators.update(re.findall(r"(?:^|,)\s*(\w+)", body))
    names.discard("")
    findings = []
    for path, code in codes.items():
        for switch in SWITCH.finditer(code):
            labels = LABEL.findall(block_of(code, switch.start()))
            ours = any(
                scope in names if scope else name in enumerators for scope, name, _ in labels
            )
            if ours and any(default for *_, default in labels):
                line = code.count("\n", 0, switch.start()) + 1
                findings.append(
                    f"{name_of(path)}:{line}: a switch over an enumeration of ours has a default; "
                    "name its enumerators, and return behind it what is left"
                )
    finish(findings)


if __name__ == "__main__":
    main()
