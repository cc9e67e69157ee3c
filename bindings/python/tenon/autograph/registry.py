"""Records which code objects are converted, which functions could not be converted, and why."""

import sys

from .errors import AutoGraphError, column_of, user_frame

_converted = {}  # id(code) -> code, for every converted code object
_reasons = {}  # id(code) -> (code, rule, reason), for the latest 1000 failed conversions


def add(code):
    """Marks a code object as converted, and returns it."""
    _converted[id(code)] = code
    return code


def remove(code):
    """Removes the records of a code object and of the code objects nested in it."""
    _converted.pop(id(code), None)
    for item in code.co_consts:
        if hasattr(item, "co_consts"):
            remove(item)


def is_converted(code):
    return id(code) in _converted


def remember(code, rule, reason):
    """Records why a function was not converted, for the error at a tensor condition in it."""
    _reasons[id(code)] = (code, rule, reason)
    if len(_reasons) > 1000:
        _reasons.pop(next(iter(_reasons)))


def reason_not_converted(code):
    """Returns (rule, reason) for a function that runs without conversion."""
    known = _reasons.get(id(code))
    if known is not None:
        return known[1], f"`{code.co_name}` was not converted, because {known[2]}"
    if is_converted(code):
        return "not-converted", "conversion leaves this expression as it is"
    if code.co_flags & 0x20:
        return "coroutine", f"`{code.co_name}` was not converted, because it is a generator"
    reason = "because code that is not converted calls it, such as a library, an operator or a property"
    return "not-converted", f"`{code.co_name}` was not converted, {reason}"


def bool_error(tensor):
    """Returns the error for the truth value of a symbolic tensor.

    `Tensor.__bool__` raises it. The error names the innermost function of the user and the
    reason why it was not converted.
    """
    frame = user_frame(sys._getframe(1))
    if frame is None:
        return AutoGraphError("not-converted", _BOOL, "Use tn.where or tn.cond.")
    code = frame.f_code
    where = (code.co_filename, frame.f_lineno, column_of(frame))
    rule, reason = reason_not_converted(code)
    advice = {
        "no-source": "Define the function in a file or a notebook cell, or use tn.cond and tn.where.",
        "coroutine": "Write a plain function that returns a value, or use tn.cond and tn.where.",
    }.get(rule, "Use tn.cond, tn.while_loop or tn.where here, or move the condition to a converted function.")
    return AutoGraphError(rule, f"{_BOOL}: {reason}", advice, *where)


_BOOL = "A symbolic tensor is used as a Python bool"
