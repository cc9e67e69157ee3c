"""Stages if statements: runs blocks as branches of cond, if the condition is a tensor."""

import threading

from . import _backend, weak
from .jumps import RETURN_VALUE
from .state import UNDEFINED, CellSlot, ContentSlot, StagedList, Tree, Watch, cells_of, slot_of, decompose_tree
from .values import (
    adopts,
    as_tensor,
    default_dtype,
    describe,
    describe_tree,
    is_number,
    is_tensor,
    same_object,
    same_signature,
    signature,
    zeros_like,
)


class Retry(BaseException):
    """Raised if a region was traced with incomplete information. The code that traces the region
    restores the state and retries."""

    def __init__(self, owner):
        super().__init__()
        self.owner = owner


class _Bodies(threading.local):
    """Number of loop bodies that the thread is tracing."""

    count = 0


_bodies = _Bodies()


class tracing_body:
    """A context manager that counts a loop body while it is traced."""

    def __enter__(self):
        _bodies.count += 1

    def __exit__(self, *_):
        _bodies.count -= 1


class Region:
    """The variables that the blocks of one statement can change, and their values before it."""

    def __init__(self, functions, slots, site):
        self.site = site
        self.cells = cells_of(*functions)
        self.slots = slots
        self._before = [(slot, slot.get()) for slot in self._cell_slots()]
        self._dead = {}
        self._new = []  # Slots that the blocks change, found by this attempt.
        self._grown = []  # (slot of a list, earlier entries, type of an entry).

    def _cell_slots(self):
        return [CellSlot(cell, name) for name, cell in self.cells.items() if name != "ag__"]

    def start(self):
        self.initial = {slot.key: decompose_tree(slot.get()) for slot in self.slots}
        self.watch = Watch(self.cells, _containers(self.initial.values()))

    def restore(self):
        for slot, value in self._before:
            if slot.get() is not value:
                self._dead[slot.key] = slot
                slot.set(value)
        self.watch.undo()
        for slot in self.slots:
            tree = self.initial[slot.key]
            slot.set(tree.build(iter(tree.leaves())))

    def found(self):
        """Returns slots for the entries of containers that the blocks changed and that the region
        does not have as slots yet."""
        known = {slot.key for slot in self.slots}
        known.update(slot.key for slot, _ in self._before)
        return [slot for slot in self.watch.changes() if slot.key not in known]

    def note_staged_lists(self):
        """Records the Python lists that a loop inside a block replaced by a StagedList. Returns
        whether any list was recorded."""
        before = [*self._before, *[(slot, old) for slot, old in self.watch.before()]]
        for slot, value in before:
            now = slot.get()
            if isinstance(value, list) and isinstance(now, StagedList):
                self._grown.append((slot, value, signature(now.handle)))
        return bool(self._grown)

    def add(self, slot):
        self._new.append(slot)

    def grow(self, slot, before, entry):
        """Requests that the list in a slot becomes a StagedList in the next attempt."""
        self._grown.append((slot, before, entry))

    def next_slots(self):
        """Returns the slots that the next attempt to trace must carry. Call it after the variables
        have their initial values again."""
        slots = self.slots + self._new
        for slot, before, entry in self._grown:
            handle = _backend.list_create(zeros_like((*entry[:2], False)))
            for item in before:
                handle = _backend.list_push(handle, as_tensor(item, entry[0]))
            slot.set(StagedList(handle))
            if all(slot.key != other.key for other in slots):
                slots.append(slot)
        return slots

    def finish(self):
        """Unbinds names that the blocks bound and that no later code reads."""
        known = {slot.key for slot in self.slots}
        for key, slot in self._dead.items():
            if key not in known:
                slot.set(UNDEFINED)

    def run(self, block, *arguments):
        try:
            return block(*arguments)
        except Exception as error:
            site = getattr(error, "tenon_raised_", None)
            if site is None:
                raise
            raise site.error(
                "raise-in-branch",
                f"`raise {type(error).__name__}` runs under a tensor condition, so it would be "
                "raised in every call",
                "Write `assert condition, message`, which is checked when the graph runs.",
            ) from None


def _containers(trees):
    found = set()
    pending = list(trees)
    while pending:
        tree = pending.pop()
        if tree.kind != "leaf":
            found.add(id(tree.value))
            if tree.kind == "staged" or tree.kind == "data":
                found.add(id(getattr(tree.value, "__dict__", None)))
            pending.extend(tree.children)
    return found


def stage_if(condition, then, orelse, names, site, has_value=False, fill=False):
    """Runs two blocks as branches of cond, and sets the variables that they change.

    If `fill` is true, a name that only one branch binds becomes zeros in the other branch. No later
    code reads these zeros.
    """
    cells = cells_of(then, orelse)
    slots = [slot_of(name, cells, then.__globals__) for name in names]
    hints = {}
    while True:
        region = Region((then, orelse), list(slots), site)
        branches = _Branches(region, hints, has_value, fill)
        try:
            return branches.stage(condition, then, orelse)
        except Retry as retry:
            if retry.owner is not hints:
                raise
            slots = region.next_slots()


class _Branches:
    def __init__(self, region, hints, has_value, fill):
        self._region = region
        self._hints = hints
        self._has_value = has_value
        self._fills = fill
        self._order = []  # Keys of slots, in the order of the outputs.
        self._names = {}

    def stage(self, condition, then, orelse):
        region = self._region
        region.start()
        try:
            results = _backend.cond(condition, lambda: self._then(then), lambda: self._orelse(orelse))
        finally:
            region.restore()
        results = iter(results if results is not None else ())
        region.finish()
        value = None
        slots = {slot.key: slot for slot in region.slots}
        for key in self._order:
            leaves = [
                next(results) if keep is None else self._drop(results, keep)
                for keep in self._kept[key]
            ]
            built = self._first[key].build(iter(leaves), self._second[key])
            if key == _VALUE:
                value = built
            else:
                slots[key].set(built)
        return value

    @staticmethod
    def _drop(results, keep):
        value, is_output = keep
        if is_output:
            next(results)
        return value

    def _run(self, block):
        """Runs a branch and returns the trees of the variables that it changed."""
        region = self._region
        try:
            value = region.run(block)
            if region.note_staged_lists():
                raise Retry(self._hints)
            found = region.found()
            trees = {slot.key: decompose_tree(slot.get()) for slot in [*region.slots, *found]}
        finally:
            region.restore()
        if self._has_value:
            trees[_VALUE] = decompose_tree(value)
        for slot in found:
            region.initial[slot.key] = decompose_tree(slot.get())
            region.slots.append(slot)
        return trees, found

    def _then(self, block):
        self._first, _ = self._run(block)
        for key, fill in self._hints.items():
            if key in self._first and self._first[key].value is UNDEFINED:
                self._first[key] = filled(fill)
        self._order = list(self._first)
        outputs = []
        for key in self._order:
            for index, leaf in enumerate(self._first[key].leaves()):
                if is_tensor(leaf) or is_number(leaf):
                    outputs.append(as_tensor(leaf, self._hints.get((key, index))))
        return outputs

    def _orelse(self, block):
        self._second, found = self._run(block)
        if any(slot.key not in self._first for slot in found):
            raise Retry(self._hints)
        slots = {slot.key: slot for slot in self._region.slots}
        self._kept = {}
        outputs = []
        for key in self._order:
            first = self._first[key]
            second = self._second.setdefault(key, self._region.initial.get(key))
            slot = slots.get(key)
            name = slot.name if slot else _VALUE
            if isinstance(slot, ContentSlot):
                self._grow(slot, first.leaves(), second.leaves())
            if name == RETURN_VALUE or self._fills and name != _VALUE:
                first, second = self._fill(key, first, second)
            self._check_structure(name, first, second)
            self._kept[key] = []
            for index, pair in enumerate(zip(first.leaves(), second.leaves())):
                output, keep = self._merge(name, key, index, *pair)
                self._kept[key].append(keep)
                outputs += output
        return outputs

    def _grow(self, slot, first, second):
        """Requests that the next attempt uses a StagedList for a Python list, if one branch appends
        to it inside a loop body."""
        before = self._region.initial[slot.key].leaves()
        if not _bodies.count or len(first) == len(second) or slot.parent is None:
            return
        entries = [*before, *first[len(before) :], *second[len(before) :]]
        if min(len(first), len(second)) < len(before) or not all(map(is_tensor, entries)):
            return
        types = [signature(item) for item in entries]
        if all(same_signature(types[-1], item) for item in types):
            self._region.grow(slot.parent, before, types[-1])
            raise Retry(self._hints)

    def _fill(self, key, first, second):
        """Sets a value that only one branch binds, such as the return value, to zeros in the other
        branch."""
        if first.value is UNDEFINED and second.value is not UNDEFINED:
            if not any(is_tensor(leaf) for leaf in second.leaves()):
                self._first[key] = second
                if any(is_number(leaf) for leaf in second.leaves()):
                    self._hints[key] = second
                    raise Retry(self._hints)
                return second, second
            self._hints[key] = pattern_of(second)
            raise Retry(self._hints)
        if second.value is UNDEFINED and first.value is not UNDEFINED:
            self._second[key] = filled(pattern_of(first))
        return self._first[key], self._second[key]

    def _check_structure(self, name, first, second):
        for bound, value, branch in ((first, second, "first"), (second, first, "second")):
            if value.value is UNDEFINED and bound.value is not UNDEFINED and value.kind == "leaf":
                raise self._region.site.error(
                    "unbound-branch",
                    f"`{name}` is bound in the {branch} branch only, and is read later",
                    f"Bind `{name}` before the branch, or in both branches.",
                )
        if not first.same_structure(second):
            raise self._mismatch(name, describe_tree(first), describe_tree(second))

    def _mismatch(self, name, first, second):
        if name == RETURN_VALUE:
            return self._region.site.error(
                "branch-return",
                f"The function returns {first} if the condition holds, and {second} if not",
                "Return values of the same dtype, shape and structure on every path.",
            )
        subject = "The value" if name == _VALUE else f"`{name}`"
        return self._region.site.error(
            "branch-types",
            f"{subject} is {first} if the condition holds, and {second} if not",
            "Give it the same dtype, shape and structure in both branches, for example with tn.cast "
            "or tn.zeros.",
        )

    def _merge(self, name, key, index, first, second):
        """Merges a leaf of the first branch with the leaf of the second. Returns (outputs, keep):
        `outputs` holds the output of the second branch for the leaf, if it has one. `keep` is None
        if the merged leaf is a result of cond, or else (value, whether cond has a result to
        drop)."""
        is_output = is_tensor(first) or is_number(first)
        if first is second or not is_tensor(first) and same_object(first, second):
            output = [as_tensor(second, self._hints.get((key, index)))] if is_output else []
            return output, (first, is_output)
        if not is_output or not (is_tensor(second) or is_number(second)):
            raise self._mismatch(name, describe(first), describe(second))
        weak.adopt(first, second)
        dtype, agree = _common_dtype(first, second)
        if not agree:
            raise self._mismatch(name, describe(first), describe(second))
        given = self._hints.get((key, index)) or default_dtype(first) if is_number(first) else dtype
        if given != dtype:
            self._hints[key, index] = dtype
            raise Retry(self._hints)
        return [as_tensor(second, dtype)], None


_VALUE = "value"


def _common_dtype(first, second):
    """Returns (common dtype, whether the types are compatible) of the values of the two branches,
    each a tensor or a number."""
    if is_number(first) and is_number(second):
        if isinstance(first, bool) != isinstance(second, bool):
            return None, False
        wider = first if isinstance(first, float) else second
        return default_dtype(wider), True
    if is_tensor(first) and is_tensor(second):
        return signature(first)[0], same_signature(signature(first), signature(second))
    tensor, number = (first, second) if is_tensor(first) else (second, first)
    dtype, sizes, is_list = signature(tensor)
    return dtype, not sizes and not is_list and adopts(number, dtype)


def pattern_of(tree):
    """Returns the pattern of a tree: the tree with each tensor replaced by its signature."""
    leaves = [("tensor", signature(leaf)) if is_tensor(leaf) else ("", leaf) for leaf in tree.leaves()]
    return _with_leaves(tree, iter(leaves))


def filled(pattern):
    """Returns the tree that a pattern describes, with zeros of each tensor's type."""
    leaves = []
    for leaf in pattern.leaves():
        if isinstance(leaf, tuple) and len(leaf) == 2 and leaf[0] == "tensor":
            leaves.append(zeros_like(leaf[1]))
        else:
            leaves.append(leaf[1] if isinstance(leaf, tuple) else leaf)
    return _with_leaves(pattern, iter(leaves))


def _with_leaves(tree, leaves):
    if tree.kind == "leaf":
        return Tree(next(leaves))
    children = [_with_leaves(child, leaves) for child in tree.children]
    return Tree(tree.value, tree.kind, tree.keys, children)
