"""tf.strings: functions of str and nested lists of str. They run eagerly, in Python."""

from .. import _convert


def _mapped(function, value):
    if isinstance(value, (list, tuple)):
        return [_mapped(function, item) for item in value]
    if not isinstance(value, str):
        raise TypeError(f"expected a str or a list of str, but got {value!r}")
    return function(value)


def split(input, sep=None, maxsplit=-1, name=None):
    """Splits each string at separators."""
    return _mapped(lambda text: text.split(sep or None, maxsplit), input)


def join(inputs, separator="", name=None):
    """Joins a list of strings with a separator."""
    return separator.join(inputs)


def lower(input, encoding="", name=None):
    """Converts the strings to lower case."""
    return _mapped(str.lower, input)


def upper(input, encoding="", name=None):
    """Converts the strings to upper case."""
    return _mapped(str.upper, input)


def strip(input, name=None):
    """Removes whitespace at both ends of each string."""
    return _mapped(str.strip, input)


def length(input, unit="BYTE", name=None):
    """Returns the number of bytes of each string, or of characters if `unit` is "UTF8_CHAR"."""
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(f"length: unit must be 'BYTE' or 'UTF8_CHAR', but is {unit!r}")
    count = len if unit == "UTF8_CHAR" else lambda text: len(text.encode())
    return _convert.tensor(_mapped(count, input))


def to_number(input, out_type="float32", name=None):
    """Parses strings to a tensor of numbers."""
    read = float if _convert.DType(out_type).is_floating else int
    return _convert.tensor(_mapped(read, input), out_type)


__all__ = ["join", "length", "lower", "split", "strip", "to_number", "upper"]
