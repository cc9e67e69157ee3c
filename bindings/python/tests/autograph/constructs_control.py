"""Functions that each use one construct: branches, loops or operators. test_constructs.py runs
them."""

import tenon as tn


def if_else(x):
    if x > 0:
        y = x * 2.0
    else:
        y = -x
    return y


def if_alone(x):
    if x > 0:
        x = x * 2.0
    return x


def elif_chain(x):
    if x > 2.0:
        y = 1.0
    elif x > 0.0:
        y = 2.0
    elif x > -2.0:
        y = 3.0
    else:
        y = 4.0
    return y + x


def return_in_branch(x):
    if x > 0:
        return x
    return -x


def return_in_nested_branches(x):
    if x > 0:
        if x > 2.0:
            return x * 10.0
        x = x + 1.0
    else:
        return x - 1.0
    return x


def conditional_expression(x):
    return x * 2.0 if x > 0 else x - 1.0


def nested_conditional_expression(x):
    return 1.0 if x > 2.0 else (2.0 if x > 0.0 else x)


def while_loop(x):
    while x < 10.0:
        x = x * 1.5 + 3.0
    return x


def while_else(x):
    n = 0
    while x < 10.0:
        x = x + 4.0
        n = n + 1
        if n > 2:
            break
    else:
        x = x + 100.0
    return x, n


def while_true(x):
    while True:
        x = x + 3.0
        if x > 10.0:
            return x


def for_tensor_range(x):
    total = x * 0.0
    for i in tn.range(5):
        total = total + x * float(i)
    return total


def for_range_of_tensor(x):
    total = 0.0
    for i in range(int(x) + 4):
        total = total + x * float(i)
    return total


def for_range_of_bounds(x):
    n = int(x) + 9
    total = 0
    for i in range(1, n, 3):
        total = total + i
    for i in range(n, -2, -2):
        total = total * 2 + i
    return total


def for_python_range(x):
    for i in range(3):
        x = x + i
    return x


def for_rows(x):
    total = 0.0
    for value in tn.stack([x, x + 1.0, x + 2.0]):
        if value < 0:
            continue
        total = total + value
    return total


def for_list(x):
    total = x
    for value in [x, 2.0, x + 1.0]:
        total = total * value
    return total


def for_enumerate_and_zip(x):
    values = tn.stack([x, x + 1.0, x + 2.0])
    total = 0.0
    for i, (a, b) in enumerate(zip(values, values * 2.0), 1):
        total = total + a * b * float(i)
    return total


def for_else(x):
    for i in tn.range(4):
        if x > float(i):
            break
        x = x - 1.0
    else:
        x = x * 10.0
    return x


def for_reversed(x):
    total = 0.0
    for value in reversed(range(int(x) + 4)):
        total = total * 3.0 + float(value)
    return total


def return_in_loop(x):
    for i in tn.range(5):
        x = x + 1.0
        if x > 3.0:
            return x, i
    return x * 2.0, -1


def return_in_nested_loops(x):
    for i in tn.range(4):
        for j in tn.range(3):
            x = x + float(i * j)
            if x > 4.0:
                return x
        if x < -100.0:
            return x - 1.0
    return -x


def break_and_continue(x):
    total = 0.0
    for i in tn.range(10):
        if i % 2 == 0:
            continue
        if total > 8.0:
            break
        total = total + float(i) + x
    return total


def continue_in_python_loop(x):
    for value in [1.0, 2.0, 3.0]:
        if x > value:
            continue
        x = x + value
    return x


def boolean_operators(x):
    a = x > 0 and x < 3.0
    b = x < -1.0 or not a
    return a, b, not (a and b), (x > 0 and 5 > 3)


def chained_comparison(x):
    return 0.0 < x < 3.0, -3.0 <= x <= x * 2.0 < 5.0


def assertion(x):
    assert x > -100.0, "x is too small"
    assert x > -100.0
    return x


def augmented(x):
    total = x
    total += 1.0
    if x > 0:
        total *= 3.0
    return total
