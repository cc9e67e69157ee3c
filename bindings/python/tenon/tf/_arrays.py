"""Functions that create, reshape, join and index tensors."""

import numpy

from .. import _control, _convert, _creation, _dtypes, _native, _tree
from .._native import Tensor
from .._variables import Variable

_ops = _native.ops


def _plain(shape):
    """Converts a shape to ints. TensorFlow also allows tensors and arrays."""
    if isinstance(shape, Tensor):
        return shape if shape.is_symbolic else shape.tolist()
    if isinstance(shape, numpy.ndarray):
        return shape.tolist()
    return shape


def constant(value, dtype=None, shape=None, name=None):
    """Creates a tensor. Returns strings unchanged, because Tenon has no string tensors."""
    first = value
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if isinstance(first, str):
        return value
    return _creation.constant(value, dtype, _plain(shape))


def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """Converts a number, a nested list, an array or a variable to a tensor."""
    return _convert.tensor(value, dtype)


def is_tensor(x):
    """Returns whether a value is a tensor or a variable."""
    return isinstance(x, (Tensor, Variable))


def zeros(shape, dtype=_dtypes.float32, name=None):
    """Returns a tensor of zeros."""
    return _creation.zeros(_plain(shape), dtype)


def ones(shape, dtype=_dtypes.float32, name=None):
    """Returns a tensor of ones."""
    return _creation.ones(_plain(shape), dtype)


def fill(dims, value, name=None):
    """Returns a tensor whose elements all have the same value."""
    return _creation.full(_plain(dims), value)


def zeros_like(input, dtype=None, name=None):
    """Returns zeros with the shape and dtype of a tensor."""
    return _creation.zeros_like(input, dtype)


def ones_like(input, dtype=None, name=None):
    """Returns ones with the shape and dtype of a tensor."""
    return _creation.ones_like(input, dtype)


def range(start, limit=None, delta=1, dtype=None, name="range"):
    """Returns the numbers from `start` (default: 0) up to, but not including, `limit`."""
    return _creation.arange(start, limit, delta, dtype)


def linspace(start, stop, num, name=None, axis=0):
    """Returns `num` equally spaced numbers from `start` to `stop`."""
    start = _convert.asarray(start)
    if not start.dtype.is_floating:
        start = start.astype("float32")
    values = _ops["linspace"](start, _convert.asarray(stop, start.dtype), num)
    return values if axis == 0 else _ops["moveaxis"](values, [0], [axis])


def eye(num_rows, num_columns=None, batch_shape=None, dtype=_dtypes.float32, name=None):
    """Returns the identity matrix."""
    matrix = _ops["eye"](num_rows, -1 if num_columns is None else num_columns, dtype=dtype)
    if batch_shape is None:
        return matrix
    return _ops["broadcast_to"](matrix, tuple(_plain(batch_shape)) + matrix.shape)


def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """Returns vectors that are 1 at an index and 0 elsewhere."""
    result = _ops["one_hot"](indices, depth, -1 if axis is None else axis, dtype or "float32")
    if on_value is None and off_value is None:
        return result
    return _ops["where"](result != 0, 1 if on_value is None else on_value,
                         0 if off_value is None else off_value)


def cast(x, dtype, name=None):
    """Converts the elements to a dtype."""
    return _ops["cast"](x, to=dtype)


def reshape(tensor, shape, name=None):
    """Returns the elements in another shape. One size may be -1, and is inferred."""
    return _ops["reshape"](tensor, _plain(shape))


def transpose(a, perm=None, conjugate=False, name=None):
    """Permutes the axes; reverses their order by default."""
    return _ops["transpose"](a) if perm is None else _ops["transpose"](a, _plain(perm))


def concat(values, axis, name="concat"):
    """Concatenates tensors along an axis."""
    return _ops["concat"](list(values), axis)


def stack(values, axis=0, name="stack"):
    """Stacks tensors along a new axis."""
    return _ops["stack"](list(values), axis)


def unstack(value, num=None, axis=0, name="unstack"):
    """Returns the slices of a tensor along an axis."""
    return _ops["unstack"](value, axis)


def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """Splits an axis into chunks of equal size, or of the given sizes."""
    if isinstance(num_or_size_splits, int):
        value = _convert.asarray(value)
        if value.shape[axis] is not None and value.shape[axis] % num_or_size_splits:
            raise ValueError(f"split: {value.shape[axis]} elements along axis {axis} cannot be split "
                             f"into {num_or_size_splits} equal parts")
        return _ops["split"](value, axis, num_or_size_splits)
    return _ops["split"](value, axis, split=_plain(num_or_size_splits))


def squeeze(input, axis=None, name=None):
    """Removes axes of size 1."""
    return _ops["squeeze"](input) if axis is None else _ops["squeeze"](input, axis)


def expand_dims(input, axis, name=None):
    """Inserts an axis of size 1."""
    return _ops["expand_dims"](input, axis)


def tile(input, multiples, name=None):
    """Repeats a tensor as a whole along each axis."""
    return _ops["tile"](input, _plain(multiples))


def repeat(input, repeats, axis=None, name=None):
    """Repeats each element along an axis."""
    if axis is None:
        input, axis = _ops["reshape"](input, (-1,)), 0
    return _ops["repeat"](input, _plain(repeats), axis)


_PAD_MODES = {"CONSTANT": "constant", "REFLECT": "reflect"}


def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    """Adds elements before and after the existing ones along each axis."""
    if mode.upper() not in _PAD_MODES:
        raise ValueError(f"pad: mode must be 'CONSTANT' or 'REFLECT', but is {mode!r}")
    pairs = [tuple(pair) for pair in _plain(paddings)]
    sizes = [before for before, _ in pairs] + [after for _, after in pairs]
    tensor = _convert.asarray(tensor)
    value = _convert.asarray(constant_values, tensor.dtype)
    return _ops["pad"](tensor, value, sizes, _PAD_MODES[mode.upper()])


def slice(input_, begin, size, name=None):
    """Returns a slice of shape `size` that starts at `begin`. The size -1 means the rest of the
    axis."""
    begin, size = list(_plain(begin)), list(_plain(size))
    ends = [2**62 if n == -1 else start + n for start, n in zip(begin, size)]
    return _ops["slice"](input_, begin, ends, list(numpy.arange(len(begin))))


def gather(params, indices, validate_indices=None, axis=0, batch_dims=0, name=None):
    """Returns the slices at some indices of an axis."""
    if batch_dims:
        raise NotImplementedError("gather: batch_dims is not supported; use gather_nd")
    return _ops["gather"](params, _convert.asarray(indices), 0 if axis is None else axis)


def gather_nd(params, indices, batch_dims=0, name=None):
    """Returns the elements or slices at vectors of indices."""
    if batch_dims:
        raise NotImplementedError("gather_nd: batch_dims is not supported")
    return _ops["gather_nd"](params, indices)


def scatter_nd(indices, updates, shape, name=None):
    """Returns zeros with the updates added at the indices."""
    updates = _convert.asarray(updates)
    zero = _creation.zeros(_plain(shape), updates.dtype)
    return _ops["scatter_nd"](zero, indices, updates, "add")


def tensor_scatter_nd_update(tensor, indices, updates, name=None):
    """Returns a copy with the elements at the indices replaced."""
    return _ops["scatter_nd"](tensor, indices, updates)


def tensor_scatter_nd_add(tensor, indices, updates, name=None):
    """Returns a copy with the updates added at the indices."""
    return _ops["scatter_nd"](tensor, indices, updates, "add")


def tensor_scatter_nd_sub(tensor, indices, updates, name=None):
    """Returns a copy with the updates subtracted at the indices."""
    return _ops["scatter_nd"](tensor, indices, -_convert.asarray(updates), "add")


def tensor_scatter_nd_min(tensor, indices, updates, name=None):
    """Returns a copy with each element at an index replaced by its minimum with the update."""
    return _ops["scatter_nd"](tensor, indices, updates, "min")


def tensor_scatter_nd_max(tensor, indices, updates, name=None):
    """Returns a copy with each element at an index replaced by its maximum with the update."""
    return _ops["scatter_nd"](tensor, indices, updates, "max")


def boolean_mask(tensor, mask, axis=None, name="boolean_mask"):
    """Returns the elements or slices for which a mask is true."""
    return _ops["boolean_mask"](tensor, mask, 0 if axis is None else axis)[0]


def where(condition, x=None, y=None, name=None):
    """Selects elements of `x` where a condition is true, and of `y` elsewhere. With the condition
    alone, returns the indices of its true elements."""
    if x is None and y is None:
        return _ops["transpose"](_ops["nonzero"](condition)[0])
    return _ops["where"](condition, x, y)


def broadcast_to(input, shape, name=None):
    """Broadcasts a tensor to a shape."""
    return _ops["broadcast_to"](input, _plain(shape))


def reverse(tensor, axis, name=None):
    """Reverses the order of the elements along axes."""
    return _ops["flip"](tensor, _plain(axis))


def roll(input, shift, axis, name=None):
    """Shifts the elements along axes. Elements that leave one end enter at the other end."""
    return _ops["roll"](input, _plain(shift), _plain(axis))


def sort(values, axis=-1, direction="ASCENDING", name=None):
    """Sorts the elements along an axis."""
    return _ops["sort"](values, axis, _is_descending(direction))


def argsort(values, axis=-1, direction="ASCENDING", stable=True, name=None):
    """Returns the indices that sort the elements along an axis."""
    return _ops["argsort"](values, axis, _is_descending(direction))


def _is_descending(direction):
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be 'ASCENDING' or 'DESCENDING', but is {direction!r}")
    return direction == "DESCENDING"


def searchsorted(sorted_sequence, values, side="left", out_type=_dtypes.int32, name=None):
    """Returns the indices at which values would be inserted into a sorted sequence."""
    return cast(_ops["searchsorted"](sorted_sequence, values, side), out_type)


def meshgrid(*args, indexing="xy"):
    """Returns the coordinates of a grid, from one vector for each axis."""
    return _ops["meshgrid"](list(args), indexing)


def size(input, out_type=_dtypes.int32, name=None):
    """Returns the number of elements."""
    input = _convert.asarray(input)
    if input.size is not None:
        return _convert.tensor(input.size, out_type)
    return cast(_ops["prod"](_control.shape(input)), out_type)


def rank(input, name=None):
    """Returns the number of axes."""
    return _convert.tensor(_convert.asarray(input).ndim)


def shape(input, out_type=_dtypes.int32, name=None):
    """Returns the sizes as a tensor, which is symbolic while tracing."""
    return cast(_control.shape(_convert.asarray(input)), out_type)


def map_fn(fn, elems, fn_output_signature=None, name=None):
    """Applies a function to each slice along the first axis, and stacks the results."""
    return _control.scan(lambda carried, x: (carried, fn(x)), (), _converted(elems))[1]


def foldl(fn, elems, initializer=None, name=None):
    """Combines the slices along the first axis with a function, from the first to the last."""
    first, elems = _first(elems, initializer)
    return _control.scan(lambda carried, x: (fn(carried, x), None), first, elems)[0]


def scan(fn, elems, initializer=None, reverse=False, name=None):
    """Like foldl(), but returns the stacked intermediate results."""
    def step(carried, x):
        value = fn(carried, x)
        return value, value

    if initializer is not None:
        return _control.scan(step, _converted(initializer), _converted(elems), reverse=reverse)[1]
    if reverse:
        elems = _tree.tree_map(lambda x: _ops["flip"](x, 0), elems)
    first, rest = _first(elems, None)
    values = _control.scan(step, first, rest)[1]
    values = _tree.tree_map(lambda a, b: _ops["concat"]([a[None], b], 0), first, values)
    return _tree.tree_map(lambda x: _ops["flip"](x, 0), values) if reverse else values


def _converted(tree):
    return _tree.tree_map(_convert.asarray, tree)


def _first(elems, initializer):
    elems = _converted(elems)
    if initializer is not None:
        return _converted(initializer), elems
    return _tree.tree_map(lambda x: x[0], elems), _tree.tree_map(lambda x: x[1:], elems)


__all__ = [title for title, value in list(globals().items())
           if not title.startswith("_") and getattr(value, "__module__", "") == __name__]
