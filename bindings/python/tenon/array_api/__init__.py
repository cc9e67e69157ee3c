"""The namespace of the Python array API standard, version 2024.12, on Tenon's tensors.

    import tenon.array_api as xp

It has all functions of the standard and of its extension `linalg`, except for complex numbers.
The extension `fft` is not included. Tensors are immutable: instead of `x[i] = v`, write
`x = x.at[i].set(v)`. Data-dependent sizes, as of nonzero() and unique_values(), are computed
immediately.
"""

from math import e, inf, nan, pi

from .._dtypes import (float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64)
from .._dtypes import bool_ as bool
from . import linalg
from ._creation import *  # noqa: F403
from ._elementwise import *  # noqa: F403
from ._info import *  # noqa: F403
from ._info import __array_namespace_info__
from ._manipulation import *  # noqa: F403
from ._searching import *  # noqa: F403
from ._statistics import *  # noqa: F403
from .linalg import matmul, matrix_transpose, tensordot, vecdot

__array_api_version__ = "2024.12"
newaxis = None
