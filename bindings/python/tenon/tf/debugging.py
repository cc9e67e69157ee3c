"""tf.debugging: assertions."""

from .. import _convert, _native
from ._programs import assert_that as Assert

_ops = _native.ops


def assert_equal(x, y, message=None, summarize=None, name=None):
    """Raises an error unless all elements are equal."""
    Assert(_ops["all"](_ops["equal"](x, y)), [x, y])


def assert_less(x, y, message=None, summarize=None, name=None):
    """Raises an error unless each element of `x` is less than that of `y`."""
    Assert(_ops["all"](_ops["less"](x, y)), [x, y])


def assert_greater(x, y, message=None, summarize=None, name=None):
    """Raises an error unless each element of `x` is greater than that of `y`."""
    Assert(_ops["all"](_ops["greater"](x, y)), [x, y])


def assert_near(x, y, rtol=1e-6, atol=1e-6, message=None, summarize=None, name=None):
    """Raises an error unless `|x - y| <= atol + rtol * |y|` for all elements."""
    x, y = _convert.asarray(x), _convert.asarray(y)
    Assert(_ops["all"](abs(x - y) <= atol + rtol * abs(y)), [x, y])


def check_numerics(tensor, message, name=None):
    """Returns the tensor. Raises an error if it contains an infinity or NaN."""
    return _ops["check_numerics"](tensor)


__all__ = ["Assert", "assert_equal", "assert_greater", "assert_less", "assert_near", "check_numerics"]
