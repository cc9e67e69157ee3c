"""Methods of tensors that are written in Python: formatting, iteration, pickling and exchange."""

from __future__ import annotations

import numpy

from . import _convert, _indexing, _native, _tree
from ._native import Tensor


def _repr(self):
    if self.is_list:
        return f"<tn.Tensor: list of {self.dtype}>"
    shape = "(" + ", ".join("?" if size is None else str(size) for size in self.shape)
    shape += ",)" if self.ndim == 1 else ")"
    if self.is_symbolic:
        return f"<tn.Tensor: symbolic, shape={shape}, dtype={self.dtype}>"
    return f"<tn.Tensor: shape={shape}, dtype={self.dtype}, value={_text(self)}>"


def _text(self):
    text = _native.format(self, 1000, 8, False)
    return "\n" + text if "\n" in text else text


def _str(self):
    return repr(self) if self.is_symbolic or self.is_list else _native.format(self, 1000, 8, False)


def _repr_html_(self):
    import html  # Imported at first use, to keep `import tenon` fast.

    return f"<pre>{html.escape(repr(self))}</pre>"


def _format(self, spec):
    if not spec:
        return str(self)
    return format(self.item(), spec)


def _iter(self):
    if self.ndim == 0:
        raise TypeError("cannot iterate over a tensor of rank 0")
    if self.is_symbolic and self.shape[0] is None:
        raise TypeError("cannot iterate over a tensor whose length is unknown while tracing: "
                        "use tn.scan or tn.while_loop")
    return iter(_native.ops["unstack"](self))


def _numpy(self):
    """Returns the elements as a NumPy array, which is a read-only view if the host can read the
    memory."""
    return _convert.to_numpy(self)


def _array(self, dtype=None, copy=None):
    array = _convert.to_numpy(self)
    if dtype is not None:
        array = array.astype(dtype, copy=False)
    return array.copy() if copy else array


def _array_function(self, function, types, args, kwargs):
    """Calls a NumPy function with arrays instead of tensors. It returns arrays."""
    args, kwargs = _tree.tree_map(
        lambda leaf: numpy.asarray(leaf) if hasattr(leaf, "__array_function__") else leaf,
        (args, kwargs))
    return function(*args, **kwargs)


def _tolist(self):
    """Returns the elements as nested lists of Python numbers."""
    return _convert.to_numpy(self).tolist()


def _dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    value = _native.ops["copy"](self) if copy else self
    return _native.to_dlpack(value, max_version is not None and max_version[0] >= 1)


def _reduce(self):
    return _restore, (_convert.to_numpy(self), self.dtype.name)


def _restore(array, dtype):
    return _convert.tensor(array, dtype)


def _astype(self, dtype):
    """Returns a tensor with the elements converted to a dtype."""
    return _native.ops["cast"](self, to=dtype)


class _At:
    """Updates by index: `x.at[i].set(v)` and similar methods return a copy of `x` with some
    elements replaced."""

    __slots__ = ("_tensor", "_index")

    def __init__(self, tensor, index=None):
        self._tensor = tensor
        self._index = index

    def __getitem__(self, index):
        return _At(self._tensor, index)

    def set(self, value):
        """Returns a copy in which the indexed elements are replaced by `value`."""
        return _indexing.update(self._tensor, self._index, value, "none")

    def add(self, value):
        """Returns a copy in which `value` is added to the indexed elements."""
        return _indexing.update(self._tensor, self._index, value, "add")

    def multiply(self, value):
        """Returns a copy in which the indexed elements are multiplied by `value`."""
        return _indexing.update(self._tensor, self._index, value, "mul")

    def min(self, value):
        """Returns a copy in which each indexed element is replaced by its minimum with `value`."""
        return _indexing.update(self._tensor, self._index, value, "min")

    def max(self, value):
        """Returns a copy in which each indexed element is replaced by its maximum with `value`."""
        return _indexing.update(self._tensor, self._index, value, "max")


def _size(self):
    """The number of elements; None while tracing if a size is unknown."""
    result = 1
    for size in self.shape:
        if size is None:
            return None
        result *= size
    return result


def _array_namespace(self, /, *, api_version=None):
    """Returns the module that implements the array API standard."""
    from . import array_api

    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        raise ValueError(f"the array API {api_version} is not supported; 2024.12 is")
    return array_api


def _to_device(self, device, /, *, stream=None):
    """Copies the tensor to a device. Returns the same tensor if it is already there."""
    return self if self.device == device else self.copy_to(device)


def _set_item(self, key, value, /):
    """Raises an error, because tensors are immutable."""
    raise TypeError("tensors are immutable: write x = x.at[i].set(v) instead of x[i] = v")


def _complex(self):
    return complex(self.item())


def _transposed(self):
    """The tensor with its axes in reverse order."""
    return _native.ops["transpose"](self)


def _attach():
    """Adds the methods that this file defines to the class Tensor."""
    methods = {
        "__repr__": _repr, "__str__": _str, "_repr_html_": _repr_html_, "__format__": _format,
        "__iter__": _iter, "numpy": _numpy, "__array__": _array, "tolist": _tolist,
        "__dlpack__": _dlpack, "__dlpack_device__": lambda self: (1, 0), "__reduce__": _reduce,
        "__copy__": lambda self: self, "__deepcopy__": lambda self, memo: self,
        "__getitem__": _indexing.get, "astype": _astype, "at": property(_At),
        "__array_namespace__": _array_namespace, "to_device": _to_device, "__setitem__": _set_item,
        "__complex__": _complex,
        "size": property(_size), "T": property(_transposed),
        "mT": property(lambda self: _native.ops["swapaxes"](self, -1, -2)),
        # NumPy defers operators to the tensor. NumPy functions convert tensors to arrays.
        "__array_priority__": 1000, "__array_function__": _array_function,
    }
    for name, method in methods.items():
        setattr(Tensor, name, method)
    Tensor.__module__ = "tenon"


_attach()
