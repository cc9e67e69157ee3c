"""Replacements of Python's builtins that accept symbolic tensors."""

import functools

from . import _backend, iterables
from .conditions import as_predicate
from .state import StagedList


def _symbolic(*values):
    return any(_backend.is_symbolic(value) for value in values)


def len_(value):
    if isinstance(value, StagedList):
        return value.length()
    return _backend.length(value) if _backend.is_symbolic(value) else len(value)


def bool_(*value):
    return as_predicate(value[0]) if _symbolic(*value[:1]) else bool(*value)


def int_(*arguments, **keywords):
    if _symbolic(*arguments[:1]):
        return _backend.number(arguments[0], "int32")
    return int(*arguments, **keywords)


def float_(*arguments):
    return _backend.number(arguments[0], "float32") if _symbolic(*arguments[:1]) else float(*arguments)


def range_(*bounds):
    return iterables.Range(*bounds) if _symbolic(*bounds) else range(*bounds)


def enumerate_(values, start=0):
    inner = iterables.staged(values)
    return enumerate(values, start) if inner is None else iterables.Enumerated(inner, start)


def zip_(*values, **keywords):
    parts = [iterables.staged(value) for value in values]
    if not parts or any(part is None for part in parts):
        return zip(*values, **keywords)
    return iterables.Zipped(parts)


def reversed_(values):
    inner = iterables.staged(values)
    return reversed(values) if inner is None else iterables.Reversed(inner)


def sum_(values, *start, **keywords):
    if not _symbolic(values):
        return sum(values, *start, **keywords)
    total = _backend.sum_rows(values)
    for extra in (*start, *keywords.values()):
        total = total + extra
    return total


def _extreme(builtin, reduction, pair):
    def choose(*values, **keywords):
        if len(values) == 1 and _symbolic(values[0]) and not keywords:
            return _backend.reduce(reduction, values[0])
        if len(values) == 1 and not _backend.is_tensor(values[0]):
            values = (list(values[0]),)
        items = values[0] if len(values) == 1 else values
        if keywords or not _symbolic(*items):
            return builtin(*values, **keywords)
        return functools.reduce(pair, items)

    return choose


def _folded(builtin, reduction, pair):
    def fold(values):
        if _symbolic(values):
            return _backend.reduce(reduction, values)
        result = None
        for value in values:
            if _symbolic(value):
                value = as_predicate(value)
                result = value if result is None else pair(result, value)
            elif bool(value) is (builtin is any):
                return builtin is any
        return (builtin is all) if result is None else result

    return fold


def _of_list(function, method):
    """Wraps a function of the package, so that it also accepts a list that grew in a loop
    (StagedList)."""

    def call(*arguments, **keywords):
        if arguments and isinstance(arguments[0], StagedList):
            if len(arguments) > 1 or keywords:
                raise TypeError(f"{method}: a list that grew in a loop can only be joined along "
                                "axis 0")
            return getattr(arguments[0], method)()
        return function(*arguments, **keywords)

    return call


REPLACEMENTS = {
    len: len_,
    bool: bool_,
    int: int_,
    float: float_,
    range: range_,
    enumerate: enumerate_,
    zip: zip_,
    reversed: reversed_,
    sum: sum_,
    min: _extreme(min, "min", _backend.smaller),
    max: _extreme(max, "max", _backend.larger),
    any: _folded(any, "any", _backend.logical_or),
    all: _folded(all, "all", _backend.logical_and),
}

@functools.lru_cache(maxsize=1)
def _package_functions():
    """Returns functions of the package that must be replaced, and their replacements."""
    pairs = [
        (function, _of_list(function, name))
        for name, function in _backend.functions("stack", "concat").items()
    ]
    return {id(function): (function, replacement) for function, replacement in pairs}


def replacement(function):
    """Returns the replacement of a builtin or of a function of the package; None if there is
    none."""
    known = _package_functions().get(id(function))
    if known is not None and known[0] is function:
        return known[1]
    try:
        return REPLACEMENTS.get(function)
    except TypeError:
        return None
