"""Tensors that carry Python numbers through a loop. A tensor adopts the dtype that the
loop assigns to it."""

from .values import adopts, default_dtype, is_number, is_tensor, signature

_tensors = {}  # id(tensor) -> (tensor, number, function that retries the loop with a dtype)


class scope:
    """Registers the tensors that carry Python numbers, while a block of the loop is traced."""

    def __init__(self, items):
        self._items = items

    def __enter__(self):
        for tensor, number, widen in self._items:
            _tensors[id(tensor)] = (tensor, number, widen)

    def __exit__(self, *_):
        for tensor, _, _ in self._items:
            _tensors.pop(id(tensor), None)


def adopt(first, second):
    """Retries the enclosing loop with a different dtype for a number that it carries, if one branch
    returns the number and the other branch returns a value of that dtype."""
    for leaf, other in ((first, second), (second, first)):
        known = _tensors.get(id(leaf))
        if known is None or known[0] is not leaf or not (is_tensor(other) or is_number(other)):
            continue
        dtype = signature(other)[0] if is_tensor(other) else default_dtype(other)
        if dtype != signature(leaf)[0] and adopts(known[1], dtype):
            if is_tensor(other) or not adopts(other, signature(leaf)[0]):
                known[2](dtype)
