"""All ops as functions. They accept numbers, nested lists and arrays instead of tensors.

The extension module defines the functions. ops.pyi documents them and their types.
"""

from . import _native

__all__ = list(_native.ops)
globals().update(_native.ops)
