# SPDX-License-Identifier: BSD-3-Clause
"""One rank of a training job by mpi4py, and how long its collectives take by size. The ranks train
one network on the same data: on one GPU that all share (PyTorch), or by numpy. Gradients are summed
as data-parallel training does it (all-reduce) and as sharded training does it (reduce-scatter and
all-gather); weights are broadcast, metrics reduced, tokens exchanged (all-to-all).

    mpiexec -n 16 python train.py --json times.json

A time (microseconds) is what the program sees, the mean over ranks of one call. With `--gradients
device` all-reduces of gradients in the GPU's memory are timed in two ways in turns: the MPI gets
that memory (`device`), or the program copies to pinned memory and back, which counts (`copied`).
"""

import argparse
import json
import time

import mpi4py

mpi4py.rc.threads = False

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

COMM = MPI.COMM_WORLD
INPUTS, OUTPUTS = 512, 256  # units of the first and the last layer
SAMPLES = 64  # of a rank in a step
COLLECTIVES = ("allreduce", "reduce", "bcast", "reduce_scatter", "allgather", "alltoall")


class NumpyNetwork:
    """A perceptron whose weights and gradients are one vector each, in host memory."""

    def __init__(self, width):
        random = np.random.default_rng(1)
        self.shapes = [(INPUTS, width), (width, width), (width, OUTPUTS)]
        self.size = sum(rows * columns for rows, columns in self.shapes)
        self.weights = random.standard_normal(self.size).astype(np.float32) * 0.03
        self.gradients = np.zeros(self.size, np.float32)
        self.samples = np.random.default_rng(100 + COMM.rank)

    def layers(self, vector):
        ends = np.cumsum([rows * columns for rows, columns in self.shapes])
        parts = np.split(vector, ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]

    def compute(self):
        """Fills `gradients` from the next samples."""
        values = [self.samples.standard_normal((SAMPLES, INPUTS), np.float32)]
        weights, slopes = self.layers(self.weights), self.layers(self.gradients)
        for layer in weights:
            values.append(np.maximum(values[-1] @ layer, 0))
        error = values[-1] - values[0][:, :OUTPUTS]
        for number in reversed(range(len(weights))):
            error = error * (values[number + 1] > 0)
            slopes[number][...] = values[number].T @ error / SAMPLES
            error = error @ weights[number].T

    def to_host(self, host):
        host[:] = self.gradients

    def step(self, host):
        self.weights -= 1e-3 / COMM.size * host


class TorchNetwork:
    """The same on a GPU, by PyTorch."""

    def __init__(self, torch, width):
        self.torch = torch
        torch.set_num_threads(1)
        torch.manual_seed(1)
        shapes = [(INPUTS, width), (width, width), (width, OUTPUTS)]
        layers = [torch.nn.Linear(*shape, bias=False) for shape in shapes]
        self.model = torch.nn.Sequential(*layers).to("cuda")
        self.parameters = list(self.model.parameters())
        self.size = sum(p.numel() for p in self.parameters)
        self.gradients = torch.zeros(self.size, device="cuda")
        self.generator = torch.Generator("cuda").manual_seed(100 + COMM.rank)

    def compute(self):
        torch = self.torch
        x = torch.randn(SAMPLES, INPUTS, device="cuda", generator=self.generator)
        self.model.zero_grad()
        torch.nn.functional.mse_loss(self.model(x), x[:, :OUTPUTS]).backward()
        torch.cat([p.grad.reshape(-1) for p in self.parameters], out=self.gradients)
        torch.cuda.synchronize()

    def to_host(self, host):
        self.torch.from_numpy(host).copy_(self.gradients)
        self.torch.cuda.synchronize()

    def step(self, host):
        self.gradients.copy_(self.torch.from_numpy(host))
        at = 0
        with self.torch.no_grad():
            for p in self.parameters:
                change = self.gradients[at : at + p.numel()].view_as(p)
                p.add_(change, alpha=-1e-3 / COMM.size)
                at += p.numel()

    @property
    def weights(self):
        parts = [p.detach().reshape(-1) for p in self.parameters]
        return self.torch.cat(parts).cpu().numpy()


class Timer:
    """Times of calls, by collective and bytes."""

    def __init__(self):
        self.times = {}

    def call(self, name, count, made):
        COMM.Barrier()
        begin = time.perf_counter()
        made()
        self.times.setdefault((name, 4 * count), []).append(time.perf_counter() - begin)

    def table(self):
        """Rows of the lower quartile and the median over calls of the mean over ranks, in us."""
        rows = []
        for (name, size), own in sorted(self.times.items()):
            times = np.array(own[len(own) // 4 :])
            mean = np.empty_like(times)
            COMM.Allreduce(times, mean)
            quarter, middle = 1e6 / COMM.size * np.quantile(mean, (0.25, 0.5))
            rows.append({"collective": name, "bytes": size, "quartile": round(quarter, 2),
                         "median": round(middle, 2), "calls": len(times)})  # fmt: skip
        return rows


def share_host_gradients(timer, gradients, host, other, count, names):
    """Calls the collectives on the first `count` gradients, which are copied to `host` anew."""
    host[:count] = gradients[:count]
    part = max(count // COMM.size, 1)
    given, shard = host[: part * COMM.size], other[:part]
    got = other[: part * COMM.size]
    calls = {
        "reduce": lambda: COMM.Reduce(host[:count], other[:count], root=0),
        "bcast": lambda: COMM.Bcast(other[:count], root=0),
        "reduce_scatter": lambda: COMM.Reduce_scatter_block(given, shard),
        "allgather": lambda: COMM.Allgather(given[:part], got),
        "alltoall": lambda: COMM.Alltoall(given, got),
        "allreduce": lambda: COMM.Allreduce(MPI.IN_PLACE, host[:count]),
    }
    for name, made in calls.items():  # the last one changes the gradients
        if name in names:
            timer.call(name, count, made)


def share_device_gradients(timer, network, pinned, count):
    """Sums `count` numbers of the gradients on the GPU, by the program's copies and by the MPI."""
    part, host = network.gradients[:count].clone(), pinned[:count]

    def by_copies():
        host.copy_(part)
        network.torch.cuda.synchronize()
        COMM.Allreduce(MPI.IN_PLACE, host.numpy())
        part.copy_(host)
        network.torch.cuda.synchronize()

    network.torch.cuda.synchronize()
    timer.call("copied", count, by_copies)
    timer.call("device", count, lambda: COMM.Allreduce(MPI.IN_PLACE, part))


def train(given, network):
    timer = Timer()
    gradients, host, other = (np.empty(network.size, np.float32) for _ in range(3))
    pinned = None
    if given.gradients == "device":
        pinned = network.torch.empty(network.size, pin_memory=True)
    for size in given.sizes:
        count = min(size // 4, network.size)
        for _ in range(given.steps):
            network.compute()
            network.to_host(gradients)
            for _ in range(given.calls if size <= 1 << 18 else 2):
                if pinned is not None:
                    share_device_gradients(timer, network, pinned, count)
                else:
                    share_host_gradients(timer, gradients, host, other, count, given.collectives)
            COMM.Allreduce(MPI.IN_PLACE, gradients)
            network.step(gradients)
    return timer.table()


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split(",")[0])
    sizes = [64 << 2 * k for k in range(9)]
    parser.add_argument("--sizes", type=int, nargs="+", default=sizes, help="bytes")
    parser.add_argument("--steps", type=int, default=10, help="for each size")
    parser.add_argument("--calls", type=int, default=20, help="in a step, up to 256 KiB")
    parser.add_argument("--collectives", nargs="+", choices=COLLECTIVES, default=COLLECTIVES)
    parser.add_argument("--gradients", choices=["host", "device"], default="host")
    parser.add_argument("--width", type=int, default=1024, help="units of the hidden layers")
    parser.add_argument("--network", choices=["numpy", "torch"], default="numpy")
    parser.add_argument("--json", help="file for the times")
    return parser.parse_args()


def main():
    given = parse()
    if given.network == "torch":
        import torch  # noqa: PLC0415

        network = TorchNetwork(torch, given.width)
    else:
        network = NumpyNetwork(given.width)
    rows = train(given, network)
    digest = np.array([float(np.abs(network.weights).sum())])
    ends = np.array([digest[0], -digest[0]])
    COMM.Allreduce(MPI.IN_PLACE, ends, MPI.MAX)
    same = bool(ends[0] == -ends[1])
    if COMM.rank == 0:
        for row in rows:
            print(f"{row['collective']:15} {row['bytes']:9} {row['quartile']:10.2f} us")
        print("weights are the same on all ranks" if same else "weights DIFFER", flush=True)
        if given.json:
            with open(given.json, "w", encoding="utf-8") as file:
                json.dump({"ranks": COMM.size, "same": same, "times": rows}, file)


if __name__ == "__main__":
    main()
