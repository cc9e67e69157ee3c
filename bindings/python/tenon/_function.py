"""Functions: Python functions that are traced into graphs."""

from __future__ import annotations

import functools
import inspect
import threading
import time
import warnings
import weakref

from . import _convert, _native, _tree
from ._calls import STATIC, Call, SpecCall, StandIn, Static, name_leaves
from ._native import Tensor
from ._specs import TensorSpec

__all__ = ["function", "Function", "Trace", "run_functions_eagerly", "functions_run_eagerly"]

_MAX_OUTPUTS = 256
_MANY_RETRACES = 5
_frames = threading.local()
_eagerly = False


def run_functions_eagerly(eagerly: bool) -> None:
    """Sets whether functions run their Python code in every call, for debugging."""
    global _eagerly
    _eagerly = bool(eagerly)
    _native.run_functions_eagerly(_eagerly)


def functions_run_eagerly() -> bool:
    """Returns whether run_functions_eagerly(True) is in effect."""
    return _eagerly


class _Graph:
    """Owns the C function for one structure of arguments and one set of static values. Stores the
    structures of the results of its traces."""

    def __init__(self, owner, call, number):
        self.call = call
        self.structures = []  # Structures that the body has returned.
        self.by_trace = {}  # Maps the address of a trace to (trace, structure of its results).
        reference = weakref.ref(owner)
        signature = None
        if owner._signature is not None:
            signature = [spec._native(name) for spec, name in
                         zip(owner._signature, owner._input_names(call))]
        name = owner.__name__
        self.native = _native.Function(
            name, _body_of(reference), _MAX_OUTPUTS, signature, None, owner._max_traces,
            owner._reduce_retracing, owner._memory_budget)


def _body_of(reference):
    """Returns the callable that C runs to trace a Function. It refers to the Function weakly, to
    avoid a reference cycle."""

    def body(tensors):
        frame = _frames.stack[-1]
        owner = reference()
        args, kwargs = frame.call.arguments(tensors)
        result = owner._converted()(*args, **kwargs)
        leaves, structure = _tree.tree_flatten(result)
        outputs, marks = [], []
        for leaf in leaves:
            if isinstance(leaf, str) or leaf is None:
                marks.append(Static(leaf))
            else:
                marks.append(None)
                outputs.append(_convert._to_tensor(leaf))
        frame.result = (structure, tuple(marks))
        # Store the structure of the result before the trace exists, because other threads that
        # wait for the trace need the structure.
        if frame.result not in frame.graph.structures:
            frame.graph.structures.append(frame.result)
        return outputs

    return body


def _result(shape, outputs):
    structure, marks = shape
    if structure is _tree.LEAF and marks[0] is None:
        return outputs[0]
    rest = iter(outputs)
    return _tree.tree_unflatten(
        structure, [next(rest) if mark is None else mark.value for mark in marks])


class _Frame:
    """A call in progress on this thread."""

    __slots__ = ("call", "graph", "result")

    def __init__(self, call, graph):
        self.call = call
        self.graph = graph
        self.result = None

    def __enter__(self):
        try:
            _frames.stack.append(self)
        except AttributeError:
            _frames.stack = [self]
        return self

    def __exit__(self, *exception):
        _frames.stack.pop()


class Function:
    """A Python function that is traced once for each combination of argument types, and then runs
    as a graph.

    Created by `tenon.function`.
    """

    def __init__(self, python_function, input_signature=None, autograph: bool = True,
                 reduce_retracing: bool = True, memory_budget: int | None = None,
                 max_traces: int = 64):
        functools.update_wrapper(self, python_function)
        self.python_function = python_function
        self.__name__ = getattr(python_function, "__name__", type(python_function).__name__)
        self._signature = None if input_signature is None else [
            spec if isinstance(spec, TensorSpec) else TensorSpec.of(spec)
            for spec in _tree.tree_flatten(tuple(input_signature))[0]]
        self._trees = None if input_signature is None else tuple(input_signature)
        self._autograph = autograph
        self._reduce_retracing = reduce_retracing
        self._memory_budget = 2**64 - 1 if memory_budget is None else memory_budget
        self._max_traces = max_traces
        self._graphs: dict = {}
        self._plain: dict = {}  # Graphs for calls with positional tensors only, by their number.
        self._methods: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self._lock = threading.RLock()
        self._ready = None
        self._unbound = None  # For a method: (function, weak reference to the object).
        self._parameters = None
        self._warned = False

    # ---- calls

    def __call__(self, *args, **kwargs):
        if not kwargs and self._signature is None:
            graph = self._plain.get(len(args))
            if graph is not None and all([type(arg) is Tensor for arg in args]):
                return self._run(graph, graph.call, list(args))
        if kwargs or self._signature is not None:
            args, kwargs = self._bind(args, kwargs)
        call = Call(args, kwargs)
        graph = self._graph(call)
        if self._signature is None and not call.statics and all(
                part is _tree.LEAF for part in call.structure[2][0][2]) and not call.structure[2][1][2]:
            self._plain[len(args)] = graph
        return self._run(graph, call, call.tensors)

    def _run(self, graph, call, tensors):
        with _Frame(call, graph) as frame:
            outputs = graph.native.call(tensors, None)
        if frame.result is not None:
            if not _native.is_tracing():
                self._traced(graph, call, frame.result, tensors)
            return _result(frame.result, outputs)
        structures = graph.structures
        if len(structures) == 1:
            return _result(structures[0], outputs)
        return _result(self._structure_of(graph, call, tensors), outputs)

    def _structure_of(self, graph, call, tensors):
        """Returns the structure of a call's results. Traces of one graph may return different
        structures, so the trace determines the structure."""
        with _Frame(call, graph):
            trace = graph.native.find_trace(tensors, None)
        # Another thread may have created the trace, but not have stored its structure yet.
        for _ in range(1000):
            if trace.pointer in graph.by_trace:
                return graph.by_trace[trace.pointer][1]
            time.sleep(0.001)
        raise RuntimeError(f"{self.__name__}: the structure of a trace's results is unknown")

    def _bind(self, args, kwargs):
        """Returns the arguments in the order of the parameters. Converts those of an
        input_signature to tensors."""
        bound = self._python_signature().bind(*args, **kwargs)
        if self._signature is not None:
            bound.apply_defaults()
        args, kwargs = bound.args, bound.kwargs
        if self._signature is None:
            return args, kwargs
        if kwargs or len(args) != len(self._trees):
            raise TypeError(f"{self.__name__}: the input_signature has {len(self._trees)} inputs, but "
                            f"the call has {len(args) + len(kwargs)}")
        return tuple(_to_specs(arg, spec) for arg, spec in zip(args, self._trees)), {}

    def _python_signature(self):
        if self._parameters is None:
            self._parameters = inspect.signature(self.python_function)
        return self._parameters

    def _graph(self, call):
        key = call.key
        graph = self._graphs.get(key)
        if graph is None:
            with self._lock:
                graph = self._graphs.get(key)
                if graph is None:
                    graph = self._graphs[key] = _Graph(self, call, len(self._graphs))
        return graph

    def _traced(self, graph, call, shape, tensors):
        if len(graph.structures) > 1 or graph.by_trace:
            with _Frame(call, graph):
                trace = graph.native.find_trace(tensors, None)
            graph.by_trace[trace.pointer] = (trace, shape)
        elif len(graph.structures) == 1:
            # All traces so far return this structure. Record it for each of them, because a later
            # trace may return a different structure.
            for at in range(graph.native.trace_count):
                trace = graph.native.get_trace(at)
                graph.by_trace.setdefault(trace.pointer, (trace, shape))
        self._warn_of_retracing(call)

    def _warn_of_retracing(self, call):
        if self._warned or self.trace_count < _MANY_RETRACES + 1:
            return
        self._warned = True
        warnings.warn(
            f"{self.__name__} was traced {self.trace_count} times, which is slow. "
            f"{self._changed(call)} Pass numbers that change as tensors, and define functions "
            "outside loops.", stacklevel=5)

    def _changed(self, call):
        """Returns a sentence that names the argument whose change caused a new trace."""
        names = self._input_names(call, every=True)
        for other in reversed(list(self._graphs.values())):
            if other.call is call or other.call.structure != call.structure:
                continue
            before, now = dict(other.call.statics), dict(call.statics)
            for at in now:
                if before.get(at) != now[at]:
                    return (f"The argument '{names[at]}' changed from {before.get(at)!r} to "
                            f"{now[at]!r}.")
        if len(self._graphs) > 1:
            return "The structure of the arguments changed."
        return "The dtypes or shapes of its tensors changed."

    def _input_names(self, call, every=False):
        """Returns a name for each tensor in the arguments, derived from its parameter; if `every`
        is true, also for each static value."""
        args, kwargs = _tree.tree_unflatten(call.structure, list(range(len(call.leaves))))
        names = {}
        try:
            parameters = list(self._python_signature().parameters.values())
        except (TypeError, ValueError):
            parameters = []
        for position, value in enumerate(args):
            named = parameters[min(position, len(parameters) - 1)].name if parameters else "x"
            if parameters and parameters[min(position, len(parameters) - 1)].kind is \
                    inspect.Parameter.VAR_POSITIONAL:
                named += str(position - len(parameters) + 1)
            name_leaves(value, named, names)
        for key, value in kwargs.items():
            name_leaves(value, key, names)
        static = {at for at, _ in call.statics} if not every else set()
        return [names[at] for at in range(len(call.leaves)) if at not in static]

    def _converted(self):
        """Returns the function to trace. AutoGraph converts it unless `autograph` is False."""
        if not self._autograph or not _native.is_tracing():
            return self.python_function
        if self._ready is None:
            from . import autograph

            if self._unbound is None:
                self._ready = autograph.convert(self.python_function)
            else:
                converted, reference = autograph.convert(self._unbound[0]), self._unbound[1]
                self._ready = lambda *args, **kwargs: converted(reference(), *args, **kwargs)
        return self._ready

    # ---- methods

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        try:
            bound = self._methods.get(instance)
        except TypeError:
            raise TypeError(f"{type(instance).__name__} must be hashable and weakly referenceable "
                            "for a method with @tn.function") from None
        if bound is None:
            bound = self._methods[instance] = Function(
                _method_of(self.python_function, instance), self._trees, self._autograph,
                self._reduce_retracing, self._memory_budget, self._max_traces)
            bound._unbound = (self.python_function, weakref.ref(instance))
        return bound

    # ---- traces

    def trace(self, *specs, **kwargs) -> "Trace":
        """Traces the function for specs or tensors, and returns the trace.

        Without arguments, uses the input_signature.
        """
        if not specs and not kwargs and self._signature is not None:
            specs = tuple(self._signature)
        leaves, structure = _tree.tree_flatten((specs, kwargs))
        types = [TensorSpec.of(leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        stand_ins = [StandIn() if isinstance(leaf, TensorSpec) else leaf for leaf in types]
        args, named = _tree.tree_unflatten(structure, stand_ins)
        call = SpecCall(args, named)
        graph = self._graph(call)
        names = self._input_names(call)
        inputs = [spec for spec in types if isinstance(spec, TensorSpec)]
        with _Frame(call, graph) as frame:
            trace = graph.native.trace(
                [spec._native(name) for spec, name in zip(inputs, names)], None)
        if frame.result is not None:
            graph.by_trace[trace.pointer] = (trace, frame.result)
        shape = graph.by_trace.get(trace.pointer, (None, None))[1] or graph.structures[0]
        return Trace(trace, self.__name__, shape)

    @property
    def traces(self) -> list:
        """Returns the traces. For each structure of arguments, they are in creation order."""
        found = []
        for graph in self._graphs.values():
            for at in range(graph.native.trace_count):
                trace = graph.native.get_trace(at)
                known = graph.by_trace.get(trace.pointer)
                found.append(Trace(trace, self.__name__, known[1] if known else graph.structures[0]))
        return found

    @property
    def trace_count(self) -> int:
        """The number of traces."""
        return sum(graph.native.trace_count for graph in self._graphs.values())

    def explain(self) -> str:
        """Returns a text that lists the traces with their signatures, and why each was created."""
        return "".join(graph.native.explain() for graph in self._graphs.values())

    def pretty_printed_signature(self) -> str:
        """Returns the parameters, and the input_signature if there is one, as text."""
        text = f"{self.__name__}{self._python_signature()}"
        if self._signature is not None:
            text += "\n" + "\n".join(f"  {spec}" for spec in self._signature)
        return text

    def __repr__(self):
        return f"<tn.function {self.__name__}>"


def _to_specs(value, spec):
    """Converts an argument: the values that correspond to a TensorSpec become tensors."""
    if isinstance(spec, (TensorSpec, Tensor)):
        return value if isinstance(value, Tensor) else _convert.tensor(value, spec.dtype)
    specs, structure = _tree.tree_flatten(spec)
    leaves, shape = _tree.tree_flatten(value)
    if shape != structure:
        raise TypeError("the structure of an argument differs from that of the input_signature")
    return _tree.tree_unflatten(shape, [_to_specs(*pair) for pair in zip(leaves, specs)])


def _method_of(python_function, instance):
    """Returns a bound method that refers to its object weakly."""
    reference = weakref.ref(instance)

    @functools.wraps(python_function)
    def method(*args, **kwargs):
        return python_function(reference(), *args, **kwargs)

    parameters = inspect.signature(python_function)
    method.__signature__ = parameters.replace(parameters=list(parameters.parameters.values())[1:])
    return method


class Trace:
    """One traced graph of a function. Calling it never traces again."""

    def __init__(self, native, name, shape):
        self._native = native
        self.name = name
        self._shape = shape

    def __call__(self, *args, **kwargs):
        leaves = _tree.tree_flatten((args, kwargs))[0]
        tensors = [leaf if isinstance(leaf, Tensor) else _convert._to_tensor(leaf)
                   for leaf in leaves if isinstance(leaf, Tensor) or not isinstance(leaf, STATIC)]
        return _result(self._shape, self._native.call(tensors))

    @property
    def text(self) -> str:
        """The graph as text: inputs, captures, calls and outputs."""
        return self._native.text()

    @property
    def stages(self) -> str:
        """What executions have compiled so far, as text.

        Describes the optimised graph, its segments, and their launch plans. The format may
        change.
        """
        return self._native.stages()

    @property
    def variables(self) -> list:
        """The variables that the graph reads or assigns."""
        return self._native.variables()

    @property
    def effects(self) -> list:
        """The names of the calls with effects, such as print, assert and host_call."""
        return self._native.effects()

    @property
    def n_inputs(self) -> int:
        """The number of input tensors."""
        return self._native.n_inputs

    @property
    def n_outputs(self) -> int:
        """The number of output tensors."""
        return self._native.n_outputs

    def __repr__(self):
        return f"<tn.Trace of {self.name}: {self.n_inputs} inputs, {self.n_outputs} outputs>"


def function(func=None, *, input_signature=None, autograph: bool = True,
             reduce_retracing: bool = True, memory_budget: int | None = None, max_traces: int = 64):
    """Turns a Python function into one that runs as a graph: `@tn.function`, or with options.

    The function is traced for each kind of arguments. Tensors are inputs of the graph. Python
    numbers, strings, bools and None are constants: each distinct value has its own trace.

    Args:
        func: The function.
        input_signature: A tree of TensorSpec. Calls with other inputs raise an error.
        autograph: Whether Python's control flow on tensors is converted to control flow of the
            graph.
        reduce_retracing: Whether a size that changes repeatedly becomes dynamic.
        memory_budget: Maximum number of bytes of residuals that a call under a tape saves. The
            backward pass recomputes the others.
        max_traces: Maximum number of traces for each structure of arguments.
    """
    options = {"input_signature": input_signature, "autograph": autograph,
               "reduce_retracing": reduce_retracing, "memory_budget": memory_budget,
               "max_traces": max_traces}
    if func is None:
        return lambda wrapped: Function(wrapped, **options)
    return Function(func, **options)
