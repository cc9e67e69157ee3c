"""Functions that combine several constructs. test_constructs.py runs them."""

import contextlib
import functools

import tenon as tn

G = 1.0


def break_through_finally(x):
    for i in tn.range(3):
        try:
            if x > 2.0:
                break
            x = x + 1.0
        finally:
            x = x * 1.5
    return x


def suppressed_exception(x):
    with contextlib.suppress(KeyError):
        if x > 0:
            x = x + 1.0
        raise KeyError("a")
    return x


def return_in_loop_and_else(x):
    while x < 5.0:
        x = x + 2.0
        if x > 4.5:
            return x
    else:
        return x * 100.0


def lambdas_of_a_python_loop(x):
    fs = []
    for i in range(3):
        fs.append(lambda i=i: x * float(i) if x > float(i) else x)
    return [f() for f in fs]


def star_arguments(x):
    def inner(*a, k=1.0, **kw):
        if a[0] > 0:
            return a[0] * k
        return sum(a) + sum(kw.values())
    args = (x, 1.0)
    return inner(*args, k=3.0, **{"z": 4.0})


def global_in_branches(x):
    global G
    if x > 0:
        G = x
    else:
        G = -x
    return G


def starred_assignment(x):
    a, *b = (x, x+1.0, x+2.0)
    if x > 0:
        a, *b = (b[0], a, a*2.0)
    return a, b


def import_and_def_in_branch(x):
    if x > 0:
        import math
        def h(y):
            return y * math.pi
        x = h(x)
    return x


def nested_lists(x):
    grid = [[x, 0.0], [1.0, x]]
    if x > 0:
        grid[0][1] = x * 2.0
    for i in tn.range(2):
        grid[1][0] = grid[1][0] + grid[0][1]
    return grid


def nested_dict(x):
    t = f"{1 if x is None else 2}"
    d = {"k": [x, {"z": x}]}
    for i in tn.range(2):
        if x > 0:
            d["k"][1]["z"] = d["k"][1]["z"] * 2.0
        else:
            d["k"][0] = d["k"][0] - 1.0
    return d, t


def recursive_nested_function(x):
    def fact(n):
        if n <= 1:
            return 1.0
        return n * fact(n - 1)
    return x * fact(5)


def python_zip_of_tensors(x):
    total = 0.0
    for i, (a, b) in enumerate(zip([1.0,2.0],[x, x*2.0])):
        if a > 1.0 and b > 0:
            total = total + b
        total += i
    return total


def none_and_tensor_conditions(x):
    y = None
    if x is not None and y is None:
        y = x
    return y if y > 0 or x < -2.0 else 0.0


def python_loop_in_tensor_loop(x):
    i = tn.constant(0)
    while i < 3 and x < 100.0:
        x = x * 2.0
        i += 1
        j = 0
        while True:
            j += 1
            if j > i:
                break
            x = x + 1.0
    return x, i


def lists_in_lists(x):
    out = []
    for i in tn.range(3):
        row = []
        for j in range(2):
            row.append(x * float(i) + j)
        out.append(tn.stack(row))
    return tn.stack(out)


def largest_and_its_index(x):
    best, arg = -100.0, -1
    for i, v in enumerate(tn.stack([x, x * x, -x])):
        if v > best:
            best, arg = v, i
    return best, arg


def local_class(x):
    class L:
        k = 2.0
        def m(self, y):
            return y * self.k if y > 0 else y
    return L().m(x)


def reduce_and_sorted(x):
    r = functools.reduce(lambda a, b: a if a > b else b, [x, 2.0, -x])
    return r, sorted([3, 1, 2], key=lambda v: -v if v > 1 else v)


def continue_in_both(x):
    i = 0
    while i < 5:
        i += 1
        if i == 2:
            continue
        if x > 0:
            x = x - 1.0
        else:
            continue
    return x, i


def assignment_expressions(x):
    (y := x)
    z = [w := x * 2.0, w + 1.0]
    return y, z, w


def return_through_finally(x):
    if x > 0:
        try:
            x = x * 2.0
            if x > 3.0:
                return x
        finally:
            x = x + 1.0
    return x


def structures_from_branches(x):
    v = x
    if x > 0:
        v = (x, [x])
    else:
        v = (-x, [x * 3.0])
    return v
