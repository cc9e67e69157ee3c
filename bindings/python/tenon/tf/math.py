"""tf.math: elementwise functions and reductions."""

from ._elementwise import *  # noqa: F403
from ._nn import log_sigmoid, softmax, softplus, softsign  # noqa: F401
from ._reductions import *  # noqa: F403
from ._reductions import __all__ as _reductions
from ._elementwise import __all__ as _elementwise

__all__ = [*_elementwise, *_reductions, "log_sigmoid", "softmax", "softplus", "softsign"]
