"""Functions, gradients, control flow, modules and saved programs."""

import collections.abc
import contextlib
import inspect
import os
import re
import sys
import types

from .. import (_control, _convert, _devices, _dtypes, _function, _gradients, _native, _programs,
                _tree)
from .._native import Tensor
from .._specs import TensorSpec
from .._variables import Variable
from ..errors import InvalidArgumentError


class UnconnectedGradients:
    """The gradient with respect to a source that no target depends on: None or zeros."""

    NONE = "none"
    ZERO = "zero"


class GradientTape(_gradients.GradientTape):
    """Records ops and computes gradients; see tenon.GradientTape."""

    def watch(self, tensor):
        """Watches floating tensors and variables; ignores others."""
        leaves = _tree.tree_flatten(tensor)[0]
        super().watch([leaf for leaf in leaves if leaf.dtype.is_floating])

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients="none"):
        """Returns the gradients of the sum of the targets; None if a target is not floating."""
        targets = [_convert.asarray(leaf) for leaf in _tree.tree_flatten(target)[0]]
        if not any(leaf.dtype.is_floating for leaf in targets):
            return _tree.tree_map(lambda _: None, sources)
        return super().gradient(target, sources, output_gradients, unconnected_gradients)

    def jacobian(self, target, sources, unconnected_gradients="none", parallel_iterations=None,
                 experimental_use_pfor=True):
        """Returns the derivatives of all elements of a target with respect to all elements of the
        sources."""
        return super().jacobian(target, sources, unconnected_gradients)

    def batch_jacobian(self, target, source, unconnected_gradients="none",
                       parallel_iterations=None, experimental_use_pfor=True):
        """Returns the jacobian of each row of the target with respect to the same row of the
        source."""
        rows = target.shape[0]
        if rows != source.shape[0]:
            raise ValueError(f"batch_jacobian: the target has {rows} rows, but the source has "
                             f"{source.shape[0]}")
        full = super().jacobian(target, source, unconnected_gradients)
        if full is None:
            return None
        moved = _native.ops["moveaxis"](full, [target.ndim], [1])
        indices = _native.ops["iota"]((rows,), dtype=_dtypes.int64)
        return moved[indices, indices]


class ConcreteFunction:
    """One trace of a function. Arguments other than tensors have the values with which it was
    traced."""

    def __init__(self, trace, parameters, statics):
        self._trace = trace
        self._parameters = parameters
        self._statics = statics
        self.name = trace.name

    def __call__(self, *args, **kwargs):
        names = self._parameters
        if len(args) == len(names) - len(self._statics):
            names = [name for name in names if name not in self._statics]
        values = dict(zip(names, args), **kwargs)
        for name, value in values.items():
            if name not in self._parameters:
                raise TypeError(f"{self.name}: there is no argument '{name}'")
            if name in self._statics:
                self._check_static(name, value)
        return self._trace(*[values[name] for name in self._parameters
                             if name in values and name not in self._statics])

    def _check_static(self, name, value):
        expected = self._statics[name]
        if isinstance(value, Tensor):
            raise InvalidArgumentError(f"{self.name}: the argument '{name}' is {expected!r} in this "
                                       "trace, but a tensor in the call")
        if value is not expected and value != expected:
            raise TypeError(f"{self.name}: the argument '{name}' is {expected!r} in this trace, but "
                            f"{value!r} in the call")

    @property
    def graph(self):
        """The graph of the trace."""
        return Graph(self._trace)

    @property
    def inference_fn(self):
        """The trace itself, which is also the inference function."""
        return self

    @property
    def function_type(self):
        """The parameters, and the values of those that are not tensors."""
        return "(" + ", ".join(f"{name}={self._statics[name]!r}" if name in self._statics else name
                               for name in self._parameters) + ")"

    def __repr__(self):
        return (f"<tf.ConcreteFunction {self.name}{self.function_type}: {self._trace.n_inputs} "
                f"inputs, {self._trace.n_outputs} outputs>")


class Graph:
    """The graph of a trace, for inspection."""

    def __init__(self, trace):
        self._trace = trace

    @property
    def node(self):
        """The calls of the graph. Each has the attributes `name`, `op` and `input`."""
        found = []
        for line in self._trace.text.splitlines():
            outputs, sign, call = line.strip().partition(" = ")
            op, bracket, rest = call.partition("(")
            if sign and bracket:
                inputs = [word for word in re.split(r"[,()\s]+", rest) if word.isidentifier()]
                found.append(types.SimpleNamespace(name=outputs.split(" ")[0], op=op, input=inputs))
        return found

    def as_graph_def(self):
        """Returns the graph itself, which has the attribute `node` of a GraphDef."""
        return self

    def __repr__(self):
        return self._trace.text


class Function(_function.Function):
    """A Python function that runs as a graph; see tenon.function."""

    def __call__(self, *args, **kwargs):
        if self._signature is not None:
            self._check_signature(args, kwargs)
        return super().__call__(*args, **kwargs)

    def _check_signature(self, args, kwargs):
        """Raises TensorFlow's error if the type of an argument differs from that of the
        signature."""
        bound = self._python_signature().bind(*args, **kwargs)
        leaves = _tree.tree_flatten(tuple(bound.arguments.values()))[0]
        for value, spec in zip(leaves, self._signature):
            if isinstance(value, Tensor) and not spec.is_compatible_with(value):
                raise TypeError(f"{self.__name__}: the argument has dtype {value.dtype} and shape "
                                f"{value.shape}, but the input_signature requires {spec}")

    def get_concrete_function(self, *args, **kwargs):
        """Traces the function for specs, tensors and other values, and returns the trace."""
        trace = self.trace(*args, **kwargs)
        bound = self._python_signature().bind(*args, **kwargs)
        statics = {name: value for name, value in bound.arguments.items() if not any(
            isinstance(leaf, (Tensor, TensorSpec)) for leaf in _tree.tree_flatten(value)[0])}
        if self._signature is not None and not args and not kwargs:
            statics = {}
        return ConcreteFunction(trace, list(self._python_signature().parameters), statics)

    def pretty_printed_concrete_signatures(self, verbose=True):
        """Returns the signatures of all traces as text."""
        return self.explain()

    def experimental_get_tracing_count(self):
        """Returns the number of traces."""
        return self.trace_count


def function(func=None, input_signature=None, autograph=True, jit_compile=None,
             reduce_retracing=False, **experimental):
    """Turns a Python function into one that runs as a graph: `@tf.function`, or with options.

    Tenon's passes optimise every graph, so `jit_compile` and options whose names begin with
    `experimental_` have no effect.
    """
    for name in experimental:
        if not name.startswith("experimental_"):
            raise TypeError(f"function() got an unexpected keyword argument '{name}'")

    def make(wrapped):
        return Function(wrapped, input_signature=input_signature, autograph=autograph,
                        reduce_retracing=reduce_retracing)

    return make if func is None else make(func)


def cond(pred, true_fn=None, false_fn=None, name=None):
    """Calls one of two functions and returns its result."""
    return _control.cond(pred, true_fn, false_fn)


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """Calls the function of the first pair whose condition is true, or else `default`."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if default is None:
        default = pairs[-1][1]
    for pred, branch in reversed(pairs):
        default = _chosen(pred, branch, default)
    return default()


def _chosen(pred, branch, rest):
    return lambda: _control.cond(pred, branch, rest)


def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """Calls the function at an index. For an index out of range, calls `default` or the last
    function."""
    branches = [branch_fns[key] for key in sorted(branch_fns)] if isinstance(branch_fns, dict) \
        else list(branch_fns)
    return _control.switch_case(branch_index, branches + ([default] if default else []))


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10,
               back_prop=True, swap_memory=False, maximum_iterations=None, name=None):
    """Calls `body` while `cond` returns true, at most `maximum_iterations` times."""
    if maximum_iterations is None:
        return _control.while_loop(cond, body, loop_vars)
    if not isinstance(loop_vars, (tuple, list)):
        loop_vars = (loop_vars,)

    def limited_cond(count, *values):
        within = _convert.asarray(count) < maximum_iterations
        return _control.cond(within, lambda: _convert.asarray(cond(*values)), lambda: within)

    def limited_body(count, *values):
        results = body(*values)
        return (count + 1, *(results if isinstance(results, (tuple, list)) else (results,)))

    results = _control.while_loop(limited_cond, limited_body,
                                  (_convert.tensor(0), *loop_vars))[1:]
    return type(loop_vars)(results)


def print(*inputs, output_stream=None, summarize=3, sep=" ", end="\n", name=None):
    """Prints values. Inside a function, prints when the graph runs."""
    if output_stream not in (None, sys.stdout):
        raise ValueError("print: output_stream must be sys.stdout")
    _control.print(*inputs, sep=sep)


def py_function(func=None, inp=None, Tout=None, name=None):
    """Calls a Python function on eager tensors. Inside a function, calls it when the graph runs.
    With `Tout` only, returns a decorator.

    In a graph, each result must have the shape of the first input; otherwise, the call fails at
    run time.
    """
    if func is None:
        return lambda wrapped: lambda *args: py_function(wrapped, args, Tout)
    inputs = [_convert.asarray(value) for value in inp]
    if not _native.is_tracing():
        return _tree.tree_map(_convert.asarray, func(*inputs))
    if not inputs:
        raise ValueError("py_function: inside a function, pass at least one input, because "
                         "the results have the shape of the first input")
    like = _tree.tree_map(lambda dtype: _native.ops["cast"](inputs[0], to=dtype), Tout)
    return _control.py_function(func, inputs, like)


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """Like py_function(), but for a function of NumPy arrays."""
    return py_function(lambda *args: func(*[value.numpy() for value in args]), inp, Tout)


def assert_that(condition, data=(), summarize=None, name=None):
    """Raises an error unless all elements of a condition are true."""
    _control.assert_that(condition, "assertion failed" + " {}" * len(list(data)),
                         [_convert.asarray(value) for value in data])


@contextlib.contextmanager
def init_scope():
    """Runs the ops in a `with` block eagerly, even while a function is traced."""
    if not _native.is_tracing():
        yield
        return
    with _devices.Scope():
        yield


def device(device_name):
    """Sets the current device: "CPU:0", "/GPU:0" or one of tn.list_devices().

    As in TensorFlow, keeps the current device if the GPU does not exist.
    """
    kind, _, number = device_name.lower().rpartition("/")[2].removeprefix("device:").partition(":")
    if kind == "cpu":
        return _devices.device("cpu:0")
    if kind != "gpu":
        return _devices.device(device_name)
    gpus = [found["name"] for found in _devices.list_devices() if found["kind"] == "gpu"]
    at = int(number or 0)
    return _devices.device(gpus[at] if at < len(gpus) else _devices.current_device())


class Module:
    """An object that finds the variables in its attributes, in the order of the attribute names."""

    def __init__(self, name=None):
        self._name = name

    @property
    def name(self):
        """The given name, or the name of the class in lower case."""
        return getattr(self, "_name", None) or type(self).__name__.lower()

    @property
    def variables(self):
        """The variables of this module and of the modules inside it."""
        return tuple(found for found in _members(self, set()) if isinstance(found, Variable))

    @property
    def trainable_variables(self):
        """The variables that tapes watch when they are read."""
        return tuple(found for found in self.variables if found.trainable)

    @property
    def submodules(self):
        """The modules inside this one."""
        return tuple(found for found in _members(self, set())
                     if isinstance(found, Module) and found is not self)


def _members(value, seen):
    if isinstance(value, (Variable, Module)):
        if id(value) in seen:
            return
        seen.add(id(value))
        yield value
    if isinstance(value, Module):
        for name in sorted(vars(value)):
            yield from _members(vars(value)[name], seen)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _members(item, seen)
    elif isinstance(value, collections.abc.Mapping):
        for key in sorted(value, key=str):
            yield from _members(value[key], seen)


def save(obj, export_dir, signatures=None, options=None):
    """Saves the traced functions of a module, and their variables, as a program."""
    functions = {}
    for name, value in inspect.getmembers(type(obj)):
        if isinstance(value, _function.Function):
            method = getattr(obj, name)
            if method.trace_count or method._signature is not None:
                functions[name] = method
    for name, value in vars(obj).items():
        if isinstance(value, _function.Function) and value.trace_count:
            functions[name] = value
    if isinstance(signatures, collections.abc.Mapping):
        functions.update({name: value._trace for name, value in signatures.items()})
    if not functions:
        raise ValueError("save: the object has no function that was traced or has an input_signature")
    os.makedirs(export_dir, exist_ok=True)
    _programs.save(export_dir, functions)


def load(export_dir):
    """Opens a program, whose functions are attributes of the result."""
    return LoadedModule(_programs.load(export_dir))


class LoadedModule:
    """A program with the functions and variables of a saved module."""

    def __init__(self, program):
        self.program = program

    @property
    def variables(self):
        """The variables of the program."""
        return tuple(self.program.variables)

    def __getattr__(self, name):
        if name == "program":
            raise AttributeError(name)
        return getattr(self.program, name)

    def __call__(self, *args, **kwargs):
        return self.program["__call__"](*args, **kwargs)


__all__ = [title for title, value in list(globals().items())
           if not title.startswith("_") and getattr(value, "__module__", "") == __name__]
