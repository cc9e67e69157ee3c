"""Reductions, and the ops of networks and linear algebra, for the bench of the ops."""

import numpy as np

from cases import FLOATS, NUMBERS, WIDE, BOOLS, Onnx, Op, Operand, images, matrix, one, three, two
from shapes import STATE, sized


def reduction(name, numpy, torch, onnx=None, dtypes=NUMBERS, values="normal", attrs=None, **more):
    constants = (np.array([-1]),) if onnx else ()
    node = onnx and Onnx(onnx, {"keepdims": 0}, constants)
    return Op(name, one(values), dtypes, numpy, torch, node, attrs or {"axes": (-1,)}, **more)


def scan(name, numpy, torch, onnx=None, dtypes=NUMBERS, values="normal", **more):
    return Op(name, one(values), dtypes, numpy, torch, onnx, {"axis": 1}, **more)


# NumPy rounds each product of half types, so prod and cumprod have twice the usual tolerance.
REDUCTIONS = [
    reduction("sum", lambda x: x.sum(-1), lambda t, x: x.sum(-1), "ReduceSum"),
    reduction("prod", lambda x: x.prod(-1), lambda t, x: x.prod(-1), "ReduceProd", FLOATS, "near_one", tolerance=2),
    reduction("max", lambda x: x.max(-1), lambda t, x: x.amax(-1), "ReduceMax"),
    reduction("min", lambda x: x.min(-1), lambda t, x: x.amin(-1), "ReduceMin"),
    reduction("mean", lambda x: x.mean(-1), lambda t, x: x.mean(-1), "ReduceMean", FLOATS, "positive"),
    reduction("any", lambda x: x.any(-1), lambda t, x: x.any(-1), None, BOOLS, "zero"),
    reduction("all", lambda x: x.all(-1), lambda t, x: x.all(-1), None, BOOLS, "one"),
    reduction("var", lambda x: x.var(-1), lambda t, x: x.var(-1, unbiased=False), None, FLOATS),
    reduction("logsumexp", None, lambda t, x: x.logsumexp(-1), "ReduceLogSumExp", FLOATS),
    reduction("l2_norm", lambda x: np.linalg.norm(x, axis=-1), lambda t, x: t.linalg.vector_norm(x, dim=-1),
              "ReduceL2", FLOATS),
    reduction("l1_norm", None, lambda t, x: t.linalg.vector_norm(x, 1, -1), "ReduceL1", FLOATS),
    reduction("sum_square", lambda x: np.square(x).sum(-1), lambda t, x: x.square().sum(-1), "ReduceSumSquare",
              FLOATS),
    reduction("log_sum", lambda x: np.log(x.sum(-1)), lambda t, x: x.sum(-1).log(), "ReduceLogSum", FLOATS,
              "positive"),
    reduction("count_nonzero", lambda x: np.count_nonzero(x, -1), lambda t, x: t.count_nonzero(x, -1), None,
              (*NUMBERS, "bool"), "sparse"),
    Op("argmax", one(), NUMBERS, lambda x: x.argmax(-1), lambda t, x: x.argmax(-1),
       Onnx("ArgMax", {"axis": -1, "keepdims": 0}), {"axis": -1}, check="chosen"),
    Op("argmin", one(), NUMBERS, lambda x: x.argmin(-1), lambda t, x: x.argmin(-1),
       Onnx("ArgMin", {"axis": -1, "keepdims": 0}), {"axis": -1}, check="chosen"),
    Op("moments", one(), FLOATS, lambda x: (x.mean(-1), x.var(-1)),
       lambda t, x: t.var_mean(x, -1, unbiased=False)[::-1], None, {"axes": (-1,)}, compare=2),
    scan("cumsum", lambda x: x.cumsum(1), lambda t, x: x.cumsum(1), Onnx("CumSum", {}, (np.array(1),))),
    scan("cumprod", lambda x: x.cumprod(1), lambda t, x: x.cumprod(1), None, FLOATS, "near_one", tolerance=2),
    scan("cummax", lambda x: np.maximum.accumulate(x, 1), lambda t, x: t.cummax(x, 1)),
    scan("cummin", lambda x: np.minimum.accumulate(x, 1), lambda t, x: t.cummin(x, 1)),
    scan("diff", lambda x: np.diff(x), lambda t, x: x.diff()),
]


def side(n):
    return matrix(n)[0]


def squares(n):
    return [Operand((side(n), side(n))), Operand((side(n), side(n)))]


def product_flops(n):
    return 2 * side(n) ** 3


def product(a, b):
    if a.dtype == np.float16:
        raise NotImplementedError("NumPy multiplies matrices of float16 element by element")
    return a @ b


def per_channel(count, *kinds):
    return [Operand((count,), kind, fixed=True) for kind in kinds]


def convolution(n):
    return [Operand(images(n, 32)), Operand((32, 32, 3, 3), "small", fixed=True)]


def convolution_flops(n):
    return 2 * 9 * 32 * n


PADS = {"pads": (1, 1, 1, 1)}
POOL = {"kernel_shape": (3, 3), "strides": (2, 2), "pads": (1, 1, 1, 1)}
NODE_POOL = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}


def pooled(n):
    return [Operand(images(n))]


def pool_gradient(n):
    """Returns the gradient of a pooling by windows of 2 by 2, and the maxima in random corners."""
    b, c, h, w = images(n)

    def maxima(draw, shape):
        corner = draw.integers(0, 2, (2, *shape))
        rows = 2 * np.arange(h // 2)[:, None] + corner[0]
        columns = 2 * np.arange(w // 2) + corner[1]
        return np.arange(b * c).reshape(b, c, 1, 1) * h * w + rows * w + columns

    shape = (b, c, h // 2, w // 2)
    return [Operand(shape), Operand(shape, maxima, "i64", True)]


def resized(n):
    return [Operand(images(n // 4))]


def double(n):
    b, c, h, w = images(n // 4)
    return b, c, 2 * h, 2 * w


def resize(name, mode, attrs, node, **torch):
    return Op(name, resized, WIDE, None,
              lambda t, x: t.nn.functional.interpolate(x, scale_factor=2.0, mode=mode, **torch),
              lambda n: Onnx("Resize", node, ("", "", np.array(double(n)))),
              lambda n: {"sizes": double(n)[2:], "axes": (2, 3)} | attrs, most=1 << 22)


def transposed_convolution(t, x, w):
    if x.dtype == t.bfloat16:
        raise NotImplementedError("PyTorch 1.13 computes wrong results on processors with AVX512-BF16")
    return t.conv_transpose2d(x, w, padding=1)


PRODUCTS = [
    Op("matmul", squares, NUMBERS, product, "matmul", "MatMul", flops=product_flops, most=1 << 20),
    Op("gemm", lambda n: [*squares(n), Operand((side(n), side(n)))], FLOATS, lambda a, b, c: product(a, b) + c,
       lambda t, a, b, c: t.addmm(c, a, b), "Gemm", flops=product_flops, most=1 << 20),
    Op("dense", lambda n: [*squares(n), *per_channel(side(n), "normal")], FLOATS,
       lambda x, w, b: product(x, w) + b, lambda t, x, w, b: t.addmm(b, x, w), "Gemm", flops=product_flops,
       most=1 << 20),
    Op("tensordot", squares, WIDE, lambda a, b: np.tensordot(a, b, 1), lambda t, a, b: t.tensordot(a, b, 1), None,
       {"axes_a": (1,), "axes_b": (0,)}, flops=product_flops, most=1 << 20),
    Op("einsum", squares, WIDE, lambda a, b: np.einsum("ij,kj->ik", a, b, optimize=True),
       lambda t, a, b: t.einsum("ij,kj->ik", a, b), Onnx("Einsum", {"equation": "ij,kj->ik"}),
       {"equation": "ij,kj->ik"}, variadic=True, flops=product_flops, most=1 << 20),
    # Values below 128, because onnxruntime saturates pairs of products on processors without VNNI.
    Op("int8_matmul", lambda n: [Operand((side(n), side(n)), ("index", 128), "u8"),
                                 Operand((side(n), side(n)), "byte", "i8")], ("i8",), None, None, "MatMulInteger",
       flops=product_flops, most=1 << 20),
    Op("conv", convolution, FLOATS, None, lambda t, x, w: t.conv2d(x, w, padding=1), Onnx("Conv", {"pads": [1] * 4}),
       PADS, flops=convolution_flops, most=1 << 22),
    Op("conv_backward_input", convolution, FLOATS, None,
       lambda t, dy, w: t.nn.grad.conv2d_input(dy.shape, w, dy, padding=1),
       None, lambda n: PADS | {"shape": images(n, 32)}, flops=convolution_flops, most=1 << 22),
    Op("conv_backward_filter", lambda n: [Operand(images(n, 32)), Operand(images(n, 32))], FLOATS, None,
       lambda t, x, dy: t.nn.grad.conv2d_weight(x, (32, 32, 3, 3), dy, padding=1), None,
       PADS | {"shape": (32, 32, 3, 3)}, flops=convolution_flops, most=1 << 22, tolerance=3),
    Op("conv_transpose", convolution, FLOATS, None, transposed_convolution,
       Onnx("ConvTranspose", {"pads": [1] * 4}), PADS, flops=convolution_flops, most=1 << 22),
    Op("depthwise", lambda n: [Operand(images(n)), Operand((16, 1, 3, 3), fixed=True)], FLOATS, None,
       lambda t, x, w: t.conv2d(x, w, padding=1, groups=16), Onnx("Conv", {"pads": [1] * 4, "group": 16}), PADS,
       flops=lambda n: 18 * n, most=1 << 22),
    Op("max_pool", pooled, NUMBERS, None, lambda t, x: t.max_pool2d(x, 3, 2, 1), Onnx("MaxPool", NODE_POOL), POOL),
    Op("max_pool_backward", pool_gradient, FLOATS, None,
       lambda t, dy, i: dy.new_zeros(4 * dy.numel()).index_copy_(0, i.reshape(-1), dy.reshape(-1)), None,
       lambda n: {"shape": images(n)}, check="flat"),
    Op("window_sum", pooled, FLOATS, None, lambda t, x: t.nn.functional.avg_pool2d(x, 3, 2, 1, divisor_override=1),
       None, POOL),
    Op("avg_pool", pooled, FLOATS, None,
       lambda t, x: t.nn.functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False), Onnx("AveragePool", NODE_POOL),
       POOL),
    Op("lp_pool", pooled, WIDE, None, lambda t, x: t.nn.functional.lp_pool2d(x, 2.0, 3, 2), None,
       {"kernel_shape": (3, 3), "strides": (2, 2)}),
    Op("global_avg_pool", pooled, FLOATS, lambda x: x.mean((2, 3), keepdims=True),
       lambda t, x: x.mean((2, 3), keepdim=True), "GlobalAveragePool"),
    Op("global_max_pool", pooled, FLOATS, lambda x: x.max((2, 3), keepdims=True),
       lambda t, x: x.amax((2, 3), keepdim=True), "GlobalMaxPool"),
    Op("global_lp_pool", pooled, FLOATS, None,
       lambda t, x: t.linalg.vector_norm(x, dim=(2, 3), keepdim=True), Onnx("GlobalLpPool", {"p": 2}), tolerance=2),
    resize("resize_nearest", "nearest", {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
           {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
    resize("resize_linear", "bilinear", {}, {"mode": "linear"}, align_corners=False),
    resize("resize_cubic", "bicubic", {}, {"mode": "cubic"}, align_corners=False),
]


def channels(n, *kinds):
    return [Operand(images(n)), *per_channel(16, *kinds)]


def last_axis(n, *kinds):
    return [Operand(matrix(n)), *per_channel(matrix(n)[1], *kinds)]


NORMS = [
    Op("batch_norm", lambda n: channels(n, "normal", "normal", "normal", "positive"), FLOATS, None,
       lambda t, x, s, b, m, v: t.nn.functional.batch_norm(x, m, v, s, b), "BatchNormalization"),
    Op("batch_norm_train", lambda n: channels(n, "normal", "normal", "normal", "positive"), WIDE, None,
       lambda t, x, s, b, m, v: t.nn.functional.batch_norm(x, m.clone(), v.clone(), s, b, True, 0.1)),
    Op("layer_norm", lambda n: last_axis(n, "normal", "normal"), FLOATS, None,
       lambda t, x, s, b: t.nn.functional.layer_norm(x, s.shape, s, b), "LayerNormalization"),
    Op("rms_norm", lambda n: last_axis(n, "normal"), FLOATS, None,
       lambda t, x, s: x * t.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5) * s, Onnx("RMSNormalization", opset=23)),
    Op("group_norm", lambda n: channels(n, "normal", "normal"), FLOATS, None,
       lambda t, x, s, b: t.nn.functional.group_norm(x, 4, s, b), Onnx("GroupNormalization", {"num_groups": 4}),
       {"num_groups": 4}),
    Op("instance_norm", lambda n: channels(n, "normal", "normal"), FLOATS, None,
       lambda t, x, s, b: t.nn.functional.instance_norm(x, None, None, s, b), "InstanceNormalization"),
    Op("lrn", lambda n: channels(n), WIDE, None, lambda t, x: t.nn.functional.local_response_norm(x, 5, 0.1),
       Onnx("LRN", {"size": 5, "alpha": 0.1}), {"size": 5, "alpha": 0.1}, most=1 << 22),
    Op("l2_normalize", one(), FLOATS, None, lambda t, x: t.nn.functional.normalize(x, dim=-1),
       Onnx("LpNormalization", {"axis": -1, "p": 2})),
    Op("mean_variance_normalization", lambda n: channels(n), WIDE, None,
       lambda t, x: (x - x.mean((0, 2, 3), keepdim=True)) / x.std((0, 2, 3), unbiased=False, keepdim=True),
       "MeanVarianceNormalization"),
]


def recurrent(gates, biases):
    """Returns the inputs of a network of 32 * 128 features and states with n elements of input."""

    def inputs(n):
        return [Operand((n // 4096, 32, 128)), Operand((1, gates * 128, 128), "small", fixed=True),
                Operand((1, gates * 128, 128), "small", fixed=True), Operand((1, biases * 128), fixed=True)]

    return inputs


def cell(gates, biases, states):
    def inputs(n):
        return [Operand((n // 256, 256)) for _ in range(1 + states)] + [
            Operand((gates * 256, 256), "small", fixed=True), Operand((gates * 256, 256), "small", fixed=True),
            Operand((biases * 256,), fixed=True)]

    return inputs


def gates_in_order(order, first):
    """Returns a function that reorders the gates of weights from ONNX's order to torch's."""

    def reorder(*arrays):
        def moved(x):
            return np.concatenate([np.split(x, len(order))[gate] for gate in order])

        *states, w, r, b = arrays
        wb, rb = np.split(b, 2)
        return [*states, moved(w), moved(r), np.concatenate([moved(wb), moved(rb)])]

    return reorder


def biases(b):
    return b[:b.shape[0] // 2], b[b.shape[0] // 2:]


def recurrent_flops(gates):
    return lambda n: 2 * n * 2 * gates * 128


def rotated(t, x, cos, sin):
    a, b = x.chunk(2, -1)
    cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
    return t.cat((a * cos - b * sin, a * sin + b * cos), -1)


def attended(t, q, k, v):
    return t.matmul(t.softmax(t.matmul(q, k.transpose(-1, -2)) * 0.125, -1), v)


def multi_head(t, x, wq, wk, wv, wo):
    def heads(w):
        return t.matmul(x, w).unflatten(-1, (4, 64)).transpose(1, 2)

    return t.matmul(attended(t, heads(wq), heads(wk), heads(wv)).transpose(1, 2).flatten(2), wo)


NETWORKS = [
    Op("attention", lambda n: [Operand((n // 32768, 1, 512, 64)) for _ in range(3)], FLOATS, None, attended,
       Onnx("Attention", opset=23), flops=lambda n: 4 * n * 512, most=1 << 22),
    Op("multi_head_attention",
       lambda n: [Operand((n // 32768, 128, 256)), *[Operand((256, 256), "small", fixed=True) for _ in range(4)]],
       WIDE, None, multi_head, None, {"num_heads": 4},
       call=lambda tn, x: tn.multi_head_attention(x[0], *x[:1] * 2, *x[1:], num_heads=4),
       flops=lambda n: 2 * n * (4 * 256 + 2 * 128), most=1 << 22),
    Op("rotary_embedding", lambda n: [Operand((n // 65536, 8, 128, 64)), Operand((n // 65536, 128, 32)),
                                      Operand((n // 65536, 128, 32))], WIDE, None, rotated, Onnx("RotaryEmbedding", opset=23)),
    Op("lstm", recurrent(4, 8), WIDE, None, None, Onnx("LSTM", {"hidden_size": 128}), flops=recurrent_flops(4), most=1 << 20, strided=False),
    Op("gru", recurrent(3, 6), WIDE, None, None, Onnx("GRU", {"hidden_size": 128, "linear_before_reset": 1}),
       {"linear_before_reset": True}, flops=recurrent_flops(3), most=1 << 20, strided=False),
    Op("rnn", recurrent(1, 2), WIDE, None, None, Onnx("RNN", {"hidden_size": 128}), flops=recurrent_flops(1), most=1 << 20, strided=False),
    Op("lstm_cell", cell(4, 8, 2), WIDE, None,
       lambda t, x, h, c, w, r, b: t.lstm_cell(x, (h, c), w, r, *biases(b)), flops=recurrent_flops(8), most=1 << 18,
       to_peer=gates_in_order((0, 2, 3, 1), 3), strided=False),
    Op("gru_cell", cell(3, 6, 1), WIDE, None, lambda t, x, h, w, r, b: t.gru_cell(x, h, w, r, *biases(b)), None,
       {"linear_before_reset": True}, flops=recurrent_flops(6), most=1 << 18,
       to_peer=gates_in_order((1, 0, 2), 2), strided=False),
    Op("rnn_cell", cell(1, 2, 1), WIDE, None, lambda t, x, h, w, r, b: t.rnn_tanh_cell(x, h, w, r, *biases(b)),
       flops=recurrent_flops(2), most=1 << 18, strided=False),
    Op("dropout", lambda n: [Operand(matrix(n)), STATE], FLOATS, None,
       lambda t, x, s: t.nn.functional.dropout(x, 0.5, True), check="moments"),
]


def loss(name, torch, second="normal", numpy=None, onnx=None, dtypes=FLOATS, **more):
    return Op(name, two("normal", second), dtypes, numpy, torch, onnx, **more)


def functional(name, **attrs):
    def call(t, x, *more):
        if x.dtype == t.float16:
            raise NotImplementedError("torch adds losses in float16, and the sum overflows")
        return getattr(t.nn.functional, name)(x, *more, **attrs)

    return call


def classes(n):
    return [Operand((n // 64, 64)), Operand((n // 64,), ("index", 64), "i64", True)]


LOSSES = [
    loss("mse", functional("mse_loss"), numpy=lambda x, y: np.square(x - y).mean()),
    loss("mae", functional("l1_loss"), numpy=lambda x, y: np.abs(x - y).mean()),
    loss("bce_with_logits", functional("binary_cross_entropy_with_logits"), "probability"),
    Op("softmax_cross_entropy", lambda n: [Operand((n // 64, 64)), Operand((n // 64, 64), "distribution")], FLOATS,
       None, functional("cross_entropy")),
    Op("sparse_softmax_cross_entropy", classes, FLOATS, None, functional("cross_entropy"),
       "SoftmaxCrossEntropyLoss"),
    Op("nll", classes, FLOATS, None, functional("nll_loss"), "NegativeLogLikelihoodLoss"),
    loss("huber", functional("huber_loss")),
    loss("kl_div", functional("kl_div", reduction="mean"), "probability"),
    Op("cosine_similarity", two(), FLOATS, None, lambda t, a, b: t.cosine_similarity(a, b, -1), None, {"axis": -1}),
    loss("hinge", lambda t, x, y: (1 - x * y).clamp_min(0).mean(), numpy=lambda x, y: np.maximum(1 - x * y, 0).mean()),
]


def optimizer(name, states, torch, step=False, **more):
    """Describes an optimizer's step. torch computes the new parameter and the new states."""
    kinds = ("normal", "normal", *["positive"] * states)

    def inputs(n):
        return [*three(*kinds)(n), *([Operand((), 3, "i32")] if step else []), Operand((), 0.01)]

    return Op(name, inputs, ("f32", "f64", "bf16"), None, torch, compare=1 + states, **more)


def adam(t, p, g, m, v, step, lr, decay=0.0):
    m = m * 0.9 + 0.1 * g
    v = v * 0.999 + 0.001 * g * g
    return p - 0.01 * (m / (1 - 0.9 ** 3) / ((v / (1 - 0.999 ** 3)).sqrt() + 1e-8) + decay * p), m, v


def momentum(t, p, g, v, lr):
    v = 0.9 * v + g
    return p - 0.01 * v, v


def rmsprop(t, p, g, s, lr):
    s = 0.9 * s + 0.1 * g * g
    return p - 0.01 * g / (s.sqrt() + 1e-7), s


def adagrad(t, p, g, s, lr):
    s = s + g * g
    return p - 0.01 * g / (s.sqrt() + 1e-6), s


def lamb(t, p, g, m, v, step, lr):
    m = m * 0.9 + 0.1 * g
    v = v * 0.999 + 0.001 * g * g
    d = m / (1 - 0.9 ** 3) / ((v / (1 - 0.999 ** 3)).sqrt() + 1e-6) + 0.01 * p
    return p - 0.01 * (p.norm() / d.norm()) * d, m, v


OPTIMIZERS = [
    optimizer("sgd", 0, lambda t, p, g, lr: t.add(p, g, alpha=-0.01)),
    optimizer("momentum", 1, momentum),
    optimizer("rmsprop", 1, rmsprop),
    optimizer("adagrad", 1, adagrad),
    optimizer("adam", 2, adam, True),
    optimizer("adamw", 2, lambda t, *x: adam(t, *x, decay=0.01), True),
    optimizer("lamb", 2, lamb, True, tolerance=3),
]

SCALE = Operand((), 0.02, "f32")
ZERO = Operand((), 100, "u8")

QUANTISED = [
    Op("quantize_linear", lambda n: [Operand(matrix(n)), SCALE, ZERO], ("f32",), None,
       lambda t, x, s, z: t.quantize_per_tensor(x, 0.02, 100, t.quint8).int_repr(), "QuantizeLinear",
       {"output_dtype": "u8"}),
    Op("dequantize_linear", lambda n: [Operand(matrix(n), ("index", 256), "u8"), SCALE, ZERO], ("u8",),
       lambda x, s, z: (x.astype("f4") - 100) * s, None, "DequantizeLinear"),
    Op("fake_quantize", lambda n: [Operand(matrix(n)), SCALE, ZERO], ("f32",), None,
       lambda t, x, s, z: t.fake_quantize_per_tensor_affine(x, 0.02, 100, 0, 255)),
]


def systems(*kinds):
    """Returns batches of matrices of 64 by 64."""
    return lambda n: [Operand((n // 4096, 64, 64), kind) for kind in kinds]


def linalg(name, numpy, torch, kinds=("regular",), flops=None, **more):
    return Op(name, systems(*kinds), WIDE, numpy, torch, flops=lambda n: (flops or 1) * 64 * n, most=1 << 18, **more)


LINALG = [
    linalg("cholesky", np.linalg.cholesky, lambda t, x: t.linalg.cholesky(x), ("positive_definite",), 1 / 3),
    linalg("triangular_solve", None, lambda t, a, b: t.linalg.solve_triangular(a, b, upper=False),
           ("regular", "normal")),
    linalg("qr", lambda x: np.linalg.qr(x), lambda t, x: t.linalg.qr(x), flops=4 / 3, check="absolute", compare=(1,)),
    linalg("svd", lambda x: np.linalg.svd(x), lambda t, x: t.linalg.svd(x), flops=20, compare=(1,)),
    linalg("eigh", lambda x: np.linalg.eigh(x), lambda t, x: t.linalg.eigh(x), ("positive_definite",), 9,
           compare=(0,)),
    linalg("solve", np.linalg.solve, lambda t, a, b: t.linalg.solve(a, b), ("regular", "normal"), 8 / 3),
    linalg("inv", np.linalg.inv, lambda t, x: t.linalg.inv(x), flops=2),
    linalg("det", np.linalg.det, lambda t, x: t.linalg.det(x), ("orthogonal",), 2 / 3, tolerance=10),
    linalg("slogdet", np.linalg.slogdet, lambda t, x: t.linalg.slogdet(x), flops=2 / 3, compare=2),
]

OPS = REDUCTIONS + PRODUCTS + NORMS + NETWORKS + LOSSES + OPTIMIZERS + QUANTISED + LINALG
