"""Searching, sets and sorting functions."""

import collections

from .. import _convert, _dtypes, _native
from .._native import Tensor
from ._manipulation import reshape

__all__ = ["argmax", "argmin", "argsort", "count_nonzero", "nonzero", "searchsorted", "sort",
           "unique_all", "unique_counts", "unique_inverse", "unique_values", "where"]

_ops = _native.ops


def _arg(op, x, axis, keepdims):
    if axis is not None:
        return op(x, axis, keepdims)
    result = op(reshape(x, (-1,)), 0, False)
    return reshape(result, (1,) * x.ndim) if keepdims else result


def argmax(x, /, *, axis=None, keepdims=False):
    """Returns the index of the largest element along an axis, or of all elements."""
    return _arg(_ops["argmax"], x, axis, keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    """Returns the index of the smallest element along an axis, or of all elements."""
    return _arg(_ops["argmin"], x, axis, keepdims)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    """Counts the nonzero elements."""
    from ._statistics import sum

    return sum(_ops["not_equal"](x, _convert.tensor(0, x.dtype)), axis=axis, dtype=_dtypes.int64,
               keepdims=keepdims)


def nonzero(x, /):
    """Returns the indices of the nonzero elements: one tensor for each axis."""
    if x.ndim == 0:
        raise ValueError("nonzero: the tensor must have at least one axis, but has rank 0")
    return tuple(_ops["unstack"](_ops["nonzero"](x)[0]))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    """Returns the indices at which values would be inserted into a sorted vector. `sorter` holds
    the indices that sort `x1` if it is not sorted."""
    if sorter is not None:
        x1 = _ops["gather"](x1, sorter.astype("int64"), 0)
    return _ops["cast"](_ops["searchsorted"](x1, x2, side), to=_dtypes.int64)


def where(condition, x1, x2, /):
    """Selects elements of `x1` where a condition is true, and of `x2` elsewhere."""
    if isinstance(x1, Tensor) or isinstance(x2, Tensor):
        return _ops["where"](condition, x1, x2)
    return _ops["where"](condition, _convert.asarray(x1), _convert.asarray(x2))


def sort(x, /, *, axis=-1, descending=False, stable=True):
    """Sorts the elements along an axis."""
    return _ops["sort"](x, axis, descending)


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    """Returns the indices that sort the elements along an axis. Equal elements keep their order."""
    return _ops["argsort"](x, axis, descending)


_All = collections.namedtuple("UniqueAll", ["values", "indices", "inverse_indices", "counts"])
_Counts = collections.namedtuple("UniqueCounts", ["values", "counts"])
_Inverse = collections.namedtuple("UniqueInverse", ["values", "inverse_indices"])


def unique_all(x, /):
    """Returns the distinct values; the index of the first occurrence of each; for each element, the
    index of its value among them; and how often each occurs. Each NaN is a distinct value."""
    flat = reshape(x, (-1,))
    n = flat.shape[0]
    order = _ops["argsort"](flat)
    ordered = _ops["gather"](flat, order, 0)
    is_new = _ops["concat"]([_ops["fill"](True, (min(n, 1),)), ordered[1:] != ordered[:-1]], 0)
    starts = _ops["nonzero"](is_new)[0][0]
    group = _ops["cumsum"](is_new.astype("int64"), 0) - 1
    inverse = _ops["scatter_nd"](_ops["fill"](_convert.tensor(0, "int64"), (n,)),
                                 reshape(order.astype("int64"), (n, 1)), group)
    ends = _ops["concat"]([starts[1:], _convert.tensor([n] if n else [], "int64")], 0)
    return _All(_ops["gather"](ordered, starts, 0), _ops["gather"](order, starts, 0),
                reshape(inverse, x.shape), ends - starts)


def unique_counts(x, /):
    """Returns the distinct values, and the number of occurrences of each."""
    found = unique_all(x)
    return _Counts(found.values, found.counts)


def unique_inverse(x, /):
    """Returns the distinct values and, for each element, the index of its value among them."""
    found = unique_all(x)
    return _Inverse(found.values, found.inverse_indices)


def unique_values(x, /):
    """Returns the distinct values."""
    return unique_all(x).values
