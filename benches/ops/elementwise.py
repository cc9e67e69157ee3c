"""The elementwise ops and the activations, for the bench of the ops."""

import numpy as np

from cases import ANY, BOOLS, FLOATS, INTS, NUMBERS, Onnx, Op, Operand, images, matrix, one, three, two


def unary(name, values="normal", numpy=None, torch="same", onnx=None, dtypes=FLOATS, **more):
    return Op(name, one(values), dtypes, numpy, name if torch == "same" else torch, onnx, **more)


def binary(name, numpy=None, torch="same", onnx=None, dtypes=FLOATS, first="normal", second="normal", **more):
    return Op(name, two(first, second), dtypes, numpy, name if torch == "same" else torch, onnx, **more)


def functional(name):
    """Calls a function of torch.nn.functional."""
    return lambda t, *x, **attrs: getattr(t.nn.functional, name)(*x, **attrs)


def special(name):
    return lambda t, *x: getattr(t.special, name)(*x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def clipped(low, high):
    def inputs(n):
        return [Operand(matrix(n)), Operand((), low), Operand((), high)]

    return inputs


UNARY = [
    unary("neg", "normal", np.negative, "neg", "Neg", NUMBERS),
    unary("abs", "normal", np.abs, "abs", "Abs", NUMBERS),
    unary("sign", "normal", np.sign, "sign", "Sign", NUMBERS),
    unary("square", "normal", np.square, "square", None, NUMBERS),
    unary("reciprocal", "positive", np.reciprocal, onnx="Reciprocal"),
    unary("sqrt", "positive", np.sqrt, onnx="Sqrt"),
    unary("rsqrt", "positive"),
    unary("exp", "normal", np.exp, onnx="Exp"),
    unary("exp2", "normal", np.exp2),
    unary("expm1", "normal", np.expm1),
    unary("log", "positive", np.log, onnx="Log"),
    unary("log2", "positive", np.log2),
    unary("log10", "positive", np.log10),
    unary("log1p", "positive", np.log1p),
    unary("sin", "normal", np.sin, onnx="Sin"),
    unary("cos", "normal", np.cos, onnx="Cos"),
    unary("tan", "unit", np.tan, onnx="Tan"),
    unary("asin", "unit", np.arcsin, onnx="Asin"),
    unary("acos", "unit", np.arccos, onnx="Acos"),
    unary("atan", "normal", np.arctan, onnx="Atan"),
    unary("sinh", "normal", np.sinh, onnx="Sinh"),
    unary("cosh", "normal", np.cosh, onnx="Cosh"),
    unary("tanh", "normal", np.tanh, onnx="Tanh"),
    unary("asinh", "normal", np.arcsinh, onnx="Asinh"),
    unary("acosh", "above_one", np.arccosh, onnx="Acosh"),
    unary("atanh", "unit", np.arctanh, onnx="Atanh"),
    unary("erf", "normal", onnx="Erf"),
    unary("erfc", "normal"),
    unary("lgamma", "positive"),
    unary("digamma", "positive"),
    unary("trigamma", "positive", torch=lambda t, x: t.polygamma(1, x)),
    unary("erfinv", "unit"),
    unary("cbrt", "normal", np.cbrt, None),
    unary("sigmoid", "normal", sigmoid, onnx="Sigmoid"),
    unary("floor", "normal", np.floor, onnx="Floor"),
    unary("ceil", "normal", np.ceil, onnx="Ceil"),
    unary("round", "normal", np.rint, onnx="Round"),
    unary("trunc", "normal", np.trunc),
    unary("isnan", "normal", np.isnan, onnx="IsNaN"),
    unary("isinf", "normal", np.isinf, onnx="IsInf"),
    unary("isfinite", "normal", np.isfinite),
    unary("signbit", "normal", np.signbit),
    unary("logical_not", "normal", np.logical_not, onnx="Not", dtypes=BOOLS),
    unary("bitwise_not", "normal", np.invert, onnx="BitwiseNot", dtypes=("i32", "bool")),
    unary("check_numerics", "normal", None, None),
]

BINARY = [
    binary("add", np.add, onnx="Add", dtypes=NUMBERS),
    binary("sub", np.subtract, onnx="Sub", dtypes=NUMBERS),
    binary("mul", np.multiply, onnx="Mul", dtypes=NUMBERS),
    Op("div", two("normal", "positive"), NUMBERS,
       lambda a, b: np.divide(a, b) if a.dtype.kind == "f" else None,
       lambda t, a, b: t.div(a, b) if a.is_floating_point() else t.div(a, b, rounding_mode="trunc"), "Div"),
    binary("floor_div", np.floor_divide, "floor_divide", None, NUMBERS, "normal", "positive"),
    binary("mod", np.mod, "remainder", None, NUMBERS, "normal", "positive"),
    binary("fmod", np.fmod, "fmod", Onnx("Mod", {"fmod": 1}), NUMBERS, "normal", "positive"),
    Op("pow", two("positive", "exponent"), NUMBERS, np.power, "pow", "Pow"),
    binary("maximum", np.maximum, "maximum", "Max", NUMBERS),
    binary("minimum", np.minimum, "minimum", "Min", NUMBERS),
    binary("atan2", np.arctan2),
    binary("copysign", np.copysign),
    binary("equal", np.equal, "eq", "Equal", ANY),
    binary("not_equal", np.not_equal, "ne", None, ANY),
    binary("less", np.less, "less", "Less", NUMBERS),
    binary("less_equal", np.less_equal, "less_equal", "LessOrEqual", NUMBERS),
    binary("greater", np.greater, "greater", "Greater", NUMBERS),
    binary("greater_equal", np.greater_equal, "greater_equal", "GreaterOrEqual", NUMBERS),
    binary("logical_and", np.logical_and, onnx="And", dtypes=BOOLS),
    binary("logical_or", np.logical_or, onnx="Or", dtypes=BOOLS),
    binary("logical_xor", np.logical_xor, onnx="Xor", dtypes=BOOLS),
    binary("bitwise_and", np.bitwise_and, onnx="BitwiseAnd", dtypes=("i32", "bool")),
    binary("bitwise_or", np.bitwise_or, onnx="BitwiseOr", dtypes=("i32", "bool")),
    binary("bitwise_xor", np.bitwise_xor, onnx="BitwiseXor", dtypes=("i32", "bool")),
    binary("shift_left", np.left_shift, "bitwise_left_shift", dtypes=INTS, second="shift"),
    binary("shift_right", np.right_shift, "bitwise_right_shift", dtypes=INTS, second="shift"),
    binary("logaddexp", np.logaddexp),
    binary("nextafter", np.nextafter),
    binary("hypot", np.hypot),
    binary("squared_difference", lambda a, b: np.square(a - b), lambda t, a, b: t.square(a - b), dtypes=NUMBERS),
    binary("xlogy", None, "xlogy", second="positive"),
    binary("divide_no_nan", lambda a, b: np.divide(a, b, out=np.zeros_like(a), where=b != 0), None,
           second="positive"),
]

TERNARY = [
    Op("clip", clipped(-0.5, 0.5), NUMBERS, lambda x, low, high: np.clip(x, low, high),
       lambda t, x, low, high: t.clamp(x, low, high), "Clip"),
    Op("fma", three(), FLOATS, None, lambda t, x, y, z: t.addcmul(z, x, y)),
    Op("where", lambda n: [Operand(matrix(n), "normal", "bool"), Operand(matrix(n)), Operand(matrix(n))], ANY,
       np.where, "where", "Where"),
    Op("lerp", three(), FLOATS, lambda a, b, w: a + w * (b - a), "lerp"),
    Op("addcmul", three(), FLOATS, lambda x, a, b: x + a * b, "addcmul"),
]

ACTIVATIONS = [
    unary("relu", "normal", lambda x: np.maximum(x, 0), "relu", "Relu", NUMBERS),
    unary("leaky_relu", "normal", None, functional("leaky_relu"), Onnx("LeakyRelu", {"alpha": 0.01})),
    unary("elu", "normal", None, functional("elu"), "Elu"),
    unary("softplus", "normal", None, functional("softplus"), "Softplus"),
    unary("gelu", "normal", None, functional("gelu"), "Gelu"),
    unary("silu", "normal", None, functional("silu")),
    unary("relu6", "normal", lambda x: np.clip(x, 0, 6), functional("relu6"), None, NUMBERS),
    Op("prelu", lambda n: [Operand(images(n)), Operand((16, 1, 1), "positive", fixed=True)], FLOATS, None,
       lambda t, x, slope: t.nn.functional.prelu(x, slope.reshape(-1)), "PRelu"),
    unary("selu", "normal", None, "selu", "Selu"),
    unary("softsign", "normal", lambda x: x / (1 + np.abs(x)), functional("softsign"), "Softsign"),
    unary("hard_sigmoid", "normal", lambda x: np.clip(0.2 * x + 0.5, 0, 1).astype(x.dtype), None, "HardSigmoid"),
    unary("hard_swish", "normal", None, functional("hardswish"), "HardSwish"),
    unary("celu", "normal", None, "celu", "Celu"),
    unary("mish", "normal", None, functional("mish"), "Mish"),
    unary("hard_tanh", "normal", lambda x: np.clip(x, -1, 1), functional("hardtanh")),
    unary("log_sigmoid", "normal", None, functional("logsigmoid")),
    unary("thresholded_relu", "normal", lambda x: np.where(x > 1, x, 0).astype(x.dtype),
          lambda t, x: t.nn.functional.threshold(x, 1.0, 0.0), "ThresholdedRelu"),
    unary("shrink", "normal", None, lambda t, x: t.nn.functional.hardshrink(x, 0.5), "Shrink"),
    unary("glu", "normal", None, functional("glu")),
    unary("swiglu", "normal", None,
          lambda t, x: t.nn.functional.silu(x[..., :x.shape[-1] // 2]) * x[..., x.shape[-1] // 2:]),
    unary("softmax", "normal", None, lambda t, x: t.softmax(x, -1), Onnx("Softmax", {"axis": -1})),
    unary("log_softmax", "normal", None, lambda t, x: t.log_softmax(x, -1), Onnx("LogSoftmax", {"axis": -1})),
    unary("hardmax", "normal", None, None, Onnx("Hardmax", {"axis": -1})),
]

OPS = UNARY + BINARY + TERNARY + ACTIVATIONS
