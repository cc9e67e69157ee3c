"""The ops that create, view, move and index, for the bench of the ops."""

import numpy as np

from cases import ANY, FLOATS, NUMBERS, Onnx, Op, Operand, images, matrix

STATE = Operand((6,), np.array([1, 2, 3, 4, 5, 6], "u4"), fixed=True)
INT64 = "i64"


def nothing(n):
    return []


def state(n):
    return [STATE]


def creation(name, attrs, numpy, torch, dtypes=("f32",), **more):
    return Op(name, nothing, dtypes, numpy, torch, None, attrs, strided=False, **more)


def shaped(n):
    return {"shape": matrix(n), "dtype": "dtype"}


GENERATOR = np.random.Generator(np.random.Philox(1))


def sized(function):
    """Marks a peer that is called with the number of elements of the case and its dtype first."""
    function.sized = True
    return function


def rows(n):
    return [Operand(matrix(n))]


def indices(count, shape, fixed=True):
    return Operand(shape, ("index", count), INT64, fixed)


CREATION = [
    Op("fill", lambda n: [Operand((), 1.5)], NUMBERS, sized(lambda n, dtype, v: np.full(matrix(n), v)),
       sized(lambda t, n, dtype, v: t.full(matrix(n), 1 if dtype == "i32" else 1.5, dtype=v.dtype)),
       attrs=lambda n: {"shape": matrix(n)}, strided=False),
    creation("iota", lambda n: {"shape": (n,), "dtype": "i64"}, sized(lambda n, dtype: np.arange(n)),
             sized(lambda t, n, dtype: t.arange(n)), ("i64",)),
    Op("linspace", lambda n: [Operand((), 0.0), Operand((), 1.0)], ("f32", "f64"),
       sized(lambda n, dtype, a, b: np.linspace(a, b, n, dtype=a.dtype)),
       sized(lambda t, n, dtype, a, b: t.linspace(0, 1, n, dtype=a.dtype)), attrs=lambda n: {"num": n},
       strided=False),
    creation("eye", lambda n: {"rows": matrix(n)[0], "columns": matrix(n)[1]},
             sized(lambda n, dtype: np.eye(*matrix(n), dtype="f4")), sized(lambda t, n, dtype: t.eye(*matrix(n)))),
    Op("one_hot", lambda n: [indices(64, (n // 64,))], ("f32",), lambda i: np.eye(64, dtype="f4")[i],
       lambda t, i: t.nn.functional.one_hot(i, 64).float(), attrs={"depth": 64}, strided=False),
    Op("meshgrid", lambda n: [Operand((matrix(n)[0],)), Operand((matrix(n)[1],))], ("f32",),
       lambda a, b: np.meshgrid(a, b), lambda t, a, b: t.meshgrid(a, b, indexing="xy"), variadic=True,
       strided=False, compare=2, view=True),
    creation("hann_window", lambda n: {"size": n}, None, sized(lambda t, n, dtype: t.hann_window(n))),
    creation("hamming_window", lambda n: {"size": n}, None,
             sized(lambda t, n, dtype: t.hamming_window(n, True, 25 / 46, 21 / 46))),
    creation("blackman_window", lambda n: {"size": n}, None, sized(lambda t, n, dtype: t.blackman_window(n))),
    Op("rng_bits", state, ("u32",), sized(lambda n, dtype, s: GENERATOR.integers(0, 2**32, matrix(n), "u4")), None,
       attrs=lambda n: {"shape": matrix(n)}, check="moments", strided=False),
    Op("random_uniform", state, ("f32",), sized(lambda n, dtype, s: GENERATOR.random(matrix(n), "f4")),
       sized(lambda t, n, dtype, s: t.rand(matrix(n))), attrs=lambda n: {"shape": matrix(n)}, check="moments",
       strided=False),
    Op("random_normal", state, ("f32",), sized(lambda n, dtype, s: GENERATOR.standard_normal(matrix(n), "f4")),
       sized(lambda t, n, dtype, s: t.randn(matrix(n))), attrs=lambda n: {"shape": matrix(n)}, check="moments",
       strided=False),
    Op("truncated_normal", state, ("f32",), None,
       sized(lambda t, n, dtype, s: t.nn.init.trunc_normal_(t.empty(matrix(n)))),
       attrs=lambda n: {"shape": matrix(n)}, check="moments", strided=False),
    Op("random_bernoulli", lambda n: [STATE, Operand((), 0.25, "f32")], ("f32",),
       sized(lambda n, dtype, s, p: GENERATOR.random(matrix(n), "f4") < 0.25),
       sized(lambda t, n, dtype, s, p: t.empty(matrix(n), dtype=t.bool).bernoulli_(0.25)),
       attrs=lambda n: {"shape": matrix(n)}, check="moments", strided=False),
    Op("random_categorical", lambda n: [STATE, Operand((n // 64, 64), fixed=True)], ("f32",), None,
       lambda t, s, x: t.multinomial(t.softmax(x, -1), 1), attrs={"num_samples": 1}, check="moments",
       strided=False),
    Op("random_permutation", state, ("f32",), sized(lambda n, dtype, s: GENERATOR.permutation(n)),
       sized(lambda t, n, dtype, s: t.randperm(n)), attrs=lambda n: {"n": n}, check="moments", strided=False,
       most=1 << 20),
]


def view(name, attrs, numpy, torch, inputs=rows, **more):
    return Op(name, inputs, ("f32",), numpy, torch, None, attrs, view=True, strided=False, **more)


VIEWS = [
    view("reshape", {"shape": (-1,)}, lambda x: x.reshape(-1), lambda t, x: x.reshape(-1)),
    view("transpose", {"perm": (1, 0)}, lambda x: x.transpose(1, 0), lambda t, x: x.permute(1, 0)),
    view("broadcast_to", lambda n: {"shape": (4, *matrix(n))}, lambda x: np.broadcast_to(x, (4, *x.shape)),
         lambda t, x: x.expand(4, *x.shape)),
    view("squeeze", {"axes": (0,)}, lambda x: x.squeeze(0), lambda t, x: x.squeeze(0),
         lambda n: [Operand((1, *matrix(n)))]),
    view("expand_dims", {"axes": (0,)}, lambda x: np.expand_dims(x, 0), lambda t, x: x.unsqueeze(0)),
    view("slice", {"starts": (1,), "ends": (9,), "axes": (1,)}, lambda x: x[:, 1:9], lambda t, x: x[:, 1:9]),
    view("flip", {"axes": (1,)}, lambda x: np.flip(x, 1), lambda t, x: x.flip(1), most=1 << 18),
    view("split", {"axis": 1, "num_outputs": 4}, lambda x: np.split(x, 4, 1),
         lambda t, x: x.split(x.shape[1] // 4, 1)),
    view("moveaxis", {"source": (0,), "destination": (1,)}, lambda x: np.moveaxis(x, 0, 1),
         lambda t, x: x.movedim(0, 1)),
    view("bitcast", {"dtype": "i32"}, lambda x: x.view("i4"), lambda t, x: x.view(t.int32)),
    view("identity", {}, lambda x: x[...], lambda t, x: x.view_as(x)),
    view("stop_gradient", {}, None, lambda t, x: x.detach()),
    view("unstack", {"axis": 0}, lambda x: list(x), lambda t, x: x.unbind(0), lambda n: [Operand((8, n // 8))]),
    view("swapaxes", {"axis1": 0, "axis2": 1}, lambda x: x.swapaxes(0, 1), lambda t, x: x.swapaxes(0, 1)),
    view("flatten", {"axis": 1}, None, lambda t, x: x.flatten(1), lambda n: [Operand(images(n))]),
    view("diagonal", {}, lambda x: np.diagonal(x), lambda t, x: x.diagonal()),
]


def batched(n):
    return [Operand(images(n))]


def halves(n):
    r, c = matrix(n // 2)
    return [Operand((r, c)), Operand((r, c))]


def to_batch(x):
    """Computes space_to_batch with blocks of 2 by 2 for a batch of planes."""
    b, h, w = x.shape
    return x.reshape(b, h // 2, 2, w // 2, 2).transpose(2, 4, 0, 1, 3).reshape(4 * b, h // 2, w // 2)


def from_batch(x):
    b, h, w = x.shape
    return x.reshape(2, 2, b // 4, h, w).transpose(2, 3, 0, 4, 1).reshape(b // 4, 2 * h, 2 * w)


def planes(n):
    side = min(64, matrix(n)[0] // 2)
    return [Operand((n // side // side, side, side))]


def reverse_rows(x, lengths):
    y = x.copy()
    for row, length in enumerate(lengths):
        y[row, :length] = x[row, :length][::-1]
    return y


def updated(y, update):
    y[1:1 + update.shape[0], 2:2 + update.shape[1]] = update
    return y


STARTS = Operand((2,), np.array([1, 2]), INT64, True)
PAIR = {"kernel_shape": (3, 3), "pads": (1, 1, 1, 1)}

MOVES = [
    Op("copy", rows, ANY, lambda x: x.copy("C"), lambda t, x: x.clone(memory_format=t.contiguous_format)),
    Op("cast", rows, ("f32", "i32", "f16", "bf16", "bool"), lambda x: x.astype("f8", order="C"),
       lambda t, x: x.to(t.float64, memory_format=t.contiguous_format), Onnx("Cast", {"to": 11}), attrs={"to": "f64"}),
    Op("concat", halves, ANY, lambda a, b: np.concatenate((a, b), 1), lambda t, a, b: t.cat((a, b), 1),
       Onnx("Concat", {"axis": 1}), attrs={"axis": 1}, variadic=True),
    Op("stack", halves, ANY, lambda a, b: np.stack((a, b), 1), lambda t, a, b: t.stack((a, b), 1),
       attrs={"axis": 1}, variadic=True),
    Op("pad", batched, ANY, lambda x: np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))),
       lambda t, x: t.nn.functional.pad(x, (1, 1, 1, 1)), Onnx("Pad", {}, (np.array([0, 0, 1, 1] * 2),)),
       attrs={"pads": (0, 0, 1, 1) * 2}),
    Op("tile", lambda n: [Operand(matrix(n // 4))], ANY, lambda x: np.tile(x, (2, 2)), lambda t, x: x.tile((2, 2)),
       Onnx("Tile", {}, (np.array([2, 2]),)), attrs={"repeats": (2, 2)}),
    Op("tril", rows, ("f32", "f64", "i32", "bool"), np.tril, "tril", Onnx("Trilu", {"upper": 0})),
    Op("triu", rows, ("f32", "f64", "i32", "bool"), np.triu, "triu", Onnx("Trilu", {"upper": 1})),
    Op("dynamic_slice", lambda n: [Operand((matrix(n)[0] + 2, matrix(n)[1] + 4)), STARTS], ANY,
       lambda x, s: x[1:-1, 2:-2].copy("C"), lambda t, x, s: x[1:-1, 2:-2].clone(memory_format=t.contiguous_format),
       attrs=lambda n: {"sizes": matrix(n)}),
    Op("dynamic_update_slice", lambda n: [Operand(matrix(n)), Operand((64, 64)), STARTS], ANY,
       lambda x, u, s: updated(x.copy("C"), u),
       lambda t, x, u, s: updated(x.clone(memory_format=t.contiguous_format), u)),
    Op("repeat", lambda n: [Operand(matrix(n // 2))], ANY, lambda x: np.repeat(x, 2, 1),
       lambda t, x: x.repeat_interleave(2, 1), attrs={"repeats": (2,), "axis": 1}),
    Op("roll", rows, ANY, lambda x: np.roll(x, 3, 1), lambda t, x: x.roll(3, 1),
       attrs={"shifts": (3,), "axes": (1,)}),
    Op("depth_to_space", batched, ("f32", "f64"), None, lambda t, x: t.pixel_shuffle(x, 2),
       Onnx("DepthToSpace", {"blocksize": 2, "mode": "CRD"}), attrs={"blocksize": 2, "mode": "crd"}),
    Op("space_to_depth", batched, ("f32", "f64"), None, lambda t, x: t.pixel_unshuffle(x, 2),
       attrs={"blocksize": 2, "mode": "crd"}),
    Op("reverse_sequence", lambda n: [Operand(matrix(n)), Operand((matrix(n)[0],), ("index", 100), INT64, True)],
       ("f32",), reverse_rows, None, Onnx("ReverseSequence", {"batch_axis": 0, "time_axis": 1}),
       attrs={"batch_axis": 0, "time_axis": 1}),
    Op("space_to_batch", planes, ("f32",), to_batch, None, attrs={"block_shape": (2, 2)}),
    Op("batch_to_space", planes, ("f32",), from_batch, None, attrs={"block_shape": (2, 2)}),
    Op("im2col", lambda n: [Operand(images(n // 8))], FLOATS, None,
       lambda t, x: t.nn.functional.unfold(x, 3, padding=1), attrs=PAIR),
    Op("col2im", lambda n: [Operand((images(n // 8)[0], 144, images(n // 8)[2] ** 2))], FLOATS, None,
       lambda t, x: t.nn.functional.fold(x, int(x.shape[2] ** 0.5), 3, padding=1),
       lambda n: Onnx("Col2Im", {"pads": [1] * 4}, (np.array(images(n // 8)[2:]), np.array([3, 3]))),
       attrs=lambda n: PAIR | {"image_shape": images(n // 8)[2:]}),
]


def scattered(x, i, u):
    y = x.copy()
    np.put_along_axis(y, i, u, 1)
    return y


def scattered_rows(x, i, u):
    y = x.copy()
    y[i[:, 0]] = u
    return y


def permuted_rows(n, axis=1):
    """Returns indices that scatter without duplicates: each row has all columns in random order."""
    r, c = matrix(n)
    return Operand((r, c), ("permutations", axis), INT64, True)


def distinct_rows(n):
    r, _ = matrix(n)
    return Operand((r // 2, 1), ("permutation", r), INT64, True)


INDEXING = [
    Op("gather", lambda n: [Operand(matrix(n)), indices(matrix(n)[0], (matrix(n)[0],))], ANY, lambda x, i: x[i],
       lambda t, x, i: x[i], "Gather"),
    Op("gather_elements", lambda n: [Operand(matrix(n)), indices(matrix(n)[1], matrix(n))], ANY,
       lambda x, i: np.take_along_axis(x, i, 1), lambda t, x, i: t.gather(x, 1, i),
       Onnx("GatherElements", {"axis": 1}), attrs={"axis": 1}),
    Op("gather_nd", lambda n: [Operand(matrix(n)), indices(matrix(n)[0], (n // 2, 2))], ("f32", "f64", "i32"),
       lambda x, i: x[i[:, 0], i[:, 1]], lambda t, x, i: x[i[:, 0], i[:, 1]], "GatherND"),
    Op("scatter_elements", lambda n: [Operand(matrix(n)), permuted_rows(n), Operand(matrix(n))], ANY, scattered,
       lambda t, x, i, u: x.scatter(1, i, u), Onnx("ScatterElements", {"axis": 1}), attrs={"axis": 1}),
    Op("scatter_nd", lambda n: [Operand(matrix(n)), distinct_rows(n),
                                Operand((matrix(n)[0] // 2, matrix(n)[1]))], ANY, scattered_rows,
       lambda t, x, i, u: x.index_copy(0, i[:, 0], u), "ScatterND"),
    Op("embedding", lambda n: [Operand(matrix(n)), indices(matrix(n)[0], (matrix(n)[0],))], FLOATS, lambda x, i: x[i],
       lambda t, x, i: t.embedding(x, i), "Gather"),
    Op("sort", rows, NUMBERS, lambda x: np.sort(x, -1), lambda t, x: t.sort(x, -1), most=1 << 22),
    Op("argsort", rows, NUMBERS, lambda x: np.argsort(x, -1, kind="stable"),
       lambda t, x: t.sort(x, dim=-1, stable=True)[1], most=1 << 22),
    Op("top_k", rows, NUMBERS, None, lambda t, x: t.topk(x, 8), Onnx("TopK", {}, (np.array([8]),), 2),
       attrs={"k": 8}, most=1 << 22),
    Op("nonzero", lambda n: [Operand(matrix(n), "sparse")], ANY, lambda x: np.stack(np.nonzero(x)),
       lambda t, x: t.nonzero(x).T, Onnx("NonZero"), most=1 << 22),
    Op("boolean_mask", lambda n: [Operand(matrix(n)), Operand(matrix(n), "normal", "bool")], ANY,
       lambda x, m: x[m], lambda t, x, m: t.masked_select(x, m)),
    Op("bincount", lambda n: [Operand((n,), ("index", 1000), "i32")], ("i32",), np.bincount, "bincount",
       attrs={"minlength": 1000}),
    Op("segment_reduce", lambda n: [Operand(matrix(n)), Operand((matrix(n)[0],), ("index", 64), INT64, True)],
       ("f32", "f64"), None, lambda t, x, i: x.new_zeros(64, x.shape[1]).index_add_(0, i, x),
       attrs={"num_segments": 64}),
    Op("searchsorted", lambda n: [Operand((4096,), "sorted"), Operand((n,), "normal")], ("f32", "f64", "i32"),
       np.searchsorted, "searchsorted"),
    Op("unique", lambda n: [Operand((n,), ("index", 1000), "i32")], ("i32",), lambda x: np.unique(x),
       lambda t, x: t.unique(x), most=1 << 22),
    Op("histogram", lambda n: [Operand((n,)), Operand((), -3.0), Operand((), 3.0)], ("f32", "f64"),
       lambda x, a, b: np.histogram(x, 64, (-3, 3))[0], lambda t, x, a, b: t.histc(x, 64, -3, 3),
       attrs={"bins": 64}),
    Op("kv_cache_update", lambda n: [Operand((8, 8, n // 64 // 64, 64)), Operand((8, 8, 1, 64)),
                                     Operand((8,), np.arange(8), INT64, True)], ("f32",), None, None),
]

OPS = CREATION + VIEWS + MOVES + INDEXING
