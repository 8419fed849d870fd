#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Comments of the C and C++ code in src/ are sentences with a subject and a verb.

A script cannot find the verb, so this one looks at the word with which verbless comments begin:

- No paragraph of a comment begins with Of, What, Whether, Whose, Which, Who, How, That or Those:
  what stands there is a noun phrase ("What a rank shows of them."), and not what the function does
  ("Returns what a rank shows of its memory.").
- A paragraph may begin with As, By, When, Where, Whatever or Whoever if its first sentence has a
  comma, behind which the main clause stands ("Where X is null, the call returns 0.").
- A comment behind code may be a short phrase ("bytes", "rank of the root"), but it does not begin
  with of, by, what, whether, whose or that: it names the thing itself."""

import re

from repository import files, finish, name_of

SOURCES = [f"src/*{end}" for end in (".c", ".cc", ".h", ".S", ".def")]
NEVER = re.compile(r"(?:Of|What|Whether|Whose|Which|Who|How|That|Those)\b(?!')")
WITH_COMMA = re.compile(r"(?:As|By|When|Where|Whatever|Whoever)\b")
FIRST_SENTENCE = re.compile(r".*?[.:;](?=\s|$)|.*", re.DOTALL)
BEHIND_CODE = re.compile(r"(?:of|by|what|whether|whose|that)\b")
# Lines for tools, and names of sections: what follows is a paragraph of its own.
MARKER = re.compile(r"SPDX-|clang-format |NOLINT|-{3,} ")
# A line with a comment: the code before it, whose strings may have slashes in them, and the text.
LINE = re.compile(r"""((?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)+'|(?<=\w)'|[^"'/]|/(?!/))*)//\s*(.*)""")


def comments_of(text):
    """Yields (number of the line, whether code stands before it, text) for each paragraph."""
    number, column, behind_code, lines = 0, None, False, []
    for at, line in enumerate(text.split("\n"), 1):
        found = LINE.match(line)
        code, words = (found[1], found[2]) if found else ("", "")
        if MARKER.match(words):
            words = ""
        if words and lines and not code.strip() and len(code) == column:
            lines.append(words)
            continue
        if lines:
            yield number, behind_code, " ".join(lines)
        number, column, behind_code = at, len(code), bool(code.strip())
        lines = [words] if words else []
    if lines:
        yield number, behind_code, " ".join(lines)


def fault_of(behind_code, text):
    """What is wrong with the beginning of a comment; nothing when it is all right."""
    if behind_code:
        found = BEHIND_CODE.match(text)
        return f"name the thing itself instead of '{found[0]} ...'" if found else None
    if found := NEVER.match(text):
        return f"begins with '{found[0]}': say it with a subject and a verb"
    found = WITH_COMMA.match(text)
    if found and "," not in FIRST_SENTENCE.match(text)[0]:
        return f"begins with '{found[0]}' and has no main clause behind a comma"
    return None


def findings_of(path):
    for number, behind_code, text in comments_of(path.read_text(encoding="utf-8")):
        if fault := fault_of(behind_code, text):
            yield f"{name_of(path)}:{number}: comment: {fault}"


def main():
    paths = files(*SOURCES)
    finish([finding for path in paths for finding in findings_of(path)])


if __name__ == "__main__":
    main()
