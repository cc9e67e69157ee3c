"""Matrix products, decompositions and norms: functions of the core standard and of its extension
`linalg`."""

import collections
import math

from .. import _convert, _native
from . import _manipulation, _statistics

__all__ = ["cholesky", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matmul", "matrix_norm",
           "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr", "slogdet",
           "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm"]

_ops = _native.ops
_Eigh = collections.namedtuple("EighResult", ["eigenvalues", "eigenvectors"])
_Qr = collections.namedtuple("QrResult", ["Q", "R"])
_Slogdet = collections.namedtuple("SlogdetResult", ["sign", "logabsdet"])
_Svd = collections.namedtuple("SvdResult", ["U", "S", "Vh"])


def matmul(x1, x2, /):
    """Returns the matrix product."""
    return _ops["matmul"](x1, x2)


def matrix_transpose(x, /):
    """Exchanges the last two axes."""
    return _ops["swapaxes"](x, -1, -2)


def tensordot(x1, x2, /, *, axes=2):
    """Returns the product of two tensors, contracted over axes."""
    if isinstance(axes, int):
        axes = (list(range(x1.ndim - axes, x1.ndim)), list(range(axes)))
    return _ops["tensordot"](x1, x2, list(axes[0]), list(axes[1]))


def vecdot(x1, x2, /, *, axis=-1):
    """Returns the dot products of vectors along an axis."""
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"vecdot: axis {axis} has {x1.shape[axis]} elements in one tensor, but "
                         f"{x2.shape[axis]} in the other")
    x1, x2 = _manipulation.broadcast_arrays(x1, x2)
    return _ops["sum"](_ops["mul"](x1, x2), axes=[axis])


def outer(x1, x2, /):
    """Returns the products of all pairs of elements of two vectors."""
    return x1[:, None] * x2[None, :]


def cross(x1, x2, /, *, axis=-1):
    """Returns the cross products of vectors with 3 elements along an axis."""
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(f"cross: axis {axis} must have 3 elements")
    x1, x2 = _manipulation.broadcast_arrays(x1, x2)
    a, b = _ops["unstack"](x1, axis), _ops["unstack"](x2, axis)
    return _ops["stack"]([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                          a[0] * b[1] - a[1] * b[0]], axis)


def cholesky(x, /, *, upper=False):
    """Returns the lower triangular L for which `L @ L.mT` is the positive definite matrix, or the
    transpose of L."""
    lower = _ops["cholesky"](x)
    return matrix_transpose(lower) if upper else lower


def det(x, /):
    """Returns the determinants."""
    return _ops["det"](x)


def slogdet(x, /):
    """Returns the signs and the logarithms of the absolute values of the determinants."""
    return _Slogdet(*_ops["slogdet"](x))


def inv(x, /):
    """Returns the inverse matrices."""
    return _ops["inv"](x)


def solve(x1, x2, /):
    """Returns the solutions x of `x1 @ x = x2`."""
    if x2.ndim == 1:
        return _manipulation.squeeze(_solve(x1, x2[:, None]), -1)
    return _solve(x1, x2)


def _solve(a, b):
    batch = _manipulation._broadcast(a.shape[:-2], b.shape[:-2])
    return _ops["solve"](_ops["broadcast_to"](a, batch + a.shape[-2:]),
                         _ops["broadcast_to"](b, batch + b.shape[-2:]))


def diagonal(x, /, *, offset=0):
    """Returns the diagonals of matrices."""
    return _ops["diagonal"](x, offset, -2, -1)


def trace(x, /, *, offset=0, dtype=None):
    """Returns the sums of the diagonals."""
    return _statistics.sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def eigh(x, /):
    """Returns the eigenvalues and eigenvectors of symmetric matrices."""
    return _Eigh(*_ops["eigh"](x))


def eigvalsh(x, /):
    """Returns the eigenvalues of symmetric matrices."""
    return eigh(x).eigenvalues


def qr(x, /, *, mode="reduced"):
    """Returns orthogonal matrices Q and upper triangular matrices R, whose products are the
    matrices."""
    rows, columns = x.shape[-2:]
    if mode == "reduced":
        return _Qr(*_ops["qr"](x))
    if mode != "complete":
        raise ValueError(f"qr: mode must be 'reduced' or 'complete', but is {mode!r}")
    if rows <= columns:
        return _Qr(*_ops["qr"](x))
    # Append columns so that Q becomes square. The corresponding rows of R are 0.
    q, r = _ops["qr"](_ops["concat"]([x, _identity(x, rows, rows)], -1))
    return _Qr(q, r[..., :columns])


def _identity(x, rows, columns):
    return _ops["broadcast_to"](_ops["eye"](rows, columns, 0, x.dtype), x.shape[:-2] + (rows, columns))


def svd(x, /, *, full_matrices=True):
    """Returns U, S and Vh, for which `U @ diag(S) @ Vh` is the matrix. S holds the singular
    values."""
    u, s, vh = _ops["svd"](x)
    if full_matrices:
        u = _completed(u)
        vh = matrix_transpose(_completed(matrix_transpose(vh)))
    return _Svd(u, s, vh)


def _completed(u):
    """Returns a square orthogonal matrix whose first columns are those of `u`."""
    rows, columns = u.shape[-2:]
    if rows == columns:
        return u
    q = qr(u, mode="complete").Q
    return _ops["concat"]([u, q[..., columns:]], -1)


def svdvals(x, /):
    """Returns the singular values."""
    return _ops["svd"](x)[1]


def _tolerance(x, s, rtol):
    if rtol is None:
        rtol = max(x.shape[-2:]) * math.ldexp(1, -23 if x.dtype.name == "float32" else -52)
    largest = _ops["max"](s, axes=[-1], keepdims=True)
    return largest * (rtol[..., None] if hasattr(rtol, "ndim") and rtol.ndim else rtol)


def matrix_rank(x, /, *, rtol=None):
    """Returns the rank: the number of singular values above a tolerance."""
    if 0 in x.shape[-2:]:
        return _ops["fill"](_convert.tensor(0, "int64"), x.shape[:-2])
    s = svdvals(x)
    return _ops["sum"]((s > _tolerance(x, s, rtol)).astype("int64"), axes=[-1])


def pinv(x, /, *, rtol=None):
    """Returns the pseudo-inverses."""
    if 0 in x.shape[-2:]:
        return _ops["fill"](_convert.tensor(0, x.dtype), matrix_transpose(x).shape)
    u, s, vh = _ops["svd"](x)
    keeps = s > _tolerance(x, s, rtol)
    inverse = _ops["where"](keeps, 1 / _ops["where"](keeps, s, 1), 0)
    return _ops["matmul"](matrix_transpose(vh) * inverse[..., None, :], matrix_transpose(u))


def matrix_power(x, n, /):
    """Returns the `n`-th power of matrices. If `n` is negative, returns powers of the inverses."""
    if n < 0:
        x, n = inv(x), -n
    result = _identity(x, x.shape[-1], x.shape[-1])
    while n:
        if n % 2:
            result = matmul(result, x)
        n //= 2
        x = matmul(x, x) if n else x
    return result


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """Returns the norms of vectors along axes."""
    reduce = {"axis": axis, "keepdims": keepdims}
    x = _ops["abs"](x)
    if ord == math.inf:
        return _statistics.max(x, **reduce)
    if ord == -math.inf:
        return _statistics.min(x, **reduce)
    if ord == 0:
        return _statistics.sum((x != 0).astype(x.dtype), **reduce)
    if ord == 1:
        return _statistics.sum(x, **reduce)
    if ord == 2:
        return _ops["sqrt"](_statistics.sum(x * x, **reduce))
    return _statistics.sum(x**ord, **reduce) ** (1 / ord)


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """Returns the norms of matrices."""
    if ord == "fro":
        return vector_norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        first, second = (-2, -1) if abs(ord) == 1 else (-1, -2)
        sums = _statistics.sum(_ops["abs"](x), axis=first, keepdims=True)
        choose = _statistics.max if ord > 0 else _statistics.min
        result = choose(sums, axis=second, keepdims=True)
    elif ord in (2, -2, "nuc"):
        choose = {2: _statistics.max, -2: _statistics.min, "nuc": _statistics.sum}[ord]
        result = choose(svdvals(x), axis=-1, keepdims=True)[..., None]
    else:
        raise ValueError(f"matrix_norm: ord must be 'fro', 'nuc', 1, -1, 2, -2 or infinity: {ord!r}")
    return result if keepdims else _manipulation.squeeze(result, (-2, -1))
