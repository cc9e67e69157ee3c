"""Reductions."""

from .. import _convert, _dtypes, _native
from ._manipulation import _axes

__all__ = ["all", "any", "cumulative_prod", "cumulative_sum", "diff", "max", "mean", "min", "prod",
           "std", "sum", "var"]

_ops = _native.ops


def _reduced(op, x, axis, keepdims, **attributes):
    if axis is None:
        return op(x, keepdims=keepdims, **attributes)
    axes = _axes(axis)
    if axes:
        return op(x, axes=axes, keepdims=keepdims, **attributes)
    # An empty tuple of axes: reduce over a new axis of size 1, so that each element is reduced
    # alone.
    return op(_ops["expand_dims"](x, -1), axes=[-1], **attributes)


def _wide(x, dtype):
    """Casts `x` to `dtype` or, if it is None, integers below 32 bits and bools to 32-bit integers,
    in which the array API standard computes sums and products."""
    if dtype is not None:
        return _ops["cast"](x, to=dtype)
    if x.dtype.kind in ("int", "uint") and x.dtype.itemsize < 4:
        return _ops["cast"](x, to=f"{x.dtype.kind}32")
    return _ops["cast"](x, to=_dtypes.int32) if x.dtype.kind == "bool" else x


def all(x, /, *, axis=None, keepdims=False):
    """Returns whether all elements are true."""
    return _reduced(_ops["all"], _as_bool(x), axis, keepdims)


def any(x, /, *, axis=None, keepdims=False):
    """Returns whether any element is true."""
    return _reduced(_ops["any"], _as_bool(x), axis, keepdims)


def _as_bool(x):
    return x if x.dtype.kind == "bool" else _ops["not_equal"](x, _convert.tensor(0, x.dtype))


def max(x, /, *, axis=None, keepdims=False):
    """Returns the largest elements."""
    return _reduced(_ops["max"], x, axis, keepdims)


def min(x, /, *, axis=None, keepdims=False):
    """Returns the smallest elements."""
    return _reduced(_ops["min"], x, axis, keepdims)


def mean(x, /, *, axis=None, keepdims=False):
    """Returns the means."""
    return _reduced(_ops["mean"], x, axis, keepdims)


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    """Returns the sums. Sums of small integers have the default integer dtype."""
    return _reduced(_ops["sum"], _wide(x, dtype), axis, keepdims)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    """Returns the products. Products of small integers have the default integer dtype."""
    return _reduced(_ops["prod"], _wide(x, dtype), axis, keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    """Returns the variances. For N elements, the sum of squares is divided by `N - correction`."""
    return _reduced(_ops["var"], x, axis, keepdims, correction=correction)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    """Returns the standard deviations, which are the square roots of var()."""
    return _ops["sqrt"](var(x, axis=axis, correction=correction, keepdims=keepdims))


def _cumulative(op, start, x, axis, dtype, include_initial):
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"axis must be given for a tensor of rank {x.ndim}")
        axis = 0
    x = _wide(x, dtype)
    result = op(x, axis)
    if include_initial:
        axis = axis % x.ndim
        first = _ops["fill"](_convert.tensor(start, x.dtype),
                             x.shape[:axis] + (1,) + x.shape[axis + 1:])
        result = _ops["concat"]([first, result], axis)
    return result


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Returns the cumulative sums."""
    return _cumulative(_ops["cumsum"], 0, x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Returns the cumulative products."""
    return _cumulative(_ops["cumprod"], 1, x, axis, dtype, include_initial)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    """Returns the differences of consecutive elements, computed `n` times."""
    parts = [part for part in (prepend, x, append) if part is not None]
    x = _ops["concat"](parts, axis) if len(parts) > 1 else x
    for _ in range(n):
        size = x.shape[axis]
        if size == 0:
            break
        after = _ops["slice"](x, [1], [size], [axis])
        before = _ops["slice"](x, [0], [size - 1], [axis])
        x = _ops["not_equal"](after, before) if x.dtype.kind == "bool" else after - before
    return x
