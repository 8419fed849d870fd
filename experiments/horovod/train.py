# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training of a small convolutional network on generated pictures, by Horovod as its
documentation shows it. Rank 0 prints what was measured as a line of JSON. Run by run.py."""

import argparse
import ctypes
import json
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# pylint: disable=wrong-import-position
import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

CLASSES = 10


def network(filters):
    layers = tf.keras.layers
    return tf.keras.Sequential([
        layers.Conv2D(filters, 3, activation="relu", input_shape=(32, 32, 3)),
        layers.MaxPooling2D(),
        layers.Conv2D(2 * filters, 3, activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(8 * filters, activation="relu"),
        layers.Dense(CLASSES),
    ])  # fmt: skip


def pictures(batch, rank):
    """Noise with a bright square, whose place is the class; each rank has its own."""
    random = np.random.default_rng(100 + rank)
    x = random.standard_normal((batch, 32, 32, 3)).astype(np.float32)
    y = random.integers(0, CLASSES, batch)
    for picture, place in zip(x, y):
        picture[3 * place : 3 * place + 4, 3 * place : 3 * place + 4] += 3
    return tf.constant(x), tf.constant(y)


def front():
    """Seconds, calls and bytes of the all-reduces so far, which front.c counts."""
    values = [ctypes.c_double() for _ in range(3)]
    ctypes.CDLL(None).front_read(*map(ctypes.byref, values))
    return np.array([each.value for each in values])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=16, help="pictures of a rank")
    parser.add_argument("--filters", type=int, default=32)
    parser.add_argument("--fp16", action="store_true", help="gradients are sent in 16 bits")
    options = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    hvd.init()
    tf.keras.utils.set_random_seed(1)  # the same parameters in all jobs
    model = network(options.filters)
    hvd.broadcast_variables(model.variables, root_rank=0)
    rule = tf.keras.optimizers.SGD(0.01)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    compression = hvd.Compression.fp16 if options.fp16 else hvd.Compression.none
    x, y = pictures(options.batch, hvd.rank())

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        # All gradients are one group, which is summed as one buffer.
        tape = hvd.DistributedGradientTape(tape, compression=compression, num_groups=1)
        slopes = tape.gradient(loss, model.trainable_variables)
        rule.apply_gradients(zip(slopes, model.trainable_variables))
        return loss

    first = float(step())
    for _ in range(4):
        step()
    before, begin = front(), time.perf_counter()
    for _ in range(options.steps):
        last = step()
    seconds = time.perf_counter() - begin
    seconds_of_calls, calls, sent = front() - before
    digest = float(sum(tf.reduce_sum(tf.abs(v)) for v in model.trainable_variables))
    digests = hvd.allgather(tf.constant([digest], tf.float64)).numpy()
    mean = hvd.allreduce(tf.constant(seconds_of_calls, tf.float64), op=hvd.Average).numpy()
    if hvd.rank() == 0:
        print(json.dumps({
            "ranks": hvd.size(), "parameters": int(model.count_params()),
            "steps_a_second": options.steps / seconds, "first": first, "last": float(last),
            "allreduce_ms": 1e3 * float(mean) / options.steps, "calls": calls / options.steps,
            "bytes": sent / options.steps, "same": bool(np.all(digests == digests[0])),
        }), flush=True)  # fmt: skip
    hvd.shutdown()


if __name__ == "__main__":
    main()
