"""Tenon's functions under TensorFlow's names, so that TensorFlow listings run with another import.

    from tenon import tf

The functions have TensorFlow's parameters, but take and return Tenon's tensors. There are no
string, complex, sparse or ragged tensors, and no Keras. docs/coming_from.md lists the supported
names.
"""

from .. import __version__  # noqa: F401
from .._control import executing_eagerly
from .._dtypes import (DType, bfloat16, float16, float32, float64, int8, int16, int32, int64, uint8,
                       uint16, uint32, uint64)
from .._dtypes import bool_ as bool  # noqa: A004
from .._gradients import custom_gradient
from .._lists import TensorArray
from .._native import Tensor
from .._specs import TensorSpec
from .._variables import Variable
from . import (autograph, config, data, debugging, dtypes, errors, linalg, math, nest, nn, random,
               saved_model, strings)
from ._arrays import *  # noqa: F403
from ._arrays import range, slice  # noqa: A004
from ._elementwise import *  # noqa: F403
from ._elementwise import abs, pow, round  # noqa: A004
from ._programs import *  # noqa: F403
from ._programs import print  # noqa: A004
from ._programs import assert_that as Assert
from ._reductions import *  # noqa: F403

newaxis = None
half, double = float16, float64

# AutoGraph converts the functions that are passed to these functions.
for _function in (cond, case, switch_case, while_loop, map_fn, foldl, scan):  # noqa: F405
    _function.__tenon_converts_arguments__ = True
