"""Compares `tenon run` with onnxruntime for ops of com.microsoft and ai.onnx.ml, and for quantised
models.

    foreign.py TENON [DEVICE...]

TENON is the path of the command `tenon`. Each device (by default cpu) must agree with onnxruntime
within 1e-4 of the largest output of a model. Quantised outputs may differ by one.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization

import machine_learning

TOLERANCE = 1e-4
MICROSOFT = "com.microsoft"
ELEMENTS = {"f4": TensorProto.FLOAT, "u1": TensorProto.UINT8, "i1": TensorProto.INT8, "i4": TensorProto.INT32,
            "i8": TensorProto.INT64}
random = numpy.random.default_rng(48)


def real(*shape):
    return random.standard_normal(shape).astype("f4")


def small(kind, *shape):
    return random.integers(numpy.iinfo(kind).min, numpy.iinfo(kind).max, shape, kind, endpoint=True)


def number(value, kind="f4"):
    return numpy.array(value, kind)


def scale(value=0.02):
    """Returns a scale as a list with one element. onnxruntime's quantiser writes scales in this
    form, too."""
    return numpy.array([value], "f4")


def save(nodes, inputs, constants, n_outputs, path):
    """Saves an ONNX model. `inputs` and `constants` are {name: array}. The outputs are named y0,
    y1, ..."""
    # The older ops of trees are deprecated since version 5, which adds TreeEnsemble.
    ml = 5 if any(node.op_type == "TreeEnsemble" for node in nodes) else 3
    element = lambda x: ELEMENTS[x.dtype.str[1:]]
    graph = helper.make_graph(
        nodes, "test", [helper.make_tensor_value_info(name, element(x), x.shape) for name, x in inputs.items()],
        [helper.make_empty_tensor_value_info(f"y{i}") for i in range(n_outputs)],
        [numpy_helper.from_array(x, name) for name, x in constants.items()])
    sets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1), helper.make_opsetid("ai.onnx.ml", ml)]
    model = helper.make_model(graph, opset_imports=sets, ir_version=8)
    onnx.save(model, path)


# Yields (op, inputs, number of outputs, attributes). The op belongs to com.microsoft, unless its
# name has a domain as a prefix. An absent input is None. A pair (array, "constant") is an
# initialiser.
def cases():
    x = real(2, 3, 8)
    q, k = small("u1", 3, 4, 5), small("u1", 3, 4, 5)
    zero = number(120, "u1")
    image, filters = real(1, 2, 6, 5), real(3, 2, 3, 3)
    heads = dict(num_heads=2)
    yield "Gelu", [x], 1, {}
    yield "BiasGelu", [x, real(8)], 1, {}
    yield "FastGelu", [x, real(8)], 1, {}
    yield "FastGelu", [x], 1, {}
    yield "QuickGelu", [x], 1, dict(alpha=1.5)
    yield "FusedMatMul", [real(2, 4, 3), real(2, 4, 5)], 1, dict(transA=1, alpha=0.5)
    yield "FusedMatMul", [real(2, 3, 4), real(2, 5, 4)], 1, dict(transB=1)
    yield "FusedGemm", [real(3, 4), real(4, 5), real(5)], 1, dict(activation="LeakyRelu", activation_alpha=0.3,
                                                                 alpha=0.5)
    yield "FusedConv", [image, (filters, "constant"), (real(3), "constant")], 1, dict(activation="Relu")
    yield "FusedConv", [image, (filters, "constant"), None, real(1, 3, 4, 3)], 1, dict(activation="Relu")
    yield "SkipLayerNormalization", [x, real(2, 3, 8), real(8), real(8), real(8)], 1, dict(epsilon=1e-5)
    yield "SkipSimplifiedLayerNormalization", [x, real(2, 3, 8), real(8), real(8)], 1, dict(epsilon=1e-5)
    ids, segments = number([[1, 4, 2], [0, 3, 3]], "i4"), number([[0, 0, 1], [0, 1, 1]], "i4")
    tables = [(real(6, 8), "constant"), (real(5, 8), "constant"), (real(2, 8), "constant"),
              (real(8), "constant"), (real(8), "constant")]
    yield "EmbedLayerNormalization", [ids, segments, *tables, number([[1, 1, 0], [1, 1, 1]], "i4")], 2, {}
    yield "MultiHeadAttention", [x, real(2, 5, 8), real(2, 5, 8)], 1, heads
    yield "MultiHeadAttention", [x, real(2, 5, 8), real(2, 5, 8), real(24)], 1, dict(num_heads=2, scale=0.7)
    yield "MultiHeadAttention", [x, real(2, 5, 8), real(2, 5, 8), None,
                                 number([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]], "i4")], 1, heads
    yield "MultiHeadAttention", [x, real(2, 3, 8), real(2, 3, 8), None, None, None, real(2, 2, 4, 4),
                                 real(2, 2, 4, 4)], 3, heads
    yield "MultiHeadAttention", [x, real(2, 3, 8), real(2, 3, 8)], 1, dict(num_heads=2, unidirectional=1)
    yield "Attention", [x, (real(8, 24), "constant"), real(24)], 1, heads
    yield "Attention", [x, (real(8, 24), "constant"), real(24)], 1, dict(num_heads=2, unidirectional=1)
    yield "Attention", [x, (real(8, 24), "constant"), real(24), number([3, 2], "i4")], 1, heads
    yield "Attention", [x, (real(8, 24), "constant"), real(24), number([[1, 1, 0], [1, 1, 1]], "i4")], 1, heads
    yield "Attention", [x, (real(8, 24), "constant"), real(24), None, real(2, 2, 2, 5, 4)], 2, dict(
        num_heads=2, unidirectional=1)
    cosines, sines = real(10, 4), real(10, 4)
    yield "RotaryEmbedding", [real(2, 3, 16), number([2], "i8"), cosines, sines], 1, {}
    yield "RotaryEmbedding", [real(2, 2, 3, 8), number([[2, 0, 1], [5, 6, 7]], "i8"), cosines, sines], 1, dict(
        interleaved=1)
    yield "QuantizeLinear", [x, number(0.03), number(100, "u1")], 1, {}
    yield "DequantizeLinear", [q, number(0.03), number(100, "u1")], 1, {}
    result = [number(0.05), number(130, "u1")]
    for op in ["QLinearAdd", "QLinearMul"]:
        yield op, [q, number(0.02), zero, k, number(0.03), number(90, "u1"), *result], 1, {}
    for op, attributes in [("QLinearSigmoid", {}), ("QLinearLeakyRelu", dict(alpha=0.2)),
                           ("QLinearSoftmax", dict(axis=-1, opset=13))]:
        scales = [number(0.02), zero, number(1 / 256), number(0, "u1")]
        yield op, [q, *[(each, "constant") for each in scales]], 1, attributes
    yield "QLinearConcat", [*result, q, number(0.02), zero, k, number(0.03), number(90, "u1")], 1, dict(axis=1)
    pixels = small("u1", 1, 2, 6, 5)
    yield "QLinearGlobalAveragePool", [pixels, number(0.02), zero, *result], 1, {}
    yield "QLinearAveragePool", [pixels, number(0.02), zero, *result], 1, dict(kernel_shape=[2, 3], strides=[2, 1],
                                                                               pads=[1, 0, 0, 1])
    a, b = small("u1", 3, 4), small("i1", 4, 5)
    columns = real(5) ** 2 / 50
    yield "QGemm", [a, number(0.02), zero, b, columns, small("i1", 5) // 8, number([9, 1, 4, 100, 7], "i4"),
                    *result], 1, dict(alpha=1.0)
    yield "QGemm", [a, number(0.02), zero, b, number(0.01), number(3, "i1"), None, None, None], 1, {}
    yield "MatMulIntegerToFloat", [a, b, number(0.02), columns, zero, small("i1", 5) // 8, real(5)], 1, {}
    yield "DynamicQuantizeMatMul", [real(3, 4), b, columns, small("i1", 5) // 8, real(5)], 1, {}
    packed = [(small("u1", 6, 3, 8), "constant"), (real(18), "constant")]
    bits = dict(K=40, N=6, bits=4, block_size=16)
    yield "MatMulNBits", [real(2, 40), *packed], 1, bits
    yield "MatMulNBits", [real(2, 40), *packed, (small("u1", 12), "constant")], 1, bits
    yield from recurrent_cases()
    ml = "ai.onnx.ml:"
    yield ml + "Scaler", [real(3, 2)], 1, dict(offset=[0.5, -1.0], scale=[2.0, 0.1])
    yield ml + "Scaler", [real(3, 2)], 1, dict(offset=[0.5], scale=[2.0])
    for norm in ["MAX", "L1", "L2"]:
        yield ml + "Normalizer", [abs(real(3, 4))], 1, dict(norm=norm)
    yield ml + "Binarizer", [real(3, 4)], 1, dict(threshold=0.2)
    yield ml + "ArrayFeatureExtractor", [real(3, 4), number([2, 0], "i8")], 1, {}
    yield ml + "LinearRegressor", [real(3, 2)], 1, dict(targets=3, coefficients=list(map(float, real(6))),
                                                        intercepts=[1.0, 2.0, 3.0])


def recurrent_cases():
    """Yields layers with one sequence, because onnxruntime may quantise each row of a batch by itself."""
    for direction, count in [("forward", 1), ("reverse", 1), ("bidirectional", 2)]:
        weights = [(small("i1", count, 5, 16), "constant"), (small("i1", count, 4, 16), "constant")]
        scales = [(real(count) ** 2 / 200 + 1e-3, "constant"), (small("i1", count) // 8, "constant")] * 2
        attributes = dict(direction=direction, hidden_size=4)
        yield "DynamicQuantizeLSTM", [real(6, 1, 5), *weights, real(count, 32), None, None, None, None, *scales], 3, (
            attributes)
        per_column = [(real(count, 16) ** 2 / 200 + 1e-3, "constant"), (small("i1", count, 16) * 0, "constant")] * 2
        yield "DynamicQuantizeLSTM", [real(6, 1, 5), *weights, real(count, 32), number([4], "i4"), real(count, 1, 4),
                                      real(count, 1, 4), real(count, 12), *per_column], 3, attributes


def save_case(op, given, n_outputs, attributes, path):
    names, inputs, constants = [], {}, {}
    for i, x in enumerate(given):
        names.append("" if x is None else f"x{i}")
        if isinstance(x, tuple):
            constants[f"x{i}"] = x[0]
        elif x is not None:
            inputs[f"x{i}"] = x
    domain, _, op = op.rpartition(":")
    outputs = [f"y{i}" for i in range(n_outputs)]
    node = helper.make_node(op, names, outputs, domain=domain or MICROSOFT, **attributes)
    save([node], inputs, constants, n_outputs, path)
    return inputs


def network(path):
    """Saves a small convolutional network with a residual connection."""
    nodes = [helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c0"], ["r0"]),
             helper.make_node("Conv", ["r0", "w1", "b1"], ["c1"], pads=[1, 1, 1, 1]),
             helper.make_node("Add", ["c1", "r0"], ["sum"]),
             helper.make_node("Sigmoid", ["sum"], ["s"]),
             helper.make_node("Concat", ["s", "r0"], ["joined"], axis=1),
             helper.make_node("GlobalAveragePool", ["joined"], ["pooled"]),
             helper.make_node("Flatten", ["pooled"], ["flat"]),
             helper.make_node("Gemm", ["flat", "w2", "b2"], ["y0"], transB=1)]
    constants = {"w0": real(4, 3, 3, 3), "b0": real(4), "w1": real(4, 4, 3, 3), "b1": real(4), "w2": real(5, 8),
                 "b2": real(5)}
    save(nodes, {"x": real(2, 3, 8, 8)}, constants, 1, path)


class Calibration(quantization.CalibrationDataReader):
    def __init__(self):
        self.left = [{"x": real(2, 3, 8, 8)} for _ in range(4)]

    def get_next(self):
        return self.left.pop() if self.left else None


def quantized_models(folder):
    """Quantises the network in each mode of onnxruntime's quantiser."""
    network(folder / "network.onnx")
    source = str(folder / "network.onnx")
    quantization.quantize_dynamic(source, str(folder / "dynamic.onnx"))
    yield folder / "dynamic.onnx"
    for name, style in [("qdq", quantization.QuantFormat.QDQ), ("qoperator", quantization.QuantFormat.QOperator)]:
        for per_channel in [False, True]:
            path = folder / f"{name}{'_per_channel' * per_channel}.onnx"
            quantization.quantize_static(source, str(path), Calibration(), quant_format=style,
                                         per_channel=per_channel)
            yield path


def distance(tenon, model, device, inputs):
    """Returns the difference between Tenon's and onnxruntime's results, divided by the tolerance.
    """
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        folder, arguments = pathlib.Path(folder), []
        for name, value in inputs.items():
            numpy.save(folder / f"in_{name}.npy", value)
            arguments += ["--input", f"{name}={folder / f'in_{name}.npy'}"]
        done = subprocess.run([tenon, "run", str(model), "--device", device, "--output", str(folder), *arguments],
                              capture_output=True, text=True)
        if done.returncode != 0:
            return numpy.inf, done.stderr.strip()
        for name, want in zip(names, session.run(names, inputs)):
            got = numpy.load(folder / f"{name}.npy")
            if got.shape != want.shape or got.dtype != want.dtype:
                return numpy.inf, f"got {got.dtype}{got.shape}, want {want.dtype}{want.shape}"
            allowed = TOLERANCE * abs(want).max() if want.dtype.kind == "f" else 1
            worst = max(worst, abs(got.astype("f8") - want.astype("f8")).max() / allowed)
    return worst, ""


def main():
    tenon, failed, count = sys.argv[1], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tests = []
        for i, (op, given, n_outputs, attributes) in enumerate([*cases(), *machine_learning.cases()]):
            path = folder / f"{i}_{op.split(':')[-1]}.onnx"
            tests.append((path, save_case(op, given, n_outputs, attributes, path)))
        for path in quantized_models(folder):
            tests.append((path, {"x": real(2, 3, 8, 8)}))
        for device in sys.argv[2:] or ["cpu"]:
            for path, inputs in tests:
                worst, why = distance(tenon, path, device, inputs)
                count += 1
                if not worst <= 1:
                    failed += 1
                    print(f"{path.name} on {device}: {worst:.3g} times what is allowed {why}")
    print(f"{count - failed} of {count} models agree with onnxruntime")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
