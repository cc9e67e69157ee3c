"""Branches, loops and effects.

Eagerly they run immediately; inside a function they become part of its graph.
"""

from __future__ import annotations

import sys

from . import _convert, _native, _tree
from ._native import Tensor
from ._variables import Variable

__all__ = [
    "cond", "switch_case", "while_loop", "scan", "print", "assert_that", "py_function", "shape",
    "is_tracing", "is_symbolic", "executing_eagerly", "set_print",
]

_POLICIES = {"stack": 0, "recompute": 1, "bounded": 2}


def is_tracing() -> bool:
    """Returns whether ops are recorded instead of computed, as in the body of a function."""
    return _native.is_tracing()


def executing_eagerly() -> bool:
    """Returns whether ops are computed immediately. The opposite of is_tracing()."""
    return not _native.is_tracing()


def is_symbolic(value) -> bool:
    """Returns whether a value is a tensor of a trace, whose elements are not known yet."""
    return isinstance(value, Tensor) and value.is_symbolic


def _leaf(value):
    """Converts a leaf of a block's result to a tensor."""
    return _convert._to_tensor(value)


class _Block:
    """Adapts a function to a block of the C API, which takes and returns lists of tensors.

    Stores the structure of the result that the function returned.
    """

    def __init__(self, function, unpack=None):
        self.function = function
        self.unpack = unpack
        self.structure = None

    def __call__(self, inputs):
        result = self.function() if self.unpack is None else self.function(*self.unpack(inputs))
        leaves, self.structure = _tree.tree_flatten(result)
        return [_leaf(leaf) for leaf in leaves]


def _predicate(value):
    if isinstance(value, Variable):
        value = value.read()
    if isinstance(value, Tensor):
        if value.dtype.name != "bool":
            value = _native.ops["not_equal"](value, 0)
        return _native.ops["reshape"](value, ()) if value.ndim else value
    return bool(value)


def cond(pred, true_fn, false_fn):
    """Runs one of two functions.

    Args:
        pred: A bool, or a tensor with one element.
        true_fn: Called if `pred` is true. Takes no arguments and returns a tree of tensors.
        false_fn: Called if `pred` is false. Inside a function, both must return trees of the
            same structure, dtypes and shapes.

    Returns:
        The tree that the selected function returned.
    """
    pred = _predicate(pred)
    if not isinstance(pred, Tensor):
        return true_fn() if pred else false_fn()
    blocks = _Block(true_fn), _Block(false_fn)
    results = _native.cond(pred, *blocks)
    structures = [block.structure for block in blocks if block.structure is not None]
    if len(structures) == 2 and structures[0] != structures[1]:
        raise TypeError("cond: the branches return trees of different structures: "
                        f"{_text(structures[0])} and {_text(structures[1])}")
    return _tree.tree_unflatten(structures[0], results)


def _text(structure):
    if structure is _tree.LEAF:
        return "*"
    cls, data, parts = structure
    inner = [_text(part) for part in parts]
    if cls is dict:
        inner = [f"{key!r}: {part}" for key, part in zip(data, inner)]
    return f"{cls.__name__}({', '.join(inner)})"


def switch_case(branch_index, branch_fns):
    """Calls the function at an index and returns its result. An index out of range selects the last
    function."""
    if isinstance(branch_index, Variable):
        branch_index = branch_index.read()
    functions = list(branch_fns)
    if isinstance(branch_index, int):
        return functions[branch_index if 0 <= branch_index < len(functions) else -1]()
    blocks = [_Block(function) for function in functions]
    index = branch_index
    if index.dtype.name != "int64":
        index = index.astype("int64")
    results = _native.switch_case(index, blocks)
    structure = next(block.structure for block in blocks if block.structure is not None)
    return _tree.tree_unflatten(structure, results)


def while_loop(cond_fn, body_fn, loop_vars, *, policy: str = "stack", maximum_iterations: int = 0):
    """Calls `body_fn` while `cond_fn` returns true.

    Args:
        cond_fn: Takes the loop variables and returns a bool.
        body_fn: Takes the loop variables and returns their next values, with the same structure,
            dtypes and shapes.
        loop_vars: The initial values: a tuple or list of trees of tensors.
        policy: How the loop stores the residuals of each iteration for the gradient: "stack"
            saves them, "recompute" saves only the inputs of each iteration, "bounded"
            preallocates memory.
        maximum_iterations: Maximum number of iterations; exceeding it is an error. 0 for no
            limit.

    Returns:
        The loop variables after the last iteration, in the structure of `loop_vars`.
    """
    single = not isinstance(loop_vars, (tuple, list))
    variables = (loop_vars,) if single else loop_vars
    leaves, structure = _tree.tree_flatten(variables)
    initial = [_leaf(leaf) for leaf in leaves]

    def condition(inputs):
        return [_as_bool(cond_fn(*_tree.tree_unflatten(structure, inputs)))]

    def body(inputs):
        result = body_fn(*_tree.tree_unflatten(structure, inputs))
        if single or len(variables) == 1 and not isinstance(result, (tuple, list)):
            result = (result,)
        if isinstance(result, (tuple, list)):
            result = type(variables)(result)
        values, shape = _tree.tree_flatten(result)
        if shape != structure:
            raise TypeError("while_loop: the body must return a tree with the structure of the "
                            f"loop variables, but returned {_text(shape)} instead of {_text(structure)}")
        return [_same_dtype(_leaf(value), before) for value, before in zip(values, inputs)]

    if not initial:
        while cond_fn():
            body_fn()
        return loop_vars
    results = _native.while_loop(condition, body, initial, _POLICIES[policy], maximum_iterations)
    values = _tree.tree_unflatten(structure, results)
    return values[0] if single else values


def _as_bool(value):
    value = _predicate(value)
    return value if isinstance(value, Tensor) else _convert.tensor(value)


def _same_dtype(value, before):
    """Casts a Python number in the result of the body to the dtype of its loop variable."""
    return value


def scan(body, init, xs, *, reverse: bool = False, policy: str = "stack"):
    """Calls a function for each slice of tensors along their first axis.

    Args:
        body: Takes the carried tree and a tree of slices. Returns the next carried tree and a
            tree of outputs, or None for no outputs.
        init: The initial carried tree.
        xs: A tree of tensors with equal sizes of the first axis.
        reverse: Whether to iterate from the last slice to the first.
        policy: See while_loop().

    Returns:
        The final carried tree, and the outputs stacked along a new first axis.
    """
    carried, structure = _tree.tree_flatten(init)
    slices, slice_structure = _tree.tree_flatten(xs)
    carried = [_leaf(leaf) for leaf in carried]
    n = len(carried)
    state = {}

    def block(inputs):
        next_carried, outputs = body(_tree.tree_unflatten(structure, inputs[:n]),
                                     _tree.tree_unflatten(slice_structure, inputs[n:]))
        leaves, shape = _tree.tree_flatten(next_carried)
        if shape != structure:
            raise TypeError("scan: the body must return the structure of the carried values, but "
                            "returned "
                            f"{_text(shape)} instead of {_text(structure)}")
        more, state["structure"] = _tree.tree_flatten(() if outputs is None else outputs)
        state["none"] = outputs is None
        return [_leaf(leaf) for leaf in leaves + more]

    last, stacked = _native.scan(block, carried, [_leaf(leaf) for leaf in slices], reverse,
                                 _POLICIES[policy])
    outputs = None if state.get("none", True) else _tree.tree_unflatten(state["structure"], stacked)
    return _tree.tree_unflatten(structure, last), outputs


def print(*values, sep: str = " ") -> None:
    """Prints values. Inside a function, prints when the graph runs.

    Python values are printed with str(); tensors are printed as NumPy prints arrays.
    """
    pieces, tensors = [], []
    for value in values:
        if isinstance(value, (Tensor, Variable)):
            pieces.append("{}")
            tensors.append(value.read() if isinstance(value, Variable) else value)
        else:
            pieces.append(str(value).replace("{", "{{").replace("}", "}}"))
    _print_to_python()
    _native.print(sep.join(pieces), tensors)


_prints_to_python = False


def _print_to_python():
    """Redirects the output of print() in C to sys.stdout, which notebooks and tests replace."""
    global _prints_to_python
    if not _prints_to_python:
        _prints_to_python = True
        _native.set_print(lambda text: sys.stdout.write(text))


def set_print(function=None) -> None:
    """Sets the function that receives the text of print(); None restores sys.stdout."""
    global _prints_to_python
    _prints_to_python = True
    _native.set_print(function or (lambda text: sys.stdout.write(text)))


def assert_that(condition, message: str = "", values=()) -> None:
    """Raises an error unless all elements of a condition are true. Inside a function, checks when
    the graph runs.

    Args:
        condition: A bool tensor.
        message: The message of the error, in which each {} is replaced by the next value.
        values: Tensors whose values are shown in the message.
    """
    _native.assert_that(condition, message, list(values))


def py_function(function, inputs, like):
    """Calls a Python function on eager tensors. Inside a function, calls it when the graph runs.

    Args:
        function: Takes the inputs as eager tensors and returns a tree of tensors.
        inputs: A list of tensors.
        like: A tree of tensors with the dtypes and shapes of the results; only their types are used.

    Returns:
        A tree with the structure of `like`.
    """
    types, structure = _tree.tree_flatten(like)

    def body(tensors):
        leaves = _tree.tree_flatten(function(*tensors))[0]
        return [_leaf(leaf) for leaf in leaves]

    results = _native.host_call(body, [_leaf(value) for value in inputs],
                                [_leaf(value) for value in types])
    return _tree.tree_unflatten(structure, results)


def shape(x) -> Tensor:
    """Returns the sizes of a tensor as an int64 tensor, which is symbolic while tracing."""
    return _native.shape(x)
