"""The variables that a block of converted code can change, and their values as trees of tensors."""

import dataclasses
import sys
import types

from . import _backend
from .libraries import is_library


class _Undefined:
    def __repr__(self):
        return "unbound"


UNDEFINED = _Undefined()


class StagedList:
    """A tensor list that replaces a Python list which grows inside a staged loop. All entries have
    one type."""

    def __init__(self, handle):
        self.handle = handle

    def append(self, value):
        self.handle = _backend.list_push(self.handle, value)

    def stack(self):
        return _backend.list_stack(self.handle)

    def concat(self):
        return _backend.list_concat(self.handle)

    def length(self):
        return _backend.list_length(self.handle)

    def __getitem__(self, index):
        if isinstance(index, int) and index < 0:
            index = self.length() + index
        return _backend.list_get(self.handle, index)

    def __setitem__(self, index, value):
        self.handle = _backend.list_set(self.handle, index, value)

    def __repr__(self):
        return f"list of tensors {self.handle!r}"


class Tree:
    """A value, decomposed into nested containers and leaves."""

    __slots__ = ("kind", "value", "keys", "children")

    def __init__(self, value, kind="leaf", keys=(), children=()):
        self.value = value
        self.kind = kind
        self.keys = keys
        self.children = children

    def leaves(self):
        if self.kind == "leaf":
            return [self.value]
        return [leaf for child in self.children for leaf in child.leaves()]

    def same_structure(self, other):
        return (
            self.kind == other.kind
            and self.keys == other.keys
            and len(self.children) == len(other.children)
            and (self.kind == "leaf" or type(self.value) is type(other.value))
            and all(a.same_structure(b) for a, b in zip(self.children, other.children))
        )

    def build(self, leaves, keep=None):
        """Rebuilds the value with new leaves, which the iterator `leaves` yields.

        Changes a mutable container in place if `keep` is None or has the same container at this
        position. Otherwise, creates a new container.
        """
        if self.kind == "leaf":
            return next(leaves)
        inner = [
            child.build(leaves, None if keep is None else _child(keep, index))
            for index, child in enumerate(self.children)
        ]
        in_place = keep is None or keep is not _NOTHING and keep.value is self.value
        return _BUILDERS[self.kind](self, inner, in_place)


_NOTHING = Tree(None)


def _child(tree, index):
    return tree.children[index] if index < len(tree.children) else _NOTHING


def _build_tuple(tree, inner, _):
    kind = type(tree.value)
    return kind(*inner) if hasattr(kind, "_fields") else kind(inner)


def _build_list(tree, inner, in_place):
    if not in_place:
        return type(tree.value)(inner)
    tree.value[:] = inner
    return tree.value


def _build_dict(tree, inner, in_place):
    result = tree.value if in_place else tree.value.copy()
    result.clear()
    result.update(zip(tree.keys, inner))
    return result


def _build_data(tree, inner, in_place):
    result = tree.value
    if not in_place:
        result = object.__new__(type(tree.value))
        result.__dict__.update(getattr(tree.value, "__dict__", {}))
    for key, value in zip(tree.keys, inner):
        object.__setattr__(result, key, value)
    return result


def _build_staged(tree, inner, in_place):
    if not in_place:
        return StagedList(inner[0])
    tree.value.handle = inner[0]
    return tree.value


def _build_registered(tree, inner, _):
    return _backend.from_children(tree.keys, inner)


_BUILDERS = {
    "registered": _build_registered,
    "tuple": _build_tuple,
    "list": _build_list,
    "dict": _build_dict,
    "data": _build_data,
    "staged": _build_staged,
}


def decompose_tree(value, above=()):
    """Decomposes a value into a tree."""
    if isinstance(value, (tuple, list, dict)) or dataclasses.is_dataclass(value):
        if any(value is item for item in above):
            return Tree(value)
        above = (*above, value)
    if isinstance(value, tuple):
        return Tree(value, "tuple", len(value), [decompose_tree(item, above) for item in value])
    if isinstance(value, list):
        return Tree(value, "list", len(value), [decompose_tree(item, above) for item in value])
    if isinstance(value, dict):
        return Tree(value, "dict", list(value), [decompose_tree(i, above) for i in value.values()])
    if isinstance(value, StagedList):
        return Tree(value, "staged", 1, [Tree(value.handle)])
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        if not is_library(type(value).__module__):
            keys = [field.name for field in dataclasses.fields(value) if hasattr(value, field.name)]
            children = [decompose_tree(getattr(value, key), above) for key in keys]
            return Tree(value, "data", keys, children)
    if type(value) in _ATOMS or _backend.is_tensor(value) or _backend.is_list(value):
        return Tree(value)
    parts = _backend.children(value)
    if parts is None:
        return Tree(value)
    return Tree(value, "registered", parts[1], [Tree(leaf) for leaf in parts[0]])


class CellSlot:
    """A local variable, in the cell that the blocks of its function share."""

    def __init__(self, cell, name):
        self.key = (id(cell), "cell")
        self.name = name
        self._cell = cell

    def get(self):
        try:
            return self._cell.cell_contents
        except ValueError:
            return UNDEFINED

    def set(self, value):
        if value is not UNDEFINED:
            self._cell.cell_contents = value
        elif self.get() is not UNDEFINED:
            del self._cell.cell_contents


class ItemSlot:
    """A slot for an entry of a dict or list, a global variable, or an attribute of an object."""

    def __init__(self, container, item, name):
        self.key = (id(container), item)
        self.name = name
        self._container = container
        self._item = item

    def get(self):
        try:
            return self._container[self._item]
        except (KeyError, IndexError):
            return UNDEFINED

    def set(self, value):
        if value is not UNDEFINED:
            self._container[self._item] = value
        elif self.get() is not UNDEFINED:
            del self._container[self._item]


class ContentSlot:
    """A slot for the contents of a list whose length changed. `parent` is the slot that holds the
    list."""

    def __init__(self, container, name, parent):
        self.key = (id(container), "content")
        self.name = name
        self.parent = parent
        self._container = container

    def get(self):
        return self._container

    def set(self, value):
        """Does nothing, because Tree.build() changes the list in place."""


class ValueSlot:
    """A slot for a value of the runtime, such as the index of a loop."""

    def __init__(self, value, name):
        self.key = (id(self), "value")
        self.name = name
        self.value = value

    def get(self):
        return self.value

    def set(self, value):
        self.value = value


def cells_of(*functions):
    """Returns the closure cells of functions, by variable name."""
    cells = {}
    for function in functions:
        if function is not None:
            cells.update(zip(function.__code__.co_freevars, function.__closure__ or ()))
    return cells


def slot_of(name, cells, namespace):
    cell = cells.get(name)
    return CellSlot(cell, name) if cell is not None else ItemSlot(namespace, name, name)


class Watch:
    """Finds and reverts the changes that a block makes to objects that it can reach.

    Reachable objects are the values of the block's variables and, recursively, entries of
    containers, attributes of objects, and variables of functions.
    """

    _LIMIT = 20000

    def __init__(self, cells, skip):
        self._entries = []  # (container, copy, name).
        self._parents = {}  # id(list) -> slot that holds the list.
        self._seen = set(skip)
        pending = [(cell, name, None) for name, cell in cells.items() if name != "ag__"]
        for cell, _, _ in pending:
            self._seen.add(id(cell))
        pending = [
            (slot.get(), slot.name, slot)
            for slot in (CellSlot(cell, name) for cell, name, _ in pending)
        ]
        while pending and len(self._entries) < self._LIMIT:
            self._visit(*pending.pop(), pending)

    def _visit(self, value, name, slot, pending):
        kind = type(value)
        if kind in _ATOMS or id(value) in self._seen:
            return
        if isinstance(value, (list, dict)):
            self._add(value, name, slot, pending)
        elif isinstance(value, tuple):
            self._seen.add(id(value))
            pending.extend((item, f"{name}[{i}]", None) for i, item in enumerate(value))
        elif kind is types.FunctionType:
            self._seen.add(id(value))
            for inner, cell in zip(value.__code__.co_freevars, value.__closure__ or ()):
                if id(cell) not in self._seen and inner != "ag__":
                    self._seen.add(id(cell))
                    self._entries.append((cell, CellSlot(cell, inner).get(), inner))
                    pending.append((CellSlot(cell, inner).get(), inner, CellSlot(cell, inner)))
        elif kind is types.MethodType:
            pending.append((value.__self__, "self", None))
            pending.append((value.__func__, name, None))
        elif kind is StagedList or _has_state(value):
            self._seen.add(id(value))
            self._add(vars(value), name + ".", None, pending)

    def _add(self, container, name, slot, pending):
        self._seen.add(id(container))
        self._entries.append((container, container.copy(), name))
        if isinstance(container, list):
            self._parents[id(container)] = slot
            items = enumerate(container)
        else:
            items = container.items()
        for key, value in items:
            inner = _item_name(name, key)
            pending.append((value, inner, ItemSlot(container, key, inner)))

    def changes(self):
        """Returns the slots of changed entries, and of the contents of lists whose length
        changed."""
        slots = []
        for container, before, name in self._entries:
            if isinstance(container, types.CellType):
                slot = CellSlot(container, name)
                if slot.get() is not before:
                    slots.append(slot)
            elif isinstance(container, list):
                if len(container) != len(before):
                    slots.append(ContentSlot(container, name, self._parents[id(container)]))
                    continue
                slots += [
                    ItemSlot(container, index, _item_name(name, index))
                    for index, value in enumerate(container)
                    if value is not before[index]
                ]
            else:
                keys = list(before) + [key for key in container if key not in before]
                slots += [
                    ItemSlot(container, key, _item_name(name, key))
                    for key in keys
                    if container.get(key, UNDEFINED) is not before.get(key, UNDEFINED)
                ]
        return slots

    def before(self):
        """Returns (slot, list) for each variable and entry that holds a list."""
        return [
            (slot, container)
            for container, _, _ in self._entries
            if isinstance(container, list)
            and (slot := self._parents.get(id(container))) is not None
        ]

    def undo(self):
        for container, before, name in self._entries:
            if isinstance(container, types.CellType):
                CellSlot(container, name).set(before)
            elif isinstance(container, list):
                container[:] = before
            elif not _same_entries(container, before):
                container.clear()
                container.update(before)


def _same_entries(container, before):
    return len(container) == len(before) and all(
        key == old and value is before[old]
        for (key, value), old in zip(container.items(), before)
    )


_STANDARD = sys.stdlib_module_names - {"__main__"}
_ATOMS = {int, float, bool, str, bytes, type(None), complex, type, types.ModuleType}


def _item_name(name, key):
    return name + str(key) if name.endswith(".") else f"{name}[{key!r}]"


def _has_state(value):
    kind = type(value)
    if isinstance(value, (type, types.ModuleType)) or kind.__module__ == "builtins":
        return False
    if is_library(kind.__module__) or kind.__module__.partition(".")[0] in _STANDARD:
        return False
    return type(getattr(value, "__dict__", None)) is dict
