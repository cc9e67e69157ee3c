"""Creation of tensors: constants, ranges and random numbers."""

from __future__ import annotations

from . import _convert, _dtypes, _native
from ._dtypes import DType

__all__ = ["constant", "zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "arange",
           "range"]

_fill = _native.ops["fill"]


def constant(value, dtype=None, shape=None):
    """Creates a tensor like tensor(). With `shape`, broadcasts or reshapes it to that shape."""
    result = _convert.tensor(value, dtype)
    if shape is None:
        return result
    if result.size == 1:
        return _native.ops["broadcast_to"](_native.ops["reshape"](result, ()), shape)
    return _native.ops["reshape"](result, shape)


def _number(value, dtype):
    return _convert.tensor(value, dtype)


def zeros(shape, dtype=_dtypes.float32):
    """Returns a tensor of zeros."""
    return _fill(_number(0, dtype), shape)


def ones(shape, dtype=_dtypes.float32):
    """Returns a tensor of ones."""
    return _fill(_number(1, dtype), shape)


def full(shape, value, dtype=None):
    """Returns a tensor whose elements all have the same value."""
    return _fill(_number(value, dtype), shape)


def _like_shape(x):
    return _native.shape(x) if None in x.shape else x.shape


def zeros_like(x, dtype=None):
    """Returns a tensor of zeros with the shape and dtype of another tensor."""
    return full_like(x, 0, dtype)


def ones_like(x, dtype=None):
    """Returns a tensor of ones with the shape and dtype of another tensor."""
    return full_like(x, 1, dtype)


def full_like(x, value, dtype=None):
    """Returns a tensor with the shape and dtype of another tensor, whose elements all have one
    value."""
    x = _convert._to_tensor(x)
    return _fill(_number(value, dtype or x.dtype), _like_shape(x))


def arange(start, stop=None, step=1, dtype=None):
    """Returns the numbers from `start` (default: 0) up to, but not including, `stop`.

    `start`, `stop` and `step` may be symbolic tensors.
    """
    if stop is None:
        start, stop = 0, start
    values = (start, stop, step)
    if any(isinstance(value, _native.Tensor) and value.is_symbolic for value in values):
        return _symbolic_range(start, stop, step, dtype)
    start, stop, step = (value.item() if isinstance(value, _native.Tensor) else value
                         for value in values)
    if dtype is None:
        integers = all(isinstance(value, int) for value in (start, stop, step))
        dtype = _dtypes.int32 if integers else _dtypes.float32
    dtype = DType(dtype)
    import numpy

    return _convert.tensor(numpy.arange(start, stop, step), dtype)


def _symbolic_range(start, stop, step, dtype):
    if isinstance(step, _native.Tensor) or step not in (1,):
        raise ValueError("arange: a step other than 1 must be known while tracing")
    dtype = DType(dtype or _dtypes.int32)
    to_size = _convert._sizes
    length = _native.ops["maximum"](
        _native.ops["sub"](_as_size(stop, to_size), _as_size(start, to_size)), 0)
    counted = _native.ops["iota"](_native.ops["reshape"](length, (1,)), dtype=_dtypes.int64)
    return _native.ops["cast"](_native.ops["add"](counted, _as_size(start, to_size)), to=dtype)


def _as_size(value, to_size):
    return to_size(value) if isinstance(value, _native.Tensor) else value


range = arange
