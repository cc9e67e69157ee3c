"""The inputs of the bench of the ops: random arrays, and their counterparts in each library."""

import ml_dtypes
import numpy as np

DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8,
          "u8": np.uint8, "i32": np.int32, "u32": np.uint32, "i64": np.int64, "bool": np.bool_}


def orthogonal(draw, shape):
    return np.linalg.qr(draw.standard_normal(shape))[0]


def positive_definite(draw, shape):
    x = draw.standard_normal(shape)
    return x @ x.swapaxes(-1, -2) + 16 * np.eye(shape[-1])


def distribution(draw, shape):
    x = draw.random(shape) + 0.05
    return x / x.sum(-1, keepdims=True)


BLOCK = 1 << 20

# Each kind of values, as a function of a generator and a shape.
FLOATING = {
    "normal": lambda draw, shape: draw.standard_normal(shape, np.float32),
    "positive": lambda draw, shape: draw.uniform(0.1, 4, shape),
    "exponent": lambda draw, shape: draw.uniform(-2, 2, shape),
    "above_one": lambda draw, shape: draw.uniform(1, 4, shape),
    "unit": lambda draw, shape: draw.uniform(-0.9, 0.9, shape),
    "probability": lambda draw, shape: draw.uniform(0.05, 0.95, shape),
    "near_one": lambda draw, shape: draw.uniform(0.99, 1.01, shape),
    "small": lambda draw, shape: 0.05 * draw.standard_normal(shape),
    "sparse": lambda draw, shape: draw.standard_normal(shape) * (draw.random(shape) < 0.25),
    "sorted": lambda draw, shape: np.sort(draw.standard_normal(shape)),
    "distribution": distribution,
    "regular": lambda draw, shape: draw.standard_normal(shape) + 16 * np.eye(shape[-1]),
    "positive_definite": positive_definite,
    "orthogonal": orthogonal,
}
INTEGERS = {
    "normal": lambda draw, shape: draw.integers(-100, 100, shape),
    "positive": lambda draw, shape: draw.integers(1, 100, shape),
    "exponent": lambda draw, shape: draw.integers(0, 4, shape),
    "shift": lambda draw, shape: draw.integers(0, 8, shape),
    "byte": lambda draw, shape: draw.integers(-128, 128, shape),
    "sparse": lambda draw, shape: draw.integers(0, 4, shape) // 3,
    "sorted": lambda draw, shape: np.sort(draw.integers(-100, 100, shape)),
}
TRUTH = {
    "normal": lambda draw, shape: draw.integers(0, 2, shape),
    "zero": lambda draw, shape: np.zeros(shape),
    "one": lambda draw, shape: np.ones(shape),
    "sparse": lambda draw, shape: draw.random(shape) < 0.25,
}


def permutations(draw, shape):
    """Returns a row of every column number in random order, repeated with another shift in each row."""
    row = draw.permutation(shape[1])
    return (row[None, :] + 7 * np.arange(shape[0])[:, None]) % shape[1]


def drawn(operand, dtype, position):
    """Returns the array of an operand. The same operand at the same position has the same values."""
    dtype, values, shape = DTYPES[operand.dtype or dtype], operand.values, operand.shape
    draw = np.random.default_rng(45 + position)
    if isinstance(values, np.ndarray):
        return values  # The table states the dtype.
    if isinstance(values, (float, int)):
        return np.asarray(values).astype(dtype)
    if callable(values):
        return values(draw, shape).astype(dtype)
    if isinstance(values, tuple):
        kind, count = values
        if kind == "index":
            return draw.integers(0, count, shape).astype(dtype)
        if kind == "permutation":
            return draw.permutation(count)[:shape[0]].reshape(shape).astype(dtype)
        return permutations(draw, shape).astype(dtype)
    kinds = TRUTH if dtype is np.bool_ else INTEGERS if np.dtype(dtype).kind in "iu" else FLOATING
    size = int(np.prod(shape))
    if size > BLOCK:  # Drawing takes longer than measuring, so large arrays repeat a block.
        return np.resize(kinds[values](draw, (BLOCK // 64, 64)).astype(dtype), shape)
    return kinds[values](draw, shape).astype(dtype)


class Inputs:
    """The inputs of a case. The libraries share no memory, but all have the same strides."""

    def __init__(self, operands, dtype, strided):
        self.arrays = [drawn(operand, dtype, position) for position, operand in enumerate(operands)]
        self.strided = [strided and not operand.fixed and array.ndim > 0
                        for operand, array in zip(operands, self.arrays)]

    def changed(self, function):
        """Returns the inputs with other arrays, which `function` computes from those here."""
        result = object.__new__(Inputs)
        result.arrays, result.strided = function(*self.arrays), self.strided
        return result

    def stored(self):
        """Yields each array as it is stored, and whether the input is a strided view of that."""
        for array, strided in zip(self.arrays, self.strided):
            if not strided:
                yield np.ascontiguousarray(array) if array.ndim else array, None
            elif array.ndim == 1:
                yield np.repeat(array, 2), "step"
            else:
                yield np.ascontiguousarray(array.swapaxes(-1, -2)), "transposed"

    def numpy(self):
        views = {None: lambda x: x, "step": lambda x: x[::2], "transposed": lambda x: x.swapaxes(-1, -2)}
        return [views[layout](array) for array, layout in self.stored()]

    def tenon(self, tn):
        views = {None: lambda x: x, "step": lambda x: tn.slice(x, (0,), (x.shape[0],), (0,), (2,)),
                 "transposed": lambda x: tn.swapaxes(x, -1, -2)}
        return [views[layout](tn.tensor(array)) for array, layout in self.stored()]

    def torch(self, torch):
        views = {None: lambda x: x, "step": lambda x: x[::2], "transposed": lambda x: x.transpose(-1, -2)}
        return [views[layout](to_torch(torch, array)) for array, layout in self.stored()]


def to_torch(torch, array):
    """Returns a tensor of torch. DLPack of torch 1.13 has no bool and no unsigned integers."""
    array = np.array(array, copy=True)
    if array.dtype == np.bool_:
        return torch.from_dlpack(array.view(np.uint8)).bool()
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_dlpack(array.view(np.int16)).view(torch.bfloat16)
    if array.dtype == np.uint32:
        return torch.from_dlpack(array.view(np.int32))
    return torch.from_dlpack(array)


def flat(result):
    """Returns the outputs of a call of any library as a list."""
    return list(result) if isinstance(result, (tuple, list)) else [result]


def as_array(value):
    """Returns an output of any library as an array that NumPy can compare."""
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
    elif type(value).__module__.startswith("torch"):
        wide = {"torch.bfloat16": "float", "torch.bool": "byte"}.get(str(value.dtype))
        array = np.from_dlpack(getattr(value, wide)() if wide else value.contiguous())
    else:
        array = value.numpy()
    return array.astype(np.float64) if array.dtype == ml_dtypes.bfloat16 else array
