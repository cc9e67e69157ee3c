"""tf.linalg: matrix products and decompositions."""

from .. import _native
from ._arrays import eye
from ._elementwise import global_norm
from ._reductions import einsum, matmul, matvec, norm, tensordot

_ops = _native.ops


def inv(input, adjoint=False, name=None):
    """Returns the inverse of a matrix."""
    return _ops["inv"](input)


def det(input, name=None):
    """Returns the determinant of a matrix."""
    return _ops["det"](input)


def solve(matrix, rhs, adjoint=False, name=None):
    """Returns the solution x of `matrix @ x = rhs`."""
    return _ops["solve"](matrix, rhs)


def cholesky(input, name=None):
    """Returns the lower triangular L for which `L @ L.T` is the positive definite matrix."""
    return _ops["cholesky"](input)


def qr(input, name=None):
    """Returns an orthogonal and an upper triangular matrix, whose product is the matrix."""
    return _ops["qr"](input)


def svd(tensor, name=None):
    """Returns the singular values s and matrices u and v, for which `u @ diag(s) @ v.T` is the
    matrix."""
    u, s, vt = _ops["svd"](tensor)
    return s, u, _ops["swapaxes"](vt, -1, -2)


def eigh(tensor, name=None):
    """Returns the eigenvalues and eigenvectors of a symmetric matrix."""
    return _ops["eigh"](tensor)


def diag_part(input, name=None):
    """Returns the diagonals of the matrices in the last two axes."""
    return _ops["diagonal"](input, axis1=-2, axis2=-1)


def trace(x, name=None):
    """Returns the sums of the diagonals."""
    return _ops["sum"](diag_part(x), axes=-1)


def matrix_transpose(a, name=None):
    """Exchanges the last two axes."""
    return _ops["swapaxes"](a, -1, -2)


__all__ = ["cholesky", "det", "diag_part", "eigh", "einsum", "eye", "global_norm", "inv", "matmul",
           "matrix_transpose", "matvec", "norm", "qr", "solve", "svd", "tensordot", "trace"]
