"""A small replacement of the package in pure Python, so that conversion is tested without the
extension.

Symbolic tensors are graph nodes, which are evaluated when a function is called. As in the
package, using a tensor of a branch or a loop body outside it raises an error.
"""

import builtins

import numpy as np

regions = []


class TraceError(Exception):
    pass


class Region:
    def __init__(self):
        self.effects = []


class Tensor:
    __hash__ = object.__hash__
    __array_priority__ = 100

    def __init__(self, value=None, compute=None, like=None):
        self.value = value
        self.compute = compute
        self.region = regions[-1] if compute else None
        sample = value if value is not None else like
        self.dtype = str(sample.dtype)
        self.shape = sample.shape

    def __bool__(self):
        if self.value is None:
            from tenon import autograph

            raise autograph.bool_error(self)
        return bool(self.value)

    def __index__(self):
        return int(self._known())

    __int__ = __index__

    def __float__(self):
        return float(self._known())

    def _known(self):
        if self.value is None:
            raise TypeError("a symbolic tensor has no value")
        return self.value

    def __len__(self):
        return self.shape[0]

    def __iter__(self):
        return (self[index] for index in builtins.range(self.shape[0]))

    def __getitem__(self, index):
        keys = index if isinstance(index, tuple) else (index,)
        tensors = [key for key in keys if isinstance(key, Tensor)]

        def get(value, *given):
            given = iter(given)
            return value[tuple(next(given) if isinstance(key, Tensor) else key for key in keys)]

        return apply(get, self, *tensors)

    @property
    def at(self):
        return _At(self)

    def numpy(self):
        return self._known()

    def __repr__(self):
        return f"Tensor({self.value}, {self.dtype}{list(self.shape)})"


class _At:
    def __init__(self, tensor, index=None):
        self.tensor, self.index = tensor, index

    def __getitem__(self, index):
        return _At(self.tensor, index)

    def set(self, value):
        keys = self.index if isinstance(self.index, tuple) else (self.index,)
        tensors = [key for key in keys if isinstance(key, Tensor)]

        def put(base, new, *given):
            given = iter(given)
            result = base.copy()
            result[tuple(next(given) if isinstance(key, Tensor) else key for key in keys)] = new
            return result

        return apply(put, self.tensor, value, *tensors)


class Variable:
    pass


class TensorArray:
    pass


def tree_flatten(tree):
    return [tree], None


class TensorList:
    @staticmethod
    def like(entry):
        return _list(lambda: [], entry)

    def __init__(self, compute, entry):
        self.compute = compute
        self.value = None
        self.region = regions[-1] if regions else None
        self.entry = entry
        self.dtype, self.shape = entry.dtype, entry.shape

    def push(self, item):
        item = constant(item) if not isinstance(item, Tensor) else item
        if (item.dtype, item.shape) != (self.dtype, self.shape):
            raise TypeError("list: entry of another type")
        return _list(lambda old, new: old + [new], self.entry, self, item)

    def set(self, index, item):
        def put(old, position, new):
            copy = list(old)
            copy[int(position)] = new
            return copy

        return _list(put, self.entry, self, _tensor(index), item)

    def __getitem__(self, index):
        sample = np.zeros(self.shape, self.dtype)
        return Tensor(
            compute=_node(lambda items, i: items[int(i)], self, _tensor(index)), like=sample
        )

    def length(self):
        return Tensor(compute=_node(lambda items: np.int64(len(items)), self), like=np.int64(0))

    def stack(self):
        sample = np.zeros((0, *self.shape), self.dtype)
        return Tensor(compute=_node(lambda items: np.stack(items), self), like=sample)

    def concat(self):
        sample = np.zeros(self.shape, self.dtype)
        return Tensor(compute=_node(lambda items: np.concatenate(items), self), like=sample)


def _list(function, entry, *inputs):
    return TensorList(_node(function, *inputs), entry)


def check(tensor):
    if tensor.compute is not None and tensor.region not in regions:
        raise TraceError("a tensor of a branch or a loop is used outside it")


def _node(function, *inputs):
    for item in inputs:
        check(item)

    def compute(env):
        return function(*[evaluate(item, env) for item in inputs])

    return compute


def evaluate(tensor, env):
    if tensor.compute is None:
        return tensor.value
    scope = env
    while scope is not None:
        if id(tensor) in scope[0]:
            return scope[0][id(tensor)]
        scope = scope[1]
    result = tensor.compute(env)
    env[0][id(tensor)] = result
    return result


def _tensor(value, dtype=None):
    if isinstance(value, (Tensor, TensorList)):
        return value
    return constant(value, dtype)


def apply(function, *values, strict=False):
    """Applies a function of arrays. With `strict`, all tensors must have the same dtype."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    weak = next((value.dtype for value in tensors), None)
    if strict and len({value.dtype for value in tensors}) > 1:
        raise TypeError("the dtypes have no common one: convert one of them with cast")
    if strict and weak.startswith("int") and builtins.any(type(value) is float for value in values):
        raise TypeError("a floating scalar does not fit int32 tensors")
    converted = []
    for value in values:
        if isinstance(value, Tensor):
            converted.append(value)
        elif isinstance(value, (int, float)) and weak and weak != "bool":
            converted.append(constant(value, weak))
        else:
            converted.append(constant(value))

    def narrow(*arrays):
        result = np.asarray(function(*arrays))
        if result.dtype == np.float64 and "float64" not in {item.dtype for item in converted}:
            result = result.astype(np.float32)
        return result

    sample = narrow(*[np.zeros(item.shape, item.dtype) for item in converted])
    if not is_tracing():
        return Tensor(narrow(*[item.value for item in converted]))
    return Tensor(compute=_node(narrow, *converted), like=sample)


def _operator(name, function):
    def forward(self, other):
        return apply(function, self, other, strict=True)

    def backward(self, other):
        return apply(lambda left, right: function(right, left), self, other, strict=True)

    setattr(Tensor, f"__{name}__", forward)
    setattr(Tensor, f"__r{name}__", backward)


for _name, _function in {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.true_divide,
    "floordiv": np.floor_divide,
    "mod": np.mod,
    "pow": np.power,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
}.items():
    _operator(_name, _function)
Tensor.__neg__ = lambda self: apply(np.negative, self)
Tensor.__abs__ = lambda self: apply(np.abs, self)


def constant(value, dtype=None):
    array = np.asarray(value)
    if dtype is None:
        dtype = {"i": "int32", "f": "float32", "b": "bool"}[array.dtype.kind]
        if isinstance(value, np.ndarray):
            dtype = str(array.dtype)
    return Tensor(array.astype(dtype))


def zeros(shape, dtype="float32"):
    return Tensor(np.zeros(shape, dtype))


def cast(tensor, dtype):
    return apply(lambda value: value.astype(dtype), tensor)


def where(condition, x, y):
    return apply(np.where, condition, x, y)


def stop_gradient(tensor):
    return tensor


def reshape(tensor, shape):
    return apply(lambda value: value.reshape(shape), tensor)


def range(*bounds):  # noqa: A001
    return apply(lambda *values: np.arange(*[int(value) for value in values]).astype("int32"), *bounds)


def stack(values):
    return apply(lambda *arrays: np.stack(arrays), *values)


def concat(values):
    return apply(lambda *arrays: np.concatenate(arrays), *values)


def sum(tensor, axes=None):  # noqa: A001
    axes = None if axes is None else tuple(axes)
    return apply(lambda value: value.sum(axis=axes).astype(value.dtype), tensor)


def _reduction(name):
    def reduced(value):
        return getattr(np, name)(value) if value.size else value.dtype.type(0)

    return lambda tensor: apply(reduced, tensor)


min = _reduction("min")  # noqa: A001
max = _reduction("max")  # noqa: A001
any = _reduction("any")  # noqa: A001
all = _reduction("all")  # noqa: A001


def _binary(function):
    return lambda left, right: apply(function, left, right)


equal = _binary(np.equal)
not_equal = _binary(np.not_equal)
minimum = _binary(np.minimum)
logical_and = _binary(np.logical_and)
logical_or = _binary(np.logical_or)


def logical_not(tensor):
    return apply(np.logical_not, tensor)


def is_tracing():
    return bool(regions)


def is_symbolic(tensor):
    return tensor.compute is not None


class AssertionFailed(Exception):
    pass


def assert_that(condition, message):
    def run(env):
        if not evaluate(condition, env):
            raise AssertionFailed(message)

    check(condition)
    regions[-1].effects.append(run)


def _trace(block, *arguments):
    region = Region()
    regions.append(region)
    try:
        outputs = block(*[argument(region) for argument in arguments])
        outputs = [_tensor(item) for item in outputs]
        for item in outputs:
            check(item)
        return region, outputs
    finally:
        regions.pop()


def run_region(region, outputs, env):
    for effect in region.effects:
        effect(env)
    return [evaluate(item, env) for item in outputs]


def _result(operation, effect_owner, likes):
    """Returns the outputs of an operation with regions."""
    key = object()

    def run(env):
        scope = env
        while scope is not None:
            if id(key) in scope[0]:
                return scope[0][id(key)]
            scope = scope[1]
        env[0][id(key)] = operation(env)
        return env[0][id(key)]

    effect_owner.effects.append(run)
    results = []
    for index, like in enumerate(likes):
        compute = lambda env, index=index, keep=key: run(env)[index]  # noqa: E731
        if isinstance(like, TensorList):
            results.append(TensorList(compute, like.entry))
        else:
            results.append(Tensor(compute=compute, like=np.zeros(like.shape, like.dtype)))
    return results


def _types(items):
    return [(type(item), item.dtype, item.shape) for item in items]


def cond(pred, true_fn, false_fn):
    if pred.compute is None:
        return true_fn() if pred else false_fn()
    assert pred.dtype == "bool" and pred.shape == ()
    check(pred)
    then, first = _trace(true_fn)
    orelse, second = _trace(false_fn)
    assert _types(first) == _types(second), (_types(first), _types(second))

    def run(env):
        chosen = (then, first) if evaluate(pred, env) else (orelse, second)
        return run_region(*chosen, ({}, env))

    return _result(run, regions[-1], first)


def while_loop(cond_fn, body_fn, loop_vars):
    values = [_tensor(item) for item in loop_vars]
    for item in values:
        check(item)

    def placeholder(like):
        def make(_):
            if isinstance(like, TensorList):
                return TensorList(unbound, like.entry)
            return Tensor(compute=unbound, like=np.zeros(like.shape, like.dtype))

        return make

    made = []

    def recording(block):
        def run(*arguments):
            made.append(arguments)
            result = block(*arguments)
            return result if isinstance(result, (list, tuple)) else [result]

        return run

    makers = [placeholder(item) for item in values]
    tested, going = _trace(recording(cond_fn), *makers)
    repeated, after = _trace(recording(body_fn), *makers)
    assert (going[0].dtype, going[0].shape) == ("bool", ())
    assert _types(after) == _types(values), (_types(after), _types(values))
    inputs, body_inputs = made

    def run(env):
        state = [evaluate(item, env) for item in values]
        for _ in iter(int, 1):
            inner = ({id(k): v for k, v in zip(inputs, state)}, env)
            if not run_region(tested, going, inner)[0]:
                return state
            inner = ({id(k): v for k, v in zip(body_inputs, state)}, env)
            state = run_region(repeated, after, inner)

    return _result(run, regions[-1], values)


def unbound(env):
    raise AssertionError("a placeholder has no value")
