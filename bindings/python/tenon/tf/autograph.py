"""tf.autograph: inspection of converted functions."""

from types import SimpleNamespace

from ..autograph import do_not_convert
from ..autograph import to_code as _to_code
from ..autograph import convert as _convert


def to_code(entity, recursive=True, experimental_optional_features=None):
    """Returns the converted source of a function as text."""
    return _to_code(getattr(entity, "python_function", entity))


def to_graph(entity, recursive=True, experimental_optional_features=None):
    """Returns the converted function."""
    return _convert(getattr(entity, "python_function", entity))


experimental = SimpleNamespace(do_not_convert=do_not_convert)

__all__ = ["do_not_convert", "experimental", "to_code", "to_graph"]
