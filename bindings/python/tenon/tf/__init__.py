"""TensorFlow's names for what Tenon has, so that listings run with another import.

    from tenon import tf

The functions have TensorFlow's parameters, and tensors are Tenon's. There are no tensors of texts, of
complex numbers, and no sparse or ragged ones; Keras is not included. docs/coming_from.md lists the
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

# AutoGraph converts the functions that these take.
for _function in (cond, case, switch_case, while_loop, map_fn, foldl, scan):  # noqa: F405
    _function.__tenon_converts_arguments__ = True
