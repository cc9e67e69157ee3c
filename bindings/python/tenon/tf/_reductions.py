"""Reductions and matrix products."""

from .. import _convert, _creation, _dtypes, _native

_ops = _native.ops

REDUCTIONS = {
    "reduce_sum": "sum", "reduce_max": "max", "reduce_min": "min",
    "reduce_prod": "prod", "reduce_any": "any", "reduce_all": "all", "reduce_logsumexp": "logsumexp",
    "reduce_euclidean_norm": "l2_norm", "reduce_variance": "var",
}


def _reduction(title, op):
    def function(input_tensor, axis=None, keepdims=False, name=None):
        return _reduced(op, input_tensor, axis, keepdims)

    function.__doc__ = f"The op {op.__name__}: over all axes, or those of `axis`."
    function.__name__ = function.__qualname__ = title
    return function


def _reduced(op, x, axis, keepdims):
    if axis is None:
        return op(x, keepdims=keepdims)
    if isinstance(axis, (list, tuple)) and not axis:
        return _convert.asarray(x)
    return op(x, axes=axis, keepdims=keepdims)


globals().update({title: _reduction(title, _ops[op]) for title, op in REDUCTIONS.items()})


def reduce_mean(input_tensor, axis=None, keepdims=False, name=None):
    """Returns the mean. For integers, returns the quotient rounded down, as an integer."""
    x = _convert.asarray(input_tensor)
    if not x.dtype.is_integer:
        return _reduced(_ops["mean"], x, axis, keepdims)
    total = _reduced(_ops["sum"], x, axis, keepdims)
    count = _reduced(_ops["sum"], _ops["fill"](_convert.tensor(1, x.dtype), _creation._like_shape(x)),
                    axis, keepdims)
    return _ops["floor_div"](total, count)


def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """Returns the standard deviation."""
    return _ops["sqrt"](_reduced(_ops["var"], input_tensor, axis, keepdims))


def count_nonzero(input, axis=None, keepdims=False, dtype=_dtypes.int64, name=None):
    """Returns the number of nonzero elements."""
    return _ops["cast"](_reduced(_ops["count_nonzero"], input, axis, keepdims), to=dtype)


def argmax(input, axis=None, output_type=_dtypes.int64, name=None):
    """Returns the index of the largest element along an axis, which is the first axis by
    default."""
    return _ops["cast"](_ops["argmax"](input, axis or 0), to=output_type)


def argmin(input, axis=None, output_type=_dtypes.int64, name=None):
    """Returns the index of the smallest element along an axis, which is the first axis by
    default."""
    return _ops["cast"](_ops["argmin"](input, axis or 0), to=output_type)


def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """Returns the cumulative sums."""
    return _ops["cumsum"](x, axis, exclusive, reverse)


def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """Returns the cumulative products."""
    return _ops["cumprod"](x, axis, exclusive, reverse)


def top_k(input, k=1, sorted=True, name=None):
    """Returns the `k` largest elements along the last axis, and their indices."""
    return _ops["top_k"](input, k)


def norm(tensor, ord="euclidean", axis=None, keepdims=False, name=None):
    """Returns a norm: "euclidean", 1, 2 or infinity."""
    if ord in ("euclidean", 2, "fro"):
        return _reduced(_ops["l2_norm"], tensor, axis, keepdims)
    if ord == 1:
        return _reduced(_ops["l1_norm"], tensor, axis, keepdims)
    if ord == float("inf"):
        return _reduced(_ops["max"], _ops["abs"](tensor), axis, keepdims)
    raise ValueError(f"norm: ord must be 'euclidean', 1, 2 or infinity, but is {ord!r}")


def matmul(a, b, transpose_a=False, transpose_b=False, name=None):
    """Returns the matrix product."""
    if transpose_a:
        a = _ops["swapaxes"](a, -1, -2)
    if transpose_b:
        b = _ops["swapaxes"](b, -1, -2)
    return _ops["matmul"](a, b)


def matvec(a, b, name=None):
    """Returns the product of a matrix and a vector."""
    return _ops["matmul"](a, b)


def tensordot(a, b, axes, name=None):
    """Returns the product of two tensors, contracted over axes."""
    if isinstance(axes, int):
        rank = _convert.asarray(a).ndim
        axes = (list(range(rank - axes, rank)), list(range(axes)))
    first, second = [[axis] if isinstance(axis, int) else axis for axis in axes]
    return _ops["tensordot"](a, b, first, second)


def einsum(equation, *inputs, **options):
    """Multiplies tensors and sums over labelled axes."""
    return _ops["einsum"](list(inputs), equation)


__all__ = [title for title, value in list(globals().items())
           if not title.startswith("_") and getattr(value, "__module__", "") == __name__]
