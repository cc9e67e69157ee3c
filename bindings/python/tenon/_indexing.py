"""Indexing of tensors as in NumPy, by ints, slices, None, Ellipsis, masks and index arrays."""

from __future__ import annotations

import numpy

from . import _convert, _dtypes, _native
from ._native import Tensor

_ops = _native.ops


def _is_array(entry):
    """Returns whether an entry of an index is a mask or an index array."""
    if isinstance(entry, Tensor):
        return entry.ndim > 0 or entry.dtype.name == "bool" or entry.is_symbolic
    return isinstance(entry, (list, numpy.ndarray, numpy.bool_, bool))


def _as_array(entry):
    array = entry if isinstance(entry, Tensor) else _convert.tensor(entry)
    if array.dtype.is_integer and array.dtype.name not in ("int32", "int64"):
        array = array.astype("int64")
    if not array.dtype.is_integer and array.dtype.name != "bool":
        if array.size == 0:
            return array.astype("int64")
        raise IndexError(f"an index array must hold integers or bools, but is {array.dtype}")
    return array


def _entries(index, ndim):
    """Returns the entries of an index, with full slices for the axes that it omits or covers by
    `...`. Entries None, which add an axis, are kept."""
    entries = list(index) if isinstance(index, tuple) else [index]
    used = 0
    for entry in entries:
        if entry is None or entry is Ellipsis:
            continue
        is_mask = _is_array(entry) and _as_array(entry).dtype.name == "bool"
        used += _as_array(entry).ndim if is_mask else 1
    dots = [at for at, entry in enumerate(entries) if entry is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can have only one ellipsis ('...')")
    if used > ndim:
        raise IndexError(f"too many indices: the tensor has {ndim} axes, but {used} were indexed")
    at = dots[0] if dots else len(entries)
    entries[at:at + 1] = [slice(None)] * (ndim - used)
    return entries


def get(self, index):
    """Returns the elements that an index selects, as in NumPy."""
    if type(index) is int:
        return _take_int(self, index)
    entries = _entries(index, self.ndim)
    result, entries = _basic(self, entries)
    if any(_is_array(entry) for entry in entries):
        return _advanced(result, entries)
    return result


def _check_int(index, size, axis):
    if size is not None and not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for axis {axis} with size {size}")


def _take_int(x, index):
    shape = x.shape
    if not shape:
        raise IndexError("too many indices: the tensor has 0 axes, but 1 was indexed")
    _check_int(index, shape[0], 0)
    end = index + 1 if index != -1 else 2**62
    return _ops["squeeze"](_ops["slice"](x, (index,), (end,), (0,)), (0,))


def _is_scalar_tensor(entry):
    return isinstance(entry, Tensor) and not _is_array(entry)


def _basic(x, entries):
    """Applies the ints, slices and None of an index. Returns the result, and the entries that
    remain to be applied to it: masks, index arrays and full slices."""
    starts, ends, axes, steps, dropped, added, rest = [], [], [], [], [], [], []
    axis = kept = 0
    shape = x.shape
    for entry in entries:
        if entry is None:
            added.append(kept)
            rest.append(slice(None))
            kept += 1
            continue
        if isinstance(entry, slice):
            if entry != slice(None):
                start, end, step = _bounds(entry, shape[axis])
                starts.append(start)
                ends.append(end)
                axes.append(axis)
                steps.append(step)
            rest.append(slice(None))
            axis += 1
            kept += 1
        elif _is_array(entry):
            array = _as_array(entry)
            rest.append(array)
            n = array.ndim if array.dtype.name == "bool" else 1
            axis += n
            kept += n
        else:
            try:
                number = entry.__index__()
            except (AttributeError, TypeError):
                raise IndexError(
                    "only integers, slices, None, '...', and integer or bool arrays are valid "
                    f"indices, but got {entry!r}") from None
            _check_int(number, shape[axis], axis)
            starts.append(number)
            ends.append(number + 1 if number != -1 else 2**62)
            axes.append(axis)
            steps.append(1)
            dropped.append(axis)
            axis += 1
    if axes:
        x = _ops["slice"](x, starts, ends, axes, steps)
    if dropped:
        x = _ops["squeeze"](x, dropped)
    if added:
        x = _ops["expand_dims"](x, added)
    return x, rest


def _bounds(entry, size):
    """Converts a slice to the start, end and step of the op slice."""
    step = 1 if entry.step is None else entry.step.__index__()
    if step == 0:
        raise ValueError("the step of a slice must not be 0")
    bounds = [bound if bound is None or isinstance(bound, Tensor) else bound.__index__()
              for bound in (entry.start, entry.stop)]
    if size is not None and not any(isinstance(bound, Tensor) for bound in bounds):
        start, stop, step = slice(*bounds, step).indices(size)
        # With a negative step, `stop` may be -1, which means before the first element.
        return start, stop if stop >= 0 else -(2**62), step
    start, stop = bounds
    if start is None:
        start = 0 if step > 0 else 2**62
    if stop is None:
        stop = 2**62 if step > 0 else -(2**62)
    return start, stop, step


def _advanced(x, entries):
    """Applies masks and index arrays. All other entries must be full slices."""
    arrays = [(at, entry) for at, entry in enumerate(entries) if _is_array(entry)]
    if len(arrays) == 1:
        at, array = arrays[0]
        if array.dtype.name != "bool":
            return _ops["gather"](x, array, at)
        if array.ndim:
            return _ops["boolean_mask"](x, _fitting_mask(x, array, at), at)[0]
        # A rank-0 mask selects all or nothing, along a new axis.
        return _ops["boolean_mask"](_ops["expand_dims"](x, (at,)), _ops["reshape"](array, (1,)), at)[0]
    axes, indices, position = _index_arrays(entries)
    # gather_nd needs the indexed axes in front, and for each element of the result a vector of
    # indices, one for each of these axes.
    order = axes + [axis for axis in range(x.ndim) if axis not in axes]
    moved = _ops["transpose"](x, order) if order != list(range(x.ndim)) else x
    result = _ops["gather_nd"](moved, _stacked(indices))
    if position:
        rank = _broadcast_rank(indices)
        result = _ops["moveaxis"](result, list(range(rank)), list(range(position, position + rank)))
    return result


def _fitting_mask(x, mask, axis):
    """Returns `mask`, whose sizes must equal those of `x` from `axis` on. As in NumPy, a size of
    the mask may also be 0: then nothing is selected, and the result is a mask of false."""
    if x.is_symbolic or mask.is_symbolic:  # The op checks the sizes when they are known.
        return mask
    sizes = x.shape[axis:axis + mask.ndim]
    if mask.shape == sizes:
        return mask
    if any(have not in (size, 0) for have, size in zip(mask.shape, sizes)):
        raise IndexError(f"a mask of shape {mask.shape} does not fit a tensor of shape {x.shape} from axis {axis} on")
    return _ops["fill"](False, sizes)


def _index_arrays(entries):
    """Returns the axes that are indexed by arrays, the index arrays, and the position in the result
    of the axes that replace them."""
    axes, indices, spots = [], [], []
    axis = 0
    for at, entry in enumerate(entries):
        if not _is_array(entry):
            axis += 1
        elif entry.dtype.name == "bool":
            found = _ops["nonzero"](entry)[0]  # One row of indices for each axis of the mask.
            for k in range(entry.ndim):
                axes.append(axis + k)
                indices.append(found[k])
            spots.append(at)
            axis += entry.ndim
        else:
            axes.append(axis)
            indices.append(entry.astype("int64") if entry.dtype.name != "int64" else entry)
            spots.append(at)
            axis += 1
    adjacent = spots == list(range(spots[0], spots[0] + len(spots)))
    return axes, indices, axes[0] if adjacent else 0


def _broadcast_rank(indices):
    return max(index.ndim for index in indices)


def _stacked(indices):
    shape = numpy.broadcast_shapes(*(index.shape for index in indices)) if len(indices) > 1 else None
    if shape is not None:
        indices = [_ops["broadcast_to"](index, shape) for index in indices]
    return _ops["stack"](indices, -1)


def update(x, index, value, reduction):
    """Returns a copy of `x` in which the indexed elements are combined with `value`."""
    entries = _entries(index, x.ndim) or [Ellipsis]
    value = _convert._to_tensor(value)
    if value.dtype is not x.dtype:
        value = value.astype(x.dtype)
    if reduction == "none" and value.ndim == 0 and _is_array(entries[0]):
        mask = _as_array(entries[0])
        if mask.dtype.name == "bool" and mask.ndim and all(
                isinstance(entry, slice) and entry == slice(None) for entry in entries[1:]):
            mask = _ops["reshape"](mask, mask.shape + (1,) * (x.ndim - mask.ndim))
            return _ops["where"](mask, value, x)
    if x.is_symbolic and None in x.shape:
        raise ValueError("at[]: every size must be known while tracing")
    # Apply the index to a tensor that holds the position of each element of x. The result holds the
    # positions at which the values are scattered.
    count = x.size
    positions = _ops["reshape"](_ops["iota"]((count,), _dtypes.int64), x.shape)
    selected, entries = _basic(positions, entries)
    if any(_is_array(entry) for entry in entries):
        selected = _advanced(selected, entries)
    value = _ops["broadcast_to"](value, selected.shape)
    flat = _ops["reshape"](x, (count,))
    n = selected.size
    where = _ops["reshape"](selected, (n, 1))
    result = _ops["scatter_nd"](flat, where, _ops["reshape"](value, (n,)), reduction=reduction)
    return _ops["reshape"](result, x.shape)
