"""Custom ops whose functions are written in Python."""

from __future__ import annotations

import threading

import numpy

from . import _convert, _dtypes, _native
from ._dtypes import DType

__all__ = ["custom_op", "CustomOp"]


class _Functions:
    """The callbacks of a custom op, for the extension module. Each distinct set of attributes has a
    number, because C compares attributes by their bytes."""

    def __init__(self, infer, compute, decompose, backward):
        self._infer, self._compute = infer, compute
        self._decompose, self._backward = decompose, backward
        self._numbers = {(): 0}
        self._attributes = [{}]
        self._lock = threading.Lock()

    def number(self, attributes):
        key = tuple(sorted((name, type(value), value) for name, value in attributes.items()))
        with self._lock:
            if key not in self._numbers:
                self._numbers[key] = len(self._attributes)
                self._attributes.append(dict(attributes))
            return self._numbers[key]

    def infer(self, number, types):
        result = self._infer(*[_Type(*each) for each in types], **self._attributes[number])
        result = [result] if isinstance(result, _Type) else list(result)
        return [(each.dtype, each.shape) for each in result]

    def compute(self, number, inputs, outputs):
        arrays = [_array(*each) for each in inputs]
        results = self._compute(*arrays, **self._attributes[number])
        results = results if isinstance(results, tuple) else (results,)
        if len(results) != len(outputs):
            raise ValueError(f"a custom op computed {len(results)} outputs instead of {len(outputs)}")
        for result, output in zip(results, outputs):
            target = _array(*output)
            result = numpy.asarray(result)
            if result.shape != target.shape:
                raise ValueError(f"a custom op computed an output of shape {result.shape} instead of "
                                 f"{target.shape}")
            target[...] = result

    def decomposition(self, number):
        def decompose(inputs):
            return _list(self._decompose(*inputs, **self._attributes[number]))

        return decompose

    def derivative(self, number):
        def backward(inputs, outputs, cotangents):
            return _list(self._backward(inputs, outputs, cotangents, **self._attributes[number]))

        return backward


def _list(values):
    values = values if isinstance(values, (list, tuple)) else [values]
    return [None if value is None else _convert._to_tensor(value) for value in values]


class _Type:
    """The type of a tensor: a dtype and a shape. `infer` takes and returns such types."""

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype, shape):
        self.dtype = None if dtype is None else DType(dtype)
        self.shape = tuple(shape)

    def with_shape(self, shape):
        """Returns a type with the same dtype and the given shape."""
        return _Type(self.dtype, shape)

    def with_dtype(self, dtype):
        """Returns a type with the same shape and the given dtype."""
        return _Type(dtype, self.shape)

    def __repr__(self):
        return f"{self.dtype}{list(self.shape)}"


def _array(memory, dtype, shape):
    if dtype is None:
        return None
    numpy_dtype = numpy.uint16 if dtype is _dtypes.bfloat16 else dtype.to_numpy()
    count = int(numpy.prod(shape, dtype=numpy.int64))
    return numpy.frombuffer(memory, numpy_dtype, count).reshape(shape)


class CustomOp:
    """A custom op. Calls take tensors, and attributes as keyword arguments."""

    def __init__(self, name, functions, n_inputs, n_outputs, computes, differentiates):
        self.name = name
        self._functions = functions
        self._n_outputs = n_outputs
        self._number = _native.register_op(name, functions, n_inputs, n_outputs, computes,
                                           differentiates)

    def __call__(self, *inputs, **attributes):
        tensors = [None if value is None else _convert._to_tensor(value) for value in inputs]
        number = self._functions.number(attributes)
        outputs = _native.call_custom_op(self._number, number, tensors, self._n_outputs)
        return outputs[0] if self._n_outputs == 1 else tuple(outputs)

    def __repr__(self):
        return f"<tn.CustomOp {self.name}>"


def custom_op(name: str, *, infer, compute=None, decompose=None, backward=None, n_inputs: int = 1,
              n_outputs: int = 1) -> CustomOp:
    """Registers a custom op, and returns a callable for it.

    Args:
        name: A name of lower-case letters, digits, "_" and ".", such as "acme.soft_cap".
        infer: Takes the types of the inputs, each with `dtype` and `shape`, and returns the
            types of the outputs.
        compute: Takes read-only NumPy arrays and returns arrays. Pass either this or
            `decompose`.
        decompose: Takes tensors, calls ops, and returns tensors.
        backward: Takes lists of inputs, outputs and cotangents. Returns a gradient or None for
            each input.
        n_inputs: The number of inputs.
        n_outputs: The number of outputs.
    """
    if (compute is None) == (decompose is None):
        raise ValueError("custom_op: pass exactly one of compute and decompose")
    functions = _Functions(infer, compute, decompose, backward)
    return CustomOp(name, functions, n_inputs, n_outputs, compute is not None, backward is not None)
