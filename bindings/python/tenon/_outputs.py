"""Named tuples for the outputs of ops with several."""

import collections


def make(op, names):
    """The function that makes the named tuple of an op from a list. The extension module calls it."""
    title = "".join(word.title() for word in op.split("_")) + "Outputs"
    return collections.namedtuple(title, names)._make
