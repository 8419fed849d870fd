# SPDX-License-Identifier: BSD-3-Clause
"""Makes mpi4py in .venv follow the launcher: under MPICH's mpiexec it opens MPICH.

mpi4py's wheel opens the first libmpi it finds, which on Debian is the default MPI whatever the
launcher, and its MPICH flavour asks for libmpi.so.12, which Debian calls libmpich.so.12. Set-up
puts a libmpi.so.12 that only refers to that one into .venv/lib/mpich, and this module, which Python
imports at start, points mpi4py there. MPI4PY_LIBMPI set by the user, or an MPI installed in .venv,
comes first.
"""

import os
import pathlib
import sys


def choose(environment=os.environ, prefix=sys.prefix):
    library = pathlib.Path(prefix, "lib", "mpich", "libmpi.so.12")
    started_by_mpich = "PMI_SIZE" in environment and "OMPI_COMM_WORLD_SIZE" not in environment
    own_mpi = pathlib.Path(prefix, "lib", "libmpi.so.12")
    if started_by_mpich and library.exists() and not own_mpi.exists():
        environment.setdefault("MPI4PY_LIBMPI", str(library))


choose()
