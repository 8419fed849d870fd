# SPDX-License-Identifier: BSD-3-Clause
"""recording.py FILE: fails unless a rank's recording is whole: its sections end where the file
does, and its text is lines of JSON (src/observe/recording_file.h)."""

import json
import struct
import sys
from pathlib import Path

data = Path(sys.argv[1]).read_bytes()
at = 0
while at < len(data):
    name, size = struct.unpack_from("=4sI", data, at)
    section = data[at + 8 : at + 8 + size]
    at += 8 + size
    if name == b"text":
        for line in section.decode().splitlines():
            json.loads(line)
assert data and at == len(data), f"{at} of {len(data)} bytes"
