# SPDX-License-Identifier: BSD-3-Clause
import sys

from sumac_mpi.endings import leave, status_of
from sumac_mpi.errors import Exit, SumacError


def start() -> int:
    try:
        from sumac_mpi.cli import main
    except ModuleNotFoundError as error:
        missing = SumacError(
            "no-python",
            f"this Python lacks the package {error.name}",
            found=sys.executable,
            fix=f"{sys.executable} -m pip install sumac-mpi; 'sumac exec' works without it",
        )
        print(missing, file=sys.stderr)
        return int(Exit.UNAVAILABLE)
    return main()


if __name__ == "__main__":
    leave(status_of(start))
