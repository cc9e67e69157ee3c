"""Elementwise functions. Each accepts `name`, as in TensorFlow, and ignores it."""

from .. import _convert, _native

_ops = _native.ops

# Maps TensorFlow's names to ops.
UNARY = {
    "abs": "abs", "negative": "neg", "sign": "sign", "reciprocal": "reciprocal", "square": "square",
    "sqrt": "sqrt", "rsqrt": "rsqrt", "exp": "exp", "expm1": "expm1", "log": "log", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh",
    "atanh": "atanh", "erf": "erf", "erfc": "erfc", "erfinv": "erfinv", "lgamma": "lgamma",
    "digamma": "digamma", "sigmoid": "sigmoid", "floor": "floor", "ceil": "ceil", "round": "round",
    "logical_not": "logical_not", "stop_gradient": "stop_gradient", "is_nan": "isnan",
    "is_inf": "isinf", "is_finite": "isfinite",
}
BINARY = {
    "add": "add", "subtract": "sub", "multiply": "mul", "floordiv": "floor_div", "pow": "pow",
    "mod": "mod", "floormod": "mod", "truncatemod": "fmod", "maximum": "maximum",
    "minimum": "minimum", "atan2": "atan2", "squared_difference": "squared_difference",
    "equal": "equal", "not_equal": "not_equal", "less": "less", "less_equal": "less_equal",
    "greater": "greater", "greater_equal": "greater_equal", "logical_and": "logical_and",
    "logical_or": "logical_or", "logical_xor": "logical_xor", "divide_no_nan": "divide_no_nan",
    "xlogy": "xlogy", "nextafter": "nextafter",
}


def _unary(title, op):
    def function(x, name=None):
        return op(x)

    function.__doc__ = f"The op {op.__name__}."
    function.__name__ = function.__qualname__ = title
    return function


def _binary(title, op):
    def function(x, y, name=None):
        return op(*_operands(x, y))

    function.__doc__ = f"The op {op.__name__}."
    function.__name__ = function.__qualname__ = title
    return function


def _operands(x, y):
    """Converts the operands. A list adopts the dtype of a tensor or float operand."""
    if isinstance(x, (list, tuple)):
        return tuple(reversed(_operands(y, x)))
    if isinstance(y, (list, tuple)):
        if isinstance(x, _native.Tensor):
            return x, _convert.tensor(y, x.dtype)
        if isinstance(x, float):
            return x, _convert.tensor(y, "float32")
    return x, y


globals().update({title: _unary(title, _ops[op]) for title, op in UNARY.items()})
globals().update({title: _binary(title, _ops[op]) for title, op in BINARY.items()})


def divide(x, y, name=None):
    """Returns the quotient. The quotient of integers is a floating-point tensor, too."""
    return _convert.asarray(x) / y


truediv = divide


def identity(input, name=None):
    """Returns a new tensor with the same value."""
    return _ops["identity"](input)


def add_n(inputs, name=None):
    """Returns the sum of a list of tensors."""
    total = _convert.asarray(inputs[0])
    for value in inputs[1:]:
        total = total + value
    return total


def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """Limits the values to a range."""
    return _ops["clip"](t, clip_value_min, clip_value_max)


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """Scales a tensor down if its L2 norm exceeds `clip_norm`."""
    t = _convert.asarray(t)
    options = {} if axes is None else {"axes": axes}
    norm = _ops["l2_norm"](t, keepdims=axes is not None, **options)
    return t * (clip_norm / _ops["maximum"](norm, clip_norm))


def global_norm(t_list, name=None):
    """Returns the L2 norm of all elements of a list of tensors."""
    return _ops["sqrt"](add_n([_ops["sum_square"](t) for t in t_list if t is not None]))


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """Scales tensors down if their common L2 norm exceeds `clip_norm`. Returns them and that
    norm."""
    norm = global_norm(t_list) if use_norm is None else use_norm
    scale = clip_norm / _ops["maximum"](norm, clip_norm)
    return [None if t is None else t * scale for t in t_list], norm


__all__ = [title for title, value in list(globals().items())
           if not title.startswith("_") and getattr(value, "__module__", "") == __name__]
