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
# attribute that only one branch sets
def f(x, n):
    box = Box()
    if x > 0:
        box.value = x
    return x
---
# branches that assign different dtypes
def f(x, n):
    if x > 0:
        y = x
    else:
        y = n
    return y
---
# branches that assign different shapes
def f(x, n):
    if x > 0:
        y = x
    else:
        y = tn.zeros((3,))
    return y
---
# variable that is a tensor or None
def f(x, n):
    y = None
    if x > 0:
        y = x
    return y
---
# branches that assign different strings
def f(x, n):
    if x > 0:
        name = "positive"
    else:
        name = "negative"
    return name
---
# branches that assign tuples of different lengths
def f(x, n):
    if x > 0:
        y = (x, x)
    else:
        y = (x, x, x)
    return y
---
# branches that assign dicts with different keys
def f(x, n):
    if x > 0:
        y = {"a": x}
    else:
        y = {"b": x}
    return y
---
# branches that assign a bool and a float
def f(x, n):
    if x > 0:
        y = True
    else:
        y = 1.0
    return y
---
# list to which one branch appends
def f(x, n):
    values = []
    if x > 0:
        values.append(x)
    return values
---
# conditional expression with a tensor and None
def f(x, n):
    return x if x > 0 else None
---
# conditional expression with two shapes
def f(x, n):
    return (x if x > 0 else tn.zeros((2,))) * 2.0
---
# only one branch returns a value
def f(x, n):
    if x > 0:
        return x
---
# return statements with different dtypes
def f(x, n):
    if x > 0:
        return x
    return n
---
# return statements with a tensor and None
def f(x, n):
    if x > 0:
        return None
    return x
---
# only the loop returns a value
def f(x, n):
    for i in tn.range(n):
        x = x + 1.0
        if x > 3.0:
            return x
---
# loop returns a different dtype than the function
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
# integer tensor becomes a float tensor in a loop
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
# string that a loop changes is read after the loop
def f(x, n):
    name = "first"
    while x < 10.0:
        x = x + 1.0
        name = name + "x"
    return name
---
# variable that a loop reads before it binds it
def f(x, n):
    for i in tn.range(n):
        if i > 0:
            x = x + y
        y = x
    return x
---
# variable that is first bound inside a loop
def f(x, n):
    for i in tn.range(n):
        y = x * float(i)
    return y
---
# loop variable that is read after the loop
def f(x, n):
    for i in tn.range(n):
        x = x + 1.0
    return i
---
# list with entries of two dtypes
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
# break out of a Python while loop
def f(x, n):
    k = 0
    while k < 3:
        k += 1
        if x > 3.0:
            break
    return x
---
# if condition with many elements
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
# operand of `and` with many elements
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
# call of a function that is not converted
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
# tensor condition in the filter of a comprehension
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
# tensor condition in a class body
def f(x, n):
    class Local:
        if x > 0:
            value = 1.0
    return x
'''.split("---"):
    program(_text)
