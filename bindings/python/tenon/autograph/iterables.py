"""The values that a staged for loop can iterate over. Each class has a length and an item for each
index."""

from . import _backend
from .state import StagedList


class Rows:
    """The slices of a tensor along its first axis."""

    def __init__(self, tensor):
        self._tensor = tensor

    def length(self):
        return _backend.length(self._tensor)

    def item(self, index):
        return _backend.row(self._tensor, index)

    def __iter__(self):
        return iter(self._tensor)


class Entries:
    """The entries of a list of tensors."""

    def __init__(self, values):
        self._values = values

    def length(self):
        return self._values.length()

    def item(self, index):
        return self._values[index]


class Range:
    """A range whose bounds may be tensors. The step is a Python int."""

    def __init__(self, *bounds):
        start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        if type(step) is not int or step == 0:
            raise ValueError(f"range: the step must be a Python int other than 0, but is {step}")
        self._start, self._stop, self._step = start, stop, step

    def length(self):
        if self._step < 0:
            distance = self._start - self._stop
        else:
            distance = self._stop if self._starts_at_zero else self._stop - self._start
        size = abs(self._step)
        return distance if size == 1 else (distance + (size - 1)) // size

    def item(self, index):
        scaled = index if self._step == 1 else index * self._step
        return scaled if self._starts_at_zero else self._start + scaled

    @property
    def _starts_at_zero(self):
        return type(self._start) is int and self._start == 0


class Enumerated:
    def __init__(self, values, start):
        self._values = values
        self._start = start

    def length(self):
        return self._values.length()

    def item(self, index):
        number = index if type(self._start) is int and self._start == 0 else index + self._start
        return number, self._values.item(index)


class Zipped:
    def __init__(self, parts):
        self._parts = parts

    def length(self):
        lengths = [part.length() for part in self._parts]
        if all(type(length) is int for length in lengths):
            return min(lengths)
        shortest = lengths[0]
        for length in lengths[1:]:
            shortest = _backend.minimum(shortest, length)
        return shortest

    def item(self, index):
        return tuple(part.item(index) for part in self._parts)


class Reversed:
    def __init__(self, values):
        self._values = values

    def length(self):
        return self._values.length()

    def item(self, index):
        return self._values.item(self._values.length() - 1 - index)


_STAGED = (Range, Rows, Entries, Enumerated, Zipped, Reversed)


def staged(values):
    """Returns an object of this file for a loop in the graph; None if Python iterates over the
    values."""
    if isinstance(values, _STAGED):
        return values
    if isinstance(values, StagedList):
        return Entries(values)
    if _backend.is_tensor(values) and _backend.is_tracing():
        if not _backend.shape(values):
            raise TypeError("cannot iterate over a tensor of rank 0")
        return Rows(values)
    return None


def lazy_range(function):
    """Returns the class Range if `function` is tn.range or tn.arange and a function is being
    traced. A loop over a Range does not create the tensor. Otherwise returns None."""
    if function in (range, enumerate, zip) or not _backend.is_tracing():
        return None
    ranges = _backend.functions("range", "arange").values()
    return Range if any(function is item for item in ranges) else None
