"""Dtypes, and the capabilities of the namespace."""

import builtins
import dataclasses

import numpy

from .. import _devices, _dtypes, _native
from .._native import Tensor

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_NAMES = {"bool": ("bool",), "signed integer": ("int8", "int16", "int32", "int64"),
          "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
          "real floating": ("float32", "float64"), "complex floating": ()}
_NAMES["integral"] = _NAMES["signed integer"] + _NAMES["unsigned integer"]
_NAMES["numeric"] = _NAMES["integral"] + _NAMES["real floating"]


def astype(x, dtype, /, *, copy=True, device=None):
    """Returns a tensor with the elements converted to a dtype."""
    dtype = _dtypes.DType(dtype)
    if x.dtype is dtype:
        result = _native.ops["copy"](x) if copy else x
    else:
        result = x.astype(dtype)
    return result if device is None or result.device == device else result.copy_to(device)


def can_cast(from_, to, /):
    """Returns whether a dtype, or the dtype of a tensor, can be promoted to the dtype `to` without
    loss."""
    from_ = _dtypes.DType(from_.dtype if isinstance(from_, Tensor) else from_)
    return _promoted(from_, _dtypes.DType(to)) is _dtypes.DType(to)


@dataclasses.dataclass
class _FloatInfo:
    """Limits of a floating dtype."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: _dtypes.DType


@dataclasses.dataclass
class _IntInfo:
    """Limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: _dtypes.DType


def finfo(type, /):
    """Returns the limits of a floating dtype, or of the dtype of a tensor."""
    dtype = _dtypes.DType(getattr(type, "dtype", type))
    if not dtype.is_floating:
        raise TypeError(f"finfo: {dtype} is not a floating-point dtype")
    if dtype.name == "bfloat16":
        return _FloatInfo(16, 2.0**-7, (2 - 2.0**-7) * 2.0**127, -(2 - 2.0**-7) * 2.0**127, 2.0**-126,
                          dtype)
    limits = numpy.finfo(dtype.name)
    return _FloatInfo(limits.bits, float(limits.eps), float(limits.max), float(limits.min),
                      float(limits.smallest_normal), dtype)


def iinfo(type, /):
    """Returns the limits of an integer dtype, or of the dtype of a tensor."""
    dtype = _dtypes.DType(getattr(type, "dtype", type))
    if not dtype.is_integer:
        raise TypeError(f"iinfo: {dtype} is not an integer dtype")
    limits = numpy.iinfo(dtype.name)
    return _IntInfo(limits.bits, int(limits.max), int(limits.min), dtype)


def isdtype(dtype, kind):
    """Returns whether a dtype equals or belongs to `kind`, which is a dtype, the name of a group of
    dtypes, or a tuple of these."""
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _NAMES:
            raise ValueError(f"isdtype: {kind!r} is not a kind of dtype; the kinds are {', '.join(_NAMES)}")
        return dtype.name in _NAMES[kind]
    return dtype == kind


def _promoted(a, b):
    """Returns the dtype of `a + b`; None if the dtypes cannot be combined."""
    if a is b:
        return a
    pair = [_native.ops["fill"](_zero(dtype), (0,)) for dtype in (a, b)]
    try:
        return _native.ops["stack"](pair).dtype
    except (TypeError, ValueError, NotImplementedError):
        return None


def _zero(dtype):
    from .. import _convert

    return _convert.tensor(0, dtype)


def result_type(*arrays_and_dtypes):
    """Returns the dtype to which tensors, dtypes and Python numbers are promoted."""
    numbers = [value for value in arrays_and_dtypes if isinstance(value, (bool, int, float, complex))]
    dtypes = [getattr(value, "dtype", value) for value in arrays_and_dtypes
              if not isinstance(value, (bool, int, float, complex))]
    if not dtypes:
        raise ValueError("result_type: at least one tensor or dtype is needed")
    result = _dtypes.DType(dtypes[0])
    for dtype in dtypes[1:]:
        found = _promoted(result, _dtypes.DType(dtype))
        if found is None:
            raise TypeError(f"result_type: {result} and {dtype} have no common dtype")
        result = found
    for number in numbers:
        fits = isinstance(number, bool) or (isinstance(number, int) and result.kind != "bool") or (
            isinstance(number, float) and result.is_floating)
        if not fits or isinstance(number, bool) and result.kind != "bool":
            raise TypeError(f"result_type: the number {number!r} cannot be converted to {result}")
    return result


class _Info:
    """Describes the capabilities of the namespace."""

    def capabilities(self):
        """Returns which optional features of the standard are supported."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self):
        """Returns the name of the current device, which holds new tensors."""
        return _devices.current_device()

    def default_dtypes(self, *, device=None):
        """Returns the default dtypes of new tensors."""
        return {"real floating": _dtypes.float32, "integral": _dtypes.int32,
                "indexing": _dtypes.int64}

    def dtypes(self, *, device=None, kind=None):
        """Returns the dtypes of the standard by name: all, or those of a group."""
        every = _NAMES["bool"] + _NAMES["numeric"]
        return {name: _dtypes.DType(name) for name in every
                if kind is None or isdtype(_dtypes.DType(name), kind)}

    def devices(self):
        """Returns the names of the available devices."""
        return [found["name"] for found in _devices.list_devices()]


def __array_namespace_info__():
    """Returns an object that describes the capabilities of the namespace."""
    return _Info()
