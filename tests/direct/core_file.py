#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether a core file holds the buffer of inspected.cc.

Usage: core_file.py CORE ADDRESS BYTES
Exit status: 0 it does, 1 it does not.
"""

import struct
import sys

from elftools.elf.elffile import ELFFile


def memory(core, address, size):
    """The bytes at the address, of one or several segments; less where they are not in the file."""
    found = b""
    for segment in core.iter_segments("PT_LOAD"):
        begin, held = segment["p_vaddr"], segment["p_filesz"]
        at = address + len(found)
        if begin <= at < begin + held and len(found) < size:
            core.stream.seek(segment["p_offset"] + at - begin)
            found += core.stream.read(min(begin + held - at, size - len(found)))
    return found


def main():
    path, address, size = sys.argv[1], int(sys.argv[2], 16), int(sys.argv[3])
    with open(path, "rb") as stream:
        found = memory(ELFFile(stream), address, size)
    count = size // 4
    expected = struct.pack(
        f"<{count}i", *((i * 2654435761 & 0xFFFFFFFF) >> 8 for i in range(count))
    )
    if found == expected:
        print(f"{size} bytes at {address:#x} are in the core file")
        return 0
    print(f"FAILED: {len(found)} bytes of {size} at {address:#x} are there, or others")
    return 1


if __name__ == "__main__":
    sys.exit(main())
