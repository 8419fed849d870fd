#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The examples of the documentation run, and its links to files of the repository lead somewhere.
docs/algorithms.md has a row for each algorithm, and no others. What is made from tables of the
source is up to date.

A fenced block whose first line is ```sh run is given to bash at the top of the repository, with
.venv/bin first in PATH; it must end with status 0 within a minute, or the seconds of
```sh run timeout=N. Other blocks are only read. What a block writes is shown when it fails.
"""

import os
import pathlib
import re
import subprocess
import sys

from repository import ROOT, files, finish, name_of

sys.path.insert(0, str(ROOT / "scripts"))
import gen_docs  # noqa: E402

SECONDS = 60
PAGES = ("README.md", "HACKING.md", "CONTRIBUTING.md", "docs/*.md", "experiments/*/README.md")
OPENING = re.compile(r"^```sh run(?: timeout=(\d+))?\s*$")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")


def examples(text):
    """(line number, seconds allowed, script) of each block that is to be run."""
    lines = iter(enumerate(text.splitlines(), 1))
    for number, line in lines:
        if match := OPENING.match(line):
            body = []
            for _, inner in lines:
                if inner.startswith("```"):
                    break
                body.append(inner)
            yield number, int(match[1] or SECONDS), "\n".join(body)


def environment():
    result = dict(os.environ)
    result["PATH"] = f"{ROOT / '.venv/bin'}:{result['PATH']}"
    if os.geteuid() == 0:
        # Open MPI refuses to run as root unless both are set.
        result |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return result


def failure_of(script, seconds):
    """Why the example failed, with what it wrote; None when it did not."""
    command = ["timeout", "--kill-after=5", str(seconds), "bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(),
        stdin=subprocess.DEVNULL,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode == 0:
        return None
    why = f"no end in {seconds} s" if done.returncode in (124, 137) else f"{done.returncode=}"
    shown = "\n".join("    | " + line for line in done.stdout.splitlines()[-30:])
    return f"the example failed ({why.removeprefix('done.')}):\n{shown}"


def dead_links(page, text):
    for number, line in enumerate(text.splitlines(), 1):
        for target in LINK.findall(line):
            if not (page.parent / pathlib.Path(target)).exists():
                yield f"{name_of(page)}:{number}: there is no {target}"


def algorithms_explained():
    """How docs/algorithms.md differs from the table of algorithms, under each collective."""
    page = ROOT / "docs/algorithms.md"
    sections = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    known = {(row["collective"], row["name"]) for row in gen_docs.algorithms()}
    collectives = {collective for collective, _ in known}
    explained = {
        (section.split("\n")[0], name)
        for section in sections
        if section.split("\n")[0] in collectives
        for name in re.findall(r"^\| `(\w+)`", section, re.MULTILINE)
    }
    for collective, name in sorted(known ^ explained):
        what = "is not explained" if (collective, name) in known else "does not exist"
        yield f"{name_of(page)}: {collective}:{name} {what}"


def stale_pages():
    for name in gen_docs.stale():
        yield f"{name}: not as the tables of the source say (fix: make docs)"


def main():
    findings = [*algorithms_explained(), *stale_pages()]
    for page in files(*PAGES):
        text = page.read_text(encoding="utf-8")
        findings.extend(dead_links(page, text))
        for number, seconds, script in examples(text):
            print(f"{name_of(page)}:{number}: running", flush=True)
            if why := failure_of(script, seconds):
                findings.append(f"{name_of(page)}:{number}: {why}")
    finish(findings)


if __name__ == "__main__":
    main()
