"""Imports PyTorch for the benches that are written in Python."""

import importlib
import os
import sys
import warnings

FOLDER = "/usr/lib/python3/dist-packages"  # Debian's python3-torch.


def load():
    """Returns the module torch, which computes on one thread. Raises ImportError if there is none."""
    if FOLDER not in sys.path:
        sys.path.append(FOLDER)
    warnings.simplefilter("ignore")
    sys.stderr.flush()
    errors, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)  # PyTorch 1.13 and its libraries warn that it cannot use NumPy 2.
    try:
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
    finally:
        sys.stderr.flush()
        os.dup2(errors, 2)
        os.close(errors)
        os.close(nothing)
    return torch
