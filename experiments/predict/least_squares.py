# SPDX-License-Identifier: BSD-3-Clause
"""Solves least-squares problems by pylops-mpi. Arguments: rows of a rank, columns, iterations,
problems."""

import sys

import numpy
import pylops
import pylops_mpi
from mpi4py import MPI


def vector(values):
    """One that all ranks have."""
    result = pylops_mpi.DistributedArray(len(values), partition=pylops_mpi.Partition.BROADCAST)
    result[:] = values
    return result


rows, columns, iterations, problems = map(int, sys.argv[1:])
random = numpy.random.default_rng(MPI.COMM_WORLD.rank)
operator = pylops_mpi.MPIVStack([pylops.MatrixMult(random.standard_normal((rows, columns)))])
for problem in range(problems):
    data = operator @ vector(numpy.cos(numpy.arange(columns) * (problem + 1.0)))
    start = vector(numpy.zeros(columns))
    found = pylops_mpi.cgls(operator, data, x0=start, niter=iterations, tol=0.0)[0]
    residual = numpy.abs((operator @ found - data).local_array).max()
    if MPI.COMM_WORLD.rank == 0:
        print(f"problem {problem}: largest residual {residual:.2e}")
