# SPDX-License-Identifier: BSD-3-Clause
"""A sweep of collectives by mpi4py, whose buffers are in one GPU's memory or in the host's.

Each rank draws for each of its buffers whether it is a device's, pinned, managed, or ordinary
memory, so the ranks of one call differ. numpy computes what the results must be. Run it under
mpiexec, with Sumac loaded:

    mpiexec -n 4 sumac exec python sweep.py --memory cupy --cases 2000

`--memory driver` takes memory from CUDA's driver (libcuda.so.1, or SUMAC_TEST_CUDA), `cupy` and
`torch` from these packages. It exits with 1 if a result is wrong.
"""

import argparse
import ctypes
import os
import random
import sys

import numpy as np
from mpi4py import MPI

COMM = MPI.COMM_WORLD
SIZES = [1, 3, 64, 500, 2072, 8192, 16384, 65536, 100_003, 1 << 20]
TYPES = [np.int32, np.int64, np.float32, np.float64]


class Driver:
    """Buffers in memory that CUDA's driver gives, whatever else is in the process."""

    kinds = ("host", "device", "managed", "pinned")

    def __init__(self):
        self.cuda = ctypes.CDLL(os.environ.get("SUMAC_TEST_CUDA", "libcuda.so.1"))
        context = ctypes.c_void_p()
        self.check(self.cuda.cuInit(0))
        self.check(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        self.check(self.cuda.cuCtxPushCurrent_v2(context))

    def check(self, error):
        if error:
            raise RuntimeError(f"the driver reports error {error}")

    def make(self, kind, count, dtype):
        if kind == "host":
            return Buffer(np.empty(count, dtype))
        size = ctypes.c_size_t(max(count, 1) * np.dtype(dtype).itemsize)
        if kind == "pinned":
            array = np.empty(max(count, 1), dtype)
            at = ctypes.c_void_p(array.ctypes.data)
            self.check(self.cuda.cuMemHostRegister_v2(at, size, 0))
            return Buffer(array[:count], lambda: self.check(self.cuda.cuMemHostUnregister(at)))
        at = ctypes.c_uint64()
        if kind == "managed":
            self.check(self.cuda.cuMemAllocManaged(ctypes.byref(at), size, ctypes.c_uint(1)))
        else:
            self.check(self.cuda.cuMemAlloc_v2(ctypes.byref(at), size))
        return Device(self, at.value, count, dtype)


class Buffer:
    """Numbers in memory that numpy can reach."""

    def __init__(self, array, drop=lambda: None):
        self.given, self.array, self.drop = array, array, drop

    def write(self, values):
        self.array[...] = values

    def read(self):
        return self.array.copy()


class Device:
    """Numbers in memory of the driver, which is copied by it."""

    def __init__(self, driver, at, count, dtype):
        self.driver, self.at, self.count, self.dtype = driver, at, count, np.dtype(dtype)
        self.given = self
        self.__cuda_array_interface__ = {
            "shape": (count,),
            "typestr": self.dtype.str,
            "data": (at, False),
            "version": 3,
        }

    def copied(self, copy, *arguments):
        self.driver.check(copy(*arguments, ctypes.c_void_p()))
        self.driver.check(self.driver.cuda.cuStreamSynchronize(ctypes.c_void_p()))

    def write(self, values):
        host = np.ascontiguousarray(values, self.dtype)
        self.copied(
            self.driver.cuda.cuMemcpyHtoDAsync_v2,
            ctypes.c_uint64(self.at),
            ctypes.c_void_p(host.ctypes.data),
            ctypes.c_size_t(host.nbytes),
        )

    def read(self):
        host = np.empty(self.count, self.dtype)
        self.copied(
            self.driver.cuda.cuMemcpyDtoHAsync_v2,
            ctypes.c_void_p(host.ctypes.data),
            ctypes.c_uint64(self.at),
            ctypes.c_size_t(host.nbytes),
        )
        return host

    def drop(self):
        self.driver.check(self.driver.cuda.cuMemFree_v2(ctypes.c_uint64(self.at)))


class Package:
    """Buffers that CuPy or PyTorch makes on the device, or in pinned memory."""

    def __init__(self, name):
        self.name, self.kinds = name, ("host", "device", "pinned")
        self.package = __import__(name)

    def make(self, kind, count, dtype):
        if kind == "host":
            return Buffer(np.empty(count, dtype))
        return (CupyBuffer if self.name == "cupy" else TorchBuffer)(
            self.package, kind, count, np.dtype(dtype)
        )


class CupyBuffer:
    def __init__(self, cupy, kind, count, dtype):
        self.cupy, self.pinned = cupy, kind == "pinned"
        if self.pinned:
            memory = cupy.cuda.alloc_pinned_memory(max(count, 1) * dtype.itemsize)
            self.given = np.frombuffer(memory, dtype, count)
        else:
            self.given = cupy.empty(count, dtype)

    def write(self, values):
        if self.pinned:
            self.given[...] = values
        else:
            self.given.set(np.ascontiguousarray(values, self.given.dtype))
            self.cupy.cuda.get_current_stream().synchronize()

    def read(self):
        return self.given.copy() if self.pinned else self.given.get()

    def drop(self):
        self.given = None


class TorchBuffer:
    def __init__(self, torch, kind, count, dtype):
        self.torch, self.pinned = torch, kind == "pinned"
        of = getattr(torch, dtype.name)
        if self.pinned:
            self.tensor = torch.empty(count, dtype=of, pin_memory=True)
            self.given = self.tensor.numpy()
        else:
            self.given = self.tensor = torch.empty(count, dtype=of, device="cuda")

    def write(self, values):
        host = np.ascontiguousarray(values, str(self.tensor.dtype).removeprefix("torch."))
        self.tensor.copy_(self.torch.from_numpy(host))
        self.torch.cuda.synchronize()

    def read(self):
        return self.tensor.cpu().numpy().copy()

    def drop(self):
        self.given = self.tensor = None


def all_of(inputs, op):
    return np.add.reduce(inputs) if op == MPI.SUM else np.maximum.reduce(inputs)


# What a call does with `n` elements of each of `p` ranks: how many it gives and gets, the calls,
# and the result on rank `r` from the inputs of all ranks (None: nothing is there).
CALLS = {
    "Allreduce": (
        lambda n, p: (n, n),
        lambda s, r, op, root: (s, r, op),
        lambda x, r, n, op, root: all_of(x, op),
    ),
    "Reduce": (
        lambda n, p: (n, n),
        lambda s, r, op, root: (s, r, op, root),
        lambda x, r, n, op, root: all_of(x, op) if r == root else None,
    ),
    "Reduce_scatter_block": (
        lambda n, p: (n * p, n),
        lambda s, r, op, root: (s, r, op),
        lambda x, r, n, op, root: all_of(x, op)[r * n : (r + 1) * n],
    ),
    "Allgather": (
        lambda n, p: (n, n * p),
        lambda s, r, op, root: (s, r),
        lambda x, r, n, op, root: np.concatenate(x),
    ),
    "Alltoall": (
        lambda n, p: (n * p, n * p),
        lambda s, r, op, root: (s, r),
        lambda x, r, n, op, root: np.concatenate([a[r * n : (r + 1) * n] for a in x]),
    ),
    "Bcast": (
        lambda n, p: (0, n),
        lambda s, r, op, root: (r, root),
        lambda x, r, n, op, root: x[root],
    ),
}


def make_call(name, form, arguments):
    """Makes the call in that form, and returns when its result is there."""
    if form == "blocking":
        getattr(COMM, name)(*arguments)
    elif form == "nonblocking":
        getattr(COMM, "I" + name.lower())(*arguments).Wait()
    else:
        request = getattr(COMM, name + "_init")(*arguments)
        for _ in range(2):
            request.Start()
            request.Wait()
        request.Free()


def run_case(memory, case, forms):
    """Runs the case of this number, and returns (True if its result is right, buffers on a GPU)."""
    shared = random.Random(case)
    own = random.Random(f"{case} {COMM.rank}")
    name, form = shared.choice(sorted(CALLS)), shared.choice(forms)
    dtype, op = shared.choice(TYPES), shared.choice([MPI.SUM, MPI.MAX])
    counts, arguments_of, result_of = CALLS[name]
    given, got = counts(1, COMM.size)
    n = max(1, shared.choice(SIZES) // max(given, got, 1))
    given, got = counts(n, COMM.size)
    root, in_place = shared.randrange(COMM.size), shared.random() < 0.25
    in_place = in_place and name == "Allreduce"
    inputs = [
        np.random.default_rng([case, r]).integers(0, 1000, given or n).astype(dtype)
        for r in range(COMM.size)
    ]
    kinds = [own.choice(memory.kinds) for _ in range(2)]
    send = memory.make(kinds[0], given, dtype)
    receive = memory.make(kinds[1], got, dtype)
    if given:
        send.write(inputs[COMM.rank])
    filled = in_place or (name == "Bcast" and COMM.rank == root)
    receive.write(inputs[COMM.rank] if filled else np.full(got, 77, dtype))
    sent = MPI.IN_PLACE if in_place else send.given
    make_call(name, form, arguments_of(sent, receive.given, op, root))
    expected = result_of(inputs, COMM.rank, n, op, root)
    repeated = in_place and form == "persistent" and op == MPI.SUM
    if repeated:
        expected = expected * COMM.size
    is_right = expected is None or np.array_equal(receive.read(), expected.astype(dtype))
    if not is_right:
        print(
            f"rank {COMM.rank}: case {case} is wrong: {form} {name} of {got} {dtype.__name__}, "
            f"buffers {kinds}",
            file=sys.stderr,
            flush=True,
        )
    send.drop()
    receive.drop()
    return is_right, kinds.count("device")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--memory", choices=["driver", "cupy", "torch"], default="driver")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, default=200)
    options = parser.parse_args()
    memory = Driver() if options.memory == "driver" else Package(options.memory)
    forms = ["blocking", "nonblocking"]
    if MPI.Get_version() >= (4, 0):
        forms.append("persistent")
    counts = np.zeros(3, np.int64)
    for case in range(options.first, options.first + options.cases):
        is_right, on_device = run_case(memory, case, forms)
        counts += (1, not is_right, on_device)
    total = np.empty_like(counts)
    COMM.Allreduce(counts, total)
    if COMM.rank == 0:
        print(
            f"{total[0]} results, {total[1]} wrong, {total[2]} buffers on a GPU "
            f"({options.memory}, {COMM.size} ranks)",
            flush=True,
        )
    sys.exit(1 if total[1] else 0)


if __name__ == "__main__":
    main()
