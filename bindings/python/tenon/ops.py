"""The ops as functions. Each takes numbers, nested lists and arrays wherever it takes a tensor.

The extension module defines them; ops.pyi has their types and manuals.
"""

from . import _native

__all__ = list(_native.ops)
globals().update(_native.ops)
