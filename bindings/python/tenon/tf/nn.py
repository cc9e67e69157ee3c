"""tf.nn: neural network functions."""

from ._nn import *  # noqa: F403
from ._nn import __all__ as _names
from ._reductions import top_k

__all__ = [*_names, "top_k"]
