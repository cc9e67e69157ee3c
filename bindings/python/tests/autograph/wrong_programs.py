"""Forty programs that violate a rule. Each is a function `f`, called with x = 2.0 and n = 3.

wrong_programs.expected contains the expected error under the program's name.
"""

PROGRAMS = {}


def program(text):
    name, _, source = text.strip("\n").partition("\n")
    PROGRAMS[name.lstrip("# ")] = source + "\n"


for _text in '''
# bound in the first branch only
def f(x, n):
    if x > 0:
        y = x
    return y
---
# bound in the second branch only
def f(x, n):
    if x > 0:
        pass
    else:
        y = x
    return y * 2.0
---
# bound in one of three branches
def f(x, n):
    if x > 5.0:
        y = 1.0
    elif x > 1.0:
        z = 2.0
    else:
        y = 3.0
    return y
---
# attribute made in one branch
def f(x, n):
    box = Box()
    if x > 0:
        box.value = x
    return x
---
# dtypes of branches
def f(x, n):
    if x > 0:
        y = x
    else:
        y = n
    return y
---
# shapes of branches
def f(x, n):
    if x > 0:
        y = x
    else:
        y = tn.zeros((3,))
    return y
---
# tensor and None
def f(x, n):
    y = None
    if x > 0:
        y = x
    return y
---
# two strings
def f(x, n):
    if x > 0:
        name = "positive"
    else:
        name = "negative"
    return name
---
# tuples of two lengths
def f(x, n):
    if x > 0:
        y = (x, x)
    else:
        y = (x, x, x)
    return y
---
# dicts with other keys
def f(x, n):
    if x > 0:
        y = {"a": x}
    else:
        y = {"b": x}
    return y
---
# bool and float
def f(x, n):
    if x > 0:
        y = True
    else:
        y = 1.0
    return y
---
# list that grows in one branch
def f(x, n):
    values = []
    if x > 0:
        values.append(x)
    return values
---
# conditional expression of two types
def f(x, n):
    return x if x > 0 else None
---
# conditional expression of two shapes
def f(x, n):
    return (x if x > 0 else tn.zeros((2,))) * 2.0
---
# returns in one branch only
def f(x, n):
    if x > 0:
        return x
---
# returns two dtypes
def f(x, n):
    if x > 0:
        return x
    return n
---
# returns a value and None
def f(x, n):
    if x > 0:
        return None
    return x
---
# returns from a loop only
def f(x, n):
    for i in tn.range(n):
        x = x + 1.0
        if x > 3.0:
            return x
---
# returns another dtype from a loop
def f(x, n):
    while x < 10.0:
        x = x * 2.0
        if x > 5.0:
            return n
    return x
---
# dtype changes in a while loop
def f(x, n):
    while n < 10:
        n = tn.cast(n, "float32")
    return n
---
# shape changes in a for loop
def f(x, n):
    total = x
    for i in tn.range(n):
        total = total + tn.zeros((2,))
    return total
---
# float from an int tensor
def f(x, n):
    total = tn.constant(0)
    for i in tn.range(n):
        total = x
    return total
---
# structure changes in a loop
def f(x, n):
    state = (x, x)
    for i in tn.range(n):
        state = (x, state)
    return state
---
# None becomes a tensor in a loop
def f(x, n):
    last = None
    for i in tn.range(n):
        last = x
    return last
---
# string changes in a loop
def f(x, n):
    name = "first"
    for i in tn.range(n):
        name = name + "x"
    return x
---
# string of a loop is read later
def f(x, n):
    name = "first"
    while x < 10.0:
        x = x + 1.0
        name = name + "x"
    return name
---
# read before the loop binds it
def f(x, n):
    for i in tn.range(n):
        if i > 0:
            x = x + y
        y = x
    return x
---
# first bound inside a loop
def f(x, n):
    for i in tn.range(n):
        y = x * float(i)
    return y
---
# loop variable after the loop
def f(x, n):
    for i in tn.range(n):
        x = x + 1.0
    return i
---
# list with entries of two types
def f(x, n):
    values = []
    for i in tn.range(n):
        values.append(x)
        values.append(i)
    return tn.stack(values)
---
# list that shrinks in a loop
def f(x, n):
    values = [x, x]
    for i in tn.range(n):
        values.pop()
    return values
---
# break out of a Python loop
def f(x, n):
    for i in range(10):
        x = x + float(i)
        if x > 3.0:
            break
    return x
---
# return out of a Python loop
def f(x, n):
    for name in ["a", "b"]:
        if x > 3.0:
            return x
    return -x
---
# break out of a Python while
def f(x, n):
    k = 0
    while k < 3:
        k += 1
        if x > 3.0:
            break
    return x
---
# condition with many elements
def f(x, n):
    if tn.stack([x, x]) > 0:
        x = x + 1.0
    return x
---
# loop condition with many elements
def f(x, n):
    y = tn.zeros((2, 2))
    while y * x < 1.0:
        y = y + 1.0
    return y
---
# and of many elements
def f(x, n):
    return tn.stack([x, x]) > 0 and x > 0
---
# raise in a branch
def f(x, n):
    if x > 3.0:
        raise ValueError("too large")
    return x
---
# raise in a loop
def f(x, n):
    for i in tn.range(n):
        if i > 5:
            raise ValueError
    return x
---
# do_not_convert with a tensor condition
@tn.autograph.do_not_convert
def f(x, n):
    if x > 0:
        return x
    return -x
---
# called function that is not converted
@tn.autograph.do_not_convert
def g(x):
    return x if x > 0 else -x
def f(x, n):
    return g(x)
---
# function that reads its variables by name
def f(x, n):
    if x > 0:
        x = x + len(locals())
    return x
---
# generator with a tensor condition
def g(x):
    if x > 0:
        yield x
def f(x, n):
    total = x
    for value in g(x):
        total = total + value
    return total
---
# generator
def f(x, n):
    yield x
---
# coroutine
async def f(x, n):
    return x
---
# filter of a comprehension
def f(x, n):
    return [value for value in [x, n] if value > 0]
---
# return in finally
def f(x, n):
    try:
        x = x + 1.0
    finally:
        if x > 0:
            return x
    return x
---
# class body
def f(x, n):
    class Local:
        if x > 0:
            value = 1.0
    return x
'''.split("---"):
    program(_text)
