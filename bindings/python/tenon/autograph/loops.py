"""Stages while loops: runs a block as the body of while_loop, if the condition of
the loop is a tensor."""

from . import _backend, weak
from .errors import AutoGraphError
from .jumps import RETURN_VALUE
from .staging import Region, Retry, filled, pattern_of, tracing_body
from .state import UNDEFINED, ContentSlot, cells_of, slot_of, decompose_tree
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
)


def stage_while(condition, body, names, after, site, functions, hidden=()):
    """Stages a loop that runs `body` while `condition` returns true.

    The closure cells of `functions`, the blocks of the user's loop, hold its variables. The loop
    carries the variables `names`; the variables `after`, which only later code reads; and `hidden`,
    slots of the runtime such as the index of a for loop.
    """
    cells = cells_of(*functions)
    namespace = functions[0].__globals__
    slots = [*hidden, *[slot_of(name, cells, namespace) for name in (*names, *after)]]
    hints = _Hints()
    while True:
        loop = _Loop(Region(functions, list(slots), site), hints, set(after))
        try:
            return loop.stage(condition, body)
        except Retry as retry:
            if retry.owner is not hints:
                raise
            slots = loop.next_slots()


class _Hints(dict):
    """What earlier attempts to trace a loop found. Maps (slot key, leaf index) to the dtype of a
    carried number, and a slot key to the pattern of a value that is unbound before the loop.

    Attributes:
        found: Keys of slots that were added while tracing. Numbers in them may be constant.
        numbers: None at first. "probe" while the body is traced with Python numbers instead of
            the tensors that carry them. "probed" after that.
    """

    def __init__(self):
        super().__init__()
        self.found = set()
        self.numbers = None


class _Loop:
    def __init__(self, region, hints, after):
        self._region = region
        self._hints = hints
        self._after = after
        self._resized = []  # (slot, entries) of lists whose length changed.
        self._arrays = []  # (slot, array, entry sizes) of arrays that the body writes first.

    def stage(self, condition, body):
        region = self._region
        region.start()
        for slot in region.slots:
            self._check_bound(slot)
        self._carried = {
            slot.key: self._carried_leaves(slot.key, region.initial[slot.key])
            for slot in region.slots
        }
        values = [
            self._initial_value(slot.key, index, leaf)
            for slot in region.slots
            for index, leaf in enumerate(region.initial[slot.key].leaves())
            if self._carried[slot.key][index]
        ]
        self._signatures = [signature(value) for value in values]
        try:
            results = _backend.while_loop(
                lambda *values: self._condition(condition, values),
                lambda *values: self._body(body, values),
                values,
            )
        finally:
            region.restore()
        region.finish()
        self._set(results, self._final)

    def _check_bound(self, slot):
        region = self._region
        if region.initial[slot.key].value is not UNDEFINED:
            return
        if slot.name == RETURN_VALUE:
            pattern = self._hints.get(slot.key)
            if pattern is not None:
                region.initial[slot.key] = filled(pattern)
            return
        if slot.name in self._after:
            raise region.site.error(
                "after-loop-unbound",
                f"`{slot.name}` is read after the loop, but is first bound inside it",
                f"Bind `{slot.name}` before the loop, because the loop may not run at all.",
            )
        raise region.site.error(
            "loop-unbound",
            f"`{slot.name}` is read in the loop before the loop binds it",
            f"Bind `{slot.name}` before the loop.",
        )

    def _carried_leaves(self, key, tree):
        """Returns a list of bools: whether the loop carries each leaf of `tree` as a tensor."""
        return [
            is_tensor(leaf)
            or is_number(leaf)
            and (tree.kind == "leaf" and key not in self._hints.found or (key, index) in self._hints)
            for index, leaf in enumerate(tree.leaves())
        ]

    def _initial_value(self, key, index, leaf):
        return as_tensor(leaf, self._hints.get((key, index)))

    def _set(self, values, trees=None):
        """Sets the variables to the carried values."""
        values = iter(values)
        probing = trees is None and self._hints.numbers == "probe"
        for slot in self._region.slots:
            initial = self._region.initial[slot.key]
            leaves = []
            for leaf, carried in zip(initial.leaves(), self._carried[slot.key]):
                value = next(values) if carried else leaf
                leaves.append(leaf if probing and is_number(leaf) else value)
            tree, keep = (initial, None) if trees is None else (trees[slot.key], initial)
            slot.set(tree.build(iter(leaves), keep))

    def _condition(self, condition, values):
        try:
            self._set(values)
            return self._region.run(condition)
        except Exception as error:
            self._probe(error)
            raise
        finally:
            self._region.restore()

    def _body(self, body, values):
        region = self._region
        try:
            self._set(values)
            with weak.scope(self._weak(values)), tracing_body():
                region.run(body)
            trees = {slot.key: decompose_tree(slot.get()) for slot in region.slots}
            again = region.note_staged_lists()
            for slot in region.found():
                again = True
                if isinstance(slot, ContentSlot):
                    self._resized.append((slot, decompose_tree(slot.get()).leaves()))
                else:
                    self._hints.found.add(slot.key)
                    region.add(slot)
        except Exception as error:
            self._probe(error)
            raise
        finally:
            region.restore()
        if again:
            raise Retry(self._hints)
        if self._hints.numbers == "probe":
            self._learn(trees)
        self._final = trees
        return self._outputs(trees)

    def _probe(self, error):
        """Retries the loop with Python numbers instead of the tensors that carry them, because
        `error` may result from the dtype of such a tensor."""
        if isinstance(error, AutoGraphError) or self._hints.numbers is not None:
            return
        leaves = [leaf for slot in self._region.slots for leaf in self._numbers(slot)]
        if leaves:
            self._hints.numbers = "probe"
            raise Retry(self._hints)

    def _numbers(self, slot):
        """Returns (leaf index, number) for each Python number in a slot that the loop carries as a
        tensor."""
        leaves = self._region.initial[slot.key].leaves()
        carried = self._carried[slot.key]
        return [(i, leaf) for i, leaf in enumerate(leaves) if carried[i] and is_number(leaf)]

    def _learn(self, trees):
        """Sets the dtype of each carried number to the dtype that it has after one iteration, and
        retries the loop."""
        self._hints.numbers = "probed"
        for slot in self._region.slots:
            final = trees[slot.key].leaves()
            for index, number in self._numbers(slot):
                value = final[index] if index < len(final) else None
                if is_tensor(value) and adopts(number, signature(value)[0]):
                    self._hints[slot.key, index] = signature(value)[0]
        raise Retry(self._hints)

    def _weak(self, values):
        """Returns, for each Python number that the loop carries as a tensor: (the tensor, the
        number, a function that retries the loop with a different dtype for the tensor)."""
        values = iter(values)
        items = []
        for slot in self._region.slots:
            leaves = self._region.initial[slot.key].leaves()
            for index, (leaf, carried) in enumerate(zip(leaves, self._carried[slot.key])):
                value = next(values) if carried else None
                if carried and is_number(leaf):
                    items.append((value, leaf, self._widening(slot, index, leaf)))
        return items

    def _widening(self, slot, index, number):
        return lambda dtype: self._widen(slot, index, number, dtype)

    def next_slots(self):
        """Returns the slots that the next attempt to trace must carry. Call it after the variables
        have their initial values again."""
        for slot, entries in self._resized:
            self._grow(slot, entries)
        for slot, array, sizes in self._arrays:
            slot.set(_backend.array_of(array, sizes))
        return self._region.next_slots()

    def _grow(self, slot, entries):
        """Requests that the next attempt uses a StagedList for a Python list to which the body
        appends."""
        before = list(slot.get())
        kept = len(entries) > len(before) and all(map(lambda a, b: a is b, before, entries))
        tensors = [as_tensor(item) for item in entries if is_tensor(item) or is_number(item)]
        types = [signature(item) for item in tensors]
        same = all(same_signature(types[-1], item) for item in types)
        if not kept or slot.parent is None or len(tensors) != len(entries) or not same:
            raise self._region.site.error(
                "list-structure",
                f"The loop changes the list `{slot.name}` from {len(before)} to {len(entries)} "
                f"elements, not only by appending tensors of one type",
                "Append tensors of one dtype and shape, or set elements of a list of fixed length.",
            )
        self._region.grow(slot.parent, before, types[-1])

    def _outputs(self, trees):
        outputs = []
        for slot in self._region.slots:
            initial, final = self._region.initial[slot.key], trees[slot.key]
            if initial.value is UNDEFINED and final.value is not UNDEFINED:
                self._hints[slot.key] = pattern_of(final)
                raise Retry(self._hints)
            if final.kind == "registered" and _backend.is_unwritten_array(initial.value):
                self._arrays.append((slot, initial.value, signature(final.leaves()[0])[1]))
                raise Retry(self._hints)
            if not initial.same_structure(final):
                raise self._mismatch(slot.name, describe_tree(initial), describe_tree(final))
            pairs = zip(initial.leaves(), final.leaves(), self._carried[slot.key])
            for index, (before, value, carried) in enumerate(pairs):
                if carried:
                    given = self._signatures[len(outputs)]
                    outputs.append(self._output(slot, index, before, given, value))
                else:
                    self._check_constant(slot, index, before, value)
        return outputs

    def _output(self, slot, index, before, given, value):
        if is_number(value):
            if not given[1] and adopts(value, given[0]):
                return as_tensor(value, given[0])
            self._widen(slot, index, before, default_dtype(value))
        elif is_tensor(value):
            if same_signature(given, signature(value)):
                return value
            if given[1:] == signature(value)[1:]:
                self._widen(slot, index, before, signature(value)[0])
        first = describe(before) if is_tensor(before) else f"{given[0]}[]"
        raise self._mismatch(slot.name, first, describe(value))

    def _widen(self, slot, index, before, dtype):
        """Retries the loop with `dtype` for a carried value, if `before`, its initial value, is a
        Python number that can have this dtype."""
        key = (slot.key, index)
        if is_number(before) and adopts(before, dtype) and self._hints.get(key) != dtype:
            if key not in self._hints or dtype != default_dtype(before):
                self._hints[key] = dtype
                raise Retry(self._hints)

    def _check_constant(self, slot, index, before, value):
        if same_object(before, value):
            return
        if is_number(before) and (is_number(value) or is_tensor(value)):
            dtype = default_dtype(value) if is_number(value) else signature(value)[0]
            if adopts(before, dtype):
                self._hints[slot.key, index] = dtype
                raise Retry(self._hints)
        if is_tensor(value) or is_number(value):
            raise self._mismatch(slot.name, describe(before), describe(value))
        raise self._region.site.error(
            "loop-value",
            f"`{slot.name}` changes in the loop from {describe(before)} to {describe(value)}, "
            "which is neither a tensor nor a number",
            "Use a tensor or a number, or move the change out of the loop.",
        )

    def _mismatch(self, name, first, second):
        if name == RETURN_VALUE:
            return self._region.site.error(
                "branch-return",
                f"The function returns {second} from the loop, and {first} elsewhere",
                "Return values of the same dtype, shape and structure on every path.",
            )
        return self._region.site.error(
            "loop-types",
            f"`{name}` is {first} before the loop, and {second} after an iteration",
            "Keep its dtype, shape and structure, for example with tn.cast, or start from tn.zeros.",
        )
