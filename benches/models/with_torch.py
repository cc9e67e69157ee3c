"""Runs a convolutional network from an ONNX file with PyTorch."""

import numpy as np
import onnx
from onnx import helper, numpy_helper


def prepare(torch, path, threads):
    """Returns a function that takes the input as an array and returns the output as an array."""
    graph = onnx.load(path).graph
    torch.set_num_threads(threads)

    def tensor(array):
        return torch.from_dlpack(np.array(array, copy=True))

    weights = {each.name: tensor(numpy_helper.to_array(each)) for each in graph.initializer}
    functional = torch.nn.functional

    def conv(x, w, b, *, strides, pads, group=1, **_):
        return functional.conv2d(x, w, b, strides, pads[:2], 1, group)

    ops = {
        "Conv": conv,
        "Relu": functional.relu,
        "Add": torch.add,
        "MaxPool": lambda x, *, kernel_shape, strides, pads: functional.max_pool2d(x, kernel_shape, strides, pads[:2]),
        "GlobalAveragePool": lambda x: x.mean((2, 3), keepdim=True),
        "Flatten": lambda x: x.flatten(1),
        "Gemm": lambda x, w, b, *, transB: functional.linear(x, w, b),
    }
    steps = [(ops[node.op_type], node.input, node.output[0],
              {each.name: helper.get_attribute_value(each) for each in node.attribute}) for node in graph.node]

    def run(array):
        with torch.inference_mode():
            values = {**weights, graph.input[0].name: tensor(array)}
            for op, inputs, output, attributes in steps:
                values[output] = op(*(values[name] for name in inputs), **attributes)
            return np.from_dlpack(values[graph.output[0].name])

    return run
