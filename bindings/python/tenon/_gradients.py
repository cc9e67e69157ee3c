"""Gradients: tapes, and functions that differentiate functions."""

from __future__ import annotations

import functools
import inspect

from . import _convert, _native, _tree
from ._native import Tensor
from ._variables import Variable

__all__ = [
    "GradientTape", "grad", "value_and_grad", "gradients_function", "implicit_gradients",
    "implicit_value_and_gradients", "custom_gradient", "stop_recording",
]

_active: list = []


def _sources(tree):
    leaves, structure = _tree.tree_flatten(tree)
    for leaf in leaves:
        if not isinstance(leaf, (Tensor, Variable)):
            raise TypeError(f"a source of gradients must be a Tensor or a Variable, but is {leaf!r}")
    return leaves, structure


class GradientTape:
    """Records ops inside a `with` block, and computes gradients.

    >>> with tn.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = x * x
    >>> tape.gradient(y, x)

    Args:
        persistent: Whether gradients can be computed more than once.
        watch_accessed_variables: Whether the tape watches trainable variables when they are
            read.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True):
        self._persistent = persistent
        self._watch = watch_accessed_variables
        self._tape = None

    def __enter__(self):
        if self._tape is None:
            self._tape = _native.Tape(self._persistent, self._watch)
        elif self._tape.is_recording:
            raise ValueError("the tape is already recording; use another tape")
        else:
            self._tape.resume()
        return self

    def __exit__(self, *exception):
        if self._tape.is_recording:
            self._tape.pause()

    def _begun(self):
        if self._tape is None:
            raise ValueError("the tape has not recorded anything: use it in a `with` statement")
        return self._tape

    def watch(self, tree) -> None:
        """Watches the tensors and variables of a tree: later ops that depend on them are
        recorded."""
        for leaf in _sources(tree)[0]:
            self._begun().watch(leaf)

    def watched_variables(self) -> tuple:
        """Returns the variables that the tape watches, in order of first read."""
        return tuple(value for value in self._begun().watched() if isinstance(value, Variable))

    def stop_recording(self):
        """Pauses recording in a `with` block: `with tape.stop_recording():`."""
        return _Paused(self._begun())

    def reset(self) -> None:
        """Discards all recorded ops and watched values."""
        self._begun().reset()

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients: str = "none"):
        """Returns the gradients of the sum of the targets with respect to each source.

        Args:
            target: A tree of floating tensors.
            sources: A tree of tensors and variables.
            output_gradients: The cotangents of the targets, as a tree of the same structure. By
                default, all are ones.
            unconnected_gradients: The gradient with respect to a source that no target depends
                on: "none" returns None, "zero" returns zeros.

        Returns:
            A tree with the structure of the sources.
        """
        if unconnected_gradients not in ("none", "zero"):
            raise ValueError("unconnected_gradients must be 'none' or 'zero'")
        tape = self._begun()
        if self._persistent is False and tape.is_recording:
            tape.pause()
        targets = [_as_target(leaf) for leaf in _tree.tree_flatten(target)[0]]
        leaves, structure = _sources(sources)
        cotangents = None
        if output_gradients is not None:
            cotangents = _tree.tree_flatten(output_gradients)[0]
        grads = tape.gradient(targets, cotangents, leaves, unconnected_gradients == "zero")
        return _tree.tree_unflatten(structure, grads)

    def jacobian(self, target, sources, unconnected_gradients: str = "none"):
        """Returns the derivatives of all elements of a target with respect to all elements of each
        source."""
        leaves, structure = _sources(sources)
        return _tree.tree_unflatten(structure, self._begun().jacobian(
            _as_target(target), leaves, unconnected_gradients == "zero"))


def _as_target(value):
    return value.read() if isinstance(value, Variable) else value


class _Paused:
    def __init__(self, tape):
        self._tape = tape
        self._was_recording = False

    def __enter__(self):
        self._was_recording = self._tape.is_recording
        if self._was_recording:
            self._tape.pause()

    def __exit__(self, *exception):
        if self._was_recording:
            self._tape.resume()


def stop_recording(tape: GradientTape):
    """Pauses a tape in a `with` block."""
    return tape.stop_recording()


# ---- gradients of functions

class _Arguments:
    """The arguments of a call. `argnums` selects those that are differentiated."""

    def __init__(self, args, argnums):
        self.args = list(args)
        self.numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        for number in self.numbers:
            if not -len(args) <= number < len(args):
                raise ValueError(f"argnums has {number}, but the call has only {len(args)} positional "
                                 "arguments")
        self.chosen = [args[number] for number in self.numbers]
        leaves, self.structure = _tree.tree_flatten(self.chosen)
        self.leaves = [leaf if isinstance(leaf, (Tensor, Variable)) else _floating(leaf)
                       for leaf in leaves]

    def replaced(self, leaves):
        args = list(self.args)
        for number, value in zip(self.numbers, _tree.tree_unflatten(self.structure, leaves)):
            args[number] = value
        return args

    def result(self, grads, argnums):
        values = _tree.tree_unflatten(self.structure, grads)
        return values[0] if isinstance(argnums, int) else tuple(values)


def _floating(leaf):
    value = _convert.tensor(leaf)
    return value if value.dtype.is_floating else value.astype("float32")


def _differentiate(function, argnums, has_aux, args, kwargs):
    """Returns the value of the function, its auxiliary output and the gradients."""
    arguments = _Arguments(args, argnums)
    tape = _native.Tape(False, False)
    # Create new handles, so that a tensor that occurs twice gets a gradient for each occurrence.
    leaves = [_native.ops["identity"](leaf) if isinstance(leaf, Tensor) else leaf
              for leaf in arguments.leaves]
    for leaf in leaves:
        tape.watch(leaf)
    output = function(*arguments.replaced(leaves), **kwargs)
    value, aux = output if has_aux else (output, None)
    tape.pause()
    value = _convert._to_tensor(value)
    if value.ndim != 0 and value.size != 1:
        raise ValueError("grad: the function must return a tensor with one element, "
                         f"but its shape is {value.shape}")
    grads = tape.gradient([value], None, leaves, False)
    return value, aux, arguments.result(grads, argnums)


def grad(function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False):
    """Returns a function that computes the gradient of `function`, whose result must be a scalar.

    Args:
        function: The function.
        argnums: Indices of the positional arguments to differentiate. Each is a tree of tensors
            or variables.
        has_aux: Whether the function returns a pair, of which only the first element is
            differentiated.
    """

    @functools.wraps(function)
    def gradient(*args, **kwargs):
        _, aux, grads = _differentiate(function, argnums, has_aux, args, kwargs)
        return (grads, aux) if has_aux else grads

    return gradient


def value_and_grad(function, argnums: int | tuple[int, ...] = 0, has_aux: bool = False):
    """Returns a function that computes the value and the gradient of `function`; see grad()."""

    @functools.wraps(function)
    def value_and_gradient(*args, **kwargs):
        value, aux, grads = _differentiate(function, argnums, has_aux, args, kwargs)
        return ((value, aux), grads) if has_aux else (value, grads)

    return value_and_gradient


def gradients_function(function):
    """Returns a function that computes the gradients with respect to all arguments, as a tuple."""

    @functools.wraps(function)
    def gradients(*args, **kwargs):
        return _differentiate(function, tuple(range(len(args))), False, args, kwargs)[2]

    return gradients


def implicit_value_and_gradients(function):
    """Returns a function that computes the value of `function`, and a pair (gradient, variable) for
    each trainable variable that it reads."""

    @functools.wraps(function)
    def value_and_gradients(*args, **kwargs):
        def body(_):
            return [_convert._to_tensor(function(*args, **kwargs))]

        outputs, _, pairs = _native.gradients(body, [], 1, False)
        return outputs[0], [(gradient, variable) for variable, gradient in pairs]

    return value_and_gradients


def implicit_gradients(function):
    """Returns a function that computes a pair (gradient, variable) for each trainable variable that
    `function` reads."""
    both = implicit_value_and_gradients(function)

    @functools.wraps(function)
    def gradients(*args, **kwargs):
        return both(*args, **kwargs)[1]

    return gradients


def custom_gradient(function):
    """Gives a function a custom gradient. The function returns its result and a derivative, which
    maps the cotangents of the results to the gradients with respect to the arguments.

    >>> @tn.custom_gradient
    ... def clip_gradient(x):
    ...     return x, lambda upstream: tn.clip(upstream, -1, 1)
    """

    @functools.wraps(function)
    def call(*args, **kwargs):
        if kwargs:
            bound = inspect.signature(function).bind(*args, **kwargs)
            args = bound.args
        return _call_with_gradient(function, args)

    return call


def _call_with_gradient(function, args):
    leaves, structure = _tree.tree_flatten(list(args))
    tensors = [_convert._to_tensor(leaf) for leaf in leaves]
    state = {}

    def forward(_):
        # Use the original tensors, because outer tapes record what the derivative computes from
        # them.
        result, state["derivative"] = function(*_tree.tree_unflatten(structure, tensors))
        outputs, state["structure"] = _tree.tree_flatten(result)
        if not outputs:
            raise ValueError("custom_gradient: the function returned no tensors")
        state["outputs"] = [_convert._to_tensor(output) for output in outputs]
        return state["outputs"][:1]

    def backward(inputs, outputs, cotangents):
        derivative = state["derivative"]
        if _native.is_tracing():
            # The derivative is traced in a different graph, so it must not use tensors
            # of the function's graph. Call the function again in this graph.
            _, derivative = function(*_tree.tree_unflatten(structure, inputs))
        grads = derivative(*cotangents)
        if len(inputs) == 1 and not isinstance(grads, (tuple, list)):
            grads = [grads]
        return [None if grad is None else _convert._to_tensor(grad)
                for grad in _tree_leaves(grads, len(inputs))]

    def computed(inputs):
        return state["outputs"]

    # C needs the number of outputs before the call, so first assume one. `forward` computes all
    # outputs. If there are several, a second call passes them to C without computing them again.
    outputs = _native.custom_gradient(forward, tensors, backward, 1)
    if len(state["outputs"]) != 1:
        outputs = _native.custom_gradient(computed, tensors, backward, len(state["outputs"]))
    return _tree.tree_unflatten(state["structure"], outputs)


def _tree_leaves(grads, count):
    leaves = _tree.tree_flatten(grads if isinstance(grads, (tuple, list)) else [grads])[0]
    if len(leaves) != count:
        raise ValueError(f"custom_gradient: the derivative returned {len(leaves)} gradients for "
                         f"{count} inputs")
    return leaves

