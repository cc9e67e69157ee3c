"""Networks with random weights, as ONNX models: their speed does not depend on the weights.

The convolutions have biases and are not followed by batch norms, as in networks exported for
inference. He et al. 2015 (arXiv:1512.03385) describes the ResNets, Sandler et al. 2018
(arXiv:1801.04381) MobileNetV2.
"""

import numpy
from onnx import TensorProto, helper, numpy_helper


class Network:
    """Builds an ONNX graph node by node. Methods take and return names of values."""

    def __init__(self, name):
        self.name, self.nodes, self.weights = name, [], []
        self.random = numpy.random.default_rng(7)

    def node(self, op, *inputs, **attributes):
        output = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def weight(self, *shape, scale=1.0):
        name = f"weight_{len(self.weights)}"
        values = scale * self.random.standard_normal(shape).astype("f4")
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def conv(self, x, channels, filters, size, stride=1, group=1):
        fan_in = channels // group * size * size
        weight = self.weight(filters, channels // group, size, size, scale=fan_in ** -0.5)
        return self.node("Conv", x, weight, self.weight(filters, scale=0.1), kernel_shape=[size, size],
                         pads=[size // 2] * 4, strides=[stride, stride], group=group)

    def classifier(self, x, channels):
        flat = self.node("Flatten", self.node("GlobalAveragePool", x))
        return self.node("Gemm", flat, self.weight(1000, channels, scale=channels ** -0.5), self.weight(1000),
                         transB=1)

    def linear(self, x, channels, filters):
        product = self.node("MatMul", x, self.weight(channels, filters, scale=channels ** -0.5))
        return self.node("Add", product, self.weight(filters, scale=0.1))

    def constant(self, value):
        name = f"constant_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def model(self, output, input_name="image", kind=TensorProto.FLOAT, shape=(1, 3, 224, 224), out=(1, 1000)):
        value = helper.make_tensor_value_info(input_name, kind, shape)
        result = helper.make_tensor_value_info(output, TensorProto.FLOAT, out)
        graph = helper.make_graph(self.nodes, self.name, [value], [result], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def resnet(name, blocks, is_deep):
    """Returns a ResNet. Its blocks have two 3x3 convolutions or, if `is_deep`, a 1x1, a 3x3 and a
    1x1 one."""
    net = Network(name)
    relu = lambda x: net.node("Relu", x)
    x = relu(net.conv("image", 3, 64, 7, 2))
    x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for stage, count in enumerate(blocks):
        width = 64 << stage
        filters = 4 * width if is_deep else width
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            skip = x if channels == filters and stride == 1 else net.conv(x, channels, filters, 1, stride)
            if is_deep:
                x = relu(net.conv(x, channels, width, 1))
                x = net.conv(relu(net.conv(x, width, width, 3, stride)), width, filters, 1)
            else:
                x = net.conv(relu(net.conv(x, channels, width, 3, stride)), width, width, 3)
            x, channels = relu(net.node("Add", x, skip)), filters
    return net.model(net.classifier(x, channels))


def mobilenet():
    net = Network("mobilenetv2")
    low, high = net.constant(numpy.float32(0)), net.constant(numpy.float32(6))
    relu6 = lambda x: net.node("Clip", x, low, high)
    x, channels = relu6(net.conv("image", 3, 32, 3, 2)), 32
    for expansion, filters, count, first_stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                                    (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for block in range(count):
            stride, before, wide = first_stride if block == 0 else 1, x, channels * expansion
            if expansion > 1:
                x = relu6(net.conv(x, channels, wide, 1))
            x = net.conv(relu6(net.conv(x, wide, wide, 3, stride, group=wide)), wide, filters, 1)
            if stride == 1 and channels == filters:
                x = net.node("Add", x, before)
            channels = filters
    return net.model(net.classifier(relu6(net.conv(x, channels, 1280, 1)), 1280))


def minilm(length=64, width=384, heads=12, layers=6):
    """Returns the encoder of all-MiniLM-L6-v2 (Wang et al. 2020, arXiv:2002.10957), for one
    sentence without padding."""
    net = Network("minilm")
    split = net.constant(numpy.array([1, length, heads, width // heads]))
    joined = net.constant(numpy.array([1, length, width]))
    scale, root, half, one = (net.constant(numpy.float32(v)) for v in ((width / heads) ** -0.5, 2 ** 0.5, 0.5, 1.0))

    def normalised(x):
        return net.node("LayerNormalization", x, net.weight(width), net.weight(width), axis=-1, epsilon=1e-12)

    def head(x, order):
        return net.node("Transpose", net.node("Reshape", net.linear(x, width, width), split), perm=order)

    def gelu(x):
        erf = net.node("Erf", net.node("Div", x, root))
        return net.node("Mul", net.node("Mul", x, net.node("Add", erf, one)), half)

    x = normalised(net.node("Add", net.node("Gather", net.weight(30522, width), "tokens"), net.weight(length, width)))
    for _ in range(layers):
        query, key, value = head(x, [0, 2, 1, 3]), head(x, [0, 2, 3, 1]), head(x, [0, 2, 1, 3])
        weights = net.node("Softmax", net.node("Mul", net.node("MatMul", query, key), scale), axis=-1)
        mixed = net.node("Transpose", net.node("MatMul", weights, value), perm=[0, 2, 1, 3])
        x = normalised(net.node("Add", x, net.linear(net.node("Reshape", mixed, joined), width, width)))
        hidden = gelu(net.linear(x, width, 4 * width))
        x = normalised(net.node("Add", x, net.linear(hidden, 4 * width, width)))
    return net.model(x, "tokens", TensorProto.INT64, [1, length], [1, length, width])


NETWORKS = {"resnet18": lambda: resnet("resnet18", [2, 2, 2, 2], False),
            "resnet50": lambda: resnet("resnet50", [3, 4, 6, 3], True),
            "mobilenetv2": mobilenet,
            "minilm": minilm}
