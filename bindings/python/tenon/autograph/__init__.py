"""AutoGraph: converts Python's control flow to control flow of the graph.

`tenon.function` converts functions with `convert`. In converted code, Python decides a condition
that is a Python value. A condition that is a symbolic tensor becomes `tn.cond` or
`tn.while_loop`. docs/autograph.md lists what is converted, and the limits.
"""

from . import runtime as _runtime
from .calls import convert_entry as _convert_entry
from .calls import do_not_convert
from .convert import to_code as _to_code
from .errors import RULES, AutoGraphError
from .registry import bool_error

__all__ = ["RULES", "AutoGraphError", "bool_error", "convert", "do_not_convert", "to_code"]


def convert(function):
    """Returns a converted function.

    The result has the signature, defaults, globals and closure of `function`, which is its
    `__wrapped__`. Repeated calls return the same object. A function without source is returned
    unchanged, and a tensor condition in it raises an error. Raises AutoGraphError for generators
    and coroutines.
    """
    return _convert_entry(function)


def to_code(function):
    """Returns the converted source of a function as text, for inspection."""
    return _to_code(function)
