"""Runs one function eagerly, converted, and traced, and compares the results."""

import linecache

import numpy as np
import tenon as tn


def tensor(value):
    return tn.constant(value)


def value_of(result):
    """Returns a result with tensors as nested lists of Python numbers."""
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


def assert_traced_equals_eager(function, *calls, traces=1):
    """Checks a function on each tuple of arguments, in which Python numbers stand for tensors."""
    converted = tn.autograph.convert(function)
    traced = tn.function(function)
    for arguments in calls:
        tensors = [tensor(item) if isinstance(item, (int, float, list)) else item for item in arguments]
        expected = value_of(function(*tensors))
        assert close(value_of(converted(*tensors)), expected), "converted, without tracing"
        assert close(value_of(traced(*tensors)), expected), "traced"
    assert traced.trace_count == traces


def from_source(text, name, **namespace):
    """Defines a function from text, whose source lines tracebacks and conversion can read."""
    filename = f"/generated/{name}_{abs(hash(text))}.py"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    scope = {"tn": tn, **namespace}
    exec(compile(text, filename, "exec"), scope)
    return scope[name]
