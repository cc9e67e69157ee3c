"""tf.strings: functions of str and of nested lists of str, which run eagerly, in Python."""

from .. import _convert


def _mapped(function, value):
    if isinstance(value, (list, tuple)):
        return [_mapped(function, item) for item in value]
    if not isinstance(value, str):
        raise TypeError(f"expected a str or a list of str, but got {value!r}")
    return function(value)


def split(input, sep=None, maxsplit=-1, name=None):
    """The parts of each string between separators."""
    return _mapped(lambda text: text.split(sep or None, maxsplit), input)


def join(inputs, separator="", name=None):
    """Joins the strings."""
    return separator.join(inputs)


def lower(input, encoding="", name=None):
    """The strings in lower case."""
    return _mapped(str.lower, input)


def upper(input, encoding="", name=None):
    """The strings in upper case."""
    return _mapped(str.upper, input)


def strip(input, name=None):
    """The strings without spaces at their ends."""
    return _mapped(str.strip, input)


def length(input, unit="BYTE", name=None):
    """The number of bytes of each string, or of characters if `unit` is "UTF8_CHAR"."""
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise ValueError(f"length: unit must be 'BYTE' or 'UTF8_CHAR', but is {unit!r}")
    count = len if unit == "UTF8_CHAR" else lambda text: len(text.encode())
    return _convert.tensor(_mapped(count, input))


def to_number(input, out_type="float32", name=None):
    """A tensor of the numbers that the strings represent."""
    read = float if _convert.DType(out_type).is_floating else int
    return _convert.tensor(_mapped(read, input), out_type)


__all__ = ["join", "length", "lower", "split", "strip", "to_number", "upper"]
