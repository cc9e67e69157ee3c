"""Variables and random number generators: state that outlives calls."""

from __future__ import annotations

import weakref

from . import _convert, _dtypes, _native
from ._native import Tensor

__all__ = ["Variable", "Generator"]

# The Python objects of variables, by address, so that each variable has one object.
_objects: weakref.WeakValueDictionary = weakref.WeakValueDictionary()


class Variable(_native.Variable):
    """A cell that holds a tensor, which can be replaced. Tapes watch it when it is read, if it is
    trainable.

    A variable can be used instead of a tensor, and has the methods of tensors.

    Args:
        initial: The initial value, which determines dtype, shape and device.
        trainable: Whether tapes watch the variable when it is read.
        name: A name for display and for files.
        dtype: The dtype to convert the initial value to.
    """

    def __init__(self, initial, trainable: bool = True, name: str = "", dtype=None):
        if dtype is not None or not isinstance(initial, Tensor):
            initial = _convert.tensor(initial, dtype)
        super().__init__(initial, trainable, name)
        _objects[self._pointer] = self

    def assign(self, value) -> "Variable":
        """Replaces the value with one of the same dtype and shape. Returns the variable."""
        self._assign(self._like(value))
        return self

    def assign_add(self, value) -> "Variable":
        """Adds a tensor to the value. Returns the variable."""
        return self.assign(_native.ops["add"](self.read(), self._operand(value)))

    def assign_sub(self, value) -> "Variable":
        """Subtracts a tensor from the value. Returns the variable."""
        return self.assign(_native.ops["sub"](self.read(), self._operand(value)))

    def _operand(self, value):
        """Converts the operand that is combined with the variable. A nested list becomes a tensor
        of the variable's dtype."""
        return self._like(value) if isinstance(value, (list, tuple)) else value

    def _like(self, value):
        if isinstance(value, Tensor):
            return value
        value = _convert.tensor(value.read() if isinstance(value, Variable) else value)
        if value.dtype is not self.dtype and not (value.dtype.is_floating and self.dtype.is_integer):
            value = value.astype(self.dtype)
        if value.device != self.device and not value.is_symbolic:
            value = value.copy_to(self.device)
        return value

    def value(self) -> Tensor:
        """Returns the current value, like read()."""
        return self.read()

    def numpy(self):
        """Returns the value as a NumPy array. A later assignment does not change the array."""
        return self.read().numpy()

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.read().size

    def __getattr__(self, name):
        # Forward methods of tensors to the current value.
        if name.startswith("_") or not hasattr(Tensor, name):
            raise AttributeError(f"'Variable' object has no attribute '{name}'")
        return getattr(self.read(), name)

    def __getitem__(self, index):
        return self.read()[index]

    def __len__(self):
        return len(self.read())

    def __iter__(self):
        return iter(self.read())

    def __bool__(self):
        return bool(self.read())

    def __float__(self):
        return float(self.read())

    def __int__(self):
        return int(self.read())

    def __array__(self, dtype=None, copy=None):
        return self.read().__array__(dtype, copy)

    __array_priority__ = 1000

    def __array_function__(self, function, types, args, kwargs):
        return Tensor.__array_function__(self, function, types, args, kwargs)

    def __repr__(self):
        name = f"name={self.name!r}, " if self.name else ""
        value = self.read()
        if value.is_symbolic:
            return f"<tn.Variable: {name}shape={self.shape}, dtype={self.dtype}>"
        return repr(value).replace("<tn.Tensor: ", f"<tn.Variable: {name}", 1)

    def __reduce__(self):
        return Variable, (self.read().numpy(), self.trainable, self.name, self.dtype.name)

    def __deepcopy__(self, memo):
        return Variable(self.read(), self.trainable, self.name)


def _of(pointer):
    """Returns the Python object of a variable. Called by the extension module."""
    found = _objects.get(pointer)
    if found is None:
        found = Variable.__new__(Variable)
        _native.Variable._adopt(found, pointer)
        _objects[pointer] = found
    return found


class Generator(_native.Generator):
    """A random number generator. The same seed gives the same numbers on every device.

    Besides uniform() and normal(), each random op is a method without the parameter `state`:
    `generator.random_bernoulli(p)`, `generator.dropout(x, ratio=0.1)`.
    """

    def __init__(self, seed: int = 0):
        super().__init__(seed)

    def uniform(self, shape=(), low: float = 0.0, high: float = 1.0, dtype=_dtypes.float32):
        """Draws numbers that are uniformly distributed on [low, high)."""
        return super().uniform(dtype, shape, low, high)

    def normal(self, shape=(), mean: float = 0.0, scale: float = 1.0, dtype=_dtypes.float32):
        """Draws normally distributed numbers with a mean and a standard deviation."""
        return super().normal(dtype, shape, mean, scale)

    @property
    def state(self) -> Tensor:
        """The state, a uint32 tensor with 6 elements. Assigning an earlier state repeats the draws
        that followed it."""
        return self.read()

    @state.setter
    def state(self, value):
        self.assign(value)


def _add_random_ops():
    def method(name):
        def call(self, *args, **kwargs):
            result = self.call(name, *args, **kwargs)
            return result[0] if isinstance(result, tuple) and len(result) == 1 else result

        call.__name__ = name
        call.__doc__ = f"The op {name} with this generator's state; see tenon.{name}."
        return call

    for name in _native.random_ops:
        setattr(Generator, name, method(name))


_add_random_ops()
