"""Manipulation of shapes, and indexing."""

import math
import operator

from .. import _convert, _native
from .._native import Tensor

__all__ = ["broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis",
           "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "take", "take_along_axis",
           "tile", "unstack"]

_ops = _native.ops


def _axes(axis):
    return [operator.index(axis)] if not isinstance(axis, (tuple, list)) else list(axis)


def broadcast_arrays(*arrays):
    """Broadcasts tensors to their common shape."""
    shape = _broadcast(*(x.shape for x in arrays))
    return [_ops["broadcast_to"](x, shape) for x in arrays]


def _broadcast(*shapes):
    import numpy

    return numpy.broadcast_shapes(*shapes)


def broadcast_to(x, /, shape):
    """Broadcasts a tensor to a shape."""
    return _ops["broadcast_to"](x, shape)


def concat(arrays, /, *, axis=0):
    """Concatenates tensors along an axis. If `axis` is None, flattens them first."""
    if axis is None:
        arrays, axis = [reshape(x, (-1,)) for x in arrays], 0
    return _ops["concat"](list(arrays), axis)


def expand_dims(x, /, axis):
    """Inserts an axis of size 1."""
    for one in _axes(axis):
        if not -x.ndim - 1 <= one <= x.ndim:
            raise IndexError(f"expand_dims: axis {one} is outside [{-x.ndim - 1}, {x.ndim}]")
    return _ops["expand_dims"](x, axis)


def flip(x, /, *, axis=None):
    """Reverses the order of the elements along some or all axes."""
    axes = list(range(x.ndim)) if axis is None else _axes(axis)
    return _ops["flip"](x, axes) if axes else x


def moveaxis(x, source, destination, /):
    """Moves axes to other positions."""
    return _ops["moveaxis"](x, _axes(source), _axes(destination))


def permute_dims(x, /, axes):
    """Permutes the axes."""
    return _ops["transpose"](x, axes) if x.ndim else x


def repeat(x, repeats, /, *, axis=None):
    """Repeats each element along an axis."""
    if axis is None:
        x, axis = reshape(x, (-1,)), 0
    if isinstance(repeats, Tensor):
        repeats = repeats.tolist()
    return _ops["repeat"](x, repeats, axis)


def reshape(x, /, shape, *, copy=None):
    """Returns the elements in another shape. One size may be -1, and is inferred."""
    if isinstance(shape, int):
        shape = (shape,)
    if -1 in shape and x.size == 0:
        rest = math.prod(size for size in shape if size != -1)
        shape = tuple((x.size // rest if rest else 0) if size == -1 else size for size in shape)
    result = _ops["reshape"](x, shape)
    return _ops["copy"](result) if copy else result


def roll(x, /, shift, *, axis=None):
    """Shifts the elements along axes. Elements that leave one end enter at the other end."""
    if axis is None:
        return reshape(_ops["roll"](reshape(x, (-1,)), [shift], [0]), x.shape)
    axes = _axes(axis)
    shifts = [shift] * len(axes) if isinstance(shift, int) else list(shift)
    return _ops["roll"](x, shifts, axes)


def squeeze(x, /, axis):
    """Removes axes of size 1."""
    axes = _axes(axis)
    return _ops["squeeze"](x, axes) if axes else x


def stack(arrays, /, *, axis=0):
    """Stacks tensors along a new axis."""
    return _ops["stack"](list(arrays), axis)


def tile(x, repetitions, /):
    """Repeats a tensor as a whole along its last axes."""
    missing = len(repetitions) - x.ndim
    x = reshape(x, (1,) * missing + x.shape) if missing > 0 else x
    return _ops["tile"](x, (1,) * -missing + tuple(repetitions)) if x.ndim else x


def unstack(x, /, *, axis=0):
    """Returns the slices along an axis, as a tuple."""
    return tuple(_ops["unstack"](x, axis)) if x.shape[axis] else ()


def take(x, indices, /, *, axis=None):
    """Returns the slices at some indices of an axis."""
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: axis must be given for a tensor of rank {x.ndim}")
        axis = 0
    return _ops["gather"](x, _index(indices), axis)


def take_along_axis(x, indices, /, *, axis=-1):
    """Selects elements along an axis. `indices` has an index for each element of the result."""
    axis = axis % x.ndim
    rest = _broadcast(_without(x.shape, axis), _without(indices.shape, axis))
    x = _ops["broadcast_to"](x, rest[:axis] + (x.shape[axis],) + rest[axis:])
    indices = _ops["broadcast_to"](indices, rest[:axis] + (indices.shape[axis],) + rest[axis:])
    return _ops["gather_elements"](x, _index(indices), axis)


def _without(shape, axis):
    return shape[:axis] + shape[axis + 1:]


def _index(indices):
    indices = _convert.asarray(indices)
    return indices if indices.dtype.name in ("int32", "int64") else indices.astype("int64")
