"""The operators that converted code calls. They check at run time whether a value is symbolic.

Python decides a condition that is a Python value or a tensor with a value. A condition that is a
symbolic tensor becomes control flow of the graph. `at` is the location of the user's statement,
"line:column".
"""

import operator

from . import _backend, iterables
from .conditions import as_predicate, predicate_of
from .errors import caller_site
from .loops import stage_while
from .staging import stage_if
from .state import ValueSlot, cells_of, slot_of
from .values import as_tensor

def if_stmt(condition, then, orelse, names, at):
    predicate = predicate_of(condition, at)
    if predicate is not None:
        stage_if(predicate, then, orelse, names, caller_site(at))
    elif condition:
        then()
    else:
        orelse()


def if_exp(condition, then, orelse, at, names=()):
    predicate = predicate_of(condition, at)
    if predicate is not None:
        return stage_if(predicate, then, orelse, names, caller_site(at), has_value=True)
    return then() if condition else orelse()


def and_(value, *operands, at, names=()):
    for index, operand in enumerate(operands):
        predicate = predicate_of(value, at)
        if predicate is not None:
            rest, first = operands[index:], value
            return stage_if(
                predicate,
                _OperandBlock(rest, lambda: and_(rest[0](), *rest[1:], at=at, names=names)),
                _OperandBlock(rest, lambda: _result(first, predicate)),
                names,
                caller_site(at),
                has_value=True,
                fill=True,
            )
        if not value:
            return value
        value = operand()
    return value


def or_(value, *operands, at, names=()):
    for index, operand in enumerate(operands):
        predicate = predicate_of(value, at)
        if predicate is not None:
            rest, first = operands[index:], value
            return stage_if(
                predicate,
                _OperandBlock(rest, lambda: _result(first, predicate)),
                _OperandBlock(rest, lambda: or_(rest[0](), *rest[1:], at=at, names=names)),
                names,
                caller_site(at),
                has_value=True,
                fill=True,
            )
        if value:
            return value
        value = operand()
    return value


def _result(value, predicate):
    return predicate if _backend.dtype_name(value) == "bool" else value


class _OperandBlock:
    """Wraps a block of the runtime that evaluates operands. Has the closure cells of the operands,
    so that staging finds the variables in them as in a converted function."""

    def __init__(self, operands, block):
        cells = cells_of(*operands)
        self.__closure__ = tuple(cells.values())
        self.__code__ = _Code(tuple(cells))
        self.__globals__ = operands[0].__globals__
        self._block = block

    def __call__(self):
        return self._block()


class _Code:
    def __init__(self, names):
        self.co_freevars = names


def not_(value, at):
    predicate = predicate_of(value, at)
    return not value if predicate is None else _backend.logical_not(predicate)


_COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "is": operator.is_,
    "is not": operator.is_not,
}


def compare(left, *rest, at):
    """Evaluates a chained comparison, such as `a < b <= c`. `rest` alternates between the name of
    an operator and a function that evaluates its right operand."""
    name, right = rest[0], rest[1]()
    result = _compare(name, left, right, at)
    if len(rest) == 2:
        return result
    rest = rest[2:]
    return and_(result, _OperandBlock(rest[1::2], lambda: compare(right, *rest, at=at)), at=at)


def _compare(name, left, right, at):
    if name == "in":
        return in_(left, right, at)
    if name == "not in":
        return not_in(left, right, at)
    return _COMPARISONS[name](left, right)


def in_(item, container, at):
    if not isinstance(container, (tuple, list, set, frozenset)):
        if _backend.is_symbolic(container):
            return _backend.reduce("any", container == item)
        return item in container
    if not _backend.is_symbolic(item) and not any(map(_backend.is_symbolic, container)):
        return item in container
    result = as_tensor(False)
    for entry in container:
        equal = entry == item
        result = _backend.logical_or(result, as_predicate(equal, at))
    return result


def not_in(item, container, at):
    return not_(in_(item, container, at), at)


def assign_name(name, reader, value):
    """Binds the name of an assignment expression (:=) inside an operand."""
    slot_of(name, cells_of(reader), reader.__globals__).set(value)
    return value


def bound(_):
    """Returns True: a capture pattern of a match statement always matches. The evaluation of the
    argument has already bound the name."""
    return True


def any_jump(*flags):
    """Returns whether any flag of break, continue or return is set."""
    result = False
    for flag in flags:
        if _backend.is_symbolic(flag):
            result = flag if result is False else _backend.logical_or(result, flag)
        elif flag:
            return True
    return result


def no_jump(*flags):
    jumped = any_jump(*flags)
    return _backend.logical_not(jumped) if _backend.is_symbolic(jumped) else not jumped


def while_stmt(test, body, names, after, at, always=False, stop=None):
    while True:
        stopped = stop() if stop else False
        if _backend.is_symbolic(stopped):
            if not always:
                raise _leaves_python_loop(caller_site(at))
            break
        if stopped:
            return
        value = True if always else test()
        if predicate_of(value, at) is not None:
            break
        if not value:
            return
        body()

    def condition():
        if stop is None:
            return as_predicate(test(), at)
        going = _backend.logical_not(as_predicate(stop(), at))
        if always:
            return going
        return _backend.cond(
            going, lambda: [as_predicate(test(), at)], lambda: [as_tensor(False)]
        )[0]

    functions = [item for item in (body, test, stop) if item is not None]
    stage_while(condition, body, names, after, caller_site(at), functions)


def for_stmt(values, body, names, after, at, stop=None):
    staged = iterables.staged(values)
    if staged is None:
        for item in values:
            body(item)
            if stop is not None:
                stopped = stop()
                if _backend.is_symbolic(stopped):
                    raise _leaves_python_loop(caller_site(at))
                if stopped:
                    break
        return
    length = staged.length()
    first = 0
    if _backend.is_tensor(length):
        first = as_tensor(0, _backend.dtype_name(length))
    index = ValueSlot(first, "the index of the loop")

    def condition():
        more = index.value < length
        if stop is None:
            return as_predicate(more, at)
        return _backend.logical_and(more, _backend.logical_not(as_predicate(stop(), at)))

    def step():
        body(staged.item(index.value))
        index.value = index.value + 1

    functions = [item for item in (body, stop) if item is not None]
    stage_while(condition, step, names, after, caller_site(at), functions, (index,))


def _leaves_python_loop(site):
    return site.error(
        "python-loop-exit",
        "A tensor condition leaves a Python loop by break or return",
        "Loop over tensors instead, for example `for i in tn.range(n)`, or remove the jump.",
    )


def check(condition, message, at):
    """Returns the value that an assert statement tests. For a symbolic condition, adds a check to
    the graph and returns True."""
    predicate = predicate_of(condition, at)
    if predicate is None:
        return condition
    text = "assertion failed" if message is None else str(message())
    _backend.assert_that(predicate, text)
    return True


def raised(error, at):
    """Stores the location of the raise statement in an exception."""
    if isinstance(error, type) and issubclass(error, BaseException):
        error = error()
    try:
        error.tenon_raised_ = caller_site(at)
    except AttributeError:
        pass
    return error


def set_item(container, index, value):
    """Sets an element and returns the container. For a tensor, returns a new tensor."""
    if _backend.is_tensor(container):
        return _backend.set_item(container, index, value)
    container[index] = value
    return container


def update_item(container, index, operation, value):
    """Applies an augmented assignment to an element and returns the container, like set_item()."""
    return set_item(container, index, _IN_PLACE[operation](container[index], value))


def set_item_of_attribute(owner, name, index, value):
    container = getattr(owner, name)
    result = set_item(container, index, value)
    if result is not container:
        setattr(owner, name, result)


def update_item_of_attribute(owner, name, index, operation, value):
    element = getattr(owner, name)[index]
    set_item_of_attribute(owner, name, index, _IN_PLACE[operation](element, value))


_IN_PLACE = {
    "Add": operator.iadd,
    "Sub": operator.isub,
    "Mult": operator.imul,
    "MatMult": operator.imatmul,
    "Div": operator.itruediv,
    "FloorDiv": operator.ifloordiv,
    "Mod": operator.imod,
    "Pow": operator.ipow,
    "LShift": operator.ilshift,
    "RShift": operator.irshift,
    "BitAnd": operator.iand,
    "BitOr": operator.ior,
    "BitXor": operator.ixor,
}
