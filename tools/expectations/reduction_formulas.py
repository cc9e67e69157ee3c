"""Formulas of reductions and scans along an axis."""

import numpy as np
from scipy import special

from formula_table import formula


def reduction(*names):
    """A decorator that registers a function of x, a tuple of axes and keepdims as the formula of
    reductions."""
    def enter(function):
        def reduce(x, axes, keepdims):
            return function(x, tuple(axes) if axes else tuple(range(np.ndim(x))), keepdims)
        formula(*names)(reduce)
        return function
    return enter


@reduction("mean")
def mean(x, axes, keepdims):
    return np.mean(x, axis=axes, keepdims=keepdims)


@reduction("sum")
def sum_of(x, axes, keepdims):
    return np.sum(x, axis=axes, keepdims=keepdims, dtype=x.dtype)


@reduction("prod")
def prod(x, axes, keepdims):
    return np.prod(x, axis=axes, keepdims=keepdims, dtype=x.dtype)


@reduction("max")
def max_of(x, axes, keepdims):
    return np.max(x, axis=axes, keepdims=keepdims)


@reduction("min")
def min_of(x, axes, keepdims):
    return np.min(x, axis=axes, keepdims=keepdims)


@reduction("any")
def any_of(x, axes, keepdims):
    return np.any(x, axis=axes, keepdims=keepdims)


@reduction("all")
def all_of(x, axes, keepdims):
    return np.all(x, axis=axes, keepdims=keepdims)


@formula("var")
def var(x, axes, keepdims, correction):
    axes = tuple(axes) if axes else tuple(range(np.ndim(x)))
    n = np.prod([x.shape[axis] for axis in axes])
    squares = np.square(x - np.mean(x, axis=axes, keepdims=True))
    return np.sum(squares, axis=axes, keepdims=keepdims) / max(n - correction, 0)


@reduction("moments")
def moments(x, axes, keepdims):
    return (np.mean(x, axis=axes, keepdims=keepdims),
            np.var(x, axis=axes, keepdims=keepdims))


@reduction("logsumexp")
def logsumexp(x, axes, keepdims):
    if x.size == 0 or x.ndim == 0:
        return np.log(np.sum(np.exp(x), axis=axes, keepdims=keepdims))
    return special.logsumexp(x, axis=axes, keepdims=keepdims)


@reduction("l2_norm")
def l2_norm(x, axes, keepdims):
    return np.sqrt(np.sum(np.square(x), axis=axes, keepdims=keepdims))


@reduction("l1_norm")
def l1_norm(x, axes, keepdims):
    return np.sum(np.abs(x), axis=axes, keepdims=keepdims, dtype=x.dtype)


@reduction("sum_square")
def sum_square(x, axes, keepdims):
    return np.sum(x * x, axis=axes, keepdims=keepdims, dtype=x.dtype)


@reduction("log_sum")
def log_sum(x, axes, keepdims):
    return np.log(np.sum(x, axis=axes, keepdims=keepdims))


@reduction("count_nonzero")
def count_nonzero(x, axes, keepdims):
    return np.count_nonzero(x, axis=axes, keepdims=keepdims)


@formula("diff")
def diff(x, n, axis):
    return np.diff(x, min(n, x.shape[axis]), axis)


@formula("argmax")
def argmax(x, axis, keepdims):
    return np.argmax(x, axis=axis, keepdims=keepdims)


@formula("argmin")
def argmin(x, axis, keepdims):
    return np.argmin(x, axis=axis, keepdims=keepdims)


def walked(x, axis, reverse, walk):
    """Applies `walk`, which scans an array along its first axis, along `axis` of x instead, forward
    or in reverse."""
    rows = np.moveaxis(x, axis, 0)
    y = walk(rows[::-1] if reverse else rows)
    return np.moveaxis(y[::-1] if reverse else y, 0, axis)


def running(x, axis, exclusive, reverse, function, start):
    def walk(rows):
        if exclusive:
            rows = np.concatenate([np.full_like(rows[:1], start), rows[:-1]])
        return function(rows, axis=0, dtype=x.dtype)
    return walked(x, axis, reverse, walk)


@formula("cumsum")
def cumsum(x, axis, exclusive, reverse):
    return running(x, axis, exclusive, reverse, np.cumsum, 0)


@formula("cumprod")
def cumprod(x, axis, exclusive, reverse):
    return running(x, axis, exclusive, reverse, np.cumprod, 1)


def extremes(x, axis, reverse, function):
    """Returns the running extremes, and the index of the first occurrence of each."""
    places = np.moveaxis(np.broadcast_to(np.arange(x.shape[axis]).reshape(
        [-1 if i == axis % x.ndim else 1 for i in range(x.ndim)]), x.shape), axis, 0)
    places = np.array(places[::-1] if reverse else places)
    rows = np.moveaxis(x, axis, 0)
    rows = rows[::-1] if reverse else rows
    values = function.accumulate(rows, axis=0)
    for i in range(1, len(rows)):
        changed = (values[i] != values[i - 1]) & ~np.isnan(values[i - 1])
        places[i] = np.where(changed, places[i], places[i - 1])
    return tuple(np.moveaxis(y[::-1] if reverse else y, 0, axis) for y in (values, places))


@formula("cummax")
def cummax(x, axis, reverse):
    return extremes(x, axis, reverse, np.maximum)


@formula("cummin")
def cummin(x, axis, reverse):
    return extremes(x, axis, reverse, np.minimum)
