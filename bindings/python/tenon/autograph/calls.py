"""Decides which called functions are converted, and converts them."""

import functools
import os
import sysconfig
import types

from . import _backend, builtin_operators, convert, iterables
from .errors import AutoGraphError
from .libraries import is_library
from .registry import remember

_STANDARD_LIBRARY = tuple(
    os.path.join(sysconfig.get_paths()[name], "") for name in ("stdlib", "platstdlib")
)
_SITE_PACKAGES = tuple(sysconfig.get_paths()[name] for name in ("purelib", "platlib"))
_LEFT_ALONE = "__tenon_do_not_convert__"
_CONVERTS_ARGUMENTS = "__tenon_converts_arguments__"  # Set on tenon.tf functions.


def converted(function):
    """Returns the function that converted code calls instead of `function`."""
    kind = type(function)
    replacement = builtin_operators.replacement(function) or _taking_functions().get(id(function))
    if replacement is not None:
        return replacement
    if kind is types.FunctionType:
        if getattr(function, _CONVERTS_ARGUMENTS, False):
            return _with_converted_arguments(function)
        return _converted_function(function)
    if kind is types.MethodType:
        inner = function.__func__
        if type(inner) is not types.FunctionType:
            return function
        new = _converted_function(inner)
        return function if new is inner else types.MethodType(new, function.__self__)
    if isinstance(function, type):
        return _constructor(function)
    if kind is functools.partial:
        return functools.partial(converted(function.func), *function.args, **function.keywords)
    call = getattr(kind, "__call__", None)
    if type(call) is types.FunctionType and not is_library(kind.__module__):
        new = _converted_function(call)
        return function if new is call else types.MethodType(new, function)
    return function


def _converted_function(function):
    if convert.is_converted(function):
        return function
    if getattr(function, _LEFT_ALONE, False):
        return function
    if is_library(function.__module__) or _in_standard_library(function.__code__):
        return function
    try:
        return convert.convert_function(function)
    except convert.Unconvertible as error:
        remember(function.__code__, error.rule, str(error))
        return function


def iterated(function):
    """Returns the function that converted code calls instead of `function` to create the iterable
    of a for loop."""
    return iterables.lazy_range(function) or converted(function)


@functools.lru_cache(maxsize=1)
def _taking_functions():
    """Returns a dict that maps the id of a higher-order function, such as map(), to a wrapper. The
    wrapper converts the functions that are passed to it."""
    functions = [map, filter, sorted, functools.reduce]
    functions += _backend.functions(
        "cond", "while_loop", "scan", "switch_case", "grad", "value_and_grad"
    ).values()
    return {id(function): _with_converted_arguments(function) for function in functions}


def _with_converted_arguments(function):
    def call(*arguments, **keywords):
        keywords = {name: convert_argument(value) for name, value in keywords.items()}
        return function(*map(convert_argument, arguments), **keywords)

    return call


def convert_argument(value):
    """Converts an argument if it is a Python function or method."""
    return converted(value) if isinstance(value, (types.FunctionType, types.MethodType)) else value


def _constructor(cls):
    """Returns a function that creates an object of a class with a converted __init__."""
    if type(cls) is not type or is_library(cls.__module__):
        return cls
    init = cls.__init__
    if cls.__new__ is not object.__new__ or type(init) is not types.FunctionType:
        return cls
    new = _converted_function(init)
    if new is init:
        return cls

    def make(*arguments, **keywords):
        result = cls.__new__(cls)
        new(result, *arguments, **keywords)
        return result

    return make


def _in_standard_library(code):
    filename = code.co_filename
    return (
        filename.startswith("<frozen ")
        or filename.startswith(_STANDARD_LIBRARY)
        and not filename.startswith(_SITE_PACKAGES)
    )


def do_not_convert(function):
    """Marks a function: neither the function nor the functions that it calls are converted."""
    target = getattr(function, "__func__", function)
    setattr(target, _LEFT_ALONE, True)
    remember(target.__code__, "not-converted", "it is marked with do_not_convert")
    return function


def convert_entry(function):
    """Converts a function that the user passed. See tenon.autograph.convert."""
    target = getattr(function, "__func__", function)
    if type(target) is not types.FunctionType or getattr(target, _LEFT_ALONE, False):
        return converted(function)
    if convert.is_converted(target):
        return function
    try:
        new = convert.convert_function(target)
    except convert.Unconvertible as error:
        if error.rule != "coroutine":
            remember(target.__code__, error.rule, str(error))
            return function
        code = target.__code__
        raise AutoGraphError(
            error.rule,
            f"`{target.__qualname__}` cannot be converted, because {error}",
            "Write a function that returns its results, for example as a list.",
            code.co_filename,
            code.co_firstlineno,
        ) from None
    return new if target is function else types.MethodType(new, function.__self__)
