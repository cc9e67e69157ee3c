"""Conversion of numbers, nested lists and arrays of other libraries to tensors, and back."""

from __future__ import annotations

import numpy

from . import _dtypes, _native
from ._dtypes import DType
from ._native import Tensor

__all__ = ["tensor", "asarray", "from_dlpack"]

_INT32_MIN, _INT32_MAX = -(2**31), 2**31 - 1
_BITS = {1: numpy.uint8, 2: numpy.uint16}  # For types of ml_dtypes, by their size.


def tensor(value, dtype=None, device: str | None = None) -> Tensor:
    """Creates a tensor from a copy of a value.

    Args:
        value: A number, a nested list, an array of NumPy or another library, or a tensor.
            Integers become int32 (int64 if they do not fit); floats and mixed lists become
            float32. Arrays keep their dtype.
        dtype: The dtype to convert to.
        device: The device, such as "vulkan:0"; the current device by default.
    """
    result = _from(value, None if dtype is None else DType(dtype), copy=True)
    return result if device is None else result.copy_to(device)


def asarray(value, dtype=None, copy: bool | None = None) -> Tensor:
    """Like tensor(), but shares the memory of arrays if possible.

    The shared memory must not be written while the tensor exists.

    Args:
        value: See tensor().
        dtype: The dtype to convert to.
        copy: True always copies; False raises an error if a copy is needed.
    """
    wanted = None if dtype is None else DType(dtype)
    if copy is False and not isinstance(value, (Tensor, numpy.ndarray)) and not _has_dlpack(value):
        raise ValueError("asarray: this value cannot be shared without a copy; omit copy=False")
    result = _from(value, wanted, copy=bool(copy))
    if copy is False and wanted is not None and getattr(value, "dtype", wanted) != wanted:
        if numpy.dtype(str(value.dtype)) != wanted.to_numpy():
            raise ValueError("asarray: converting the dtype needs a copy; omit copy=False")
    return result


def from_dlpack(value, *, device=None, copy: bool | None = None) -> Tensor:
    """Creates a tensor from an object with `__dlpack__`. Copies it only if `copy` is True."""
    if isinstance(value, Tensor):
        if device is not None and device != value.device:
            if copy is False:
                raise ValueError(f"from_dlpack: copying from {value.device} to {device} is not allowed with copy=False")
            return value.copy_to(device)
        return _native.ops["copy"](value) if copy else value
    try:
        capsule = value.__dlpack__(max_version=(1, 0))
    except TypeError:
        capsule = value.__dlpack__()
    result = _native.from_dlpack(capsule, bool(copy))
    return result if device is None else result.copy_to(device)


def _has_dlpack(value):
    return hasattr(value, "__dlpack__")


def _from(value, dtype, copy):
    if isinstance(value, Tensor):
        return _cast(value, dtype)
    if isinstance(value, _native.Variable):
        return _cast(value.read(), dtype)
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return _from_numpy(numpy.asarray(value), dtype, copy)
    if isinstance(value, (bool, int, float)):
        return _from_numpy(_number(value, dtype), dtype, True)
    if isinstance(value, (list, tuple)):
        return _from_list(value, dtype)
    if _has_dlpack(value):
        return _cast(from_dlpack(value, copy=copy), dtype)
    if hasattr(value, "__tenon_tensor__"):
        return _cast(value.__tenon_tensor__(), dtype)
    array = numpy.asarray(value)
    if array.dtype == object:
        raise TypeError(f"cannot convert a {type(value).__name__} to a tensor")
    return _from_numpy(array, dtype, copy)


def _number(value, dtype):
    if dtype is not None:
        return numpy.asarray(value)
    if isinstance(value, bool):
        return numpy.asarray(value)
    if isinstance(value, int):
        return numpy.asarray(value, numpy.int32 if _INT32_MIN <= value <= _INT32_MAX else numpy.int64)
    return numpy.asarray(value, numpy.float32)


def _holds_tensors(values):
    return any(isinstance(value, (Tensor, _native.Variable))
               or (isinstance(value, (list, tuple)) and _holds_tensors(value)) for value in values)


def _from_list(values, dtype):
    if _holds_tensors(values):
        parts = [_from(value, dtype, False) for value in values]
        floating = [part.dtype for part in parts if part.dtype.is_floating]
        if floating:
            parts = [part if part.dtype.is_floating else _cast(part, floating[0]) for part in parts]
        return _native.ops["stack"](parts)
    array = numpy.asarray(values)
    if array.dtype == object or array.dtype.kind not in "biuf":
        raise TypeError("cannot convert a list to a tensor: its entries must be numbers")
    if dtype is None and not any(hasattr(value, "dtype") for value in _leaves(values)):
        if array.dtype == numpy.int64:
            fits = array.size == 0 or (array.min() >= _INT32_MIN and array.max() <= _INT32_MAX)
            array = array.astype(numpy.int32) if fits else array
        elif array.dtype == numpy.float64:
            array = array.astype(numpy.float32)
    return _from_numpy(array, dtype, True)


def _leaves(values):
    """Returns the first leaf of each nested list, to determine whether the lists contain arrays."""
    for value in values[:1]:
        if isinstance(value, (list, tuple)):
            yield from _leaves(value)
        else:
            yield value


def _from_numpy(array, dtype, copy):
    # NumPy has no casts between types of ml_dtypes and some others, so Tenon casts them.
    if dtype is not None and not (dtype.needs_ml_dtypes or DType(array.dtype).needs_ml_dtypes):
        with numpy.errstate(over="ignore", invalid="ignore"):
            array = array.astype(dtype.to_numpy(), copy=False)
    own = DType(array.dtype)
    shape = array.shape
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if own.needs_ml_dtypes:
        array = array.view(_BITS[own.itemsize])  # These types have no buffer format.
    dense = array.flags.c_contiguous
    shareable = array.dtype.itemsize and all(stride % array.dtype.itemsize == 0
                                             for stride in array.strides)
    if (copy or not shareable) and not dense:
        array = numpy.ascontiguousarray(array)
    return _cast(_native.from_buffer(array, own, shape, copy or not shareable), dtype)


def _cast(value, dtype):
    if dtype is None or value.dtype is dtype:
        return value
    return _native.ops["cast"](value, to=dtype)


def _to_tensor(value):
    """Converts an operand of an op to a tensor. Called by the extension module."""
    if value is None:
        raise TypeError("None cannot be converted to a tensor")
    return _from(value, None, True)


def _sizes(value):
    """Stacks sizes, some of which are symbolic tensors, into one int64 tensor. Called by the
    extension module."""
    if isinstance(value, Tensor):
        return _cast(value, _dtypes.int64)
    return _native.ops["stack"]([_from(size, _dtypes.int64, True) for size in value])


def to_numpy(value: Tensor):
    """Returns the elements as an array. If the host can read the memory, the array is a read-only
    view of it."""
    dtype = value.dtype
    if not dtype.needs_ml_dtypes:
        try:
            return numpy.asarray(memoryview(value))
        except BufferError:
            pass
        array = numpy.empty(value.shape, dtype.to_numpy())
        _native.read_into(value, array)
        return array
    try:
        target = dtype.to_numpy()
    except ImportError:
        return to_numpy(_cast(value, _dtypes.float32))
    array = numpy.empty(value.shape, _BITS[dtype.itemsize])
    _native.read_into(value, array)
    return array.view(target)
