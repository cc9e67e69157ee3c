"""Functions that each use one construct: calls, containers, attributes or other statements.

test_constructs.py runs them.
"""

import contextlib
import dataclasses
import functools

import tenon as tn

SCALE = 3.0


def subscript_assignment(x):
    values = tn.constant([1.0, 2.0, 3.0])
    values[0] = x
    values[1] += x
    if x > 0:
        values[1:] = x * 2.0
    for i in tn.range(3):
        values[i] = values[i] + float(i)
    return values


def subscript_of_attribute(x):
    box = Box(tn.constant([1.0, 2.0]))
    box.value[0] = x
    box.value[1] *= x
    return box.value


def list_append(x):
    values = []
    for i in tn.range(4):
        x = x * 2.0 + float(i)
        values.append(x)
    return tn.stack(values)


def list_append_to_full(x):
    values = [x]
    for _ in tn.range(3):
        if x > 0:
            values.append(values[-1] + 1.0)
        else:
            values.append(x * 2.0)
    return tn.stack(values), len(values)


def list_append_under_condition(x):
    values = []
    for i in tn.range(4):
        if x > float(i):
            values.append(x * float(i))
        elif i == 1:
            continue
        else:
            values.append(x)
            values.append(-x)
    return tn.stack(values)


def list_of_loop_in_loop(x):
    values = []
    for i in tn.range(3):
        inner = x
        for j in tn.range(2):
            inner = inner + float(i * j)
            values.append(inner)
    total = 0.0
    for value in values:
        total = total + value
    return total


def list_append_in_both_branches(x):
    values = [x]
    if x > 0:
        values.append(x * 2.0)
    else:
        values.append(x - 1.0)
    return values


def nested_function(x):
    def inner(y):
        if y > 0:
            return y * SCALE
        return y

    return inner(x) + inner(-x)


def nested_nonlocal(x):
    count = 0.0

    def step(amount):
        nonlocal count
        count = count + amount

    if x > 0:
        step(x)
    for _ in tn.range(3):
        step(1.0)
    return count


def lambdas(x):
    choose = lambda a, b=2.0: a if a > b else b  # noqa: E731
    return choose(x) + choose(x, b=-1.0)


def helper(x, factor=2.0, *more, shift=0.0):
    if x > 0:
        x = x * factor
    for item in more:
        x = x + item
    return x + shift


def called_functions(x):
    return helper(x), helper(x, 3.0), helper(x, 3.0, 1.0, 2.0, shift=0.5), helper(**{"x": x})


def partial_function(x):
    return functools.partial(helper, factor=5.0)(x)


def recursion(x):
    return power(x, 4)


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    result = half * half if n % 2 == 0 else half * half * x
    if result > 1000.0:
        return 1000.0
    return result


def builtins(x):
    values = tn.stack([x, x + 1.0, -x])
    return (
        len(values),
        abs(x),
        int(x),
        float(x),
        min(values),
        max(values),
        min(x, 1.0),
        max(1.0, x, -x),
        sum(values),
        any(values > 1.0),
        all(values > -9.0),
        any([x > 5.0, x > 1.0]),
        all([x > 5.0, True]),
        sum([x, x]),
        list(map(helper, [x, -x])),
    )


def with_inside(x):
    if x > 0:
        with contextlib.nullcontext(x) as y:
            x = y * 2.0
    return x


def with_around(x):
    with contextlib.nullcontext():
        if x > 0:
            return x * 2.0
    return x


def try_inside(x):
    if x > 0:
        try:
            raise KeyError("k")
        except KeyError as error:
            x = x + len(error.args)
        finally:
            x = x * 2.0
    return x


def try_around(x):
    try:
        if x > 0:
            x = x * 2.0
        int("no number")
    except ValueError:
        x = x + 1.0
    else:
        x = x + 2.0
    return x


def match_literals(x):
    match int(x):
        case 1:
            y = 10.0
        case 2 | 3:
            y = 20.0
        case n if n > 3:
            y = float(n)
        case _:
            y = -1.0
    return y


def match_structure(x):
    match (x, "double"):
        case (value, "double"):
            if value > 0:
                return value * 2.0
            return value
        case _:
            return x


class Box:
    def __init__(self, value):
        self.value = value
        if value is None:
            self.value = 0.0


class Counter:
    step = 2.0

    def __init__(self):
        self.count = 0.0
        self.history = {"last": 0.0}

    def add(self, x):
        if x > 0:
            self.count = self.count + self.step
            self.history["last"] = x
        return self.count

    def __call__(self, x):
        return self.add(x)


class Doubling(Counter):
    def add(self, x):
        if x > 1.0:
            return super().add(x) * 2.0
        return super().add(x)


def attributes(x):
    counter = Counter()
    for _ in tn.range(3):
        counter.add(x)
    counter(x)
    return counter.count, counter.history


def methods_with_super(x):
    counter = Doubling()
    return counter.add(x), counter.add(x + 1.0), counter.count


def tuple_state(x):
    pair = (x, 1.0)
    for _ in tn.range(3):
        pair = (pair[1], pair[0] + pair[1])
    a, b = 0.0, 1.0
    while b < 10.0:
        a, b = b, a + b
    return pair, a, b


def list_state(x):
    values = [x, 0.0]
    for i in tn.range(3):
        values[0] = values[0] + float(i)
        values[1] = values[0]
    return values


def dict_state(x):
    state = {"h": x, "n": 0, "name": "state"}
    alias = state
    for _ in tn.range(3):
        state["h"] = state["h"] * 2.0
        state["n"] += 1
    return alias["h"], state["n"], state["name"]


@dataclasses.dataclass
class State:
    h: object
    c: object = 1.0


def dataclass_state(x):
    state = State(x)
    for _ in tn.range(3):
        if state.h > 0:
            state.h = state.h + state.c
        else:
            state = State(state.h - 1.0, state.c * 2.0)
    return state.h, state.c


def comprehension(x):
    return [helper(x, k) for k in (1.0, 2.0)], {k: x * k for k in (1, 2)}


def walrus(x):
    if (y := x * 2.0) > 2.0 and (z := y + 1.0) > 4.0:
        return z
    n = 0.0
    while (n := n + 1.0) < 5.0:
        x = x + n
    return x + y


def membership(x):
    return int(x) in (1, 2, 3), int(x) not in [1]


def deleted(x):
    temporary = x * 2.0
    if x > 0:
        x = x + temporary
        del temporary
    return x


def python_number_becomes_tensor(x):
    i = 0
    while i < 3:
        i += 1
        x = x + float(i)
    best = 0
    for value in tn.stack([x, x + 1.0]):
        if value > best:
            best = value
    return best


def annotated(x):
    y: float = 0.0
    if x > 0:
        y: float = x
    return y


def global_state(x):
    global TOTAL
    TOTAL = x
    if x > 0:
        TOTAL = x * 3.0
    return TOTAL


TOTAL = 0.0


def early_exit_of_python_loop(x):
    for name in ["a", "b", "c"]:
        if name == "b":
            break
        x = x + 1.0
    for name in ["a", "b", "c"]:
        if name == "b":
            return x * 2.0
    return x
