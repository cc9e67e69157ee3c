"""Types of the inputs of functions."""

from __future__ import annotations

from ._dtypes import DType, float32
from ._native import Tensor

__all__ = ["TensorSpec"]


class TensorSpec:
    """The type of an input, for signatures: a dtype and a shape.

    Args:
        shape: The sizes. None is an unknown size. A string, such as "rows", names an unknown
            size; sizes with the same name are equal.
        dtype: The dtype.
        name: The name of the input in messages and files.
    """

    __slots__ = ("shape", "dtype", "name", "size_names")

    def __init__(self, shape=(), dtype=float32, name: str = ""):
        if shape is None:
            raise ValueError("TensorSpec: the shape must have a size or None for each axis; the number "
                             "of axes cannot be unknown")
        sizes = (shape,) if isinstance(shape, (int, str)) else tuple(shape)
        self.shape = tuple(size if isinstance(size, int) else None for size in sizes)
        self.size_names = tuple(size if isinstance(size, str) else "" for size in sizes)
        self.dtype = DType(dtype)
        self.name = name

    @staticmethod
    def of(value, name: str = "") -> "TensorSpec":
        """Returns the spec with the dtype and shape of a tensor or a variable."""
        return TensorSpec(value.shape, value.dtype, name)

    def is_compatible_with(self, value: Tensor) -> bool:
        """Returns whether a tensor has this dtype and these sizes."""
        if value.dtype is not self.dtype or value.ndim != len(self.shape):
            return False
        return all(size is None or size == given for size, given in zip(self.shape, value.shape))

    def _native(self, name):
        """Returns the spec as the tuple that the extension module takes."""
        return (self.name or name, self.dtype, self.shape, list(self.size_names), False)

    def __eq__(self, other):
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (self.shape, self.dtype, self.size_names) == (other.shape, other.dtype, other.size_names)

    def __hash__(self):
        return hash((self.shape, self.dtype, self.size_names))

    def __repr__(self):
        sizes = [repr(name) if name else str(size)
                 for size, name in zip(self.shape, self.size_names)]
        shape = "(" + ", ".join(sizes) + (",)" if len(sizes) == 1 else ")")
        name = f", name={self.name!r}" if self.name else ""
        return f"TensorSpec(shape={shape}, dtype={self.dtype}{name})"


def _from_native(spec):
    name, dtype, shape, size_names, _ = spec
    sizes = [label or size for size, label in zip(shape, size_names)]
    return TensorSpec(sizes, dtype if dtype is not None else float32, name)
