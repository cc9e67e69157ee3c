"""Finds the user's source line, which errors of traced functions report."""

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def user_location():
    """Returns the innermost line outside this package, such as "train.py:12"."""
    frame = sys._getframe(0)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_HERE):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
