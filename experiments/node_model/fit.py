# SPDX-License-Identifier: BSD-3-Clause
"""Least squares of the prices of shared work, without further packages."""

import math

# Work of two kinds that always comes together gets a price for both: this makes it definite.
TOGETHER = 1e-9


def solve(matrix, right):
    """The solution of a small system, by elimination with pivots."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    size = len(rows)
    for at in range(size):
        pivot = max(range(at, size), key=lambda i: abs(rows[i][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        for below in range(at + 1, size):
            factor = rows[below][at] / rows[at][at]
            rows[below] = [a - factor * b for a, b in zip(rows[below], rows[at], strict=True)]
    found = [0.0] * size
    for at in reversed(range(size)):
        known = sum(rows[at][i] * found[i] for i in range(at + 1, size))
        found[at] = (rows[at][size] - known) / rows[at][at]
    return found


def least_squares(counts, times, weights):
    """Prices of no less than 0 for which counts * prices are next to the times. A price that would
    be negative is 0, as is that of work that no row has."""
    columns = range(len(counts[0]))
    scale = [max(row[i] for row in counts) for i in columns]
    active = [i for i in columns if scale[i] > 0]
    while True:
        rows = [[w * row[i] / scale[i] for i in active]
                for row, w in zip(counts, weights, strict=True)]  # fmt: skip
        matrix = [[sum(row[a] * row[b] for row in rows) for b in range(len(active))]
                  for a in range(len(active))]  # fmt: skip
        right = [sum(row[a] * w * time for row, w, time in zip(rows, weights, times, strict=True))
                 for a in range(len(active))]  # fmt: skip
        for a in range(len(active)):
            matrix[a][a] *= 1 + TOGETHER
        found = solve(matrix, right)
        least = min(found)
        if least >= 0:
            break
        del active[found.index(least)]
    prices = [0.0] * len(counts[0])
    for i, price in zip(active, found, strict=True):
        prices[i] = price / scale[i]
    return prices


def predict(row, prices):
    return sum(count * price for count, price in zip(row, prices, strict=True))


def fit(counts, times, rounds=40):
    """The prices that make the factors between predicted and measured times small: a prediction of
    half the time is as wrong as one of twice the time."""
    weights = [1 / time for time in times]
    prices = least_squares(counts, times, weights)
    for _ in range(rounds):
        weights = [1 / math.sqrt(time * predict(row, prices))
                   for row, time in zip(counts, times, strict=True)]  # fmt: skip
        better = least_squares(counts, times, weights)
        prices = [(a + b) / 2 for a, b in zip(prices, better, strict=True)]
    return prices


def off_by(counts, times, prices):
    """The factors by which predictions are off, smallest first."""
    return sorted(math.exp(abs(math.log(predict(row, prices) / time)))
                  for row, time in zip(counts, times, strict=True))  # fmt: skip
