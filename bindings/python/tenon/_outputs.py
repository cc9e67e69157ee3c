"""Named tuples for the outputs of ops with several outputs."""

import collections


def make(op, names):
    """Returns a function that converts a list to the named tuple of an op. Called by the extension
    module."""
    title = "".join(word.title() for word in op.split("_")) + "Outputs"
    return collections.namedtuple(title, names)._make
