"""Runs one function eagerly, converted, and traced, and compares the results."""

import linecache

import numpy as np
import tenon as tn


def tensor(value):
    return tn.constant(value)


def value_of(result):
    """Converts the tensors of a result to nested lists of Python numbers."""
    if isinstance(result, tn.Tensor):
        return np.asarray(result.numpy()).tolist()
    if isinstance(result, (tuple, list)):
        return [value_of(item) for item in result]
    if isinstance(result, dict):
        return {key: value_of(item) for key, item in result.items()}
    return result


def close(left, right):
    if isinstance(left, (list, dict)):
        if isinstance(left, dict):
            return left.keys() == right.keys() and all(close(left[k], right[k]) for k in left)
        return len(left) == len(right) and all(map(close, left, right))
    if not isinstance(left, (int, float)):
        return left == right
    return abs(left - right) <= 1e-5 * max(1, abs(left))


def assert_traced_equals_eager(function, *calls, differentiated=range(9)):
    """Compares a function with its trace on each tuple of arguments. Python numbers become tensors.

    Gradients are compared for the calls in `differentiated`.
    """
    converted = tn.autograph.convert(function)
    traced = tn.function(function)
    for index, arguments in enumerate(calls):
        tensors = [tensor(item) if isinstance(item, (int, float, list)) else item for item in arguments]
        expected = value_of(function(*tensors))
        assert close(value_of(converted(*tensors)), expected), "converted, without tracing"
        assert close(value_of(traced(*tensors)), expected), "traced"
        if hasattr(tn, "GradientTape") and index in differentiated:
            assert_same_gradients(function, traced, tensors)
    assert traced.trace_count == 1


def assert_same_gradients(function, traced, tensors):
    """Compares the first and second derivatives with respect to each floating argument."""
    sources = [item for item in tensors if isinstance(item, tn.Tensor) and item.dtype.is_floating]
    expected, actual = derivatives(function, tensors, sources), derivatives(traced, tensors, sources)
    assert close(value_of(actual[0]), value_of(expected[0])), "first derivative"
    assert close(value_of(actual[1]), value_of(expected[1])), "second derivative"


def derivatives(function, tensors, sources):
    """Returns the first and second derivatives of the sum of a function's floating outputs."""
    with tn.GradientTape() as outer:
        outer.watch(sources)
        with tn.GradientTape() as inner:
            inner.watch(sources)
            total = floating_sum(function(*tensors))
        first = inner.gradient(total, sources, unconnected_gradients="zero")
        squares = floating_sum([item * item for item in first])
    return first, outer.gradient(squares, sources, unconnected_gradients="zero")


def floating_sum(result):
    total = tn.constant(0.0)
    for item in leaves_of(result):
        if isinstance(item, float) or isinstance(item, tn.Tensor) and item.dtype.is_floating:
            total = total + tn.sum(item)
    return total


def leaves_of(result):
    if isinstance(result, (tuple, list)):
        return [leaf for item in result for leaf in leaves_of(item)]
    if isinstance(result, dict):
        return [leaf for item in result.values() for leaf in leaves_of(item)]
    return [result]


def from_source(text, name, **namespace):
    """Executes source text and returns the function `name`. Tracebacks and conversion can find its
    source lines."""
    filename = f"/generated/{name}_{abs(hash(text))}.py"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    scope = {"tn": tn, **namespace}
    exec(compile(text, filename, "exec"), scope)
    return scope[name]
