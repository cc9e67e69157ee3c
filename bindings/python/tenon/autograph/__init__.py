"""AutoGraph: Python's own control flow becomes control flow of the graph.

`tenon.function` converts functions with `convert`. In converted code, a condition that is a Python
value is decided by Python, and a condition that is a tensor of a graph becomes `tn.cond` or
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

    It has the signature, defaults, globals and closure of `function`, which is its `__wrapped__`.
    Repeated calls return the same object. A function without source is returned as it is; a tensor
    condition in it is an error. Raises AutoGraphError for generators and coroutines.
    """
    return _convert_entry(function)


def to_code(function):
    """Returns the converted source of a function as text, for inspection."""
    return _to_code(function)
