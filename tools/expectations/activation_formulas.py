"""Formulas of activations, as their papers define them. Uses SciPy's functions where they exist."""

import numpy as np
from scipy import special

from formula_table import enter_all, formula

enter_all({
    "softplus": lambda x: np.logaddexp(0, x),
    "log_sigmoid": special.log_expit,
    "silu": lambda x: x * special.expit(x),
    "mish": lambda x: x * np.tanh(np.logaddexp(0, x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "relu6": lambda x: np.clip(x, 0, 6),
    "hard_sigmoid": lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1),
    "hard_tanh": lambda x, min_val, max_val: np.clip(x, min_val, max_val),
    "relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "leaky_relu": lambda x, alpha: np.where(x > 0, x, alpha * x),
    "prelu": lambda x, slope: np.where(x > 0, x, slope * x),
    "elu": lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(x)),
    "celu": lambda x, alpha: np.where(x > 0, x, alpha * np.expm1(x / alpha)),
    "selu": lambda x, alpha, gamma: gamma * np.where(x > 0, x, alpha * np.expm1(x)),
    "thresholded_relu": lambda x, alpha: np.where(np.isnan(x) | (x > alpha), x, 0),
})


@formula("gelu")
def gelu(x, approximate):
    if approximate:
        return x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2
    # special.ndtr (the normal distribution function) is accurate where 1 + erf(x) would cancel.
    return x * special.ndtr(x)


@formula("hard_swish")
def hard_swish(x):
    return np.where(x == -np.inf, 0, x * np.clip(x / 6 + 0.5, 0, 1))


@formula("shrink")
def shrink(x, lambd, bias):
    return np.select([np.isnan(x), x < -lambd, x > lambd], [x, x + bias, x - bias], 0)


@formula("glu")
def glu(x, axis):
    first, second = np.split(x, 2, axis)
    return first * special.expit(second)


@formula("swiglu")
def swiglu(x, axis):
    gate, second = np.split(x, 2, axis)
    return gate * special.expit(gate) * second
