"""Elementwise functions."""

from .. import _dtypes, _native
from .._native import Tensor

_ops = _native.ops

UNARY = {
    "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan",
    "atanh": "atanh", "cos": "cos", "cosh": "cosh", "exp": "exp", "expm1": "expm1", "log": "log",
    "log1p": "log1p", "log2": "log2", "log10": "log10", "negative": "neg", "reciprocal": "reciprocal",
    "sign": "sign", "signbit": "signbit", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt",
    "square": "square", "tan": "tan", "tanh": "tanh", "logical_not": "logical_not",
}
# Maps rounding functions to ops. Unlike the ops, the functions return integers unchanged.
ROUNDING = {"ceil": "ceil", "floor": "floor", "round": "round", "trunc": "trunc"}
BINARY = {
    "add": "add", "atan2": "atan2", "copysign": "copysign", "divide": "div", "equal": "equal",
    "floor_divide": "floor_div", "greater": "greater", "greater_equal": "greater_equal",
    "hypot": "hypot", "less": "less", "less_equal": "less_equal", "logaddexp": "logaddexp",
    "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "logical_xor",
    "maximum": "maximum", "minimum": "minimum", "multiply": "mul", "nextafter": "nextafter",
    "not_equal": "not_equal", "pow": "pow", "remainder": "mod", "subtract": "sub",
    "bitwise_left_shift": "shift_left", "bitwise_right_shift": "shift_right",
}


def _named(function, title, op):
    function.__doc__ = f"The op {op.__name__}."
    function.__name__ = function.__qualname__ = title
    return function


def _unary(title, op):
    def function(x, /):
        return op(x)

    return _named(function, title, op)


def _rounding(title, op):
    def function(x, /):
        return op(x) if x.dtype.is_floating else x

    return _named(function, title, op)


def _binary(title, op):
    def function(x1, x2, /):
        return op(x1, x2)

    return _named(function, title, op)


globals().update({title: _unary(title, _ops[op]) for title, op in UNARY.items()})
globals().update({title: _rounding(title, _ops[op]) for title, op in ROUNDING.items()})
globals().update({title: _binary(title, _ops[op]) for title, op in BINARY.items()})


def abs(x, /):
    """Returns the absolute values."""
    return x if x.dtype.kind == "uint" else _ops["abs"](x)


def positive(x, /):
    """Returns the tensor unchanged."""
    return x


def real(x, /):
    """Returns the tensor unchanged, because Tenon has no complex numbers."""
    return x


conj = real


def imag(x, /):
    """Raises an error, because Tenon has no complex numbers."""
    raise TypeError("imag: Tenon has no complex numbers")


def _is_bool(x):
    return x.dtype is _dtypes.bool_ if isinstance(x, Tensor) else isinstance(x, bool)


def bitwise_and(x1, x2, /):
    """Returns the bitwise AND of integers, or the logical AND of bools."""
    return _ops["logical_and" if _is_bool(x1) else "bitwise_and"](x1, x2)


def bitwise_or(x1, x2, /):
    """Returns the bitwise OR of integers, or the logical OR of bools."""
    return _ops["logical_or" if _is_bool(x1) else "bitwise_or"](x1, x2)


def bitwise_xor(x1, x2, /):
    """Returns the bitwise XOR of integers, or the logical XOR of bools."""
    return _ops["logical_xor" if _is_bool(x1) else "bitwise_xor"](x1, x2)


def bitwise_invert(x, /):
    """Returns the bitwise NOT of integers, or the logical NOT of bools."""
    return _ops["logical_not" if _is_bool(x) else "bitwise_not"](x)


def clip(x, /, min=None, max=None):
    """Limits the values to a range. A bound of None does not limit."""
    if min is not None:
        x = _ops["maximum"](x, _bound(x, min))
    if max is not None:
        x = _ops["minimum"](x, _bound(x, max))
    return x


def _bound(x, bound):
    """Converts a bound to the dtype of `x`, which is also the dtype of the result."""
    return bound.astype(x.dtype) if isinstance(bound, Tensor) else bound


def _test(title, op, integers):
    def function(x, /):
        if x.dtype.is_floating:
            return op(x)
        return _ops["fill"](integers, x.shape)

    return _named(function, title, op)


isfinite = _test("isfinite", _ops["isfinite"], True)
isinf = _test("isinf", _ops["isinf"], False)
isnan = _test("isnan", _ops["isnan"], False)

__all__ = [*UNARY, *ROUNDING, *BINARY, "abs", "bitwise_and", "bitwise_invert", "bitwise_or",
           "bitwise_xor", "clip", "conj", "imag", "isfinite", "isinf", "isnan", "positive", "real"]
