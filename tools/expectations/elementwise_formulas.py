"""Formulas of elementwise ops. Uses functions of NumPy and SciPy where they exist."""

import numpy as np
from scipy import special

from formula_table import enter_all, formula

enter_all({
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": special.erf,
    "erfc": special.erfc,
    "erfinv": special.erfinv,
    "sigmoid": special.expit,
    "square": np.square,
    "isfinite": np.isfinite,
    "signbit": np.signbit,
    "cbrt": np.cbrt,
    "digamma": special.digamma,
    "atan2": np.arctan2,
    "logaddexp": np.logaddexp,
    "hypot": np.hypot,
    "xlogy": special.xlogy,
    "squared_difference": lambda a, b: np.square(a - b),
    "check_numerics": lambda x: x,
    "addcmul": lambda x, a, b, value: x + value * a * b,
})


@formula("lgamma")
def lgamma(x):
    # At minus infinity, the op lgamma returns infinity and SciPy's gammaln minus infinity. There is
    # no limit, because lgamma has poles at all negative integers.
    return np.where(np.isinf(x), np.inf, special.gammaln(x))


@formula("trigamma")
def trigamma(x):
    """Computes the defining series: the first terms one by one, and the rest by Hurwitz' zeta
    function."""
    terms = 64
    k = np.arange(terms).reshape((-1,) + (1,) * np.ndim(x))
    return np.sum(1 / np.square(x + k), axis=0) + special.zeta(2, x + terms)


@formula("pow")
def power(a, b):
    if a.dtype.kind == "f":
        return np.power(a, b)
    bits = a.dtype.itemsize * 8
    a, b, dtype = *np.broadcast_arrays(a, b), a.dtype
    return np.array([whole_power(int(p), int(q), bits) for p, q in zip(a.ravel(), b.ravel())],
                    object).reshape(a.shape).astype(np.int64).astype(dtype)


def whole_power(a, b, bits):
    """Returns a^b for integers of `bits` bits, which wrap around."""
    if b >= 0:
        low = pow(a, b, 2**bits)
        return low - 2**bits if low >= 2 ** (bits - 1) else low
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


@formula("divide_no_nan")
def divide_no_nan(a, b):
    if a.dtype.kind == "f":
        return np.where(b == 0, 0, a / b)
    quotient = np.trunc(a / np.where(b == 0, 1, b)).astype(a.dtype)
    return np.where(b == 0, 0, quotient)


@formula("lerp")
def lerp(a, b, weight):
    return np.where(weight == 1, b, a + weight * (b - a))
