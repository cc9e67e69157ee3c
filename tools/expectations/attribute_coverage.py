"""Finds attributes that no literal output of a test case covers.

A literal covers an attribute if its case sets the attribute, and the formula would return a
different result, or fail, with the attribute's default. An axis that is equivalent to the default
does not cover the attribute. For an enumeration, each value needs a case.
"""

import numpy as np

from literals import compute


def same(left, right):
    return len(left) == len(right) and all(
        np.shape(a) == np.shape(b) and np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f")
        for a, b in zip(left, right))


def matters(op, case, attr):
    """Returns whether the expected outputs of a case would differ if `attr` had its default."""
    if attr["type"] == "dtype":
        return any(literal.dtype == case.attrs[attr["name"]] for literal in case.expect)
    try:
        return not same(compute(op, case), compute(op, case, {attr["name"]: attr["default"]}))
    except (IndexError, KeyError, ValueError, ZeroDivisionError):
        return True


def gaps(op, has_formula):
    """Returns a line of text for each attribute of the op that no literal covers."""
    with_literals = [case for case in op.cases if case.expect]
    if not with_literals:
        return [f"{op.name}: no case has literals"]
    lines = []
    for attr in op.attrs:
        name = attr["name"]
        moved = [case for case in with_literals if case.attrs[name] != attr["default"]]
        if not moved:
            lines.append(f"{op.name}.{name}: no literal with another value than the default")
        elif has_formula and not any(matters(op, case, attr) for case in moved):
            lines.append(f"{op.name}.{name}: every literal would be the same with the default")
        given = {str(case.attrs[name]) for case in with_literals}
        lines += [f"{op.name}.{name}: no literal with {value}" for value in attr.get("values", [])
                  if value not in given]
    return lines
