"""Formulas of signal windows, by SciPy."""

import numpy as np
from scipy.signal import windows

from formula_table import formula


def window(function, first, size, periodic):
    """Returns SciPy's window. A periodic window with one element is [first]; SciPy would return
    [1]."""
    if size == 1 and periodic:
        return np.array([first])
    return function(size, sym=not periodic)


@formula("hann_window")
def hann_window(size, periodic, dtype):
    return window(windows.hann, 0.0, size, periodic)


@formula("hamming_window")
def hamming_window(size, periodic, dtype):
    def hamming(size, sym):
        return windows.general_hamming(size, 25 / 46, sym)
    return window(hamming, 4 / 46, size, periodic)


@formula("blackman_window")
def blackman_window(size, periodic, dtype):
    return window(windows.blackman, 0.0, size, periodic)
