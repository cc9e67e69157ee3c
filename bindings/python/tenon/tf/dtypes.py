"""tf.dtypes: element types."""

from .._dtypes import (DType, bfloat16, float16, float32, float64, int8, int16, int32, int64, uint8,
                       uint16, uint32, uint64)
from .._dtypes import bool_ as bool
from ._arrays import cast


def as_dtype(type_value):
    """Converts a name or a type to a dtype."""
    return DType(type_value)


__all__ = ["DType", "as_dtype", "bfloat16", "bool", "cast", "float16", "float32", "float64", "int8",
           "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
