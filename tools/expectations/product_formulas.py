"""Formulas of matrix products, and of sums of products over arbitrary axes."""

import numpy as np

from formula_table import formula


@formula("gemm")
def gemm(a, b, c=None, *, alpha, beta, trans_a, trans_b):
    product = (a.T if trans_a else a) @ (b.T if trans_b else b)
    return alpha * product + (0 if c is None else beta * c)


@formula("dense")
def dense(x, w, b=None):
    return x @ w + (0 if b is None else b)


@formula("tensordot")
def tensordot(a, b, axes_a, axes_b):
    return np.tensordot(a, b, (axes_a, axes_b)).astype(a.dtype)


@formula("einsum")
def einsum(*x, equation):
    return np.einsum(equation.replace(" ", ""), *x)


@formula("matmul")
def matmul(a, b, transpose_a, transpose_b):
    return np.matmul(np.swapaxes(a, -1, -2) if transpose_a else a,
                     np.swapaxes(b, -1, -2) if transpose_b else b)


@formula("int8_matmul")
def int8_matmul(a, b, a_zero_point=None, b_zero_point=None):
    a, b = a.astype(np.int32), b.astype(np.int32)
    if a_zero_point is not None:
        rows = a_zero_point.astype(np.int32)
        a = a - (rows[:, None] if rows.ndim == 1 and a.ndim > 1 else rows)
    if b_zero_point is not None:
        b = b - b_zero_point.astype(np.int32)
    return np.matmul(a, b)
