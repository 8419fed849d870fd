# SPDX-License-Identifier: BSD-3-Clause
"""A job of test_python_jobs.py and of the wheel's test: a rank that uses sumac_mpi from within.
in_process.py enable|exec|late|without"""

import sys

import sumac_mpi
from sumac_mpi.base.errors import SumacError

PAUSED = "paused by the program"


def calls(stats, taken, word=""):
    return sum(
        path["calls"] for path in stats["paths"] if path["taken"] == taken and word in path["path"]
    )


def communicate(mpi, served):
    numpy = __import__("numpy")
    comm = mpi.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    total = size * (size - 1) / 2
    result = numpy.zeros(100)
    for turn in range(10):
        comm.Allreduce(numpy.full(100, float(rank + turn)), result)
        assert (result == total + turn * size).all(), result
    assert comm.allreduce({rank}, op=lambda a, b: a | b) == set(range(size))
    assert comm.bcast([rank] * 3, root=size - 1) == [size - 1] * 3
    before = sumac_mpi.stats()
    with sumac_mpi.disabled(), sumac_mpi.disabled():
        for _ in range(4):
            comm.Allreduce(numpy.ones(100), result)
        assert (result == size).all()
    after = sumac_mpi.stats()
    if not served:
        nothing = {"active": False, "description": "", "served": 0, "calls": 0, "paths": []}
        assert before == after == nothing
        return
    assert before["active"] and "Sumac" in before["description"]
    assert calls(before, True) >= 7 and calls(before, False, PAUSED) == 0
    assert calls(after, True) == calls(before, True)
    assert calls(after, False, PAUSED) == 4
    comm.Barrier()
    assert calls(sumac_mpi.stats(), True) > calls(after, True)


def main(how):
    if how == "late":
        from mpi4py import MPI

        try:
            sumac_mpi.enable()
        except SumacError as error:
            assert error.slug == "too-late", error
        else:
            raise AssertionError("enable() was too late, and did not say so")
    else:
        if how != "without":
            sumac_mpi.enable()
        from mpi4py import MPI
    communicate(MPI, how in ("enable", "exec"))
    if MPI.COMM_WORLD.Get_rank() == 0:
        print("right", MPI.COMM_WORLD.Get_size(), MPI.Get_library_version().split(",")[0])


main(sys.argv[1])
