"""Lists of tensors that loops can carry."""

from __future__ import annotations

from . import _convert, _dtypes, _native, _tree
from ._native import Tensor

__all__ = ["TensorList", "TensorArray"]


class TensorList:
    """An immutable list of tensors of one dtype and shape. Loops and functions can carry it.

    Create a list with create() or like(). Each change returns a new list, which shares the
    unchanged entries.
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: Tensor):
        self._handle = handle

    @staticmethod
    def create(dtype, shape, capacity: int = 0) -> "TensorList":
        """Creates an empty list for tensors of a dtype and a shape."""
        return TensorList(_native.list_create(dtype, shape, capacity))

    @staticmethod
    def like(entry, capacity: int = 0) -> "TensorList":
        """Creates an empty list for tensors with the type of `entry`."""
        return TensorList(_native.list_create_like(_convert._to_tensor(entry), capacity))

    @staticmethod
    def unstack(tensor) -> "TensorList":
        """Creates a list of the slices of a tensor along its first axis."""
        return TensorList(_native.list_unstack(tensor))

    def push(self, entry) -> "TensorList":
        """Returns a list with an entry appended."""
        return TensorList(_native.list_push(self._handle, entry))

    def set(self, index, entry) -> "TensorList":
        """Returns a list with the entry at an index replaced."""
        return TensorList(_native.list_set(self._handle, _index(index), entry))

    def __getitem__(self, index) -> Tensor:
        return _native.list_get(self._handle, _index(index))

    def length(self) -> Tensor:
        """Returns the number of entries, an int64."""
        return _native.list_length(self._handle)

    def __len__(self):
        return int(self.length())

    def stack(self, length=None) -> Tensor:
        """Returns the entries as one tensor, stacked along a new first axis."""
        return _native.list_stack(self._handle, None if length is None else _index(length))

    def concat(self, length=None) -> Tensor:
        """Returns the entries as one tensor, concatenated along their first axis."""
        return _native.list_concat(self._handle, None if length is None else _index(length))

    @property
    def dtype(self):
        """The dtype of each entry."""
        return self._handle.dtype

    @property
    def shape(self):
        """The shape of each entry."""
        return self._handle.shape

    def __repr__(self):
        return f"<tn.TensorList: {self.dtype}, entries of shape {self.shape}>"


_tree.register_pytree(TensorList, lambda value: ([value._handle], None),
                      lambda data, children: TensorList(children[0]))


def _index(index):
    if isinstance(index, Tensor) and index.dtype.name != "int64":
        return _native.ops["cast"](index, to=_dtypes.int64)
    return index


class TensorArray:
    """A list of tensors with the methods of TensorFlow's TensorArray.

    Args:
        dtype: The dtype of each entry.
        size: The number of entries for which memory is preallocated.
        element_shape: The shape of each entry. Default: that of the first entry written.
    """

    __slots__ = ("_list", "_dtype", "_size", "_shape")

    def __init__(self, dtype, size: int = 0, dynamic_size: bool = True, element_shape=None):
        self._dtype = _dtypes.DType(dtype)
        self._size = size
        self._shape = element_shape
        self._list = None
        if element_shape is not None:
            self._list = TensorList.create(self._dtype, element_shape, size)

    def _with(self, entries):
        result = TensorArray.__new__(TensorArray)
        result._dtype, result._size, result._shape = self._dtype, self._size, self._shape
        result._list = entries
        return result

    def _entries(self, entry=None):
        if self._list is None:
            if entry is None:
                raise ValueError("TensorArray: nothing was written, so the shape is unknown")
            return TensorList.like(entry, self._size)
        return self._list

    def write(self, index, value) -> "TensorArray":
        """Returns an array with the entry at an index replaced."""
        value = _convert.asarray(value, self._dtype)
        return self._with(self._entries(value).set(index, value))

    def read(self, index) -> Tensor:
        """Returns the entry at an index."""
        return self._entries()[index]

    def size(self) -> Tensor:
        """Returns the number of entries."""
        return self._entries().length()

    def stack(self) -> Tensor:
        """Returns the entries as one tensor, stacked along a new first axis."""
        return self._entries().stack()

    def concat(self) -> Tensor:
        """Returns the entries as one tensor, concatenated along their first axis."""
        return self._entries().concat()

    def unstack(self, value) -> "TensorArray":
        """Returns an array of the slices of a tensor along its first axis."""
        return self._with(TensorList.unstack(value))


def _flatten_array(array):
    return [array._entries()], (array._dtype, array._size)


def _unflatten_array(data, children):
    result = TensorArray(data[0], data[1])
    return result._with(children[0])


_tree.register_pytree(TensorArray, _flatten_array, _unflatten_array)
