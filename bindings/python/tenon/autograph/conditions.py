"""Distinguishes conditions that Python decides from conditions that become part of the graph."""

from . import _backend
from .errors import caller_site
from .values import as_tensor

_PYTHON = {bool, int, float, str, type(None), list, tuple, dict}


def predicate_of(value, at=None):
    """Converts a symbolic condition to a rank-0 bool tensor; returns None if Python can decide
    it."""
    if type(value) in _PYTHON:
        return None
    if not _backend.is_symbolic(value):
        if _backend.is_variable(value) and _backend.is_tracing():
            return predicate_of(_backend.read(value), at)
        return None
    sizes = _backend.shape(value)
    if any(size != 1 for size in sizes):
        text = ",".join("?" if size is None else str(size) for size in sizes)
        raise caller_site(at).error(
            "condition-shape",
            f"The condition is a tensor of shape [{text}], but must have one element",
            "Use tn.all(...) or tn.any(...), or tn.where for a decision by element.",
        )
    if sizes:
        value = _backend.scalar(value)
    return value if _backend.dtype_name(value) == "bool" else _backend.not_equal_zero(value)


def as_predicate(value, at=None):
    """Converts any condition to a rank-0 bool tensor."""
    predicate = predicate_of(value, at)
    return as_tensor(bool(value)) if predicate is None else predicate
