"""tf.nest: nested structures of values."""

from .._tree import tree_flatten, tree_map


def flatten(structure, expand_composites=False):
    """Returns the leaves of a nested structure as a list."""
    return tree_flatten(structure)[0]


def map_structure(func, *structure, **options):
    """Applies a function to the leaves. Returns the results in the same structure."""
    return tree_map(func, *structure)


def assert_same_structure(nest1, nest2, check_types=True):
    """Raises an error if two nested structures differ."""
    if tree_flatten(nest1)[1] != tree_flatten(nest2)[1]:
        raise ValueError("assert_same_structure: the structures differ")


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """Builds a nested structure from a list of leaves."""
    from .._tree import tree_unflatten

    return tree_unflatten(tree_flatten(structure)[1], flat_sequence)


__all__ = ["assert_same_structure", "flatten", "map_structure", "pack_sequence_as"]
