"""The arguments of a function call: tensors, and the static values that select the trace."""

from __future__ import annotations

import weakref

from . import _convert, _tree
from ._native import Tensor
from ._variables import Generator, Variable

STATIC = (int, float, str, bool, type(None))


class Static:
    """A leaf of the arguments that is not a tensor. It equals leaves with the same type and value.
    Objects that cannot be hashed are compared by identity."""

    __slots__ = ("value", "_key")

    def __init__(self, value):
        self.value = value
        if isinstance(value, float):
            self._key = (float, value.hex())
        elif isinstance(value, STATIC):
            self._key = (type(value), value)
        else:
            self._key = identity_key(value)

    def __hash__(self):
        return hash(self._key)

    def __eq__(self, other):
        return isinstance(other, Static) and self._key == other._key

    def __repr__(self):
        return repr(self.value)


def identity_key(value):
    """Returns the cache key of an object: its value if it can be hashed, or else its identity."""
    if isinstance(value, (Variable, Generator)) or callable(value):
        return Identity(value)
    try:
        hash(value)
    except TypeError:
        return Identity(value)
    return (type(value), value)


class Identity:
    """Identifies an object without keeping it alive."""

    __slots__ = ("_hash", "_reference")

    def __init__(self, value):
        self._hash = id(value)
        try:
            self._reference = weakref.ref(value)
        except TypeError:
            self._reference = lambda kept=value: kept

    def __hash__(self):
        return self._hash

    def __eq__(self, other):
        return (isinstance(other, Identity) and self._hash == other._hash
                and self._reference() is other._reference())


class Call:
    """The arguments of a function call: tensors, and the static values that select the trace."""

    __slots__ = ("tensors", "structure", "statics", "leaves")

    def __init__(self, args, kwargs):
        leaves, self.structure = _tree.tree_flatten((args, kwargs) if kwargs else (args, {}))
        self.tensors = []
        statics = []
        for at, leaf in enumerate(leaves):
            if type(leaf) is Tensor:
                self.tensors.append(leaf)
            elif isinstance(leaf, STATIC) or not is_array(leaf):
                statics.append((at, Static(leaf)))
            else:
                leaf = leaves[at] = _convert._to_tensor(leaf)
                self.tensors.append(leaf)
        self.statics = tuple(statics)
        self.leaves = leaves

    @property
    def key(self):
        return (self.structure, self.statics)

    def arguments(self, tensors):
        """Returns the arguments of this call, with its tensors replaced by `tensors`."""
        static = dict(self.statics)
        rest = iter(tensors)
        leaves = [static[at].value if at in static else next(rest)
                  for at in range(len(self.leaves))]
        return _tree.tree_unflatten(self.structure, leaves)


def is_array(leaf):
    return (hasattr(leaf, "__dlpack__") or hasattr(leaf, "__array__")) and not isinstance(leaf, Variable)


class StandIn:
    """Stands for a tensor in the arguments of a function that is traced from tensor specs."""

    __slots__ = ()


class SpecCall(Call):
    __slots__ = ()

    def __init__(self, args, kwargs):
        leaves, self.structure = _tree.tree_flatten((args, kwargs))
        self.tensors = []
        self.statics = tuple((at, Static(leaf)) for at, leaf in enumerate(leaves)
                             if not isinstance(leaf, StandIn))
        self.leaves = leaves


def name_leaves(value, name, names):
    """Stores the names of the leaves of a tree in `names`: `x` for one leaf, `x_0`, `x_1` for
    several."""
    leaves = _tree.tree_flatten(value)[0]
    for at, leaf in enumerate(leaves):
        names[leaf] = name if len(leaves) == 1 else f"{name}_{at}"
