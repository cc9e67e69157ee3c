"""Leaves of state: tensors, Python numbers and other objects, and whether two of them are
compatible."""

from . import _backend

NUMBERS = (bool, int, float)
_ATOMS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_FLOATS = ("float", "bfloat", "f16", "f32", "f64", "bf16", "f8")


def is_tensor(leaf):
    return _backend.is_tensor(leaf) or _backend.is_list(leaf)


def is_number(leaf):
    return type(leaf) in NUMBERS


def same_object(left, right):
    """Returns whether two Python values are interchangeable, so that the graph need not select
    one."""
    if left is right:
        return True
    return type(left) is type(right) and isinstance(left, _ATOMS) and left == right


def is_floating(dtype):
    return dtype.startswith(_FLOATS)


def adopts(number, dtype):
    """Returns whether a Python number can become a tensor of a dtype."""
    if isinstance(number, bool) or dtype == "bool":
        return isinstance(number, bool) and dtype == "bool"
    return isinstance(number, int) or is_floating(dtype)


def default_dtype(number):
    return "bool" if isinstance(number, bool) else "int32" if isinstance(number, int) else "float32"


def as_tensor(leaf, dtype=None):
    return leaf if is_tensor(leaf) else _backend.constant(leaf, dtype or default_dtype(leaf))


def signature(leaf):
    """Returns (dtype, sizes, whether the value is a list) of a tensor."""
    return _backend.dtype_name(leaf), _backend.shape(leaf), _backend.is_list(leaf)


def same_signature(left, right):
    if left[0] != right[0] or left[2] != right[2] or len(left[1]) != len(right[1]):
        return False
    return all(a == b or a is None or b is None for a, b in zip(left[1], right[1]))


def zeros_like(leaf_signature):
    dtype, sizes, is_list = leaf_signature
    entry = _backend.zeros(dtype, sizes)
    return _backend.list_create(entry) if is_list else entry


def describe(leaf):
    """Describes a leaf for an error message."""
    if is_tensor(leaf):
        dtype, sizes, is_list = signature(leaf)
        text = f"{dtype}[{','.join('?' if size is None else str(size) for size in sizes)}]"
        return f"a list of {text}" if is_list else text
    if isinstance(leaf, _ATOMS):
        text = repr(leaf)
        return text if len(text) <= 40 else text[:37] + "..."
    return f"an object of {type(leaf).__name__}"


def describe_tree(tree):
    """Describes a value and its structure for an error message."""
    if tree.kind == "leaf":
        return describe(tree.value)
    if tree.kind == "staged":
        return describe(tree.children[0].value)
    inner = [describe_tree(child) for child in tree.children[:_MOST_DESCRIBED]]
    if tree.kind == "dict":
        inner = [f"{key!r}: {text}" for key, text in zip(tree.keys, inner)]
    if tree.kind == "data":
        inner = [f"{key}={text}" for key, text in zip(tree.keys, inner)]
    if len(tree.children) > _MOST_DESCRIBED:
        inner.append("...")
    text = ", ".join(inner)
    if tree.kind == "registered":
        return f"{type(tree.value).__name__}({text})"
    if tree.kind == "data":
        return f"{type(tree.value).__name__}({text})"
    return {"tuple": f"({text})", "list": f"[{text}]", "dict": "{" + text + "}"}[tree.kind]


_MOST_DESCRIBED = 6
