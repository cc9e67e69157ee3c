"""tf.data: the most common dataset functions, as Python iterables of tensors."""

import builtins
import itertools

from .. import _control, _convert, _devices, _native, _tree
from . import random

_ops = _native.ops


class Iterator:
    """Iterates over a dataset. Inside a function, next() reads an element each time the graph
    runs."""

    def __init__(self, elements):
        self._elements = iter(elements)
        self._next = []  # An element that was read ahead to determine its type.

    def __iter__(self):
        return self

    def __next__(self):
        if not _native.is_tracing():
            return self._next.pop() if self._next else next(self._elements)
        if not self._next:
            with _devices.Scope():
                self._next.append(next(self._elements))
        return _control.py_function(lambda: next(self), [], self._next[0])


class Dataset:
    """A sequence of trees of tensors that can be iterated repeatedly. Functions treat it as a
    Python iterable."""

    def __init__(self, make):
        self._make = make

    def __iter__(self):
        # A for loop over a dataset is unrolled while tracing.
        return self._make() if _native.is_tracing() else Iterator(self._make())

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """Creates a dataset of the slices of tensors along their first axis."""
        if isinstance(tensors, dict):
            names = list(tensors)
            columns = [_convert.asarray(tensors[name]) for name in names]
            return Dataset(lambda: (dict(builtins.zip(names, row))
                                    for row in builtins.zip(*columns)))
        if isinstance(tensors, tuple):
            columns = [_convert.asarray(column) for column in tensors]
            return Dataset(lambda: builtins.zip(*columns))
        values = _convert.asarray(tensors)
        return Dataset(lambda: iter(values))

    @staticmethod
    def from_tensors(tensors, name=None):
        """Creates a dataset with a single element."""
        value = _tree.tree_map(_convert.asarray, tensors)
        return Dataset(lambda: iter([value]))

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None,
                       output_signature=None, name=None):
        """Creates a dataset of the values of a Python generator."""
        def values():
            for value in generator(*(args or ())):
                if output_types is None:
                    yield _tree.tree_map(_convert.asarray, value)
                else:
                    yield _tree.tree_map(_convert.tensor, value, output_types)

        return Dataset(values)

    @staticmethod
    def range(*bounds, name=None):
        """Creates a dataset of the int64 numbers of a range."""
        return Dataset(lambda: (_convert.tensor(i, "int64") for i in builtins.range(*bounds)))

    @staticmethod
    def zip(*datasets, name=None):
        """Combines datasets to a dataset of tuples."""
        return Dataset(lambda: builtins.zip(*datasets))

    def batch(self, batch_size, drop_remainder=False, name=None):
        """Stacks groups of consecutive elements."""
        def batches():
            elements = iter(self)
            while rows := list(itertools.islice(elements, batch_size)):
                if drop_remainder and len(rows) < batch_size:
                    return
                yield _tree.tree_map(lambda *parts: _ops["stack"](list(parts)), *rows)

        return Dataset(batches)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=True, name=None):
        """Draws each element at random from the next `buffer_size` elements, in a different order
        in each iteration."""
        generator = random.generator_for(seed)

        def shuffled():
            import random as python_random

            draw = python_random.Random(generator.uniform((), 0, 2**31 - 1, "int64").item())
            elements = iter(self)
            held = list(itertools.islice(elements, buffer_size))
            while held:
                at = draw.randrange(len(held))
                yield held[at]
                for replacement in itertools.islice(elements, 1):
                    held[at] = replacement
                    break
                else:
                    del held[at]

        return Dataset(shuffled)

    def map(self, map_func, num_parallel_calls=None, deterministic=None, name=None):
        """Applies a function to each element."""
        return Dataset(lambda: (map_func(*x) if isinstance(x, tuple) else map_func(x) for x in self))

    def filter(self, predicate, name=None):
        """Keeps the elements for which a function returns true."""
        return Dataset(lambda: (x for x in self if (
            predicate(*x) if isinstance(x, tuple) else predicate(x))))

    def enumerate(self, start=0, name=None):
        """Returns a dataset of pairs (number, element)."""
        return Dataset(lambda: ((_convert.tensor(i, "int64"), x)
                                for i, x in builtins.enumerate(self, start)))

    def take(self, count, name=None):
        """Keeps the first `count` elements."""
        return Dataset(lambda: itertools.islice(iter(self), count))

    def skip(self, count, name=None):
        """Omits the first `count` elements."""
        return Dataset(lambda: itertools.islice(iter(self), count, None))

    def repeat(self, count=None, name=None):
        """Repeats the elements `count` times, or infinitely if `count` is None."""
        rounds = itertools.count() if count in (None, -1) else None
        return Dataset(lambda: itertools.chain.from_iterable(
            self for _ in (rounds or builtins.range(count))))

    def prefetch(self, buffer_size, name=None):
        """Returns this dataset unchanged: elements are not prefetched."""
        return self

    def cache(self, filename="", name=None):
        """Stores the elements in memory during the first iteration."""
        kept = []

        def cached():
            if not kept:
                kept.append(list(self))
            return iter(kept[0])

        return Dataset(cached)


AUTOTUNE = -1
__all__ = ["AUTOTUNE", "Dataset", "Iterator"]
