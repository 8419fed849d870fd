#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every error name in the source has a section in docs/troubleshooting.md, and each section one."""

import re

from repository import ROOT, files, finish, name_of

PAGE = ROOT / "docs/troubleshooting.md"
SOURCES = (
    "src/*.c",
    "src/*.cc",
    "cli/*.c",
    "cli/*.cc",
    "plan/*.cc",
    "python/sumac_mpi/*.py",
    "python/sumac_mpi/*/*.py",
    "scripts/*.py",
)
# How messages are made: by a function that takes the name first or as its argument `slug`, or with
# the name in their text.
MESSAGES = (
    re.compile(
        r"\b(?:SumacError|Failure|requirements.error|stub_warn|stub_error|report_error"
        r"|report_warning|report|print_warning|end_with_error)"
        r'\(\s*(?:[\w.>-]+,\s*)*"([a-z]+(?:-[a-z]+)*)"'
    ),
    re.compile(r'\bslug="([a-z]+(?:-[a-z]+)*)"'),
    re.compile(r'"(?:sumac: )?(?:error|warning)\[([a-z]+(?:-[a-z]+)*)\]: '),
)
HEADING = re.compile(r"^## ([a-z]+(?:-[a-z]+)*(?:, [a-z]+(?:-[a-z]+)*)*)$", re.MULTILINE)


def main():
    used = {}
    for path in files(*SOURCES):
        if path.stem.endswith("_test"):
            continue
        text = path.read_text(encoding="utf-8")
        for slug in (slug for message in MESSAGES for slug in message.findall(text)):
            used.setdefault(slug, name_of(path))
    headings = HEADING.findall(PAGE.read_text(encoding="utf-8"))
    explained = {slug for heading in headings for slug in heading.split(", ")}
    findings = [
        f"{path}: {slug} has no section in {name_of(PAGE)}"
        for slug, path in sorted(used.items())
        if slug not in explained
    ]
    findings += [
        f"{name_of(PAGE)}: nothing in the source says {slug}"
        for slug in sorted(explained - set(used))
    ]
    finish(findings)


if __name__ == "__main__":
    main()
