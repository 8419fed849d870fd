# SPDX-License-Identifier: BSD-3-Clause
"""Least squares of the prices of shared work."""

import numpy as np

# Work of two kinds that always comes together gets a price for both: this makes it definite.
TOGETHER = 1e-9


def least_squares(counts, times, weights):
    """Prices of no less than 0 for which counts * prices are next to the times. A price that would
    be negative is 0, as is that of work that no row has."""
    scale = counts.max(axis=0)
    active = np.flatnonzero(scale)
    while True:
        rows = counts[:, active] / scale[active] * weights[:, None]
        matrix = rows.T @ rows
        matrix[np.diag_indices_from(matrix)] *= 1 + TOGETHER
        found = np.linalg.solve(matrix, rows.T @ (weights * times))
        if found.min() >= 0:
            break
        active = np.delete(active, found.argmin())
    prices = np.zeros(len(scale))
    prices[active] = found / scale[active]
    return prices


def predict(counts, prices):
    """The times, in nanoseconds, of one call's counts, or of many calls'."""
    return np.asarray(counts) @ prices


def fit(counts, times, rounds=40):
    """The prices that make the factors between predicted and measured times small: a prediction of
    half the time is as wrong as one of twice the time."""
    counts, times = np.array(counts), np.array(times)
    prices = least_squares(counts, times, 1 / times)
    for _ in range(rounds):
        weights = 1 / np.sqrt(times * predict(counts, prices))
        prices = (prices + least_squares(counts, times, weights)) / 2
    return prices


def off_by(counts, times, prices):
    """The factors by which predictions are off, smallest first."""
    return sorted(np.exp(np.abs(np.log(predict(counts, prices) / times))))
