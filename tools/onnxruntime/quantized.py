"""Quantises a convolutional network and a transformer in each mode of onnxruntime's quantiser, and
compares Tenon with onnxruntime.

    quantized.py TENON [DEVICE...]

TENON is the path of the command `tenon`. Each model runs on each device (by default cpu) and after
`tenon convert`, in onnxruntime. onnxruntime's fused kernels for quantised ops round at other places
than the ops' definitions, so its optimiser is turned off. Outputs must agree within 1e-4 of the
largest magnitude.
"""

import pathlib
import sys
import tempfile

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import quantization
from onnxruntime.quantization import QuantFormat
from published import agrees, convert, run, session_of

random = numpy.random.default_rng(4800)


def real(*shape):
    return random.standard_normal(shape).astype("f4")


def weight(*shape):
    """Returns weights that keep the magnitude of activations."""
    fan_in = numpy.prod(shape[1:]) if len(shape) == 4 else shape[0]
    return real(*shape) / numpy.float32(numpy.sqrt(fan_in))


def save(nodes, x, constants, path):
    graph = helper.make_graph(nodes, path.stem, [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(value, name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(onnx.shape_inference.infer_shapes(model), path)


def convolutional(path):
    """Saves a network with residual connections. The second block has more than 256 products in
    each sum."""
    nodes, constants = [], {"w": weight(40, 3, 3, 3), "b": real(40)}
    nodes.append(helper.make_node("Conv", ["x", "w", "b"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]))
    nodes.append(helper.make_node("Relu", ["a"], ["r0"]))
    for i in range(2):
        constants |= {f"w{i}": weight(40, 40, 3, 3), f"b{i}": real(40)}
        nodes += [helper.make_node("Conv", [f"r{i}", f"w{i}", f"b{i}"], [f"c{i}"], pads=[1, 1, 1, 1]),
                  helper.make_node("Add", [f"c{i}", f"r{i}"], [f"s{i}"]),
                  helper.make_node("Relu", [f"s{i}"], [f"r{i + 1}"])]
    constants |= {"w_out": weight(40, 10), "b_out": real(10)}
    nodes += [helper.make_node("MaxPool", ["r2"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
              helper.make_node("GlobalAveragePool", ["p"], ["g"]), helper.make_node("Flatten", ["g"], ["f"]),
              helper.make_node("Gemm", ["f", "w_out", "b_out"], ["y"])]
    save(nodes, [2, 3, 16, 16], constants, path)


def transformer(path):
    """Saves two layers of a transformer with four heads."""
    width, heads, length = 32, 4, 12
    nodes, constants = [], {"split": numpy.array([2, length, heads, width // heads], "i8"),
                            "join": numpy.array([2, length, width], "i8"),
                            "scale": numpy.array(1 / numpy.sqrt(width // heads), "f4")}

    def add(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def linear(x, name, size, out):
        constants.update({f"{name}_w": weight(size, out), f"{name}_b": real(out) / 10})
        return add("Add", [add("MatMul", [x, f"{name}_w"], f"{name}_m"), f"{name}_b"], name)

    def normal(x, name):
        constants.update({f"{name}_g": numpy.ones(width, "f4"), f"{name}_z": numpy.zeros(width, "f4")})
        return add("LayerNormalization", [x, f"{name}_g", f"{name}_z"], name, axis=-1)

    x = "x"
    for i in range(2):
        parts = {}
        for part, perm in [("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])]:
            split = add("Reshape", [linear(x, f"{part}{i}", width, width), "split"], f"{part}{i}_split")
            parts[part] = add("Transpose", [split], f"{part}{i}_heads", perm=perm)
        scores = add("Mul", [add("MatMul", [parts["q"], parts["k"]], f"qk{i}"), "scale"], f"scores{i}")
        mixed = add("MatMul", [add("Softmax", [scores], f"p{i}", axis=-1), parts["v"]], f"mixed{i}")
        joined = add("Reshape", [add("Transpose", [mixed], f"t{i}", perm=[0, 2, 1, 3]), "join"], f"joined{i}")
        x = normal(add("Add", [x, linear(joined, f"o{i}", width, width)], f"res{i}"), f"n{i}")
        wide = add("Relu", [linear(x, f"up{i}", width, 4 * width)], f"relu{i}")
        name = f"m{i}" if i == 0 else "y"
        x = normal(add("Add", [x, linear(wide, f"down{i}", 4 * width, width)], f"sum{i}"), name)
    save(nodes, [2, length, width], constants, path)


class Calibration(quantization.CalibrationDataReader):
    def __init__(self, shape):
        self.left = [{"x": real(*shape)} for _ in range(6)]

    def get_next(self):
        return self.left.pop() if self.left else None


def quantized_models(folder):
    """Yields (path, input) of each network in each mode."""
    for build, shape in [(convolutional, (2, 3, 16, 16)), (transformer, (2, 12, 32))]:
        source = folder / f"{build.__name__}.onnx"
        build(source)
        path = folder / f"{source.stem}_dynamic.onnx"
        quantization.quantize_dynamic(str(source), str(path))
        yield path, real(*shape)
        for name, style in [("qdq", QuantFormat.QDQ), ("qoperator", QuantFormat.QOperator)]:
            path = folder / f"{source.stem}_{name}.onnx"
            quantization.quantize_static(str(source), str(path), Calibration(shape), quant_format=style)
            yield path, real(*shape)


def main():
    tenon, failed = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as folder:
        for path, x in quantized_models(pathlib.Path(folder)):
            (want,) = session_of(path, optimize=False).run(["y"], {"x": x})
            ways = {device: lambda device=device: run(tenon, path, device, {"x": x}, ["y"])
                    for device in sys.argv[2:] or ["cpu"]}
            ways["converted"] = lambda: convert(tenon, path, [], {"x": x}, ["y"], optimize=False)
            for way, outputs_of in ways.items():
                failed += not agrees(f"{path.stem:26} {way:9}", outputs_of, [want])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
