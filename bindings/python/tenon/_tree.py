"""Pytrees: nested tuples, lists, dicts, dataclasses and registered classes."""

from __future__ import annotations

import dataclasses

__all__ = ["register_pytree", "tree_flatten", "tree_unflatten", "tree_map"]

_registered: dict = {}


class _Leaf:
    """The structure of a tree that is a single leaf."""

    __slots__ = ()

    def __repr__(self):
        return "*"


LEAF = _Leaf()


def register_pytree(cls, flatten, unflatten):
    """Registers a class as a container, so that gradients and functions find the values inside its
    objects.

    Args:
        cls: The class.
        flatten: Takes an object; returns a sequence of its children, and hashable static data.
        unflatten: Takes the static data and the children; returns an object.
    """
    _registered[cls] = (flatten, unflatten)
    return cls


def flatten_into(tree, leaves):
    """Appends the leaves of a tree to a list, and returns the structure, which is hashable."""
    cls = type(tree)
    if cls is tuple or cls is list:
        return (cls, None, tuple([flatten_into(item, leaves) for item in tree]))
    if cls is dict:
        keys = tuple(tree) if not _sortable(tree) else tuple(sorted(tree))
        return (dict, keys, tuple([flatten_into(tree[key], leaves) for key in keys]))
    if cls in _registered:
        children, data = _registered[cls][0](tree)
        return (cls, data, tuple([flatten_into(child, leaves) for child in children]))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return (cls, None, tuple([flatten_into(item, leaves) for item in tree]))
    if dataclasses.is_dataclass(tree) and not isinstance(tree, type):
        names = tuple(field.name for field in dataclasses.fields(tree))
        return (cls, names, tuple([flatten_into(getattr(tree, name), leaves) for name in names]))
    if isinstance(tree, dict):
        keys = tuple(tree)
        return (dict, keys, tuple([flatten_into(tree[key], leaves) for key in keys]))
    leaves.append(tree)
    return LEAF


def _sortable(tree):
    return all(type(key) is str for key in tree)


def tree_flatten(tree):
    """Returns the leaves of a tree as a list, and the structure of the tree."""
    leaves: list = []
    structure = flatten_into(tree, leaves)
    return leaves, structure


def _build(structure, leaves):
    if structure is LEAF:
        return next(leaves)
    cls, data, parts = structure
    children = [_build(part, leaves) for part in parts]
    if cls is tuple or cls is list:
        return cls(children)
    if cls is dict:
        return dict(zip(data, children))
    if cls in _registered:
        return _registered[cls][1](data, children)
    if issubclass(cls, tuple):
        return cls(*children)
    made = object.__new__(cls)
    for name, child in zip(data, children):
        object.__setattr__(made, name, child)
    return made


def tree_unflatten(structure, leaves):
    """Builds a tree from its structure and its leaves."""
    return _build(structure, iter(leaves))


def tree_map(function, tree, *others):
    """Applies a function to the leaves of trees with equal structures. Returns a tree of the
    results."""
    leaves, structure = tree_flatten(tree)
    columns = [leaves]
    for other in others:
        more, shape = tree_flatten(other)
        if shape != structure:
            raise ValueError("tree_map: the trees have different structures")
        columns.append(more)
    return tree_unflatten(structure, [function(*row) for row in zip(*columns)])
