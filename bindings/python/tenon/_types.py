"""Types for annotations."""

from __future__ import annotations

from typing import Any, Union

from ._dtypes import DType
from ._native import Tensor

__all__ = ["DTypeLike", "TensorLike"]

DTypeLike = Union[DType, str, type]
# A tensor, a variable, a number, a nested list, or an array of NumPy or another library.
TensorLike = Union[Tensor, float, int, bool, Any]
