# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training with mpi4py and numpy: every rank works on its share of each batch, and
one all-reduce sums the gradients of all parameters, which lie in one buffer. An ordinary MPI
program.

    sumac run -n 2 python3 examples/training/training.py

numpy multiplies by as many threads as the rank has processors. MPICH's launcher binds no ranks, so
there the threads of all ranks share all processors, and steps take several times as long unless
each rank has its own (--bind) or one thread (-x OMP_NUM_THREADS=1).
"""

import argparse
import time

import numpy as np
from mpi4py import MPI


class Network:
    """Two layers, whose parameters and gradients are views of one vector each."""

    def __init__(self, width: int, inputs: int = 64) -> None:
        shapes = [(inputs, width), (width,), (width, 1), (1,)]
        sizes = [int(np.prod(shape)) for shape in shapes]
        self.parameters = np.zeros(sum(sizes), np.float32)
        self.gradients = np.zeros_like(self.parameters)
        ends = np.cumsum(sizes)

        def views(vector: np.ndarray) -> list[np.ndarray]:
            parts = np.split(vector, ends[:-1])
            return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]

        self._values, self._slopes = views(self.parameters), views(self.gradients)
        random = np.random.default_rng(1)
        for value in (self._values[0], self._values[2]):
            value[...] = random.standard_normal(value.shape) / np.sqrt(value.shape[0])

    def loss(self, inputs: np.ndarray, targets: np.ndarray) -> float:
        """The sum of squared errors of the samples. Fills `gradients` with its gradient."""
        w1, b1, w2, b2 = self._values
        hidden = np.maximum(inputs @ w1 + b1, 0)
        errors = hidden @ w2 + b2 - targets
        of_output = 2 * errors
        of_hidden = (of_output @ w2.T) * (hidden > 0)
        slopes = inputs.T @ of_hidden, of_hidden.sum(0), hidden.T @ of_output, of_output.sum(0)
        for place, slope in zip(self._slopes, slopes, strict=True):
            place[...] = slope
        return float((errors**2).sum())


def batch_of(step: int, samples: int, inputs: int) -> tuple[np.ndarray, np.ndarray]:
    """The same on all ranks."""
    random = np.random.default_rng(1000 + step)
    x = random.standard_normal((samples, inputs), np.float32)
    return x, np.sin(x[:, :4].sum(1, keepdims=True)).astype(np.float32)


def train(arguments: argparse.Namespace, world: MPI.Comm) -> None:
    network = Network(arguments.width)
    own = slice(world.rank, None, world.size)
    losses, computing, reducing = [], 0.0, 0.0
    for step in range(arguments.steps):
        x, y = batch_of(step, arguments.batch, 64)
        begin = time.perf_counter()
        loss = network.loss(x[own], y[own])
        middle = time.perf_counter()
        world.Allreduce(MPI.IN_PLACE, network.gradients)
        reducing += time.perf_counter() - middle
        computing += middle - begin
        network.parameters -= arguments.rate / arguments.batch * network.gradients
        losses.append(world.allreduce(loss) / arguments.batch)
    same = world.allreduce(network.parameters.tobytes(), lambda a, b: a if a == b else b"")
    if world.rank == 0:
        print(f"{world.size} ranks, {network.gradients.nbytes / 1e6:.1f} MB of gradients")
        print(f"loss {np.mean(losses[:3]):.4f}, then {np.mean(losses[-3:]):.4f}")
        print(f"per step: {1e3 * computing / arguments.steps:.2f} ms of work,"
              f" {1e3 * reducing / arguments.steps:.2f} ms in all-reduce")  # fmt: skip
        print("parameters are the same on all ranks" if same else "parameters DIFFER")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=256, help="samples of a step, of all ranks")
    parser.add_argument("--width", type=int, default=4096, help="of the hidden layer")
    parser.add_argument("--rate", type=float, default=5e-4, help="of learning")
    train(parser.parse_args(), MPI.COMM_WORLD)


if __name__ == "__main__":
    main()
