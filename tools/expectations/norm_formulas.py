"""Formulas of softmax and normalisation: statistics by NumPy, then the formula of the reference
page."""

import numpy as np
from scipy import special

from formula_table import formula


@formula("softmax")
def softmax(x, axis):
    return special.softmax(x, axis) if x.size else x


@formula("log_softmax")
def log_softmax(x, axis):
    return special.log_softmax(x, axis) if x.size else x


@formula("hardmax")
def hardmax(x, axis):
    y = np.zeros_like(x)
    if x.size:
        np.put_along_axis(y, np.expand_dims(np.argmax(x, axis), axis), 1, axis)
    return y


def of_channels(parameter, x):
    """Reshapes a vector with one element per channel so that it broadcasts over [N, C, ...]."""
    return parameter.reshape((1, -1) + (1,) * (x.ndim - 2))


def normalized(x, axes, epsilon):
    """Returns x normalised to mean 0 and variance 1 along `axes`, the means, and the inverse
    standard deviations."""
    mean = np.mean(x, axis=axes, keepdims=True)
    inv_std = 1 / np.sqrt(np.var(x, axis=axes, keepdims=True) + epsilon)
    return (x - mean) * inv_std, mean, inv_std


@formula("batch_norm")
def batch_norm(x, scale, bias, mean, var, epsilon):
    scale, bias, mean, var = (of_channels(p, x) for p in (scale, bias, mean, var))
    return (x - mean) / np.sqrt(var + epsilon) * scale + bias


@formula("batch_norm_train")
def batch_norm_train(x, scale, bias, mean, var, epsilon, momentum):
    axes = (0,) + tuple(range(2, x.ndim))
    y, batch_mean, inv_std = normalized(x, axes, epsilon)
    batch_mean, batch_var = batch_mean.ravel(), np.var(x, axis=axes)
    return (y * of_channels(scale, x) + of_channels(bias, x),
            mean * momentum + batch_mean * (1 - momentum),
            var * momentum + batch_var * (1 - momentum), batch_mean, inv_std.ravel())


@formula("layer_norm")
def layer_norm(x, scale, bias=None, *, axis, epsilon):
    axes = tuple(range(axis % x.ndim, x.ndim))
    y, mean, inv_std = normalized(x, axes, epsilon)
    return y * scale + (0 if bias is None else bias), mean, inv_std


@formula("rms_norm")
def rms_norm(x, scale, axis, epsilon):
    axes = tuple(range(axis % x.ndim, x.ndim))
    return x / np.sqrt(np.mean(np.square(x), axis=axes, keepdims=True) + epsilon) * scale


@formula("group_norm")
def group_norm(x, scale, bias, epsilon, num_groups):
    y = np.zeros_like(x)
    size = x.shape[1] // num_groups
    for example in range(x.shape[0]):
        for first in range(0, x.shape[1], size):
            group = x[example, first:first + size]
            y[example, first:first + size] = normalized(group, None, epsilon)[0]
    return y * of_channels(scale, x) + of_channels(bias, x)


@formula("instance_norm")
def instance_norm(x, scale, bias, epsilon):
    y, _, _ = normalized(x, tuple(range(2, x.ndim)), epsilon)
    return y * of_channels(scale, x) + of_channels(bias, x)


@formula("l2_normalize")
def l2_normalize(x, axis, epsilon):
    return x / np.maximum(np.linalg.norm(x, axis=axis, keepdims=True), epsilon)


@formula("mean_variance_normalization")
def mean_variance_normalization(x, axes):
    axes = tuple(axes) if axes else None
    deviation = np.std(x, axis=axes, keepdims=True)
    return (x - np.mean(x, axis=axes, keepdims=True)) / (deviation + 1e-9)


@formula("lrn")
def lrn(x, alpha, beta, bias, size):
    channels = x.shape[1]
    y = np.zeros_like(x)
    for c in range(channels):
        first, last = c - (size - 1) // 2, c + -(-(size - 1) // 2)
        near = x[:, max(first, 0):min(last, channels - 1) + 1]
        strength = bias + alpha / size * np.sum(np.square(near), axis=1)
        y[:, c] = x[:, c] / strength**beta
    return y


@formula("cosine_similarity")
def cosine_similarity(a, b, axis, epsilon):
    a, b = np.broadcast_arrays(a, b)
    lengths = [np.maximum(np.linalg.norm(v, axis=axis), epsilon) for v in (a, b)]
    return np.sum(a * b, axis=axis) / (lengths[0] * lengths[1])
