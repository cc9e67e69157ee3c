"""Programs in files, including ONNX models, and named tensors in safetensors files."""

from __future__ import annotations

import os
from collections.abc import Mapping

from . import _convert, _native, _tree
from ._function import Function, Trace
from ._native import Tensor
from ._specs import TensorSpec, _from_native
from ._variables import Variable

__all__ = ["save", "load", "Program", "ProgramFunction", "save_safetensors", "load_safetensors",
           "dump_safetensors", "SafetensorsFile"]


def save(path, functions: Mapping) -> None:
    """Saves functions and their variables as a program: a folder with an ONNX model for each
    function.

    Args:
        path: The folder. It is created, but its parent must exist.
        functions: A dict from names to a Trace, a list of traces, or a Function, whose traces
            are all saved.
    """
    names, traces = [], []
    for name, value in functions.items():
        for trace in _traces_of(name, value):
            names.append(name)
            traces.append(trace._native)
    _native.save_program(os.fspath(path), names, traces)


def _traces_of(name, value):
    if isinstance(value, Function):
        if value.trace_count == 0 and value._signature is not None:
            value.trace()
        if value.trace_count == 0:
            raise ValueError(f"save: {name} was not traced; call it, or call its trace() with specs")
        return value.traces
    return [value] if isinstance(value, Trace) else list(value)


def load(path, *, strict: bool = False) -> "Program":
    """Opens a program: a folder that save() wrote, or an ONNX file.

    strict: whether a value whose shape contradicts its declaration in an ONNX file is an error,
    instead of a warning.
    """
    return Program(path, strict=strict)


class Program:
    """The functions and variables of a program. Functions are attributes and items:
    `program.predict(x)`."""

    def __init__(self, path, *, strict: bool = False):
        self._native = _native.Program(os.fspath(path), strict)
        self.names = self._native.functions()
        self.functions = {name: ProgramFunction(self._native, at, name)
                          for at, name in enumerate(self.names)}

    def __getitem__(self, name) -> "ProgramFunction":
        return self.functions[name]

    def __getattr__(self, name):
        if name in self.__dict__.get("functions", {}):
            return self.functions[name]
        raise AttributeError(f"the program has no function '{name}'; its functions are "
                             f"{', '.join(self.__dict__.get('functions', {}))}")

    def __dir__(self):
        return [*super().__dir__(), *self.functions]

    @property
    def variables(self) -> list[Variable]:
        """The variables of the program. Training may assign to them."""
        return self._native.variables()

    def describe(self) -> dict:
        """Describes the functions, their signatures and ops, and the variables."""
        import json

        return json.loads(self._native.describe())

    def __repr__(self):
        return f"<tn.Program: {', '.join(self.names)}>"


class ProgramFunction:
    """A function of a program. Pass tensors as positional arguments, and static arguments by
    name."""

    def __init__(self, program, at, name):
        self._program = program
        self._at = at
        self._native = program.function(name)
        self.name = name

    def __call__(self, *args, **statics):
        tensors = [_convert._to_tensor(leaf) for leaf in _tree.tree_flatten(args)[0]]
        outputs = self._native.call(tensors, list(statics.items()) or None)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    @property
    def signatures(self) -> list[dict]:
        """Returns the inputs, outputs and static arguments of each signature."""
        return [{"inputs": [_from_native(spec) for spec in inputs],
                 "outputs": [_from_native(spec) for spec in outputs], "statics": statics}
                for inputs, outputs, statics in self._program.signatures(self._at)]

    def trace(self, *specs: TensorSpec, **statics) -> Trace:
        """Returns the trace for inputs of these types."""
        native = self._native.trace([spec._native(spec.name) for spec in specs],
                                    list(statics.items()) or None)
        leaves = list(range(native.n_outputs))
        tree = leaves[0] if len(leaves) == 1 else tuple(leaves)
        return Trace(native, self.name, (_tree.tree_flatten(tree)[1], (None,) * len(leaves)))

    def gradient(self):
        """Returns a function that computes the gradients of the sum of the results with respect to
        each input."""
        native = self._native.gradient()

        def gradient(*args, **statics):
            tensors = [_convert._to_tensor(leaf) for leaf in _tree.tree_flatten(args)[0]]
            outputs = native.call(tensors, list(statics.items()) or None)
            return outputs[0] if len(outputs) == 1 else tuple(outputs)

        return gradient

    def __repr__(self):
        return f"<tn.ProgramFunction {self.name}>"


# ---- named tensors

def _named(tensors):
    return list(tensors), [value if isinstance(value, Tensor) else _convert.tensor(value)
                           for value in tensors.values()]


def save_safetensors(path, tensors: Mapping, metadata: Mapping | None = None) -> None:
    """Writes named tensors to a file, with strings as metadata."""
    _native.save_safetensors(os.fspath(path), *_named(tensors), dict(metadata or {}))


def dump_safetensors(tensors: Mapping, metadata: Mapping | None = None) -> bytes:
    """Returns the bytes that save_safetensors() would write."""
    return _native.write_safetensors(*_named(tensors), dict(metadata or {}))


class SafetensorsFile(Mapping):
    """An open file of named tensors: a mapping that loads each tensor on access.

    Args:
        source: A path, or the content of a file as bytes.
    """

    def __init__(self, source):
        is_bytes = isinstance(source, (bytes, bytearray, memoryview))
        self._native = _native.Safetensors(bytes(source) if is_bytes else os.fspath(source))
        self.specs = {name: TensorSpec(shape, dtype, name)
                      for name, dtype, shape in self._native.entries()}
        self.metadata = self._native.metadata()

    def __getitem__(self, name) -> Tensor:
        return self._native.load(name)

    def __iter__(self):
        return iter(self.specs)

    def __len__(self):
        return len(self.specs)


def load_safetensors(source) -> dict[str, Tensor]:
    """Loads all tensors of a file, or of its content as bytes, by name."""
    return dict(SafetensorsFile(source))
