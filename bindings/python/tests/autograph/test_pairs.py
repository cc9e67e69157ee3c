"""Every pair of nested constructs, with each jump inside, has the same results traced and
eagerly."""

import contextlib
import itertools
import textwrap

import pytest
from helpers import assert_traced_equals_eager, from_source

CONSTRUCTS = {
    "if": "if total > {c}:\n{body}\nelse:\n    total = total - 1.0",
    "elif": "if total > 20.0:\n    total = total * 0.5\nelif total > {c}:\n{body}",
    "while": "k{d} = n * 0\nwhile k{d} < n:\n    k{d} = k{d} + 1\n{body}\nelse:\n    total = total + 0.25",
    "while_true": "k{d} = n * 0\nwhile True:\n    k{d} = k{d} + 1\n    if k{d} > n:\n        break\n{body}",
    "for_range": "for i{d} in range(n):\n{body}\nelse:\n    total = total + 0.125",
    "for_tensor": "for v{d} in values:\n    total = total + v{d}\n{body}",
    "enumerate": "for i{d}, v{d} in enumerate(values):\n    total = total + v{d} * float(i{d})\n{body}",
    "python_for": "for i{d} in [1.0, 2.0]:\n    total = total + i{d}\n{body}",
    "with": "with context():\n{body}",
    "try": "try:\n{body}\nexcept ValueError:\n    total = total + 9.0\nfinally:\n    total = total + 0.5",
    "match": "match kind:\n    case 0:\n        total = total - 3.0\n    case 1 | 2:\n{body}\n    case _:\n        total = total + 7.0",
    "if_python": "if limit is not None:\n{body}",
}  # fmt: skip
LOOPS = {"while", "while_true", "for_range", "for_tensor", "enumerate", "python_for"}
JUMPS = ["none", "break", "continue", "return", "return_now"]


def indent(text, depth):
    return textwrap.indent(text, "    " * depth)


def program(outer, inner, jump):
    line = {"return": "return total * 2.0", "none": "total = total + 2.0"}.get(jump, jump)
    body = f"total = total + x\nif total > limit:\n    {line}\ntotal = total + 1.0"
    if jump == "return_now":
        body = "total = total + x\nreturn total"
    for depth, name in ((2, inner), (1, outer)):
        nested = indent(body, 2 if name == "match" else 1)
        if name == "match":
            nested = indent(body, 2)
        body = CONSTRUCTS[name].format(body=nested, c=depth - 2.5, d=depth)
    text = f"total = x * 1.0\n{body}\ntotal = total + 100.0\nreturn total"
    return "def program(x, n, values, kind, limit):\n" + indent(text, 1) + "\n"


def is_valid(outer, inner, jump):
    chain = [name for name in (outer, inner) if name in LOOPS]
    if jump in ("break", "continue") and not chain:
        return False
    # With a tensor condition, break cannot leave a Python loop; continue is allowed.
    if jump == "break" and chain[-1] == "python_for":
        return False
    staged = any(name not in ("python_for", "with", "try", "if_python") for name in (outer, inner))
    if jump in ("return", "return_now") and "python_for" in chain:
        return jump == "return_now" and not staged
    return True


PAIRS = [
    (outer, inner)
    for outer, inner in itertools.product(CONSTRUCTS, CONSTRUCTS)
]


@pytest.mark.parametrize("outer,inner", PAIRS)
def test_nested_constructs_have_the_same_results_traced_and_eagerly(outer, inner):
    for jump in JUMPS:
        if not is_valid(outer, inner, jump):
            continue
        function = from_source(
            program(outer, inner, jump), "program", context=contextlib.nullcontext
        )
        values = [1.0, -1.0, 2.0]
        calls = [(x, 3, values, kind, 5.5) for x, kind in ((1.0, 1), (-2.0, 0), (4.0, 2))]
        assert_traced_equals_eager(function, *calls, differentiated=(0,))
