"""How the bench of the ops describes a case: an op, its inputs, and the same work in each peer.

The tables elementwise.py, shapes.py and networks.py contain one `Op` for each op of the registry.
run.py measures them.
"""

from dataclasses import dataclass, field

FLOATS = ("f32", "f64", "f16", "bf16")
NUMBERS = ("f32", "f64", "i32", "f16", "bf16")
ANY = ("f32", "f64", "i32", "bool", "f16", "bf16")
WIDE = ("f32", "f64")
INTS = ("i32",)
BOOLS = ("bool",)


@dataclass
class Operand:
    """An input of a case.

    values: How its elements are drawn; arrays.py lists the kinds. An array stands for itself.
    dtype: Its dtype; None stands for the dtype of the case.
    fixed: Whether it is contiguous in the strided layout, too.
    """

    shape: tuple
    values: object = "normal"
    dtype: str | None = None
    fixed: bool = False


@dataclass
class Onnx:
    """A node of ONNX with the inputs of the case, followed by constants; "" omits an input."""

    op: str
    attrs: dict = field(default_factory=dict)
    constants: tuple = ()
    outputs: int = 1
    opset: int = 21


@dataclass
class Op:
    """An op of the registry and its peers.

    inputs: Maps a number of elements to the list of operands.
    numpy: Called with arrays.
    torch: Called with the module torch and tensors. A string names a function of torch.
    onnx: An `Onnx`, or a function that maps the number of elements to one. A string names a node
        without attributes.
    attrs: The attributes of Tenon's call; a function computes them from the number of elements.
    call: Replaces Tenon's call: called with the module tenon and the list of inputs.
    variadic: Whether the op takes a list of tensors.
    most: Largest number of elements, for ops whose work grows faster than their inputs.
    flops: Maps a number of elements to the number of multiplications and additions.
    check: How results are compared; compare.py lists the ways.
    compare: Number of outputs to compare with the peers, or their indices.
    tolerance: Factor by which the peers may differ more than usual.
    view: Whether the result shares the memory of its input, so that nothing is moved.
    to_peer: Maps the arrays of Tenon's inputs to those of the peers, before measuring.
    strided: Whether there are cases with strided inputs.
    """

    name: str
    inputs: object
    dtypes: tuple = FLOATS
    numpy: object = None
    torch: object = None
    onnx: object = None
    attrs: object = None
    call: object = None
    variadic: bool = False
    most: int = 1 << 24
    flops: object = None
    check: str = "values"
    compare: object = 1
    tolerance: float = 1.0
    view: bool = False
    to_peer: object = None
    strided: bool = True


def matrix(n):
    """Returns the shape of a matrix of n elements whose sides are powers of two."""
    rows = 1 << ((n.bit_length() - 1) // 2)
    return rows, n // rows


def one(values="normal", dtype=None):
    return lambda n: [Operand(matrix(n), values, dtype)]


def two(first="normal", second="normal"):
    return lambda n: [Operand(matrix(n), first), Operand(matrix(n), second)]


def three(*kinds):
    kinds = kinds or ("normal",) * 3
    return lambda n: [Operand(matrix(n), kind) for kind in kinds]


def images(n, channels=16):
    """Returns the shape of a batch of square images with n elements in all."""
    side = 1 << ((n // channels).bit_length() - 1) // 2
    while side > 64:
        side //= 2
    return n // channels // side // side, channels, side, side
