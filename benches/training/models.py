"""The models of the training bench, written once with the ops of Tenon and once with PyTorch's.

A model has named parameters, inputs, and two functions that compute the loss. The parameters `mean`
and `var` of batch normalisation are state: the forward pass updates them.
"""

from dataclasses import dataclass

import numpy as np

import tenon as tn


@dataclass
class Model:
    """A model, its parameters and a batch.

    tenon: Called with the variables by name and the inputs. Returns the loss.
    torch: Called with the module torch, the parameters by name and the inputs. Returns the loss.
    state: The names of the parameters without gradient.
    to_torch: Maps names and arrays of parameters to those of PyTorch, where they differ.
    """

    parameters: dict
    inputs: tuple
    tenon: object
    torch: object
    state: tuple = ()
    to_torch: object = staticmethod(lambda parameters: parameters)


def generator():
    return np.random.default_rng(45)


def normal(draw, *shape):
    """Returns weights that keep the scale of activations. The last axes are those of one output."""
    fan_in = shape[0] if len(shape) == 2 else int(np.prod(shape[1:]))
    return (draw.standard_normal(shape) * np.sqrt(2 / fan_in)).astype("f4")


def labels(draw, batch):
    return draw.integers(0, 10, batch)


def tenon_loss(logits, target):
    return tn.sparse_softmax_cross_entropy(logits, target)[0]


def torch_loss(t, logits, target):
    return t.nn.functional.cross_entropy(logits, target)


def mlp():
    """784-256-128-10 with a batch of 64."""
    draw, sizes = generator(), (784, 256, 128, 10)
    parameters = {}
    for at, (rows, columns) in enumerate(zip(sizes, sizes[1:])):
        parameters[f"w{at}"] = normal(draw, rows, columns)
        parameters[f"b{at}"] = np.zeros(columns, "f4")

    def tenon(p, x, target):
        for at in range(3):
            x = x @ p[f"w{at}"] + p[f"b{at}"]
            x = tn.relu(x) if at < 2 else x
        return tenon_loss(x, target)

    def torch(t, p, x, target):
        for at in range(3):
            x = t.addmm(p[f"b{at}"], x, p[f"w{at}"])
            x = t.relu(x) if at < 2 else x
        return torch_loss(t, x, target)

    return Model(parameters, (draw.standard_normal((64, 784)).astype("f4"), labels(draw, 64)), tenon, torch)


def convnet():
    """Two convolutions with 16 and 32 channels on 64 images of 28 by 28."""
    draw = generator()
    parameters = {"w0": normal(draw, 16, 1, 3, 3), "b0": np.zeros(16, "f4"), "w1": normal(draw, 32, 16, 3, 3),
                  "b1": np.zeros(32, "f4"), "w2": normal(draw, 32 * 49, 10), "b2": np.zeros(10, "f4")}

    def tenon(p, x, target):
        for at in range(2):
            x = tn.relu(tn.conv(x, p[f"w{at}"], p[f"b{at}"], pads=(1, 1, 1, 1)))
            x = tn.max_pool(x, kernel_shape=(2, 2), strides=(2, 2))[0]
        return tenon_loss(tn.flatten(x) @ p["w2"] + p["b2"], target)

    def torch(t, p, x, target):
        for at in range(2):
            x = t.max_pool2d(t.relu(t.conv2d(x, p[f"w{at}"], p[f"b{at}"], padding=1)), 2)
        return torch_loss(t, t.addmm(p["b2"], x.flatten(1), p["w2"]), target)

    return Model(parameters, (draw.standard_normal((64, 1, 28, 28)).astype("f4"), labels(draw, 64)), tenon, torch)


def resnet20():
    """ResNet-20 on 32 images of 32 by 32."""
    draw, parameters, state = generator(), {}, []

    def convolution(name, inputs, outputs, side=3):
        parameters[f"{name}.w"] = normal(draw, outputs, inputs, side, side)
        parameters[f"{name}.scale"], parameters[f"{name}.bias"] = np.ones(outputs, "f4"), np.zeros(outputs, "f4")
        parameters[f"{name}.mean"], parameters[f"{name}.var"] = np.zeros(outputs, "f4"), np.ones(outputs, "f4")
        state.extend((f"{name}.mean", f"{name}.var"))

    blocks = []  # Names, and the stride of each block.
    convolution("first", 3, 16)
    channels = 16
    for stage, width in enumerate((16, 32, 64)):
        for block in range(3):
            name, stride = f"s{stage}b{block}", 2 if stage and not block else 1
            convolution(f"{name}c0", channels, width)
            convolution(f"{name}c1", width, width)
            if stride == 2:
                convolution(f"{name}skip", channels, width, 1)
            blocks.append((name, stride))
            channels = width
    parameters["w"], parameters["b"] = normal(draw, 64, 10), np.zeros(10, "f4")

    def forward(x, layer, relu):
        x = relu(layer("first", x, 1, 1))
        for name, stride in blocks:
            y = layer(f"{name}c1", relu(layer(f"{name}c0", x, stride, 1)), 1, 1)
            x = relu(y + (layer(f"{name}skip", x, stride, 0) if stride == 2 else x))
        return x

    def tenon(p, x, target):
        def layer(name, x, stride, pad):
            y = tn.conv(x, p[f"{name}.w"], strides=(stride, stride), pads=(pad,) * 4)
            y, mean, var, *_ = tn.batch_norm_train(y, *(p[f"{name}.{key}"] for key in ("scale", "bias", "mean", "var")))
            p[f"{name}.mean"].assign(mean)
            p[f"{name}.var"].assign(var)
            return y

        x = tn.mean(forward(x, layer, tn.relu), axes=(2, 3))
        return tenon_loss(x @ p["w"] + p["b"], target)

    def torch(t, p, x, target):
        def layer(name, x, stride, pad):
            y = t.conv2d(x, p[f"{name}.w"], None, stride, pad)
            return t.nn.functional.batch_norm(y, p[f"{name}.mean"], p[f"{name}.var"], p[f"{name}.scale"],
                                              p[f"{name}.bias"], True, 0.1)

        x = forward(x, layer, t.relu).mean((2, 3))
        return torch_loss(t, t.addmm(p["b"], x, p["w"]), target)

    return Model(parameters, (draw.standard_normal((32, 3, 32, 32)).astype("f4"), labels(draw, 32)), tenon, torch,
                 tuple(state))


def lstm():
    """An LSTM of width 256 over 32 steps of 32 sequences."""
    draw, n = generator(), 256
    parameters = {"w": normal(draw, 1, 4 * n, n) * 8, "r": normal(draw, 1, 4 * n, n) * 8,
                  "b": np.zeros((1, 8 * n), "f4"), "v": normal(draw, n, 10), "c": np.zeros(10, "f4")}

    def tenon(p, x, target):
        y = tn.lstm(x, p["w"], p["r"], p["b"])
        return tenon_loss(tn.squeeze(y[1], (0,)) @ p["v"] + p["c"], target)

    def torch(t, p, x, target):
        zero = x.new_zeros(1, x.shape[1], n)
        h = t.lstm(x, (zero, zero), [p["w"], p["r"], p["b"], p["b2"]], True, 1, 0.0, True, False, False)[1]
        return torch_loss(t, t.addmm(p["c"], h[0], p["v"]), target)

    def to_torch(parameters):
        # The gates are in the order input, output, forget, cell; PyTorch's are input, forget, cell, output.
        def moved(x):
            return np.ascontiguousarray(np.concatenate([np.split(x, 4)[gate] for gate in (0, 2, 3, 1)]))

        w, r = moved(parameters["w"][0]), moved(parameters["r"][0])
        return {**parameters, "w": w, "r": r, "b": parameters["b"][0, :4 * n].copy(),
                "b2": parameters["b"][0, 4 * n:].copy()}

    return Model(parameters, (draw.standard_normal((32, 32, n)).astype("f4"), labels(draw, 32)), tenon, torch,
                 to_torch=to_torch)


def transformer():
    """A transformer block of width 256 with 4 heads on 8 sequences of 128."""
    draw, n = generator(), 256
    parameters = {name: normal(draw, n, n) / 2 for name in ("q", "k", "v", "o")}
    parameters |= {"w1": normal(draw, n, 4 * n), "b1": np.zeros(4 * n, "f4"), "w2": normal(draw, 4 * n, n) / 2,
                   "b2": np.zeros(n, "f4")}
    for name in ("first", "second"):
        parameters |= {f"{name}.scale": np.ones(n, "f4"), f"{name}.bias": np.zeros(n, "f4")}

    def tenon(p, x, target):
        def heads(name):
            return tn.transpose(tn.reshape(y @ p[name], (8, 128, 4, 64)), (0, 2, 1, 3))

        y = tn.layer_norm(x, p["first.scale"], p["first.bias"])[0]
        y = tn.attention(heads("q"), heads("k"), heads("v"))
        x = x + tn.reshape(tn.transpose(y, (0, 2, 1, 3)), (8, 128, n)) @ p["o"]
        y = tn.layer_norm(x, p["second.scale"], p["second.bias"])[0]
        x = x + tn.gelu(y @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]
        return tn.mse(x, target)

    def torch(t, p, x, target):
        def norm(name, x):
            return t.nn.functional.layer_norm(x, (n,), p[f"{name}.scale"], p[f"{name}.bias"])

        def heads(name):
            return t.matmul(y, p[name]).reshape(8, 128, 4, 64).transpose(1, 2)

        y = norm("first", x)
        weights = t.softmax(t.matmul(heads("q"), heads("k").transpose(-1, -2)) * 0.125, -1)
        x = x + t.matmul(t.matmul(weights, heads("v")).transpose(1, 2).reshape(8, 128, n), p["o"])
        y = t.nn.functional.gelu(t.matmul(norm("second", x), p["w1"]) + p["b1"])
        return t.nn.functional.mse_loss(x + t.matmul(y, p["w2"]) + p["b2"], target)

    return Model(parameters, tuple(draw.standard_normal((8, 128, n)).astype("f4") for _ in range(2)), tenon, torch)


MODELS = {"mlp": mlp, "convnet": convnet, "resnet20": resnet20, "lstm": lstm, "transformer": transformer}
