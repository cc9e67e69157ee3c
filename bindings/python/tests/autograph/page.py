"""The examples of docs/autograph.md. test_autograph_page.py compares their output with the page."""

import tenon as tn

# [first]


@tn.function
def steps(a):
    """Counts the steps of the Collatz sequence from a to 1."""
    count = 0
    while a != 1:
        if a % 2 == 0:
            a = a // 2
        else:
            a = 3 * a + 1
        count += 1
    return count


tn.print(steps(tn.constant(27)))  # 111
# [python]


@tn.function
def power(x, n):
    y = 1.0
    for _ in range(n):  # A Python number: 3 multiplications. A tensor: a loop.
        y = y * x
    return y


tn.print(power(tn.constant(2.0), 3))  # 8.0
tn.print(power(tn.constant(2.0), tn.constant(10)))  # 1024.0
# [lists]


@tn.function
def running_sum(values):
    total, sums = 0.0, []
    for value in values:
        if value < 0:
            continue
        total = total + value
        sums.append(total)
    return tn.stack(sums)


tn.print(running_sum(tn.constant([1.0, -5.0, 2.0])))  # [1. 3.]
# [rule]


@tn.function
def sign(x):
    if x > 0:
        y = 1.0
    return y


try:
    sign(tn.constant(2.0))
except tn.autograph.AutoGraphError as error:
    print(error)
# [code]


def double_positive(x):
    if x > 0:
        x = x * 2
    return x


print(tn.autograph.to_code(double_positive))
# [end]
