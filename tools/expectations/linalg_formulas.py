"""Formulas of linear algebra, by LAPACK in NumPy and SciPy. Signs are chosen as the reference pages
specify."""

import numpy as np
from scipy import linalg

from formula_table import formula


def for_each(function, *stacks):
    """Applies a function to each matrix of the stacks. The results for a matrix are NaN if the
    function fails, or if the matrix of the first stack is not finite."""
    batch = np.broadcast_shapes(*(stack.shape[:-2] for stack in stacks))
    stacks = [np.broadcast_to(stack, batch + stack.shape[-2:]) for stack in stacks]
    like = function(*(np.eye(*stack.shape[-2:]) for stack in stacks))
    several = isinstance(like, tuple)
    like = like if several else (like,)
    results = tuple(np.full(batch + np.shape(one), np.nan) for one in like)
    for place in np.ndindex(*batch):
        matrices = [stack[place] for stack in stacks]
        if not all(np.all(np.isfinite(matrix)) for matrix in matrices[:1]):
            continue
        try:
            given = function(*matrices)
        except (np.linalg.LinAlgError, ValueError):
            continue  # Singular, or not positive definite.
        for result, one in zip(results, given if several else (given,)):
            result[place] = one
    return results if several else results[0]


@formula("inv")
def inv(x):
    return for_each(np.linalg.inv, x)


@formula("det")
def det(x):
    return for_each(np.linalg.det, x)


@formula("slogdet")
def slogdet(x):
    return for_each(lambda matrix: tuple(np.linalg.slogdet(matrix)), x)


@formula("solve")
def solve(a, b):
    if b.ndim == 1:
        return for_each(lambda matrix, column: np.linalg.solve(matrix, column)[:, 0], a, b[:, None])
    return for_each(np.linalg.solve, a, b)


@formula("cholesky")
def cholesky(x, upper):
    n = x.shape[-1]
    triangle = np.swapaxes(np.triu(x), -1, -2) if upper else np.tril(x)
    symmetric = triangle + np.swapaxes(np.tril(triangle, -1), -1, -2)
    root = for_each(np.linalg.cholesky, symmetric)
    root = np.where(np.tri(n, dtype=bool), root, 0)  # The other triangle is zero, even next to NaN.
    return np.swapaxes(root, -1, -2) if upper else root


@formula("triangular_solve")
def triangular_solve(a, b, lower, transpose, unit_diagonal, left):
    if unit_diagonal:
        a = np.where(np.eye(a.shape[-1], dtype=bool), 1, a)
    if transpose:
        a, lower = np.swapaxes(a, -1, -2), not lower
    if left:
        return substituted(a, b, lower)
    solved = substituted(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2), not lower)
    return np.swapaxes(solved, -1, -2)


def substituted(a, b, lower):
    """Solves a y = b by substitution: each row of y depends on the rows before it."""
    n = a.shape[-1]
    y = np.array(np.broadcast_to(b, np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:]))
    for i in range(n) if lower else reversed(range(n)):
        for k in range(i) if lower else range(i + 1, n):
            y[..., i, :] -= a[..., i, k, None] * y[..., k, :]
        y[..., i, :] /= a[..., i, i, None]
    return y


@formula("qr")
def qr(x):
    def with_positive_diagonal(matrix):
        q, r = np.linalg.qr(matrix)
        signs = np.where(np.diagonal(r) < 0, -1.0, 1.0)
        return q * signs, r * signs[:, None]
    return for_each(with_positive_diagonal, x)


def signs_of_columns(columns):
    """Returns for each column the sign of its element with the largest magnitude. If several
    magnitudes differ from the largest by less than a thousandth, the first of them decides."""
    signs = np.ones(columns.shape[1])
    for k, column in enumerate(columns.T):
        magnitudes = np.abs(column)
        if column.size:
            first = np.flatnonzero(magnitudes >= 0.999 * np.max(magnitudes))[0]
            signs[k] = -1 if column[first] < 0 else 1
    return signs


@formula("svd")
def svd(x):
    def with_signs(matrix):
        u, s, vh = linalg.svd(matrix, full_matrices=False)
        signs = signs_of_columns(u)
        return u * signs, s, vh * signs[:, None]
    return for_each(with_signs, x)


@formula("eigh")
def eigh(x):
    def with_signs(matrix):
        w, v = np.linalg.eigh(matrix, UPLO="L")
        return w, v * signs_of_columns(v)
    return for_each(with_signs, np.tril(x))
