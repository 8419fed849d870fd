# SPDX-License-Identifier: BSD-3-Clause
"""The `sumac` command: `python -m sumac_mpi`, or, as bin/sumac does it, `python FOLDER`."""

import os
import sys

if not __package__:  # run by its folder, which Python then puts into the path of modules
    sys.path[0] = os.path.dirname(sys.path[0])

from sumac_mpi.base import requirements  # noqa: E402
from sumac_mpi.base.endings import leave, status_of  # noqa: E402


def start() -> int:
    # In isolated mode the packages were installed with this one.
    lacking = [] if sys.flags.isolated else requirements.lacking()
    if not lacking:
        try:
            from sumac_mpi.commands.main import main
        except ModuleNotFoundError as error:
            lacking = [str(error.name)]
    if lacking:
        complaint = requirements.error("no-python", lacking)
        print(complaint, file=sys.stderr)
        return int(complaint.code)
    return main()


if __name__ == "__main__":
    leave(status_of(start))
