# SPDX-License-Identifier: BSD-3-Clause
"""The scripts that make shells complete command lines, where the shells look for them below a
prefix."""

import subprocess
import sys

from install_man_pages import output_of

PLACES = {
    "bash": "share/bash-completion/completions/sumac",
    "zsh": "share/zsh/site-functions/_sumac",
    "fish": "share/fish/vendor_completions.d/sumac.fish",
}


def add_completions(prefix):
    for shell, place in PLACES.items():
        try:
            text = output_of(prefix, "completion", shell)
        except subprocess.CalledProcessError:  # the command's Python packages are missing
            print("install: no shell completion", file=sys.stderr)
            return
        (prefix / place).parent.mkdir(parents=True)
        (prefix / place).write_text(text)
