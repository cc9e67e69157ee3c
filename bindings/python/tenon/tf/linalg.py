"""tf.linalg: products and decompositions of matrices."""

from .. import _native
from ._arrays import eye
from ._elementwise import global_norm
from ._reductions import einsum, matmul, matvec, norm, tensordot

_ops = _native.ops


def inv(input, adjoint=False, name=None):
    """The inverse of a matrix."""
    return _ops["inv"](input)


def det(input, name=None):
    """The determinant of a matrix."""
    return _ops["det"](input)


def solve(matrix, rhs, adjoint=False, name=None):
    """The solution x of `matrix @ x = rhs`."""
    return _ops["solve"](matrix, rhs)


def cholesky(input, name=None):
    """The lower triangular L with `L @ L.T` equal to a positive definite matrix."""
    return _ops["cholesky"](input)


def qr(input, name=None):
    """An orthogonal and an upper triangular matrix, whose product is the matrix."""
    return _ops["qr"](input)


def svd(tensor, name=None):
    """The singular values s and matrices u, v with `u @ diag(s) @ v.T` equal to the matrix."""
    u, s, vt = _ops["svd"](tensor)
    return s, u, _ops["swapaxes"](vt, -1, -2)


def eigh(tensor, name=None):
    """The eigenvalues and eigenvectors of a symmetric matrix."""
    return _ops["eigh"](tensor)


def diag_part(input, name=None):
    """The diagonals of the matrices in the last two axes."""
    return _ops["diagonal"](input, axis1=-2, axis2=-1)


def trace(x, name=None):
    """The sums of the diagonals."""
    return _ops["sum"](diag_part(x), axes=-1)


def matrix_transpose(a, name=None):
    """The tensor with its last two axes exchanged."""
    return _ops["swapaxes"](a, -1, -2)


__all__ = ["cholesky", "det", "diag_part", "eigh", "einsum", "eye", "global_norm", "inv", "matmul",
           "matrix_transpose", "matvec", "norm", "qr", "solve", "svd", "tensordot", "trace"]
